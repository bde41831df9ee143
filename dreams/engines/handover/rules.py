"""What a transcript shows reliably for hand-over notes: prompts, files, commands, failures, corrections. PURE.

Each item has its line number. How the system's parts fit together and what was learnt needs a model.
"""

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dreams.engines.anthropic.budget import CHARS_PER_TOKEN
from dreams.engines.handover.sections import MOST_OF_A_SECTION, shortened
from dreams.lib.agents import transcripts
from dreams.lib.files.text import one_line, plural, quoted
from dreams.lib.secrets.redact import cut, redact

# The beginning of a long transcript has the task, its end the outcome. Measured: 30 MB a second.
FIRST_BYTES, LAST_BYTES = 8 << 20, 32 << 20
LINES_AT_ONCE = 400
MOST_KEPT = 4_000  # of each: prompts, calls and texts of the agent
MOST_LISTED = 60  # of each kind, the last ones: notes are read in minutes
PROMPT_CHARS, BRIEF_CHARS, ERROR_CHARS = 4_000, 140, 200
_WRITES = {"Edit", "MultiEdit", "Write", "NotebookEdit"}
_PATHS = ("file_path", "notebook_path", "path")
_SKIPPED = frozenset(
    {"progress", "file-history-snapshot", "queue-operation", "permission-mode", "last-prompt", "mode"}
)
_TAG = re.compile(r"</?[\w-]+>")
_EXIT = re.compile(r"Exit code \d+")
_FIRST_VALUE = re.compile(r'\{"\w+": "(?:[^"\\]|\\.)*')


@dataclass(slots=True)
class Call:
    """One call of a tool: `path` is the file in its input, `brief` the command, else the tool and its input.

    `error` is the beginning of the result of a failed call.
    """

    tool: str
    line: int | None
    path: str
    brief: str
    is_command: bool = False
    error: str = ""

    @property
    def writes(self) -> bool:
        return bool(self.tool in _WRITES and self.path)

    @classmethod
    def of(cls, part: transcripts.TurnPart, line: int | None, folder: str) -> "Call":
        """Makes paths in the session's working `folder` relative to it."""
        given = _given(part)
        path = next((one for name in _PATHS if isinstance(one := given.get(name), str)), "")
        command = given.get("command")
        what = path or next((one for one in given.values() if isinstance(one, str)), "")
        brief = command if isinstance(command, str) else f"{part.name} {what}"
        below = f"{folder.rstrip('/')}/" if folder else ""
        shorter = cut(one_line(brief.replace(below, "") if below else brief), BRIEF_CHARS)
        return cls(part.name, line, path.removeprefix(below), shorter, isinstance(command, str))


@dataclass(slots=True)
class PromptStep:
    """A prompt, and what the agent did until the next one. The first step may have no prompt."""

    text: str = ""
    line: int | None = None
    at: dt.datetime | None = None
    is_correction: bool = False
    calls: list[Call] = field(default_factory=list)
    said: list[tuple[str, int | None]] = field(default_factory=list)


