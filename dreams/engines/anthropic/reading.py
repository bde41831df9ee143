"""The model's eyes, as the engine needs them: the sandboxed workers of `dreams.lib.sandbox.tool_worker`. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from dreams.engines.types import EngineError, Job
from dreams.lib.sandbox.tool_worker import Eyes, EyesFailed, Mounts, Several
from dreams.lib.sandbox.tool_worker.tools import Reply as Answer

OUTPUT_CHARS = 40_000  # the tools cap their own output below this

__all__ = ["OUTPUT_CHARS", "Answer", "ReadTools", "open_tools"]


class ReadTools(Protocol):
    """Read-only tools by name. `run` is called from several threads and never raises for what stands in a call."""

    names: frozenset[str]

    def run(self, name: str, given: Mapping[str, Any]) -> Answer: ...

    def close(self) -> None: ...


def open_tools(job: Job) -> ReadTools:
    """The readers of one dream, in a process of their own. Raises EngineError with the remedy."""
    mounts = Mounts.of(job)
    try:
        eyes = Eyes(mounts)
    except EyesFailed as error:
        raise EngineError(
            f"The sandbox of the reading tools did not start ({error}). `doctor` says more."
        ) from error
    if job.config.require_os_sandbox and not eyes.state.has_os_sandbox:
        eyes.close()
        raise EngineError(
            f"This system has no Landlock, and no bubblewrap that works ({eyes.state.trouble}); the settings refuse to dream "
            "without an OS sandbox. Install bubblewrap, use a Linux kernel with Landlock, or switch “Refuse to dream "
            "without an OS sandbox” off."
        )
    return Several(eyes, partial(Eyes, mounts))
