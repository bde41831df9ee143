"""What sessions changed: a value told anew goes where the old one surely is, a statement put anew takes the old one's place.
Pure but for the recorder.

A change that was changed back leaves nothing. One that is spoken of again later, in words that are not understood, is left to a
question, and so is a statement that leans on a changed one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dreams.engines.rules.notes import places
from dreams.engines.rules.notes.tree import Recorder, Tree, is_index, is_log, is_team
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.rewriting import Rewording, reword
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.retractions import REVERTED, takes_back
from dreams.engines.rules.user_statements.stated_changes import Telling
from dreams.engines.rules.value_updates import Slot, changed_by, environments, names_its_day
from dreams.lib.prose import similarity
from dreams.lib.prose.pieces import keys_of, pieces
from dreams.lib.prose.statement_index import Statement, statements_of

MOST_TELLINGS = 500
LONGEST = 1_000  # characters of a sentence
SHORT = 8  # words of a remark that takes something back by its name alone
CHANGED = "You said that it has changed."


@dataclass(eq=False)
class Known:
    """A sentence of memory: as it was found, and as it is after all that was told so far."""

    statement: Statement
    found: str
    beside: frozenset[str]  # words of the headings and the file's name
    is_free: bool
    now: str = ""
    told: list[tuple[Heard, Telling]] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)  # (old, new), one for each telling


def update(rec: Recorder, heard: Sequence[Heard]) -> set[str]:
    """Bring the values that were told into memory; the statements that it says now, and as they were typed, so that none is
    learnt or put anew beside it."""
    told = [(each, telling) for each in heard for telling in each.tellings if not telling.bare][
        :MOST_TELLINGS
    ]
    if not told:
        return set()
    done: set[str] = set()
    known = list(sentences_of(rec.tree))
    having: dict[str, list[Known]] = defaultdict(list)
    for one in known:
        for key in keys_of(one.found):
            having[key].append(one)
    for each, telling in told:
        rec.report.checkpoint()
        keys = keys_of(f"{telling.core} {telling.old}")
        near = {id(one): one for key in keys for one in having.get(key, ())}
        if any(keys_of(telling.core) <= keys_of(one.now) for one in near.values()):
            # What still has the old value leans on it, or was left as it is before.
            done |= {telling.core, telling.quote}
        else:
            _tell(list(near.values()), each, telling)
    for group in _together(known):
        if _stands(group[0], heard) and _write(rec, group, known):
            rec.count("updated", 1)
            done |= {words for _, telling in group[0].told for words in (telling.core, telling.quote)}
    return done


def sentences_of(tree: Tree) -> Iterator[Known]:
    """Every sentence of memories, descriptions and index rows; logs aside. Pinned, shared and read-only ones are not free."""
    texts = {path: text for path, text in tree.texts.items() if not is_log(path)}
    for statement in statements_of(texts):
        path = statement.path
        named = "" if is_index(path) else path.rpartition("/")[2].removesuffix(".md")
        beside = places.words_of(named) | keys_of(". ".join(statement.headings))
        for text in sentences(statement.text):
            if len(text) <= LONGEST:
                yield Known(statement, text, beside, is_free(tree, path), text)


def is_free(tree: Tree, path: str) -> bool:
    """Whether a statement of the file may be put anew unasked."""
    return path in tree.indexes() and not is_team(path) if is_index(path) else tree.free(path)


def _tell(near: Sequence[Known], heard: Heard, telling: Telling) -> None:
    """Change the sentences that it surely speaks of, in mind; where it is not sure which one is meant, none."""
    found = [(one, slot) for one in near if (slot := _meant(one, telling))]
    for one, slot in _chosen(found, telling):
        one.values.append((one.now[slot.start : slot.end], slot.new))
        one.told.append((heard, telling))
        one.now = slot.filled(one.now)


def _meant(one: Known, telling: Telling) -> Slot | None:
    """What is below "Staging" holds there alone, and what is of a day was so on that day."""
    if names_its_day(one.now) or not environments(one.beside) <= environments(keys_of(telling.quote)):
        return None
    return changed_by(telling, one.now, one.beside)


def _chosen(found: list[tuple[Known, Slot]], telling: Telling) -> list[tuple[Known, Slot]]:
    """The plainest statement that is meant, with all that repeat it; nothing where two different ones could be meant."""
    bodies = [pair for pair in found if pair[0].statement.source == "body"]  # a summary never changes alone
    if not telling.about - keys_of(f"{telling.new or telling.core} {telling.old}"):
        least = 0
        best = bodies
    else:
        least = min((_besides(pair[0], telling) for pair in bodies), default=0)
        best = [pair for pair in bodies if _besides(pair[0], telling) == least]
    if not best or not all(pair[0].is_free for pair in best):
        return []
    first = best[0][0].now
    if not all(_says_the_same(first, pair[0].now) for pair in best):
        return []
    return [pair for pair in found if pair in best or _says_the_same(first, pair[0].now)]


def _besides(one: Known, telling: Telling) -> int:
    """How many words it has that the telling lacks."""
    return len(keys_of(one.now) - telling.about - keys_of(telling.old))


def _says_the_same(one: str, other: str) -> bool:
    return similarity.normalised(one) == similarity.normalised(other) or similarity.same(one, other).same


def _together(known: Iterable[Known]) -> list[list[Known]]:
    """Sentences that the same tellings changed are one operation."""
    groups: dict[tuple[int, ...], list[Known]] = {}
    for one in known:
        if one.now != one.found and one.is_free:
            groups.setdefault(tuple(id(telling) for _, telling in one.told), []).append(one)
    return list(groups.values())


def _stands(one: Known, heard: Sequence[Heard]) -> bool:
    """Whether nothing typed later speaks of it again as it was, or of a change that was taken back."""
    last, telling = one.told[-1]
    old, new = (keys_of(value) for value in one.values[-1])
    values = {key for pair in one.values for value in pair for key in keys_of(value)}
    subject = (telling.about & keys_of(one.found)) - values
    # What is said of another thing with a name of its own is not said of this one, whatever words they share.
    named = {piece.key for piece in pieces(telling.core) if piece.is_value} & subject
    for each in heard[heard.index(last) + 1 :]:
        words = keys_of(each.words)
        reverted = bool(REVERTED.search(each.words))
        if reverted and new <= words and len(words) <= SHORT and not all(map(str.isdigit, new)):
            return False
        if not named <= words or (subject and not subject & words):
            continue
        most = 2 * len(subject & words) >= len(subject)
        if (subject and old <= words) or (most and takes_back(each.words)):
            return False
        if reverted and (subject <= words or (new <= words and most)):
            return False
    return True


def _write(rec: Recorder, group: Sequence[Known], known: Sequence[Known]) -> bool:
    if any(before[1] != after[0] for one in group for before, after in pairwise(one.values)):
        return False  # two different values of one sentence were told of, and which is which is not kept
    said, telling = group[0].told[-1]
    wordings = [_wording(one.statement, one.found, one.now) for one in (*group, *_summaries(group, known))]
    cited = [c for one in group for each, told in one.told for c in each.citations(told.quote)]
    return reword(rec, wordings, said.reason(telling.quote), CHANGED, tuple(dict.fromkeys(cited)))


def _wording(statement: Statement, old: str, new: str) -> Rewording:
    return Rewording(statement, statement.text.replace(old, new, 1))


def _summaries(group: Sequence[Known], known: Sequence[Known]) -> Iterator[Known]:
    """The descriptions and rows that sum a changed file up, where they name the whole old value and the file no longer does."""
    for one in group:
        old, new = _whole(one.found, one.values[0][0]), _whole(one.now, one.values[-1][1])
        path = one.statement.path
        if not old or any(
            old in other.now
            for other in known
            if other.statement.path == path and other.statement.source == "body"
        ):
            continue
        for other in known:
            if (
                other.statement.target == path
                and other.is_free
                and other not in group
                and other.found.count(old) == 1
            ):
                other.now = other.found.replace(old, new)
                yield other


def _whole(text: str, value: str) -> str:
    """The value with the name before it ("Next.js 14"); empty where it is a number alone."""
    if not value[:1].isdigit():
        return value
    before = next((piece for piece in pieces(text) if piece.end == text.find(value) - 1), None)
    return f"{before.text} {value}" if before is not None and before.text[:1].isupper() else ""
