"""Checks that each added statement has a source: a quote, the old text, the file it summarizes, or a session. PURE."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import PurePath

from dreams.engines.types import Citation
from dreams.findings import dates
from dreams.findings.base import (
    ChangedHunk,
    JudgedStatement,
    MessageParts,
    NewFinding,
    SessionAnswer,
    Subject,
)
from dreams.findings.ledger import facts
from dreams.findings.ledger.state import DirectoryStatements, statements_of
from dreams.findings.ledger.units import (
    Unit,
    added_units,
    has_content,
    keys_without_secrets,
    needs_no_source,
    units_of,
    units_of_lines,
    units_on,
)
from dreams.findings.ledger.wordings import LONGEST
from dreams.lib import memdir, progress
from dreams.lib.prose import claims, lexicon
from dreams.lib.prose.claims.evidence import FOREIGN
from dreams.lib.prose.comparing import says_more
from dreams.lib.prose.statements import Statement, statement
from dreams.lib.prose.words import stem
from dreams.lib.secrets import redact

CHECK = "evidence"
UNSOURCED = "no-evidence"
BOUND = 0.3  # least share of a statement's words in a source that is about the same thing
PROVEN = 0.5  # least share of a statement in a quote that proves that it is not denied any more
TELLING = 4  # characters of a number that means the same in any quote; of a name, one less
NEAR = 2  # words on each side of a shorter one
MOST_REMOVED = 100  # sentences of a hunk; more old lines are found by words; chosen
CLOSE = 0.7  # least share in a source that says the same, or the opposite
_NOBODYS = FOREIGN | {"tool_result"}
_ISO = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?|-w\d{2}|-q\d)?")
_DATE_WORDS = lexicon.DAYS | {stem(name) for name in lexicon.DAYS}


def check(subject: Subject) -> Iterator[NewFinding]:
    before = statements_of(subject, subject.before)
    # A statement whose secret was removed is not new. A line of nothing else is removed by one hunk and added by the next.
    bare: dict[str, set[str]] = defaultdict(set)
    for hunk in subject.hunks:
        file = subject.before.get(hunk.path, b"")
        gone, _ = units_on(hunk.path, file, hunk.base_start, hunk.removed)
        bare[hunk.path].update(*(keys_without_secrets(each, file) for each in gone))
    for hunk in progress.each("Looking for sources", subject.hunks):
        yield from _missing_quotes(hunk)
        if not hunk.by_hand:
            yield from _unsupported(subject, hunk, before, bare[hunk.path])
            yield from _only_tools(hunk)


def _missing_quotes(hunk: ChangedHunk) -> Iterator[NewFinding]:
    for citation in hunk.citations:
        if not citation.found:
            # People know a transcript by its name, not by its folder.
            place = PurePath(citation.place).name if citation.source == "transcript" else citation.place
            why = f": {citation.note}" if citation.note else ""
            says = f"The quote “{citation.quote[:200]}” is not in {place or 'the named source'}{why}."
            remedy = "Reject the change, or check the statement yourself before you confirm it."
            about = citation.quote[:500] + citation.place
            yield NewFinding(
                CHECK, "quote-not-found", "block", says, remedy, hunk.path, hunk.hunk_id, about=about
            )


def _unsupported(
    subject: Subject, hunk: ChangedHunk, before: DirectoryStatements, bare: Collection[str]
) -> Iterator[NewFinding]:
    quoted, heard = _sources(hunk), typed(hunk)
    after, replaced = statements_of(subject, subject.after), {u.text for u in units_of_lines(hunk.removed)}
    for unit, line_no in added_units(subject, hunk):
        if needs_no_source(unit) or before.same_words(unit) or unit.key in bare:
            continue
        stands = claims.stands(heard, unit.text) if heard.units else None
        if stands and stands.answer == "supported":
            continue  # a person's own words need no source
        near = before.most_similar(unit.text)
        similar = [each.unit.text for each in near]
        words = _without_source(unit, quoted, similar, summed_up(subject, hunk.path, unit), hunk)
        if stands and stands.answer == "contradicted":
            yield _otherwise(
                hunk, unit, line_no, f"contradicts what was said later: “{stands.evidence[0].quote[:200]}”"
            )
        elif words:
            yield _finding(hunk, unit, line_no, words)
        elif _denied(
            unit,
            # Not the old line, if a quote proves the new one, and nothing that the same changes correct.
            [t for t in quoted if t not in replaced or not proves(hunk, t, unit.text)]
            + [each.unit.text for each in near if after.same_words(each.unit)],
        ):
            yield _otherwise(hunk, unit, line_no, "reverses what its source says")
        elif subject.against and (against := subject.against(unit.text)):
            yield _otherwise(
                hunk, unit, line_no, f"is not what {against.place} says: “{against.quote[:200]}”"
            )


def is_proven(hunk: ChangedHunk) -> bool:
    """Whether it has a quote of anything but the lines that it removes here: they only prove that they were there."""
    gone = "\n".join(hunk.removed)
    return any(c.found and (_is_elsewhere(c, hunk) or c.quote.strip() not in gone) for c in hunk.citations)


def proves(hunk: ChangedHunk, old: str, new: str, summed: Sequence[str] = ()) -> bool:
    """Whether quotes of the project's files, of another memory or of a person have what `new` says instead of `old`, or the
    memory that it sums up.

    As much must come as goes: each name and number that comes must be in a quote about the same thing, or some of the words.
    """
    one, was = statement(new[:LONGEST]), statement(old[:LONGEST])
    cited = [c for c in hunk.citations if c.found and _is_proof(c, hunk)]
    said = [line.replace("](", "] ") for c in cited for line in f"{c.quote}\n{c.context}".split("\n")]
    if facts.plain_coverage(old, new) < BOUND or max(len(old), len(new)) > LONGEST:
        return False  # it is about something else, or too long to be read whole
    is_denied = bool(facts.negation_changes(old, new))
    alike = [text for text in said if is_denied and facts.plain_coverage(new, text) >= PROVEN]
    if is_denied and all(facts.negation_changes(text, new) for text in alike):
        return False
    come = {item.word: item.anchor for item in one.items if item.word not in was.weights}
    gone = {item.word: item.anchor for item in was.items if item.word not in one.weights}
    left = {word: a for word, a in come.items() if not (a and any(_is_called(c, word) for c in cited))}
    for text in (*said, *summed):
        if len(facts.shared_words(new, text)) > 1 or text in summed:
            left = _left(left, one, text, bound=False, cited=True)
    is_enough = (is_denied or len(gone) <= len(come)) and sum(gone.values()) <= sum(come.values())
    is_said = is_denied or any(come.values()) or len(left) < len(come) * (1 - BOUND)
    return is_enough and is_said and not any(left.values())


def _is_called(citation: Citation, word: str) -> bool:
    """Whether a word is the name of the cited file or the end of its path: no "7" of `Dockerfile.17`."""
    return f"/{citation.place.lower()}".endswith(f"/{word}")


def _is_proof(citation: Citation, hunk: ChangedHunk) -> bool:
    if citation.source == "transcript":
        return citation.role == "user"
    return citation.source == "repository" or _is_elsewhere(citation, hunk)


def _is_elsewhere(citation: Citation, hunk: ChangedHunk) -> bool:
    """Whether it is of another memory: one is no proof of itself."""
    return citation.source == "memory" and citation.place not in {"", hunk.path}


def typed(hunk: ChangedHunk) -> claims.SessionText:
    """What a person typed in the quoted turns of a hunk, in order."""
    heard = claims.SessionText()
    cited = [c for c in hunk.citations if c.found and c.source == "transcript" and c.role == "user"]
    cited.sort(key=lambda c: (c.at.timestamp() if c.at else 0.0, c.place, c.line_no or 0))
    for number, citation in enumerate(cited, start=1):
        heard.add(citation.context or citation.quote, number, "user", prose=True)
    return heard


def _otherwise(
    hunk: ChangedHunk | JudgedStatement, unit: Unit | JudgedStatement, line_no: int, why: str
) -> NewFinding:
    return NewFinding(
        CHECK, "says-otherwise", "warn", f"“{unit.text[:200]}” {why}.",
        "Compare it with the quote, then edit or reject the change.", hunk.path, hunk.hunk_id, line_no, unit.key,
        MessageParts(unit.text[:200]),
    )  # fmt: skip


def _finding(hunk: ChangedHunk, unit: Unit, line_no: int, words: list[str]) -> NewFinding:
    named = facts.as_written(words, unit.text)[:8]
    listed = (
        f"{', '.join(f'“{word}”' for word in named) or 'A secret'} appear{'' if len(named) > 1 else 's'} in"
    )
    if any(citation.found for citation in hunk.citations):
        code, where, verdict = "words-without-source", "no source", "says more than its evidence"
        remedy = "Compare it with the quote, then edit or reject the change."
    else:
        code, where, verdict = UNSOURCED, "no memory and no quote", "has no evidence"
        remedy = "Check it yourself, or reject the change."
    said = redact.redact(unit.text)[:200]
    return NewFinding(
        CHECK, code, "warn", f"{listed} {where}, so “{said}” {verdict}.", remedy,
        hunk.path, hunk.hunk_id, line_no, unit.key, MessageParts(said, f"{listed} {where}."),
    )  # fmt: skip


def _sources(hunk: ChangedHunk) -> list[str]:
    """The sentences of the quotes with their links, of what is around them, and of the first removed lines."""
    quotes = [text for c in hunk.citations if c.found for text in (c.quote, c.context)]
    lines = [line.replace("](", "] ") for text in quotes for line in text.split("\n")]
    units = (*units_of_lines(lines), *units_of_lines(hunk.removed)[:MOST_REMOVED])
    return list(dict.fromkeys(unit.text for unit in units))


def _without_source(
    unit: Unit, quoted: list[str], said: list[str], summed_up: list[str], hunk: ChangedHunk
) -> list[str]:
    """The words that are in no source. A number or name must be in a source about the same thing:

    "kept for 14 days" and "30 people" are no source for "kept for 30 days".
    """
    one = statement(unit.text[:LONGEST])
    dated = any(c.found and (c.at is not None or c.source == "history") for c in hunk.citations)
    computed = dates.computed_words(unit.text[:LONGEST], hunk)
    anchors = {item.word for item in one.items if item.anchor}
    missing = {
        word: word in anchors
        for word in one.weights
        if word not in lexicon.GENERIC
        and not (dated and (word in _DATE_WORDS or _ISO.fullmatch(word)))
        and word not in computed
        and not (_ISO.fullmatch(word) and dates.computed(word.upper(), hunk))
        and not any(c.found and _is_called(c, word) for c in hunk.citations if word in anchors)
    }
    for text in summed_up:
        missing = _left(missing, one, text, bound=True)
    for text in (*quoted, *said):  # the old line and the quotes first: they are usually enough
        if not missing:
            break
        bound = any(missing.values()) and facts.plain_coverage(unit.text, text) >= BOUND
        missing = _left(missing, one, text, bound=bound, cited=text in quoted)
    return list(missing)


def _left(
    missing: dict[str, bool], one: Statement, text: str, *, bound: bool, cited: bool = False
) -> dict[str, bool]:
    """The words that a text lacks. It can only supply a number or name if it is about the same thing, or if it is cited and
    the name is long or has a word beside it that is the same."""
    other = statement(text[:LONGEST])
    return {
        word: anchor
        for word, anchor in missing.items()
        if (word not in other.weights and word not in other.raw)
        or (
            anchor
            and not bound
            and not (cited and (len(word) >= TELLING - word.isalpha() or _beside(word, one, other)))
        )
    }


def _beside(word: str, one: Statement, other: Statement) -> bool:
    """Whether the same word of meaning is near it in both."""
    if word not in one.flow or word not in other.flow:
        return False
    mine, theirs = (
        each.flow[max(0, each.flow.index(word) - NEAR) :][: 2 * NEAR + 1] for each in (one, other)
    )
    return bool(set(mine) & set(theirs) & one.weights.keys() - {word})


def _denied(unit: Unit, said: list[str]) -> bool:
    """Whether every source about the same thing says the opposite; a plain "No." denies everything before it."""
    one = statement(unit.text[:LONGEST])
    spoken_of = bool(one.negations and not one.weights)
    for text in said:
        if facts.coverage(unit.text, text) >= CLOSE:
            if not facts.negation_changes(text, unit.text) or _opens(unit.text, text):
                return False
            spoken_of = True
    return spoken_of


def _opens(piece: str, text: str) -> bool:
    """Whether a source has exactly these words in one clause without a negation before them; later clauses do not matter."""
    flat, whole = (" ".join(each.replace("`", "").lower().split()) for each in (piece, text))
    lead, found, rest = whole.partition(flat.rstrip(" .,;:!"))
    return bool(found) and rest[:1] in {",", ";", "."} and not statement(lead).negations


def summed_up(subject: Subject, path: str, unit: Unit) -> list[str]:
    """The sources of a summary: the file that a row points to or a description is in, its name, and the names behind wikilinks."""
    links = memdir.wikilinks(unit.text)
    named = {_plain(PurePath(each).stem) for each in subject.after} if links else set()
    linked = [name for link in links if (name := _plain(link.target)) in named]
    if unit.kind in {"row", "title"}:
        target = next((p for p in subject.after if memdir.same_target(p, unit.name)), "")
    elif unit.kind == "field":
        target = path
    else:
        return linked
    own = [u.text for u in units_of(target, subject.after.get(target)) if u.text != unit.text]
    return [*own, _plain(target), *linked]


def _plain(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _only_tools(hunk: ChangedHunk) -> Iterator[NewFinding]:
    """Warns if all quotes come from tools and pages, or all from the agent's log: the person said none of them."""
    spoken = [c for c in hunk.citations if c.found and c.source == "transcript" and c.role]
    if spoken and all(c.role in _NOBODYS for c in spoken):
        yield NewFinding(
            CHECK, "only-tool-output", "warn", "Only tool output supports this change; no person said it.",
            "Make sure that it is true, and not just something that a page or a program printed.", hunk.path, hunk.hunk_id, None, "only-tool-output",
        )  # fmt: skip
    cited = [c.role for c in hunk.citations if c.found]
    if cited and set(cited) == {"log"} and not memdir.is_index(hunk.path):
        yield NewFinding(
            CHECK, "only-log", "warn", "Only your agent’s log says this; no person typed it.",
            "Make sure that it is what you said or decided.", hunk.path, hunk.hunk_id, None, "only-log",
        )  # fmt: skip


