"""Questions to the person about what is likely but not certain, each with drafted answers. PURE but for the transcript.

A family finds questions of one or more kinds. To add one, put its function into `FAMILIES`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from dreams.engines.rules.notes.tree import Recorder, Tree, is_log, is_team
from dreams.engines.rules.questions import days, gone, index, named_memories, repository, requests
from dreams.engines.rules.questions.families import Draftsman, Family, Inputs, askable
from dreams.engines.rules.questions.relative_days import relative_days
from dreams.engines.rules.questions.same import same
from dreams.engines.rules.questions.values import Changed, leaning, told_changes, told_otherwise, two_values
from dreams.engines.rules.repository import Repository
from dreams.engines.rules.steps.orphans import NO_MEMORY
from dreams.engines.rules.user_statements.lessons import Gathered
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.types import KEEP, Job, Question
from dreams.lib import diff
from dreams.lib.prose.statement_index import StatementIndex, statements_of

MOST_QUESTIONS = 200  # of one dream, the most useful first


def about_statements(asking: Inputs) -> Iterator[Question]:
    """All families that use one index of the memories as the dream found them."""
    texts = {
        path: text
        for path, text in asking.tree_before.texts.items()
        if not is_log(path) and not NO_MEMORY.fullmatch(PurePosixPath(path).name)
    }
    own = {path: text for path, text in texts.items() if not is_team(path)}
    index = StatementIndex(own)
    # In team memory only changes that a person reported are asked about.
    corrected = index if len(own) == len(texts) else StatementIndex(texts)
    asking.report.checkpoint()
    yield from requests.forget(asking, index)
    exchanges: list[Changed] = []
    told = [*told_changes(asking, corrected)]
    settled = {each for _, exchange in told if exchange for each in exchange.about}
    for question, exchange in (*told, *two_values(asking, index, settled)):
        yield question
        exchanges += [exchange] if exchange else []
    yield from leaning(asking, index, exchanges)
    changing = {each for exchange in exchanges for each in exchange.about}
    yield from told_otherwise(asking, index, changing)
    yield from same(asking, index, changing)


FAMILIES: tuple[Family, ...] = (
    index.shorter_rows,
    index.sections_of_a_full_index,
    about_statements,
    requests.typed_in_passing,
    days.passed_days,
    days.old_states,
    relative_days,
    repository.says_already,
    gone.no_longer_there,
    named_memories.about_named_memories,
    named_memories.against_its_files,
    named_memories.said_to_be_over,
    index.unlisted,  # last: not what another answer would remove
)


def ask(
    job: Job, rec: Recorder, heard: Sequence[Heard], gathered: Gathered, repo: Repository | None
) -> list[Question]:
    """The questions of this dream, most useful first.

    Left out: questions about lines that the dream changes, those without an answer that changes something, whether to learn
    what another question would add, and second questions of the same kind and subject.
    """
    draftsman = Draftsman(job.workspace, rec.report)
    before = draftsman.tree
    told, free = statements_of(before.texts), [*askable(before)]
    touched = _touched(before, rec.tree)
    found: list[Question] = []
    counts = Counter(each.path for each in free)
    given = (heard, gathered, rec.edits, told, free, counts, touched, repo, found)
    context = Inputs(job, rec.report, before, draftsman, *given)
    for family in FAMILIES:
        for question in map(_possible, family(context)):
            rec.report.checkpoint()
            changes = any(option.edits for option in question.options)
            if changes and not any(map(context.is_touched, question.places)):
                found.append(question)
    found = [question for question in found if not _is_asked_better(question, found)]
    found.sort(key=lambda each: (-each.weight, each.kind, each.subject))
    once = {(each.kind, each.subject): each for each in reversed(found)}
    return [each for each in found if once[each.kind, each.subject] is each][:MOST_QUESTIONS]


def _possible(question: Question) -> Question:
    """The question without options that would change nothing, except the one that keeps everything."""
    options = (each for each in question.options if each.edits or each.id == KEEP.id)
    return replace(question, options=tuple(options))


def _is_asked_better(question: Question, found: Sequence[Question]) -> bool:
    """Whether it only asks to learn what another question would use to replace an older statement."""
    if question.kind != "learn" or not question.citations:  # rows for memories cite nothing
        return False
    others = [place for each in found if each.kind != "learn" for place in each.places]
    return any(
        (place.path, place.line_no) == (own.path, own.line_no)
        and (place.text in own.text or own.text in place.text)
        for own in question.places
        for place in others
    )


def _touched(before: Tree, after: Tree) -> dict[str, frozenset[int]]:
    """For each changed file, the numbers (1-based) of the original lines that are not in its new text."""
    return {
        path: frozenset(
            number + 1
            for hunk in diff.hunks(text, after.texts.get(path, ""), path=path)
            for number in range(hunk.base_start, hunk.base_end)
        )
        for path, text in before.texts.items()
        if after.texts.get(path) != text
    }
