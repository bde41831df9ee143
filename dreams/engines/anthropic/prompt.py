"""Builds the model's prompt, its first message, and the message with the checks' findings at the end. PURE.

The prompt has static sections (our files) first, so that nearly all of it is read from the cache. The first message has the
current state, so that no turn is spent on looking it up.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from dreams.conf import Config
from dreams.engines.anthropic import repository, schemas
from dreams.engines.anthropic.conversation import CACHED, attribute, clean, fenced
from dreams.engines.anthropic.stream import Json
from dreams.engines.anthropic.tools import mounted
from dreams.engines.types import Job, LineDate, Problem, PromptBrief, SessionBrief
from dreams.lib import memdir
from dreams.lib.agents import transcripts
from dreams.lib.files.text import plural
from dreams.lib.prose import dates
from dreams.lib.secrets.redact import cut

#: Limits of the findings sent back.
MOST_CHARS = 12_000
MESSAGE_CHARS = 400
_CHECKED = (
    "Your work was checked before a person sees it. These are the problems found. Work through them from the top: those that "
    "must be fixed would stop that person.\n"
    "- A line was lost without explanation: put it back, or call Edit with the new passage as both strings (Delete again what "
    "is removed), and say under `removed` where its content went, with a quote of what is new.\n"
    "- A quote was not found: call Edit or Delete in the same way, and cite words that really appear there, or undo the "
    "change.\n"
    "- The person said it differently: write it the way they said it, with their numbers, names and dates.\n"
    "- The index: a row for every memory, none for a file that is missing, and within its limits.\n"
    "The checks know words, not meaning. If you are sure that one of them is wrong, leave your change as it is and say why in "
    "the summary. Start nothing new. Make related fixes in one turn; then finish with a summary of the whole dream."
)
FOLDER = Path(__file__).parent / "prompts"


@cache
def static_sections() -> tuple[tuple[str, str], ...]:
    """(file name, text) of every section, in order."""
    return tuple((path.name, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md")))


@cache
def static_size() -> int:
    """Characters that are the same for every dream: the sections and the tools."""
    return sum(len(text) for _, text in static_sections()) + len(repr(schemas.ALL))


@cache
def version() -> str:
    """Changes with any word of prompt, tools or the request for fixes: twelve hex digits, stored with each dream."""
    digest = hashlib.sha256(repr((schemas.ALL, _CHECKED)).encode())
    for name, text in static_sections():
        digest.update(f"\0{name}\0{text}".encode())
    return digest.hexdigest()[:12]


def system(config: Config, has_index: bool) -> list[Json]:
    """The system blocks; the last one has a cache mark, which covers the tools too."""
    fixed = "\n".join(text for _, text in static_sections())
    return [
        {"type": "text", "text": fixed},
        {"type": "text", "text": _index_limits(config, has_index), "cache_control": CACHED},
    ]


def _index_limits(config: Config, has_index: bool) -> str:
    first = (
        f"# The index\n\nAn agent loads the first {config.index_max_lines} lines of MEMORY.md and at most "
        f"{config.index_max_bytes:,} bytes. Aim at {config.row_aim} characters in a new row, {config.row_max} at most. "
        "While the index fits, never shorten an existing row, whatever its length."
    )
    if has_index:
        return first
    return first + (
        " There is no MEMORY.md yet: create it, but not if /repo keeps these files in a folder of another agent "
        "(`.serena/memories`): that one reads no index."
    )


def request(system_blocks: Sequence[Json], tools: Sequence[Json], messages: Sequence[Json]) -> Json:
    """The parts of a request that do not depend on the model."""
    return {"system": list(system_blocks), "tools": list(tools), "messages": list(messages)}


MOST_SESSIONS = 60  # in the briefing; chosen
MOST_FILES = 300  # in the listing; chosen
MOST_KNOWN = 100  # the newest earlier proposals; chosen
INDEX_CHARS = 30_000  # more than the part of an index that an agent loads (25,000 bytes)
PROMPTS_PER_SESSION = 6  # the most promising ones; chosen
PROMPT_CHARS = 300  # of each; chosen
PROMPTS_CHARS = 12_000  # of all prompts together, about 3,000 tokens; chosen
INSTRUCTIONS_CHARS, LINE_CHARS = 12_000, 400
MOST_DATES = 40  # lines with a relative day; chosen
DATED_CHARS = 200  # of each of them; chosen
LOGS_CHARS = 16_000  # of daily logs, about 4,000 tokens; chosen
_WISH = re.compile(
    r"\b(?:remember|from now on|always|never|next time|prefer|don'?t|do not|instead|deadline|decided|agreed)\b",
    re.IGNORECASE,
)


def briefing(job: Job, watch: Callable[[], None] = lambda: None) -> str:
    """The first message, with everything that others wrote fenced as data. Raises only what `watch` raises."""
    sessions = ordered(job.sessions)
    parts = [
        f"Today is {job.now.astimezone(job.time_zone):%A, %Y-%m-%d}. The project is “{attribute(job.project_name)}”.",
        *_whose(job),
        *_listing(job),
        *_index(job),
        *_unlisted(job),
        *_dates(job),
        *_logs(job),
        _sessions_head(job.sessions),
        fenced("sessions", "\n".join(_session_line(job, one) for one in sessions[:MOST_SESSIONS]) or "none"),
        *_said(sessions),
        *_proposed(job),
        *_repository(job, watch),
        *_instructions(job),
        "You know all of this now; do not spend a turn on looking it up. Begin with orient, and finish with your "
        "summary.",
    ]
    return "\n\n".join(parts)


def ordered(sessions: Sequence[SessionBrief]) -> list[SessionBrief]:
    """Sessions with corrections first, then the newest."""
    newest = sorted(sessions, key=lambda s: s.last_at.timestamp() if s.last_at else 0.0, reverse=True)
    return sorted(newest, key=lambda s: -min(s.corrections, 3))


_SCOPES = {
    "user": "The agent reads it in every project: keep what is true everywhere.",
    "project": "It is in version control, and everybody with the repository reads it: nothing personal, no path that exists on one "
    "machine only.",
    "local": "It is about this repository on this machine only.",
}


def _whose(job: Job) -> list[str]:
    """Names the agent that owns the memory, if it is not the project's."""
    if not job.agent:
        return []
    told = f"This memory belongs to the agent “{attribute(job.agent)}”, scope {job.scope}. {_SCOPES.get(job.scope, '')}"
    return [told.strip()]


