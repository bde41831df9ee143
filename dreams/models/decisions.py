"""Decisions on proposals and their results: verdicts, writes to a memory directory, rejected changes, and the audit log."""

from django.db import models

from dreams.models.projects import Project
from dreams.models.proposals import Hunk, Operation, Proposal
from dreams.models.reasons import ReasonChars


class Decision(models.Model):
    """The log of verdicts: what was decided, on which bytes, by whom and why. Never changed."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="decisions")
    path = models.CharField(max_length=1000)
    hunk_id = models.CharField(max_length=20)
    verdict = models.CharField(max_length=10, choices=Hunk.Verdict)
    base_sha = models.CharField(max_length=64, blank=True)
    text_sha = models.CharField(max_length=64, blank=True, help_text="Text of an edit.")
    actor = models.CharField(max_length=150, blank=True)
    by_command = models.BooleanField(default=False, help_text="Approved by command, not in the browser.")
    operation = models.ForeignKey(
        Operation,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="decisions",
        help_text="What it was part of when it was decided; a rebase may group changes differently.",
    )
    batch = models.CharField(
        max_length=32,
        blank=True,
        help_text="The same for all that were decided at once. Empty: decided alone.",
    )
    is_routine = models.BooleanField(
        default=False, help_text="An earned policy would have applied the change as it was then."
    )
    reason = ReasonChars(max_length=500, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.verdict} {self.hunk_id}"


class AppliedBatch(models.Model):
    """One atomic write to a memory directory, by apply or rollback."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="applications")
    journal_id = models.CharField(max_length=64, unique=True)
    at = models.DateTimeField()
    actor = models.CharField(max_length=150, blank=True)
    by_command = models.BooleanField(default=False)
    made_dirs = models.JSONField(
        default=list, blank=True, help_text="Folders that did not exist before, deepest last."
    )
    undone_at = models.DateTimeField(null=True, blank=True, help_text="When all of it was undone.")

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return self.journal_id


class AppliedFile(models.Model):
    """What one file was before and after an application; enough to undo it exactly."""

    application = models.ForeignKey(AppliedBatch, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=1000)
    before_sha = models.CharField(max_length=64, blank=True)
    after_sha = models.CharField(max_length=64, blank=True)
    before_mode = models.IntegerField(null=True, blank=True)
    before_mtime_ns = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["application", "path"], name="path_once_per_application")
        ]
        ordering = ["path"]

    def __str__(self) -> str:
        return self.path


class LeftOutQuerySet(models.QuerySet["LeftOut"]):
    def decided(self) -> "LeftOutQuerySet":
        """Without the writes of a submit that is still running."""
        return self.filter(is_staged=False)


class LeftOut(models.Model):
    """A rejected hunk: it is not proposed again until its source changes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="left_out")
    path = models.CharField(max_length=1000)
    hunk_id = models.CharField(max_length=20)
    inputs_key = models.CharField(
        max_length=64, help_text="Hash of its evidence at the time of the rejection."
    )
    added = models.JSONField(
        default=list, blank=True, help_text="Its new lines, to recognise them in a later change."
    )
    reason = ReasonChars(max_length=500, blank=True)
    proposal = models.ForeignKey(Proposal, on_delete=models.SET_NULL, null=True, blank=True)
    at = models.DateTimeField()
    is_staged = models.BooleanField(
        default=False, help_text="Written by a submit that has not ended: it does not count yet."
    )

    objects = LeftOutQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "path", "hunk_id", "proposal", "is_staged"],
                name="left_out_once_per_proposal",
            )
        ]
        verbose_name_plural = "left out"

    def __str__(self) -> str:
        return self.hunk_id


class AuditEntry(models.Model):
    """Who did what, when, to which bytes, and why; no contents. Append-only: its hash covers its fields and the previous
    hash, so a changed or missing row is noticed.

    Labels are copies: an entry outlives the objects it names.
    """

    number = models.PositiveBigIntegerField(unique=True)
    at = models.DateTimeField(db_index=True)
    action = models.CharField(max_length=40, db_index=True)
    actor = models.CharField(max_length=150, blank=True, help_text="Empty: the system.")
    project_id_was = models.BigIntegerField(null=True, blank=True, db_index=True)
    project_label = models.CharField(max_length=300, blank=True)
    object_id = models.CharField(max_length=300, blank=True)
    batch = models.CharField(max_length=40, blank=True)
    data = models.JSONField(default=dict)
    prev_hash = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["-number"]
        indexes = [models.Index(fields=["actor"], name="audit_by_actor")]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.number} {self.action}"
