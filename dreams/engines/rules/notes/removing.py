"""Removes or rewords a statement in its file, if that is possible. Pure but for the recorder."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, digest, is_index, lines_gone
from dreams.engines.rules.notes.wording import is_labelled, sentences
from dreams.engines.types import Citation, Fate, FateKind, OperationKind
from dreams.lib import memdir
from dreams.lib.files import text as texts
from dreams.lib.files.text import one_line
from dreams.lib.prose.comparing import says_more
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.values import BEFORE, BEHIND, Value

LONGEST_SUMMARY = 160  # characters of a sentence that replaces a summary


def summed_up_anew(
    tree: Tree, path: str, after: str, is_gone: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    """The files that change with a memory's new text `after`, the memory first: a description or row's hook that says what was
    removed is replaced by the first remaining sentence."""
    document = memdir.parse(texts.encode(after))
    front, new = document.frontmatter, _first_sentence(document)
    if front and front.description and is_gone(one_line(front.description)):
        try:
            after = texts.decode(memdir.with_description(document, new or front.name or "").to_bytes())
        except memdir.MemoryEditError:
            return
    yield path, after
    for index_path in tree.indexes():
        index = before = memdir.parse_index(tree.texts[index_path])
        for row in reversed(before.rows_for(path)):
            if row.form == "link" and row.hook and len(row.targets) == 1 and is_gone(one_line(row.hook)):
                index = index.rewritten(row, hook=new)
        if index.text != before.text:
            yield index_path, index.text


def _first_sentence(document: memdir.Document) -> str:
    for item in memdir.sections(document.body):
        if item.kind in {"paragraph", "bullet"}:
            told = sentences(one_line(item.content or item.text))
            if told and len(told[0]) <= LONGEST_SUMMARY:
                return told[0]
    return ""


# --- Removing -------------------------------------------------------------------------------------------------------

_KEPT_APART = frozenset({"bullet", "paragraph"})
# Such a sentence depends on the one before it.
_LEANS_BACK = re.compile(
    r"(?:it|its|this|that|these|those|they|them|their|he|she|his|her|so|therefore|thus|hence|then|also|but|however|otherwise|and|or|because|"
    r"afterwards|after that|instead|which|both|neither|the (?:same|latter|former|other|rest|reason))\b",
    re.IGNORECASE,
)


def without(text: str, unit: PlacedText) -> str:
    """The text without the unit's lines and one of the blank lines around it."""
    lines = memdir.split_lines(text)
    start, stop = unit.first_line - 1, unit.last_line
    alone = start > 0 and not lines[start - 1].strip() and (stop == len(lines) or not lines[stop].strip())
    if alone and stop < len(lines):
        stop += 1
    elif alone:
        start -= 1
    after = memdir.replace_lines(text, start + 1, stop + 1, [])
    if not text.endswith("\n") and after.endswith("\n"):  # a file without a final line end keeps none
        after = after.rstrip("\r\n")
    return after


def fates(
    unit: PlacedText, kind: FateKind, path: str = "", text: str = "", note: str = ""
) -> tuple[Fate, ...]:
    """The same ledger entry for each line of a unit."""
    lines = unit.raw.replace("\r\n", "\n").split("\n")
    return tuple(Fate(line, kind, path, text, note) for line in lines if line)


def remove(
    rec: Recorder,
    unit: PlacedText,
    kind: OperationKind,
    reason: str,
    told: tuple[Fate, ...],
    cited: tuple[Citation, ...],
) -> bool:
    """Remove one unit; if it was the last one, the file is removed, unless something else would be lost.

    If it is pruned, the description and the index row that summarize it are updated too.
    """
    changes = _changes(rec.tree, unit, reason, told, cited)
    if kind == "prune" and len(changes) == 1 and changes[0].after is not None:
        changes = pruned(rec.tree, changes[0], unit.text, told[0].note)
    return bool(changes) and rec.operation(
        kind, changes, key=digest(unit.path, str(unit.first_line), unit.raw)
    )


def pruned(tree: Tree, change: NewText, gone: str, note: str, held: str = "") -> list[NewText]:
    """The change that removes a statement, or a sentence of `held`, with the updated summaries of its memory."""

    def is_gone(summary: str) -> bool:
        return not says_more(gone, summary) and not says_more(summary, held or gone)

    found = []
    for path, after in summed_up_anew(tree, change.path, change.after or "", is_gone):
        own, before = (change.fates, change.after or "") if path == change.path else ((), tree.texts[path])
        told = (*own, *lines_gone(before, after, note))
        found.append(NewText(path, after, change.reason, told, change.citations))
    return found