@dataclass(slots=True)
class ReadTranscript:
    """The content of a transcript. `tokens` is an estimate of all texts and calls; `calls` counts tool calls.

    `ends_in_words`: the agent's last turn called no tool. `left_out`: bytes of `size` in the middle that were not read.
    """

    folder: str = ""
    steps: list[PromptStep] = field(default_factory=lambda: [PromptStep()])
    chars: int = 0
    calls: int = 0
    ends_in_words: bool = True
    size: int = 0
    left_out: int = 0
    _waiting: dict[str, Call] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        return int(self.chars / CHARS_PER_TOKEN)

    @property
    def asked(self) -> list[PromptStep]:
        return [step for step in self.steps if step.text]

    @property
    def all_calls(self) -> list[Call]:
        return [call for step in self.steps for call in step.calls]

    def take(self, turn: transcripts.Turn) -> None:
        if turn.sidechain or turn.meta or turn.compact_summary or turn.type not in ("user", "assistant"):
            return
        if turn.typed is not None:
            self.chars += len(turn.typed)
            if len(self.steps) < MOST_KEPT:
                # Redacted before it is cut again, as half a secret is not recognised.
                text = redact(cut(turn.typed, PROMPT_CHARS))
                self.steps.append(PromptStep(text, turn.line, turn.at, transcripts.is_correction(turn.typed)))
            return
        self.chars += sum(len(part.text) for part in turn.parts)
        if turn.type == "assistant":
            self.ends_in_words = not any(part.kind == "tool_use" for part in turn.parts)
        for part in turn.parts:
            self._take_part(part, turn)

    def _take_part(self, part: transcripts.TurnPart, turn: transcripts.Turn) -> None:
        step = self.steps[-1]
        if part.kind == "tool_use":
            self.calls += 1
            if self.calls <= MOST_KEPT:
                call = Call.of(part, turn.line, self.folder)
                step.calls.append(call)
                self._waiting[part.tool_id] = call
        elif part.kind == "tool_result":
            asked = self._waiting.pop(part.tool_id, None)
            if asked is not None and part.is_error:
                asked.error = _first_line(part.text) or "it failed"
        elif part.kind == "text" and turn.type == "assistant" and part.text.strip():
            del step.said[1:-1]
            step.said.append((part.text.strip(), turn.line))


def read_transcript(path: str | Path, folder: str = "") -> ReadTranscript:
    """The main conversation of a transcript, at most 40 MB; `folder` is its working directory. Raises OSError."""
    found = ReadTranscript(folder)
    size = Path(path).stat(follow_symlinks=False).st_size
    found.size, found.left_out = size, max(0, size - FIRST_BYTES - LAST_BYTES)
    if not found.left_out:
        _read(found, path, 0, size)
    else:
        _read(found, path, 0, FIRST_BYTES)
        _read(found, path, size - LAST_BYTES, size)
    return found


def _read(found: ReadTranscript, path: str | Path, start: int, end: int) -> None:
    offset, line = start, 1 if start == 0 else None
    while offset < end:
        page = transcripts.page(path, offset, LINES_AT_ONCE, line=line, skip_types=_SKIPPED)
        for turn in page.turns:
            if turn.offset < end:
                found.take(turn)
        if page.after is None:
            return
        offset, line = page.after, page.line_after


