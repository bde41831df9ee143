"""What a dream asks is kept once, the most useful first, and vanishes when it no longer holds."""

from __future__ import annotations

import dataclasses
import datetime as dt
from pathlib import Path

import pytest
from django.utils import timezone

from dreams.engines.types import KEEP, Citation, Edit, Job, Option, Place, Question as Asked
from dreams.models import DreamRun, FileChange, Project, Proposal, Question, Session
from dreams.services import discovery, dreaming, settings_changes
from dreams.services.memories import syncing
from dreams.services.questions import answering, asking as service, shown_questions
from tests.world import asking, directory as world, questions
from tests.world.asking import ALPHA, RESET
from tests.world.rules import memory
from tests.world.talking import say
from tests.world.trusting import approve_each

pytestmark = pytest.mark.django_db

ASK = asking.asks("project_deploy.md", ALPHA, "The API runs on host beta.")
ASK_RESET = asking.asks("feedback_testing.md", RESET, "Use make fresh before a run.", weight=0.9)


def many(count: int, **more) -> list:
    return [
        asking.asks("project_deploy.md", ALPHA, f"Host {n}.", subject=f"host {n}", weight=n / 100, **more)
        for n in range(count)
    ]


def a_week_passes() -> None:
    Question.objects.update(later_until=timezone.now() - dt.timedelta(days=1))


def test_the_most_useful_are_asked_and_the_rest_waits_behind_show_more(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, *many(70))
    assert Question.objects.count() == service.MOST_A_DREAM
    asked = Question.objects.filter(asked=True)
    assert [round(row.weight, 2) for row in asked] == [0.69, 0.68, 0.67, 0.66, 0.65, 0.64, 0.63]
    assert service.show_more(project) == 7 and asked.all().count() == 14
    assert min(row.weight for row in asked.all()) == pytest.approx(0.56)


