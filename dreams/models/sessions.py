"""Data imported from transcripts. The transcripts themselves are not copied; they are read by offset."""

from datetime import datetime

from django.db import models
from django.db.models import Exists, OuterRef, Q

from dreams.models.projects import Project, TranscriptFolder

# What all pages and commands count as sessions: the agent still has the transcript.
COUNTED_SESSIONS = models.Q(gone_at__isnull=True)


class Session(models.Model):
    """One transcript of a coding agent, with those of its sub-agents."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sessions")
    folder = models.ForeignKey(
        TranscriptFolder, on_delete=models.SET_NULL, null=True, related_name="sessions"
    )
    session_id = models.CharField(max_length=200, db_index=True)
    path = models.TextField(help_text="The main transcript.")
    title = models.CharField(max_length=300, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    last_at = models.DateTimeField(null=True, blank=True)
    touched_at = models.DateTimeField(help_text="mtime of the transcript.")
    branch = models.CharField(max_length=255, blank=True)
    cwd = models.TextField(blank=True)
    version = models.CharField(max_length=50, blank=True, help_text="The agent's version.")
    root_key = models.BigIntegerField(
        null=True, blank=True, help_text="Hash of the first record's uuid: forks share it."
    )
    size = models.BigIntegerField(
        default=0, help_text="Bytes of the main transcript, to the end of its last whole line."
    )
    lines = models.IntegerField(default=0)
    user_turns = models.IntegerField(default=0)
    assistant_turns = models.IntegerField(default=0)
    corrections = models.IntegerField(
        default=0, help_text="Turns in which the person corrected the agent, by narrow patterns."
    )
    malformed_lines = models.IntegerField(default=0)
    own = models.BooleanField(
        default=False, help_text="Created by memoryweb while dreaming; never counts towards the next dream."
    )
    used_bytes = models.BigIntegerField(
        default=0, help_text="Bytes whose lessons a submitted proposal already has."
    )
    given_back_at = models.DateTimeField(
        null=True, blank=True, help_text="Read again, because its proposal was undone or superseded."
    )
    caught_bytes = models.BigIntegerField(
        null=True, blank=True, help_text="Bytes that were read for things to remember. Empty: none yet."
    )
    hinted_at = models.DateTimeField(
        null=True, blank=True, help_text="When the agent’s hook last reported the end of the session."
    )
    gone_at = models.DateTimeField(null=True, blank=True)
    # Nullable: SQLite adds a nullable column without rebuilding the table and its triggers.
    title_indexed_at = models.DateTimeField(
        null=True, blank=True, help_text="When its title was indexed for search. Empty: not yet."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "path"], name="session_unique_per_project")]
        ordering = ["-touched_at"]
        indexes = [
            # Covers the counts of lists and gates, so that a hundred thousand rows are counted without being read.
            models.Index(
                fields=[
                    "project",
                    "-touched_at",
                    "gone_at",
                    "own",
                    "corrections",
                    "root_key",
                    "given_back_at",
                    "session_id",
                ],
                name="session_counted",
            ),
            # Covers the query for resumed sessions: else SQLite would scan all sessions of a project for each one.
            models.Index(fields=["root_key", "project", "touched_at"], name="session_root"),
            models.Index(
                fields=["touched_at"],
                condition=models.Q(title_indexed_at__isnull=True),
                name="session_title_waits",
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.session_id

    @property
    def at(self) -> datetime:
        """Its last activity: the time of its last record, else its file's mtime, which a copy or a restore changes."""
        return self.last_at or self.touched_at


def continued_later(of: str = "", **also: object) -> Exists:
    """Whether a session was resumed in a newer file of its project, of which `also` is true. `of` leads to the session: "session__"."""
    at, pk = OuterRef(f"{of}touched_at"), OuterRef(f"{of}pk")
    newer = Q(touched_at__gt=at) | Q(touched_at=at, pk__gt=pk)
    # Not a column, so that SQLite takes the index of `root_key`: by that of projects it would read all sessions for each one.
    place = models.ExpressionWrapper(models.F("project") + 0, models.BigIntegerField())
    same = {"root_key": OuterRef(f"{of}root_key"), "place": OuterRef(f"{of}project")}
    return Exists(Session.objects.alias(place=place).filter(newer, **same, **also))


class SessionNotes(models.Model):
    """Notes on one session: the agent's own beside its transcript, and requested hand-over notes."""

    class Origin(models.TextChoices):
        AGENT = "agent", "Notes kept by the agent"
        RULES = "rules", "Hand-over notes by rules"
        MODEL = "model", "Hand-over notes by a model"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="notes")
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.AGENT)
    sha256 = models.CharField(max_length=64, help_text="The text, without secrets.")
    size = models.BigIntegerField(help_text="Bytes of the file that was read.")
    mtime_ns = models.BigIntegerField(default=0, help_text="Modification time of the agent’s file.")
    written_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "session notes"
        constraints = [models.UniqueConstraint(fields=["session", "origin"], name="notes_once_per_origin")]

    def __str__(self) -> str:
        return f"{self.get_origin_display()}: {self.session_id}"

    @property
    def is_handover(self) -> bool:
        return self.origin != self.Origin.AGENT


