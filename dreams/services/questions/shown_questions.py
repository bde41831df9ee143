"""Loads questions for pages and commands from the database, without reading memory files."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Q, QuerySet
from django.utils import timezone

from dreams.lib import diff
from dreams.lib.secrets.masking import Mask
from dreams.models import DreamRun, Project, Proposal, Question, QuestionOption, Session
from dreams.models.prepared import prepared
from dreams.services import blobs
from dreams.services.questions import asking, options
from dreams.services.questions.question_states import NOW_ASKED

State = Question.State
#: How long an answered question is listed.
RECENT = dt.timedelta(days=14)
MOST = 200
#: How many open questions of all projects are ranked; the inbox shows twenty.
MOST_RANKED = 1_000
#: A question that has waited this long ranks higher by `AGE`.
OLD, AGE = dt.timedelta(days=30), 0.1
_ORDER = [State.OPEN, State.WAITING, State.LATER, State.ANSWERED, State.OUTDATED]


@dataclass(frozen=True, slots=True)
class OptionFile:
    """One file before and after an option; None: no file."""

    path: str
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """In the format of `diff -u0`, with the file's name once at the top."""
        found = diff.hunks(self.before or "", self.after or "", path=self.path)
        old = "/dev/null" if self.before is None else f"a/{self.path}"
        new = "/dev/null" if self.after is None else f"b/{self.path}"
        return "".join([f"--- {old}\n+++ {new}\n", *map(_hunk, found)])


def _hunk(hunk: diff.Hunk) -> str:
    sides = [("-", hunk.base_lines), ("+", hunk.new_lines)]
    lines = [f"{mark}{line.rstrip(chr(10))}\n" for mark, side in sides for line in side]
    old, new = _range(hunk.base_start, hunk.base_lines), _range(hunk.new_start, hunk.new_lines)
    return f"@@ -{old} +{new} @@\n" + "".join(lines)


def _range(start: int, lines: Sequence[str]) -> str:
    """The range of a hunk header. For an empty range, a unified diff names the line before it."""
    return f"{start + 1 if lines else start},{len(lines)}"


@dataclass(frozen=True, slots=True)
class ShownOption:
    """One option and the files it changes; for an `index` question also its rows."""

    id: str
    label: str
    files: tuple[OptionFile, ...]
    rows: tuple[str, ...] = ()

    @property
    def diff(self) -> str:
        return "".join(file.diff for file in self.files)


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question with its choices; `sessions` maps the rows that its places name to session ids."""

    row: Question
    choices: tuple[ShownOption, ...]
    sessions: Mapping[int, str]


def of_project(project: Project, *, everything: bool = False) -> list[Question]:
    """The questions that were asked, open ones first, the most useful first.

    `everything` also includes those held back and all old ones. At most MOST.
    """
    rows = project.questions.all()
    if not everything:
        last = project.dreams.filter(questions__isnull=False).order_by("-pk").first()
        recent = Q(answered_at__gte=timezone.now() - RECENT) | Q(dream=last)
        done = Q(state__in=(State.ANSWERED, State.OUTDATED))
        rows = rows.filter(NOW_ASKED | Q(asked=True) & ~Q(state=State.OPEN)).filter(~done | recent)
    return _ordered(rows)


def of_dream(dream: DreamRun, *, everything: bool = False) -> list[Question]:
    rows = dream.questions.all()
    return _ordered(rows if everything else rows.filter(asked=True))


def of_proposal(proposal: Proposal) -> list[Question]:
    """The questions to show with a proposal: those of its dream; for the project's answers, the answered ones."""
    if proposal.origin == Proposal.Origin.ANSWERS:
        return _ordered(Question.objects.filter(operation__proposal=proposal))
    rows = Question.objects.filter(Q(proposal=proposal, asked=True) | Q(operation__proposal=proposal))
    return _ordered(rows.exclude(state=State.OUTDATED))


def no_longer_asked(project: Project) -> list[Question]:
    """Open questions of the kinds that are muted in this project; a checkup lists them."""
    muted = asking.muted_kinds(project)
    return _ordered(project.questions.filter(state=State.OPEN, kind__in=muted)) if muted else []


def _ordered(rows: QuerySet[Question]) -> list[Question]:
    found = list(
        rows.select_related("project", "dream", "operation__proposal").prefetch_related("options")[:MOST]
    )
    return sorted(found, key=lambda row: (_ORDER.index(State(row.state)), -row.weight, row.pk))