def _given(part: transcripts.TurnPart) -> Mapping[str, Any]:
    """The input of a call; only its first value if it was cut: the file to write, or the beginning of the command."""
    begun = _FIRST_VALUE.match(part.text) if part.cut else None
    try:
        found = json.loads(f'{begun[0]}"}}' if begun else part.text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def _first_line(text: str) -> str:
    """The first line of a failed call's result, and the second if the first is only an exit code."""
    lines = [kept for line in cut(text, PROMPT_CHARS).splitlines() if (kept := _TAG.sub("", line).strip())]
    return cut(": ".join(lines[: 2 if lines and _EXIT.fullmatch(lines[0]) else 1]), ERROR_CHARS)


# --- The sections -------------------------------------------------------------------------------------------------


def bodies(
    found: ReadTranscript, title: str, left_to_do: Sequence[tuple[str, int]], zone: dt.tzinfo
) -> dict[str, str]:
    """The sections filled from a transcript. `left_to_do`: subject and line of each unfinished task of the agent."""
    corrections = [
        f"- You corrected: {quoted(one_line(step.text), 300)}{_at(step.line)}"
        for step in found.asked
        if step.is_correction
    ]
    made = {
        "title": one_line(title),
        "state": _state(found, left_to_do),
        "task": _task(found),
        "files": _files(found),
        "workflow": _workflow(found),
        "errors": "\n".join((*_failures(found), *corrections)),
        "results": _results(found),
        "worklog": _worklog(found, zone),
    }
    return {name: shortened(body, MOST_OF_A_SECTION) for name, body in made.items()}


def _at(line: int | None) -> str:
    return f" (line {line})" if line else ""


def _code(text: str) -> str:
    return f"`{text.replace('`', '’')}`"


def _listed(rows: Sequence[str]) -> str:
    """The last rows, because a hand-over is about the end."""
    more = len(rows) - MOST_LISTED
    return "\n".join(
        [*([f"- {plural(more, 'earlier one')} not listed"] if more > 0 else []), *rows[-MOST_LISTED:]]
    )


def _state(found: ReadTranscript, left_to_do: Sequence[tuple[str, int]]) -> str:
    rows = []
    if found.asked:
        last = found.asked[-1]
        rows.append(f"- Last asked: {quoted(one_line(last.text), 300)}{_at(last.line)}")
    if changes := [call for call in found.all_calls if call.writes and not call.error]:
        rows.append(f"- Last file changed: {_code(changes[-1].path)}{_at(changes[-1].line)}")
    rows += [f"- Left to do: {one_line(subject)}{_at(line)}" for subject, line in left_to_do[:MOST_LISTED]]
    return "\n".join(rows)


def _task(found: ReadTranscript) -> str:
    if not found.asked:
        return ""
    first = found.asked[0]
    return "\n".join(f"> {line}" for line in first.text.splitlines()) + f"\n>\n> {_at(first.line).strip()}"


def _files(found: ReadTranscript) -> str:
    changed: dict[str, list[Call]] = {}
    read: dict[str, list[Call]] = {}
    for call in found.all_calls:
        if call.path and not call.error:
            (changed if call.writes else read).setdefault(call.path, []).append(call)
    rows = [f"- {_code(path)}: changed {_times(calls)}" for path, calls in changed.items()]
    rows += [f"- {_code(path)}: read {_times(calls)}" for path, calls in read.items() if path not in changed]
    return _listed(rows)


def _times(calls: Sequence[Call]) -> str:
    """The number of calls, with the line of the last one."""
    return ("once" if len(calls) == 1 else f"{len(calls)} times") + _at(calls[-1].line)


def _workflow(found: ReadTranscript) -> str:
    commands: dict[str, list[Call]] = {}
    for call in found.all_calls:
        if call.is_command:
            commands.setdefault(call.brief, []).append(call)
    return _listed([f"- {_code(name)}: {_times(calls)}" for name, calls in commands.items()])


def _failures(found: ReadTranscript) -> Iterator[str]:
    by_call: dict[str, list[Call]] = {}
    for call in found.all_calls:
        by_call.setdefault(call.brief, []).append(call)
    for name, calls in list(by_call.items()):
        failed = [call for call in calls if call.error]
        if failed:
            later = calls[-1]
            end = f"; it worked later{_at(later.line)}" if not later.error else ""
            yield f"- {_code(name)} failed: {_code(failed[-1].error)}{_at(failed[-1].line)}{end}"


def _results(found: ReadTranscript) -> str:
    """The agent's last text: the answer, if the task was a question."""
    said = [each for step in found.steps for each in step.said]
    return f"{said[-1][0]}\n\n{_at(said[-1][1]).strip()}" if said else ""


def _worklog(found: ReadTranscript, zone: dt.tzinfo) -> str:
    rows = []
    for step in found.asked:
        at = f"{step.at.astimezone(zone):%Y-%m-%d %H:%M} " if step.at else ""
        rows.append(f"- {at}asked {quoted(one_line(step.text), BRIEF_CHARS)}: {_did(step)}{_at(step.line)}")
    return _listed(rows)


def _did(step: PromptStep) -> str:
    files = {call.path for call in step.calls if call.writes and not call.error}
    commands = sum(call.is_command for call in step.calls)
    failed = sum(bool(call.error) for call in step.calls)
    parts = [plural(len(files), "file") + " changed"] if files else []
    parts += [plural(commands, "command")] if commands else []
    parts += [f"{failed} failed"] if failed else []
    return ", ".join(parts) or ("an answer" if step.said else "no answer")
