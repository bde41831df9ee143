"""What is likely, and not certain: questions to the person, each with its answers drafted. PURE but for the transcript.

A family finds questions of one or more kinds. To add one, put its function into `FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dreams.engines.rules.drafting import Draftsman
from dreams.engines.rules.notes.tree import Recorder, Tree
from dreams.engines.rules.questions import (
    gone,
    index_rows,
    index_says,
    index_sections,
    line_days,
    named_memories,
    old_states,
    passed_days,
    repository,
    statements,
    typed,
)
from dreams.engines.rules.questions.asking import Asking, Family
from dreams.engines.rules.repository import Repository
from dreams.engines.rules.user_statements.lessons import Gathered
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.types import Job, Question
from dreams.lib import diff
from dreams.lib.prose.statement_index import statements_of

__all__ = ["FAMILIES", "Asking", "Family", "ask"]

MOST_QUESTIONS = 200  # of one dream, the most useful first


FAMILIES: tuple[Family, ...] = (
    index_rows.shorter_rows,
    index_sections.sections_of_a_full_index,
    statements.about_statements,
    typed.typed_in_passing,
    passed_days.passed,
    old_states.old_states,
    line_days.unsure_days,
    repository.says_already,
    gone.no_longer_there,
    named_memories.about_named_memories,
    index_says.against_its_files,
)


def ask(
    job: Job, rec: Recorder, heard: Sequence[Heard], gathered: Gathered, repo: Repository | None
) -> list[Question]:
    """The questions of this dream, the most useful first.

    Left out: what is about a line that the dream changes, what no answer would change anything for, whether to learn what
    another question would bring into memory, and a second question of the same kind and subject.
    """
    draftsman = Draftsman(job.workspace, rec.report)
    before = draftsman.tree
    touched = _touched(before, rec.tree)
    told = statements_of(before.texts)
    context = Asking(job, rec.report, before, draftsman, heard, gathered, rec.edits, told, touched, repo)
    found: list[Question] = []
    for family in FAMILIES:
        for question in family(context):
            rec.report.checkpoint()
            if _is_askable(context, question):
                found.append(question)
    found = [question for question in found if not _is_asked_better(question, found)]
    found.sort(key=lambda each: (-each.weight, each.kind, each.subject))
    once = {(each.kind, each.subject): each for each in reversed(found)}
    return [each for each in found if once[each.kind, each.subject] is each][:MOST_QUESTIONS]


def _is_askable(context: Asking, question: Question) -> bool:
    changes = any(option.edits for option in question.options)
    return changes and not any(map(context.is_touched, question.places))


def _is_asked_better(question: Question, found: Sequence[Question]) -> bool:
    """Whether it only asks to learn what another one would put in the place of an older statement."""
    if question.kind != "learn":
        return False
    others = [place for each in found if each.kind != "learn" for place in each.places if place.session_pk]
    return any(
        (place.session_pk, place.line_no) == (own.session_pk, own.line_no)
        and (place.text in own.text or own.text in place.text)
        for own in question.places
        for place in others
    )


def _touched(before: Tree, after: Tree) -> dict[str, frozenset[int]]:
    """The lines of each file, as found, that are not in its new text."""
    return {
        path: frozenset(
            number + 1
            for hunk in diff.hunks(text, after.texts.get(path, ""), path=path)
            for number in range(hunk.base_start, hunk.base_end)
        )
        for path, text in before.texts.items()
        if after.texts.get(path) != text
    }
