"""The site itself: its name, its login, who may be looked at, and the tables of others that have no place in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django_q.models import Failure, OrmQ, Schedule, Success

if TYPE_CHECKING:
    Accounts = UserAdmin[User]
else:
    Accounts = UserAdmin  # takes no parameter when it runs


def _our_login(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
    """The admin's own form asks for a password, which the owner does not have."""
    back = request.GET.get("next") or reverse("admin:index")
    return HttpResponseRedirect(f"{reverse('login')}?{urlencode({'next': back})}")


# The queue's own rows can name any function to call: nothing for a form. The health page shows the queue.
for _model in (Schedule, OrmQ, Success, Failure):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)
# There is one owner: nobody has rights by groups, or some of the rights. Ten tables need no second menu beside a list.
admin.site.unregister(Group)
admin.site.unregister(User)
admin.site.enable_nav_sidebar = False
apps.get_app_config("auth").verbose_name = "Accounts"
admin.site.site_header = "memoryweb"
admin.site.site_title = "memoryweb admin"
admin.site.index_title = "All data"
admin.site.login = _our_login  # type: ignore[method-assign] # the site is made by Django, before us


@admin.register(User)
class AccountAdmin(Accounts):
    list_filter = ("is_staff", "is_active")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password", "email")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser")}),
    )
