"""Settings, policies and prices."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from dreams import conf
from dreams.admin.site import BoundedList, ModelForm, Values, actor
from dreams.models import Operation, Override, Policy, Price
from dreams.services import pricing, settings_changes
from dreams.services.policies import earned
from dreams.web.pages import settings as pages
from dreams.web.pages.settings import as_text, as_typed

# Settings that a person changed, for all projects or for one.


def _value(row: Override, written: Callable[[conf.Spec, conf.Value], str]) -> str:
    """The value as on the settings page; the stored value if the setting no longer exists."""
    spec = conf.specs().get(row.key)
    return written(spec, row.value) if spec else str(row.value)


class OverrideForm(ModelForm):
    """A setting, with the checks of the settings page."""

    key = forms.ChoiceField(
        choices=lambda: [(key, f"{spec.label} ({key})") for key, spec in conf.specs().items()]
    )
    value = forms.CharField(
        required=False, help_text="As on the settings page: a number, “on” or “off”, or a word."
    )

    class Meta:
        model = Override
        fields = ("project", "key", "value")
        help_texts: ClassVar = {"project": "Empty: all projects."}
        error_messages: ClassVar = {"project": {"invalid_choice": "No project has this number."}}

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
        # One row per setting: adding an existing one changes it.
        self.instance = Override.objects.filter(project=project, key=key).first() or self.instance
        spec = conf.specs()[key]
        if project is not None and not spec.per_project:
            self.add_error("project", "This is set for all projects together. Leave the project empty.")
        try:
            found["value"] = value = conf.parse(key, found.get("value", ""))
            values = {name: one.value for name, one in conf.sourced(project).items()} | {key: value}
            if why := conf.at_odds(values, [key]):
                raise conf.BadValue(f"{spec.label}: {why[key]}")
            if settings_changes.is_default_without(key, value, project):
                back = " To go back to it, delete this setting." if self.instance.pk else ""
                raise conf.BadValue(f"{spec.label}: this is the default.{back}")
        except conf.BadValue as error:
            self.add_error("value", str(error))
        return found


@admin.register(Override)
class OverrideAdmin(BoundedList):
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
        # Another key or project needs a separate row.
        return ("key", "project") if obj else ()

    def save_model(self, request: HttpRequest, obj: Override, form: ModelForm, change: bool) -> None:
        settings_changes.set_override(obj.key, obj.value, actor=actor(request), project=obj.project)
        # There is one row per setting, so the service may have changed an existing one.
        obj.pk = Override.objects.get(project=obj.project, key=obj.key).pk

    def delete_model(self, request: HttpRequest, obj: Override) -> None:
        settings_changes.reset_override(obj.key, actor=actor(request), project=obj.project)


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
        help_texts: ClassVar = {"project": "Empty: all projects."}
        error_messages: ClassVar = {"project": {"invalid_choice": "No project has this number."}}

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
            # One row per policy: adding an existing one changes it.
            self.instance = Policy.objects.filter(**known, maker="").first() or self.instance
        return found


@admin.register(Policy)
class PolicyAdmin(BoundedList):
    form = PolicyForm
    list_display = ("__str__", "maker", "project", "changed_at", "changed_by")
    list_filter = ("operation", "kind", "action", ("memory_type", Values))
    list_select_related = ("project",)
    raw_id_fields = ("project",)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("project", "memory_type", "operation", "kind", "without_it") if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """With the explanations of the settings page."""
        fields = (*PolicyForm.Meta.fields, *(("without_it",) if obj else ()))
        return ((None, {"description": f"{pages.POLICIES_SAY} {pages.KINDS_FIRST}", "fields": fields}),)

    @admin.display(description="without it")
    def without_it(self, obj: Policy) -> str:
        return pages.otherwise(obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Policy]:
        """Without the rows that only record the start of counting for trust: they allow nothing."""
        return super().get_queryset(request).exclude(~Q(maker=""), action=Policy.Action.REVIEW)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Earned policies are accepted in the inbox and ended on the settings page."""
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
        if pages.removes_without_asking(obj.project):
            messages.warning(request, " ".join(pages.REMOVES_ALONE))

    def delete_model(self, request: HttpRequest, obj: Policy) -> None:
        if obj.maker:
            earned.end(obj, actor=actor(request))
        else:
            self._set(request, obj, "")

    def _set(self, request: HttpRequest, obj: Policy, action: str) -> None:
        settings_changes.set_policy(
            obj.operation,
            action,
            actor=actor(request),
            memory_type=obj.memory_type,
            kind=obj.kind,
            project=obj.project,
        )


# Prices of models, by start date.


PRICES = "Dollars per million tokens. A new price is a new row with its date; earlier spending keeps the earlier price."


class PriceForm(ModelForm):
    """Prices as the providers state them; never negative."""

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
                self.add_error(name, "This cannot be below 0.")
        return found


@admin.register(Price)
class PriceAdmin(BoundedList):
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

    def save_model(self, request: HttpRequest, obj: Price, form: ModelForm, change: bool) -> None:
        pricing.save(obj, actor=actor(request))

    def delete_model(self, request: HttpRequest, obj: Price) -> None:
        pricing.remove(obj, actor=actor(request))