@pytest.mark.not_on_postgresql
def test_the_setting_says_how_many(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    settings_changes.set_override("questions_per_dream", 0, actor="owner")
    asking.dream(project, monkeypatch, ASK, ASK_RESET)
    assert Question.objects.count() == 2 and not Question.objects.filter(asked=True).exists()


@pytest.mark.not_on_postgresql
def test_a_question_whose_every_answer_changes_something_can_be_left_as_it_is(
    tmp_path: Path, monkeypatch
) -> None:
    def ask(job: Job) -> Asked:
        made = ASK(job)
        return dataclasses.replace(made, options=made.options[:1])

    asking.dream(world.make_project(tmp_path), monkeypatch, ask)
    given = Question.objects.get().options.order_by("number")
    assert [option.option_id for option in given] == ["replace", "keep"]


def test_an_engines_own_words_name_no_secret_of_any_memory(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    secret = "wVx9" + "kQ2mZ7rT4b"
    note = f"---\nname: Vault\ntype: reference\n---\n\npassword: {secret}\n"
    (world.folder(project) / "reference_vault.md").write_text(note)

    def ask(job: Job) -> Asked:
        made = dataclasses.replace(ASK(job), why=f"It no longer opens with {secret}.")
        options = (dataclasses.replace(made.options[0], label=f"Without {secret}"), made.options[1])
        return dataclasses.replace(made, options=options)

    asking.dream(project, monkeypatch, ask)
    row = Question.objects.get()
    assert row.why.startswith("It no longer opens with [redacted: ")
    assert row.options.order_by("number")[0].label.startswith("Without [redacted: ")


@pytest.mark.more
@pytest.mark.parametrize("option", ["keep", "replace", "later"])
def test_what_was_answered_waits_or_was_put_off_is_not_asked_again(
    tmp_path: Path, monkeypatch, option: str
) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    state = answering.answer(Question.objects.get(), option, world.ME).question.state
    asking.dream(project, monkeypatch, ASK)
    assert Question.objects.get().state == state != "open"


@pytest.mark.not_on_postgresql
def test_a_changed_value_is_another_question(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    answering.answer(Question.objects.get(), "keep", world.ME)
    asking.dream(
        project, monkeypatch, asking.asks("project_deploy.md", ALPHA, "Host gamma.", subject="gamma")
    )
    assert asking.states(project) == ["answered", "open"]


def test_a_question_from_a_session_stays_open_when_later_dreams_no_longer_read_that_session(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)
    session = Session.objects.filter(project=project).first() or Session.objects.create(
        project=project,
        session_id="s-1",
        path=str(tmp_path / "s-1.jsonl"),
        size=10,
        touched_at=timezone.now(),
    )

    def said(job: Job) -> Asked:
        from_session = Place(session.path, 3, "No, it runs on host beta.", session_pk=session.pk)
        memory = ASK(job)
        return dataclasses.replace(memory, places=(*memory.places, from_session))

    def leans(job: Job) -> Asked:
        told = Citation("transcript", "It runs on host beta.", session.path, session.pk, 3, role="user")
        return dataclasses.replace(ASK_RESET(job), kind="leans", citations=(told,))

    asking.dream(project, monkeypatch, said, leans)
    asking.dream(project, monkeypatch)
    assert asking.states(project) == ["open", "open"]


def test_a_dream_replaces_the_open_questions_of_the_one_before(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK, ASK_RESET)
    kept = Question.objects.get(places__0__path="project_deploy.md")
    again = asking.asks("project_deploy.md", ALPHA, "Host gamma.", subject=f"project_deploy.md {ALPHA}")
    run = asking.dream(project, monkeypatch, again)
    kept.refresh_from_db()
    assert (kept.state, kept.dream, kept.asked) == ("open", run, True)
    assert "Host gamma." in shown_questions.shown([kept])[0].choices[0].diff
    assert Question.objects.exclude(pk=kept.pk).get().state == "outdated"


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_not_now_ends_after_a_week_when_its_file_changed(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    answering.later(Question.objects.get(), world.ME)
    path = world.folder(project) / "project_deploy.md"
    path.write_text(path.read_text() + "\nDeploys are on Tuesdays.\n")
    syncing.refresh(project)
    asking.dream(project, monkeypatch, ASK)
    assert asking.states(project) == ["later"]
    a_week_passes()
    asking.dream(project, monkeypatch, ASK)
    assert asking.states(project) == ["open"]


@pytest.mark.not_on_postgresql
def test_not_now_goes_on_while_nothing_changed(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    answering.later(Question.objects.get(), world.ME)
    a_week_passes()
    asking.dream(project, monkeypatch, ASK)
    assert asking.states(project) == ["later"]


@pytest.mark.not_on_postgresql
def test_not_now_once_more_is_for_a_week_from_then_and_for_the_file_of_then(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    answering.later(Question.objects.get(), world.ME)
    path = world.folder(project) / "project_deploy.md"
    path.write_text(path.read_text() + "\nDeploys are on Tuesdays.\n")
    syncing.refresh(project)
    soon = timezone.now() + dt.timedelta(hours=1)
    Question.objects.update(later_until=soon)
    answering.later(Question.objects.get(), world.ME)
    assert Question.objects.get(state="later", later_until__gt=soon + dt.timedelta(days=6))
    a_week_passes()
    asking.dream(project, monkeypatch, ASK)
    assert asking.states(project) == ["later"]


@pytest.mark.not_on_postgresql
def test_a_question_whose_statement_is_gone_vanishes(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK, ASK_RESET)
    path = world.folder(project) / "project_deploy.md"
    path.write_text(path.read_text().replace("alpha", "delta"))
    syncing.refresh(project)
    assert {row.kind + row.state for row in Question.objects.filter(state="open")} == {"changedopen"}
    assert Question.objects.get(state="open").places[0]["path"] == "feedback_testing.md"


@pytest.mark.more
@pytest.mark.parametrize("put_off", [False, True])
def test_a_folder_that_is_back_as_it_was_has_the_questions_of_the_last_dream_again(
    tmp_path: Path, monkeypatch, put_off: bool
) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK_RESET)
    asking.dream(project, monkeypatch, ASK)
    if put_off:
        answering.later(Question.objects.get(state="open"), world.ME)
    before = asking.states(project)
    folder = world.folder(project)
    away = folder.rename(folder.with_name("elsewhere"))
    syncing.refresh(project)
    assert asking.states(project) == ["outdated", "outdated"]
    away.rename(folder)
    syncing.refresh(project)
    assert asking.states(project) == before == ["outdated", "later" if put_off else "open"]


@pytest.mark.not_on_postgresql
def test_a_file_that_is_back_otherwise_waits_for_the_next_dream(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    path = world.folder(project) / "project_deploy.md"
    was = path.read_text()
    path.unlink()
    syncing.refresh(project)
    path.write_text(was + "\nDeploys are on Tuesdays.\n")
    syncing.refresh(project)
    assert asking.states(project) == ["outdated"]


def test_a_question_whether_to_make_the_first_index_ends_when_there_is_one(tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"gulls.md": memory("We count gulls.\n", name="Gulls")})
    index = Edit("MEMORY.md", None, "- [Gulls](gulls.md)\n", "answer", "learn", "It was in no index.")
    make = Option("learn", "Create MEMORY.md", (index,))
    [row] = questions.ask(
        project,
        Asked("learn", "no MEMORY.md", "So.", (Place("gulls.md", 6, "We count gulls."),), (make, KEEP)),
    )
    states = []
    for step in ("written by an agent", "removed"):
        if step == "removed":
            (world.folder(project) / "MEMORY.md").unlink()
        else:
            world.put(world.folder(project) / "MEMORY.md", "- [Ropes](ropes.md)\n")
        syncing.refresh(project)
        row.refresh_from_db()
        states.append(row.state)
    assert states == ["outdated", "open"]


@pytest.mark.not_on_postgresql
def test_a_statement_that_moved_or_wraps_otherwise_is_still_there(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    path = world.folder(project) / "project_deploy.md"
    path.write_text(path.read_text().replace(ALPHA, "Where it runs.\n\nThe API runs\non host alpha."))
    syncing.refresh(project)
    assert asking.states(project) == ["open"]


@pytest.mark.not_on_postgresql
def test_a_statement_put_together_from_several_lines_is_found_by_its_first_words(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)

    def together(job: Job) -> Asked:
        made = ASK(job)
        place = dataclasses.replace(made.places[0], text=f"{ALPHA} As the table says.")
        return dataclasses.replace(made, places=(place,))

    asking.dream(project, monkeypatch, together)
    path = world.folder(project) / "project_deploy.md"
    path.write_text(path.read_text() + "\nOne more line.\n")
    syncing.refresh(project)
    assert asking.states(project) == ["open"]


@pytest.mark.more
def test_a_kind_that_is_mostly_left_as_it_is_is_no_longer_asked(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, *many(10))
    for question in Question.objects.all():
        answering.answer(question, "keep", world.ME)
    assert service.muted_kinds(project) == {"changed"}
    asking.dream(project, monkeypatch, ASK, asking.asks("feedback_testing.md", RESET, "No.", kind="gone"))
    open_now = Question.objects.filter(state="open")
    assert {(row.kind, row.asked) for row in open_now} == {("changed", False), ("gone", True)}
    assert service.show_more(project) == 0


def test_questions_that_cannot_be_kept_cost_the_dream_nothing(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    monkeypatch.setattr(service, "_save", lambda *_: 1 / 0)
    asking.dream(project, monkeypatch, ASK)
    assert not Question.objects.exists()


def test_the_inbox_ranks_by_weight_and_age_across_projects(tmp_path: Path, monkeypatch) -> None:
    first = world.make_project(tmp_path)
    asking.dream(first, monkeypatch, *many(7))
    second = Project.objects.create(
        host=first.host, memory_dir=str(tmp_path / "b"), slug="-b", name="b", root="", history_key="b"
    )
    old = Question.objects.order_by("weight").first()
    Question.objects.filter(pk=old.pk).update(created_at=timezone.now() - dt.timedelta(days=60))
    Question.objects.filter(weight=0.06).update(project=second)
    found = shown_questions.open_questions(3)
    assert (found.count, found.projects) == (7, 2)
    assert found.questions[0] == old and [row.weight for row in found.questions[1:]] == [0.06, 0.05]


UNLISTED = {
    f"{each}.md": memory(f"We count {each}.\n", name=f"Counting {each}")
    for each in ("gulls", "cranes", "ropes", "tides")
}


def dream_by_rules(project: Project) -> tuple[list[str], list[list[str]]]:
    """The files that the dream changes, all approved, and the memories that its questions are about."""
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert run is not None and run.status == "completed", run and run.error
    if proposal := Proposal.of(run):
        approve_each(proposal)
    places = Question.objects.filter(project=project, state="open").values_list("places", flat=True)
    changed = FileChange.objects.filter(proposal=proposal).order_by("path").values_list("path", flat=True)
    return list(changed), [[place["path"] for place in each] for each in places]


@pytest.mark.parametrize("answer", ["keep", None])
def test_a_first_row_of_an_index_does_not_list_what_the_person_was_asked_about(
    tmp_path: Path, answer: str | None
) -> None:
    project = world.make_project(tmp_path, UNLISTED)
    assert dream_by_rules(project) == ([], [sorted(UNLISTED)])
    if answer:
        answering.answer(Question.objects.get(), answer, world.ME)
    for number, learnt in enumerate(("boats at the lock on Mondays", "crates in the hold on Fridays")):
        say(tmp_path, f"Remember that we count {learnt}.", name=str(number))
        discovery.discover([tmp_path])
        changed, _ = dream_by_rules(project)
        assert len(changed) == 2 and changed[0] == "MEMORY.md"
    changed, asked = dream_by_rules(project)
    assert changed == [] and not any(
        path in (world.folder(project) / "MEMORY.md").read_text() for path in UNLISTED
    )
    assert asked == ([] if answer else [sorted(UNLISTED)])


def test_a_memory_that_was_left_without_a_row_is_not_asked_about_with_the_next_one(tmp_path: Path) -> None:
    files = {path: text.replace("Counting", "Status of") for path, text in UNLISTED.items()}
    project = world.make_project(
        tmp_path, {"MEMORY.md": "# Memory\n\n- [Piers](piers.md) — where they are\n", **files}
    )
    assert dream_by_rules(project) == ([], [sorted(UNLISTED)])
    answering.answer(Question.objects.get(), "keep", world.ME)
    world.put(world.folder(project) / "lamps.md", files["gulls.md"].replace("gulls", "lamps"))
    assert dream_by_rules(project) == ([], [["lamps.md"]])


def test_all_places_of_a_question_are_kept_and_counted(tmp_path: Path) -> None:
    files = {f"{n}.md": memory(f"We count the ship number {n}.\n", name=f"Status of {n}") for n in range(40)}
    project = world.make_project(tmp_path, files)
    _, asked = dream_by_rules(project)
    assert [len(each) for each in asked] == [40]
