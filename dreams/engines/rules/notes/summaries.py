"""What sums a memory up: its description and its row's hook. As statements, and put anew. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dreams import memdir
from dreams import text as texts
from dreams.engines.rules.notes.tree import Tree, is_team
from dreams.engines.rules.notes.wording import one_line, sentences

LONGEST_SUMMARY = 160  # characters of a sentence that is put in the place of a summary


@dataclass(frozen=True, slots=True)
class Summary:
    """`text` is what it says, `raw` the lines that say it; `row` is None for a description."""

    path: str
    target: str
    text: str
    raw: str
    row: memdir.IndexRow | None = None


def summaries(tree: Tree) -> Iterator[Summary]:
    """The hooks of rows for one file each, and the descriptions of memories that may be changed."""
    for path in tree.indexes():
        for row in memdir.parse_index(tree.texts[path]).rows if not is_team(path) else ():
            if row.form == "link" and row.hook and len(row.targets) == 1:
                yield Summary(path, row.target, one_line(row.hook), row.raw, row)
    for path in tree.topics():
        document = tree.document(path)
        said = document.frontmatter.description if document.frontmatter else None
        if said:
            raw = next((line for line in document.head.splitlines() if line.startswith("description:")), "")
            yield Summary(path, path, one_line(said), raw)


def told_row(text: str) -> tuple[str, str]:
    """The target and the hook where `text` is a row as an index has it; nothing otherwise."""
    rows = memdir.parse_index(f"- {text}\n").rows if text.startswith("[") else ()
    return (rows[0].target, rows[0].hook) if len(rows) == 1 and len(rows[0].targets) == 1 else ("", "")


def with_summary(tree: Tree, summary: Summary, text: str) -> str | None:
    """The file with `text` in its place; None where that would break it."""
    if summary.row is not None:
        index = memdir.parse_index(tree.texts[summary.path])
        row = next((r for r in index.rows if r.line_no == summary.row.line_no and r.raw == summary.raw), None)
        return index.rewritten(row, hook=text).text if row else None
    try:
        made = memdir.with_field(tree.document(summary.path), "description", text)
    except memdir.MemoryEditError:
        return None
    return texts.decode(made.to_bytes())


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
