"""The ten sections of hand-over notes: fixed headings and limits of length. PURE.

The sections and both limits are those of the session notes of Claude Code.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from dreams.engines.anthropic.budget import CHARS_PER_TOKEN
from dreams.lib.files import text as texts
from dreams.lib.secrets.redact import cut, redact

SECTION_TOKENS, ALL_TOKENS = 2_000, 12_000  # limits: recommended for a section, required for all together
MOST_OF_A_SECTION = int(SECTION_TOKENS * CHARS_PER_TOKEN)
EMPTY = "Nothing to note."
SHORTENED = "(shortened)"


class Section(NamedTuple):
    """`about` is the line in italics below the heading, which tells model and reader what belongs there."""

    name: str
    heading: str
    about: str


SECTIONS = (
    Section("title", "Title", "What the session was about, in a few words."),
    Section("state", "Current state", "What was being worked on at the end, what is left to do, and what comes next."),
    Section("task", "Task specification", "What the person asked for, and what was decided about how to do it."),
    Section("files", "Files and functions", "The files that matter, what is in them, and why they matter here."),
    Section("workflow", "Workflow", "The commands that were run, in their usual order, and how to read their output."),
    Section("errors", "Errors and corrections", "What failed, what fixed it, what the person corrected, and what not to try again."),
    Section("system", "System documentation", "The parts of the system that the work touched, and how they fit together."),
    Section("learnings", "Learnings", "What worked, what did not, and what to avoid. Nothing that another section says."),
    Section("results", "Key results", "The answer, table or text that the person asked for, as it was given."),
    Section("worklog", "Worklog", "What was done, step by step, a line each."),
)  # fmt: skip
NAMES = tuple(section.name for section in SECTIONS)
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})(.*)")
# What Markdown could read as a heading of the document, or as raw HTML that swallows the rest.
_HEADING = re.compile(
    r"\A((?:\s*(?:[-*+>]|\d{1,9}[.)])\s+)*\s*)(#{1,6}(?:\s|$)|=+\s*$|-+\s*$|<(?=[!?/A-Za-z]))"
)


def written(bodies: Mapping[str, str]) -> str:
    """The notes in Markdown: every heading with its line, in order, even without a body. Bounded, without secrets."""
    kept = bounded({name: _plain(redact(bodies.get(name, ""))) for name in NAMES})
    return "\n".join(
        f"# {section.heading}\n_{section.about}_\n\n{kept[section.name] or EMPTY}\n" for section in SECTIONS
    )


def read(text: str) -> dict[str, str]:
    """The bodies of notes that `written` made, by section; missing ones are empty."""
    found = dict.fromkeys(NAMES, "")
    for section in reversed(SECTIONS):
        text, _, body = text.rpartition(f"# {section.heading}\n_{section.about}_\n")
        found[section.name] = "" if body.strip() == EMPTY else body.strip()
    return found


def bounded(bodies: Mapping[str, str]) -> dict[str, str]:
    """The bodies, the longest ones shortened at a line end until all together fit."""
    most = _most([len(body) for body in bodies.values()], int(ALL_TOKENS * CHARS_PER_TOKEN))
    return {name: shortened(body, most) for name, body in bodies.items()}


def _most(sizes: Iterable[int], room: int) -> int:
    """The largest length of a body with which all fit into `room`; shorter ones are kept."""
    ordered = sorted(sizes)
    for number, size in enumerate(ordered):
        share = room // (len(ordered) - number)
        if size > share:
            return share
        room -= size
    return ordered[-1] if ordered else 0


def shortened(body: str, most: int) -> str:
    """The first complete lines of a body, with a note if some are left out."""
    if len(body) <= most:
        return body
    begins = cut(body, max(0, most - len(SHORTENED) - 6))
    lines = begins.rpartition("\n")[0] or begins
    return _plain(f"{lines}\n\n{SHORTENED}")


def _plain(body: str) -> str:
    """The body made safe for its section: no headings, no raw HTML, every fence closed."""
    return "\n".join(_lines(texts.storable(body).strip())).strip()


def _lines(body: str) -> Iterator[str]:
    inside = False
    for line in body.splitlines():
        fence = _FENCE.match(line)
        if fence:
            inside = not inside
            # All fences become the same kind, so that every fence line opens or closes one.
            yield "```" + (fence[2].replace("`", "").rstrip() if inside else "")
        elif inside:
            yield f" {line}" if line.startswith("# ") else line
        else:
            yield _HEADING.sub(r"\1\\\2", line)
    if inside:
        yield "```"