class NotesRequest(models.Model):
    """One request to a model for hand-over notes on a session, with its state and result."""

    class Status(models.TextChoices):
        PENDING = "pending", "Waiting to start"
        RUNNING = "running", "Writing"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    UNFINISHED = (Status.PENDING, Status.RUNNING)

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="notes_requests")
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    model = models.CharField(max_length=100)
    asked_by = models.CharField(max_length=150, blank=True)
    asked_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True, help_text="When its worker last reported that it is running.")
    ended_at = models.DateTimeField(null=True)
    cancel_asked_at = models.DateTimeField(null=True)
    sections = models.PositiveSmallIntegerField(default=0, help_text="Sections that the model has written.")
    session_tokens = models.BigIntegerField(default=0, help_text="About how long the session was then.")
    session_calls = models.IntegerField(default=0, help_text="How many tools the agent had called then.")
    cost_usd = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        verbose_name = "request for hand-over notes"
        verbose_name_plural = "requests for hand-over notes"
        ordering = ["-asked_at", "-pk"]
        constraints = [
            # Prevents two unfinished requests for one session.
            models.UniqueConstraint(
                fields=["session"],
                condition=models.Q(status__in=["pending", "running"]),
                name="notes_one_request_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.session}, {self.asked_at:%Y-%m-%d %H:%M}"


class TranscriptFile(models.Model):
    """One JSONL file and how far it has been read. Sub-agents' files belong to their parent's session."""

    class Kind(models.TextChoices):
        MAIN = "main", "Main transcript"
        SUBAGENT = "subagent", "Sub-agent"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="files")
    path = models.TextField()
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.MAIN)
    device = models.BigIntegerField(default=0)
    inode = models.BigIntegerField(default=0)
    size = models.BigIntegerField(default=0)
    mtime_ns = models.BigIntegerField(default=0)
    offset = models.BigIntegerField(default=0, help_text="Bytes read: the end of the last complete line.")
    line_no = models.IntegerField(default=0)
    identity = models.BinaryField(
        default=bytes, help_text="Hashes of the start and of the bytes before the offset."
    )
    state = models.BinaryField(default=bytes, help_text="Running totals, so that only new lines are read.")
    # Nullable: SQLite adds a nullable column without rebuilding the table.
    agent = models.CharField(  # noqa: DJ001 - see above
        max_length=200,
        null=True,
        blank=True,
        help_text="A sub-agent’s name. Empty: no agent with a name; null: not known yet.",
    )
    problems = models.JSONField(
        default=list, blank=True, help_text="The first unreadable lines: [{line, offset, reason}]."
    )
    gone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "path"], name="file_unique_per_session")]

    def __str__(self) -> str:
        return self.path


class RequestUsage(models.Model):
    """Tokens of one request to a model. One assistant turn has several lines, and forks copy them: it is counted once."""

    key = models.BigIntegerField(primary_key=True, help_text="Hash of message id and request id.")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="requests")
    message_key = models.BigIntegerField(
        default=0,
        db_index=True,
        help_text="Hash of the message id alone: a sub-agent's replay under a new request id has the same.",
    )
    model = models.CharField(max_length=100)
    at = models.DateTimeField(null=True, blank=True, db_index=True)
    sidechain = models.BooleanField(default=False)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cache_write_5m_tokens = models.BigIntegerField(default=0)
    cache_write_1h_tokens = models.BigIntegerField(default=0)
    cache_read_tokens = models.BigIntegerField(default=0)
    web_searches = models.IntegerField(default=0)
    # Nullable without a default: SQLite adds it without rebuilding the table and its triggers.
    agent_micros = models.BigIntegerField(
        null=True, help_text="The cost that the agent reported, in millionths of a dollar."
    )

    def __str__(self) -> str:
        return f"{self.model}: {self.input_tokens} in, {self.output_tokens} out"