MOST_JUDGED = 300  # statements of one change
MOST_NEW = 0.1  # share of a statement's weight that a quote may lack and still support it
LEAST_PART = 3  # words of meaning in a part that is judged separately
_CUT = re.compile(r"[;.]\s+|\s[—–]\s|,?\s+(?:and|but)\s+")
_CLAIMING = frozenset({"sentence", "row", "field", "table"})
#: Codes for a statement that no quote supports; support in a session settles them.
ANSWERED = frozenset({UNSOURCED, "words-without-source"})


def judge(subject: Subject) -> list[JudgedStatement]:
    """The new statements with the sessions' answer; those that were not checked are left out."""
    if subject.heard is None:
        return []
    found: list[JudgedStatement] = []
    before = statements_of(subject, subject.before)
    for hunk, unit, line_no in _claims(subject, before):
        if len(found) >= MOST_JUDGED:
            break
        for said, heard in _answers(unit.text, subject.heard):
            if heard.answer != "unsupported" or not _is_from_memory(hunk, unit, before):
                found.append(JudgedStatement(hunk.path, hunk.hunk_id, line_no, said, unit.key, heard))
    return found


def _answers(text: str, ask: Callable[[str], SessionAnswer | None]) -> Iterator[tuple[str, SessionAnswer]]:
    """The sessions' answer to a statement, or to its parts if they support only some."""
    heard = ask(text)
    if heard is None:
        return
    is_said = heard.answer == "supported"
    if not is_said or (heard.citation and says_more(text, heard.citation.quote, MOST_NEW)):
        parts = [(part, answer) for part in _parts(text) if (answer := ask(part))]
        if heard.answer != "contradicted" and any((a.answer == "supported") != is_said for _, a in parts):
            yield from parts
            return
    yield text, heard


