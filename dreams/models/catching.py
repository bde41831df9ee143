"""What a person said in a session that went quiet, as cards to review: each becomes a line of memory, or does not."""

from django.db import models

from dreams.models import public_ids
from dreams.models.projects import Project
from dreams.models.proposals import Operation, Proposal
from dreams.models.sessions import Session


class Card(models.Model):
    """One thing that a person asked to be remembered, corrected or decided, and the line it would become.

    The card is what is decided; the project's proposal of origin `caught` is drafted from its open and approved cards.
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
    citations = models.JSONField(default=list, help_text="Where it was said: quotes with session and line.")
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
