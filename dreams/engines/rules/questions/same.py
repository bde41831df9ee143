"""Places that seem to tell one fact: merge them into one, or keep them. PURE.

The merge keeps one statement, and whatever only the others say: a value, or words that it has nothing for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dreams import memdir
from dreams.engines.rules.notes.bodies import Unit, units, with_bullet, with_paragraph
from dreams.engines.rules.notes.removing import fates, remove
from dreams.engines.rules.notes.tree import Recorder, Tree, from_memory, is_index
from dreams.engines.rules.notes.wording import one_line
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.steps import files
from dreams.engines.types import Citation, Fate, Option, Place, Question
from dreams.lib.prose.comparing import says_more
from dreams.lib.prose.statement_index import FEW, Statement, StatementIndex, places_of
from dreams.text import decode, quoted

LEAST, RANGE = 0.35, 0.4  # an answer to the least and to the most alike helps so much
MOST_WORDS = 12  # of a subject
KEPT_WHOLE = frozenset({"code", "table", "comment"})  # a file with these is not folded into another


def same(asking: Asking, index: StatementIndex) -> Iterator[Question]:
    """One question for each group of places that seem to tell one fact."""
    tree, asked = asking.tree_before, set[str]()
    for group in files.same_bodies(tree, [path for path in tree.memories() if tree.writable(path)]):
        keep, *rest = files.by_worth(tree, group)
        told = [_first(index, path) for path in (keep, *rest)]
        why = next((said for path in rest if (said := files.refusal(tree, keep, path))), "")
        if why and all(told) and not files.are_apart(tree, group):
            asked |= set(group)
            statements = [each for each in told if each]
            yield from _question(asking, statements, f"The text of these files is the same, but {why}.", 1.0)
    for pairs in index.possible_duplicates():
        statements = [
            each for each in places_of(pairs) if each.path not in asked and tree.writable(each.path)
        ]
        # What this dream merges for certain needs no answer; the others of its group do.
        statements = [each for each in statements if not asking.is_touched(place_of(each))]
        if len(statements) > 1:
            yield from _question(asking, statements, _why(statements), pairs[0].found.score)


def _first(index: StatementIndex, path: str) -> Statement | None:
    return next((each for each in index.statements if each.path == path and each.source == "body"), None)


def _why(statements: Sequence[Statement]) -> str:
    number = {2: "Two", 3: "Three", 4: "Four", 5: "Five"}[len(statements)]
    shared = frozenset[str].intersection(*(each.reading.anchors for each in statements))
    named = " and ".join(sorted(shared, key=lambda key: (-len(key), key))[:2])
    return f"{number} places seem to say the same thing{f' about {named}' if named else ''}."


def subject_of(statements: Sequence[Statement]) -> str:
    """What they are about: the words and values that all have, and the rare ones of each."""
    words = [each.reading.terms.keys() for each in statements]
    common = set(words[0]).intersection(*words[1:]) or set(words[0])
    values = {value.key for each in statements for value in each.reading.values}
    return " ".join([*sorted(common)[:MOST_WORDS], "|", *sorted(values)[:MOST_WORDS]])


def place_of(statement: Statement, note: str = "") -> Place:
    return Place(statement.path, statement.first_line, statement.text, note=note)


def cited(statement: Statement) -> Citation:
    return from_memory(statement.path, statement.first_line, statement.text)


def _question(asking: Asking, statements: list[Statement], why: str, score: float) -> Iterator[Question]:
    tree = asking.tree_before
    keep = _keeper(tree, statements)
    rest = [each for each in statements if each != keep]
    option = asking.draftsman.option(
        "merge", f"Merge into {keep.path}", lambda rec: merge(rec, keep, rest, asking.job.config.row_max)
    )
    if option is None or {edit.path for edit in option.edits if edit.after is None} == {keep.path}:
        return
    places = tuple(place_of(each) for each in (keep, *rest))
    keeping = Option("keep", "Keep them as they are")
    weight = LEAST + RANGE * min(1.0, score)
    citations = tuple(cited(each) for each in (keep, *rest))
    yield Question("same", subject_of(statements), why, places, (option, keeping), citations, weight)


def _keeper(tree: Tree, statements: Sequence[Statement]) -> Statement:
    """A memory rather than the index, then the best file by `files.by_worth`, then the statement that says most."""
    order = files.by_worth(tree, {each.path for each in statements})
    ranked = sorted(
        statements, key=lambda s: (is_index(s.path), order.index(s.path), -s.reading.weight, s.first_line)
    )
    return ranked[0]


def merge(rec: Recorder, keep: Statement, rest: Sequence[Statement], row_max: int) -> None:
    """Everything of `rest` goes into `keep`'s file: whole files of few statements, else the statement alone."""
    for each in sorted(rest, key=lambda s: (s.path, -s.first_line)):
        if each.path not in rec.tree.texts or keep.path not in rec.tree.texts:
            continue
        if each.path != keep.path and _tells_little(rec.tree, each.path):
            _fold(rec, keep, each.path, row_max)
        else:
            _remove_line(rec, keep, each)


