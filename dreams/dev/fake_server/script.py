"""Who answers: a script of steps, or a brain that looks at the request. PURE."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .cache import as_blocks
from .faults import Fault, status
from .messages import Reply


@dataclass(frozen=True, slots=True)
class Request:
    """One request to /v1/messages, as it came. `headers` have names in lower case."""

    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        return list(self.body.get("messages") or ())

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(str(tool.get("name")) for tool in self.body.get("tools") or ())

    @property
    def turns(self) -> int:
        """How often the model has answered so far."""
        return sum(1 for message in self.messages if message.get("role") == "assistant")

    def results(self) -> list[str]:
        """The texts of the tool results in the last message."""
        last = as_blocks(self.messages[-1].get("content")) if self.messages else []
        return [_text(block.get("content")) for block in last if block.get("type") == "tool_result"]

    def text(self) -> str:
        """All text of the last message."""
        last = as_blocks(self.messages[-1].get("content")) if self.messages else []
        return "\n".join(str(block.get("text", "")) for block in last if block.get("type") == "text")


def _text(content: object) -> str:
    return "\n".join(str(block.get("text", "")) for block in as_blocks(content))


@dataclass(frozen=True, slots=True)
class Step:
    """One answer and what goes wrong with it. `when`: only for requests it says yes to. `began` is set once a whole event
    of the answer has gone out."""

    reply: Reply | Callable[[Request], Reply] = field(default_factory=Reply)
    fault: Fault | None = None
    when: Callable[[Request], bool] | None = None
    began: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)


class Brain(Protocol):
    """Chooses the answer to a request. Called from several threads."""

    def step(self, request: Request) -> Step: ...


class Script:
    """Steps used up in order; one with `when` waits for a request that it matches. After the last: `then`, or an
    error that says so, so that a test with one request too many fails clearly."""

    def __init__(self, steps: Iterable[Step | Reply | Fault], then: Step | Reply | None = None) -> None:
        self._steps = [_as_step(step) for step in steps]
        self._then = None if then is None else _as_step(then)
        self._lock = threading.Lock()

    def step(self, request: Request) -> Step:
        with self._lock:
            for at, step in enumerate(self._steps):
                if step.when is None or step.when(request):
                    return self._steps.pop(at)
        return self._then or Step(fault=status(400, "The script has no more steps."))

    @property
    def left(self) -> int:
        return len(self._steps)


def _as_step(given: Step | Reply | Fault) -> Step:
    if isinstance(given, Fault):
        return Step(fault=given)
    return given if isinstance(given, Step) else Step(given)
