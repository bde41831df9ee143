"""Two projects with the same texts, policies, and secrets that are purged, in any order: each project has what was decided for it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import event, settings, strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from dreams.engines.types import Edit, Job, Reporter
from dreams.lib.secrets.redact import values as secrets_in, without
from dreams.models import AppliedFile, DreamRun, Hunk
from dreams.services import dreaming, proposals, review, secret_purge, settings_changes, verifying
from dreams.services.apply import applying
from dreams.services.secret_purge import PurgeRefused
from tests.pipeline import test_any_order as in_any_order
from tests.pipeline.test_any_order import AnyOrder, changes, maybe_gone, paths, slots
from tests.world import directory as world, engines, slots as texts
from tests.world.directory import ME
from tests.world.strategies import tries

# Made from parts: no file may hold what looks like a live credential.
TOKEN = "ghp_" + "m2Rk9WvX4cT7pB1zN6hQ8dJ3sL5yG0fAuEoI"
LEAKED, MASKED = 20, 21  # the values of a slot with the token, and after its purge
LINE, VALUES_OF = texts.line, texts.values_of
MASK = without(TOKEN, secrets_in(TOKEN))


def line(path: str, slot: int, value: int) -> str:
    said = {LEAKED: f"{LEAKED}, with {TOKEN}", MASKED: f"{LEAKED}, with {MASK}"}.get(value, str(value))
    return LINE(path, slot, 0).replace("value 0", f"value {said}")


def values_of(path: str, data: bytes) -> texts.Values:
    found = dict(texts.EMPTY)
    for slot, value, more in re.findall(r"Slot (\d)\b.* value (\d+)(.*)", data.decode()):
        found[int(slot)] = MASKED if MASK in more else int(value)
    assert texts.content(path, found) == data, f"{path}:\n{data.decode()}"
    return found


class AnyOrderOfTwo(AnyOrder):
    def __init__(self) -> None:
        super().__init__()
        self.beside = tempfile.TemporaryDirectory()
        self.steps = 0
        mine, self.untouched = (self.project, self.folder, self.disk), dict[str, bytes]()
        self.other = world.make_project(Path(self.beside.name), self.disk)
        self.project, self.folder, self.disk = self.other, world.folder(self.other), dict(self.disk)
        self.write_on_disk(path="two.md", slot=1, value=LEAKED, seen=True)
        self.dream_and_apply(
            changes=[("one.md", 0, 1), ("two.md", 1, None)], together=True, gone=None, rebased=False
        )
        self.untouched = self.disk
        self.project, self.folder, self.disk = mine

    def teardown(self) -> None:
        super().teardown()
        self.beside.cleanup()

    @rule(path=paths, slot=slots, seen=st.booleans())
    def leak(self, path: str, slot: int, seen: bool) -> None:
        self.write_on_disk(path=path, slot=slot, value=LEAKED, seen=seen)

    @rule(path=paths, slot=slots)
    def leak_and_purge(self, path: str, slot: int) -> None:
        self.write_on_disk(path=path, slot=slot, value=LEAKED, seen=True)
        for name, of_slot in [(name, at) for name in texts.FILES for at in range(texts.SLOTS)]:
            if name in self.disk and values_of(name, self.disk[name])[of_slot] == LEAKED:
                self.write_on_disk(path=name, slot=of_slot, value=13, seen=True)
        for proposal in list(self.waiting()):
            hunks = review.select_hunks(proposal)
            self.maybe(lambda: review.decide(proposal, hunks, Hunk.Verdict.REJECTED, ME))  # noqa: B023 - called at once
            self.maybe(lambda: applying.apply(proposal, ME))  # noqa: B023 - called at once
        leaks = {leak.id for leak in secret_purge.find_secrets(self.project).found}
        try:
            secret_purge.purge(self.project, leaks, ME)
        except PurgeRefused as refused:
            event(str(refused)[:40])
        else:
            assert not any(TOKEN in text for _, text in secret_purge.locating.contents_of(self.project))
        self.unchanged()

    @rule(operation=st.sampled_from(["add", "change", "remove"]), action=st.sampled_from(["auto", "review"]))
    def set_a_policy(self, operation: str, action: str) -> None:
        settings_changes.set_policy(operation, action, actor="owner")

    @rule(changes=changes, together=st.booleans(), gone=maybe_gone)
    def dream_with_policies(self, changes, together: bool, gone: str | None) -> None:
        def act(job: Job, report: Reporter) -> list[Edit]:
            before = {path: (job.workspace.read(path) or "").encode() for path in job.workspace.paths()}
            after, steps = texts.edits(before, changes, together=together)
            for path in {step.path for step in steps}:
                job.workspace.write(path, after[path].decode())
            return steps

        with pytest.MonkeyPatch.context() as patch:
            engines.use(patch, act)
            asked = dreaming.request(self.project, DreamRun.Trigger.PAGE, engine="rules", forced=True)
            run = dreaming.run_dream(asked.pk)
        assert run is not None and run.status == "completed", run and run.error
        written = AppliedFile.objects.filter(application__proposal__in=run.proposals.filter(by_policy=True))
        event(f"by policy {written.count()}")
        expected = dict(self.disk)
        for row in written:
            assert proposals.bytes_of(row.before_sha) == expected.pop(row.path, None)
            expected |= {row.path: data} if (data := proposals.bytes_of(row.after_sha)) is not None else {}
        self.disk = expected
        self.unchanged()

    @invariant()
    def the_other_is_as_it_was(self) -> None:
        self.steps += 1
        now = {path.name: path.read_bytes() for path in self.others_files()}
        assert now == self.untouched or not self.untouched
        if self.steps % 5 == 0:
            assert [*verifying.verify(self.project).problems, *verifying.verify(self.other).problems] == []

    def others_files(self) -> Iterator[Path]:
        return (path for path in world.folder(self.other).iterdir() if not path.name.startswith("."))

    def all_is_undone(self) -> None:
        super().all_is_undone()
        self.project, self.folder, self.disk = self.other, world.folder(self.other), self.untouched
        super().all_is_undone()
        now = {path.name: values_of(path.name, path.read_bytes()) for path in self.others_files()}
        assert (now["one.md"][0], now["two.md"][1]) == (100, LEAKED), "also what a purge took from the first"


@pytest.mark.more
@pytest.mark.django_db
@pytest.mark.hypothesis
def test_in_any_order_each_of_two_projects_holds_what_was_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (texts, in_any_order):
        monkeypatch.setattr(module, "line", line)
        monkeypatch.setattr(module, "values_of", values_of)
    run_state_machine_as_test(AnyOrderOfTwo, settings=settings(tries(2, 8), stateful_step_count=14))
