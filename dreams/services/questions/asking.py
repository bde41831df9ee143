"""Saves an engine's questions: each once, the most useful first, as many as a person wants to answer."""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Window
from django.db.models.functions import RowNumber

from dreams import conf
from dreams.engines.types import KEEP, QUESTIONS, Place, Question as Asked
from dreams.lib.files import text
from dreams.lib.secrets.redact import values, without
from dreams.models import DreamRun, Project, Proposal, Question, QuestionOption, Session
from dreams.services import blobs
from dreams.services.memories import syncing
from dreams.services.proposals import saving
from dreams.services.proposals.transcript_verdicts import QUOTE_LIMIT
from dreams.services.questions import joining, options, question_states

log = logging.getLogger(__name__)

State = Question.State
#: How many questions one dream may save, shown or not: more than anybody answers, and little to store.
MOST_A_DREAM = 60
#: The size of all option texts of one dream.
MOST_BYTES = 16 * 1024 * 1024
MOST_PLACES = 200  # as many as the rows that an agent loads
MOST_OPTIONS = 6
#: How many "show more" adds.
MORE = 7
#: A kind is muted when fewer than `FEWEST_ACTS` of its last `LOOKED_AT` answers changed anything.
LOOKED_AT, FEWEST_ACTS = 10, 4


def save(dream: DreamRun, proposal: Proposal | None, asked: Sequence[Asked]) -> None:
    """Save the questions of a dream and show the most useful ones, as many as the setting allows.

    Questions that are answered, waiting or put off are not asked again. Open questions that this dream does not repeat
    are outdated, except those from a session or log, which only an earlier dream read. A question that clashes with the
    dream's changes is held back until they are decided. A question that cannot be saved is skipped.
    """
    project = dream.project
    question_states.refresh(project)
    chosen = _bounded(sorted(asked, key=lambda one: -one.weight))
    shas = question_states.shas_of(project, {place.path for one in chosen.values() for place in one.places})
    texts = {
        sha: question_states.one_line(text.decode(data))
        for sha, data in blobs.get_many(shas.values()).items()
    }
    secrets = _secrets(project) if chosen else {}
    with transaction.atomic():
        lock_questions(project)
        kept = []
        known = _known(project, chosen)
        for subject, one in chosen.items():
            row = known.get(subject)
            if row is not None and not _may_ask(row, one, shas):
                continue
            row = row or Question(project=project, subject=subject)
            kept.append(_save(row, _bare(one, secrets), dream, proposal))
            _note_files(kept[-1], shas, texts)
        left = project.questions.filter(question_states.UNANSWERED).exclude(pk__in=[row.pk for row in kept])
        old = [row.pk for row in left if not _is_read_once(row)]
        Question.objects.filter(pk__in=old).update(state=State.OUTDATED)
        _show_first(project, [*kept, *(row for row in left if row.pk not in old)], proposal)


def _secrets(project: Project) -> dict[str, str]:
    """The secrets of all its memories: without the words around it, one is often not recognized."""
    found = syncing.contents(project).values()
    return {value: rule for data in found for value, rule in values(text.decode(data)).items()}


def _bare(one: Asked, secrets: Mapping[str, str]) -> Asked:
    """The question with no secret in the engine's own words, which are shown without the texts that they are about."""
    relabelled = tuple(replace(option, label=without(option.label, secrets)) for option in one.options)
    return replace(one, why=without(one.why, secrets), options=relabelled)


def _is_read_once(row: Question) -> bool:
    """Whether a session or a log is a place of it, or its evidence."""
    sources = [*((each["session"], each["role"]) for each in row.places)]
    sources += [(each["session_pk"], each["role"]) for each in row.evidence]
    return any(session or role == "log" for session, role in sources)


