"""Changes proposed by a dream, a rollback or a person, with evidence and findings.

Texts are never stored here: rows have sha256s of blobs and line ranges in them.
"""

from typing import ClassVar

from django.db import models

from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files import text
from dreams.models import public_ids
from dreams.models.dreams import DreamRun
from dreams.models.projects import Project
from dreams.models.reasons import ReasonChars, ReasonText
from dreams.models.sessions import Session


class Proposal(models.Model):
    """Changes waiting for, or past, a decision."""

    class Origin(models.TextChoices):
        DREAM = "dream", "Dream"
        ROLLBACK = "rollback", "Undo"
        RESTORE = "restore", "Restore"
        EDIT = "edit", "Edit by hand"
        FORGET = "forget", "Forget"
        REDACTION = "redaction", "Redaction"
        ANSWERS = "answers", "Answers"
        SUGGESTED = "suggested", "Suggested by your agent"
        CAUGHT = "caught", "Caught"
        COPIED = "copied", "Copy from another project"

    #: Changes drafted by an engine or an agent; a person wrote or restored the others.
    DRAFTED = (Origin.DREAM, Origin.ANSWERS, Origin.SUGGESTED, Origin.CAUGHT)
    #: What a person rejects of these is not proposed again.
    REMEMBERED = (Origin.DREAM, Origin.SUGGESTED)

    class State(models.TextChoices):
        OPEN = "open", "To review"
        SUBMITTED = "submitted", "Submitted"
        APPLIED = "applied", "Applied"
        REJECTED = "rejected", "Rejected"
        SUPERSEDED = "superseded", "Superseded"

    #: It waits for a review or to be written.
    UNFINISHED = (State.OPEN, State.SUBMITTED)

    public_id = models.CharField(max_length=9, unique=True, default=public_ids.proposal_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="proposals")
    dream = models.ForeignKey(
        DreamRun, on_delete=models.SET_NULL, null=True, blank=True, related_name="proposals"
    )
    by_policy = models.BooleanField(
        "policy", default=False, help_text="The part of a dream that a policy applies without review."
    )
    partial = models.BooleanField(
        default=False, help_text="Changes of an unfinished dream, proposed because a person asked for them."
    )
    origin = models.CharField(max_length=10, choices=Origin)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN, db_index=True)
    summary = ReasonText(blank=True, help_text="Why, in a sentence or two.")
    directory = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Where its memory directory was, links resolved. Empty: not known.",
    )
    undoes = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="undone_by"
    )
    undo_asked = models.JSONField(
        default=dict,
        blank=True,
        help_text="Of an undo: the hunks it undoes, whether they may be proposed again, the reason, whether without a review.",
    )
    moved_to = models.ForeignKey(
        Project,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Of the two halves of a move: where the memory moves to. What leaves must be there when it is removed.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    submitted_by = models.CharField(max_length=150, blank=True)
    submitting_by = models.CharField(
        max_length=200, blank=True, help_text="Host, PID and start of the process that submits it now."
    )
    submitting_since = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True, help_text="Applied, rejected or superseded.")
    checked_digest = models.CharField(
        max_length=64,
        blank=True,
        help_text="Digest of the texts that were checked; unchanged texts are not checked again.",
    )

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["project", "-created_at"])]
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(state__in=["open", "submitted"], origin="dream", by_policy=False),
                name="one_open_dream_proposal",
            ),
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(state="open", origin="caught"),
                name="one_open_caught_proposal",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def leaves_for(self) -> Project | None:
        """Of a move's second half, the project that must have what this removes."""
        return None if self.moved_to_id == self.project_id else self.moved_to

    @classmethod
    def of(cls, dream: DreamRun) -> "Proposal | None":
        """The proposal of a dream for a person: the part that no policy applied, else the part that one did."""
        return cls.objects.filter(dream=dream).order_by("by_policy", "-pk").first()


class FileChange(models.Model):
    """One file of a proposal: the state it starts from and the state it wants."""

    class Kind(models.TextChoices):
        ADD = "add", "Added"
        MODIFY = "modify", "Changed"
        DELETE = "delete", "Removed"

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=1000)
    kind = models.CharField(max_length=10, choices=Kind)
    memory_type = models.CharField(max_length=40, blank=True)
    base_sha = models.CharField(max_length=64, blank=True, help_text="Empty: the file does not exist.")
    new_sha = models.CharField(max_length=64, blank=True, help_text="Empty: the file is removed.")
    mode = models.IntegerField(null=True, blank=True, help_text="Only set if the file had it before.")
    mtime_ns = models.BigIntegerField(null=True, blank=True, help_text="Only set if the file had it before.")
    rebased_from = models.CharField(
        max_length=64, blank=True, help_text="The base before the file was changed outside memoryweb."
    )
    rebase_confirmed = models.BooleanField(
        default=True,
        help_text="False: the file changed after the review, and the result waits for confirmation.",
    )
    conflict = models.JSONField(
        null=True, blank=True, help_text="Parts that could not be merged, with the choices made."
    )
    is_worded = models.BooleanField(
        default=False, help_text="A person solved a conflict of it in their own words."
    )
    viewed_sha = models.CharField(
        max_length=64, blank=True, help_text="The version a person marked as viewed."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["proposal", "path"], name="path_once_per_proposal")]
        ordering = ["path"]

    def __str__(self) -> str:
        return self.path

    @property
    def state_sha(self) -> str:
        """A digest of its base and its result: the state that a person has seen."""
        return text.sha256(f"{self.base_sha} {self.new_sha}".encode())

    @property
    def is_viewed(self) -> bool:
        """Whether it was marked as viewed in the current state."""
        return bool(self.viewed_sha) and self.viewed_sha == self.state_sha


