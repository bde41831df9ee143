"""Where a statement of memory has the value that a person says is another one now. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dreams.engines.rules.user_statements.clauses import scope_of
from dreams.engines.rules.user_statements.stated_changes import MOST_PLAIN, Telling
from dreams.engines.rules.values.alternatives import slot
from dreams.engines.rules.values.frames import is_part, narrows
from dreams.engines.rules.values.slots import Slot
from dreams.language import lexicon, properties
from dreams.language.pieces import WEAK, Piece, keys_of, pairs_of, pieces, values_of
from dreams.language.words import stem

_ENVIRONMENTS = frozenset(lexicon.ENVIRONMENTS) | frozenset(map(stem, lexicon.ENVIRONMENTS))


def matched(telling: Telling, statement: str, place: frozenset[str] = frozenset()) -> Slot | None:
    """The value in `statement` and what it is now; None if that is not sure. `place` are words of headings and file."""
    if telling.bare:
        return None
    below = _environments(place)
    if not holds_at(telling, place):
        return None
    if not keys_of(scope_of(telling.core)) <= keys_of(statement) | place:
        return None
    core = _without(telling.core, below)
    if telling.old:
        return _by_old_value(telling, statement, place) or _of_property(telling, statement, core)
    return slot(statement, core)


def holds_at(telling: Telling, place: frozenset[str]) -> bool:
    """Below "Staging" stands what holds there alone."""
    return _environments(place) <= _environments(keys_of(telling.quote))


def _of_property(telling: Telling, statement: str, core: str) -> Slot | None:
    """The same property of the same thing in other words, with the value that was named as past."""
    put = properties.changed(statement, core)
    if put is None or _texts(pieces(put[0].text(statement)))[-1:] != _texts(pieces(telling.old))[-1:]:
        return None
    return Slot(put[0].start, put[0].end, put[1].text(core))


def _environments(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if word in _ENVIRONMENTS)


def _without(core: str, below: frozenset[str]) -> str:
    """What is told, without the environment that the place says already."""
    kept = [piece.text for piece in pieces(core) if piece.key not in below]
    return " ".join(kept) if below else core


def _by_old_value(telling: Telling, statement: str, place: frozenset[str]) -> Slot | None:
    """The old value was named, so it is enough that the statement has it, once, and speaks of the same thing."""
    found = pieces(statement)
    wanted = _texts(_differing(telling))
    spots = [at for at in range(len(found)) if _texts(found[at : at + len(wanted)]) == wanted]
    if len(spots) != 1 or not _is_meant(telling, found, spots[0], spots[0] + len(wanted) - 1):
        return None
    said = {piece.key for piece in found if piece.key} | place
    old_keys = {piece.key for piece in pieces(telling.old)}
    new = _trimmed(telling.new or _new_value(telling.core, said), said - old_keys)
    first, last = found[spots[0]], found[spots[0] + len(wanted) - 1]
    if len(wanted) > 1 and last.shape == "number" and [p.shape for p in pieces(new)] == ["number"]:
        first = last  # "from PostgreSQL 15 to 16"
    if not new or not _same_sort(first.text, new) or not _speaks_of(telling, new, found, place):
        return None
    plain = _is_plain(telling.old) or _is_plain(new)
    if plain and not telling.new and not _put_alike(statement, first.start, telling.core, new):
        return None
    return Slot(first.start, last.end, new)


def _texts(found: Sequence[Piece]) -> list[str]:
    return [piece.text.strip("`").lower() for piece in found]


def _is_plain(value: str) -> bool:
    return not any(piece.is_value for piece in pieces(f"x {value}")[1:])


def _new_value(core: str, said: set[str]) -> str:
    """The one run of numbers and names in a statement that memory does not have, else of plain words."""
    found = pieces(core)
    runs = [run for run in values_of(found) if any(p.key not in said for p in found[run[0] : run[1] + 1])]
    if not runs:
        return _new_words(core, said)
    return core[found[runs[0][0]].start : found[runs[0][1]].end] if len(runs) == 1 else ""


def _new_words(core: str, said: set[str]) -> str:
    """The plain words that memory does not have, where they stand side by side: "rebase" of "PRs are merged with rebase"."""
    found = pieces(core)
    places = [place for place, piece in enumerate(found) if piece.key and piece.key not in said]
    if not places or len(places) > MOST_PLAIN or places[-1] - places[0] != len(places) - 1:
        return ""
    return core[found[places[0]].start : found[places[-1]].end]


def _is_meant(telling: Telling, found: Sequence[Piece], first: int, last: int) -> bool:
    """Not "a shared vault" for Vault; and where nothing says of what it was told, not "Vault structure" either."""
    named = any(piece.is_value for piece in pieces(f"x {telling.old}")[1:])
    if named and not any(piece.is_value or piece.text[:1].isupper() for piece in found[first : last + 1]):
        return False
    if telling.about - keys_of(telling.new) - keys_of(telling.old) - WEAK or last + 1 >= len(found):
        return True
    after = found[last + 1]
    verb = after.text.islower() and after.text.endswith("s") and first == 0
    return not after.key or verb or after.start > found[last].end + 1


def _put_alike(statement: str, at: int, core: str, new: str) -> bool:
    """Whether the same word stands before both: of plain words little else tells that one is in place of the other."""
    words = [text.lower().split() for text in (statement[:at], core[: core.rfind(new)])]
    return all(words) and words[0][-1] == words[1][-1]


def _differing(telling: Telling) -> list[Piece]:
    """The old value without what the new statement has too: "single" of "single quotes"."""
    found = list(pieces(telling.old))
    if telling.new or any(piece.is_value for piece in found):
        return found
    known = keys_of(telling.core)
    return [piece for piece in found if piece.key not in known] or found


def _trimmed(new: str, said: set[str]) -> str:
    """Without what the statement has beside the value anyway: "06:50 UTC" for 10:10 of "10:10 UTC"."""
    found = list(pieces(new))
    while found and found[-1].key in said:
        found.pop()
    while found and found[0].key in said:
        found.pop(0)
    return new[found[0].start : found[-1].end] if found else ""


def _same_sort(old: str, new: str) -> bool:
    """A number for a number, something else for something else."""
    return (pieces(old)[0].shape == "number") == (pieces(new)[0].shape == "number")


def _speaks_of(telling: Telling, new: str, found: Sequence[Piece], place: frozenset[str]) -> bool:
    """Whether both are about one thing: neither has words that the other lacks, or a name that both have makes up for it."""
    values = {piece.key for text in (telling.old, new) for piece in pieces(text)}
    about = telling.about - values - WEAK
    said = {piece.key for piece in found if piece.key} - values
    missing = about - said - place
    named = {piece.key for piece in pieces(telling.core) if piece.is_value} & about
    told = pieces(telling.core)
    if named & missing or narrows(told, missing, said) or is_part(told, missing):
        return False
    if not missing or not said - telling.about - WEAK - place:
        return 2 * len(missing) <= len(about)
    return _same_thing(telling, found, about - missing, missing, values) and 2 * len(missing) <= len(about)


def _same_thing(
    telling: Telling, found: Sequence[Piece], both: frozenset[str], missing: frozenset[str], values: set[str]
) -> bool:
    """A name that both have, or two words side by side; and no name or pair of words that only one of them has."""
    named = {piece.key for piece in found if piece.is_value} - values
    told, said = pairs_of(pieces(telling.core)), pairs_of(found)
    same = bool(named & both) or any(set(pair) <= both for pair in told & said)
    return same and named <= both and not any(set(pair) <= missing for pair in told)
