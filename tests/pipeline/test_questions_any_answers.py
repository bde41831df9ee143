"""Whatever is asked and answered: taken back the proposal is as before, and undone the directory is."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import event, given, strategies as st

from dreams.engines.types import Edit, Option, Place, Question as Asked
from dreams.models import DreamRun, Finding, Hunk, Project, Proposal, Question
from dreams.services import review, rollback
from dreams.services.apply import applying
from dreams.services.questions import answering, asking as service
from dreams.services.review import ReviewRefused
from tests.pipeline.test_any_change_can_be_undone import contents, directories, propose
from tests.world import directory as world
from tests.world.manifest import manifest
from tests.world.strategies import tries

pytestmark = pytest.mark.django_db(transaction=True)

# What an option makes of one file: its number among the files, and the new content (None: no file).
wishes = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.one_of(st.none(), contents)), min_size=1, max_size=2),
    min_size=1,
    max_size=4,
)


def ask(
    project: Project, proposal: Proposal | None, before: dict[str, bytes], wanted: list
) -> list[Question]:
    """A question for each wish, about the first line of the first file."""
    dream = DreamRun.objects.create(project=project, engine="scripted", trigger="command", status="completed")
    paths = sorted(before)
    asked = []
    for number, wish in enumerate(wanted):
        changes = {paths[index % len(paths)]: after for index, after in wish}
        edits = tuple(
            Edit(
                path,
                before[path].decode("utf-8", "surrogateescape"),
                after and after.decode(),
                "do",
                "update",
                "So.",
            )
            for path, after in changes.items()
            if after != before[path] and after != b""
        )
        if edits:
            place = Place(paths[0], 1, "")
            asked.append(
                Asked("changed", str(number), "Is it so?", (place,), (Option("replace", "Do", edits),))
            )
    service.save(dream, proposal, asked)
    return list(Question.objects.filter(project=project).order_by("pk"))


def answer_all(questions: list[Question]) -> list[Question]:
    done = []
    for question in questions:
        try:
            answering.answer(question, "replace", world.ME, confirm=True)
        except ReviewRefused:
            event("refused")
            continue
        done.append(question)
    return done


def rows(proposal: Proposal) -> list[tuple]:
    files = proposal.files.values_list("path", "base_sha", "new_sha", "kind", "memory_type")
    hunks = Hunk.objects.filter(file__proposal=proposal).order_by("file__path", "number")
    shown = hunks.values_list(
        "pk", "hunk_id", "verdict", "base_start", "base_count", "new_start", "new_count"
    )
    return [*files.order_by("path"), *shown]


def readable(project: Project) -> dict[str, object]:
    found = manifest(world.folder(project))
    return {path: entry for path, entry in found.items() if path.endswith(".md")}


@pytest.mark.more
@tries(3, 4)
@given(before=directories, after=directories, wanted=wishes)
def test_answers_taken_back_leave_the_proposal_as_it_was(before, after, wanted) -> None:
    with tempfile.TemporaryDirectory() as base:
        project = world.make_project(Path(base), before)
        proposal = propose(project, after)
        was = rows(proposal) if proposal else []
        done = answer_all(ask(project, proposal, before, wanted))
        for question in done:
            question.refresh_from_db()
            answering.take_back(question, world.ME)
        assert (rows(proposal) if proposal else []) == was
        others = Proposal.objects.filter(project=project, origin="answers")
        assert not others.filter(state="open").exists()
        project.delete()


@pytest.mark.more
@tries(3, 4)
@given(before=directories, after=directories, wanted=wishes, approve=st.booleans())
def test_answers_applied_and_undone_give_the_same_bytes(before, after, wanted, approve: bool) -> None:
    with tempfile.TemporaryDirectory() as base:
        project = world.make_project(Path(base), before)
        tree = readable(project)
        proposal = propose(project, after)
        answer_all(ask(project, proposal, before, wanted))
        made = list(Proposal.objects.filter(project=project).order_by("pk"))
        for each in made:
            if approve:
                review.decide(each, review.select_hunks(each), Hunk.Verdict.APPROVED, world.ME)
            findings = Finding.objects.filter(proposal=each, confirmed_at__isnull=True)
            review.confirm(each, findings.exclude(severity="refuse"), world.ME)
            for rebased in (False, True):
                try:
                    applying.apply(each, world.ME, rebased=rebased)
                except ReviewRefused:
                    break
        written = [
            each for each in made if Hunk.objects.filter(file__proposal=each, applied_in__isnull=False)
        ]
        event(f"applied {len(written)}")
        for each in reversed(written):
            rollback.rollback(each, world.ME)
        assert readable(project) == tree
        assert not Question.objects.filter(
            project=project, state="waiting", operation__proposal__state="applied"
        )
        project.delete()


# For each line what becomes of it, and whose change that is: the dream's, or an answer's.
line_changes = st.lists(
    st.tuples(st.sampled_from(["", "remove", "replace", "add"]), st.booleans()), min_size=2, max_size=8
)


def changed(changes: list[tuple[str, bool]], taken: Callable[[int], bool]) -> list[str]:
    found = []
    for number, (change, _) in enumerate(changes):
        line, what = f"The fact number {number}.", change if taken(number) else ""
        found += {
            "": [line],
            "remove": [],
            "replace": [f"Fact {number}, anew."],
            "add": [line, f"More on {number}."],
        }[what]
    return found


@pytest.mark.sweep
@tries(3, 5)
@given(
    changes=line_changes,
    end=st.sampled_from(["", "\n"]),
    sep=st.sampled_from(["\n", "\n\n"]),
    approve=st.booleans(),
)
def test_answers_beside_the_dreams_changes_of_one_file_are_all_written(
    changes, end, sep, approve: bool
) -> None:
    def content(taken: Callable[[int], bool]) -> bytes:
        found = changed(changes, taken)
        return (sep.join(found) + (end if found else "")).encode()

    path, before = "notes.md", content(lambda n: False)
    with tempfile.TemporaryDirectory() as base:
        project = world.make_project(Path(base), {path: before})
        tree = readable(project)
        proposal = propose(project, {path: content(lambda n: changes[n][1])})
        was = rows(proposal) if proposal else []
        own = [number for number, (change, of_dream) in enumerate(changes) if change and not of_dream]
        wanted = [[(0, content(lambda n, one=one: n == one))] for one in own]
        questions = ask(project, proposal, {path: before}, wanted)
        done = answer_all(questions)
        event(f"joined {sum(each.operation.proposal == proposal for each in refreshed(done))} of {len(own)}")
        for question in done:
            answering.take_back(question, world.ME)
        assert (rows(proposal) if proposal else []) == was
        answer_all(done)
        for each in Proposal.objects.filter(project=project, state="open").order_by("pk"):
            verdict = Hunk.Verdict.APPROVED if approve else Hunk.Verdict.REJECTED
            if each == proposal:
                review.decide(each, review.select_hunks(each), verdict, world.ME)
            review.confirm(each, Finding.objects.filter(proposal=each).exclude(severity="refuse"), world.ME)
            if not applying.apply(each, world.ME).complete:
                event("rebased or in conflict")
                applying.apply(each, world.ME, rebased=True)
        # Those that clash with the dream's change of a neighbour wait for the person.
        left = Proposal.objects.filter(project=project, state="submitted")
        if not left and len(refreshed(done)) == len(own):
            expected = content(lambda n: approve or not changes[n][1])
            assert on_disk(project, path).split() == expected.split()
        for each in (
            Proposal.objects.filter(project=project, applications__isnull=False).order_by("-pk").distinct()
        ):
            if Hunk.objects.filter(file__proposal=each, applied_in__isnull=False):
                rollback.rollback(each, world.ME)
        assert readable(project) == tree
        project.delete()


def refreshed(questions: list[Question]) -> list[Question]:
    return list(Question.objects.filter(pk__in=[each.pk for each in questions], operation__isnull=False))


def on_disk(project: Project, path: str) -> bytes:
    found = world.folder(project) / path
    return found.read_bytes() if found.exists() else b""
