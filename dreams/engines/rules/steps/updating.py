"""What a session changed: the value in the statement that surely speaks of it, where it still stands. Pure but for the recorder.

A change that was changed back leaves nothing; one that is spoken of again later, in words that are not understood, is left
to a question, and so is a statement that leans on a changed one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dreams import memdir
from dreams.engines.rules.notes import spots as places_of
from dreams.engines.rules.notes.spots import Spot
from dreams.engines.rules.notes.tree import Change, Recorder, digest, is_index
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.retractions import REVERTED, takes_back
from dreams.engines.rules.user_statements.stated_changes import Telling
from dreams.engines.rules.values.asof import matched_dated, names_its_day
from dreams.engines.rules.values.matching import holds_at, matched
from dreams.engines.rules.values.retyping import retyped
from dreams.engines.rules.values.slots import Slot
from dreams.engines.rules.values.sole import sole
from dreams.engines.rules.values.spans import has, whole_value
from dreams.engines.types import Citation, Fate
from dreams.language import similarity
from dreams.language.pieces import keys_of, pairs_of, pieces

MOST_TELLINGS = 500
SHORT = 8  # words of a remark that takes something back by its name alone


@dataclass(eq=False)
class _Pending:
    """A sentence on its way: as it stood, as it stands after all that was told so far, and what was told."""

    spot: Spot
    text: str
    told: list[tuple[Heard, Telling]] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)  # (old value, new value)


def update(rec: Recorder, heard: Sequence[Heard]) -> set[str]:
    """Bring what was told into memory; the statements that it says now, so that none is learnt beside it."""
    told = [(each, telling) for each in heard for telling in each.tellings][:MOST_TELLINGS]
    if not told:
        return set()
    pending = [_Pending(spot, spot.text) for spot in places_of.spots(rec.tree)]
    having = _Having(pending)
    for each, telling in told:
        rec.report.checkpoint()
        _tell(pending, having, each, telling)
    done: set[str] = set()
    for group in _together([p for p in pending if p.steps]):
        if _stands(group, heard) and _write(rec, group, pending):
            rec.count("updated", 1)
            done |= {telling.core for _, telling in group[0].told}
    return done


class _Having:
    """Sentences by their words, so that each telling is held against few of them."""

    def __init__(self, pending: Sequence[_Pending]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, one in enumerate(pending):
            for key in keys_of(one.spot.text):
                self._places.setdefault(key, []).append(place)

    def near(self, telling: Telling) -> list[int]:
        keys = telling.about | keys_of(telling.core) | keys_of(telling.old)
        return sorted({place for key in keys for place in self._places.get(key, ())})


def _tell(pending: Sequence[_Pending], having: _Having, heard: Heard, telling: Telling) -> None:
    """Change the sentences that it surely speaks of, in mind; where it is not sure which one is meant, none."""
    near = [pending[place] for place in having.near(telling)]
    if telling.asked and any(retyped(one.text, telling.core) for one in near):
        return  # the whole statement is put anew, not one value of it
    found = [(one, slot) for one in near if (slot := _meant(telling, one, heard))]
    found = found or _sole(telling, near)
    chosen = _chosen(found, telling)
    if chosen and any(_says_already(telling, one, chosen[0]) for one in near):
        return  # what still has the old value leans on it, or was left as it is before
    for one, slot in chosen:
        old = one.text[slot.start : slot.end]
        one.steps.append((old, slot.new))
        one.told.append((heard, telling))
        one.text = slot.filled(one.text)


def _meant(telling: Telling, one: _Pending, heard: Heard) -> Slot | None:
    if names_its_day(one.text):
        said = heard.prompt.at.date() if heard.prompt.at else None
        return matched_dated(telling, one.text, one.spot.place, said)
    return matched(telling, one.text, one.spot.place)


def _sole(telling: Telling, near: Sequence[_Pending]) -> list[tuple[_Pending, Slot]]:
    """What few words can only mean; a statement of a day is left, for its day would no longer be true."""
    found = sole(telling, [one.text for one in near])
    meant = [(near[place], slot) for place, slot in found]
    sure = all(holds_at(telling, one.spot.place) and not names_its_day(one.text) for one, _ in meant)
    return meant if sure else []


def _says_already(telling: Telling, one: _Pending, chosen: tuple[_Pending, Slot]) -> bool:
    """Whether another statement about the same thing has the new value, as it does when this was told before."""
    changed, slot = chosen
    if one is changed or not has(one.text, slot.new) or has(one.text, changed.text[slot.start : slot.end]):
        return False
    values = keys_of(slot.new) | keys_of(changed.text[slot.start : slot.end])
    subject = telling.about & keys_of(changed.text) - values
    named = {piece.key for piece in pieces(telling.core) if piece.is_value} & subject
    if named:
        return named <= keys_of(one.text) | one.spot.place
    both = pairs_of(pieces(telling.core)) & pairs_of(pieces(one.text))
    return any(set(pair) <= subject for pair in both)


def _chosen(found: list[tuple[_Pending, Slot]], telling: Telling) -> list[tuple[_Pending, Slot]]:
    """The one statement meant with all that repeat it; nothing where two different ones could be meant."""
    bodies = [pair for pair in found if pair[0].spot.kind == "body"]  # a summary never changes alone
    if not telling.about - keys_of(telling.new or telling.core) - keys_of(telling.old):
        bodies = bodies if all(_says_the_same(bodies[0][0].text, pair[0].text) for pair in bodies) else []
    least = min((_besides(pair[0], telling) for pair in bodies), default=0)
    best = [pair for pair in bodies if _besides(pair[0], telling) == least]
    if not best:
        return []
    first = best[0][0].text
    if not all(_says_the_same(first, pair[0].text) for pair in best[1:]):
        return []
    same = [pair for pair in found if pair in best or _says_the_same(first, pair[0].text)]
    return same if all(pair[0].spot.free for pair in best) else []


def _besides(one: _Pending, telling: Telling) -> int:
    """How many words it has that the telling lacks: what was told of is the plainest statement of it."""
    return len(keys_of(one.text) - telling.about - keys_of(telling.old))


def _says_the_same(one: str, other: str) -> bool:
    return similarity.normalised(one) == similarity.normalised(other) or similarity.same(one, other).same


def _together(changed: Iterable[_Pending]) -> list[list[_Pending]]:
    """Sentences that the same tellings changed are one operation."""
    groups: dict[tuple[int, ...], list[_Pending]] = {}
    for one in changed:
        if one.text != one.spot.text:
            groups.setdefault(tuple(id(telling) for _, telling in one.told), []).append(one)
    return list(groups.values())


def _stands(group: Sequence[_Pending], heard: Sequence[Heard]) -> bool:
    """Whether nothing typed later speaks of it again as it was, or of a change that was taken back."""
    last, telling = group[0].told[-1]
    old, new = (keys_of(value) for value in group[0].steps[-1])
    subject = _subject(telling, group[0])
    # What is said of another thing with a name of its own is not said of this one, whatever words they share.
    named = {piece.key for piece in pieces(telling.core) if piece.is_value} & subject
    for each in heard[heard.index(last) + 1 :]:
        text = each.words
        words = keys_of(text)
        reverted = bool(REVERTED.search(text))
        if reverted and new <= words and len(words) <= SHORT and not all(map(str.isdigit, new)):
            return False
        if not named <= words or (subject and not subject & words):
            continue
        most = 2 * len(subject & words) >= len(subject)
        if (subject and old <= words) or (most and takes_back(text)):
            return False
        if reverted and (subject <= words or (new <= words and most)):
            return False
    return True


def _subject(telling: Telling, one: _Pending) -> frozenset[str]:
    """What both speak of, without the values."""
    values = {key for step in one.steps for value in step for key in keys_of(value)}
    return (telling.about & keys_of(one.spot.text)) - values


def _write(rec: Recorder, group: Sequence[_Pending], pending: Sequence[_Pending]) -> bool:
    steps = [(one.spot, one.steps[0][0], one.steps[-1][1]) for one in group]
    if any(_jumps(one) for one in group):
        return False
    changes: list[Change] = []
    texts: dict[str, str] = {}
    cited = _cited(group)
    said, telling = group[0].told[-1]
    reason = said.reason(telling.quote)
    summaries = _summaries(group, pending)
    for spot, old, new in [*steps, *summaries]:
        text = texts.get(spot.path, rec.tree.texts[spot.path])
        after = places_of.exchanged(text, spot, old, new)
        if after is None and (spot, old, new) in summaries:
            continue
        if after is None:
            return False
        texts[spot.path] = after
        changes.append(Change(spot.path, after, reason, tuple(_fates(text, after, spot.path)), cited))
    return rec.operation("update", _joined(changes), key=digest(*(one.spot.text for one in group)))


def _jumps(one: _Pending) -> bool:
    """Whether two different values of one sentence were told of; which is which is not kept."""
    return any(before[1] != after[0] for before, after in pairwise(one.steps))


def _summaries(group: Sequence[_Pending], pending: Sequence[_Pending]) -> list[tuple[Spot, str, str]]:
    """The description and the index row of a file, where they have the whole old value and the file has it nowhere else."""
    found = []
    for one in group:
        old, new = whole_value(one.spot.text, one.steps[0][0], one.steps[-1][1])
        if not old or one.spot.kind != "body":
            continue
        others = [
            p for p in pending if p.spot.path == one.spot.path and p.spot.kind == "body" and p is not one
        ]
        if any(has(other.text, old) for other in others):
            continue
        found += [
            (p.spot, old, new)
            for p in pending
            if p.spot.target == one.spot.path
            and p.spot.free
            and p not in group
            and p.spot.text.count(old) == 1
        ]
    return found


def _joined(changes: Sequence[Change]) -> list[Change]:
    """One change per file: the last text, and what every step said of the lines."""
    by_path: dict[str, list[Change]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    return [
        Change(path, own[-1].after, own[0].reason, tuple(f for c in own for f in c.fates), own[0].citations)
        for path, own in by_path.items()
    ]


def _cited(group: Sequence[_Pending]) -> tuple[Citation, ...]:
    told = [pair for one in group for pair in one.told]
    return tuple(dict.fromkeys(c for heard, telling in told for c in heard.citations(telling.quote)))


def _fates(before: str, after: str, path: str) -> Iterable[Fate]:
    for old, new in zip(before.split("\n"), after.split("\n"), strict=False):
        if old.strip() != new.strip() and old.strip():
            rows = memdir.parse_index(new).rows if is_index(path) else ()
            now = rows[0].hook if rows else new.strip()
            yield Fate(old.rstrip("\r"), "superseded-by", path, now, "You said that it has changed.")
