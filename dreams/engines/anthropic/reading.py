"""The tools a model reads with, as the engine needs them: the fenced workers of `dreams.lib.sandbox.tool_worker`. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dreams.engines.types import EngineError, Job
from dreams.lib.sandbox.tool_worker import Mounts, ToolWorker, ToolWorkerFailed, ToolWorkers
from dreams.lib.sandbox.tool_worker.tools import Reply as Answer

OUTPUT_CHARS = 40_000  # the tools cap their own output below this

__all__ = ["OUTPUT_CHARS", "Answer", "ReadTools", "mounts_of", "open_tools"]


class ReadTools(Protocol):
    """Read-only tools by name. `run` is called from several threads and never raises for what stands in a call."""

    names: frozenset[str]

    def run(self, name: str, given: Mapping[str, Any]) -> Answer: ...

    def close(self) -> None: ...


def mounts_of(job: Job) -> Mounts:
    """The scratch copy as /memory, also when it is named below a transcript folder; the folders of the sessions as
    /transcripts/<name>; the repository as /repo."""
    folders = list(dict.fromkeys(brief.path.parent for brief in job.sessions if not brief.no_answer))
    rows = [("memory", str(job.workspace.folder), tuple(f"{folder}/memory" for folder in folders))]
    rows += [(f"transcripts/{mounted(folder)}", str(folder), (str(folder),)) for folder in folders]
    if job.repo_dir is not None and job.repo_dir.is_dir():
        rows.append(("repo", str(job.repo_dir), (str(job.repo_dir),)))
    return Mounts(tuple(rows))


def mounted(folder: Path) -> str:
    """The name of a transcript folder among the mounts; all folders of sub-agents are called alike."""
    return f"{folder.parent.name}-{folder.name}" if folder.name == "subagents" else folder.name


def open_tools(job: Job) -> ReadTools:
    """The readers of one dream, in a process of their own. Raises EngineError with the remedy."""
    mounts = mounts_of(job)
    try:
        worker = ToolWorker(mounts)
    except ToolWorkerFailed as error:
        raise EngineError(
            f"The sandbox of the reading tools did not start ({error}). `doctor` says more."
        ) from error
    if job.config.require_os_sandbox and not worker.fences.has_os_sandbox:
        worker.close()
        raise EngineError(
            f"This system has no Landlock, and no bubblewrap that works ({worker.fences.trouble}); the settings refuse to "
            "dream without an OS sandbox. Install bubblewrap, use a Linux kernel with Landlock, or switch “Refuse to "
            "dream without an OS sandbox” off."
        )
    return ToolWorkers(worker, partial(ToolWorker, mounts))
