"""What a server remembers of each request, for assertions. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .faults import Fault
from .messages import Counted


@dataclass(slots=True)
class Seen:
    """One request and what became of it, for assertions."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    fault: Fault | None = None
    counted: Counted = field(default_factory=lambda: Counted(0))
    output_tokens: int = 0
    sent_whole: bool = False
