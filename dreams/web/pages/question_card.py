"""One question as a card: its places, the changes of each option, and the answer. Secrets are masked."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlencode

from django.db.models import Min
from django.urls import reverse
from django.utils.dateparse import parse_datetime

from dreams.lib import diff
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.models import Evidence, Hunk, Memory, Proposal, Question, QuestionOption, Session
from dreams.services import blobs
from dreams.services.questions import options
from dreams.web.pages import daily_logs, diffs
from dreams.web.pages.diffs import Block
from dreams.web.pages.session import quote_address

State = Question.State
MOST_PLACES: Final = 6  # shown; chosen
#: Kinds whose places contradict or repeat each other and are compared; other kinds list their places.
COMPARED: Final = {Question.Kind.SAME, Question.Kind.CHANGED, Question.Kind.CONFLICT, Question.Kind.LEANS}
#: Index rows to tick that are shown; the others are folded.
MOST_ROWS: Final = 8
#: Lines of one option's diff on the page, and how many of them are not folded.
MOST_LINES: Final = 120
OPEN_LINES: Final = 24
REMOVES: Final = "Removes the file"
#: If more than this share of two statements differs, only their values are marked: else marks would cover everything.
MOST_MARKED: Final = 0.5
#: With more characters before the first mark, it would be outside the frame; then only the second number is kept.
MOST_BEFORE_MARK: Final = 300
KEPT_BEFORE_MARK: Final = 120
#: Length of a statement in the link to the recall page.
MOST_ASKED: Final = 120


@dataclass(frozen=True, slots=True)
class StatementRun:
    """Part of a statement; `differs` from the statement beside it."""

    text: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class PlaceCard:
    """One place. `who` and `at` are for sessions only; `name` is a path with its line, or a session's title."""

    name: str
    href: str
    line: int | None
    runs: tuple[StatementRun, ...]
    note: str
    is_session: bool
    who: str
    at: dt.datetime | None

    @property
    def is_long(self) -> bool:
        """Whether it scrolls inside its frame; then it must be focusable by keyboard."""
        return sum(len(run.text) for run in self.runs) > 240  # seven lines of a narrow window


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The change of an option to one file. `cut` lines are not on the page."""

    path: str
    what: str
    blocks: tuple[Block, ...]
    cut: int


@dataclass(frozen=True, slots=True)
class OptionCard:
    """One option. `key` is its keyboard shortcut, a digit."""

    id: str
    label: str
    key: str
    files: tuple[FileDiff, ...]
    rows: tuple[dict[str, Any], ...]

    @property
    def changes(self) -> bool:
        return bool(self.files or self.rows)

    @property
    def removes(self) -> str:
        """The file, or number of files, that the option deletes."""
        gone = [file.path for file in self.files if file.what == REMOVES]
        return gone[0] if len(gone) == 1 else text.plural(len(gone), "file") if gone else ""


@dataclass(frozen=True, slots=True)
class QuestionCard:
    """One question. `answered` is the label of the chosen option; `change` is the address of its change."""

    row: Question
    why: str
    places: tuple[PlaceCard, ...]
    more_places: int
    quotes: tuple[PlaceCard, ...]
    options: tuple[OptionCard, ...]
    answered: str
    can_undo: bool
    change: str
    recall: str

    @property
    def is_open(self) -> bool:
        return self.row.state == State.OPEN

    @property
    def is_later(self) -> bool:
        return self.row.state == State.LATER

    @property
    def is_waiting(self) -> bool:
        return self.row.state == State.WAITING

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        return next((option.rows for option in self.options if option.rows), ())

    @property
    def first_rows(self) -> tuple[dict[str, Any], ...]:
        return self.rows[:MOST_ROWS]

    @property
    def folded_rows(self) -> tuple[dict[str, Any], ...]:
        return self.rows[MOST_ROWS:]


def card(question: Question) -> QuestionCard:
    return cards([question])[0]


@dataclass(frozen=True, slots=True)
class _Known:
    """Data for the cards of one page, read once: `memories` by project and path, `hunks` the first of
    each operation."""

    texts: Mapping[str, bytes]
    sessions: Mapping[int, Session]
    memories: Mapping[tuple[int, str], int]
    hunks: Mapping[int, int]
    mask: Mask


def cards(questions: Sequence[Question]) -> list[QuestionCard]:
    """The cards. Four queries, in addition to those for the rows with their options."""
    if not questions:
        return []
    known = _known(questions)
    return [_card(row, known) for row in questions]


def _known(questions: Sequence[Question]) -> _Known:
    chosen = [option for row in questions for option in row.options.all()]
    texts = blobs.get_many(options.text_shas(chosen))
    named = {_int(place.get("session")) for row in questions for place in row.places}
    named |= {_int(found.get("session_pk")) for row in questions for found in row.evidence}
    paths = {str(place.get("path", "")) for row in questions for place in row.places}
    paths |= {str(found.get("place", "")) for row in questions for found in row.evidence}
    memories = Memory.objects.filter(
        project__in={row.project_id for row in questions}, path__in=paths, gone_at__isnull=True
    )
    hunks = Hunk.objects.filter(operation__in={row.operation_id for row in questions} - {None}).order_by()
    said = [str(place.get("text", "")) for row in questions for place in row.places]
    said += [str(found.get("quote", "")) for row in questions for found in row.evidence]
    said += [*(row.why for row in questions), *(option.label for option in chosen)]
    return _Known(
        texts=texts,
        sessions=Session.objects.in_bulk(named - {None}),
        memories={(project, path): pk for project, path, pk in memories.values_list("project", "path", "pk")},
        hunks=dict(hunks.values_list("operation_id").annotate(Min("pk"))),
        mask=Mask.of([*map(text.decode, texts.values()), *said]),
    )


def _card(row: Question, known: _Known) -> QuestionCard:
    places = (
        tuple(_place(place, row.project_id, known) for place in row.places)
        if row.kind == Question.Kind.INDEX
        else _places(row, known)
    )
    made = [_option(option, number, row, places, known) for number, option in enumerate(row.options.all(), 1)]
    target = row.operation.proposal if row.operation is not None else None
    is_undoable = row.state in (State.WAITING, State.LATER) or (
        row.state == State.ANSWERED and target is None
    )
    return QuestionCard(
        row=row,
        why=known.mask(row.why),
        places=places[:MOST_PLACES],
        more_places=0 if any(option.rows for option in made) else max(0, len(row.places) - MOST_PLACES),
        quotes=tuple(_not_among(places[:MOST_PLACES], row, known)),
        options=tuple(made),
        answered=next((option.label for option in made if option.id == row.answer), row.answer),
        can_undo=is_undoable,
        change=_change(target, known.hunks.get(row.operation_id or 0)),
        recall=_recall(row, known),
    )


def _not_among(places: Sequence[PlaceCard], row: Question, known: _Known) -> Iterable[PlaceCard]:
    """The evidence without what a place above it shows word for word."""
    shown = {(place.href, _words(place)) for place in places}
    quotes = (_quote(found, row.project_id, known) for found in row.evidence)
    return (quote for quote in quotes if quote.note or (quote.href, _words(quote)) not in shown)


def _words(place: PlaceCard) -> str:
    return "".join(run.text for run in place.runs)


def _change(target: Proposal | None, hunk: int | None) -> str:
    """The address of the answer's change in its review."""
    if target is None:
        return ""
    here = reverse("review", args=[target.public_id])
    return f"{here}?hunk={hunk}#hunk-{hunk}" if hunk else here


