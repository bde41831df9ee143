"""Scheduled jobs and their runs."""

from django.db import models

from dreams.models import public_ids
from dreams.models.projects import Project


class ScheduledJob(models.Model):
    """One entry of the schedule: by cron, or after another job. `next_at` is also a claim: who advances it runs it."""

    class Kind(models.TextChoices):
        DREAM = "dream", "Dream"
        CHECKUP = "checkup", "Checkup"
        DIGEST = "digest", "Digest"
        VERIFY = "verify", "Verify"
        EXPORT = "export", "Export"

    public_id = models.CharField(max_length=9, unique=True, default=public_ids.job_id)
    host = models.CharField(max_length=255, help_text="The machine that runs it.")
    kind = models.CharField(max_length=10, choices=Kind)
    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="jobs",
        help_text="Empty: every project of this machine.",
    )
    cron = models.CharField(
        max_length=100, blank=True, help_text="Five fields, in your time zone. Empty: it follows another job."
    )
    after = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="followers"
    )
    once = models.BooleanField(default=False, help_text="It ends after it has run once.")
    until = models.DateField(null=True, blank=True, help_text="The last day. Empty: it runs until removed.")
    due_at = models.DateTimeField(null=True, blank=True, help_text="The next time of the schedule.")
    next_at = models.DateTimeField(
        null=True, blank=True, help_text="When it starts: the next time, moved a little to spread jobs."
    )
    zone = models.CharField(max_length=60, blank=True, help_text="The time zone of the next time.")
    ended_at = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0, help_text="In a row.")
    failing_since = models.DateTimeField(null=True, blank=True)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["made_at", "pk"]

    def __str__(self) -> str:
        if self.kind == self.Kind.DIGEST:
            return "Digest"
        return f"{self.get_kind_display()}: {self.project or 'all projects'}"


class JobRun(models.Model):
    """One run of a job. `label` names the job after its removal."""

    class Status(models.TextChoices):
        PENDING = "pending", "Waiting to start"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        NOTHING = "nothing", "Nothing to do"
        FAILED = "failed", "Failed"

    UNFINISHED = ("pending", "running")

    job = models.ForeignKey(ScheduledJob, on_delete=models.SET_NULL, null=True, related_name="runs")
    kind = models.CharField(max_length=10, choices=ScheduledJob.Kind)
    label = models.CharField(max_length=200)
    host = models.CharField(max_length=255)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    due_at = models.DateTimeField(null=True, help_text="The time of the schedule that it ran for.")
    made_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    worker_pid = models.IntegerField(null=True)
    worker_started = models.FloatField(null=True)
    looked_at = models.DateTimeField(null=True, help_text="When its dreams were last checked.")
    asked_by = models.CharField(max_length=150, blank=True, help_text="Empty: the schedule.")
    text = models.CharField(max_length=500, blank=True)
    parts = models.JSONField(default=list, help_text="The result for each project.")

    class Meta:
        verbose_name = "run of a job"
        verbose_name_plural = "runs of jobs"
        ordering = ["-made_at", "-pk"]
        indexes = [models.Index(fields=["-made_at", "-id"], name="job_run_by_time")]
        constraints = [
            # Prevents two runs of one job at the same time.
            models.UniqueConstraint(
                fields=["job"],
                condition=models.Q(status__in=["pending", "running"]),
                name="one_run_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.label}, {self.made_at:%Y-%m-%d %H:%M}"
