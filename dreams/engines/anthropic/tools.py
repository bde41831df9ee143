"""All tools of one dream: calls of a turn → answers, side by side where they only read, in order where they write."""

from __future__ import annotations

import concurrent.futures
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from dreams.engines.anthropic import schemas
from dreams.engines.anthropic.evidence import QuoteFinder, clean, fenced, memory_path
from dreams.engines.anthropic.questions import Questions
from dreams.engines.anthropic.reading import OUTPUT_CHARS, Answer, ReadTools
from dreams.engines.anthropic.stream import Json
from dreams.engines.anthropic.writing import Refusal, Writer
from dreams.engines.types import LOOK_SECONDS, Job, Phase, Problem

SIDE_BY_SIDE = 10  # calls that only read: the agent's own constant
MOST_CALLS = 100  # of one turn; the others are answered with a refusal
SHOWN_INPUT = 1_000
SHOWN_OUTPUT = 2_000
PHASES: tuple[Phase, ...] = ("orient", "gather", "consolidate", "prune")


@dataclass(frozen=True, slots=True)
class Result:
    """One answered call: the block for the model, and the record for the dream's page."""

    block: Json
    record: Json
    path: str = ""

    @property
    def refused(self) -> bool:
        return bool(self.record["refused"])


@dataclass(slots=True)
class Toolbox:
    """`phase` is where the model says it is, or where its tools show that it must be."""

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
        """What the checks find in the work as it stands; nothing where nothing was changed."""
        return list(self.job.examine(self.writer.edits)) if self.writer.edits else []

    def run(self, calls: Sequence[Json]) -> list[Result]:
        """Answers in the order of the calls. Raises only what `watch` raises."""
        results: list[Result] = []
        for reading, group in groupby(calls[:MOST_CALLS], key=lambda call: call["name"] in self.reads.names):
            batch = list(group)
            results += self._side_by_side(batch) if reading else [self._in_order(call) for call in batch]
        for call in calls[MOST_CALLS:]:
            results.append(_result(call, Answer(f"Not done: more than {MOST_CALLS} calls at once.", True), 0))
        return results

    # --- Reading --------------------------------------------------------------------------------------------------

    def _side_by_side(self, calls: list[Json]) -> list[Result]:
        pool = concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="dream-read")
        try:
            futures = [pool.submit(self._read, call) for call in calls]
            while concurrent.futures.wait(futures, timeout=LOOK_SECONDS).not_done:
                self.watch()
            results = [future.result() for future in futures]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        for call, result in zip(calls, results, strict=True):
            self._note_read(call, result)
        return results

    def _read(self, call: Json) -> Result:
        started = time.monotonic()
        answer = self.reads.run(call["name"], call["input"])
        text = answer.text[:OUTPUT_CHARS]
        shown = text if answer.refused else fenced("data", text, tool=call["name"])
        return _result(
            call, Answer(clean(shown) if answer.refused else shown, answer.refused), _ms_since(started)
        )

    def _note_read(self, call: Json, result: Result) -> None:
        """A file counts as read when its text was shown, by whichever tool."""
        if result.refused:
            return
        said = json.dumps(call["input"], ensure_ascii=False)
        named = memory_path(str(call["input"].get("file_path") or "")) if call["name"] == "Read" else ""
        for path in self.job.workspace.paths():
            if path == named or (path in said and self._shown(path, result)):
                self.writer.saw(path)
        if "/transcripts" in said and self.phase == "orient":
            self.phase = "gather"

    def _shown(self, path: str, result: Result) -> bool:
        text = self.job.workspace.read(path) or ""
        return clean(text).strip() in str(result.block["content"])

    # --- Everything else ------------------------------------------------------------------------------------------

    def _in_order(self, call: Json) -> Result:
        self.watch()
        started = time.monotonic()
        path, refused = "", False
        try:
            text, path = self._change(call)
        except Refusal as refusal:
            text, refused = f"Not done: {refusal}", True
        return _result(call, Answer(clean(text), refused), _ms_since(started), path)

    def _change(self, call: Json) -> tuple[str, str]:
        name, given = call["name"], call["input"]
        if name == "Phase":
            return self._enter(given.get("name")), ""
        if name == schemas.ASK and self.questions.most:
            return self.questions.ask(given), ""
        if name not in schemas.WRITING:
            asking = {schemas.ASK} if self.questions.most else set()
            offered = ", ".join(sorted({*self.reads.names, *schemas.WRITING, *asking, "Phase"}))
            raise Refusal(f"There is no tool {str(name)[:60]!r}. There are: {offered}.")
        told = self.writer.call(name, given)
        if self.phase in ("orient", "gather"):
            self.phase = "consolidate"
        return told

    def _enter(self, name: object) -> str:
        if name not in PHASES:
            raise Refusal(f"The phases are {', '.join(PHASES)}.")
        self.phase = next(phase for phase in PHASES if phase == name)
        return f"Phase: {self.phase}."

    def done(self) -> Iterator[str]:
        """What was changed so far, a line each, for a conversation that has to be shortened."""
        for edit in self.writer.edits:
            did = "removed" if edit.after is None else ("made" if edit.before is None else "changed")
            yield f"{did} {memory_path(edit.path)}: {edit.reason}"
        for question in self.questions.asked:
            yield f"asked ({question.kind}): {question.why}"


def _result(call: Json, answer: Answer, ms: int, path: str = "") -> Result:
    block: Json = {"type": "tool_result", "tool_use_id": call["id"], "content": answer.text or "(no output)"}
    if answer.refused:
        block["is_error"] = True
    record: Json = {
        "name": str(call["name"])[:60],
        "input": clean(json.dumps(call["input"], ensure_ascii=False))[:SHOWN_INPUT],
        "refused": answer.refused,
        "ms": ms,
        "output": answer.text[:SHOWN_OUTPUT],
    }
    return Result(block, record, path)


def _ms_since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
