"""Wikilinks that name no memory, where exactly one is meant. Pure but for the recorder.

Agents name a file `feedback_harness_design.md` and link to it as `[[harness-design]]`. A link whose name is that of one
memory without its type is certain; any other dead link is left to a question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from dreams.engines.rules.notes.tree import Change, Recorder, Tree, digest, from_memory
from dreams.engines.types import Fate
from dreams.lib import memdir

_FILE = re.compile(r"`?[\w./-]+\.md`?")


def repair(rec: Recorder) -> None:
    """Point each dead wikilink to the one memory that has its name behind a type."""
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
    change = Change(
        path,
        after,
        f"[[{link.target}]] matches no memory; {name} is the only match.",
        (Fate(old, "kept-in", path, new.strip()),),
        (from_memory(path, number + 1, old),),
    )
    if not rec.operation("edit", [change], key=digest(path, str(number), old, link.target)):
        return text
    rec.count("links", 1)
    return after


def dead_links(names: Names, text: str) -> Iterator[memdir.WikiLink]:
    """The wikilinks of a text that name no memory."""
    return (link for link in memdir.wikilinks(text) if not names.is_known(link.target))


class Names:
    """By what the memories of a directory can be named."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._paths: dict[str, str] = {}
        self._untyped: dict[str, set[str]] = defaultdict(set)
        for path in tree.texts:
            for name in _names_of(tree, path):
                self._paths.setdefault(_key(name), path)
        for path in tree.memories():
            for name in _names_of(tree, path):
                kind, _, rest = _key(name).partition("-")
                if kind in memdir.MEMORY_TYPES and rest:
                    self._untyped[rest].add(path)

    def is_known(self, target: str) -> bool:
        return _key(target) in self._paths

    def mentions(self, text: str) -> Iterator[tuple[int, int, str]]:
        """(start, end, path) of each memory that a text names: by a wikilink, a Markdown link or its file's name."""
        for wiki in memdir.wikilinks(text):
            if path := self._paths.get(_key(wiki.target)):
                yield wiki.start, wiki.end, path
        for link in memdir.markdown_links(text):
            if path := self._paths.get(_key(link.path)):
                yield link.start, link.end, path
        for found in _FILE.finditer(text):
            if path := self._paths.get(_key(found[0].strip("`"))):
                yield found.start(), found.end(), path

    def is_named(self, path: str, text: str) -> bool:
        return any(found == path for _, _, found in self.mentions(text))

    def without_type(self, target: str) -> str | None:
        """The path of the one memory that has this name behind its type."""
        found = self._untyped.get(_key(target), set())
        return next(iter(found)) if len(found) == 1 else None

    def written(self, path: str, like: str) -> str:
        """The memory's name in the manner of `like`: with underscores only where that has them."""
        stem = PurePosixPath(path).stem
        return stem.replace("_", "-") if "-" in like and "_" not in like else stem


def _names_of(tree: Tree, path: str) -> Iterator[str]:
    yield path
    yield PurePosixPath(path).name
    front = tree.document(path).frontmatter
    if front and front.name:
        yield front.name


def _key(name: str) -> str:
    """One key for `feedback_x.md`, `feedback-x` and `Feedback X`."""
    plain = name.strip().removeprefix("./").removesuffix(".md")
    return memdir.name_key(plain).replace("_", "-").replace(" ", "-")
