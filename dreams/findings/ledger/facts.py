"""The facts of a statement (numbers, names, paths, negations, days), and which of them another lacks, negates or withdraws. PURE."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from difflib import SequenceMatcher
from itertools import combinations, pairwise

from dreams.findings.ledger.qualifiers import put_in, requalified
from dreams.findings.ledger.units import literal_parts
from dreams.findings.ledger.wordings import (
    JOINS,
    LONGEST,
    SAYS_NOTHING,
    capitals,
    has_word,
    opposite_words,
    plain_statement,
    swapped_words,
    word_forms,
)
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement, StatementWord, statement
from dreams.lib.prose.words import Token, code_spans, stem, tokens
from dreams.lib.secrets.redact import redact

_LABEL = 3  # most words of a leading clause that counts as a label
_FRAME = 5  # words before, in the same clause
_DOUBTING = "think believe claim assume guess suspect doubt suppose suggest propose consider hope fear wonder"
_DENYING = "wrong false untrue true incorrect mistaken myth rumour rumor hoax stopped ceased old outdated historical draft idea"
# Words that withdraw what follows them.
_TAKES_BACK = lexicon.UNSETTLED | lexicon.CONDITIONS | frozenset(_DENYING.split())
_DOUBTED = frozenset(stem(word) for word in _DOUBTING.split())


def withdrawn(old: str, new: str) -> bool:
    """Whether `new` strikes `old` out, or says before its words that they are no longer, not yet or only supposedly true."""
    if "~~" in new and "~~" not in old:
        return True
    one, other = (statement(text[:LONGEST]) for text in (old, new))
    return any(word in _TAKES_BACK or stem(word) in _DOUBTED for word in _in_front(one, other))


def _in_front(one: Statement, other: Statement) -> set[str]:
    """The words in `other` before those of `one`, in the same clause or in a label, that `one` does not have."""
    found = SequenceMatcher(None, one.flow, other.flow, autojunk=False).find_longest_match()
    start, clauses = found.b, other.clause_of
    if not found.size or not start:
        return set()
    own = [at for at in range(max(0, start - _FRAME), start) if clauses[at] == clauses[start]]
    label = [at for at in range(start) if clauses[at] == clauses[start - 1]]
    lead = own or (label if len(label) <= _LABEL else [])
    return {other.written[at] for at in lead} - set(one.written)


def turned(old: str, new: str) -> bool:
    """Whether `new` denies, withdraws or qualifies what `old` says, whatever else it has."""
    return withdrawn(old, new) or bool(negation_changes(old, new) or requalified(old, new))


_THEN = lexicon.STEPS - {"first"}
NOT = "not"
DENIED_NOW = "a statement that is denied now"
_WIKILINK = re.compile(r"\[\[[^\[\]\n]*\]\]")
_NEAR = 3  # words on each side of a name or number
_LISTING = frozenset({"or", "nor"})
_LISTED = 3  # clauses
_MEMBER = 2  # most words of a list's first member
_MOST = 12  # names or numbers of one kind that are compared in pairs


def negation_changes(old: str, new: str) -> list[str]:
    """What `new` negates that `old` asserts, or the reverse, for a person."""
    old, new = (_WIKILINK.sub("it", text) for text in (old, new))  # [[never-git-stash]] is a name
    one, other = plain_statement(old), plain_statement(new)
    found = []
    if _denials_missing(one, other, once=True):
        found.append(NOT)
    if _denials_missing(other, one, once=False):
        found.append(DENIED_NOW)
    gone, come = one.raw - other.raw, other.raw - one.raw
    pairs = sorted((a, b) for a in gone for b in come if (a, b) in lexicon.OPPOSITES)
    return [*found, *(f"{a} (now {b})" for a, b in pairs[:1])] or opposite_words(old, new)


_Denial = tuple[int, frozenset[str]]  # its clause, and the words that it is about


def _denials(one: Statement) -> list[_Denial]:
    """The negations, each about the words up to the next one: "not shared and never flushed"."""
    found = list[_Denial]()
    for at, (clause, words) in enumerate(one.denied):
        after = next((said[:1] for other, said in one.denied[at + 1 : at + 2] if other == clause), ())
        until = next((place for place, word in enumerate(words) if place and word in after), len(words))
        found.append((clause, frozenset(words[:until])))
    return found


def _denials_missing(one: Statement, other: Statement, *, once: bool) -> bool:
    """Whether `other` lacks a negation of `one` that concerns its words. Each of its own answers one of a clause, and if `once` one of
    all, but several in a list: "neither A nor B"."""
    touched, forms = one.touched(other), word_forms(other.text)
    spots, listed = _denials(other), bool(other.raw & _LISTING)
    taken, rest = dict[int, int](), list[_Denial]()
    for clause, words in _denials(one):
        if clause not in touched or (words and not any(has_word(forms, word) for word in words)):
            continue
        # "Y instead of X" denies X, too.
        near = (at for at, (_, said) in enumerate([*spots, *other.contrasts]) if words & said)
        free = (at for at in near if listed or at not in taken or (not once and taken[at] != clause))
        if (answer := next(free, None)) is None:
            rest.append((clause, words))
        else:
            taken[answer] = clause
    for clause, words in rest:
        # One that already answers another only reaches the next members of its list.
        reaches = ((at, _reach(spot, other, own=at not in taken)) for at, spot in enumerate(spots))
        own = one.clauses.get(clause, set())
        fit = (
            at
            for at, there in reaches
            if words & there or (at not in taken and (not words or not there or own & spots[at][1]))
        )
        if (answer := next(fit, None)) is None:
            return True
        taken[answer] = clause
    return False


def _reach(spot: _Denial, other: Statement, *, own: bool) -> set[str]:
    """The words in the scope of a negation: "do not guess, round, or fill in" negates all three. `own`: those of its clause, too."""
    at, words = spot
    listed = other.raw & _LISTING and len(other.clauses.get(at, ())) <= _MEMBER
    clauses = range(at if own else at + 1, at + (_LISTED if listed else 1))
    return set(words if own else ()).union(*(other.clauses.get(each, set()) for each in clauses))


def swapped(old: str, new: str) -> bool:
    """Whether two names, numbers or codes changed places: "Ana owns search, Bob owns billing"."""
    one, other = plain_statement(old), plain_statement(new)
    if one.written == other.written:  # a word that occurs twice would seem to have moved
        return False
    if swapped_words(old, new) or _steps_reordered(one, other):
        return True
    if len(spans := _spans(old) & _spans(new)) > 1:  # code of several words counts as one name
        old, new = (_as_names(text, sorted(spans)) for text in (old, new))
        one, other = plain_statement(old), plain_statement(new)
    names = {name for _, name in one.names | other.names} | (capitals(old) & capitals(new))
    # A label is said of what follows.
    mine, theirs = (_neighbours(plain_statement(text.replace(": ", " ")), names) for text in (old, new))
    kinds_of = (one.numbers, one.codes, names)
    return any(
        _crossed(_without_kind(mine, kind), _without_kind(theirs, kind), a, b)
        for kind in kinds_of
        for a, b in combinations([word for word in mine if word in kind and word in theirs][:_MOST], 2)
    )


def _steps_reordered(one: Statement, other: Statement) -> bool:
    """Whether both describe the same steps in a different order: "First lint, then test"."""
    if not all(_THEN.intersection(each.flow) for each in (one, other)):
        return False
    both = (one.weights.keys() & other.weights.keys()) - lexicon.STEPS
    words = ((item.word for item in each.items if item.word in both) for each in (one, other))
    mine, theirs = ([*dict.fromkeys(each)] for each in words)
    return mine != theirs


def _spans(text: str) -> set[str]:
    return {text[start:end] for start, end in code_spans(text[:LONGEST])}


def _as_names(text: str, spans: Sequence[str]) -> str:
    for number, span in enumerate(spans[:_MOST]):
        text = text.replace(f"`{span}`", f"Code{number:03d}Span")
    return text


def _without_kind(near: dict[str, set[str]], kind: Collection[str]) -> dict[str, set[str]]:
    """Neighbours without words of the same kind: the next entry of a list does not belong to this one."""
    return {word: words.difference(kind) for word, words in near.items()}


def _crossed(mine: dict[str, set[str]], theirs: dict[str, set[str]], a: str, b: str) -> bool:
    of_a, of_b = mine[a] - mine[b] - {b}, mine[b] - mine[a] - {a}
    straight = len(of_a & theirs[a]) + len(of_b & theirs[b])
    across = len(of_a & theirs[b]), len(of_b & theirs[a])
    return all(across) and sum(across) > straight


def _neighbours(one: Statement, names: set[str]) -> dict[str, set[str]]:
    """For each name, number or code, in order, the words next to it, without generic ones."""
    found: dict[str, set[str]] = {}
    for place, item in enumerate(one.items):
        if item.anchor or item.word in names:
            found.setdefault(item.word, set()).update(
                near.word for near in _around(one, place) if near.word not in lexicon.GENERIC
            )
    return found


def _around(one: Statement, place: int) -> list[StatementWord]:
    """The next words of the same clause; of any clause if it is alone in brackets: "Redis (#9)"."""
    near = [*one.items[max(0, place - _NEAR) : place], *one.items[place + 1 : place + 1 + _NEAR]]
    return [item for item in near if item.clause == one.items[place].clause] or near


_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]+", re.IGNORECASE)
_SIGNED = re.compile(r"(?:(?<=[\s(:=])|^)-\d[\d.]*\b|[€$£](?!\w)|[¥₹]")
_PER = re.compile(r"\bper\s(?:each\s)?([a-z]{2,})\b")
LEAST_TOLD = 3  # least words of meaning besides light verbs
_TIME_BEFORE, _TIME_AFTER = re.compile(r"(?:\b\d\d?:){1,2}$"), re.compile(r"(?::\d\d){1,2}\b")


def urls(text: str) -> set[str]:
    return {found.rstrip(".,;:") for found in _URL.findall(text[:LONGEST])}


def lost(old: str, new: str) -> list[str]:
    """The facts of `old` that `new` lacks, for a person; empty if it has all."""
    one, other = plain_statement(old), plain_statement(new)
    there = word_forms(new)
    found = [
        *_fewer(old, new),
        *sorted(code for code in one.codes - other.codes if not has_word(there, code)),
    ]
    found += sorted({name for _, name in one.names if not has_word(there, name)})
    found += sorted((one.raw & lexicon.DAYS) - other.raw) + sorted(one.environments - other.environments)
    found += _per(old, new) + _signs_lost(old, new)
    found += sorted(urls(old) - urls(new)) + sorted(one.signs - other.signs) + _code_lost(old, new)
    found += [*_members_lost(one, there), *negation_changes(old, new), *requalified(old, new)]
    return [*found, *put_in(*(_WIKILINK.sub("it", text) for text in (old, new)))]


def _members_lost(one: Statement, there: frozenset[str]) -> list[str]:
    """Common words after an "and" or "or" that the other lacks: "the problem and approaches" is more than "the problem"."""
    joined = {word for before, word in pairwise(one.flow) if before in JOINS}
    return sorted(word for word in joined & one.weights.keys() & SAYS_NOTHING if not has_word(there, word))


def _fewer(old: str, new: str) -> list[str]:
    """The numbers and codes that occur less often in `new`: of two fives each may count something different."""
    mine, theirs = (
        Counter(item.word for item in plain_statement(text).items if item.anchor) for text in (old, new)
    )
    one, there = plain_statement(old), word_forms(new)
    known_fewer = (
        word for word in mine - theirs if word in one.numbers or (word in one.codes and has_word(there, word))
    )
    return sorted(word for word in known_fewer if word in one.numbers or mine[word] > max(1, theirs[word]))


def _per(old: str, new: str) -> list[str]:
    """Units that `new` does not name: in "5 per key", "key" is half of the limit, although it is a common word."""
    units = _PER.findall(old[:LONGEST].lower())
    words = {stem(token.text.lower()) for token in tokens(new[:LONGEST])} if units else set()
    return [f"per {unit}" for unit in units if stem(unit) not in words]


def _signs_lost(old: str, new: str) -> list[str]:
    """Currencies that `new` lacks, and numbers that only one of both has below zero."""
    mine, theirs = (set(_SIGNED.findall(text[:LONGEST].replace("−", "-"))) for text in (old, new))
    numbers = plain_statement(old).numbers
    return sorted(mine - theirs) + sorted(each for each in theirs - mine if each[1:] in numbers)


def _code_lost(old: str, new: str) -> list[str]:
    """Inline code that is not in `new` literally: `PORT=` is no word, but has to be typed."""
    flat = " ".join(new.lower().split())
    spans = (span.strip() for span in literal_parts(old[:LONGEST]))
    return [span for span in spans if " ".join(span.lower().split()) not in flat]


def words_lost(old: str, new: str) -> list[str]:
    """The words of `old` that carry meaning and that `new` does not have."""
    one, there = plain_statement(old), word_forms(new)
    return sorted(word for word in one.weights if word not in SAYS_NOTHING and not has_word(there, word))


def loses_words(old: str, new: str) -> bool:
    """Whether `words_lost` is not empty; stops at the first such word."""
    one, there = plain_statement(old), word_forms(new)
    return any(word not in SAYS_NOTHING and not has_word(there, word) for word in one.weights)


def as_written(words: Iterable[str], text: str) -> list[str]:
    """Compared words (stems, canonical forms) as they are spelled in `text`, for a person; unknown ones stay as they are.

    Parts of a secret are left out.
    """
    wanted = dict.fromkeys(words)
    written: dict[str, str] = {}
    plain = text[:LONGEST].replace("`", " ")
    known = _words_of_forms(text) if wanted else {}
    every = list(tokens(plain) if wanted else ())
    for first, last in (*zip(every, every, strict=True), *pairwise(every)):
        if len(written) == len(wanted):
            break
        form = plain[first.start : last.end]
        said: Set[str] | None = known.get(form.lower())
        if said is None:  # its statement has it otherwise: "17ms" as 0.017 seconds, "four minutes" as 240
            said = statement(form).weights.keys() | plain_statement(form).weights.keys()
        for word in said & wanted.keys():
            written.setdefault(word, _whole_time(plain, last) if first is last else form)
    told = dict.fromkeys(written.get(word, word) for word in wanted)
    bare = redact(text) if told else text
    return list(told) if bare == text else [word for word in told if word in bare]


def _words_of_forms(text: str) -> dict[str, set[str]]:
    """The compared words by their form in a text, as its statements have both; not of "max", which one of them has as "most"."""
    found = defaultdict[str, set[str]](set)
    told = (statement(text[:LONGEST]), plain_statement(text))
    alike = {*told[0].written} & {*told[1].written}
    for one in told:
        for word, form in zip(one.flow, one.written, strict=True):
            if form in alike:
                found[form].update({word} & one.weights.keys())
    return found


def _whole_time(text: str, token: Token) -> str:
    """A token as written; a part of a time (“03”) becomes the whole time (“03:00”)."""
    if not token.text.isdigit():
        return token.text
    start = _TIME_BEFORE.search(text[max(0, token.start - 6) : token.start])
    end = _TIME_AFTER.match(text, token.end)
    return f"{start[0] if start else ''}{token.text}{end[0] if end else ''}"


def coverage(old: str, new: str, longest: int = LONGEST) -> float:
    """The share of `old`'s weight that is in `new`: 1 if no word is missing, 0 if `old` has no weight."""
    one, there = plain_statement(old), word_forms(new, longest)
    found = sum(weight for word, weight in one.weights.items() if has_word(there, word))
    return found / one.weight if one.weight else 0.0


def plain_coverage(old: str, new: str) -> float:
    """As `coverage`, for words other than numbers and names; 1 if there are none."""
    there = word_forms(new)
    weights = {item.word: item.weight for item in plain_statement(old).items if not item.anchor}
    whole = sum(weights.values())
    return sum(w for word, w in weights.items() if has_word(there, word)) / whole if whole else 1.0


def shared_words(old: str, new: str) -> set[str]:
    """The words of meaning that both have, without generic ones."""
    one, other = plain_statement(old), plain_statement(new)
    return {word for word in one.weights if word in other.weights and word not in lexicon.GENERIC}