class Prompt(models.Model):
    """A text typed by a person: about one line in fifty of a transcript, and the best evidence."""

    key = models.BigIntegerField(primary_key=True, help_text="Hash of the record's uuid: forks count once.")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="prompts")
    offset = models.BigIntegerField(help_text="Byte offset of the line in the main transcript.")
    line_no = models.IntegerField(help_text="1-based.")
    at = models.DateTimeField(null=True, blank=True)
    text = models.TextField()
    caught_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When it was read for things to remember; a copy in a fork is not read again.",
    )
    # Rows are written by the hundred thousand, which only adds entries to the small index of this column; they are
    # added to the search index later, in small steps.
    indexed = models.BooleanField(db_default=False, help_text="Indexed for search.")

    class Meta:
        ordering = ["session", "offset"]
        indexes = [
            models.Index(fields=["session", "offset"]),
            models.Index(fields=["at"], condition=models.Q(indexed=False), name="prompt_not_indexed"),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class MemoryWrite(models.Model):
    """A write to a memory file found in a transcript: shows when a line was added."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="memory_writes")
    path = models.TextField(help_text="The file written, as the record names it.")
    offset = models.BigIntegerField()
    at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "offset", "path"], name="memory_write_once")
        ]

    def __str__(self) -> str:
        return self.path


class OpenEnd(models.Model):
    """A task that an agent set itself in a session and did not finish. Shown to people, never used as memory."""

    class Status(models.TextChoices):
        PENDING = "pending", "not started"
        IN_PROGRESS = "in_progress", "in progress"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="open_ends")
    number = models.IntegerField(help_text="Its place among those of the session, from 1.")
    subject = models.CharField(max_length=300)
    status = models.CharField(max_length=20, choices=Status, default=Status.PENDING)
    blocked_by = models.JSONField(
        default=list, blank=True, help_text="Subjects of the unfinished tasks that it waits for."
    )
    offset = models.BigIntegerField(help_text="Byte offset of the last line about it.")
    line_no = models.IntegerField(help_text="1-based.")
    at = models.DateTimeField(null=True, blank=True, help_text="Time of the last line about it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="open_end_once")]

    def __str__(self) -> str:
        return self.subject

    @property
    def is_begun(self) -> bool:
        return self.status == self.Status.IN_PROGRESS


class HistoryFile(models.Model):
    """One `history.jsonl` and how far it has been read."""

    host = models.CharField(max_length=255)
    root = models.TextField(help_text="The agent's config folder.")
    device = models.BigIntegerField(default=0)
    inode = models.BigIntegerField(default=0)
    size = models.BigIntegerField(default=0)
    mtime_ns = models.BigIntegerField(default=0)
    offset = models.BigIntegerField(default=0, help_text="Bytes read: the end of the last complete line.")
    line_no = models.IntegerField(default=0)
    identity = models.BinaryField(
        default=bytes, help_text="Hashes of the start and of the bytes before the offset."
    )
    malformed_lines = models.IntegerField(default=0)
    unplaced = models.IntegerField(default=0, help_text="Prompts of folders that no project is known for.")
    newest_project = models.BigIntegerField(
        default=0,
        help_text="The newest project at that time: with a newer one, unplaced prompts are read again.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "root"], name="history_file_once")]

    def __str__(self) -> str:
        return f"{self.root}/history.jsonl"


class HistoryPrompt(models.Model):
    """A prompt that is only in the history: its transcript is gone, and with it the answer.

    Its offset and line are those of the history file.
    """

    prompt = models.OneToOneField(Prompt, on_delete=models.CASCADE, primary_key=True, related_name="history")
    pastes = models.JSONField(
        default=list, help_text="Pasted texts: [{number, text or hash}]; long ones are kept by the agent."
    )
    images = models.IntegerField(default=0)
    indexed = models.BooleanField(db_default=False, help_text="Its pasted texts are indexed for search.")

    class Meta:
        indexes = [
            models.Index(fields=["prompt"], condition=models.Q(indexed=False), name="pastes_not_indexed")
        ]

    def __str__(self) -> str:
        return str(self.prompt_id)


class SaidAgain(models.Model):
    """A prompt that says what a memory or an instruction file said already when its session began."""

    class Loaded(models.TextChoices):
        """Where it was then, nearest to the agent first."""

        START = "start", "Loaded when the session began"
        LINKED = "linked", "In a memory that the index named"
        BEYOND = "beyond", "Beyond what an agent loads of the index"
        UNLISTED = "unlisted", "In a memory that the index did not name"

    # Without a constraint: a transcript that is read again brings its prompt back, with the same key.
    prompt = models.ForeignKey(
        Prompt, on_delete=models.DO_NOTHING, db_constraint=False, related_name="said_again"
    )
    statement = models.CharField(max_length=64, help_text="Digest of the statement’s words.")
    loaded = models.CharField(max_length=10, choices=Loaded)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["prompt", "statement"], name="said_again_once")]

    def __str__(self) -> str:
        return f"{self.prompt_id}: {self.get_loaded_display()}"


class HiddenPrompt(models.Model):
    """A prompt that a person hid. By its key, which does not change if its transcript is read again."""

    key = models.BigIntegerField(primary_key=True, help_text="The prompt's key.")
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.key)
