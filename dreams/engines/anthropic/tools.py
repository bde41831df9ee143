"""All tools of one dream: calls of a turn → answers, one after the other. The reading tools run in the sandboxed worker of
`dreams.lib.sandbox.tool_worker`, which answers one call at a time.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dreams.engines.anthropic import schemas
from dreams.engines.anthropic.citations import QuoteFinder, memory_path
from dreams.engines.anthropic.conversation import clean, fenced
from dreams.engines.anthropic.edit_tools import Refusal, Writer
from dreams.engines.anthropic.questions import Questions
from dreams.engines.anthropic.stream import Json
from dreams.engines.anthropic.watched import watched
from dreams.engines.types import EngineError, Job, Phase, Problem
from dreams.lib import stopwatch
from dreams.lib.json_worker import WorkerFailed
from dreams.lib.sandbox.tool_worker import Mounts, ToolWorker
from dreams.lib.sandbox.tool_worker.tools import ToolReply as Answer

OUTPUT_CHARS = 40_000  # the reading tools cap their own output below this
TURN_CHARS = 400_000  # of all answers of a turn, some 100,000 tokens: more would pass a limit and end the dream; chosen
MOST_CALLS = 100  # calls of one turn; further ones are refused
MOST_SHOWN = 500  # memories of which each is looked for in an answer, to bound time
SHOWN_INPUT = 4_000  # characters of a call kept for the dream's page; chosen
SHOWN_VALUE = 600  # and of each of its values; chosen
SHOWN_OUTPUT = 2_000  # and of its result; chosen
PHASES: tuple[Phase, ...] = ("orient", "gather", "consolidate", "prune")


class ReadTools(Protocol):
    """Read-only tools by name. `run` is called from another thread and never raises because of a call's input."""

    names: frozenset[str]

    def run(self, name: str, given: Mapping[str, Any]) -> Answer: ...

    def close(self) -> None: ...


def mounts_of(job: Job) -> Mounts:
    """The scratch copy as /memory (also for paths of the memory in a transcript folder), the session folders as
    /transcripts/<name>, the repository as /repo."""
    folders = list(dict.fromkeys(brief.path.parent for brief in job.sessions if not brief.no_answer))
    rows = [("memory", str(job.workspace.folder), tuple(f"{folder}/memory" for folder in folders))]
    rows += [(f"transcripts/{mounted(folder)}", str(folder), (str(folder),)) for folder in folders]
    if job.repo_dir is not None and job.repo_dir.is_dir():
        rows.append(("repo", str(job.repo_dir), (str(job.repo_dir),)))
    return Mounts(tuple(rows))


def mounted(folder: Path) -> str:
    """The mount name of a transcript folder; folders of sub-agents all have the same name."""
    return f"{folder.parent.name}-{folder.name}" if folder.name == "subagents" else folder.name


def open_tools(job: Job) -> ReadTools:
    """The reading tools of one dream, in a separate process. Raises EngineError with the remedy."""
    try:
        worker = ToolWorker(mounts_of(job))
    except WorkerFailed as error:
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
    return worker


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """One answered call: the block for the model, and the record for the dream's page."""

    block: Json
    record: Json
    path: str = ""

    @property
    def refused(self) -> bool:
        return bool(self.record["refused"])