def remove_sentence(
    rec: Recorder, place: tuple[str, int], told: str, reason: str, note: str, cited: Citation
) -> bool:
    """Remove one of several sentences of the paragraph or bullet at a path and line, unless it is quoted, the next one refers to it
    ("It …", "Therefore …") or one of them is labelled."""
    path, line = place
    if path not in rec.tree.topics():
        return False
    document = rec.tree.document(path)
    items = memdir.sections(document.body, document.body_start_line)
    item = next((each for each in items if each.first_line == line and each.kind in _KEPT_APART), None)
    said = sentences(one_line(item.content or item.text)) if item else []
    if item is None or item.text.lstrip().startswith((">", "|")) or any(map(is_labelled, said)):
        return False
    if len(said) < 2 or told not in said:
        return False
    if any(map(_LEANS_BACK.match, said[said.index(told) + 1 :][:1])):
        return False
    text = rec.tree.texts[path]
    around = _around(text, item.first_line, item.last_line, told)
    if around is None:
        return False
    lead, before, behind, rest = around
    if behind.strip():
        after = f"{lead}{before}{behind.lstrip()}{rest}"
    else:
        end = behind.lstrip(" \t")
        after = f"{lead}{before.rstrip()}{end}{rest}"
    left = lines_gone(text, after, f"{note} The rest of it stays.")
    changes = pruned(rec.tree, NewText(path, after, reason, left, (cited,)), told, note, " ".join(said))
    return rec.operation("prune", changes, key=digest(path, told))


def _around(text: str, first: int, last: int, told: str) -> tuple[str, str, str, str] | None:
    """The text above these lines, on them before and behind the words, and below them; None if the words are not there once."""
    lines = memdir.split_lines(text)
    held = "".join(lines[first - 1 : last])
    found = list(re.finditer(r"\s+".join(map(re.escape, told.split())), held))
    if len(found) != 1:
        return None
    start, end = found[0].span()
    return "".join(lines[: first - 1]), held[:start], held[end:], "".join(lines[last:])


def _changes(
    tree: Tree, unit: PlacedText, reason: str, told: tuple[Fate, ...], cited: tuple[Citation, ...]
) -> list[NewText]:
    text = tree.texts[unit.path]
    # Its line has the byte order mark, which would be lost.
    holds_the_bom = unit.first_line == 1 and text.startswith("\ufeff")
    rest = without(text, unit)
    kinds = memdir.kinds(memdir.parse(texts.encode(rest)).body)
    # A file with only a title would be an orphan of another kind.
    leaves_something = any(kind not in {"blank", "heading", "rule", "comment"} for kind in kinds)
    if leaves_something and not holds_the_bom:
        return [NewText(unit.path, rest, reason, told, cited)]
    if holds_the_bom or leaves_something or is_linked(tree, unit.path):
        return []
    mine = {line.rstrip("\r") for line in unit.raw.split("\n")}
    note = f"{unit.path} said nothing else. {told[0].note}".strip()
    lines = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
    gone = (*told, *(Fate(line, "stated", note=note) for line in lines if line not in mine))
    changes = [NewText(unit.path, None, reason, gone, cited)]
    for index in tree.indexes():
        after = _rows_without(tree, index, unit)
        if after is None:
            return []
        changes.append(NewText(index, after, reason, lines_gone(tree.texts[index], after, note), cited))
    return changes


def is_linked(tree: Tree, path: str) -> bool:
    return any(
        other != path and not is_index(other) and memdir.retarget(text, path, f"{path}.gone.md") != text
        for other, text in tree.texts.items()
    )


def _rows_without(tree: Tree, index_path: str, unit: PlacedText) -> str | None:
    """The index without the rows of the unit's file; None if a row says more than the file did."""
    index = memdir.parse_index(tree.texts[index_path])
    rows = list(index.rows_for(unit.path))
    front = tree.document(unit.path).frontmatter
    labels = (front.name or "", front.description or "") if front else ()
    stem = PurePosixPath(unit.path).stem.replace("_", " ")
    for row in rows:
        if row.hook and says_more(row.hook, " . ".join((unit.text, stem, *labels, row.title))):
            return None
    return index.without(rows).text if rows else tree.texts[index_path]


@dataclass(frozen=True, slots=True)
class Rewording:
    statement: PlacedText
    text: str


