"""Questions about places that seem to say the same fact: merge or keep. PURE.

A merge keeps the statement that says all that the others do, in its place: never both wordings of one fact.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from dreams.engines.rules.notes.bodies import (
    BULLET,
    REMARK,
    is_alone,
    statements as stated,
    units,
    wholes,
    with_bullet,
    with_paragraph,
)
from dreams.engines.rules.notes.removing import fates, remove
from dreams.engines.rules.notes.tree import Recorder, Tree, from_memory, is_index
from dreams.engines.rules.notes.wording import begins_with_a_label
from dreams.engines.rules.questions.families import Inputs, leaves_entries
from dreams.engines.rules.steps import files, orphans
from dreams.engines.types import KEEP, Citation, Fate, Option, Place, Question
from dreams.lib import memdir
from dreams.lib.files.text import decode, joined, one_line, quoted
from dreams.lib.prose.comparing import MOST_NEW, compare, same as is_same, says_more
from dreams.lib.prose.statement_index import FEW, StatementIndex
from dreams.lib.prose.statement_pairs import PlacedText, places_of
from dreams.lib.prose.values import read, shared_values

MOST_NAMED = 5  # files in a sentence
LEAST, RANGE = 0.35, 0.4  # usefulness for the least similar; how much more for the most similar
MOST_WORDS = 12  # of a subject
MANY = 3  # facts in both of two files, which become one question; chosen
# Share of a statement's weight that may be paraphrase if the values are the same.
MOST_REWORDED = 0.7
KEPT_WHOLE = frozenset({"code", "table", "comment"})  # a file with these is not merged into another


def same(asking: Inputs, index: StatementIndex, changing: Collection[PlacedText]) -> Iterator[Question]:
    """One question per group of places that seem to say the same fact, without `changing`, which other questions cover."""
    tree, asked = asking.tree_before, set[str]()
    first = {each.path: each for each in reversed(index.statements) if each.source == "body"}
    for group in files.same_bodies(tree, [path for path in tree.memories() if tree.writable(path)]):
        keep, *rest = files.by_worth(tree, group)
        told = [first.get(path) for path in (keep, *rest)]
        why = next((said for path in rest if (said := files.refusal(tree, keep, path))), "")
        if why and all(told) and not files.are_apart(tree, group):
            asked |= set(group)
            statements = [each for each in told if each]
            yield from _question(asking, statements, f"The text of these files is the same, but {why}.", 1.0)
    fit = {path for path in tree.indexes() if not orphans.loaded(tree.texts[path], asking.job.config).cut_by}
    groups: list[tuple[list[PlacedText], float]] = []
    for pairs in index.possible_duplicates():
        statements = [
            each for each in places_of(pairs) if each.path not in asked and tree.writable(each.path)
        ]
        # A completely loaded index repeats its files on purpose.
        statements = [each for each in statements if each.path not in fit] or statements
        # Without files that this dream merges anyway.
        statements = [each for each in statements if not asking.is_touched(place_of(each))]
        if len(statements) > 1 and not any(each in changing for each in statements):
            groups.append((statements, pairs[0].found.score))
    of_files = defaultdict[tuple[str, ...], list[list[PlacedText]]](list)
    for places, _ in groups:
        others = of_files[_paths(places)]
        if all({*places}.isdisjoint(each) for each in others):
            others.append(places)
    for places, score in groups:
        paths = _paths(places)
        together = of_files[paths] if len(paths) == len(set(paths)) == 2 else []
        if len(together) < MANY:
            yield from _question(asking, places, _why(places), score)
        elif places is together[0]:
            yield from _of_two_files(asking, together, score)


def _paths(places: Sequence[PlacedText]) -> tuple[str, ...]:
    """The file of each place, in order; several places of one file are as many."""
    return tuple(sorted(each.path for each in places))


def _of_two_files(asking: Inputs, groups: Sequence[list[PlacedText]], score: float) -> Iterator[Question]:
    """Facts that two files share, as one question if there are several."""
    keep, drop = (each.path for each in _by_fitness(asking.tree_before, groups[0]))
    pairs = [sorted(group, key=lambda each: each.path == drop) for group in groups]

    def merge_each(rec: Recorder) -> None:
        for one, other in pairs:
            merge(rec, one, [other], asking.job.config.row_max)

    option = asking.draftsman.option("merge", f"Merge into {keep}", merge_each)
    left = _left(option, [other for _, other in pairs])
    told = [each for pair in pairs if pair[1] not in left for each in pair]
    if len(told) // 2 >= MANY:  # the answer decides about the others too
        why = f"{keep} and {drop} seem to say {len(told) // 2} things alike."
        yield _asked(f"{keep} {drop}", why, told, option, score)
        return
    for pair in pairs:
        yield from _question(asking, pair, _why(pair), score)


def _why(statements: Sequence[PlacedText]) -> str:
    paths = [*dict.fromkeys(each.path for each in statements)]
    named = paths if len(paths) <= MOST_NAMED else [*paths[:MOST_NAMED], f"{len(paths) - MOST_NAMED} more"]
    return f"{joined(named)} seem to say the same thing."


def subject_of(statements: Sequence[PlacedText]) -> str:
    """Their subject: the words that all have, or those of the first, and the values of each."""
    words = [each.reading.terms.keys() for each in statements]
    common = set(words[0]).intersection(*words[1:]) or set(words[0])
    values = {value.key for each in statements for value in each.reading.values}
    return " ".join([*sorted(common)[:MOST_WORDS], "|", *sorted(values)[:MOST_WORDS]])


def place_of(statement: PlacedText) -> Place:
    return Place(statement.path, statement.first_line, statement.text)


def cited(statement: PlacedText) -> Citation:
    return from_memory(statement.path, statement.first_line, statement.text)


def _question(asking: Inputs, statements: list[PlacedText], why: str, score: float) -> Iterator[Question]:
    long = [each for each in statements if asking.counts.get(each.path, 0) > FEW]
    are_long = len(long) == len(statements)
    listed = [each for each in long if are_long or begins_with_a_label(each.text)]
    for keep in _by_fitness(asking.tree_before, statements):
        rest = [each for each in statements if each != keep]
        torn = [each for each in rest if each in listed and not is_same(each.text, keep.text)]
        if (are_long and len(statements) > 2) or leaves_entries(asking.askable, torn):
            return  # three long files with one line: of a form, or of records
        given = (keep, rest, asking.job.config.row_max)
        option = asking.draftsman.option("merge", f"Merge into {keep.path}", merge, *given)
        left = _left(option, rest)
        if len(left) < len(rest):
            break
    else:
        return
    if left:  # something depends on them
        said = [each for each in statements if each not in left]
        yield from _question(asking, said, _why(said) if why == _why(statements) else why, score)
        return
    yield _asked(subject_of(statements), why, (keep, *rest), option, score)


def _asked(subject: str, why: str, told: Sequence[PlacedText], option: Option, score: float) -> Question:
    places, citations = tuple(map(place_of, told)), tuple(map(cited, told))
    weight = LEAST + RANGE * min(1.0, score)
    return Question("same", subject, why, places, (option, KEEP), citations, weight)


def _left(option: Option, rest: Sequence[PlacedText]) -> list[PlacedText]:
    """What a merge could not remove."""
    after = {edit.path: edit.after for edit in option.edits}
    before = {edit.path: edit.before or "" for edit in reversed(option.edits)}
    return [
        each
        for each in rest
        if each.path not in after
        or one_line(after[each.path] or "").count(each.text) >= one_line(before[each.path]).count(each.text)
    ]


def _by_fitness(tree: Tree, statements: Sequence[PlacedText]) -> list[PlacedText]:
    """Best to keep first: not the index, a file with only this fact before a list, a rule's file, then by `files.by_worth`."""
    order = files.by_worth(tree, {each.path for each in statements})

    def rank(each: PlacedText) -> tuple[bool, bool, bool, int, float, int]:
        listed = not is_index(each.path) and not _is_all_of(tree, each)
        of_file = is_index(each.path), listed, not tree.is_rule(each.path), order.index(each.path)
        return *of_file, -each.reading.weight, each.first_line

    return sorted(statements, key=rank)


