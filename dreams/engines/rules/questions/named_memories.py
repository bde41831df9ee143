"""What memories say of each other by name: one says that another is out of date, or links to one that is not there. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from dreams.engines.rules.notes.tree import (
    Change,
    Recorder,
    Tree,
    digest,
    from_memory,
    is_daily,
    is_index,
    is_log,
)
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.units import KEEP
from dreams.engines.rules.steps.links import Names, dead_links
from dreams.engines.types import Fate, Place, Question
from dreams.lib import memdir
from dreams.lib.files.text import one_line, plural, quoted
from dreams.lib.prose.statement_index import Statement

MOST_LINKS = 12  # of one question
OUT_OF_DATE, DEAD_LINKS = 0.65, 0.15
_MARK = "\0"  # stands for the name of the other memory
# "supersedes X", "corrects X": X is the older one. "superseded by X" is said by the older one itself, which is no news.
_ACTIVE = re.compile(
    rf"\b(?:(?:supersed|replac|overrid|obsolet)(?:es|ed|ing)|correct(?:s|ed|ing))\b(?! by\b)[^.;]{{0,80}}?{_MARK}",
    re.I,
)
_PASSIVE = re.compile(
    rf"{_MARK}[^.;]{{0,40}}?\b(?:is|are|was|were|been|now)\b(?: \w+)?? (?:superseded|obsolete|outdated|out of date|stale|wrong)\b",
    re.I,
)


def about_named_memories(context: Asking) -> Iterator[Question]:
    """Memories that another one calls out of date, and the links that lead nowhere, all in one question."""
    names = Names(context.tree_before)
    yield from _called_out_of_date(context, names)
    yield from _dead(context, names)


def _called_out_of_date(context: Asking, names: Names) -> Iterator[Question]:
    tree = context.tree_before
    asked: set[str] = set()
    for unit in context.statements:
        context.report.checkpoint()
        if unit.source == "description" or is_log(unit.path) or is_daily(unit.path):
            continue
        for sentence in sentences(one_line(unit.text)):
            for old in _older(names, sentence):
                if old in asked or old == unit.path or is_index(old) or not tree.writable(old):
                    continue
                if names.is_named(unit.path, tree.texts[old]):
                    continue  # it says so itself
                asked.add(old)
                yield from _history(context, old, unit, sentence)


def _older(names: Names, sentence: str) -> Iterator[str]:
    """The memories that a sentence calls out of date."""
    for start, end, path in names.mentions(sentence):
        marked = sentence[:start] + _MARK + sentence[end:]
        if _ACTIVE.search(marked) or _PASSIVE.search(marked):
            yield path


def _history(context: Asking, old: str, unit: Statement, sentence: str) -> Iterator[Question]:
    work = partial(_put_above, path=old, unit=unit, sentence=sentence)
    option = context.draftsman.option("history", f"Say so at the top of {old}", work)
    if option is None:
        return
    tree = context.tree_before
    yield Question(
        "changed",
        f"{old} {unit.path}",
        f"{unit.path} says that it replaces or corrects {old}, and {old} does not say so.",
        (
            Place(old, tree.document(old).body_start_line, _told(tree, old)),
            Place(unit.path, unit.first_line, unit.text),
        ),
        (option, KEEP),
        (from_memory(unit.path, unit.first_line, unit.text),),
        weight=OUT_OF_DATE,
    )


def _told(tree: Tree, path: str) -> str:
    """What a memory is about: its description, else its first line."""
    front = tree.document(path).frontmatter
    body = (line.strip() for line in tree.document(path).body.split("\n"))
    return one_line((front.description or "") if front else "") or next(filter(None, body), path)


def _put_above(rec: Recorder, path: str, unit: Statement, sentence: str) -> None:
    document = rec.tree.document(path)
    said = f"> See [[{unit.path.removesuffix('.md')}]]: {sentence}\n\n"
    lead = document.body[: len(document.body) - len(document.body.lstrip("\r\n"))]
    after = memdir.with_body(document, lead + said + document.body[len(lead) :]).text
    reason = f"{unit.path} says: {quoted(sentence)}."
    cited = (from_memory(unit.path, unit.first_line, unit.text),)
    rec.operation("update", [Change(path, after, reason, (), cited)], key=digest(path, unit.text))


def _dead(context: Asking, names: Names) -> Iterator[Question]:
    """One question for all of them: each is a small thing, and a list of them is quickly read."""
    tree = context.tree_before
    found = [
        (path, text.count("\n", 0, link.start) + 1, link)
        for path in tree.topics()
        for text in (tree.texts[path],)
        for link in dead_links(names, text)
        if " " not in link.target and names.without_type(link.target) is None
    ][:MOST_LINKS]
    option = context.draftsman.option(
        "remove", "Keep the words, without the links", partial(_unlink, found=found)
    )
    if not found or option is None:
        return
    named = sorted({link.target for _, _, link in found})
    yield Question(
        "gone",
        " ".join(named)[:300],
        f"{plural(len(named), 'link')} to memories that are not there: {', '.join(named[:3])}"
        f"{' …' if len(named) > 3 else ''}. They may be meant for later.",
        tuple(Place(path, line, tree.texts[path].split("\n")[line - 1].strip()) for path, line, _ in found),
        (option, KEEP),
        weight=DEAD_LINKS,
    )


def _unlink(rec: Recorder, found: Sequence[tuple[str, int, memdir.WikiLink]]) -> None:
    for path in dict.fromkeys(path for path, _, _ in found):
        before = text = rec.tree.texts[path]
        for _, _, link in sorted(
            (each for each in found if each[0] == path), key=lambda each: -each[2].start
        ):
            text = text[: link.start] + (link.label or link.target) + text[link.end :]
        lines = zip(before.split("\n"), text.split("\n"), strict=True)
        changed = [
            (number, old.rstrip("\r"), new) for number, (old, new) in enumerate(lines, 1) if old != new
        ]
        told = tuple(Fate(old, "kept-in", path, new.strip()) for _, old, new in changed)
        cited = tuple(from_memory(path, number, old) for number, old, _ in changed[:3])
        rec.operation("edit", [Change(path, text, "The link led to no memory.", told, cited)])
