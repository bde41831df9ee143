"""What discovery, dreams and reviews made."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from dreams.admin.base import ModelForm, ReadOnly, Values, actor
from dreams.models import (
    AuditEntry,
    DreamRun,
    DreamUsage,
    HistoryFile,
    Memory,
    ModelRequest,
    Project,
    Proposal,
    Question,
    RequestUsage,
    Session,
)
from dreams.services import trusted_settings


@admin.register(Project)
class ProjectAdmin(ReadOnly):
    list_display = ("name", "slug", "kind", "host", "last_consolidated_at", "failures", "trusted", "gone_at")
    list_filter = ("kind", "host", "trusted", ("mode", Values))
    search_fields = ("name", "slug", "memory_dir", "repo_dir")
    changeable = ("trusted",)

    def view_on_site(self, obj: Project) -> str:
        return reverse("project", args=[obj.pk])

    def save_model(self, request: HttpRequest, obj: Project, form: ModelForm, change: bool) -> None:
        wanted = obj.trusted
        obj.refresh_from_db()
        trusted_settings.set_trusted(obj, wanted, actor=actor(request))


@admin.register(Session)
class SessionAdmin(ReadOnly):
    list_display = ("__str__", "project", "touched_at", "size", "user_turns", "corrections", "own", "gone_at")
    list_filter = ("own", "touched_at")
    list_select_related = ("project",)
    search_fields = ("title", "session_id", "branch", "project__name")
    raw_id_fields = ("project", "folder")
    date_hierarchy = "touched_at"

    def view_on_site(self, obj: Session) -> str:
        return reverse("session", args=[obj.pk])


@admin.register(RequestUsage)
class RequestUsageAdmin(ReadOnly):
    list_display = ("session", "at", "model", "input_tokens", "output_tokens", "web_searches", "sidechain")
    list_filter = ("sidechain",)
    list_select_related = ("session",)
    search_fields = ("session__title", "session__session_id", "model")
    raw_id_fields = ("session",)
    date_hierarchy = "at"


@admin.register(HistoryFile)
class HistoryFileAdmin(ReadOnly):
    list_display = ("__str__", "host", "line_no", "malformed_lines", "unplaced")
    list_filter = ("host",)
    search_fields = ("root",)


@admin.register(Memory)
class MemoryAdmin(ReadOnly):
    list_display = ("path", "project", "kind", "type", "size", "lines", "pinned", "changed_at", "gone_at")
    list_filter = ("kind", ("type", Values), "pinned")
    list_select_related = ("project",)
    search_fields = ("path", "name", "description", "project__name")
    raw_id_fields = ("project",)

    def view_on_site(self, obj: Memory) -> str:
        return reverse("memory", args=[obj.pk])


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
        "cost_usd_shown",
    )
    list_filter = ("status", "failure", "engine", "trigger", "forced")
    list_select_related = ("project",)
    search_fields = ("public_id", "project__name", "error")
    raw_id_fields = ("project",)
    date_hierarchy = "created_at"

    def view_on_site(self, obj: DreamRun) -> str:
        return reverse("dream", args=[obj.public_id])


@admin.register(DreamUsage)
class DreamUsageAdmin(ReadOnly):
    list_display = ("dream", "turn", "at", "model", "requests", "cost_usd_shown")
    list_filter = ("model",)
    list_select_related = ("dream",)
    search_fields = ("dream__public_id", "model")
    raw_id_fields = ("dream",)
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
    raw_id_fields = ("project",)
    date_hierarchy = "at"


@admin.register(Proposal)
class ProposalAdmin(ReadOnly):
    list_display = ("public_id", "project", "origin", "state", "by_policy", "created_at", "submitted_by")
    list_filter = ("state", "origin", "by_policy")
    list_select_related = ("project",)
    search_fields = ("public_id", "project__name", "summary")
    raw_id_fields = ("project", "dream", "undoes")
    date_hierarchy = "created_at"

    def view_on_site(self, obj: Proposal) -> str:
        return reverse("review", args=[obj.public_id])


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
    raw_id_fields = ("project", "dream", "proposal", "operation")
    date_hierarchy = "created_at"


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    list_display = ("number", "at", "action", "actor", "project_label", "object_id")
    list_filter = ("action", ("actor", Values))
    search_fields = ("object_id", "project_label", "actor")
    date_hierarchy = "at"
