"""What people configured: overrides of settings, and policies; also one-time login links and logins."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Cast, Coalesce

from dreams.models.prepared import prepared
from dreams.models.projects import Project
from dreams.models.proposals import Operation as ChangeOperation


class Override(models.Model):
    """A setting changed on the pages, for one project or for everywhere (`dreams.conf`)."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, blank=True, related_name="overrides"
    )
    key = models.CharField(max_length=60)
    value = models.JSONField()
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.CharField(max_length=150, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(Coalesce("project", 0), "key", name="override_once")]
        verbose_name = "setting"
        ordering = ["key"]

    def __str__(self) -> str:
        value = f"{self.value:.15g}" if isinstance(self.value, float) else self.value
        return f"{self.key} = {value}"


@prepared
def overrides() -> models.QuerySet[Override, tuple[Any, ...]]:
    """(project or None, key, value as JSON) of each override."""
    return Override.objects.order_by().values_list("project_id", "key", Cast("value", models.TextField()))


@prepared
def overrides_of(project: int) -> models.QuerySet[Override, tuple[Any, ...]]:
    """The same, for one project and for everywhere."""
    rows = Override.objects.filter(models.Q(project=project) | models.Q(project__isnull=True)).order_by()
    return rows.values_list("project_id", "key", Cast("value", models.TextField()))


class Policy(models.Model):
    """Which changes may be applied without a person.

    Per project (empty: all), by memory type and operation, or by kind of change. A row with a `maker`
    is trust earned by that engine, model and version: offered after many decisions, accepted by a person.
    """

    class Operation(models.TextChoices):
        ADD = "add", "Add"
        CHANGE = "change", "Change"
        REMOVE = "remove", "Remove"
        CATCH = "catch", "Remember what was caught"

    class Action(models.TextChoices):
        REVIEW = "review", "A person reviews"
        AUTO = "auto", "Apply without asking"

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, blank=True, related_name="policies"
    )
    memory_type = models.CharField(
        max_length=40, blank=True, help_text="user, feedback, project, reference, index; empty: any."
    )
    operation = models.CharField(
        max_length=10, choices=Operation, blank=True, help_text="Empty for a policy by kind of change."
    )
    kind = models.CharField(
        "kind of change", max_length=10, choices=ChangeOperation.Kind, blank=True, help_text="Empty: any."
    )
    maker = models.CharField(
        max_length=140,
        blank=True,
        help_text="Engine, model and version that earned this policy. Empty: a person set it.",
    )
    action = models.CharField(max_length=10, choices=Action, default=Action.REVIEW)
    counted_after = models.BigIntegerField(
        default=0, help_text="Earned policies: only decisions with a higher id count towards the next offer."
    )
    note = models.CharField(max_length=200, blank=True, help_text="Earned policies: why the policy ended.")
    ended_by_undo = models.BooleanField(
        db_default=False, help_text="Earned policies: the undo or refusal of a change ended the policy."
    )
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.CharField(max_length=150, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Coalesce("project", 0), "memory_type", "operation", "kind", "maker", name="policy_once"
            )
        ]
        ordering = ["project", "memory_type", "operation", "kind", "maker"]
        verbose_name_plural = "policies"

    def __str__(self) -> str:
        what = self.get_kind_display() or f"{self.get_operation_display()}, {self.memory_type or 'any'} type"
        return f"{what}: {self.get_action_display().lower()}"


class LoginLink(models.Model):
    """A one-time login link: only the token's hash is stored."""

    token_hash = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"made {self.made_at:%Y-%m-%d %H:%M}"


class LoginSession(models.Model):
    """A logged-in browser; valid as long as Django's session with that key."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="login_sessions"
    )
    session_key = models.CharField(max_length=40, unique=True)
    made_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="To about ten minutes.")
    address = models.CharField(max_length=64, blank=True, help_text="Where the requests came from at login.")
    device = models.CharField(max_length=60, blank=True, help_text="Browser and system, as the browser says.")

    class Meta:
        ordering = ["-seen_at"]

    def __str__(self) -> str:
        return f"{self.device or 'a browser'}, {self.made_at:%Y-%m-%d %H:%M}"