def _proposed(job: Job) -> list[str]:
    """The newest statements that the person decides on elsewhere or has rejected."""
    if not job.known:
        return []
    lines = "\n".join(f"- {cut(text, LINE_CHARS)}" for text in job.known[-MOST_KNOWN:])
    return [
        "The person has already been shown these statements. Do not propose any of them again, in any wording:",
        fenced("cards", lines),
    ]


def _listing(job: Job) -> list[str]:
    paths = job.workspace.paths()
    lines, total = list[str](), 0
    for path in paths:
        note = job.workspace.read_only_because(path)
        size = len((job.workspace.read(path) or "").encode("utf-8", "surrogateescape"))
        total += 0 if path.startswith("logs/") else size
        lines.append(f"{size:>7} {path}" + (f" (read-only: {note})" if note else ""))
    if len(lines) > MOST_FILES:
        lines[MOST_FILES:] = [f"… and {len(paths) - MOST_FILES} more"]
    head = f"The memories (bytes, path below /memory; {total:,} bytes together):"
    return [head, fenced("listing", "\n".join(lines) or "none yet")]


def _index(job: Job) -> list[str]:
    text = job.workspace.read(memdir.INDEX_NAME)
    if text is None:
        return []
    lines = text.count("\n") + 1
    size = len(text.encode("utf-8", "surrogateescape"))
    limits = (
        f"{lines} of {job.config.index_max_lines} lines, {size:,} of {job.config.index_max_bytes:,} bytes"
    )
    more = "\n[cut; read the rest with Read]" if len(text) > INDEX_CHARS else ""
    return [f"MEMORY.md ({limits}):", fenced("index", cut(text, INDEX_CHARS) + more)]


def _unlisted(job: Job) -> list[str]:
    """The memories that the person wants without an index row."""
    if not job.left_unlisted:
        return []
    head = "The person left these memories without a row in MEMORY.md; add none for them:"
    return [head, fenced("unlisted", "\n".join(sorted(job.left_unlisted)[:MOST_FILES]))]


def _dates(job: Job) -> list[str]:
    """The relative days in memories ("tomorrow"), one line for each line that has one."""
    files = job.line_dates.items()
    found = (line for path, known in sorted(files) for line in _dates_of_file(job, path, known))
    lines = list(islice(found, MOST_DATES))
    if not lines:
        return []
    head = "Dates that relative words in memories mean, counted from the day the line was written, where that is certain:"
    return [head, fenced("dates", "\n".join(lines))]


def _dates_of_file(job: Job, path: str, known: Sequence[LineDate | None]) -> Iterator[str]:
    if job.workspace.read_only_because(path):
        return
    text = job.workspace.read(path) or ""
    for number, (raw, day) in enumerate(zip(memdir.split_lines(text), known, strict=False), start=1):
        if day is None or day.ours or (day.source == "file" and path.endswith(memdir.INDEX_NAME)):
            continue  # sessions add to the index all the time: its date says little about a single row
        spans = dates.writable_spans(raw, day.day)
        if spans:
            meant = ", ".join(f"“{span.text}” is {span.meant}" for span in spans)
            yield f"- {path} line {number} ({day.note}: {day.day:%Y-%m-%d}), {meant}: {cut(raw.strip(), DATED_CHARS)}"


