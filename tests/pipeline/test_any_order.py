"""A person, an agent and a dreamer at one memory directory, in any order: the files hold what was decided, and nothing else."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import pytest
from django.db import transaction
from hypothesis import event, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from dreams.engines import drafts
from dreams.engines.types import Edit, Fate, Option, Place, Question as Asked
from dreams.lib.files import workspace
from dreams.models import AppliedFile, DreamRun, FileChange, Hunk, Memory, Proposal, Question, Version
from dreams.services import proposals, review, rollback, verifying
from dreams.services.apply import applying
from dreams.services.memories import hand_edits, syncing
from dreams.services.proposals import rebase
from dreams.services.questions import answering, asking
from dreams.services.review import ReviewRefused
from tests.world import directory as world, rows
from tests.world.directory import ME
from tests.world.slots import (
    EMPTY,
    FILES,
    INDEX,
    SLOTS,
    anchor,
    assert_changed,
    content,
    edits,
    line,
    values_of,
)
from tests.world.strategies import tries

T = TypeVar("T")
paths, slots, numbers = st.sampled_from(FILES), st.integers(0, SLOTS - 1), st.integers(0, 7)
values = st.one_of(st.integers(0, 3), st.none())
theirs = st.one_of(st.integers(10, 13), st.none())  # what others write
changes = st.lists(st.tuples(paths, slots, values), min_size=1, max_size=4)
CLOSED = (
    "submitted",
    "applied",
    "superseded",
)  # one that is partly written may be replaced by a newer dream's
maybe_gone = st.sampled_from([None, None, None, *FILES])


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._rows = transaction.atomic()
        self._rows.__enter__()
        self._base = tempfile.TemporaryDirectory()
        self.disk = {path: content(path, {slot: 100 + slot for slot in range(SLOTS)}) for path in FILES}
        self.project = world.make_project(Path(self._base.name), self.disk)
        self.folder = world.folder(self.project)
        self.dreams = 0

    def teardown(self) -> None:
        try:
            self.all_is_undone()
        finally:
            transaction.set_rollback(True)
            self._rows.__exit__(None, None, None)
            self._base.cleanup()

    # --- What is there ------------------------------------------------------------------------------------------

    def read(self) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes() for path in self.folder.iterdir() if not path.name.startswith(".")
        }

    def unchanged(self) -> None:
        assert self.read() == self.disk

    def pick(self, number: int, found: Iterable[T]) -> T | None:
        listed = list(found)
        return listed[number % len(listed)] if listed else None

    def waiting(self) -> Iterable[Proposal]:
        return self.project.proposals.filter(state__in=["open", "submitted"]).order_by("pk")

    def written(self) -> Iterable[Proposal]:
        done = Hunk.objects.filter(applied_in__isnull=False, undone_in__isnull=True)
        return self.project.proposals.filter(pk__in=done.values("file__proposal")).order_by("pk")

    # --- Dreams and reviews -------------------------------------------------------------------------------------

    @rule(
        changes=changes,
        together=st.booleans(),
        gone=maybe_gone,
        asked=st.lists(st.tuples(paths, slots, values), max_size=2),
    )
    def dream(self, changes, together: bool, gone: str | None, asked=()) -> None:
        syncing.refresh(self.project)
        before = workspace.take(self.folder).contents()
        after, steps = edits(before, changes, together=together)
        if gone and gone in after:
            text = after.pop(gone).decode()
            fates = tuple(Fate(one, "stated", note="So.") for one in text.splitlines() if one.strip())
            steps.append(Edit(gone, text, None, "both" if together else "gone", "prune", "So.", (), fates))
        dream, proposal = rows.make_dream(self.project, DreamRun.Status.COMPLETED), None
        if after != before:
            old = proposals.open_dream_proposal(self.project)
            if old is not None:
                answering.move_answers(old)
            origin = proposals.ProposalOrigin(Proposal.Origin.DREAM, summary="So.", dream=dream)
            draft = drafts.draft(before, after, steps)
            proposal = proposals.create(self.project, origin, draft, before, instead_of=old)
        asking.save(dream, proposal, [one for change in asked for one in self.question(before, change)])
        self.unchanged()

    def question(self, before: dict[str, bytes], change) -> Iterable[Asked]:
        (path, slot, _), (_, steps) = change, edits(before, [change], together=True)
        if not steps or path not in before:
            return
        self.dreams += 1
        old = values_of(path, before[path])[slot]
        place = Place(path, 1, line(path, slot, old) if old is not None else anchor(path, slot))
        options = (Option("replace", "Do", tuple(steps)), Option("keep", "Keep"))
        yield Asked("changed", str(self.dreams), "Is it so?", (place,), options)

    @rule(
        number=numbers,
        which=numbers,
        verdict=st.sampled_from(["approved", "approved", "rejected", "pending"]),
    )
    def decide(self, number: int, which: int, verdict: str) -> None:
        proposal = self.pick(number, self.waiting())
        hunk = self.pick(which, review.select_hunks(proposal)) if proposal else None
        if proposal and hunk:
            self.maybe(lambda: review.decide(proposal, [hunk], Hunk.Verdict(verdict), ME))
        self.unchanged()

    @rule(number=numbers, which=numbers, value=st.integers(4, 6))
    def edit_a_change(self, number: int, which: int, value: int) -> None:
        files = FileChange.objects.filter(proposal__in=self.waiting(), proposal__state="open", kind="modify")
        pairs = [pair for file in files.order_by("pk") for pair in proposals.text_hunks(file)]
        pair = self.pick(which, [pair for pair in pairs if re.search(r"value \d", pair[1].added)])
        if pair:
            text = re.sub(r"value \d+", f"value {value}", pair[1].added)
            self.maybe(lambda: review.edit(pair[0].file.proposal, pair[0], text, ME))
        self.unchanged()

    def maybe(self, act) -> bool:
        """Whether it was not refused; what was refused changed nothing."""
        try:
            act()
        except ReviewRefused as refused:
            event(re.sub(r"\b\w*\d\w*\b", "…", str(refused))[:60])
            self.unchanged()
            return False
        return True

    @rule(changes=changes, together=st.booleans(), gone=maybe_gone, rebased=st.booleans())
    def dream_and_apply(self, changes, together: bool, gone: str | None, rebased: bool) -> None:
        self.dream(changes=changes, together=together, gone=gone, asked=[])
        for number in range(len(list(self.waiting()))):
            self.apply(number=number, rebased=rebased, approve=True)

    # --- Writing ------------------------------------------------------------------------------------------------

    @rule(number=numbers, rebased=st.booleans(), approve=st.booleans())
    def apply(self, number: int, rebased: bool, approve: bool) -> None:
        proposal = self.pick(number, self.waiting())
        if proposal is None:
            return
        if approve:
            self.maybe(
                lambda: review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, ME)
            )
        review.confirm(proposal, proposal.findings.filter(severity="block", confirmed_at=None), ME)
        seen = {
            f.path: (proposals.bytes_of(f.base_sha), proposals.decided_bytes(f)) for f in proposal.files.all()
        }
        taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN, applied_in=None)
        wanted = set(taken.values_list("file__path", flat=True))
        try:
            report = applying.apply(proposal, ME, rebased=rebased)
        except ReviewRefused:
            self.unchanged()
            return
        now, done = self.read(), {one.path for one in report.applied}
        assert not report.error and done <= wanted
        event(f"applied {len(done)}")
        for path in now.keys() | self.disk.keys():
            if path in done:
                assert_changed(path, self.disk.get(path), now.get(path), *seen[path])
            else:
                assert now.get(path) == self.disk.get(path), path
        if report.complete:
            assert all(path in done or self.disk.get(path) == seen[path][1] for path in wanted)
        self.disk = now

    @rule(
        number=numbers,
        scope=st.sampled_from(["all", "all", "path", "hunk"]),
        which=numbers,
        never=st.booleans(),
    )
    def undo(self, number: int, scope: str, which: int, never: bool) -> None:
        proposal = self.pick(number, self.written())
        if proposal is not None:
            self.undone(proposal, scope, which, never_again=never)

    def undone(
        self, proposal: Proposal, scope: str = "all", which: int = 0, *, never_again: bool = False
    ) -> bool:
        applied = Hunk.objects.filter(file__proposal=proposal, applied_in__isnull=False)
        standing = list(applied.filter(undone_in=None).select_related("file"))
        chosen = self.pick(which, standing)
        assert chosen
        selection = {
            "all": rollback.EVERYTHING,
            "path": rollback.Selection(paths=(chosen.file.path,)),
            "hunk": rollback.Selection(hunk_ids=(chosen.hunk_id,)),
        }[scope]
        whole = scope == "all" and len(standing) == applied.count()
        files = AppliedFile.objects.filter(application__proposal=proposal)
        written = {
            row.path: (proposals.bytes_of(row.after_sha), proposals.bytes_of(row.before_sha)) for row in files
        }
        report = rollback.rollback(proposal, ME, selection, never_again=never_again)
        assert not report.error
        if report.conflicts:
            event("undo: conflict")
            self.unchanged()
            return False
        event(f"undone {scope}")
        now = self.read()
        for path in now.keys() | self.disk.keys():
            if path in written:
                assert_changed(path, self.disk.get(path), now.get(path), *written[path], whole=whole)
            else:
                assert now.get(path) == self.disk.get(path), path
        self.disk = now
        left = Hunk.objects.filter(pk__in=[one.pk for one in standing], undone_in=None).count()
        assert left == 0 if scope == "all" else left < len(standing)
        return True

    @rule(number=numbers)
    def ask_for_an_undo(self, number: int) -> None:
        proposal = self.pick(number, self.written())
        if proposal and not self.project.proposals.filter(origin="rollback", state="open").exists():
            rollback.propose(proposal, ME, rollback.EVERYTHING)
        self.unchanged()

    @rule(number=numbers, choice=st.sampled_from(["ours", "theirs"]))
    def solve(self, number: int, choice: str) -> None:
        rows = FileChange.objects.filter(proposal__in=self.waiting(), conflict__isnull=False)
        file = self.pick(number, rows.order_by("pk"))
        if file is not None:
            sides = rebase.sides_of(file)
            places = len(rebase.three_way(sides, file.path).conflicts)
            remove = (sides.now if choice == "ours" else sides.wanted) is None
            review.solve_conflict(file, dict.fromkeys(range(places), choice), ME, remove=remove)
        self.unchanged()

    # --- Others -------------------------------------------------------------------------------------------------

    @rule(path=paths, slot=slots, value=theirs, seen=st.booleans())
    def write_on_disk(self, path: str, slot: int, value: int | None, seen: bool) -> None:
        was = values_of(path, self.disk[path]) if path in self.disk else EMPTY
        self.disk[path] = content(path, {**was, slot: value})
        (self.folder / path).write_bytes(self.disk[path])
        if seen:
            syncing.refresh(self.project)

    @rule(path=paths, away=st.booleans(), back=st.booleans())
    def rename_on_disk(self, path: str, away: bool, back: bool) -> None:
        old, new = self.folder / path, self.folder / f"moved_{path}"
        if away and old.exists():
            old.rename(new)
            syncing.refresh(self.project)
        if back and new.exists():
            new.rename(old)
        self.disk = self.read()

    @rule(path=paths, slot=slots, value=theirs)
    def edit_here(self, path: str, slot: int, value: int | None) -> None:
        syncing.refresh(self.project)
        memory = Memory.objects.filter(project=self.project, path=path, gone_at=None).first()
        if memory is not None:
            wanted = content(path, {**values_of(path, self.disk[path]), slot: value})
            if self.maybe(lambda: hand_edits.edit(memory, wanted.decode(), memory.sha256, ME)):
                self.disk[path] = wanted
        self.unchanged()

    @rule(path=paths.filter(lambda path: path != INDEX))
    def forget(self, path: str) -> None:
        memory = Memory.objects.filter(project=self.project, path=path, gone_at=None).first()
        if memory is not None and self.maybe(lambda: hand_edits.forget(memory, ME)):
            self.disk.pop(path, None)
        self.unchanged()

    @rule(number=numbers, path=paths)
    def restore(self, number: int, path: str) -> None:
        found = Version.objects.filter(memory__project=self.project, memory__path=path).exclude(sha256="")
        version = self.pick(number, found.order_by("-pk"))
        if version and self.maybe(lambda: hand_edits.restore(self.project, path, version.sha256, ME)):
            self.disk[path] = proposals.bytes_of(version.sha256) or b""
        self.unchanged()

    @rule(number=numbers, option=st.sampled_from(["replace", "replace", "keep", "later"]))
    def answer(self, number: int, option: str) -> None:
        found = Question.objects.filter(project=self.project, state__in=["open", "later"])
        question = self.pick(number, found.order_by("pk"))
        if question is not None:
            self.maybe(lambda: answering.answer(question, option, ME, confirm=True))
        self.unchanged()

    @rule(number=numbers)
    def take_back(self, number: int) -> None:
        question = self.pick(
            number, Question.objects.filter(project=self.project).exclude(state="open").order_by("pk")
        )
        if question is not None:
            self.maybe(lambda: answering.take_back(question, ME))
        self.unchanged()

    # --- Always -------------------------------------------------------------------------------------------------

    @invariant()
    def rows_fit(self) -> None:
        for question in Question.objects.filter(project=self.project).select_related("operation__proposal"):
            state = question.operation.proposal.state if question.operation else ""
            assert question.state != "waiting" or state == "open"
            assert question.state != "open" or not (state or question.answer)
            assert (question.state, question.answer) != ("answered", "replace") or state in CLOSED
        for proposal in self.project.proposals.all():
            hunks = list(Hunk.objects.filter(file__proposal=proposal))
            assert all(one.is_taken for one in hunks if one.applied_in_id)
            assert proposal.state in CLOSED or not any(one.applied_in_id for one in hunks)
            assert proposal.state != "applied" or all(one.applied_in_id for one in hunks if one.is_taken)
            taken = {(one.operation_id, one.is_taken) for one in hunks if one.operation_id}
            assert len(taken) == len({operation for operation, _ in taken}), "half an operation"

    def all_is_undone(self) -> None:
        """The last first, as often as one can be: what others wrote since may be in the way."""
        more = True
        while more:
            found = [proposal for proposal in self.written() if proposal.origin != "rollback"]
            more = sum(self.undone(proposal) for proposal in reversed(found)) > 0
        assert not verifying.verify(self.project).problems
        self.rows_fit()


@pytest.mark.django_db
@pytest.mark.hypothesis
def test_in_any_order_the_files_hold_what_was_decided() -> None:
    run_state_machine_as_test(AnyOrder, settings=settings(tries(2, 12), stateful_step_count=12))