def merge(rec: Recorder, keep: PlacedText, rest: Sequence[PlacedText], row_max: int) -> None:
    """Merges `rest` into `keep`'s file: whole files if they are short, else only the statement."""
    for each in sorted(rest, key=lambda s: (s.path, -s.first_line)):
        if each.path not in rec.tree.texts or keep.path not in rec.tree.texts:
            continue
        if each.path != keep.path and _is_all_of(rec.tree, each):
            _fold(rec, keep, each.path, row_max)
        else:
            _remove_line(rec, keep, each)


def _is_all_of(tree: Tree, statement: PlacedText) -> bool:
    """Whether its file says nothing else: only remarks without values, no code and no table."""
    if is_index(statement.path):
        return False
    items = [item for item in memdir.sections(tree.document(statement.path).body) if item.kind != "blank"]
    told = [one_line(item.content or item.text) for item in items if item.kind in {"paragraph", "bullet"}]
    others = [text for text in told if text != statement.text]
    own = any(read(text).anchors - statement.reading.anchors for text in others)
    return len(others) < len(told) <= FEW and not own and KEPT_WHOLE.isdisjoint(item.kind for item in items)


def _fold(rec: Recorder, keep: PlacedText, drop: str, row_max: int) -> None:
    tree = rec.tree
    document = tree.document(keep.path)
    known = decode(document.to_bytes())
    told: list[Fate] = []
    for text, lines, is_label in _said(tree, drop):
        target = keep.text
        alike = len(shared_values(read(text), keep.reading)) > 1
        if says_more(text, known, 1.0 if is_label else MOST_REWORDED if alike else MOST_NEW):
            if not is_label and _is_told_in(document, text):
                return
            bullet = with_bullet(document, text) if BULLET.match(lines[0]) and not is_label else None
            added = _described(document, text) if is_label else bullet or with_paragraph(document, text)
            if added is None:
                return
            document, known, target = added, f"{known}. {text}", text
        told += [Fate(line, "merged-into", keep.path, target) for line in lines]
    files.merge_into(rec, keep.path, drop, row_max, decode(document.to_bytes()), told)


