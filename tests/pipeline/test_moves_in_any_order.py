"""Memories that move between two projects, in any order with undos and redos: none is ever lost without a word."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from django.db import transaction
from hypothesis import event, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from dreams.lib.refusal import Refusal
from dreams.models import Hunk, Memory, Project
from dreams.services import review, rollback, verifying
from dreams.services.apply import applying
from dreams.services.memories import moved, syncing
from tests.world import directory as world
from tests.world.directory import ME
from tests.world.strategies import tries

T = TypeVar("T")
FACTS = range(4)
sides, facts, numbers = st.booleans(), st.sampled_from(FACTS), st.integers(0, 9)


def name(fact: int) -> str:
    return f"fact_{fact}.md"


def files(*mine: int) -> dict[str, bytes]:
    rows = "".join(f"- [Fact {fact}]({name(fact)}) — What fact {fact} is about\n" for fact in mine)
    head = "---\nname: fact {0}\ndescription: What fact {0} is about\ntype: project\n---\n\nMark {0} holds.\n"
    return {
        "MEMORY.md": f"# Memory\n\n{rows}".encode(),
        **{name(fact): head.format(fact).encode() for fact in mine},
    }


class Moves(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._rows = transaction.atomic()
        self._rows.__enter__()
        self._base = tempfile.TemporaryDirectory()
        self.projects = [self.project("one", 0, 1, 2), self.project("two", 3)]
        self.named_as_gone = set[int]()

    def project(self, folder: str, *mine: int) -> Project:
        base = Path(self._base.name) / folder
        base.mkdir()
        return world.make_project(base, files(*mine))

    def teardown(self) -> None:
        try:
            assert not [each for project in self.projects for each in verifying.verify(project).problems]
        finally:
            transaction.set_rollback(True)
            self._rows.__exit__(None, None, None)
            self._base.cleanup()

    def held(self, project: Project) -> set[int]:
        texts = [path.read_text() for path in world.folder(project).glob("fact_*.md")]
        return {fact for fact in FACTS if any(f"Mark {fact} " in each for each in texts)}

    def held_anywhere(self) -> set[int]:
        return self.held(self.projects[0]) | self.held(self.projects[1])

    def unless_refused(self, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except Refusal:
            event("refused")
            return None

    @rule(back=sides, fact=facts, stops_between=sides)
    def move(self, back: bool, fact: int, stops_between: bool) -> None:
        source, target = self.projects[back], self.projects[not back]
        syncing.refresh(source)
        memory = (
            Memory.objects.filter(project=source, path=name(fact), gone_at=None)
            .select_related("project")
            .first()
        )
        if memory is None:
            return
        for half in moved.halves(memory, target, ME)[: 1 if stops_between else 2]:
            done = self.unless_refused(half.act)
            if done is None or not done.complete:
                return
        event("moved")

    @rule(of=sides, number=numbers, alone=sides, never=sides)
    def undo(self, of: bool, number: int, alone: bool, never: bool) -> None:
        standing = Hunk.objects.filter(applied_in__isnull=False, undone_in=None).values("file__proposal")
        written = list(self.projects[of].proposals.filter(pk__in=standing).order_by("pk"))
        if not written:
            return
        proposal, before = written[number % len(written)], self.held_anywhere()
        path = proposal.files.order_by("-path")[0].path
        what = rollback.Selection(paths=(path,)) if alone else rollback.EVERYTHING
        done = self.unless_refused(lambda: rollback.rollback(proposal, ME, what, never_again=never))
        for fact in before - self.held_anywhere():
            assert done is not None and any(f"{name(fact)} is in neither" in each for each in done.said)
            self.named_as_gone.add(fact)
            event("named as gone")

    @rule(of=sides, number=numbers)
    def apply(self, of: bool, number: int) -> None:
        waiting = list(self.projects[of].proposals.filter(state__in=["open", "submitted"]).order_by("pk"))
        if not waiting:
            return
        proposal = waiting[number % len(waiting)]
        self.unless_refused(
            lambda: review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, ME)
        )
        review.confirm(proposal, proposal.findings.filter(severity="block", confirmed_at=None), ME)
        self.unless_refused(lambda: applying.apply(proposal, ME, rebased=True))

    @rule(of=sides, fact=facts)
    def agent_writes(self, of: bool, fact: int) -> None:
        path = world.folder(self.projects[of]) / name(fact)
        if path.exists():
            path.write_text(f"{path.read_text()}More of {fact}.\n")

    @rule(of=sides, fact=facts)
    def agent_removes_one_of_two(self, of: bool, fact: int) -> None:
        if fact in self.held(self.projects[of]) & self.held(self.projects[not of]):
            (world.folder(self.projects[of]) / name(fact)).unlink()

    @invariant()
    def every_fact_is_somewhere(self) -> None:
        held = self.held_anywhere()
        self.named_as_gone -= held
        assert held | self.named_as_gone == set(FACTS)


@pytest.mark.django_db
@pytest.mark.hypothesis
@pytest.mark.more
def test_moved_in_any_order_no_memory_is_lost_without_a_word() -> None:
    run_state_machine_as_test(Moves, settings=settings(tries(2, 12), stateful_step_count=12))
