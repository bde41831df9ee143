"""All URLs of the site."""

from django.contrib import admin
from django.urls import include, path

from dreams.web.urls import load_views

__all__ = ["load_views", "urlpatterns"]

# Not when the app starts: commands do not need the admin, which imports half of the project.
admin.autodiscover()

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("dreams.web.urls")),
]
handler400 = "dreams.web.views.errors.bad_request"
handler403 = "dreams.web.views.errors.forbidden"
handler404 = "dreams.web.views.errors.not_found"
handler500 = "dreams.web.views.errors.server_error"
