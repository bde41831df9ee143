"""Removes the statements that a person certainly asked to forget, and nothing else. Pure but for the recorder."""

import re
from collections.abc import Iterator, Sequence

from dreams.engines.rules.notes.bodies import REMARK, units, wholes
from dreams.engines.rules.notes.removing import fates, is_linked, remove, remove_sentence
from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, digest, lines_gone
from dreams.engines.rules.notes.wording import is_labelled, sentences
from dreams.engines.rules.steps.orphans import title_of
from dreams.engines.rules.user_statements.lessons import Lesson
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.requests import AWAY, Wish
from dreams.engines.rules.user_statements.speech import ASK, SOFT
from dreams.engines.types import Citation
from dreams.lib import memdir
from dreams.lib.files.text import quoted
from dreams.lib.prose.comparing import normalised
from dreams.lib.prose.statement_index import StatementIndex
from dreams.lib.prose.statement_pairs import PlacedText, topics
from dreams.lib.prose.statements import canonical
from dreams.lib.prose.values import WordsAndValues, is_camel, read

MOST_CANDIDATES = 3  # with more it is unclear which one is meant
MOST_FORGOTTEN = 8  # statements of one request; so few words do not mean more
_WHOLE = frozenset({"code", "address", "path", "number"})  # such a value alone identifies the fact
_NAMING = frozenset({"code", "address", "path", "identifier"})
_OF_THINGS = frozenset({"identifier", "name"})
ABBREVIATED = 3  # letters at most of a name like "IP", which names a kind and not a thing
MOST_SENTENCES = 2  # of a statement that is removed completely
LEAST_WORD = 0.5  # least weight of a word that may name a thing
LEAST_QUOTED = 2  # spaces; fewer words may be in a request by chance
NOTE = "You asked to forget it."
_HEAD = re.compile(
    rf"^{SOFT}{ASK}(?:(?:you can|you may|feel free to|just|kindly) )*(?:forget|(?:don'?t|do not|stop|no need to) remember(?:ing)?|{AWAY})[\s:,]+",
    re.IGNORECASE,
)
# "We can forget port 8080" may be about anything, so it is only asked about.
_MAY = re.compile(rf"\b(?:can|could|may|might|should)(?: \w+ly)? (?:forget|unlearn|{AWAY})\b", re.IGNORECASE)
# "Forget about the tests, let's do the docs" is about the current task.
_ONLY_NOW = re.compile(
    r"\bfor (?:now|the moment|today|this \w+)\b|,\s*(?:and\s+|but\s+)?(?:let'?s|do|focus|just|instead|go|start|first|try|use|we'?ll|i'?ll)\b",
    re.IGNORECASE,
)
ABOUT_NOTES = frozenset(
    map(
        canonical,
        "forget unremember obsolete delete remove drop scratch bit thing nothing nobody anybody stay apply want any note memory line entry fact keep safely anything everything tell say know remember like out apply long longer more thanks right wrong true".split(),  # noqa: SIM905 - a word list
    )
)


def forget(rec: Recorder, heard: Sequence[Heard], lessons: list[Lesson]) -> None:
    """Remove what was asked to be forgotten, and do not learn it from earlier prompts."""
    index: StatementIndex | None = None
    for each, wish in requests(heard):
        _unlearn(each, wish, lessons)
        if _MAY.search(wish.quote):
            continue
        index = index or StatementIndex({path: rec.tree.texts[path] for path in rec.tree.topics()})
        if done := _forget_titled(rec, each, wish) or _forget_values(rec, index, each, wish):
            rec.count("forgotten", done)
            index = None


def requests(heard: Sequence[Heard]) -> Iterator[tuple[Heard, Wish]]:
    """Each request to forget something, with its prompt."""
    return ((each, wish) for each in heard for wish in each.wishes if wish.handling == "forget")


def _unlearn(heard: Heard, wish: Wish, lessons: list[Lesson]) -> None:
    values, words = read(asked_text(wish)).anchors, wanted(asked_text(wish))
    at = heard.prompt.at

    def is_meant(lesson: Lesson) -> bool:
        later = any(c.at and at and c.at > at for c in lesson.citations)
        said = read(lesson.text)
        named = bool(values) and values <= said.anchors
        return not later and (named or bool(words and words <= said.terms.keys()))

    lessons[:] = [lesson for lesson in lessons if not is_meant(lesson)]


def asked_text(wish: Wish) -> str:
    """What a request is about, in its own words."""
    return wish.text or _HEAD.sub("", wish.quote.strip(), count=1)