def lock_questions(project: Project) -> None:
    """Lock the project's questions; call it first in a transaction."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def digest(one: Asked) -> str:
    """Identifies a question by kind and subject, wherever its lines moved."""
    return hashlib.sha256(f"{one.kind}\0{one.subject}".encode("utf-8", "surrogatepass")).hexdigest()


def _bounded(asked: Iterable[Asked]) -> dict[str, Asked]:
    """By digest, the first of each, up to MOST_A_DREAM questions and MOST_BYTES of texts."""
    found: dict[str, Asked] = {}
    size = 0
    for one in asked:
        if len(found) == MOST_A_DREAM:
            break
        new = sum(len(edit.after or "") for option in one.options for edit in option.edits)
        if one.kind not in QUESTIONS or not one.places or size + new > MOST_BYTES:
            log.warning("a question of kind %s is left out", one.kind)
            continue
        if found.setdefault(digest(one), one) is one:
            size += new
    return found


def _known(project: Project, subjects: Iterable[str]) -> dict[str, Question]:
    """The row of each subject that decides whether it is asked: a live one, else the newest."""
    rows = project.questions.filter(subject__in=list(subjects)).order_by("pk")
    ordered = sorted(rows, key=lambda row: row.state in question_states.LIVE)
    return {row.subject: row for row in ordered}


def _may_ask(row: Question, one: Asked, shas: Mapping[str, str]) -> bool:
    if row.state in (State.OPEN, State.OUTDATED) or question_states.is_held(row):
        return True
    if row.state != State.LATER or not question_states.is_due(row):
        return False
    before = {(place["path"], place["text"]) for place in row.places}
    now = {(place.path, text.storable(place.text, QUOTE_LIMIT)) for place in one.places}
    return before != now or question_states.has_changed(row, shas)


def _save(row: Question, one: Asked, dream: DreamRun, proposal: Proposal | None) -> Question:
    """Save the row with the new question and replace its options."""
    sessions = {place.session_pk for place in one.places if place.session_pk is not None}
    known = set(Session.objects.filter(pk__in=sessions).values_list("pk", flat=True))
    row.dream, row.proposal, row.kind = dream, proposal, one.kind
    row.why, row.weight, row.asked = text.storable(one.why, 1000), min(1.0, max(0.0, one.weight)), False
    row.places = [_place(place, known) for place in one.places[:MOST_PLACES]]
    row.evidence = [saving.stored_citation(found) for found in one.citations[:MOST_PLACES]]
    row.state, row.later_until = State.OPEN, None
    row.save()
    row.options.all().delete()
    given = [*one.options, *([] if any(not option.edits for option in one.options) else [KEEP])]
    blobs.put_many(data for option in given for edit in option.edits for data in edit.as_bytes)
    QuestionOption.objects.bulk_create(
        QuestionOption(
            question=row,
            number=number,
            option_id=option.id[:20],
            label=text.storable(option.label, 300),
            edits=options.stored(option.edits),
        )
        for number, option in enumerate(given[:MOST_OPTIONS], 1)
    )
    return row


def _place(place: Place, sessions: set[int]) -> dict[str, Any]:
    return {
        "path": text.storable(place.path, 1000),
        "line": place.line_no,
        "text": text.storable(place.text, QUOTE_LIMIT),
        "session": place.session_pk if place.session_pk in sessions else None,
        "offset": place.offset,
        "role": place.role,
        "at": place.at.isoformat() if place.at else None,
        "note": text.storable(place.note, 300),
    }


def _note_files(row: Question, shas: Mapping[str, str], texts: Mapping[str, str]) -> None:
    """Save with each place in a memory its file's sha256 and the words that find it again.

    A statement that an engine joined from several lines is found by its first line.
    """
    for place in row.places:
        sha = "" if place["session"] else shas.get(place["path"], "")
        place["sha"] = sha
        content = texts.get(sha)
        if sha and content is not None:
            said = question_states.one_line(place["text"])
            place["anchor"] = said if said in content else _first_words(said, content)
    row.save(update_fields=["places"])


def _first_words(said: str, content: str) -> str:
    """The longest start of a statement, in whole words, that its file contains; empty if none."""
    words = said.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if " ".join(words[:middle]) in content else (low, middle - 1)
    return " ".join(words[:low])


def _show_first(project: Project, rows: Sequence[Question], proposal: Proposal | None) -> None:
    """Ask the most useful of `rows`. Holds back those whose answers clash with the proposal, and counts them as asked."""
    muted, most = muted_kinds(project), conf.current(project).questions_per_dream
    present = syncing.contents(project) if proposal else {}
    shown: list[int] = []
    held: list[int] = []
    for row in sorted(rows, key=lambda row: -row.weight):
        if len(shown) + len(held) == most:
            break
        if row.kind in muted:
            continue
        fits = proposal is None or _fits(row, proposal, present)
        (shown if fits else held).append(row.pk)
    all_of_them = Question.objects.filter(pk__in=[row.pk for row in rows])
    all_of_them.update(asked=False, state=State.OPEN)
    all_of_them.filter(pk__in=shown).update(asked=True)
    all_of_them.filter(pk__in=held).update(state=State.LATER)


def _fits(row: Question, proposal: Proposal, present: Mapping[str, bytes]) -> bool:
    """Whether each of its answers fits the proposal's changes; for the index, each row."""
    for option in row.options.all():
        try:
            edits = options.edits_of(option)
        except blobs.MissingBlob:
            return False
        rows = {edit.operation for edit in edits}
        if not all(joining.fits(proposal, [e for e in edits if e.operation == key], present) for key in rows):
            return False
    return True


def show_more(project: Project) -> int:
    """Ask the next seven (MORE) unshown questions, except muted kinds; returns how many."""
    with transaction.atomic():
        lock_questions(project)
        unasked = unshown(project).values_list("pk", flat=True)[:MORE]
        return Question.objects.filter(pk__in=list(unasked)).update(asked=True)


def unshown(project: Project) -> Any:
    """The open questions that "show more" would show, the most useful first."""
    rows = project.questions.filter(state=State.OPEN, asked=False, project__gone_at=None)
    rows = rows.exclude(kind__in=muted_kinds(project))
    return rows.order_by("-weight", "pk")


def muted_kinds(project: Project) -> frozenset[str]:
    """The kinds that this project no longer asks, as most answers were "leave as it is"."""
    answers = (
        project.questions.filter(state__in=(State.WAITING, State.ANSWERED))
        .exclude(answer="")
        .annotate(place=Window(RowNumber(), partition_by="kind", order_by=("-answered_at", "-pk")))
        .filter(place__lte=LOOKED_AT)
        .values_list("kind", "answer")
    )
    last: dict[str, list[str]] = {}
    for kind, answer in answers:
        last.setdefault(kind, []).append(answer)
    return frozenset(kind for kind, given in last.items() if _mostly_kept(given))


def left_unlisted(project: Project) -> frozenset[str]:
    """The memories that the person was asked whether to list in the index, and left as they were."""
    rows = project.questions.filter(kind="learn", answer=KEEP.id, evidence=[])
    return frozenset(place["path"] for places in rows.values_list("places", flat=True) for place in places)


def _mostly_kept(answers: Sequence[str]) -> bool:
    return len(answers) == LOOKED_AT and sum(answer != KEEP.id for answer in answers) < FEWEST_ACTS
