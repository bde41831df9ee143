"""A memory that belongs to another project moves there: two changes, each with an undo."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command

from dreams.lib import locks
from dreams.lib.storage import journal
from dreams.management.base import Refused
from dreams.models import AuditEntry, Blob, Evidence, Hunk, LedgerEntry, Memory, Project, Proposal
from dreams.services import blobs, project_lock, review, rollback
from dreams.services.apply import applying, writing
from dreams.services.audit_sentences import Sentences
from dreams.services.memories import hand_edits, moved, syncing
from dreams.services.review import Actor, ReviewRefused
from tests.world.agent_folder import Root
from tests.world.kept import Keep, Kept

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]
ME = Actor("me")
FACT = (
    "---\nname: Port\ndescription: The port of the API\ntype: project\n---\n\nThe API listens on port 8087.\n"
)
INDEX = "# Notes\n\n## Services\n\n- [Port](port.md) - the port of the API\n"


def with_both(folder: Path) -> Memory:
    """A memory of one project, and another project that has an index."""
    root = Root(folder)
    app, shop = root.repository("app"), root.repository("shop")
    root.session(app, "s1")
    root.memory(app, "port.md", FACT)
    root.memory(app, "MEMORY.md", INDEX)
    root.memory(app, "user.md", "# Words\n\nThe user writes short sentences.\n")
    root.session(shop, "s2")
    root.memory(shop, "MEMORY.md", "# Shop\n\n- [Host](host.md) - the host\n")
    root.discover()
    return Memory.objects.get(path="port.md")


@pytest.fixture(scope="module")
def made(kept: Keep[Memory]) -> Kept[Memory]:
    return kept(with_both)


@pytest.fixture
def both(made: Kept[Memory]) -> tuple[Memory, Project]:
    return made.anew(), Project.objects.get(repo_dir__endswith="/shop")


@pytest.fixture
def root(both: tuple[Memory, Project]) -> Root:
    return Root(Path(both[1].repo_dir).parents[1])


def files(project: Project) -> dict[str, str]:
    return {path.name: path.read_text() for path in Path(project.memory_dir).glob("*.md")}


def move(memory: Memory, project: Project) -> tuple[Proposal, Proposal]:
    """The two changes of a move, applied."""
    arrived, left = moved.arrive(memory, project, ME), hand_edits.forget(memory, ME, moved_to=project)
    assert arrived.complete and left.complete
    return Proposal.objects.get(public_id=arrived.proposal), Proposal.objects.get(public_id=left.proposal)


def test_a_memory_moves_with_its_row_and_ledger_and_audit_log_say_where_it_went(
    both: tuple[Memory, Project],
) -> None:
    memory, shop = both
    here = Path(memory.project.memory_dir) / "port.md"
    here.chmod(0o600)
    os.utime(here, (1_700_000_000, 1_700_000_000))
    _, left = move(memory, shop)
    assert files(shop) == {
        "port.md": FACT,
        "MEMORY.md": "# Shop\n\n- [Host](host.md) - the host\n- [Port](port.md) - the port of the API\n",
    }
    assert "port.md" not in files(memory.project) and "port.md" not in files(memory.project)["MEMORY.md"]
    now = (Path(shop.memory_dir) / "port.md").stat()
    assert (now.st_mode & 0o777, now.st_mtime) == (0o600, 1_700_000_000)  # as private and as old as it was
    notes = set(LedgerEntry.objects.filter(hunk__file__proposal=left).values_list("fate", "note"))
    assert notes == {("stated", f"The memory moved to {shop} ({shop.memory_dir}).")}
    assert not left.findings.exists()
    entries = list(AuditEntry.objects.filter(action="proposal.made").order_by("number"))
    assert [Sentences.of(entries, "me").sentence(entry) for entry in entries] == [
        "You chose to move a memory here from another project: changes to “Port” and the index in shop.",
        "You chose to move a memory to shop: changes to “Port” and the index in app.",
    ]
    # What is gone here is not said to have another text there.
    for again in (
        lambda: moved.arrive(memory, shop, ME),
        lambda: hand_edits.forget(memory, ME, moved_to=shop),
    ):
        with pytest.raises(ReviewRefused, match=r"^port\.md (was not moved: it )?is no longer on disk\.$"):
            again()


def test_each_half_of_a_move_is_undone_alone(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    before, there = files(memory.project), files(shop)
    arrived, left = move(memory, shop)
    rollback.rollback(left, ME)
    assert files(memory.project) == before and "port.md" in files(shop)
    rollback.rollback(arrived, ME)
    assert files(shop) == there and files(memory.project) == before


@pytest.mark.also_on_postgresql
def test_who_undoes_the_arrival_alone_is_told_that_the_memory_is_in_neither_project(
    both: tuple[Memory, Project],
) -> None:
    memory, shop = both
    arrived, left = move(memory, shop)
    told = rollback.rollback(arrived, ME).said
    assert told == (f"port.md is in neither project now: `rollback {left.public_id}` restores it in app.",)
    back = Proposal.objects.get(undoes=arrived)
    again = rollback.rollback(back, ME).proposal
    assert rollback.rollback(Proposal.objects.get(public_id=again), ME).said == told
    rollback.rollback(left, ME)
    arrived, _ = move(memory, shop)
    rollback.rollback(Proposal.objects.filter(origin="forget").latest("pk"), ME)
    assert rollback.rollback(arrived, ME).said == ()
    arrived, _ = move(memory, shop)
    move(Memory.objects.get(path="port.md", project=shop), memory.project)
    assert rollback.rollback(arrived, ME).said == () and "port.md" in files(memory.project)


def test_a_move_that_stopped_between_is_in_both_and_goes_on(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    moved.arrive(memory, shop, ME)
    assert "port.md" in files(shop) and "port.md" in files(memory.project)
    assert moved.arrive(memory, shop, ME).applied == ()
    assert hand_edits.forget(memory, ME, moved_to=shop).complete
    assert "port.md" in files(shop) and "port.md" not in files(memory.project)


def test_a_memory_leaves_only_once_its_text_is_in_the_other_project(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    with pytest.raises(ReviewRefused, match="stays"):
        hand_edits.forget(memory, ME, moved_to=shop)
    moved.arrive(memory, shop, ME)
    (Path(memory.project.memory_dir) / "port.md").write_text(FACT.replace("8087", "9999"))
    with pytest.raises(ReviewRefused, match="stays"):
        hand_edits.forget(memory, ME, moved_to=shop)
    with pytest.raises(ReviewRefused, match="has another text of"):
        moved.arrive(memory, shop, ME)
    assert "9999" in files(memory.project)["port.md"] and files(shop)["port.md"] == FACT


def test_a_directory_that_two_projects_share_keeps_its_memory(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    shutil.rmtree(shop.memory_dir)
    Path(shop.memory_dir).symlink_to(memory.project.memory_dir)
    with pytest.raises(ReviewRefused, match="same folder"):
        moved.arrive(memory, shop, ME)
    with pytest.raises(ReviewRefused, match="stays"):
        hand_edits.forget(memory, ME, moved_to=shop)
    assert files(memory.project)["port.md"] == FACT


@pytest.mark.also_on_postgresql
def test_a_removal_that_waited_is_not_written_once_the_arrival_was_undone(
    both: tuple[Memory, Project],
) -> None:
    memory, shop = both
    arrived = moved.arrive(memory, shop, ME)
    with project_lock.hold(memory.project, "dream"), pytest.raises(ReviewRefused, match="It waits as"):
        hand_edits.forget(memory, ME, moved_to=shop)
    rollback.rollback(Proposal.objects.get(public_id=arrived.proposal), ME)
    left = Proposal.objects.get(origin=Proposal.Origin.FORGET)
    with pytest.raises(ReviewRefused, match="does not have"):
        applying.apply(left, ME)
    assert files(memory.project)["port.md"] == FACT
    moved.arrive(memory, shop, ME)
    assert applying.apply(left, ME).complete and "port.md" not in files(memory.project)


def test_a_removal_is_redone_only_while_the_other_project_has_the_memory(
    both: tuple[Memory, Project],
) -> None:
    memory, shop = both
    arrived, left = move(memory, shop)
    undo = Proposal.objects.get(public_id=rollback.rollback(left, ME).proposal)
    again = rollback.rollback(arrived, ME).proposal
    with pytest.raises(ReviewRefused, match="does not have"):
        rollback.rollback(undo, ME)
    redo = rollback.propose(undo, ME, rollback.EVERYTHING)
    review.decide(redo, review.select_hunks(redo), Hunk.Verdict.APPROVED, ME, or_submitted=True)
    with pytest.raises(ReviewRefused, match="does not have"):
        applying.apply(redo, ME)
    assert files(memory.project)["port.md"] == FACT
    rollback.rollback(Proposal.objects.get(public_id=again), ME)
    done = rollback.rollback(undo, ME)
    assert done.complete and "port.md" not in files(memory.project)
    # The redo of a redo asks the same.
    again_back = rollback.rollback(Proposal.objects.get(public_id=done.proposal), ME).proposal
    (Path(shop.memory_dir) / "port.md").unlink()
    with pytest.raises(ReviewRefused, match="does not have"):
        rollback.rollback(Proposal.objects.get(public_id=again_back), ME)
    assert files(memory.project)["port.md"] == FACT


def test_a_removal_is_not_redone_once_the_other_text_was_edited_and_the_way_on_is_named(
    both: tuple[Memory, Project],
) -> None:
    memory, shop = both
    _, left = move(memory, shop)
    undo = Proposal.objects.get(public_id=rollback.rollback(left, ME).proposal)
    (Path(shop.memory_dir) / "port.md").write_text(FACT.replace("8087", "9999"))
    for refused in (
        lambda: rollback.rollback(undo, ME),
        lambda: moved.arrive(memory, shop, ME),
        lambda: hand_edits.forget(memory, ME, moved_to=shop),
    ):
        with pytest.raises(ReviewRefused, match=r"has another text of port\.md\. Edit one of them"):
            refused()
    assert "9999" in files(shop)["port.md"] and files(memory.project)["port.md"] == FACT


@pytest.mark.also_on_postgresql
def test_of_two_who_move_it_in_opposite_directions_at_once_only_one_removes_it(
    both: tuple[Memory, Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, shop = both
    moved.arrive(memory, shop, ME)
    there, write = Memory.objects.get(path="port.md", project=shop), applying.write

    def meanwhile(order: writing.WriteOrder, held: locks.Held) -> journal.Result:
        monkeypatch.setattr(applying, "write", write)
        with pytest.raises(ReviewRefused, match="It waits as"):
            hand_edits.forget(there, ME, moved_to=memory.project)
        return write(order, held)

    monkeypatch.setattr(applying, "write", meanwhile)
    assert hand_edits.forget(memory, ME, moved_to=shop).complete
    assert files(shop)["port.md"] == FACT


def test_a_move_does_not_approve_what_somebody_rejected(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    made = moved.propose(memory.project, shop, ME, "port.md")
    assert made is not None
    review.decide(made, review.select_hunks(made), Hunk.Verdict.REJECTED, ME)
    moved.arrive(memory, shop, ME)
    assert set(Hunk.objects.filter(file__proposal=made).values_list("verdict", flat=True)) == {"rejected"}


@pytest.mark.also_on_postgresql
def test_a_move_that_waits_is_not_proposed_again(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    with project_lock.hold(shop, "dream"):
        for _ in range(2):
            with pytest.raises(ReviewRefused, match="It waits as"):
                moved.arrive(memory, shop, ME)
    assert Proposal.objects.count() == 1
    assert moved.arrive(memory, shop, ME).complete and files(shop)["port.md"] == FACT


def test_the_ledger_names_the_file_that_has_the_text(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    (Path(shop.memory_dir) / "ports.md").write_text(FACT)
    moved.arrive(memory, shop, ME)
    left = hand_edits.forget(memory, ME, moved_to=shop)
    cited = Evidence.objects.filter(hunk__file__proposal__public_id=left.proposal)
    assert set(cited.values_list("place", flat=True)) == {f"{shop.memory_dir}/ports.md"}


def test_a_first_memory_that_moves_brings_only_its_own_row(both: tuple[Memory, Project], root: Root) -> None:
    memory, shop = both
    (Path(shop.memory_dir) / "MEMORY.md").unlink()
    root.memory(Path(memory.project.repo_dir), "MEMORY.md", INDEX + "- [User](user.md) - who\n")
    move(memory, shop)
    assert files(shop)["MEMORY.md"] == "- [Port](port.md) — the port of the API\n"


@pytest.mark.also_on_postgresql
def test_what_blocks_the_arrival_keeps_the_memory_where_it_is(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    leaked = FACT + "token: ghp_" + "q7Rk2WvX9cT4pB1zN8hQ3dJ5sL6yG0fAuEoM\n"
    (Path(memory.project.memory_dir) / "port.md").write_text(leaked)
    with pytest.raises(Refused, match="It waits as"):
        call_command("copy_memories", str(memory.project.pk), str(shop.pk), "--move", "port.md")
    assert files(memory.project)["port.md"] == leaked and "port.md" not in files(shop)


def test_a_command_moves_a_memory_and_names_both_undos(
    both: tuple[Memory, Project], capsys: pytest.CaptureFixture[str]
) -> None:
    memory, shop = both
    ask = partial(call_command, "copy_memories", str(memory.project.pk), str(shop.pk), "--move", "port.md")
    ask()
    said = capsys.readouterr().out
    made = Proposal.objects.order_by("pk").values_list("public_id", flat=True)
    assert [f"`rollback {name}` undoes it." in said for name in made] == [True, True]
    assert "port.md" in files(shop) and "port.md" not in files(memory.project)
    with pytest.raises(Refused, match="is no memory of"):
        ask()


def test_all_index_rows_of_a_memory_move_with_it(both: tuple[Memory, Project], root: Root) -> None:
    memory, shop = both
    second = "- [Where the API is](port.md) - its port\n"
    root.memory(Path(memory.project.repo_dir), "MEMORY.md", INDEX + second)
    move(memory, shop)
    assert files(shop)["MEMORY.md"].endswith(
        "- [Port](port.md) - the port of the API\n- [Where the API is](port.md) - its port\n"
    )
    assert "port.md" not in files(memory.project)["MEMORY.md"]


def test_a_name_that_differs_only_in_case_is_taken(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    (Path(shop.memory_dir) / "Port.md").write_text("Another port.\n")
    with pytest.raises(ReviewRefused, match="has another text of"):
        moved.arrive(memory, shop, ME)
    assert not Proposal.objects.exists()


@pytest.mark.parametrize("here", ["team/port.md", "port.md"])
def test_a_team_memory_and_a_pinned_one_leave_no_row_behind(root: Root, here: str) -> None:
    app, shop = root.base / "work" / "app", root.base / "work" / "shop"
    (root.folder(app) / "memory" / "port.md").unlink()
    pinned = FACT.replace("type: project", "type: project\nmetadata:\n  pinned: true")
    root.memory(app, here, pinned)
    root.memory(app, "MEMORY.md", f"# Notes\n\n- [Port]({here}) - the port of the API\n")
    root.memory(
        app, "team/MEMORY.md", "- [Port](port.md) - the port of the API\n" if "/" in here else "# Team\n"
    )
    root.memory(shop, "MEMORY.md", "# Shop\n")
    root.discover()
    memory, target = Memory.objects.get(path=here), Project.objects.get(repo_dir=str(shop))
    move(memory, target)
    there, left = Path(target.memory_dir), Path(memory.project.memory_dir)
    assert (there / here).read_text() == pinned and not (left / here).exists()
    rows = [path.read_text() for path in left.rglob("MEMORY.md")]
    assert not any("port.md" in each for each in rows)
    assert "port.md" in (there / here).with_name("MEMORY.md").read_text()


def test_an_index_stays_in_its_project(both: tuple[Memory, Project]) -> None:
    memory, shop = both
    before = files(shop)
    with pytest.raises(ReviewRefused, match=r"^MEMORY\.md belongs to its project and cannot be moved\.$"):
        moved.arrive(memory.project.memories.get(path="MEMORY.md"), shop, ME)
    assert files(shop) == before


def test_what_a_disk_has_damaged_is_not_moved(both: tuple[Memory, Project]) -> None:
    """The whole text is taken from the history; without one, nothing is written."""
    memory, shop = both
    Blob.objects.filter(sha256=memory.sha256).update(data=FACT.replace("8087", "8086").encode())
    kept = syncing.history_path(memory.project)
    shutil.move(kept, f"{kept}.away")
    with pytest.raises(blobs.MissingBlob, match=memory.sha256):
        moved.arrive(memory, shop, ME)
    assert "port.md" not in files(shop)
    shutil.move(f"{kept}.away", kept)
    assert moved.arrive(memory, shop, ME).complete and files(shop)["port.md"] == FACT
