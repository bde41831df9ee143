"""The page of one dream: phases, turns, figures, usage, and the sessions it reviewed."""

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from dreams import conf
from dreams.engines.anthropic import conversation
from dreams.engines.tokens import known_price
from dreams.lib import amounts
from dreams.models import DreamRun, Turn
from dreams.services import dreaming, hosts, pricing
from dreams.web.hidden_secrets import shown
from dreams.web.pages.dreams import PHASES, TONES, engine_words, is_stopping, result, status_words
from dreams.web.pages.session_turns import as_lines
from dreams.web.paging import page_of


def usage_of(run: DreamRun, turns: int, now: dt.datetime) -> dict[str, Any]:
    """A fixed number of queries: two, and two more for the meters of a running dream."""
    by_model = dreaming.used_by_model(run)
    work = dreaming.work_of(run)
    return {
        "models": by_model,
        "tokens": run.tokens,
        "price": known_price(run.priced_usd or Decimal(0), run.unpriced_tokens, run.tokens),
        "unpriced": run.unpriced_tokens,
        "unpriced_models": [row.model or "unnamed model" for row in by_model if row.dollars is None],
        "api": spell_ms(work.api_ms),
        "api_without_retries": spell_ms(work.api_ms_without_retries),
        "in_tools": spell_ms(work.tool_ms),
        "lines_added": work.lines_added,
        "lines_removed": work.lines_removed,
        "meters": [] if run.is_over or run.engine == "rules" else _meters(run, turns, now),
    }


def spell_ms(ms: int) -> str:
    """ "420 ms", "3.2 s", "4 min 10 s"; empty for nothing."""
    if not ms:
        return ""
    if ms < 1000:
        return f"{ms} ms"
    seconds = ms / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def _meters(run: DreamRun, turns: int, now: dt.datetime) -> list[dict[str, Any]]:
    """Current usage of the limits that end a dream; a limit of 0 is no limit."""
    config = conf.current(run.project)
    seconds = max(0.0, (now - run.started_at).total_seconds()) if run.started_at else 0.0
    spent = pricing.spent(run.project, now, conf.zone(config))
    limits: Sequence[tuple[str, Callable[[Any], str], float | Decimal, float]] = (
        ("Turns", str, turns, config.max_turns),
        ("Time", _clock, seconds, config.max_seconds),
        ("Tokens", amounts.tokens, run.tokens, config.max_tokens),
        ("This dream", amounts.money, run.priced_usd or Decimal(0), config.max_cost_dream),
        ("Today, everywhere", amounts.money, spent.today, config.max_cost_day),
        ("This month, everywhere", amounts.money, spent.month, config.max_cost_month),
        ("This month, this project", amounts.money, spent.project_month, config.max_cost_project),
    )
    return [
        {"label": label, "words": f"{spell(gone)} of {spell(limit)}", "used": float(gone), "limit": limit}
        for label, spell, gone, limit in limits
        if limit > 0
    ]


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}"


QUIET = dt.timedelta(seconds=10)  # chosen
SESSIONS_PAGE = 30  # rows; chosen
MOST_TURNS = 400  # shown at once; chosen
MOST_TOOL_CHARS = 4_000  # of a call; chosen
MOST_TURN_FILES = 50  # names; chosen
MOST_FILES = 20  # names; chosen
# Singular and plural of what engines count; other names are used for both.
_COUNTED = {
    "memories": ("memory", "memories"),
    "rows": ("index row", "index rows"),
    "dangling": ("row without its file", "rows without their files"),
    "sessions": ("session", "sessions"),
    "prompts": ("prompt", "prompts"),
    "log lines": ("new log line", "new log lines"),
    "known": ("already known", "already known"),
    "dated": ("line dated", "lines dated"),
    "learnt": ("thing learnt", "things learnt"),
    "logged": ("thing learnt from a log", "things learnt from logs"),
    "secrets": ("secret left out", "secrets left out"),
    "found": ("thing to remember", "things to remember"),
    "updated": ("statement updated", "statements updated"),
    "superseded": ("statement superseded", "statements superseded"),
    "forgotten": ("statement forgotten", "statements forgotten"),
    "expired": ("expired statement", "expired statements"),
    "links": ("link repaired", "links repaired"),
    "listed": ("index row added", "index rows added"),
    "derived": ("already in the repository", "already in the repository"),
    "redacted": ("secret removed", "secrets removed"),
    "refused": ("call refused", "calls refused"),
    "files": ("memory merged", "memories merged"),
    "lines": ("line merged", "lines merged"),
    "tools": ("tool call", "tool calls"),
    "retries": ("retry", "retries"),
    "cache read": ("from cache", "from cache"),
    "cache written": ("to cache", "to cache"),
    "added": ("line added", "lines added"),
    "removed": ("line removed", "lines removed"),
}
_WRITES = frozenset({DreamRun.Phase.CONSOLIDATE.value, DreamRun.Phase.PRUNE.value})
# Fields of a tool's input for its summary, most important first.
_TELLING = ("command", "pattern", "file_path", "path")


