"""Repairs index rows and links: removes a row that adds nothing to another one of its file, and points rows and links that are
dead to the only memory they can mean. Pure but for the recorder."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

from dreams.engines.rules.notes.tree import (
    NewText,
    Recorder,
    Tree,
    digest,
    from_memory,
    is_index,
    is_log,
    is_team,
)
from dreams.engines.types import Citation, Fate
from dreams.lib import memdir
from dreams.lib.files.text import one_line
from dreams.lib.prose import comparing
from dreams.lib.prose.statement_pairs import name_of

MOST_READ = 4_000  # characters of a file searched for the words of a title
_LOOSE = re.compile(r"[-_ .]+")
_CLAUSES = re.compile(r"[;.]\s+|\s[—–-]\s")
_PIECE_END = re.compile(r"[,;.:]\s|\s[—–-]\s|$")


def repair_rows(rec: Recorder, row_max: int, repo_dir: Path | None) -> None:
    """Point rows to renamed files, and remove rows that add nothing to another one of their file."""
    for path in rec.tree.indexes():
        if path in rec.tree.hand_edited:
            continue
        _resolve_all(rec, path, repo_dir)
        while _undouble_one(rec, path, row_max):
            pass  # each pass removes a row, so this ends


def base_of(index_path: str) -> str:
    """The folder that row targets are relative to: `team/` for the shared index, "" for the other."""
    parent = str(PurePosixPath(index_path).parent)
    return "" if parent == "." else f"{parent}/"


def lines_leading(text: str) -> set[int]:
    """The lines of an index that lead to files: its rows, and its sentences with links."""
    linked = [each.start for each in memdir.markdown_links(text) if each.path.endswith(".md")]
    return {row.line_no for row in memdir.parse_index(text).rows} | {
        text.count("\n", 0, at) + 1 for at in linked
    }


def missing(tree: Tree, index_path: str, row: memdir.IndexRow) -> bool:
    target = f"{base_of(index_path)}{row.target}"
    return row.is_memory_target and target not in tree.texts and not tree.workspace.snapshot.unread(target)


def dangling(tree: Tree) -> int:
    return sum(
        missing(tree, path, row)
        for path in tree.indexes()
        for row in memdir.parse_index(tree.texts[path]).rows
    )


def _resolve_all(rec: Recorder, path: str, repo_dir: Path | None) -> None:
    for old in memdir.parse_index(rec.tree.texts[path]).rows:
        if not missing(rec.tree, path, old) or old.form != "link" or in_repository(repo_dir, old.target):
            continue
        target = _meant(rec.tree, path, old)
        index = memdir.parse_index(rec.tree.texts[path])
        row = next((r for r in index.rows if r.line_no == old.line_no and r.raw == old.raw), None)
        if target is None or row is None:
            continue
        new = index.rewritten(row, target=target)
        reason = f"The row pointed to {row.target}, which is gone; the file is now {target}."
        now = one_line("".join(new.lines[row.line_no - 1 : row.line_no]))
        told = tuple(Fate(line, "kept-in", path, now) for line in row.raw.split("\n"))
        if rec.operation("index", [NewText(path, new.text, reason, told, _seen(path, row))]):
            rec.count("rows", 1)


def in_repository(repo_dir: Path | None, target: str) -> bool:
    try:
        return repo_dir is not None and (repo_dir / target).exists()
    except (OSError, ValueError):
        return False


def _meant(tree: Tree, index_path: str, row: memdir.IndexRow) -> str | None:
    """The only file with the target's name in another spelling or folder."""
    base = base_of(index_path)
    # A row never moves between shared and private memory.
    inside = (p for p in tree.texts if p.startswith(base) and is_team(p) == bool(base))
    same_name = [p for p in inside if _name(p) == _name(row.target) and not is_index(p) and not is_log(p)]
    return same_name[0].removeprefix(base) if len(same_name) == 1 else None


