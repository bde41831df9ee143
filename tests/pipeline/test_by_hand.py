"""Edit, forget and restore by hand: through the same door, and undone like everything else."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dreams.lib.files import text, workspace
from dreams.models import AppliedBatch, FileChange, Memory, Proposal, Version
from dreams.services import project_lock, rollback
from dreams.services.apply import applying
from dreams.services.dreaming.dream_inputs import hand_edited
from dreams.services.memories import hand_edits, syncing
from dreams.services.proposals import saving, summaries
from dreams.services.review import ReviewRefused
from tests.world import directory as world
from tests.world.manifest import manifest

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]


def memory(path: str) -> Memory:
    return Memory.objects.get(path=path)


@pytest.mark.not_on_postgresql
def test_an_edit_by_hand_is_applied_and_kept_as_a_version(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    row = memory("project_deploy.md")
    sent = world.DEPLOY.replace("alpha", "beta").replace("\n", "\r\n")  # as browsers do
    assert hand_edits.edit(row, sent, row.sha256, world.ME).complete
    written = (world.folder(project) / "project_deploy.md").read_bytes()
    assert b"beta" in written and b"\r" not in written
    assert Version.objects.filter(memory=row).first().origin == "edit"


@pytest.mark.parametrize("stated", [b"caf\xe9", b"x" * 60], ids=["not UTF-8", "longer than its column"])
def test_a_memory_of_an_odd_type_can_be_forgotten(tmp_path: Path, stated: bytes) -> None:
    world.make_project(tmp_path, {"a.md": b"---\nname: A\ntype: %s\n---\n\nText.\n" % stated})
    row = memory("a.md")
    assert hand_edits.forget(row, world.ME).complete
    assert FileChange.objects.get().memory_type == row.type


LINE_ENDS = {
    "mostly CRLF": (b"one\r\ntwo\nthree\nfour\r\nfive\r\n", b"one\r\nTWO\r\nthree\nfour\r\nfive\r\n"),
    "mostly LF": (b"one\ntwo\nthree\r\nfour\n", b"one\nTWO\nthree\r\nfour\n"),
    "a lone CR": (b"one\rhalf\n\ntwo\nthree", b"one\rhalf\n\nTWO\nthree"),
    "a BOM and no last line end": (
        b"\xef\xbb\xbfone\r\ntwo\r\nthree",
        b"\xef\xbb\xbfone\r\nTWO\r\nthree",
    ),
}


@pytest.mark.not_on_postgresql
def test_lines_that_nobody_edited_keep_their_bytes(tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {f"{name}.md": was for name, (was, _) in LINE_ENDS.items()})
    for name, (was, becomes) in LINE_ENDS.items():
        row, lines = memory(f"{name}.md"), was.decode().replace("\r\n", "\n").replace("\r", "\n")
        sent = "\r\n".join(lines.replace("two", "TWO").split("\n"))
        assert hand_edits.edit(row, sent, row.sha256, world.ME).complete, name
        assert (world.folder(project) / row.path).read_bytes() == becomes, name


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_private_memory_that_comes_back_is_private(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    path = world.folder(project) / "project_deploy.md"
    path.chmod(0o600)
    hand_edits.forget(memory("project_deploy.md"), world.ME)
    hand_edits.restore(project, "project_deploy.md", text.sha256(world.DEPLOY.encode()), world.ME)
    assert (path.read_text(), path.stat().st_mode & 0o777) == (world.DEPLOY, 0o600)


def test_an_edit_of_an_old_state_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    row = memory("project_deploy.md")
    world.put(world.folder(project) / "project_deploy.md", "written meanwhile\n")
    before = manifest(world.folder(project))
    with pytest.raises(hand_edits.Stale):
        hand_edits.edit(row, "mine\n", row.sha256, world.ME)
    assert manifest(world.folder(project)) == before


@pytest.mark.also_on_postgresql
def test_a_form_that_is_sent_twice_makes_one_proposal(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    row, changed = memory("project_deploy.md"), world.DEPLOY.replace("alpha", "beta")
    assert hand_edits.edit(row, changed, row.sha256, world.ME).complete
    assert hand_edits.edit(row, changed, row.sha256, world.ME) == hand_edits.NO_DIFFERENCE
    with project_lock.hold(project, "dream"):
        for _ in range(2):
            with pytest.raises(ReviewRefused, match="It waits as"):
                hand_edits.forget(memory("project_deploy.md"), world.ME)
    assert sorted(Proposal.objects.values_list("origin", "state")) == [
        ("edit", "applied"),
        ("forget", "submitted"),
    ]


@pytest.mark.also_on_postgresql
def test_a_form_that_is_sent_again_before_the_first_is_done_makes_one_proposal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.make_project(tmp_path)
    when = timezone.now()
    world.put(world.folder(project) / "project_deploy.md", "Changed since.\n")
    check, made = saving.check_draft, list[Proposal | None]()

    def check_beside_another(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(saving, "check_draft", check)
        made.append(hand_edits.propose_moment(project, when, world.ME))
        return check(*given, **more)

    monkeypatch.setattr(saving, "check_draft", check_beside_another)
    assert [hand_edits.propose_moment(project, when, world.ME)] == made == list(Proposal.objects.all())


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_what_waits_for_other_bytes_is_not_what_is_asked_for_now(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    path = world.folder(project) / "project_deploy.md"
    with project_lock.hold(project, "dream"), pytest.raises(ReviewRefused, match="It waits as"):
        hand_edits.forget(memory(path.name), world.ME)
    path.write_text("Rewritten meanwhile.\n")
    assert not applying.apply(Proposal.objects.get(), world.ME).complete
    assert hand_edits.forget(memory(path.name), world.ME).complete
    assert not path.exists()


def test_a_change_between_look_and_write_is_seen(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    row = memory("project_deploy.md")
    look = hand_edits._now

    def look_and_be_overtaken(*found):
        seen = look(*found)
        world.put(world.folder(project) / "project_deploy.md", "written meanwhile\n")
        return seen

    monkeypatch.setattr(hand_edits, "_now", look_and_be_overtaken)
    with pytest.raises(hand_edits.Stale):
        hand_edits.edit(row, "mine\n", row.sha256, world.ME)
    assert (world.folder(project) / "project_deploy.md").read_text() == "written meanwhile\n"


@pytest.mark.also_on_postgresql
def test_an_edit_while_somebody_else_is_at_the_folder_says_where_it_waits(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    row = memory("project_deploy.md")
    with project_lock.hold(project, "dream"), pytest.raises(ReviewRefused) as refused:
        hand_edits.edit(row, world.DEPLOY.replace("alpha", "beta"), row.sha256, world.ME)
    waiting = Proposal.objects.get()
    assert str(refused.value).endswith(f"It waits as {waiting.public_id}.") and waiting.state == "submitted"
    assert applying.apply(waiting, world.ME).complete


def test_a_look_from_before_a_write_does_not_say_that_the_write_was_taken_back(tmp_path: Path) -> None:
    """A check for new sessions may read the folder, and record it after somebody has written to it."""
    project = world.make_project(tmp_path)
    before = workspace.take(world.folder(project))
    row = memory("project_deploy.md")
    assert hand_edits.edit(row, world.DEPLOY.replace("alpha", "beta"), row.sha256, world.ME).complete
    hand_edits.forget(memory("feedback_testing.md"), world.ME)
    (world.folder(project) / "project_new.md").write_text("New since.\n")
    syncing.refresh(project)
    versions = Version.objects.count()
    assert syncing.sync(project, before) == []
    assert Version.objects.count() == versions
    assert "beta" in syncing.contents(project)["project_deploy.md"].decode()
    assert not memory("project_new.md").gone_at and memory("feedback_testing.md").gone_at


def test_a_look_from_before_a_file_was_renamed_does_not_say_that_the_new_one_is_gone(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    before = workspace.take(world.folder(project))
    old = world.folder(project) / "project_deploy.md"
    old.rename(old.with_name("project_release.md"))
    syncing.refresh(project)
    versions = Version.objects.count()
    assert syncing.sync(project, before) == []
    assert Version.objects.count() == versions
    assert memory("project_deploy.md").gone_at and not memory("project_release.md").gone_at


@pytest.mark.not_on_postgresql
def test_forgetting_takes_the_file_and_its_row_and_can_be_undone(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    before = manifest(world.folder(project))
    done = hand_edits.forget(memory("project_deploy.md"), world.ME, reason="it is gone")
    assert done.complete
    assert not (world.folder(project) / "project_deploy.md").exists()
    assert "project_deploy.md" not in (world.folder(project) / "MEMORY.md").read_text()
    rollback.rollback(Proposal.objects.get(public_id=done.proposal), world.ME)
    assert manifest(world.folder(project)) == before


def test_a_row_that_names_other_memories_too_is_left_by_forgetting(tmp_path: Path) -> None:
    index = "- [Deploy](project_deploy.md) and [Testing](feedback_testing.md) — both\n"
    files = {"MEMORY.md": index, "project_deploy.md": world.DEPLOY, "feedback_testing.md": world.TESTING}
    project = world.make_project(tmp_path, files)
    hand_edits.forget(memory("project_deploy.md"), world.ME)
    assert (world.folder(project) / "MEMORY.md").read_text() == index


def test_an_old_version_comes_back_as_a_new_change(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    row = memory("project_deploy.md")
    hand_edits.edit(row, "other\n", row.sha256, world.ME)
    hand_edits.restore(project, "project_deploy.md", text.sha256(world.DEPLOY.encode()), world.ME)
    restored = Proposal.objects.get(origin=Proposal.Origin.RESTORE)
    assert summaries.of_proposal(restored).text == "Restored 1 file"
    assert (world.folder(project) / "project_deploy.md").read_text() == world.DEPLOY
    origins = list(Version.objects.filter(memory=row).order_by("pk").values_list("origin", flat=True))
    assert origins == ["found", "edit", "restore"]


@pytest.mark.more
def test_what_was_edited_by_hand_in_the_last_week_is_told_to_a_dream_until_it_is_undone(
    tmp_path: Path,
) -> None:
    project = world.make_project(tmp_path)
    row = memory("project_deploy.md")
    assert hand_edited(project) == frozenset()
    done = hand_edits.edit(row, world.DEPLOY.replace("alpha", "beta"), row.sha256, world.ME)
    assert hand_edited(project) == {"project_deploy.md"}
    made = AppliedBatch.objects.get(proposal__public_id=done.proposal)
    AppliedBatch.objects.filter(pk=made.pk).update(at=made.at - dt.timedelta(days=8))
    assert hand_edited(project) == frozenset()
    AppliedBatch.objects.filter(pk=made.pk).update(at=made.at)
    rollback.rollback(Proposal.objects.get(public_id=done.proposal), world.ME)
    assert hand_edited(project) == frozenset()