def dream(run: DreamRun, now: dt.datetime, after: int = 0, number: str | None = None) -> dict[str, Any]:
    """The current state of the dream, with the turns whose number is above `after`."""
    rows = list(run.turns.filter(number__gt=after).order_by("number")[:MOST_TURNS])
    last_at, turns, files = _totals(run)
    last = rows[-1].number if rows else after
    reviewed = run.reviewed.select_related("session")
    return {
        "label": status_words(run),
        "tone": TONES[run.status],
        "cancelling": is_stopping(run),
        "waits_for": _waits_for(run, now),
        "quiet_for": _quiet_for(run, now, last_at),
        "engine": engine_words(run),
        "steps": _steps(run),
        "turns": [_turn(row, turns.get(row.number)) for row in rows],
        "last_turn": last,
        "turn_count": len(turns),
        "hidden_turns": sum(number > last for number in turns),
        "files": files[:MOST_FILES],
        "more_files": max(0, len(files) - MOST_FILES),
        "used": usage_of(run, len(turns), now),
        "elapsed": amounts.took(((run.ended_at or now) - run.started_at).total_seconds())
        if run.started_at
        else "not started",
        "sessions": page_of(reviewed.order_by("-session__touched_at"), number, SESSIONS_PAGE),
        "result": result(run) if run.is_over else None,
    }


def _totals(run: DreamRun) -> tuple[dt.datetime | None, Mapping[int, int], list[str]]:
    """Of all rows, including those already shown: the time of the last one, the number of a row → that of its turn, and the
    changed files."""
    files: dict[str, None] = {}
    turns: dict[int, int] = {}
    rows = run.turns.order_by("number").values_list("number", "phase", "files", "api_ms", "at")[
        : MOST_TURNS * 5
    ]
    last_at = None
    for number, phase, touched, asked, at in rows:
        last_at = at
        if dreaming.is_turn(run, asked):
            turns[number] = len(turns) + 1
        # Earlier phases only read files.
        if phase in _WRITES:
            files |= dict.fromkeys(str(path) for path in touched)
    return last_at, turns, list(files)


def _waits_for(run: DreamRun, now: dt.datetime) -> str:
    """What a pending or stalled dream is waiting for; "" for a running or finished one."""
    is_quiet = run.lease_until is not None and run.lease_until < now
    if run.is_over or (run.status == DreamRun.Status.RUNNING and not is_quiet):
        return ""
    host = next((one for one in hosts.known() if one.key == run.project.host), None)
    if host is not None and not host.is_here and host.is_away:
        return f"It is waiting for {host.name}, which is away ({host.seen})."
    if is_quiet:
        return "Its worker is not responding; the scheduler ends it if the worker does not come back."
    return "It is waiting for a free worker."


def _quiet_for(run: DreamRun, now: dt.datetime, last_at: dt.datetime | None) -> str:
    """The time since the last turn of a running dream; "" if less than `QUIET`."""
    since = last_at or run.started_at
    if run.status != DreamRun.Status.RUNNING or since is None or now - since < QUIET:
        return ""
    return amounts.took((now - since).total_seconds())


def _steps(run: DreamRun) -> list[dict[str, Any]]:
    names = list(PHASES)
    at = names.index(DreamRun.Phase(run.phase)) if run.phase else -1
    if run.status == DreamRun.Status.COMPLETED:
        at = len(names)
    return [
        {
            "label": name.label,
            "sentence": sentence,
            "state": _state(position, at, run),
        }
        for position, (name, sentence) in enumerate(PHASES.items())
    ]


def _state(position: int, at: int, run: DreamRun) -> str:
    if position < at:
        return "done"
    if position > at:
        return "ahead"
    return "stopped" if run.is_over else "now"


def _turn(row: Turn, turn: int | None) -> dict[str, Any]:
    """`turn` is the number that the limit of turns applies to; None for a note of the engine, such as the model's name."""
    return {
        "number": row.number,
        "turn": turn,
        "phase": row.get_phase_display(),
        "text": shown(row.text),
        "tools": [_tool(tool) for tool in row.tools[:50] if isinstance(tool, dict)],
        "files": [str(path) for path in row.files[:MOST_TURN_FILES]],
        "more_files": max(0, len(row.files) - MOST_TURN_FILES),
        "counts": _counts(row),
        "at": row.at,
        "tokens": row.input_tokens + row.output_tokens,
    }


def _counts(row: Turn) -> list[tuple[str, int]]:
    """What a turn counted, with its label; without zeros."""
    found = {"added": row.lines_added, "removed": row.lines_removed, **dict(list(row.counts.items())[:20])}
    whole = [(str(name), count) for name, count in found.items() if isinstance(count, int)]
    return [(_COUNTED.get(name, (name, name))[count != 1], count) for name, count in whole if count]


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    refused = tool.get("refused")
    said = _given(tool.get("input", ""))
    brief = shown(_brief(said))
    if isinstance(said, Mapping):
        said = as_lines(said)
    return {
        "name": str(tool.get("name", "tool")),
        "brief": brief,
        "input": shown(str(said))[:MOST_TOOL_CHARS],
        "output": shown(conversation.unfenced(str(tool.get("output") or "")))[:MOST_TOOL_CHARS],
        "refused": "" if not refused else "Refused" if refused is True else str(refused),
        "ms": spell_ms(int(ms)) if isinstance(ms := tool.get("ms"), int | float) else "",
    }


def _given(said: object) -> object:
    """The parsed JSON of a model's input; the text itself if it was cut and cannot be parsed."""
    if not isinstance(said, str) or not said.startswith("{"):
        return said
    try:
        return json.loads(said)
    except ValueError:
        return said


def _brief(said: object) -> str:
    if not isinstance(said, Mapping):
        return str(said)
    told = [str(said[key]) for key in _TELLING if said.get(key)]
    plain = (str(value) for value in said.values() if not isinstance(value, list | dict))
    return " in ".join(told[:2]) or ", ".join(plain)