def _logs(job: Job) -> list[str]:
    """The unread lines of daily logs, the newest day first, as many as fit."""
    lines, room, left = list[str](), LOGS_CHARS, 0
    for log in job.logs:
        said = log.text.split("\n")
        for number in sorted(log.new):
            line = f"{log.path}:{number}: {cut(said[number - 1].strip(), LINE_CHARS)}"
            room -= len(line)
            lines, left = ([*lines, line], left) if room > 0 else (lines, left + 1)
    if not lines:
        return []
    more = f" {left:,} more are in /memory/logs: read the newest." if left else ""
    head = (
        "New lines of the daily logs (file, line); read these first. An agent wrote them, not the person. Keep what they report as "
        f"decided, requested or to be remembered, unless a session contradicts it.{more}"
    )
    return [head, fenced("logs", "\n".join(lines))]


def _sessions_head(sessions: Sequence[SessionBrief]) -> str:
    more = f"; the {MOST_SESSIONS} most promising are listed" if len(sessions) > MOST_SESSIONS else ""
    return (
        f"Sessions since the last dream: {len(sessions)}{more}. Each is a file of JSON lines; only lines after the given "
        "byte are new."
    )


def _session_line(job: Job, session: SessionBrief) -> str:
    title = " ".join(session.title.split())[:120] or "untitled"
    ended = (
        f"{session.last_at.astimezone(job.time_zone):%Y-%m-%d %H:%M}" if session.last_at else "time unknown"
    )
    if session.no_answer:
        return f"- {session.session_id} “{title}”, last {ended}, no transcript: only what was typed is known, see below"
    new = session.to_byte - session.from_byte
    since = f" from byte {session.from_byte:,}" if session.from_byte else ""
    corrected = f", {plural(session.corrections, 'correction')}" if session.corrections else ""
    corrected += "" if session.prompts else ", no typed prompt known"
    path = f"/transcripts/{mounted(session.path.parent)}/{session.path.name}"
    return f"- {path} “{title}”, last {ended}, {new:,} new bytes{since}{corrected}"


def _said(sessions: Sequence[SessionBrief]) -> list[str]:
    """Prompts that look like a correction or a wish: the best places to start the search."""
    lines: list[str] = []
    for session in sessions[:MOST_SESSIONS]:
        # Without a transcript, the prompts are all there is to read.
        wanted = session.prompts if session.no_answer else filter(_is_telling, session.prompts)
        telling = sorted(wanted, key=lambda prompt: not transcripts.is_correction(prompt.text))
        lines += [_prompt_line(session, prompt) for prompt in telling[:PROMPTS_PER_SESSION]]
    kept: list[str] = []
    for line in lines:
        if sum(map(len, kept)) + len(line) > PROMPTS_CHARS:
            break
        kept.append(line)
    if not kept:
        return []
    head = "What the person typed in these sessions, found by a few plain words (session, line, first words):"
    return [head, fenced("typed", "\n".join(kept))]


def _is_telling(prompt: PromptBrief) -> bool:
    return bool(_WISH.search(prompt.text)) or transcripts.is_correction(prompt.text)


def _prompt_line(session: SessionBrief, prompt: PromptBrief) -> str:
    text = " ".join(prompt.text.split())
    shown = text if len(text) <= PROMPT_CHARS else text[:PROMPT_CHARS] + "…"
    return f"- {session.session_id} line {prompt.line_no}: {shown}"


def _repository(job: Job, watch: Callable[[], None]) -> list[str]:
    text = repository.describe(job.repo_dir, watch).strip()
    return ["The repository:", fenced("repository", text)] if text else []


def _instructions(job: Job) -> list[str]:
    """The instructions that every agent loads, line by line: memories need not repeat them."""
    lines, room = list[str](), INSTRUCTIONS_CHARS
    for path, text in job.instructions.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip() and room > 0:
                lines.append(f"{path}:{number}: {cut(line, LINE_CHARS)}")
                room -= len(lines[-1])
    if not lines:
        return []
    named = ", ".join(job.instructions)
    less = "" if room > 0 else ", shortened here"
    head = f"Instruction files that every session loads ({attribute(named)}{less}):"
    return [head, fenced("instructions", "\n".join(lines))]


def mending_request(problems: Sequence[Problem]) -> str:
    """The message that sends `problems` back, in numbered lines, each remedy once; those that do not fit are counted."""
    lines: list[str] = []
    size, advised = 0, set[str]()
    for number, problem in enumerate(problems, start=1):
        remedy = clean(problem.remedy)[:MESSAGE_CHARS] if problem.remedy not in advised else ""
        advised.add(problem.remedy)
        line = f"{number}. {_line(problem)} {remedy}".rstrip()
        size += len(line)
        if size > MOST_CHARS:
            lines.append(f"And {len(problems) - number + 1} more of these kinds.")
            break
        lines.append(line)
    # Findings quote what others wrote.
    return "\n\n".join([_CHECKED, fenced("findings", "\n".join(lines))])


def _line(problem: Problem) -> str:
    place = f"{problem.path}, line {problem.line_no}" if problem.line_no else problem.path
    weight = "Must be fixed" if problem.blocks else "Should be fixed"
    said = clean(problem.message)[:MESSAGE_CHARS]
    return f"{weight} ({clean(place) or 'the whole proposal'}): {said}"
