"""The URLs of memoryweb and one more: a page that only shows 50 rows, for comparison with the others."""

from django.http import HttpRequest, HttpResponse
from django.template import Context, Template
from django.urls import path

from dreams.models import Session
from dreams.services.people import Role
from dreams.web import access
from memoryweb.urls import urlpatterns as ours

ROWS = 50
TEMPLATE = Template(
    "<!doctype html><title>Plain</title><table>{% for row in rows %}<tr><td>{{ row.session_id }}</td>"
    "<td>{{ row.title }}</td><td>{{ row.last_at }}</td><td>{{ row.size }}</td></tr>{% endfor %}</table>"
)


def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse(TEMPLATE.render(Context({"rows": Session.objects.order_by("-pk")[:ROWS]})))


access.LEAST["plain"] = Role.VIEWER
urlpatterns = [path("plain/", plain, name="plain"), *ours]
