"""Django's admin, for admins: every row to look at, and prices to enter.

A verdict, a setting, a policy, a job and an undo belong on their own pages, where each is checked and written down. The
login is ours: the owner has no password.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import Group, User
from django.db.models import DecimalField, F, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django_q.models import Failure, OrmQ, Schedule, Success

from dreams import conf
from dreams.lib import amounts
from dreams.models import (
    AuditEntry,
    DreamRun,
    DreamUsage,
    HistoryFile,
    Host,
    JobRun,
    Memory,
    ModelRequest,
    NotesRequest,
    Override,
    Policy,
    Price,
    Project,
    Proposal,
    Question,
    RequestUsage,
    ScheduledJob,
    Session,
)
from dreams.services import hosts
from dreams.web.pages.settings import as_text

if TYPE_CHECKING:
    from django.contrib.admin.filters import _ListFilterChoices as Choice

    ModelAdmin = admin.ModelAdmin[Any]
    ModelForm = forms.ModelForm[Any]
else:
    # The classes take no parameter when they run.
    ModelAdmin = admin.ModelAdmin
    ModelForm = forms.ModelForm

PER_PAGE = 50  # rows of a list; chosen


def _dollars(name: str) -> Callable[[Model], str]:
    """A column of dollars as the pages write them, and not with all the places that are stored."""

    @admin.display(description=name.removesuffix("_usd").replace("_", " "), ordering=name)
    def shown(row: Model) -> str:
        value = getattr(row, name)
        written = amounts.rate if isinstance(row, Price) else amounts.money
        return "" if value is None else written(value)

    return shown


class Values(admin.AllValuesFieldListFilter):
    """Every value that there is. The empty one has a name too: a link of no words is not seen."""

    def choices(self, changelist: ChangeList) -> Iterator[Choice]:
        for choice in super().choices(changelist):
            choice["display"] = choice["display"] or "none"
            yield choice


class HostNames(Values):
    """The hosts by their names; the rows keep keys."""

    def choices(self, changelist: ChangeList) -> Iterator[Choice]:
        names = hosts.names()
        for choice in super().choices(changelist):
            key = str(choice["display"])
            choice["display"] = names.get(key, key)
            yield choice


class _Rows(ChangeList):
    """An address whose year, month or day is no date shows all rows, as Django does for other mistakes in an address."""

    def get_filters(self, request: HttpRequest) -> Any:
        try:
            return super().get_filters(request)
        except (OverflowError, ValueError) as no_date:
            raise IncorrectLookupParameters(no_date) from no_date


class Listed(ModelAdmin):
    """Bounded lists that never count a large table twice. Each field of dollars can be shown as `<name>_shown`."""

    list_per_page = PER_PAGE
    list_max_show_all = PER_PAGE
    show_full_result_count = False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return _Rows

    def __init__(self, model: type[Model], site: admin.AdminSite) -> None:
        for field in model._meta.fields:
            if isinstance(field, DecimalField):
                setattr(self, f"{field.name}_shown", _dollars(field.name))
        super().__init__(model, site)


class ReadOnly(Listed):
    """Shown, never changed. `page` is the name of its own page's address and the fields that stand in it."""

    page: tuple[str, ...] = ()

    def view_on_site(self, obj: Model) -> str | None:
        name, *fields = self.page or ("",)
        return reverse(name, args=[getattr(obj, field) for field in fields]) if name else None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        fields = (field for field in self.opts.fields if field.name != "id")
        return self.fields or [f"{f.name}_shown" if isinstance(f, DecimalField) else f.name for f in fields]


