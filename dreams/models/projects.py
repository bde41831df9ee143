"""Where memories and sessions come from: projects, their transcript folders, and who holds a project's lock."""

from django.db import models


class Project(models.Model):
    """One memory directory with its transcript folders and repository. The directory may not exist yet."""

    class Kind(models.TextChoices):
        AUTO = "auto", "Auto memory"
        AGENT = "agent", "Agent memory"

    host = models.CharField(
        max_length=255, help_text="The machine that has these files; its work is queued there."
    )
    memory_dir = models.TextField(help_text="Absolute path.")
    slug = models.CharField(max_length=300, db_index=True)
    name = models.CharField(max_length=200, help_text="The name people use: the repository's folder name.")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.AUTO)
    scope = models.CharField(max_length=10, blank=True, help_text="user, project or local, for agent memory.")
    agent_name = models.CharField(max_length=200, blank=True)
    root = models.TextField(blank=True, help_text="The agent's config folder in which it was found.")
    repo_dir = models.TextField(
        blank=True, help_text="The repository, taken from the working directory of its sessions."
    )
    repo_identity = models.CharField(
        max_length=50,
        blank=True,
        db_default="",
        help_text="Device and inode of the repository’s folder when last seen; a folder keeps them when it is moved.",
    )
    repo_gone_at = models.DateTimeField(
        null=True, blank=True, help_text="When the repository was first missing from its path."
    )
    moved_from = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="moved_to",
        help_text="The project of this repository before it was moved or renamed.",
    )
    trusted = models.BooleanField(
        default=False,
        help_text="Settings inside this repository, such as autoMemoryDirectory, are trusted.",
    )
    agent_settings = models.JSONField(
        default=dict, blank=True, help_text="The agent's own settings and where each was found."
    )
    secret_in_path = models.BooleanField(
        db_default=False, help_text="The name of one of its folders contains a secret."
    )
    mode = models.CharField(
        max_length=20, blank=True, help_text="daily-log or remote: the agent manages this memory itself."
    )
    MOST_LEFT_ALONE = 200  # names of unread files; chosen
    left_alone = models.JSONField(
        null=True,
        blank=True,
        help_text="Files of its memory folder that are not read: [[name, reason]]; empty for rows created before this field existed.",
    )
    history_key = models.CharField(
        max_length=64, unique=True, help_text="Folder name of the bare repository."
    )
    first_seen_at = models.DateTimeField(auto_now_add=True)
    gone_at = models.DateTimeField(null=True, blank=True)
    unwatched_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When its config folder was no longer in Places; it counts as gone since.",
    )
    last_consolidated_at = models.DateTimeField(
        null=True, blank=True, help_text="The lock file's mtime when last seen."
    )
    last_session_at = models.DateTimeField(null=True, blank=True)
    sessions_scanned_at = models.DateTimeField(
        null=True, blank=True, help_text="When sessions were last counted."
    )
    instructions_read_at = models.DateTimeField(
        null=True, blank=True, help_text="When its instruction files were last read for search."
    )
    inputs_hash = models.CharField(
        max_length=64, blank=True, help_text="Digest of what the last completed dream read."
    )
    gate_fingerprint = models.CharField(
        max_length=300, blank=True, help_text="Digest of the latest gate results."
    )
    failures = models.PositiveIntegerField(default=0, help_text="Failed dreams in a row.")
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="No new try before this time, after a failure."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "memory_dir"], name="project_unique_per_host")]
        indexes = [
            models.Index(fields=["id"], name="project_secret_paths", condition=models.Q(secret_in_path=True))
        ]
        ordering = ["name", "slug"]

    def __str__(self) -> str:
        return self.name or self.slug


class TranscriptFolder(models.Model):
    """A folder of transcripts. Worktrees and subfolders of a repository share one memory directory."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="folders")
    path = models.TextField()
    slug = models.CharField(max_length=300)
    cwd = models.TextField(
        blank=True, help_text="As recorded in its transcript; never guessed from a folder name."
    )
    gone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "path"], name="folder_unique_per_project")]
        ordering = ["path"]

    def __str__(self) -> str:
        return self.slug


class LockHold(models.Model):
    """Our record of a held `.consolidate-lock`, to recover from a crash without losing a day.

    The row exists while we hold the lock. The file contains only a PID; this row has the process's start time, to detect
    a reused PID, and the previous mtime.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="lock_hold")
    pid = models.IntegerField()
    process_started = models.FloatField(help_text="Seconds since the epoch, as the system reports it.")
    prior_mtime_ns = models.BigIntegerField(null=True, blank=True, help_text="Null: there was no lock file.")
    prior_body = models.BinaryField(default=bytes, help_text="Content of the lock file before.")
    taken_at = models.DateTimeField()
    purpose = models.CharField(max_length=20, help_text="dream, apply or rollback.")

    def __str__(self) -> str:
        return f"{self.project} held by {self.pid}"


class GateEvaluation(models.Model):
    """An evaluation with a different result than the previous one: a line of the project's timeline."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="gate_evaluations")
    at = models.DateTimeField(db_index=True)
    open = models.BooleanField()
    results = models.JSONField(help_text="[{name, passed, reason, opens_at}]")
    fingerprint = models.CharField(max_length=64)

    class Meta:
        ordering = ["-at"]
        indexes = [models.Index(fields=["project", "-at"])]

    def __str__(self) -> str:
        return f"{self.project}: {'open' if self.open else 'closed'}"
