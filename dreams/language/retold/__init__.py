"""Whether two texts tell of one thing in words of their own: a hook and its description, a rule and its paraphrase. Pure."""

from dreams.language.retold.decision import each_its_own, retells

__all__ = ["each_its_own", "retells"]
