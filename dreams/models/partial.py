"""What a dream had changed in its scratch copy, step by step, kept until it ends well, is proposed or is too old."""

from __future__ import annotations

from django.db import models

from dreams.models.dreams import DreamRun


class WorkStep(models.Model):
    """One change of one file, with why. Kept as it happens, so that a dream that dies leaves its work behind."""

    dream = models.ForeignKey(DreamRun, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()
    path = models.CharField(max_length=1000)
    before_sha = models.CharField(max_length=64, blank=True, help_text="Empty: the file did not exist.")
    after_sha = models.CharField(max_length=64, blank=True, help_text="Empty: the file was removed.")
    operation = models.CharField(max_length=200)
    kind = models.CharField(max_length=10)
    reason = models.TextField()
    citations = models.JSONField(default=list, blank=True)
    fates = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["dream", "number"]
        constraints = [models.UniqueConstraint(fields=["dream", "number"], name="work_step_once")]

    def __str__(self) -> str:
        return f"{self.dream} step {self.number}: {self.path}"


class WorkText(models.Model):
    """The bytes of a step, by sha256. Not among the blobs, which are kept for good: these go with their dream."""

    dream = models.ForeignKey(DreamRun, on_delete=models.CASCADE, related_name="step_texts")
    sha256 = models.CharField(max_length=64)
    data = models.BinaryField()
    size = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dream", "sha256"], name="work_text_once")]

    def __str__(self) -> str:
        return self.sha256[:12]
