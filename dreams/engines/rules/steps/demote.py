"""Long index rows: the row keeps its beginning and its names, the whole of it moves into the topic file. Pure but for the recorder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dreams import memdir
from dreams.engines.rules.notes.bodies import statements, with_paragraph
from dreams.engines.rules.notes.days import names_a_day
from dreams.engines.rules.notes.known import Known
from dreams.engines.rules.notes.shortening import shortened
from dreams.engines.rules.notes.tree import Change, Recorder, Tree, digest, from_memory
from dreams.engines.rules.notes.wording import one_line
from dreams.engines.rules.steps.index import base_of
from dreams.engines.types import Fate

ONE_BY_ONE = 30
LEAST_HOOK = 20
LEAST_GAIN = 8
TIGHT_AIM = 100  # what rows are cut to where the index would not be loaded whole otherwise


@dataclass(frozen=True, slots=True)
class _Cut:
    row: memdir.IndexRow
    topic: str
    raw: str


def demote_long(rec: Recorder, row_aim: int, row_max: int) -> None:
    """Rows over `row_max` characters come down to `row_aim`."""
    path = memdir.INDEX_NAME
    if path not in rec.tree.indexes():
        return
    cuts = [
        cut
        for row in memdir.parse_index(rec.tree.texts[path]).rows
        if row.length > row_max and (cut := _cut(rec.tree, row, row_aim))
    ]
    groups = [[cut] for cut in cuts] if len(cuts) <= ONE_BY_ONE else [cuts]
    for group in reversed(groups):  # from the bottom, so that the line numbers above still hold
        if _demote(rec, path, group, f"A row of more than {row_max} characters"):
            rec.count("rows", len(group))


def fit(rec: Recorder, row_aim: int, max_lines: int, max_bytes: int) -> None:
    """Bring an index that is not loaded whole under its limits, longest rows first; no row is dropped."""
    path = memdir.INDEX_NAME
    if path not in rec.tree.indexes():
        return
    for aim in (row_aim, TIGHT_AIM):
        state = memdir.loaded(rec.tree.texts[path], max_lines=max_lines, max_bytes=max_bytes)
        if state.cut_by is None:
            return
        cuts = _needed(rec.tree, path, min(aim, row_aim), state.bytes - max_bytes, state.lines - max_lines)
        if cuts and _demote(rec, path, cuts, "The index is longer than what is loaded; a long row"):
            rec.count("rows", len(cuts))
    state = memdir.loaded(rec.tree.texts[path], max_lines=max_lines, max_bytes=max_bytes)
    if state.cut_by is not None:
        rec.note(
            f"The index still has {state.lines:,} lines and {state.bytes:,} bytes, more than what is loaded "
            f"({max_lines:,} lines, {max_bytes:,} bytes). No row was dropped: merge memories or shorten rows by hand."
        )


def _needed(tree: Tree, path: str, aim: int, spare_bytes: int, spare_lines: int) -> list[_Cut]:
    """The longest rows first, as many as it takes."""
    rows = sorted(memdir.parse_index(tree.texts[path]).rows, key=lambda row: (-row.length, row.line_no))
    chosen: list[_Cut] = []
    for row in rows:
        if (spare_bytes <= 0 and spare_lines <= 0) or row.length <= aim:
            break
        cut = _cut(tree, row, aim)
        if cut is not None:
            chosen.append(cut)
            spare_bytes -= len(row.raw.encode("utf-8", "replace")) - len(cut.raw.encode("utf-8", "replace"))
            spare_lines -= row.end_line_no - row.line_no
    return chosen


def _cut(tree: Tree, row: memdir.IndexRow, aim: int) -> _Cut | None:
    topic = f"{base_of(memdir.INDEX_NAME)}{row.target}"
    if row.form != "link" or len(row.targets) != 1 or not row.hook or not tree.free(topic):
        return None
    if names_a_day(row.hook):
        return None
    alone = memdir.parse_index(row.raw)
    if len(alone.rows) != 1:
        return None
    head = len(alone.rewritten(alone.rows[0], hook="x").text) - 1
    hook = shortened(row.hook, max(aim - head, LEAST_HOOK))
    # Cut short, it may name a day that the whole sentence leaves open: the next dream would write that out.
    if not hook or names_a_day(hook):
        return None
    raw = alone.rewritten(alone.rows[0], hook=hook).text
    return _Cut(row, topic, raw) if len(raw) <= row.length - LEAST_GAIN else None


def _demote(rec: Recorder, path: str, cuts: Sequence[_Cut], what: str) -> bool:
    """Shorten these rows and put what they said into their files, as one operation."""
    index = memdir.parse_index(rec.tree.texts[path])
    text = index.text
    fates: list[Fate] = []
    topics: dict[str, memdir.Document] = {}
    for cut in sorted(cuts, key=lambda c: -c.row.line_no):
        rec.report.checkpoint()
        document = topics.get(cut.topic, rec.tree.document(cut.topic))
        hook = one_line(cut.row.hook)
        if not Known(statements(document)).says(hook, whole=True):
            grown = with_paragraph(document, hook)
            if grown is None:  # an open code fence would swallow it
                continue
            document = topics[cut.topic] = grown
        text = memdir.replace_lines(text, cut.row.line_no, cut.row.end_line_no + 1, [cut.raw], index.newline)
        fates += [Fate(line, "kept-in", cut.topic, hook) for line in cut.row.raw.split("\n")]
    cited = tuple(from_memory(path, cut.row.line_no, cut.row.raw) for cut in cuts[:ONE_BY_ONE])
    reason = f"{what} keeps its beginning and its names; the whole text stands in the topic file."
    changes = [Change(path, text, reason, tuple(fates), cited)]
    changes += [Change(topic, _text(doc), reason, citations=cited) for topic, doc in topics.items()]
    return rec.operation("demote", changes, key=digest(path, *(cut.row.raw for cut in cuts)))


def _text(document: memdir.Document) -> str:
    return document.to_bytes().decode("utf-8", "surrogateescape")
