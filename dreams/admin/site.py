"""The admin site and shared base classes: bounded lists, read-only rows, dollars formatted as on the pages."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import Group, User
from django.db import DataError
from django.db.models import DecimalField, F, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django_q.models import Failure, OrmQ, Schedule, Success

from dreams.lib import amounts
from dreams.models import Host, Price
from dreams.services import hosts

if TYPE_CHECKING:
    from django.contrib.admin.filters import _ListFilterChoices as Choice

    ModelAdmin = admin.ModelAdmin[Any]
    ModelForm = forms.ModelForm[Any]
else:
    # At runtime the classes are not generic.
    ModelAdmin = admin.ModelAdmin
    ModelForm = forms.ModelForm

PER_PAGE = 50  # rows of a list; chosen


def actor(request: HttpRequest) -> str:
    return request.user.get_username()


def _dollars(name: str) -> Callable[[Model], str]:
    """A column of dollars, formatted as on the pages instead of with all stored digits."""

    @admin.display(description=name.removesuffix("_usd").replace("_", " "), ordering=name)
    def shown(row: Model) -> str:
        value = getattr(row, name)
        written = amounts.rate if isinstance(row, Price) else amounts.money
        return "" if value is None else written(value)

    return shown


class Values(admin.AllValuesFieldListFilter):
    """All values. The empty one gets a name, as a link without text is invisible."""

    def choices(self, changelist: ChangeList) -> "Iterator[Choice]":
        for choice in super().choices(changelist):
            choice["display"] = choice["display"] or "none"
            yield choice


class HostNames(Values):
    """The hosts by name; the rows have keys."""

    def choices(self, changelist: ChangeList) -> "Iterator[Choice]":
        names = hosts.names()
        for choice in super().choices(changelist):
            key = str(choice["display"])
            choice["display"] = names.get(key, key)
            yield choice


class BoundedList(ModelAdmin):
    """Bounded lists that do not count a large table twice. Fields of dollars are available as `<name>_shown`; `page` is the
    name of a row's page and the fields in its address."""

    page: tuple[str, ...] = ()

    list_per_page = PER_PAGE
    list_max_show_all = PER_PAGE
    show_full_result_count = False

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Shows all rows for a value in the address that no row can have, as Django does for other invalid filters."""
        try:
            return super().get_changelist_instance(request)
        except (DataError, OverflowError, TypeError, ValueError) as no_value:
            if not request.GET:
                raise
            raise IncorrectLookupParameters(no_value) from no_value

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """One by one, so that the services check and log each."""
        for row in queryset:
            self.delete_model(request, row)

    def view_on_site(self, obj: Model) -> str | None:
        name, *fields = self.page or ("",)
        return reverse(name, args=[getattr(obj, field) for field in fields]) if name else None

    def __init__(self, model: type[Model], site: admin.AdminSite) -> None:
        for field in model._meta.fields:
            if isinstance(field, DecimalField):
                setattr(self, f"{field.name}_shown", _dollars(field.name))
        super().__init__(model, site)


class ReadOnly(BoundedList):
    """Read-only rows, made by discovery, dreams and reviews."""

    # Fields that a person may change here.
    changeable: tuple[str, ...] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(self.changeable) and super().has_change_permission(request, obj)

    def get_fields(
        self, request: HttpRequest, obj: Model | None = None
    ) -> list[str | list[str] | tuple[str, ...]]:
        return list(self._names())

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [name for name in self._names() if name not in self.changeable]

    def _names(self) -> list[str]:
        fields = (field for field in self.opts.fields if field.name != "id")
        return [f"{f.name}_shown" if isinstance(f, DecimalField) else f.name for f in fields]


class OnHosts(ReadOnly):
    """Rows with a host, shown by its name."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        name = Subquery(Host.objects.filter(key=OuterRef("host")).values("name")[:1])
        rows: QuerySet[Any] = super().get_queryset(request)
        named: QuerySet[Any] = rows.annotate(host_name=Coalesce(name, F("host")))
        return named

    @admin.display(description="host", ordering="host_name")
    def on_host(self, row: Any) -> str:
        return str(row.host_name)


def _our_login(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
    """Redirects to memoryweb's login: the admin's form needs a password, which the owner does not have."""
    back = request.GET.get("next") or reverse("admin:index")
    return HttpResponseRedirect(f"{reverse('login')}?{urlencode({'next': back})}")


# Rows of the queue can name any function to call, so they must not be editable. The health page shows the queue.
for _model in (Schedule, OrmQ, Success, Failure):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)
# Accounts have a separate page, which protects the last admin and logs changes. Groups give no rights.
admin.site.unregister(Group)
admin.site.unregister(User)
# Ten tables do not need a second menu.
admin.site.enable_nav_sidebar = False
admin.site.site_header = "memoryweb"
admin.site.site_title = "memoryweb admin"
admin.site.index_title = "All data"
admin.site.login = _our_login  # type: ignore[method-assign] # the site is made by Django, before us