def _forget_titled(rec: Recorder, heard: Heard, wish: Wish) -> bool:
    """Remove the memory whose full title is all that a request names, if it has only one fact; returns whether it did."""
    tree, text = rec.tree, asked_text(wish)
    told, words = f" {normalised(text)} ", wanted(text)
    titles = {path: normalised(title) for path in tree.topics() if (title := title_of(tree, path))}
    found = [
        path
        for path, title in titles.items()
        if " " in title and f" {title} " in told and words <= read(title).terms.keys() | {title}
    ]
    meant = found[0] if len(found) == 1 and not _ONLY_NOW.search(text) else ""
    return bool(
        meant
        and is_one_fact(tree, meant)
        and not is_linked(tree, meant)
        and remove_file(rec, meant, _reason(wish), heard.citation(wish.quote))
    )


def _forget_values(rec: Recorder, index: StatementIndex, heard: Heard, wish: Wish) -> int:
    """Remove the one fact whose value or statement a request has in full, in all its places; returns how many statements."""
    text = asked_text(wish)
    fact = [] if _ONLY_NOW.search(text) else quoted_fact(index, text) or named_fact(index, text)
    done = 0
    for each in sorted(fact, key=lambda s: (s.path, -s.first_line)):
        done += forget_statement(rec, each, heard, wish)
    return done


def quoted_fact(index: StatementIndex, text: str) -> list[PlacedText]:
    """The statements that a request quotes word for word, if they are one fact."""
    told = normalised(text)
    found = [
        each
        for each in index.statements
        if each.source == "body" and (own := normalised(each.text)) in told and own.count(" ") >= LEAST_QUOTED
    ]
    return found if len({normalised(each.text) for each in found}) == 1 else []


def told_anew(index: StatementIndex, text: str) -> Iterator[PlacedText]:
    """The statements that probably reword what a request quotes."""
    for fact in quoted_fact(index, text)[:1]:
        names = fact.reading.anchors
        for each in index.with_words(names) if any(map(index.is_rare, names)) else ():
            if each.reading.anchors <= names and index.pair(fact, each).found.relation == "same":
                yield each


def named_fact(index: StatementIndex, text: str) -> list[PlacedText]:
    """The statements of the only fact that has every value of a request; empty if there is none, or more than one."""
    found = candidates(index, text)
    if not 0 < len(found) <= MOST_FORGOTTEN or not all(_is_meant(index, each, text) for each in found):
        return []
    return found if all(_tell_one_thing(index, found[0], each) for each in found[1:]) else []


def _tell_one_thing(index: StatementIndex, one: PlacedText, other: PlacedText) -> bool:
    """Whether two places with the values of a request also have the same numbers, and a word besides their values in common."""
    numbers, words = zip(*map(_numbers_and_words, (one, other)), strict=True)
    alike = numbers[0] == numbers[1] and (words[0] & words[1] or words[0] == words[1])
    return bool(alike) and index.pair(one, other).found.relation == "same"


def _numbers_and_words(statement: PlacedText) -> tuple[set[str], set[str]]:
    """The numbers of a statement, and its words that are no part of a value and not what it counts."""
    values = statement.reading.values
    of_values = {word for value in values for word in (*read(value.key).terms, *value.sort)}
    return {value.key for value in values if value.is_measured}, wanted(statement.text) - of_values


def _is_meant(index: StatementIndex, statement: PlacedText, text: str) -> bool:
    """Whether a statement has every value of a request, and these identify it. A thing without a name needs all of its words:
    "Node 20 of the tracker" is not "Node 20 of the mixer". So does a fact that is told: "that Ada owns the mixer"."""
    asked, mine = read(text), statement.reading
    if not asked.anchors <= mine.keys or len(sentences(statement.text)) > MOST_SENTENCES:
        return False
    rare = [value for value in asked.values if index.is_rare(value.key)]
    whole = any(value.kind in _WHOLE for value in rare)
    written = [(value, text[value.start : value.end]) for value in rare]
    named = any(value.kind in _NAMING or " " in value.key or is_camel(said) for value, said in written)
    if named and not text.startswith("that ") and "except" not in text.split():
        behind = max(value.end for value in asked.values)  # "the port of X", no "port error"
        text = text[behind:].partition(";")[0]
    says_all = wanted(text) <= mine.terms.keys()
    return (whole or len(asked.anchors) > 1) and says_all and not _names_another(statement.text, asked)


def wanted(text: str) -> set[str]:
    """The words and values of a request that may name its object."""
    return {word for word, weight in read(text).terms.items() if weight >= LEAST_WORD} - ABOUT_NOTES


def candidates(index: StatementIndex, text: str) -> list[PlacedText]:
    """The statements with most of what a request names: rare values first, then rare words."""
    values = {key for key in read(text).anchors if index.is_rare(key)}
    shared: dict[PlacedText, tuple[int, int]] = {}
    for kind, keys in enumerate((values, wanted(text) - values)):
        for key in keys:
            for each in index.with_words([key]) if index.is_rare(key) else ():
                one, other = shared.get(each, (0, 0))
                shared[each] = (one + 1, other) if kind == 0 else (one, other + 1)
    most = max(shared.values(), default=(0, 0))
    enough = most[0] > 0 or most[1] > 1
    return [each for each, count in shared.items() if count == most] if enough else []


