"""Who did what, when, to which bytes, and why. Append-only and hash-chained; no contents."""

from django.db import models


class AuditEntry(models.Model):
    """One action. Its hash covers its fields and the previous hash, so a changed or missing row is noticed.

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