def _recall(row: Question, known: _Known) -> str:
    said = next((str(place["text"]) for place in row.places if place.get("text")), row.why)
    asked = " ".join(known.mask(said).split())
    if len(asked) > MOST_ASKED:
        asked = asked[:MOST_ASKED].rpartition(" ")[0] or asked[:MOST_ASKED]
    query = urlencode({"q": asked, "after": 1})
    return f"{reverse('project-recall', args=[row.project_id])}?{query}"


def _places(row: Question, known: _Known) -> tuple[PlaceCard, ...]:
    made = [_place(place, row.project_id, known) for place in row.places]
    said = [one.runs[0].text for one in made]
    quotes = [diff.visible(known.mask(str(found.get("quote", "")))) for found in row.evidence]
    cited = [_cited(words, quotes) for words in said]
    # Each is compared with the first or, if the places are pairs, with its partner.
    by_two = row.kind == Question.Kind.SAME and _are_pairs(
        [str(place.get("path", "")) for place in row.places]
    )
    firsts = [n - n % 2 if by_two else 0 for n in range(len(said))]
    found = [_differences(said[first], words) for first, words in zip(firsts, said, strict=True)]
    if len(made) < 2 or row.kind not in COMPARED or (found[1] is None and any(cited)):
        marks = cited
    else:
        sides = [
            both or (_values(said[first], words), _values(words, said[first]))
            for both, first, words in zip(found, firsts, said, strict=True)
        ]
        marks = [sides[n + 1][0] if n == first else sides[n][1] for n, first in enumerate(firsts)]
    shown = [_runs(words, spans) for words, spans in zip(said, marks, strict=True)]
    return tuple(replace(one, runs=_from_mark(runs)) for one, runs in zip(made, shown, strict=True))