def with_text(statement: PlacedText, old: str, new: str) -> Rewording | None:
    """The statement with one value replaced; None unless it has the value exactly once, and as a whole: a port is one in
    "localhost:8080", but 4 is a part of "4/raven"."""
    bare = re.escape(old.strip("`"))
    whole = rf"{BEFORE}(?<![\w`]\.)(?<!\w[/@]){bare}{BEHIND}(?:(?<=[:=/]{bare})|(?![/:@]\w))"
    found = list(re.finditer(rf"`{bare}`|{whole}", statement.text))
    if len(found) != 1 or old.strip("`") == new.strip("`"):
        return None
    coded = found[0][0].startswith("`")
    made = f"`{new.strip('`')}`" if coded else new.strip("`")
    text, (start, end) = statement.text, found[0].span()
    return Rewording(statement, f"{text[:start]}{made}{text[end:]}")


def surface(text: str, value: Value) -> str:
    """A value as written in its text."""
    return text[value.start : value.end]


def reword(
    rec: Recorder, wordings: Iterable[Rewording], reason: str, note: str, cited: tuple[Citation, ...]
) -> bool:
    """Replace all of them in one operation; False, and nothing is done, if one is no longer in its place."""
    changed: dict[str, str] = {}
    key: list[str] = []
    for each in wordings:
        path = each.statement.path
        after = _with(rec.tree, path, changed.get(path, rec.tree.texts.get(path, "")), each)
        if after is None:
            return False
        changed[path] = after
        changed.update(list(_retitled(rec.tree, changed, each)))
        key += [each.statement.text, each.text]
    changes = [
        NewText(path, after, reason, tuple(_fates(rec.tree.texts[path], after, path, note)), cited)
        for path, after in changed.items()
    ]
    return bool(changes) and rec.operation("update", changes, key=digest(*key))


def _retitled(tree: Tree, changed: Mapping[str, str], wording: Rewording) -> Iterator[tuple[str, str]]:
    """The file and the indexes with the new words where the statement is the memory's name, as of one that was learnt alone."""
    path, told, said = wording.statement.path, wording.statement.text, wording.text
    old, new = told.rstrip("."), said.rstrip(".")
    lines = changed[path].split("\n")
    for field, was, now in (("name", old, new), ("description", told, said)):
        line, other = (f"{field}: {memdir.render_value(value)}" for value in (was, now))
        lines = [each.replace(line, other) if each.rstrip("\r") == line else each for each in lines]
    yield path, "\n".join(lines)
    for name in filter(tree.writable, tree.indexes()):
        index = memdir.parse_index(changed.get(name, tree.texts[name]))
        row = next((row for row in index.rows_for(path) if row.title.lower() == old.lower()), None)
        if row and row.form == "link":
            title = new[:1].upper() + new[1:] if row.title[:1].isupper() else new
            yield name, index.rewritten(row, title=title).text


def _with(tree: Tree, path: str, text: str, wording: Rewording) -> str | None:
    statement = wording.statement
    if not text or not tree.writable(path):
        return None
    if statement.source == "description":
        try:
            made = memdir.with_description(memdir.parse(texts.encode(text)), wording.text)
        except memdir.MemoryEditError:
            return None
        return texts.decode(made.to_bytes())
    around = _around(text, statement.first_line, statement.last_line, statement.text)
    if around is None:
        return None
    held = text.removeprefix(around[0] + around[1]).removesuffix(around[2] + around[3])
    return "".join((*around[:2], _in_its_lines(held, wording.text), *around[2:]))


def _in_its_lines(held: str, said: str) -> str:
    """What is said instead, on the lines of `held` before the first and behind the last word that changes."""
    old, new = held.split(), said.split()
    most = min(len(old), len(new)) - 1
    first = next((at for at in range(most) if old[at] != new[at]), most)
    last = next((at for at in range(most - first) if old[-1 - at] != new[-1 - at]), most - first)
    words = list(re.finditer(r"\S+", held))
    changed = " ".join(new[first : len(new) - last])
    return f"{held[: words[first].start()]}{changed}{held[words[-1 - last].end() :]}"


def _fates(before: str, after: str, path: str, note: str) -> Iterator[Fate]:
    """The ledger entries of reworded lines: one for one, or several lines become one."""
    old, new = before.split("\n"), after.split("\n")
    gone = [line for line in old if line.strip() and line not in new]
    come = [line for line in new if line.strip() and line not in old]
    for at, line in enumerate(gone):
        now = come[min(at, len(come) - 1)].strip() if come else ""
        rows = memdir.parse_index(now).rows if is_index(path) else ()
        now = rows[0].hook or rows[0].title if rows else now
        yield Fate(line.rstrip("\r"), "superseded-by", path, now, note)
