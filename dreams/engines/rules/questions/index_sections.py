"""Sections of an index that is full, which hold facts of their own and no rows: each could be a memory with a row. PURE.

A full index has no room for rows of memories, and what is behind its limit is not loaded. Rules are left: they are worth
their place in every session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from dreams.engines.rules.notes.tree import Change, Recorder, Tree, from_memory
from dreams.engines.rules.notes.wording import sentences, summed_up
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.index_rows import rules_in
from dreams.engines.types import Edit, Fate, Option, Place, Question
from dreams.lib import memdir
from dreams.lib.files.text import one_line, plural

FULL = 0.98  # of the lines or bytes that an agent loads
LEAST_LINES, MOST_SECTIONS = 5, 6
WEIGHT = 0.7
_OF_EVERY_SESSION = re.compile(
    r"\b(?:preferences?|rules?|conventions?|safety|critical|important|workflow|see also|index|user)\b", re.I
)
_REMARK = re.compile(r"\s*[(\[][^)\]]*[)\]]|\s+[—–-]\s.*$|:.*$")
_NO_WORD = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading of the index, the lines below it (1-based, inclusive), and the memory that they could be."""

    heading: str
    line: int
    last_line: int
    body: str
    topic: str
    title: str

    @property
    def lines(self) -> int:
        return self.last_line - self.line


def sections_of_a_full_index(context: Asking) -> Iterator[Question]:
    """One question about MEMORY.md; each section is decided by itself."""
    path, config = memdir.INDEX_NAME, context.job.config
    tree = context.tree_before
    after = next((edit.after for edit in reversed(context.edits) if edit.path == path), tree.texts.get(path))
    state = memdir.loaded(after or "", max_lines=config.index_max_lines, max_bytes=config.index_max_bytes)
    full = state.lines >= FULL * config.index_max_lines or state.bytes >= FULL * config.index_max_bytes
    if not full or path not in tree.indexes() or not tree.writable(path):
        return
    found = sorted(_sections(context), key=lambda each: -each.lines)[:MOST_SECTIONS]
    edits = tuple(edit for each in found for edit in _edits(context, each))
    if not edits:
        return
    saved = sum(each.lines - 1 for each in found)
    yield Question(
        "index",
        " ".join(sorted(each.topic for each in found)),
        f"The index has {state.lines:,} lines and {state.bytes:,} bytes; an agent loads {config.index_max_lines:,} lines and "
        f"{config.index_max_bytes:,} bytes. {plural(len(found), 'section')} could move into {plural(len(found), 'memory', 'memories')}, "
        f"with a row here for each: "
        f"{saved:,} lines in all.",
        tuple(Place(path, each.line, each.heading, note=plural(each.lines, "line")) for each in found),
        (
            Option("demote", "Move the selected sections into memories", edits),
            Option("keep", "Leave the index as it is"),
        ),
        weight=WEIGHT,
    )


def _sections(context: Asking) -> Iterator[_Section]:
    tree, path = context.tree_before, memdir.INDEX_NAME
    text = tree.texts[path]
    lines = memdir.split_lines(text)
    document = tree.document(path)
    rows = {row.line_no for row in memdir.parse_index(text).rows}
    headings = [
        item for item in memdir.sections(document.body, document.body_start_line) if item.kind == "heading"
    ]
    taken: set[str] = set()
    ends = [each.first_line - 1 for each in headings[1:]] + [len(lines)] * bool(headings)
    for item, end in zip(headings, ends, strict=True):
        body = "".join(lines[item.last_line : end]).strip("\r\n")
        topic = _topic(tree, item.content)
        told = len([line for line in body.split("\n") if line.strip()])
        is_free = rows.isdisjoint(range(item.first_line, end + 1)) and topic not in tree.texts
        place = Place(path, item.first_line, "".join(lines[item.first_line - 1 : end]))
        if (
            item.level > 1
            and told >= LEAST_LINES
            and is_free
            and topic not in taken
            and not _is_for_all(item.content, body)
        ):
            taken.add(topic)
            section = _Section(item.text.strip(), item.first_line, end, body, topic, _title(item.content))
            if not context.is_touched(place):
                yield section


def _is_for_all(heading: str, body: str) -> bool:
    return bool(_OF_EVERY_SESSION.search(heading)) or len(rules_in(body)) > 1


def _title(heading: str) -> str:
    return one_line(_REMARK.sub("", heading)) or one_line(heading)


def _topic(tree: Tree, heading: str) -> str:
    words = _NO_WORD.sub("_", _title(heading).lower()).strip("_") or "notes"
    prefix = "project_" if any(path.startswith("project_") for path in tree.memories()) else ""
    return f"{prefix}{words}.md"


def _edits(context: Asking, section: _Section) -> tuple[Edit, ...]:
    """Edits whose operation is the path of the new memory."""
    made = context.draftsman.edits(partial(_move, section=section, row_max=context.job.config.row_max))
    return tuple(replace(edit, operation=section.topic) for edit in made)


def _move(rec: Recorder, section: _Section, row_max: int) -> bool:
    path = memdir.INDEX_NAME
    lines = memdir.split_lines(rec.tree.texts[path])
    said = _summary(section, row_max)
    row = memdir.render_row(section.title, section.topic, said)
    gone = [line.rstrip("\r\n") for line in lines[section.line : section.last_line] if line.strip()]
    index = memdir.replace_lines("".join(lines), section.line + 1, section.last_line + 1, [row, ""])
    told = tuple(Fate(line, "kept-in", section.topic, line.strip()) for line in gone)
    head = f"---\nname: {_quoted(section.title)}\ndescription: {_quoted(said or section.title)}\ntype: project\n---\n\n"
    reason = "The index is full; this is now a separate memory."
    cited = (from_memory(path, section.line, section.heading),)
    changes = [
        Change(section.topic, f"{head}{section.body}\n", reason, (), cited),
        Change(path, index, reason, told, cited),
    ]
    return rec.operation("demote", changes)


def _summary(section: _Section, row_max: int) -> str:
    """The first sentence, where the section begins with one; else what its heading remarks."""
    first = next((line.strip() for line in section.body.split("\n") if line.strip()), "")
    said = "" if first[:1] in "-*+|#`>0123456789" else next(iter(sentences(one_line(first))), "")
    remark = _REMARK.search(section.heading)
    return (summed_up(said, row_max) or (remark[0].strip(" ()[]—–-:") if remark else "")).rstrip(" :")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
