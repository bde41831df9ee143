"""One statement put anew where it is: a value exchanged, or the whole of it. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dreams.engines.rules.notes.tree import Change, Recorder, Tree, digest, is_index
from dreams.engines.types import Citation, Fate
from dreams.lib import memdir
from dreams.lib.files import text as texts
from dreams.lib.prose.statement_index import Statement
from dreams.lib.prose.values import Value


@dataclass(frozen=True, slots=True)
class Rewording:
    """A statement and what is to be in its place."""

    statement: Statement
    text: str


def with_text(statement: Statement, old: str, new: str) -> Rewording | None:
    """The statement with another value in the place of one; None where it has that not exactly once."""
    bare = re.escape(old.strip("`"))
    found = list(re.finditer(rf"`{bare}`|(?<![\w-])(?<![\w`]\.){bare}(?![\w-]|\.\w)", statement.text))
    if len(found) != 1 or old.strip("`") == new.strip("`"):
        return None
    coded = found[0][0].startswith("`")
    made = f"`{new.strip('`')}`" if coded else new.strip("`")
    return Rewording(
        statement, f"{statement.text[: found[0].start()]}{made}{statement.text[found[0].end() :]}"
    )


def surface(text: str, value: Value) -> str:
    """A value as its text has it."""
    return text[value.start : value.end]


def reword(
    rec: Recorder, wordings: Iterable[Rewording], reason: str, note: str, cited: tuple[Citation, ...]
) -> bool:
    """Put all of them in their places as one operation; False, and nothing done, where one has no place any more."""
    changed: dict[str, str] = {}
    key: list[str] = []
    for each in wordings:
        path = each.statement.path
        after = _with(rec.tree, path, changed.get(path, rec.tree.texts.get(path, "")), each)
        if after is None:
            return False
        changed[path] = after
        key += [each.statement.text, each.text]
    changes = [
        Change(path, after, reason, tuple(_fates(rec.tree.texts[path], after, path, note)), cited)
        for path, after in changed.items()
    ]
    return bool(changes) and rec.operation("update", changes, key=digest(*key))


def _with(tree: Tree, path: str, text: str, wording: Rewording) -> str | None:
    statement = wording.statement
    if not text or not tree.writable(path):
        return None
    if statement.source == "description":
        try:
            made = memdir.with_field(memdir.parse(texts.encode(text)), "description", wording.text)
        except memdir.MemoryEditError:
            return None
        return texts.decode(made.to_bytes())
    lines = memdir.split_lines(text)
    first, last = statement.first_line - 1, statement.last_line
    held = "".join(lines[first:last])
    words = r"\s+".join(map(re.escape, statement.text.split()))
    found = list(re.finditer(words, held))
    if len(found) != 1:
        return None
    start, end = found[0].span()
    return f"{''.join(lines[:first])}{held[:start]}{wording.text}{held[end:]}{''.join(lines[last:])}"


def _fates(before: str, after: str, path: str, note: str) -> Iterator[Fate]:
    """Lines are put anew one for one, or several become one."""
    old, new = before.split("\n"), after.split("\n")
    gone = [line for line in old if line.strip() and line not in new]
    come = [line for line in new if line.strip() and line not in old]
    for at, line in enumerate(gone):
        now = come[min(at, len(come) - 1)].strip() if come else ""
        rows = memdir.parse_index(now).rows if is_index(path) else ()
        now = rows[0].hook if rows else now
        yield Fate(line.rstrip("\r"), "superseded-by", path, now, note)