class Operation(models.Model):
    """Hunks that only make sense together, with their reason."""

    class Kind(models.TextChoices):
        LEARN = "learn", "Learnt"
        MERGE = "merge", "Merged"
        DATE = "date", "Dated"
        INDEX = "index", "Index row"
        DEMOTE = "demote", "Shortened"
        UPDATE = "update", "Updated"
        PRUNE = "prune", "Removed"
        EDIT = "edit", "Edited"
        COPY = "copy", "Copied"
        RESTORE = "restore", "As it was"
        UNDO = "undo", "Undone"

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="operations")
    key = models.CharField(max_length=40)
    kind = models.CharField(max_length=10, choices=Kind)
    reason = ReasonText(help_text="One sentence for a person.")
    maker = models.CharField(
        max_length=140,
        blank=True,
        help_text="Engine, model and version of the code that made it. Empty unless a dream did.",
    )
    is_routine = models.BooleanField(
        default=False, help_text="An earned policy may apply such a change: it removes nothing, for example."
    )
    policy = models.ForeignKey(
        "dreams.Policy",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="operations",
        help_text="The earned policy that applied it.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["proposal", "key"], name="operation_once_per_proposal")
        ]

    def __str__(self) -> str:
        return self.reason


class Hunk(models.Model):
    """Consecutive removed lines and the added lines that replace them: the unit of decision."""

    class Verdict(models.TextChoices):
        PENDING = "pending", "Undecided"
        APPROVED = "approved", "Approved"
        REJECTED = "rejected", "Rejected"
        EDITED = "edited", "Edited"

    TAKEN = frozenset({"approved", "edited"})

    file = models.ForeignKey(FileChange, on_delete=models.CASCADE, related_name="hunks")
    operation = models.ForeignKey(Operation, on_delete=models.SET_NULL, null=True, related_name="hunks")
    hunk_id = models.CharField(
        max_length=20,
        db_index=True,
        help_text="Derived from content, not from line numbers, so that it survives a rebase.",
    )
    number = models.PositiveIntegerField()
    base_start = models.IntegerField(help_text="0-based line in the base.")
    base_count = models.IntegerField()
    new_start = models.IntegerField(help_text="0-based line in the new text.")
    new_count = models.IntegerField()
    verdict = models.CharField(max_length=10, choices=Verdict, default=Verdict.PENDING)
    verdict_base_sha = models.CharField(
        max_length=64, blank=True, help_text="The version of the file that the decision was made on."
    )
    edited_sha = models.CharField(
        max_length=64, blank=True, help_text="The text a person wrote in place of the new lines."
    )
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decide_reason = ReasonChars(max_length=500, blank=True)
    seconded_by = models.CharField(
        max_length=150, blank=True, help_text="The second person who approved it, where one is needed."
    )
    seconded_sha = models.CharField(
        max_length=64, blank=True, help_text="The version of the file that the second person approved."
    )
    claims = models.JSONField(
        default=list,
        blank=True,
        help_text="Where the engine says that removed lines went: [{text, fate, path, target, note}].",
    )
    transcript_verdicts = models.JSONField(
        default=list,
        blank=True,
        help_text="Whether sessions support each added statement: [{line, text, answer, why, session, place, line_no, role, quote}].",
    )
    applied_in = models.ForeignKey(
        "dreams.AppliedBatch", on_delete=models.SET_NULL, null=True, blank=True, related_name="hunks"
    )
    undone_in = models.ForeignKey(
        "dreams.AppliedBatch", on_delete=models.SET_NULL, null=True, blank=True, related_name="undone_hunks"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "hunk_id"], name="hunk_once_per_file")]
        ordering = ["file", "number"]

    def __str__(self) -> str:
        return self.hunk_id

    @property
    def is_taken(self) -> bool:
        return self.verdict in self.TAKEN


