"""What sums a memory up, put anew when the memory changes: its description and its row's hook. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dreams.engines.rules.notes.tree import Tree
from dreams.engines.rules.notes.wording import sentences
from dreams.lib import memdir
from dreams.lib.files import text as texts
from dreams.lib.files.text import one_line

LONGEST_SUMMARY = 160  # characters of a sentence that is put in the place of a summary


def summed_up_anew(
    tree: Tree, path: str, after: str, is_gone: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    """The files whose text changes with a memory's new text `after`, the memory first: where its description or a row's hook
    says what is gone, the first sentence that is left takes its place."""
    document = memdir.parse(texts.encode(after))
    front, new = document.frontmatter, _first_sentence(document)
    if front and front.description and is_gone(one_line(front.description)):
        try:
            after = texts.decode(
                memdir.with_field(document, "description", new or front.name or "").to_bytes()
            )
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
