"""Rows made by discovery, dreams, reviews and the schedule."""

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from dreams.admin.site import BoundedList, HostNames, ModelForm, OnHosts, ReadOnly, Values, actor
from dreams.models import (
    AuditEntry,
    DreamRun,
    DreamUsage,
    HistoryFile,
    JobRun,
    Memory,
    ModelRequest,
    NotesRequest,
    Project,
    Proposal,
    Question,
    RequestUsage,
    ScheduledJob,
    Session,
)
from dreams.services import jobs, settings_changes


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
    changeable = ("trusted",)
    page = ("project", "pk")

    def save_model(self, request: HttpRequest, obj: Project, form: ModelForm, change: bool) -> None:
        wanted = obj.trusted
        obj.refresh_from_db()
        settings_changes.set_trusted(obj, wanted, actor=actor(request))


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


class JobForm(ModelForm):
    class Meta:
        model = ScheduledJob
        fields = ("kind", "project", "cron", "after", "once", "until")

    def clean(self) -> None:
        super().clean()
        if not self.errors:
            try:
                jobs.checked(jobs.Wanted(**self.cleaned_data), timezone.now(), jobs.Clock.load())
            except jobs.BadJob as error:
                raise forms.ValidationError(str(error)) from error


@admin.register(ScheduledJob)
class ScheduledJobAdmin(BoundedList):
    """Can be added and removed but not changed: another time needs another job."""

    form = JobForm
    list_display = ("__str__", "cron", "after", "next_at", "until", "failures", "ended_at", "made_by")
    list_filter = ("kind",)
    list_select_related = ("project", "after__project")
    raw_id_fields = ("project",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    page = ("schedules",)

    def save_model(self, request: HttpRequest, obj: ScheduledJob, form: ModelForm, change: bool) -> None:
        obj.pk = jobs.add(jobs.Wanted(**form.cleaned_data), actor=actor(request)).pk

    def delete_model(self, request: HttpRequest, obj: ScheduledJob) -> None:
        jobs.remove(obj, actor=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ScheduledJob]) -> None:
        for row in queryset:
            if ScheduledJob.objects.filter(
                pk=row.pk
            ).exists():  # else it was removed with a job that it followed
                self.delete_model(request, row)


@admin.register(JobRun)
class JobRunAdmin(ReadOnly):
    list_display = ("label", "made_at", "status", "ended_at", "asked_by", "text")
    list_filter = ("status", "kind")
    date_hierarchy = "made_at"