def shown(questions: Sequence[Question]) -> list[ShownQuestion]:
    """The questions with the changes of each option, in three queries."""
    chosen = [option for row in questions for option in row.options.all()]
    texts = blobs.get_many(options.text_shas(chosen))
    named = {place["session"] for row in questions for place in row.places if place.get("session")}
    sessions = dict(Session.objects.filter(pk__in=named).values_list("pk", "session_id"))
    return [
        ShownQuestion(row, tuple(_choice(o, row, texts) for o in row.options.all()), sessions)
        for row in questions
    ]


def _choice(option: QuestionOption, row: Question, texts: Mapping[str, bytes]) -> ShownOption:
    option.question = row
    files = tuple(OptionFile(path, *sides) for path, sides in options.ends(option, texts).items())
    rows = (
        dict.fromkeys(edit["operation"] for edit in option.edits) if row.kind == Question.Kind.INDEX else ()
    )
    return ShownOption(option.option_id, option.label, files, tuple(rows))


def as_json(questions: Sequence[Question], *, is_bare: bool = False) -> list[dict[str, Any]]:
    """The output of `questions --json`, with secrets masked unless `is_bare`."""
    found = shown(questions)
    made = [_json(one) for one in found]
    if is_bare:
        return made
    mask = Mask.of(_texts(found))
    return cast("list[dict[str, Any]]", mask.deep(made))


def _texts(found: Iterable[ShownQuestion]) -> list[str]:
    sides = [
        s
        for one in found
        for choice in one.choices
        for file in choice.files
        for s in (file.before, file.after)
    ]
    said = [place["text"] for one in found for place in one.row.places]
    said += [text for one in found for text in (one.row.why, *(choice.label for choice in one.choices))]
    return [*filter(None, sides), *said, *(cited["quote"] for one in found for cited in one.row.evidence)]


def _json(one: ShownQuestion) -> dict[str, Any]:
    row = one.row
    return {
        "id": row.public_id,
        "kind": row.kind,
        "why": row.why,
        "places": [
            {
                "path": place["path"],
                "line": place["line"],
                "text": place["text"],
                "session": one.sessions.get(place.get("session") or 0),
            }
            for place in row.places
        ],
        "evidence": [
            {"path": one["place"], "line": one["line_no"], "text": one["quote"], "note": one["note"]}
            for one in row.evidence
        ],
        "options": [_option(choice) for choice in one.choices],
        "state": row.state,
        "answer": row.answer,
        "asked": row.asked,
        "weight": row.weight,
    }


def _option(choice: ShownOption) -> dict[str, Any]:
    made: dict[str, Any] = {"id": choice.id, "label": choice.label, "diff": _printable(choice.diff)}
    return made | ({"rows": list(choice.rows)} if choice.rows else {})


def _printable(content: str) -> str:
    """Replaces what is not valid UTF-8 with a mark."""
    return content.encode("utf-8", "replace").decode("utf-8")


# --- The inbox ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """The most useful open questions of all projects, with the number of questions and projects."""

    questions: tuple[Question, ...]
    count: int
    projects: int


def open_questions(limit: int = 20) -> OpenQuestions:
    """The open questions ranked by weight and age; at most `limit`."""
    counted, now = _ranked(), timezone.now()
    ranked = sorted(counted, key=lambda one: (-rank(one[2], now - one[3]), one[0]))
    chosen = [pk for pk, *_ in ranked[:limit]]
    found = _with_options(chosen) if chosen else []
    ordered = sorted(found, key=lambda row: chosen.index(row.pk))
    return OpenQuestions(tuple(ordered), len(counted), len({project for _, project, *_ in counted}))


def _open() -> QuerySet[Question]:
    return Question.objects.filter(NOW_ASKED)


@prepared
def _ranked() -> QuerySet[Question, tuple[int, int, float, dt.datetime]]:
    return _open().order_by("-weight").values_list("pk", "project", "weight", "created_at")[:MOST_RANKED]


@prepared
def _with_options(pks: list[int]) -> QuerySet[Question]:
    rows = _open().filter(pk__in=pks).select_related("project", "dream", "proposal")
    return rows.prefetch_related("options")


def rank(weight: float, age: dt.timedelta) -> float:
    """The weight plus a little for the age; a higher rank is shown earlier."""
    return weight + AGE * min(1.0, age / OLD)