def _described(document: memdir.Document, text: str) -> memdir.Document | None:
    """The file with this appended to its description; None if its frontmatter cannot be changed."""
    front = document.frontmatter
    old = one_line(front.description or "").rstrip(". ") if front else ""
    try:
        return memdir.with_description(document, f"{old}. {text}" if old else text, create=True)
    except memdir.MemoryEditError:
        return None


def _is_told_in(document: memdir.Document, text: str) -> bool:
    """Whether the file tells it in other words, and would have both."""
    return any(compare(text, told).relation == "same" for _, told in stated(document))


def _said(tree: Tree, path: str) -> Iterator[tuple[str, list[str], bool]]:
    """The statements of a file's body and its description (as a label), with their lines."""
    document = tree.document(path)
    for item in memdir.sections(document.body):
        if item.kind in {"paragraph", "bullet"}:
            lines = [line.rstrip("\r") for line in item.text.split("\n") if line]
            yield one_line(item.content or item.text), lines, False
    front = document.frontmatter
    if front and front.description:
        lines = [line for line in document.head.splitlines() if line.startswith("description:")]
        yield one_line(front.description), lines or [front.description], True


def _remove_line(rec: Recorder, keep: PlacedText, drop: PlacedText) -> None:
    """Remove a statement that says no more than the kept one's file, with its remarks: nothing is added there."""
    unit = _unit_of(rec.tree, drop)
    if unit is None or is_alone(rec.tree.document(drop.path), unit):
        return  # its heading would be left with nothing below it
    reason = f"The same statement is in {keep.path}: {quoted(keep.text)}."
    citations = (cited(keep), cited(drop))
    known = rec.tree.texts[keep.path]
    if says_more(drop.text, keep.text, MOST_REWORDED) and says_more(drop.text, known):
        return  # one file would have both wordings
    rest = unit.raw.removeprefix(drop.raw.rstrip("\r\n")).split("\n")
    if any(says_more(one_line(BULLET.sub("", line)), known) for line in rest if line.strip()):
        return  # its remarks
    told = fates(unit, "merged-into", keep.path, keep.text)
    remove(rec, unit, "merge", reason, told, citations)


def _unit_of(tree: Tree, statement: PlacedText) -> PlacedText | None:
    """The statement's lines including its remarks; None if another statement depends on it."""
    document = tree.document(statement.path)
    found = (*units(statement.path, document), *wholes(statement.path, document))
    ends = REMARK.match(statement.raw)
    return next((each for each in found if each.text == statement.text and not ends), None)
