"""Questions about what was typed in passing: a rule for later, or meant for one task only? PURE."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.steps import learning
from dreams.engines.rules.user_statements.lessons import Lesson
from dreams.engines.types import Citation, Option, Place, Question
from dreams.lib.files.text import plural
from dreams.lib.prose.pieces import keys_of

MOST_QUESTIONS = 6  # of one dream: whoever types a lot in passing is not asked about all of it
WEIGHT = 0.4  # such an answer adds a line; it sets nothing right
PER_SESSION = 0.1  # more for each further session, it was typed in
MOST_WEIGHT = 0.7


def typed_in_passing(context: Asking) -> Iterator[Question]:
    """Of kind `learn`: what was typed most often first, then the newest."""
    found = sorted(enumerate(context.gathered.asked), key=lambda row: (-row[1].sessions, -row[0]))
    for _, lesson in found[:MOST_QUESTIONS]:
        learn = context.draftsman.option("learn", "Remember it", partial(_learn, context, lesson))
        if learn is not None:
            yield _question(lesson, learn)


def _learn(context: Asking, lesson: Lesson, rec: Recorder) -> None:
    learning.learn(rec, [lesson], context.job.config.row_aim)


def _question(lesson: Lesson, learn: Option) -> Question:
    often = f" in {plural(lesson.sessions, 'session')}" if lesson.sessions > 1 else ""
    return Question(
        kind="learn",
        subject=" ".join(sorted(keys_of(lesson.text))),
        why=f"You wrote this{often}. It may be a rule for later, or it was for that task only.",
        places=tuple(_place(cited) for cited in lesson.citations[:1]),
        options=(learn, Option("keep", "Only for that task")),
        citations=tuple(lesson.citations),
        weight=min(WEIGHT + PER_SESSION * (lesson.sessions - 1), MOST_WEIGHT),
    )


def _place(cited: Citation) -> Place:
    return Place(
        cited.place, cited.line_no, cited.quote, cited.session_pk, cited.offset, cited.role, cited.at
    )
