"""The agent's prompt history: how far it was read, what stands in it of prompts, and which prompts a person hid."""

from __future__ import annotations

from django.db import models

from dreams.models.sessions import Prompt


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
    """A prompt that only the history has: its transcript is gone, so no answer was kept.

    Its offset and line are those of the history.
    """

    prompt = models.OneToOneField(Prompt, on_delete=models.CASCADE, primary_key=True, related_name="history")
    pastes = models.JSONField(
        default=list, help_text="Pasted texts: [{number, text or hash}]; long ones are kept by the agent."
    )
    images = models.IntegerField(default=0)

    def __str__(self) -> str:
        return str(self.prompt_id)


class HiddenPrompt(models.Model):
    """A prompt that a person does not want to see. By its key, which it keeps when its transcript is read anew."""

    key = models.BigIntegerField(primary_key=True, help_text="The prompt's key.")
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.key)
