"""Whether two texts tell of one thing in words of their own: a hook and its description, a rule and its paraphrase. Pure."""

from dreams.language.retold.decision import retells

__all__ = ["retells"]
