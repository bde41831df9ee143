"""The installations that share this database, and requests between them."""

from django.db import models

from dreams.models import public_ids
from dreams.models.projects import Project
from dreams.models.proposals import Proposal


class Host(models.Model):
    """One installation: a data directory with its queue. Its rows have its `key`; people see its name."""

    key = models.CharField(
        max_length=255, unique=True, help_text="From the file host_id in its data directory."
    )
    name = models.CharField(max_length=200, unique=True, help_text="MEMORYWEB_HOST, or the computer's name.")
    first_seen_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When its scheduler last ran, by the database's clock."
    )
    accepts_requests = models.BooleanField(
        default=False, help_text="For display. What counts is a file in that host's data directory."
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class HostRequest(models.Model):
    """A request to the host that has the files. Only that host executes it, once, after checking it again."""

    class Deed(models.TextChoices):
        APPLY = "apply", "Write what was approved"
        UNDO = "undo", "Undo"
        EDIT = "edit", "Edit a memory"
        FORGET = "forget", "Forget a memory"
        RESTORE = "restore", "Restore a version"
        REDACT = "redact", "Propose to remove secrets"
        PURGE = "purge", "Purge secrets from what is stored"
        MOMENT = "moment", "Propose a state of before"
        BRING_UP = "bring-up", "Bring changed files up to date"
        CARDS = "cards", "Write approved cards"
        EXTRACT = "extract", "Read new sessions"
        DREAM = "dream", "Dream"
        JOB = "job", "Run a job"

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting for its host"
        TAKEN = "taken", "At work"
        DONE = "done", "Done"
        REFUSED = "refused", "Not done"
        WITHDRAWN = "withdrawn", "Withdrawn"
        EXPIRED = "expired", "Too old"

    OPEN = ("waiting", "taken")

    public_id = models.CharField(max_length=9, unique=True, default=public_ids.request_id)
    host = models.CharField(max_length=255, help_text="The key of the host that is asked.")
    asked_on = models.CharField(max_length=255, help_text="The key of the host on which it was asked.")
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, blank=True, related_name="requests"
    )
    proposal = models.ForeignKey(
        Proposal, on_delete=models.CASCADE, null=True, blank=True, related_name="requests"
    )
    deed = models.CharField(max_length=10, choices=Deed)
    given = models.JSONField(default=dict, help_text="Ids, and sha256s of texts; never contents.")
    seen = models.JSONField(default=dict, help_text="Path to the sha256 that the person saw.")
    digest = models.CharField(max_length=64, help_text="Digest of host, project, action and parameters.")
    asked_by = models.CharField(max_length=150, blank=True)
    by_command = models.BooleanField(default=False)
    asked_at = models.DateTimeField(help_text="By the database's clock.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    worker_pid = models.IntegerField(null=True, blank=True)
    worker_started = models.FloatField(null=True, blank=True)
    taken_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    text = models.CharField(max_length=1000, blank=True, help_text="The result.")
    report = models.JSONField(default=dict, help_text="As `apply` prints it.")

    class Meta:
        ordering = ["-asked_at", "-pk"]
        indexes = [models.Index(fields=["host", "state"], name="request_by_host")]
        constraints = [
            # A repeated request is executed once.
            models.UniqueConstraint(
                fields=["digest"], condition=models.Q(state__in=["waiting", "taken"]), name="asked_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_deed_display()}: {self.project or 'all projects'}"
