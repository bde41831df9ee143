"""Settings that a person changed, for all projects or for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from dreams import conf
from dreams.admin.base import Listed, ModelForm, actor
from dreams.models import Override
from dreams.services import settings_changes
from dreams.web.pages.settings import as_text, as_typed


def _value(row: Override, written: Callable[[conf.Spec, conf.Value], str]) -> str:
    """As the settings page writes it; of a setting that is no more, as it is kept."""
    spec = conf.specs().get(row.key)
    return written(spec, row.value) if spec else str(row.value)


class OverrideForm(ModelForm):
    """A threshold: the value is checked as the settings page checks it."""

    key = forms.ChoiceField(
        choices=lambda: [(key, f"{spec.label} ({key})") for key, spec in conf.specs().items()]
    )
    value = forms.CharField(
        required=False, help_text="As on the settings page: a number, on or off, or a word."
    )

    class Meta:
        model = Override
        fields = ("project", "key", "value")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if self.instance.pk:
            self.initial["value"] = _value(self.instance, as_typed)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        key = found.get("key") or self.instance.key
        if not key or self.errors:
            return found
        project = found.get("project", self.instance.project)
        # One row per setting: adding what is there already changes it.
        self.instance = Override.objects.filter(project=project, key=key).first() or self.instance
        spec = conf.specs()[key]
        if project is not None and not spec.per_project:
            self.add_error("project", "This is set for all projects together. Leave the project empty.")
        try:
            found["value"] = conf.parse(key, found.get("value", ""))
        except conf.BadValue as error:
            self.add_error("value", str(error))
        return found


@admin.register(Override)
class OverrideAdmin(Listed):
    form = OverrideForm
    list_display = ("setting", "shown", "project", "changed_at", "changed_by")
    list_filter = ("key",)
    list_select_related = ("project",)
    search_fields = ("key", "project__name")
    raw_id_fields = ("project",)

    @admin.display(ordering="key")
    def setting(self, obj: Override) -> str:
        spec = conf.specs().get(obj.key)
        return f"{spec.label} ({obj.key})" if spec else obj.key

    @admin.display(description="value")
    def shown(self, obj: Override) -> str:
        return _value(obj, as_text)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        # Another key is another setting: that is a row of its own.
        return ("key", "project") if obj else ()

    def save_model(self, request: HttpRequest, obj: Override, form: ModelForm, change: bool) -> None:
        settings_changes.set_override(obj.key, obj.value, actor=actor(request), project=obj.project)
        # The service keeps one row per setting, which may be one that was there already.
        obj.pk = Override.objects.get(project=obj.project, key=obj.key).pk

    def delete_model(self, request: HttpRequest, obj: Override) -> None:
        settings_changes.reset_override(obj.key, actor=actor(request), project=obj.project)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Override]) -> None:
        for row in queryset.select_related("project"):
            self.delete_model(request, row)
