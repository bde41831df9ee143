"""Memories: every version seen or written, the bytes of each, the texts for search, and purges of secrets from all of
them."""

from django.db import models

from dreams.models.projects import Project
from dreams.models.reasons import ReasonChars
from dreams.models.sessions import HistoryPrompt, Prompt, Session


class Blob(models.Model):
    """Bytes by their sha256, for the pages. The bare repository has them too, in case this table is lost."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    data = models.BinaryField()
    size = models.BigIntegerField()
    first_seen_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256[:12]


class Memory(models.Model):
    """One Markdown file below a memory directory."""

    class Kind(models.TextChoices):
        INDEX = "index", "Index"
        TOPIC = "topic", "Memory"
        TEAM = "team", "Team memory"
        LOG = "log", "Log"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memories")
    path = models.CharField(max_length=1000, help_text="Relative to the memory directory.")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.TOPIC)
    type = models.CharField(
        max_length=40,
        blank=True,
        help_text="user, feedback, project, reference, or another value in the file.",
    )
    name = models.CharField(max_length=300, blank=True)
    description = models.TextField(blank=True)
    pinned = models.BooleanField(default=False)
    sha256 = models.CharField(max_length=64, blank=True, help_text="Of the file when last seen.")
    size = models.BigIntegerField(default=0, help_text="Bytes when last seen.")
    lines = models.IntegerField(default=0)
    mode = models.IntegerField(default=0o644)
    mtime_ns = models.BigIntegerField(default=0)
    inode = models.BigIntegerField(default=0)
    first_seen_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(null=True, blank=True)
    gone_at = models.DateTimeField(null=True, blank=True)
    unread = models.CharField(
        max_length=200,
        blank=True,
        help_text="Why the file cannot be read now; the other fields are as last seen.",
    )

    secret_in_path = models.BooleanField(db_default=False, help_text="The file's name contains a secret.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "path"], name="memory_unique_per_project")]
        ordering = ["path"]
        indexes = [
            models.Index(fields=["sha256"], name="memory_by_sha256"),
            models.Index(
                fields=["path"], name="memory_secret_paths", condition=models.Q(secret_in_path=True)
            ),
        ]
        verbose_name_plural = "memories"

    def __str__(self) -> str:
        return self.path

    @property
    def title(self) -> str:
        """Its name on pages: the one in its frontmatter, else the file's."""
        return self.name or self.path.rpartition("/")[2]


# What all pages and commands count as memories: existing files except indexes and daily logs.
COUNTED_MEMORIES = models.Q(gone_at__isnull=True, kind__in=(Memory.Kind.TOPIC, Memory.Kind.TEAM)) & ~models.Q(
    path__endswith="/MEMORY.md"
)


class Version(models.Model):
    """One state of a memory: its bytes, when it was seen or written, and by whom."""

    class Origin(models.TextChoices):
        FOUND = "found", "Found"
        OUTSIDE = "outside", "Edited outside"
        APPLY = "apply", "Applied"
        ROLLBACK = "rollback", "Rolled back"
        RESTORE = "restore", "Restored"
        EDIT = "edit", "Edited by hand"
        FORGET = "forget", "Forgotten"
        REDACTION = "redaction", "Redacted"
        COPIED = "copied", "Copied from another project"

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="versions")
    number = models.BigIntegerField(
        db_default=0, help_text="Orders the versions of a memory: clocks may have been wrong."
    )
    sha256 = models.CharField(max_length=64, blank=True, help_text="Empty: the file was removed.")
    size = models.BigIntegerField(default=0)
    mode = models.IntegerField(default=0o644)
    mtime_ns = models.BigIntegerField(default=0)
    at = models.DateTimeField()
    origin = models.CharField(max_length=10, choices=Origin)
    proposal = models.ForeignKey(
        "dreams.Proposal", on_delete=models.SET_NULL, null=True, blank=True, related_name="versions"
    )
    actor = models.CharField(
        max_length=150, blank=True, help_text="Empty: the system, or a change made outside memoryweb."
    )
    aside_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When text was saved that was written during an apply; the file does not have it.",
    )
    indexed = models.BooleanField(db_default=False, help_text="Indexed for search.")

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["memory", "-at"]),
            models.Index(fields=["memory", "-number"], name="version_by_number"),
            models.Index(fields=["sha256"], name="version_by_sha256"),
            models.Index(fields=["at"], condition=models.Q(indexed=False), name="version_not_indexed"),
        ]

    def __str__(self) -> str:
        return f"{self.memory} at {self.at:%Y-%m-%d %H:%M}"

    def save_as(self, number: int) -> None:
        """Save it among earlier versions; the numbers of those from this one on rise by one."""
        later = Version.objects.filter(memory=self.memory_id, number__gte=number)
        later.update(number=models.F("number") + 1)
        self.number = number
        self.save()


class InstructionText(models.Model):
    """The text of an instruction file for an agent, without secrets: a copy for search, made at the last scan.

    A file that several projects load, such as the user's own, is one row.
    """

    projects = models.ManyToManyField(Project, related_name="instruction_texts")
    always_in = models.ManyToManyField(
        Project,
        related_name="always_loaded_texts",
        help_text="Those of them that load it whatever file they are at.",
    )
    host = models.CharField(max_length=255)
    path = models.TextField(help_text="Absolute path.")
    scope = models.CharField(max_length=10, help_text="managed, user, project, rule or local.")
    text = models.TextField(help_text="Line by line as in the file.")
    changed_at = models.DateTimeField(help_text="When the file was last changed.")
    indexed = models.BooleanField(db_default=False, help_text="Indexed for search.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "path"], name="instruction_text_unique_per_host")
        ]

    def __str__(self) -> str:
        return self.path


def _only(name: str) -> models.Q:
    """A check that a text has this owner and no other."""
    owners = ("blob", "prompt", "session", "history", "instruction")
    return models.Q(**{f"{other}__isnull": other != name for other in owners})


class SearchText(models.Model):
    """A text in the form that search compares: of a memory's version, a prompt, a paste, a session's title or an
    instruction file."""

    blob = models.OneToOneField(Blob, on_delete=models.CASCADE, null=True, related_name="+")
    prompt = models.OneToOneField(Prompt, on_delete=models.CASCADE, null=True, related_name="+")
    session = models.OneToOneField(Session, on_delete=models.CASCADE, null=True, related_name="+")
    history = models.OneToOneField(HistoryPrompt, on_delete=models.CASCADE, null=True, related_name="+")
    instruction = models.OneToOneField(InstructionText, on_delete=models.CASCADE, null=True, related_name="+")
    text = models.TextField(help_text="Lower case, without accents; secrets removed.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=_only("blob")
                | _only("prompt")
                | _only("session")
                | _only("history")
                | _only("instruction"),
                name="search_text_of_one_thing",
            )
        ]

    def __str__(self) -> str:
        return self.text[:80]


class Purge(models.Model):
    """One purge. It has the sha256 of texts, never their content; an unfinished one is completed later."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=150, blank=True)
    by_command = models.BooleanField(default=False)
    reason = ReasonChars(max_length=500, blank=True)
    replaced = models.JSONField(help_text="Old sha256 to the sha256 of the same text without the secret.")
    histories = models.JSONField(help_text="Keys of the histories still to be rewritten.")
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{len(self.replaced)} texts, {self.at:%Y-%m-%d %H:%M}"