class OnHosts(ReadOnly):
    """Rows of a host, which is shown by its name."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        name = Subquery(Host.objects.filter(key=OuterRef("host")).values("name")[:1])
        rows: QuerySet[Any] = super().get_queryset(request)
        named: QuerySet[Any] = rows.annotate(host_name=Coalesce(name, F("host")))
        return named

    @admin.display(description="host", ordering="host_name")
    def on_host(self, row: Any) -> str:
        return str(row.host_name)


@admin.register(Project)
class ProjectAdmin(OnHosts):
    list_display = (
        "name",
        "slug",
        "kind",
        "on_host",
        "last_consolidated_at",
        "failures",
        "trusted",
        "gone_at",
    )
    list_filter = ("kind", ("host", HostNames), "trusted", ("mode", Values))
    search_fields = ("name", "slug", "memory_dir", "repo_dir")
    page = ("project", "pk")


@admin.register(Session)
class SessionAdmin(ReadOnly):
    list_display = ("__str__", "project", "touched_at", "size", "user_turns", "corrections", "own", "gone_at")
    list_filter = ("own", "touched_at")
    list_select_related = ("project",)
    search_fields = ("title", "session_id", "branch", "project__name")
    date_hierarchy = "touched_at"
    page = ("session", "pk")


@admin.register(NotesRequest)
class NotesRequestAdmin(ReadOnly):
    list_display = ("session", "status", "model", "sections", "asked_by", "asked_at", "cost_usd_shown")
    list_filter = ("status", "model")
    list_select_related = ("session",)
    search_fields = ("session__title", "session__session_id", "model", "error")
    date_hierarchy = "asked_at"
    page = ("session", "session_id")


@admin.register(RequestUsage)
class RequestUsageAdmin(ReadOnly):
    list_display = ("session", "at", "model", "input_tokens", "output_tokens", "web_searches", "sidechain")
    list_filter = ("sidechain",)
    list_select_related = ("session",)
    search_fields = ("session__title", "session__session_id", "model")
    date_hierarchy = "at"


@admin.register(HistoryFile)
class HistoryFileAdmin(OnHosts):
    list_display = ("__str__", "on_host", "line_no", "malformed_lines", "unplaced")
    list_filter = (("host", HostNames),)
    search_fields = ("root",)


@admin.register(Memory)
class MemoryAdmin(ReadOnly):
    list_display = ("path", "project", "kind", "type", "size", "lines", "pinned", "changed_at", "gone_at")
    list_filter = ("kind", ("type", Values), "pinned")
    list_select_related = ("project",)
    search_fields = ("path", "name", "description", "project__name")
    page = ("memory", "pk")


@admin.register(DreamRun)
class DreamRunAdmin(ReadOnly):
    list_display = (
        "public_id",
        "project",
        "status",
        "phase",
        "engine",
        "trigger",
        "created_at",
        "priced_usd_shown",
    )
    list_filter = ("status", "failure", "engine", "trigger", "forced")
    list_select_related = ("project",)
    search_fields = ("public_id", "project__name", "error")
    date_hierarchy = "created_at"
    page = ("dream", "public_id")


@admin.register(DreamUsage)
class DreamUsageAdmin(ReadOnly):
    list_display = ("dream", "turn", "at", "model", "requests", "cost_usd_shown")
    list_filter = ("model",)
    list_select_related = ("dream",)
    search_fields = ("dream__public_id", "model")
    date_hierarchy = "at"


@admin.register(ModelRequest)
class ModelRequestAdmin(ReadOnly):
    list_display = (
        "project",
        "purpose",
        "at",
        "model",
        "requests",
        "input_tokens",
        "output_tokens",
        "cost_usd_shown",
    )
    list_filter = ("purpose", "model")
    list_select_related = ("project",)
    search_fields = ("project__name", "model")
    date_hierarchy = "at"


@admin.register(Proposal)
class ProposalAdmin(ReadOnly):
    list_display = ("public_id", "project", "origin", "state", "by_policy", "created_at", "submitted_by")
    list_filter = ("state", "origin", "by_policy")
    list_select_related = ("project",)
    search_fields = ("public_id", "project__name", "summary")
    date_hierarchy = "created_at"
    page = ("review", "public_id")


@admin.register(Question)
class QuestionAdmin(ReadOnly):
    list_display = (
        "public_id",
        "project",
        "kind",
        "state",
        "asked",
        "weight",
        "answer",
        "answered_by",
        "created_at",
    )
    list_filter = ("state", "kind", "asked")
    list_select_related = ("project",)
    search_fields = ("public_id", "project__name", "why")
    date_hierarchy = "created_at"


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    list_display = ("number", "at", "action", "actor", "project_label", "object_id")
    list_filter = ("action", ("actor", Values))
    search_fields = ("object_id", "project_label", "actor")
    date_hierarchy = "at"


@admin.register(ScheduledJob)
class ScheduledJobAdmin(ReadOnly):
    list_display = ("__str__", "cron", "after", "next_at", "until", "failures", "ended_at", "made_by")
    list_filter = ("kind",)
    list_select_related = ("project", "after__project")
    page = ("schedules",)


@admin.register(JobRun)
class JobRunAdmin(ReadOnly):
    list_display = ("label", "made_at", "status", "ended_at", "asked_by", "text")
    list_filter = ("status", "kind")
    date_hierarchy = "made_at"


@admin.register(Override)
class OverrideAdmin(ReadOnly):
    fields = list_display = ("setting", "shown", "project", "changed_at", "changed_by")
    list_filter = ("key",)
    list_select_related = ("project",)
    search_fields = ("key", "project__name")

    @admin.display(ordering="key")
    def setting(self, obj: Override) -> str:
        spec = conf.specs().get(obj.key)
        return f"{spec.label} ({obj.key})" if spec else obj.key

    @admin.display(description="value")
    def shown(self, obj: Override) -> str:
        """As the settings page writes it; of a setting that is no more, as it is kept."""
        spec = conf.specs().get(obj.key)
        return as_text(spec, obj.value) if spec else str(obj.value)

    page = ("settings",)


@admin.register(Policy)
class PolicyAdmin(ReadOnly):
    list_display = (
        "__str__",
        "operation",
        "memory_type",
        "kind",
        "maker",
        "project",
        "action",
        "changed_at",
        "changed_by",
    )
    list_filter = ("operation", "kind", "action", ("memory_type", Values))
    list_select_related = ("project",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Policy]:
        """Without the rows that only say since when trust is counted: they allow nothing."""
        return super().get_queryset(request).exclude(~Q(maker=""), action=Policy.Action.REVIEW)

    page = ("settings",)


# What models cost, by the day since when.


PRICES = "Dollars per million tokens. A new price is a new row with its date; earlier spending keeps the earlier price."


class PriceForm(ModelForm):
    """Prices as the providers give them; none is below nothing."""

    class Meta:
        model = Price
        fields = (
            "model",
            "since",
            "above_prompt_tokens",
            "input",
            "output",
            "cache_write_5m",
            "cache_write_1h",
            "cache_read",
            "web_search",
            "context_window",
            "max_output",
        )
        labels: ClassVar = {
            "above_prompt_tokens": "Above",
            "cache_write_5m": "Cache write, 5 min",
            "cache_write_1h": "Cache write, 1 h",
        }

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        for name, value in list(found.items()):
            if isinstance(value, int | Decimal) and value < 0:
                self.add_error(name, "A price cannot be below 0.")
        return found


@admin.register(Price)
class PriceAdmin(Listed):
    form = PriceForm
    fieldsets = ((None, {"description": PRICES, "fields": PriceForm.Meta.fields}),)
    list_display = (
        "model",
        "since",
        "above_prompt_tokens",
        "input_shown",
        "output_shown",
        "cache_read_shown",
    )
    list_filter = ("model",)
    search_fields = ("model",)


def _our_login(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
    """The admin's own form asks for a password, which the owner does not have."""
    back = request.GET.get("next") or reverse("admin:index")
    return HttpResponseRedirect(f"{reverse('login')}?{urlencode({'next': back})}")


# The queue's own rows can name any function to call: nothing for a form. The health page shows the queue.
for _model in (Schedule, OrmQ, Success, Failure):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)
# Accounts have a page of their own, which keeps the last admin and writes down who changed what. Nobody has rights by groups.
admin.site.unregister(Group)
admin.site.unregister(User)
# Ten tables need no second menu beside a list.
admin.site.enable_nav_sidebar = False
admin.site.site_header = "memoryweb"
admin.site.site_title = "memoryweb admin"
admin.site.index_title = "All data"
admin.site.login = _our_login  # type: ignore[method-assign] # the site is made by Django, before us