@dataclass(slots=True)
class Toolbox:
    """`phase` is the one that the model reports, or that its tool calls show."""

    job: Job
    reads: ReadTools
    watch: Callable[[], None]
    writer: Writer = field(init=False)
    questions: Questions = field(init=False)
    phase: Phase = "orient"

    def __post_init__(self) -> None:
        evidence = QuoteFinder(self.job, self.watch)
        self.writer = Writer(self.job.workspace, evidence)
        self.questions = Questions(self.job, self.writer, evidence)

    def examine(self) -> list[Problem]:
        """What the checks find in the current work; empty if nothing was changed."""
        return list(self.job.examine(self.writer.edits)) if self.writer.edits else []

    def run(self, calls: Sequence[Json]) -> list[AnsweredCall]:
        """Answers in the order of the calls. Raises only what `watch` raises."""
        results, shown = list[AnsweredCall](), 0
        for call in calls:
            why = f"more than {MOST_CALLS} calls at once" if len(results) >= MOST_CALLS else ""
            if shown > TURN_CHARS and call["name"] in self.reads.names:
                why = "the answers of this turn are long enough. Call again in the next one, for less"
            results.append(
                _result(call, Answer(f"Not done: {why}.", True), 0) if why else self._answered(call)
            )
            shown += len(results[-1].block["content"])
        return results

    def _answered(self, call: Json) -> AnsweredCall:
        self.watch()
        call = {**call, "input": schemas.fitted(call["name"], call["input"])}
        return self._read(call) if call["name"] in self.reads.names else self._changed(call)

    # --- Reading --------------------------------------------------------------------------------------------------

    def _read(self, call: Json) -> AnsweredCall:
        started = time.monotonic()
        answer = watched(partial(self.reads.run, call["name"], call["input"]), self.watch)
        text = answer.text[:OUTPUT_CHARS]
        shown = clean(text) if answer.refused else fenced("data", text, tool=call["name"])
        result = _result(call, Answer(shown, answer.refused), stopwatch.ms_since(started))
        self._note_read(call, result)
        return result

    def _note_read(self, call: Json, result: AnsweredCall) -> None:
        """Notes that a file was read: its text was shown by any tool."""
        if result.refused:
            return
        said = json.dumps(call["input"], ensure_ascii=False)
        file = str(call["input"].get("file_path") or "") if call["name"] == "Read" else ""
        named = memory_path(file, self.writer.folders)
        paths = self.job.workspace.paths()
        wild = "memory" in said and len(paths) <= MOST_SHOWN  # perhaps by a wildcard
        for path in paths:
            if path == named or ((wild or path in said) and self._shown(path, result)):
                self.writer.saw(path)
        if "/transcripts" in said and self.phase == "orient":
            self.phase = "gather"

    def _shown(self, path: str, result: AnsweredCall) -> bool:
        text = self.job.workspace.read(path) or ""
        return clean(text).strip() in str(result.block["content"])

    # --- Everything else ------------------------------------------------------------------------------------------

    def _changed(self, call: Json) -> AnsweredCall:
        started = time.monotonic()
        path, refused = "", False
        try:
            text, path = self._change(call)
        except Refusal as refusal:
            text, refused = f"Not done: {refusal}", True
        return _result(call, Answer(clean(text), refused), stopwatch.ms_since(started), path)

    def _change(self, call: Json) -> tuple[str, str]:
        name, given = call["name"], call["input"]
        if name == "Phase":
            return self._enter(given.get("name")), ""
        if name == schemas.ASK and self.questions.most:
            return self.questions.ask(given), ""
        if name not in schemas.WRITING:
            offered = schemas.offered(self.reads.names, asking=bool(self.questions.most))
            names = ", ".join(sorted(tool["name"] for tool in offered))
            raise Refusal(f"There is no tool {str(name)[:60]!r}. There are: {names}.")
        asked = self.questions.standing()
        told, path = self.writer.call(name, given)
        if self.phase in ("orient", "gather"):
            self.phase = "consolidate"
        left = self.questions.standing()
        gone = "; ".join(f"“{question.why}”" for question in asked if question not in left)
        return f"{told} That drops your question {gone}." if gone else told, path

    def _enter(self, name: object) -> str:
        if name not in PHASES:
            raise Refusal(f"The phases are {', '.join(PHASES)}.")
        self.phase = next(phase for phase in PHASES if phase == name)
        return f"Phase: {self.phase}."

    def done(self) -> Iterator[str]:
        """The changes so far, a line each, for a conversation that has to be shortened."""
        for edit in self.writer.edits:
            did = "removed" if edit.after is None else ("made" if edit.before is None else "changed")
            yield f"{did} {edit.path}: {edit.reason}"
        for question in self.questions.asked:
            yield f"asked ({question.kind}): {question.why}"


def _result(call: Json, answer: Answer, ms: int, path: str = "") -> AnsweredCall:
    block: Json = {"type": "tool_result", "tool_use_id": call["id"], "content": answer.text or "(no output)"}
    if answer.refused:
        block["is_error"] = True
    shown = {key: _shortened(value) for key, value in call["input"].items()}
    record: Json = {
        "name": str(call["name"])[:60],
        "input": clean(json.dumps(shown, ensure_ascii=False))[:SHOWN_INPUT],
        "refused": answer.refused,
        "ms": ms,
        "output": answer.text[:SHOWN_OUTPUT],
    }
    return AnsweredCall(block, record, path)


def _shortened(value: object) -> object:
    """A value of a call for the dream's page: the page reads the call as JSON, so none is cut in the middle of it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= SHOWN_VALUE else clean(text)[:SHOWN_VALUE] + "…"
