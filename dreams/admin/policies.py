"""What needs no person, by operation and type of memory."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from dreams.admin.base import Listed, ModelForm, Values, actor
from dreams.models import Operation, Policy
from dreams.services import settings_changes
from dreams.services.policies import earned


class PolicyForm(ModelForm):
    operation = forms.ChoiceField(
        required=False, choices=[("", "any, of a kind of change"), *Policy.Operation.choices]
    )
    kind = forms.ChoiceField(
        label="Kind of change",
        required=False,
        choices=[
            ("", "any"),
            *((kind, Operation.Kind(kind).label) for kind in settings_changes.POLICY_KINDS),
        ],
    )
    memory_type = forms.ChoiceField(
        required=False, choices=[(name, name or "any") for name in settings_changes.MEMORY_TYPES]
    )

    class Meta:
        model = Policy
        fields = ("project", "memory_type", "operation", "kind", "action")

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        if "operation" in found and not self.errors:
            try:
                settings_changes.check_policy(
                    found["operation"], found["action"], found["memory_type"], found["kind"]
                )
            except settings_changes.BadPolicy as error:
                raise forms.ValidationError(str(error)) from error
            known = {name: found.get(name) for name in ("project", "memory_type", "operation", "kind")}
            # One row per policy: adding what is there already changes it.
            self.instance = Policy.objects.filter(**known, maker="").first() or self.instance
        return found


@admin.register(Policy)
class PolicyAdmin(Listed):
    form = PolicyForm
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
    raw_id_fields = ("project",)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("project", "memory_type", "operation", "kind") if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """What was earned is accepted in the inbox and ended in the settings."""
        return super().has_change_permission(request, obj) and not getattr(obj, "maker", "")

    def save_model(self, request: HttpRequest, obj: Policy, form: ModelForm, change: bool) -> None:
        self._set(request, obj, obj.action)
        found = Policy.objects.get(
            project=obj.project,
            memory_type=obj.memory_type,
            operation=obj.operation,
            kind=obj.kind,
            maker="",
        )
        obj.pk = found.pk

    def delete_model(self, request: HttpRequest, obj: Policy) -> None:
        if obj.maker:
            earned.end(obj, actor=actor(request))
        else:
            self._set(request, obj, "")

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Policy]) -> None:
        for row in queryset.select_related("project"):
            self.delete_model(request, row)

    def _set(self, request: HttpRequest, obj: Policy, action: str) -> None:
        settings_changes.set_policy(
            obj.operation,
            action,
            actor=actor(request),
            memory_type=obj.memory_type,
            kind=obj.kind,
            project=obj.project,
        )