def _parts(text: str) -> list[str]:
    """The clauses of a statement, each long enough to be judged separately."""
    found, begun = list[str](), 0
    for cut in _CUT.finditer(text):
        if _tells(text[begun : cut.start()]) and _tells(text[cut.end() :]):
            found.append(text[begun : cut.start()])
            begun = cut.end()
    return [*found, text[begun:]]


def _tells(part: str) -> bool:
    return len(statement(part).telling) >= LEAST_PART


def _is_from_memory(hunk: ChangedHunk, unit: Unit, before: DirectoryStatements) -> bool:
    """Whether a statement comes from memory itself: merged, moved, with a date written out, or a row that summarizes its file."""
    if unit.kind == "row":
        return True
    if hunk.by_hand:
        return False
    from_memory = bool(hunk.citations) and all(one.source != "transcript" for one in hunk.citations)
    return from_memory or before.container(unit.text) is not None


def _claims(subject: Subject, before: DirectoryStatements) -> Iterator[tuple[ChangedHunk, Unit, int]]:
    for hunk in subject.hunks:
        for unit, line_no in added_units(subject, hunk):
            claims = unit.kind in _CLAIMING and has_content(unit.text) and not needs_no_source(unit)
            if claims and not before.same_words(unit):
                yield hunk, unit, line_no