@lru_cache(maxsize=5_000)  # asked for each lost row and file
def _name(path: str) -> str:
    return _LOOSE.sub("", memdir.name_key(PurePosixPath(path).stem))


def mentioned(index: memdir.Index, target: str) -> bool:
    """Whether an index mentions the file: as a row, link, wikilink, plain name, or its stem as code."""
    if any(row.target == target for row in index.rows_for(target)):
        return True
    name = PurePosixPath(target.casefold())
    text, stem = index.text.casefold(), re.escape(name.stem)
    spoken = rf"(?<![\w-]){re.escape(name.name)}|\[\[(?:[^\]|]*/)?{stem}[\]|#]|`{stem}`"
    # The parser also finds percent-encoded links.
    return bool(name.stem in text and re.search(spoken, text)) or (
        any(memdir.same_target(row.target, target) for row in index.rows)
    )


def _undouble_one(rec: Recorder, path: str, row_max: int) -> bool:
    index = memdir.parse_index(rec.tree.texts[path])
    first: dict[tuple[str, str], memdir.IndexRow] = {}
    for row in index.rows:
        if row.form != "link" or not row.is_memory_target or len(row.targets) != 1 or row.lead:
            continue
        other = first.setdefault((row.target, row.anchor), row)
        if other is not row and (change := undoubled(rec.tree, path, index, other, row, row_max)) is not None:
            done = rec.operation("index", [change], key=digest(path, other.raw, row.raw))
            rec.count("rows", done)
            if done:
                return True
    return False


def undoubled(
    tree: Tree,
    path: str,
    index: memdir.Index,
    one: memdir.IndexRow,
    two: memdir.IndexRow,
    row_max: int,
    *,
    merged: bool = False,
) -> NewText | None:
    """One row for two of the same file; None if each says something of its own.

    `merged`: their files were merged, so what only one row says, and the file does not, is kept in the hook.
    """
    keep, drop = (two, one) if len(two.hook) > len(one.hook) else (one, two)
    target = f"{base_of(path)}{keep.target}"
    front = tree.document(target).frontmatter if target in tree.texts else None
    said = [
        keep.title,
        keep.hook,
        PurePosixPath(target).name,
        name_of(target),
        (front.name or "") if front else "",
    ]
    known = ". ".join([*said, tree.texts.get(target, "")[:MOST_READ].replace("_", " ")])
    told = [
        part
        for part in (drop.title, drop.hook)
        if not any(_is_part(part, each) for each in said) and (not merged or comparing.says_more(part, known))
    ]
    hook = "; ".join(filter(None, (keep.hook.rstrip(" .;"), " — ".join(told)))) if told else keep.hook
    is_long = bool(told) and len(keep.raw) + len(hook) - len(keep.hook) > row_max
    if has_children(index, drop) or is_long or (told and not merged):
        return None
    # Later lines first, so that earlier line numbers stay valid.
    for row in sorted((keep, drop), key=lambda r: -r.line_no):
        if row is drop:
            index = index.without([row])
        elif told:
            index = index.rewritten(row, hook=hook)
    kept = next((r.raw for r in index.rows if r.target == keep.target and hook in r.hook), keep.raw)
    fates = [Fate(line, "merged-into", path, kept.split("\n")[0]) for line in drop.raw.split("\n")]
    if told:
        fates += [Fate(line, "kept-in", path, kept) for line in keep.raw.split("\n")]
    reason = f"This row adds nothing to the other row for {keep.target}."
    if told:
        reason = f"Two rows pointed to {keep.target}; one now says what both said."
    return NewText(path, index.text, reason, tuple(fates), (*_seen(path, keep), *_seen(path, drop)))


def _is_part(text: str, whole: str) -> bool:
    """Whether a text is empty, or word for word the beginning or a clause of another one."""
    said, held = (each.casefold().rstrip(" .;") for each in (text, whole))
    starts = (held[: end.start()] for end in _PIECE_END.finditer(held))
    return said in {"", *starts, *_CLAUSES.split(held)}


