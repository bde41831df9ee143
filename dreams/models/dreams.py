"""One run of an engine over one project, and its turns."""

from decimal import Decimal

from django.db import models

from dreams.models import public_ids
from dreams.models.memories import Memory
from dreams.models.projects import Project
from dreams.models.sessions import Session


class DreamRun(models.Model):
    """A dream. Its terminal states (completed, failed, killed) are final."""

    class Status(models.TextChoices):
        PENDING = "pending", "Waiting to start"
        RUNNING = "running", "Dreaming"
        COMPLETED = "completed", "Completed"
        FAILED = "failed", "Failed"
        KILLED = "killed", "Cancelled"

    UNFINISHED = (Status.PENDING, Status.RUNNING)

    class Phase(models.TextChoices):
        ORIENT = "orient", "Orient"
        GATHER = "gather", "Gather"
        CONSOLIDATE = "consolidate", "Consolidate"
        PRUNE = "prune", "Prune"

    class Trigger(models.TextChoices):
        SCHEDULE = "schedule", "Automatic"
        JOB = "job", "Schedule"
        PAGE = "page", "Page"
        COMMAND = "command", "Command"

    class Failure(models.TextChoices):
        """Where a person looks for the cause."""

        ENGINE = "engine", "The engine, or the server it asks"
        LIMIT = "limit", "A limit of time, turns or money"
        LOCK = "lock", "The lock of the directory"
        WORKER = "worker", "The process that ran it"
        FAULT = "fault", "A fault of memoryweb"

    TERMINAL = frozenset({"completed", "failed", "killed"})

    public_id = models.CharField(max_length=9, unique=True, default=public_ids.dream_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="dreams")
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING, db_index=True)
    phase = models.CharField(max_length=12, choices=Phase, blank=True)
    engine = models.CharField(max_length=20)
    model = models.CharField(max_length=100, blank=True)
    trigger = models.CharField(max_length=10, choices=Trigger)
    forced = models.BooleanField(default=False)
    requested_by = models.CharField(max_length=150, blank=True, help_text="Empty: the scheduler.")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="When this passes while the dream is running, its worker has died."
    )
    worker_pid = models.IntegerField(null=True, blank=True)
    worker_started = models.FloatField(null=True, blank=True)
    attempts = models.PositiveIntegerField(
        default=0, help_text="How often a worker started it; the queue does not count killed workers."
    )
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    failure = models.CharField(
        "what failed",
        max_length=10,
        choices=Failure,
        blank=True,
        help_text="For a failed dream, if known.",
    )
    error = models.TextField(blank=True, help_text="One line for a person.")
    summary = models.TextField(blank=True, help_text="The engine's own summary.")
    inputs_hash = models.CharField(max_length=64, blank=True)
    left_out = models.JSONField(
        default=list,
        blank=True,
        help_text="Changes left out because a person rejected them before: [{path, hunk, why}].",
    )
    self_review = models.JSONField(
        default=list,
        blank=True,
        help_text="Problems the checks reported to the engine before the proposal: [{code, path, said, mended}].",
    )
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cache_read_tokens = models.BigIntegerField(default=0)
    cache_creation_tokens = models.BigIntegerField(default=0)
    priced_usd = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Cost of the tokens whose price is known. Empty: no price is known.",
    )
    unpriced_tokens = models.BigIntegerField(default=0, help_text="Tokens of models whose price is unknown.")
    reserved_usd = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Reserved for the request in progress; counts only while the dream is running.",
    )
    notified_at = models.DateTimeField(
        null=True, blank=True, help_text="When a person was informed of the result, which happens once."
    )
    sessions = models.ManyToManyField(Session, through="DreamSession", related_name="dreams")

    class Meta:
        verbose_name = "dream"
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["project", "-created_at"]),
            # For the list of all dreams, and the number in a period.
            models.Index(fields=["-created_at", "-id"], name="dream_by_creation"),
            models.Index(fields=["-ended_at", "-id"], name="dream_by_end"),
            models.Index(fields=["started_at"], name="dream_by_start"),
            models.Index(
                fields=["-ended_at"], name="dream_untold", condition=models.Q(notified_at__isnull=True)
            ),
        ]
        constraints = [
            # Prevents two dreams of one project: a second claim fails in the database.
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(status__in=["pending", "running"]),
                name="one_dream_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_over(self) -> bool:
        return self.status in self.TERMINAL

    @property
    def tokens(self) -> int:
        """All kinds of tokens, as the limit on tokens counts them."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_creation_tokens

    @property
    def whole_cost(self) -> Decimal | None:
        """Dollars; None if the price of any of its tokens is missing."""
        return None if self.unpriced_tokens else self.priced_usd or Decimal(0)


class DreamSession(models.Model):
    """A session that a dream reviewed, and the range of bytes."""

    dream = models.ForeignKey(DreamRun, on_delete=models.CASCADE, related_name="reviewed")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="reviewed_by")
    from_byte = models.BigIntegerField(default=0)
    to_byte = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dream", "session"], name="session_once_per_dream")]

    def __str__(self) -> str:
        return f"{self.dream}: {self.session}"


class DreamLog(models.Model):
    """A daily log of the agent that a dream read, and its text then."""

    dream = models.ForeignKey(DreamRun, on_delete=models.CASCADE, related_name="read_logs")
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="read_by")
    sha256 = models.CharField(max_length=64, help_text="Digest of the log as the dream read it.")
    used = models.BooleanField(
        default=False, help_text="Its changes are decided: later dreams read only lines added since."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dream", "memory"], name="log_once_per_dream")]

    def __str__(self) -> str:
        return f"{self.dream}: {self.memory}"


class Turn(models.Model):
    """One message of the engine."""

    dream = models.ForeignKey(DreamRun, on_delete=models.CASCADE, related_name="turns")
    number = models.PositiveIntegerField()
    phase = models.CharField(max_length=12, choices=DreamRun.Phase)
    text = models.TextField(blank=True)
    tools = models.JSONField(default=list, blank=True, help_text="[{name, input, refused, ms, output}]")
    files = models.JSONField(default=list, blank=True, help_text="Paths touched in this turn.")
    counts = models.JSONField(default=dict, blank=True, help_text="Counts by name.")
    at = models.DateTimeField()
    input_tokens = models.BigIntegerField(default=0, help_text="All input tokens, cached or not.")
    output_tokens = models.BigIntegerField(default=0)
    api_ms = models.PositiveIntegerField(
        default=0, help_text="Time spent in the API, including retries and waits."
    )
    api_ms_without_retries = models.PositiveIntegerField(default=0)
    tool_ms = models.PositiveIntegerField(default=0)
    lines_added = models.PositiveIntegerField(default=0)
    lines_removed = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["dream", "number"]
        constraints = [models.UniqueConstraint(fields=["dream", "number"], name="turn_number_once")]

    def __str__(self) -> str:
        return f"{self.dream} turn {self.number}"


class WorkStep(models.Model):
    """One change of one file, with its reason. Saved at once, so that the work of a crashed dream is kept."""

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
    """The bytes of a step, by sha256. Not blobs, which are permanent: these are deleted with their dream."""

    dream = models.ForeignKey(DreamRun, on_delete=models.CASCADE, related_name="step_texts")
    sha256 = models.CharField(max_length=64)
    data = models.BinaryField()
    size = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dream", "sha256"], name="work_text_once")]

    def __str__(self) -> str:
        return self.sha256[:12]