def _tells_little(tree: Tree, path: str) -> bool:
    """Whether a file is one fact, of text alone."""
    if is_index(path):
        return False
    items = [item.kind for item in memdir.sections(tree.document(path).body)]
    told = sum(kind in {"paragraph", "bullet"} for kind in items)
    return told <= FEW and KEPT_WHOLE.isdisjoint(items)


def _fold(rec: Recorder, keep: Statement, drop: str, row_max: int) -> None:
    tree = rec.tree
    document = tree.document(keep.path)
    known = _plain(decode(document.to_bytes()))
    told: list[Fate] = []
    for text, lines in _said(tree, drop):
        if says_more(text, known):
            added = with_bullet(document, text) if lines[0].lstrip().startswith(("-", "*", "+")) else None
            added = added or with_paragraph(document, text)
            if added is None:
                return
            document, known = added, f"{known}. {text}"
            told += [Fate(line, "merged-into", keep.path, text) for line in lines]
        else:
            told += [Fate(line, "merged-into", keep.path, keep.text) for line in lines]
    files.fold(rec, keep.path, drop, row_max, decode(document.to_bytes()), told)


def _said(tree: Tree, path: str) -> Iterator[tuple[str, list[str]]]:
    """What a file says, each with its lines: the statements of its body, and its description."""
    document = tree.document(path)
    for item in memdir.sections(document.body):
        if item.kind in {"paragraph", "bullet"}:
            yield (
                one_line(item.content or item.text),
                [line.rstrip("\r") for line in item.text.split("\n") if line],
            )
    front = document.frontmatter
    if front and front.description:
        lines = [line for line in document.head.splitlines() if line.startswith("description:")]
        yield one_line(front.description), lines or [front.description]


def _plain(text: str) -> str:
    return text.replace("_", " ")


def _remove_line(rec: Recorder, keep: Statement, drop: Statement) -> None:
    """Take a statement out where the kept one says it all; what it says besides stays beside the kept one."""
    unit = _unit_of(rec.tree, drop)
    if unit is None:
        return
    if says_more(drop.text, keep.text):
        document = rec.tree.document(keep.path)
        known = _plain(decode(document.to_bytes()))
        if keep.path == drop.path or says_more(drop.text, known):
            return  # it says more than is known: nothing would be gained by moving it
    told = fates(unit, "merged-into", keep.path, keep.text)
    reason = f"The same is in {keep.path}: {quoted(keep.text)}."
    remove(rec, unit, "merge", reason, told, (cited(keep), cited(drop)))


def _unit_of(tree: Tree, statement: Statement) -> Unit | None:
    """The statement as lines that may be taken out; None where something leans on it."""
    found = units(statement.path, tree.document(statement.path))
    return next((each for each in found if each.text == statement.text), None)
