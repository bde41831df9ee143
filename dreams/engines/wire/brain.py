"""A brain that plays a believable dream by rules. Replaced below."""

from __future__ import annotations

from .messages import say
from .script import Request, Step


class DemoBrain:
    def step(self, request: Request) -> Step:
        return Step(say("Nothing to do."))