def about(index: StatementIndex, text: str) -> list[PlacedText]:
    """The statements with most of what a request names; if they are none or too many, those with all of it, also in their title."""
    found, words = candidates(index, text), wanted(text)
    near = [] if 0 < len(found) <= MOST_CANDIDATES else index.with_words(read(text).anchors or words)
    return [each for each in near if words <= each.reading.terms.keys() | topics(each)] or found


def _names_another(told: str, asked: WordsAndValues) -> bool:
    """Whether a statement also names another thing, which would be removed with it. If the request names no thing ("forget port
    41873"), the first name is its topic."""
    named = [value.key for value in read(told).values if value.kind in _OF_THINGS]
    things = {key for key in named if len(key) > ABBREVIATED} - asked.anchors
    return len(things) > (not any(value.kind in _OF_THINGS for value in asked.values))


def forget_statement(
    rec: Recorder, statement: PlacedText, heard: Heard, wish: Wish, *, asked: bool = False
) -> bool:
    """Remove one statement, or the complete file with its rows if it says little else.

    If `asked`, it may also be a numbered step or a line of a paragraph.
    """
    tree = rec.tree
    if statement.path not in tree.texts:
        return False
    if asked and _forget_sentence(rec, statement, heard, wish):
        return True
    if is_one_fact(tree, statement.path) and not is_linked(tree, statement.path):
        return remove_file(rec, statement.path, _reason(wish), heard.citation(wish.quote))
    document = tree.document(statement.path)
    labelled = (one for one in wholes(statement.path, document) if one.first_line == one.last_line)
    found = (*units(statement.path, document), *labelled)
    unit = next((each for each in found if each.text == statement.text), None)
    if unit is None and asked:
        unit = _line_of(tree, statement, wish)
    told = fates(unit, "stated", note=NOTE) if unit else ()
    cited = (heard.citation(wish.quote),)
    return unit is not None and remove(rec, unit, "prune", _reason(wish), told, cited)


def _forget_sentence(rec: Recorder, statement: PlacedText, heard: Heard, wish: Wish) -> bool:
    """Remove the only one of several sentences that has everything the request names; returns whether it did."""
    words, told = wanted(asked_text(wish)), sentences(statement.text)
    meant = [each for each in told if words <= read(each).terms.keys()]
    place, cited = (statement.path, statement.first_line), heard.citation(wish.quote)
    alone = len(meant) == 1 < len(told)
    return alone and remove_sentence(rec, place, meant[0], _reason(wish), NOTE, cited)


def _line_of(tree: Tree, statement: PlacedText, wish: Wish) -> PlacedText | None:
    """The lines of a statement, or the line of a paragraph that has what the request names."""
    items = memdir.sections(tree.document(statement.path).body, tree.document(statement.path).body_start_line)
    place = next((at for at, item in enumerate(items) if item.text == statement.raw), None)
    if place is None or len(memdir.with_children(items, place)) > 1:
        return None
    item, wanted = items[place], read(asked_text(wish)).anchors & statement.reading.anchors
    lines = [line.rstrip("\r") for line in item.text.rstrip("\n").split("\n")]
    meant = [at for at, line in enumerate(lines) if wanted and wanted <= read(line).anchors]
    if item.kind == "paragraph" and len(lines) > 1 and len(meant) == 1:
        if any(line.lstrip()[:1].islower() for line in lines[meant[0] : meant[0] + 2]):
            return None  # a neighbouring line continues it
        number = item.first_line + meant[0]
        return PlacedText(statement.path, "body", number, number, lines[meant[0]], lines[meant[0]])
    return statement._replace(first_line=item.first_line, last_line=item.last_line, raw=item.text)


def is_one_fact(tree: Tree, path: str) -> bool:
    """Whether a file has only one fact: a statement with labelled reasons or uses. Any other label is about a thing."""
    items = memdir.sections(tree.document(path).body)
    told = [item for item in items if item.kind not in {"blank", "heading", "rule"}]
    labelled = [item for item in told if is_labelled(item.text)]
    return len(told) - len(labelled) == 1 and all(REMARK.match(item.text) for item in labelled)


def remove_file(rec: Recorder, path: str, reason: str, cited: Citation, note: str = NOTE) -> bool:
    """Remove a memory, and the rows that only lead to it."""
    tree = rec.tree
    changes = [NewText(path, None, reason, lines_gone(tree.texts[path], "", note), (cited,))]
    for index_path in tree.indexes():
        index = memdir.parse_index(tree.texts[index_path])
        if rows := [row for row in index.rows_for(path) if len(row.targets) == 1]:
            after = index.without(rows).text
            changes.append(NewText(index_path, after, reason, lines_gone(index.text, after, note), (cited,)))
    return rec.operation("prune", changes, key=digest(path, tree.texts[path]))


def _reason(wish: Wish) -> str:
    return f"You asked: {quoted(wish.quote)}."