def _are_pairs(paths: Sequence[str]) -> bool:
    """Whether the places are of two files in turn: several facts, each in both."""
    return len(paths) > 3 and paths[0] != paths[1] and [*paths] == [*paths[:2]] * (len(paths) // 2)


def _cited(said: str, quotes: Iterable[str]) -> list[diff.CharacterSpan]:
    """The spans of the question's evidence in a statement, unless they cover nearly all of it."""
    whole = len(" ".join(said.split()))
    patterns = (r"\s+".join(map(re.escape, quote.split())) for quote in quotes)
    found = [re.search(pattern, said) for pattern in patterns if pattern]
    spans = (diff.CharacterSpan(one.start(), one.end()) for one in found if one is not None)
    return [span for span in spans if span.end - span.start < 0.9 * whole]


def _from_mark(runs: tuple[StatementRun, ...]) -> tuple[StatementRun, ...]:
    """Cuts the text before the first mark if it would push the mark out of the frame."""
    first = runs[0]
    if len(runs) == 1 or first.differs or len(first.text) <= MOST_BEFORE_MARK:
        return runs
    return (StatementRun("… " + first.text[-KEPT_BEFORE_MARK:].partition(" ")[2]), *runs[1:])


def _place(place: Mapping[str, object], project: int, known: _Known) -> PlaceCard:
    path, line, said = str(place.get("path", "")), _int(place.get("line")), str(place.get("text", ""))
    at, memory = place.get("at"), known.memories.get((project, path))
    made = _made(
        path,
        line,
        diff.visible(known.mask(said)),
        diff.visible(known.mask(str(place.get("note", "")))),
        known.sessions.get(_int(place.get("session")) or 0),
        str(place.get("role", "")),
        parse_datetime(at) if isinstance(at, str) else None,
        memory,
    )
    if place.get("role") != "log":
        return made
    return replace(
        made, href=daily_logs.address(project, path, memory, line), who=Evidence.SPEAKERS["log"], at=None
    )


def _quote(found: Mapping[str, object], project: int, known: _Known) -> PlaceCard:
    place = {
        **found,
        "path": found.get("place", ""),
        "line": found.get("line_no"),
        "text": found.get("quote", ""),
        "session": found.get("session_pk"),
    }
    return _place(place, project, known)


def _made(
    path: str,
    line: int | None,
    said: str,
    note: str,
    session: Session | None,
    role: str,
    at: dt.datetime | None,
    memory: int | None,
) -> PlaceCard:
    if session is not None:
        href, name = quote_address(session.pk, line, note), str(session)
    elif memory is not None:
        # The page with line numbers.
        href = reverse("memory-blame", args=[memory]) + (f"#line-{line}" if line else "")
        name = path
    else:
        href, name = "", path
    return PlaceCard(
        name=diff.visible(name),
        href=href,
        line=line,
        runs=(StatementRun(said),),
        note=note,
        is_session=session is not None,
        who=Evidence.SPEAKERS.get(role, "") if session is not None else "",
        at=at,
    )


def _differences(old: str, new: str) -> tuple[list[diff.CharacterSpan], list[diff.CharacterSpan]] | None:
    """The words that differ in two statements; None if marks would cover almost everything."""
    sides = diff.word_spans(old, new)
    share = sum(end - start for spans in sides for start, end in spans) / max(1, len(old) + len(new))
    return None if share > MOST_MARKED else sides


def _values(said: str, other: str) -> list[diff.CharacterSpan]:
    """Words with a digit that are not in the other statement."""
    known, at, found = set(diff.tokens(other)), 0, []
    for word in diff.tokens(said):
        if word not in known and any(char.isdigit() for char in word):
            found.append(diff.CharacterSpan(at, at + len(word)))
        at += len(word)
    return found


def _runs(said: str, spans: Iterable[diff.CharacterSpan]) -> tuple[StatementRun, ...]:
    starts = dict(diffs.trimmed(said, *span) for span in spans)
    edges = sorted({0, len(said), *starts, *starts.values()})
    return tuple(StatementRun(said[start:end], start in starts) for start, end in pairwise(edges)) or (
        StatementRun(said),
    )


def _tick(
    path: str, places: Sequence[PlaceCard], files: tuple[FileDiff, ...], row: Question, known: _Known
) -> dict[str, Any]:
    """A row to tick. The question keeps only its first places; the text of later rows is taken from the diff."""
    shown = next((one for one in places if any(f"({path})" in run.text for run in one.runs)), None)
    return {"path": path, "place": shown or _changed_row(path, files, row, known), "files": files}


def _changed_row(path: str, files: Iterable[FileDiff], row: Question, known: _Known) -> PlaceCard | None:
    for file in files:
        for line in (line for block in file.blocks for line in block.lines):
            said = "".join(bit.text for run in line.runs for bit in run.bits)
            if line.kind == "del" and f"({path})" in said:
                memory = known.memories.get((row.project_id, file.path))
                return _made(file.path, line.number, said, "", None, "", None, memory)
    return None


def _option(
    option: QuestionOption, number: int, row: Question, places: Sequence[PlaceCard], known: _Known
) -> OptionCard:
    option.question = row
    rows = dict.fromkeys(str(edit["operation"]) for edit in option.edits)
    is_index = row.kind == Question.Kind.INDEX and bool(option.edits)
    ticks = (
        [_tick(path, places, _files(option, known, [path]), row, known) for path in rows] if is_index else []
    )
    return OptionCard(
        id=option.option_id,
        label=diff.visible(known.mask(option.label)),
        key=str(number) if number < 10 else "",
        files=() if is_index else _files(option, known),
        rows=tuple(ticks),
    )


def _files(option: QuestionOption, known: _Known, rows: Sequence[str] = ()) -> tuple[FileDiff, ...]:
    room = MOST_LINES
    made = []
    for path, (before, after) in options.ends(option, known.texts, rows).items():
        one = file_diff(path, before, after, known.mask, room)
        room -= sum(len(block.lines) for block in one.blocks)
        made.append(one)
    return tuple(made)


def file_diff(
    path: str, before: str | None, after: str | None, mask: Mask, room: int = MOST_LINES
) -> FileDiff:
    """The changed lines of one file with some context, at most `room` lines."""
    old, new = mask(before or ""), mask(after or "")
    blocks = diffs.blocks(old, diff.hunks(old, new, path=path), path, folds=False)
    what = "New file" if before is None else REMOVES if after is None else ""
    shown: list[Block] = []
    total = sum(len(block.lines) for block in blocks)
    for block in blocks:
        if room <= 0:
            break
        lines = block.lines[:room]
        room -= len(lines)
        fold = OPEN_LINES if len(lines) > OPEN_LINES + 8 else None
        shown.append(replace(block, lines=lines, fold_at=fold))
    return FileDiff(diff.visible(path), what, tuple(shown), total - sum(len(b.lines) for b in shown))


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None
