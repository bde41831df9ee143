"""Questions: what an engine was not sure of, with drafted answers; and cards: statements of the person in a session that
has ended.

Full texts are blobs; rows have their sha256s, the statements that a question is about, and quotes.
"""

from django.db import models

from dreams.models import public_ids
from dreams.models.dreams import DreamRun
from dreams.models.projects import Project
from dreams.models.proposals import Operation, Proposal
from dreams.models.sessions import Session


def kinds() -> list[tuple[str, str]]:
    """A callable, so that a new kind needs no migration."""
    return Question.Kind.choices


class Question(models.Model):
    """One question to the owner of the memories."""

    class Kind(models.TextChoices):
        """As in `QUESTIONS` of `engines/types.py`, with labels for pages."""

        SAME = "same", "Repeated"
        CHANGED = "changed", "Changed"
        CONFLICT = "conflict", "Conflict"
        FORGET = "forget", "Forget"
        EXPIRED = "expired", "Expired"
        DERIVED = "derived", "In the code"
        LEANS = "leans", "Depends on a change"
        GONE = "gone", "Gone"
        INDEX = "index", "Index too long"
        LEARN = "learn", "Remember"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        WAITING = "waiting", "Answered, not yet submitted"
        ANSWERED = "answered", "Answered"
        LATER = "later", "Not now"
        OUTDATED = "outdated", "Outdated"

    public_id = models.CharField(max_length=9, unique=True, default=public_ids.question_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="questions")
    dream = models.ForeignKey(
        DreamRun, on_delete=models.SET_NULL, null=True, blank=True, related_name="questions"
    )
    proposal = models.ForeignKey(
        Proposal,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="questions",
        help_text="The proposal of the dream that asked, if there is one.",
    )
    kind = models.CharField(max_length=10, choices=kinds)
    subject = models.CharField(
        max_length=64, help_text="Digest of kind and subject; each subject is asked once."
    )
    why = models.TextField(help_text="Why it is asked, in one sentence.")
    places = models.JSONField(
        default=list,
        help_text="[{path, line, text, anchor, sha, session, offset, role, at, note}], in a fixed order.",
    )
    evidence = models.JSONField(default=list, blank=True, help_text="Quotes, in the same form as places.")
    weight = models.FloatField(default=0.5, help_text="0 to 1: how much an answer would help.")
    asked = models.BooleanField(
        default=False, help_text="Visible to the person; the others appear with “show more”."
    )
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    answer = models.CharField(max_length=20, blank=True, help_text="Id of the chosen option.")
    rows = models.JSONField(default=list, blank=True, help_text="Index questions: the chosen rows’ paths.")
    answered_by = models.CharField(max_length=150, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    later_until = models.DateTimeField(null=True, blank=True)
    undone = models.PositiveSmallIntegerField(
        default=0,
        help_text="How often its answer was undone. After the first time the question is asked again.",
    )
    operation = models.ForeignKey(
        Operation,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="questions",
        help_text="The change that the answer made.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-asked", "-weight", "id"]
        indexes = [models.Index(fields=["project", "state"], name="questions_by_state")]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "subject"],
                condition=models.Q(state__in=["open", "waiting", "later"]),
                name="one_live_question_per_subject",
            )
        ]

    def __str__(self) -> str:
        return self.why


class QuestionOption(models.Model):
    """One possible answer, with the edits it would make, drafted in advance."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="options")
    number = models.PositiveIntegerField()
    option_id = models.CharField(max_length=20)
    label = models.CharField(max_length=300)
    edits = models.JSONField(
        default=list,
        blank=True,
        help_text="[{path, before, after, operation, kind, reason, citations, fates}]; before and after are sha256s of blobs, empty where there is no file.",
    )

    class Meta:
        ordering = ["question", "number"]
        constraints = [
            models.UniqueConstraint(fields=["question", "option_id"], name="option_once_per_question")
        ]

    def __str__(self) -> str:
        return self.label


class Card(models.Model):
    """One thing that a person asked to remember, corrected or decided, and the line it would become.

    People decide on cards; the project's proposal of origin `caught` is drafted from the open and approved ones.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Not listed yet"
        OPEN = "open", "To review"
        APPROVED = "approved", "Approved"
        REJECTED = "rejected", "Rejected"
        OUTDATED = "outdated", "No longer needed"

    public_id = models.CharField(max_length=9, unique=True, default=public_ids.card_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="cards")
    session = models.ForeignKey(
        Session, on_delete=models.SET_NULL, null=True, blank=True, related_name="cards"
    )
    proposal = models.ForeignKey(
        Proposal, on_delete=models.SET_NULL, null=True, blank=True, related_name="cards"
    )
    operation = models.ForeignKey(
        Operation,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="cards",
        help_text="The change that the card becomes.",
    )
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    key = models.CharField(max_length=64, help_text="Digest of the statement; each is caught once.")
    said = models.TextField(help_text="What the person typed.")
    text = models.TextField(help_text="The line that would be remembered.")
    memory_type = models.CharField(max_length=40)
    citations = models.JSONField(default=list, help_text="Its sources: quotes with session and line.")
    engine = models.CharField(max_length=20)
    said_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["said_at", "id"]
        indexes = [models.Index(fields=["project", "state"], name="cards_by_state")]
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="card_once_per_project")]

    def __str__(self) -> str:
        return self.text