def weighed(
    found: Iterable[NewFinding], judged: Sequence[JudgedStatement], subject: Subject
) -> list[NewFinding]:
    """The findings, updated by the sessions' answers: what they support needs no quote, what they contradict is reported."""
    unsaid = {_place(one) for one in judged if not _is_said(one.heard)}
    said = {_place(one) for one in judged} - unsaid
    hunks = {(hunk.path, hunk.hunk_id): hunk for hunk in subject.hunks if not hunk.by_hand}
    denied = {
        _place(one): _denied_by_session(one, place)
        for one in judged
        if one.heard.answer == "contradicted" and (place := one.heard.citation)
        if (hunk := hunks.get((one.path, one.hunk_id))) and not _both_kept(subject, hunk, one, place.quote)
    }
    asked = said | denied.keys()
    kept = [f for f in found if f.code not in ANSWERED or (f.path, f.hunk_id, f.about) not in asked]
    return [*kept, *denied.values()]


def _both_kept(subject: Subject, hunk: ChangedHunk, one: JudgedStatement, quote: str) -> bool:
    """Whether the operation adds what a person said and, beside it, what seems to contradict it: rules for two exports, say."""
    parts = [each for each in subject.hunks if each.operation == hunk.operation] if hunk.operation else [hunk]
    added = (unit for part in parts for unit, _ in added_units(subject, part) if unit.key != one.key)
    said = claims.SessionText()
    said.add(quote, 1, "user", prose=True)
    own = _is_word_for_word(typed(hunk), one.text)
    return own and any(_is_word_for_word(said, unit.text) for unit in added)


def _is_word_for_word(heard: claims.SessionText, text: str) -> bool:
    found = claims.stands(heard, text)
    return found is not None and found.answer == "supported"


def _place(one: JudgedStatement) -> tuple[str, str, str]:
    return one.path, one.hunk_id, one.key


def _is_said(heard: SessionAnswer) -> bool:
    return heard.answer == "supported" and bool(
        heard.citation and heard.citation.role in {"user", "assistant"}
    )


def _denied_by_session(one: JudgedStatement, place: Citation) -> NewFinding:
    line = f" (line {place.line_no})" if place.line_no else ""
    return _otherwise(one, one, one.line_no, f"is not what a session says{line}: “{place.quote[:200]}”")