def has_children(index: memdir.Index, row: memdir.IndexRow) -> bool:
    following = index.lines[row.end_line_no : row.end_line_no + 1]
    indent = len(row.indent.expandtabs(4))
    return any(
        line.strip() and len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) > indent
        for line in following
    )


def _seen(path: str, row: memdir.IndexRow) -> tuple[Citation, ...]:
    return (from_memory(path, row.line_no, row.raw),)


# --- Links ----------------------------------------------------------------------------------------------------------

_NO_LETTERS = re.compile(r"(?:[^\w/]|_)+")


def repair_links(rec: Recorder) -> None:
    """Point each dead wikilink to the only memory with that name after a type prefix."""
    names = Names(rec.tree)
    for path in rec.tree.topics():
        text = rec.tree.texts[path]
        for link in reversed(list(dead_links(names, text))):
            meant = names.without_type(link.target)
            if meant is not None and meant != path:
                text = _pointed(rec, path, text, link, names.written(meant, link.target))


def _pointed(rec: Recorder, path: str, text: str, link: memdir.WikiLink, name: str) -> str:
    start = text.index(link.target, link.start)
    after = text[:start] + name + text[start + len(link.target) :]
    number = text.count("\n", 0, start)
    old, new = (each.split("\n")[number].rstrip("\r") for each in (text, after))
    change = NewText(
        path,
        after,
        f"[[{link.target}]] matches no memory exactly; {name} is the only near match.",
        (Fate(old, "kept-in", path, new.strip()),),
        (from_memory(path, number + 1, old),),
    )
    if not rec.operation("edit", [change], key=digest(path, str(number), old, link.target)):
        return text
    rec.count("links", 1)
    return after


def dead_links(names: "Names", text: str) -> Iterator[memdir.WikiLink]:
    """The wikilinks of a text that name no memory."""
    return (link for link in memdir.wikilinks(text) if not names.is_known(link.target))


class Names:
    """The names by which memories can be mentioned."""

    def __init__(self, tree: Tree) -> None:
        self._paths: dict[str, str] = {}
        self._untyped: dict[str, set[str]] = defaultdict(set)
        skipped = tree.workspace.snapshot.skipped
        self._unread = {_key(name) for path in skipped for name in (path, PurePosixPath(path).name)}
        for path in tree.texts:
            for name in _names_of(tree, path):
                self._paths.setdefault(_key(name), path)
        for path in tree.memories():
            for name in _names_of(tree, path):
                if (rest := untyped(name)) != _key(name):
                    self._untyped[rest].add(path)

    def is_known(self, target: str) -> bool:
        return _key(target) in self._paths or _key(target) in self._unread

    def path_of(self, target: str) -> str | None:
        return self._paths.get(_key(target))

    def without_type(self, target: str) -> str | None:
        """The path of the only memory with this name after its type prefix."""
        found = self._untyped.get(_key(target), set())
        return next(iter(found)) if len(found) == 1 else None

    def written(self, path: str, like: str) -> str:
        """The memory's name spelled like `like`, with or without underscores."""
        stem = PurePosixPath(path).stem
        return stem.replace("_", "-") if "-" in like and "_" not in like else stem


def _names_of(tree: Tree, path: str) -> Iterator[str]:
    yield path
    yield PurePosixPath(path).name
    front = tree.document(path).frontmatter
    if front and front.name:
        yield front.name


def untyped(name: str) -> str:
    """The key of a name without its type: "x" for `feedback_x.md`."""
    kind, _, rest = _key(name).partition("-")
    return rest if kind in memdir.MEMORY_TYPES and rest else _key(name)


def _key(name: str) -> str:
    """One key for `feedback_x.md`, `feedback-x`, `feedback(X).md` and `Feedback X`."""
    plain = name.strip().removeprefix("./").removesuffix(".md")
    return _NO_LETTERS.sub("-", memdir.name_key(plain)).strip("-")