class Evidence(models.Model):
    """A quote that supports a change, with its place and speaker. Copied here, as agents delete transcripts."""

    class Source(models.TextChoices):
        TRANSCRIPT = "transcript", "Session"
        MEMORY = "memory", "Memory"
        FILE = "file", "File's date"
        HISTORY = "history", "History"
        REPOSITORY = "repository", "Repository"
        AGENT = "agent", "Agent"

    #: Role in a transcript → the speaker, for the reader.
    SPEAKERS: ClassVar = {
        "user": "You",
        "assistant": "The agent",
        "tool": "A tool",
        "web": "A page of the web",
        "system": "The system",
        "log": "Your agent’s log",
    }
    NOBODYS: ClassVar = {
        "tool": "Nobody’s word: a tool printed it.",
        "web": "Nobody said this: it is from a web page.",
    }
    ORIGINS: ClassVar = {
        Source.MEMORY: "From the memory",
        Source.FILE: "From the file’s date",
        Source.HISTORY: "From the history",
        Source.REPOSITORY: "From the repository",
        Source.AGENT: "Your agent’s own words",
    }

    hunk = models.ForeignKey(Hunk, on_delete=models.CASCADE, related_name="evidence")
    source = models.CharField(max_length=12, choices=Source)
    session = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, blank=True)
    place = models.TextField(blank=True, help_text="Transcript path or memory path.")
    line_no = models.IntegerField(null=True, blank=True, help_text="1-based.")
    offset = models.BigIntegerField(null=True, blank=True)
    role = models.CharField(max_length=20, blank=True, help_text="user, assistant, tool …")
    at = models.DateTimeField(null=True, blank=True)
    quote = models.TextField()
    context = models.TextField(blank=True)
    found = models.BooleanField(default=True, help_text="The quote was found in the cited place.")
    note = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["hunk", "id"]

    def __str__(self) -> str:
        return self.quote[:80]

    @property
    def is_transcript(self) -> bool:
        return self.source == self.Source.TRANSCRIPT

    @property
    def is_logged(self) -> bool:
        """Whether it is a line of a daily log: only its day is known."""
        return self.role == "log"

    @property
    def is_prompt_only(self) -> bool:
        """Whether it is from a prompt whose transcript is gone."""
        return self.is_transcript and self.note == NO_ANSWER

    @property
    def who(self) -> str:
        """The speaker, or the source of the quote."""
        if self.is_transcript or self.is_logged:
            return self.SPEAKERS.get(self.role, self.role.capitalize() or "A session")
        return self.ORIGINS.get(self.Source(self.source), self.get_source_display())

    @property
    def is_yours(self) -> bool:
        return self.is_transcript and self.role == "user" and self.found

    @property
    def caveat(self) -> str:
        """A warning if a program printed the quote or a third party wrote it; else ""."""
        return self.NOBODYS.get(self.role, "") if self.is_transcript and self.found else ""

    @property
    def is_long(self) -> bool:
        """Whether it scrolls inside its frame; then it must be focusable by keyboard."""
        return len(self.quote) > 180 or self.quote.count("\n") > 6


class LedgerEntry(models.Model):
    """Where a removed line went."""

    class Fate(models.TextChoices):
        KEPT = "kept-in", "Kept in"
        MERGED = "merged-into", "Now in"
        SUPERSEDED = "superseded-by", "Superseded by"
        STATED = "stated", "Left out because"
        UNEXPLAINED = "unexplained", "Not explained"

    hunk = models.ForeignKey(Hunk, on_delete=models.CASCADE, related_name="ledger")
    text = models.TextField(help_text="The removed text.")
    fate = models.CharField(max_length=14, choices=Fate)
    target_path = models.CharField(max_length=1000, blank=True)
    target_line = models.IntegerField(null=True, blank=True)
    target_text = models.TextField(blank=True)
    note = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["hunk", "id"]
        verbose_name_plural = "ledger entries"

    def __str__(self) -> str:
        return f"{self.fate}: {self.text[:60]}"


class Finding(models.Model):
    """What a check found in a change."""

    class Severity(models.TextChoices):
        REFUSE = "refuse", "Refused"
        BLOCK = "block", "Blocks until confirmed"
        WARN = "warn", "Warning"
        INFO = "info", "Note"

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="findings")
    file = models.ForeignKey(
        FileChange, on_delete=models.CASCADE, null=True, blank=True, related_name="findings"
    )
    hunk = models.ForeignKey(Hunk, on_delete=models.CASCADE, null=True, blank=True, related_name="findings")
    key = models.CharField(
        max_length=40, help_text="Derived from content, so that a confirmation survives a new check."
    )
    check_name = models.CharField(max_length=30, help_text="ledger, evidence, secrets …")
    code = models.CharField(max_length=60)
    severity = models.CharField(max_length=6, choices=Severity)
    message = models.TextField()
    ABOUT: ClassVar = "about"
    message_parts = models.JSONField(
        default=dict,
        blank=True,
        help_text="The message in parts: {statement, remark, detail}, and a digest of what it is about: {about}. Empty for rows created before this field existed.",
    )
    remedy = models.TextField(blank=True)
    line_no = models.IntegerField(null=True, blank=True, help_text="1-based, in the new text.")
    confirmed_by = models.CharField(max_length=150, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["proposal", "id"]

    def __str__(self) -> str:
        return f"{self.severity}: {self.message[:80]}"

    @property
    def is_blocking(self) -> bool:
        """Whether what it is about cannot be written: it is not confirmed, or never can be."""
        is_open = self.severity == self.Severity.BLOCK and self.confirmed_at is None
        return is_open or self.severity == self.Severity.REFUSE
