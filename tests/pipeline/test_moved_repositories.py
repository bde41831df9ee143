"""A repository that was moved or renamed gets the memories of its former path, once a person approved them."""

from __future__ import annotations

import cProfile
import datetime as dt
import importlib
import os
import shutil
from pathlib import Path
from types import CodeType

import pytest
from django.apps import apps
from django.utils import timezone

from dreams.models import Hunk, Memory, Project, Proposal
from dreams.services import review
from dreams.services.apply import applying
from dreams.services.inbox import waiting
from dreams.services.memories import hand_edits, moved
from dreams.services.review import Actor, ReviewRefused
from tests.world.agent_folder import Root

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]
ME = Actor("me")
FACT = (
    "---\nname: Port\ndescription: The port of the API\ntype: project\n---\n\nThe API listens on port 8087.\n"
)
INDEX = "# Notes\n\n## Services\n\n- [Port](port.md) - the port of the API\n"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = Root(tmp_path)
    app = root.repository("app")
    root.session(app, "s1")
    root.memory(app, "port.md", FACT)
    root.memory(app, "MEMORY.md", INDEX)
    root.discover()
    return root


def renamed(root: Root, name: str = "shop") -> tuple[Project, Project]:
    """The project before and after, as a discovery finds them."""
    new = root.base / "work" / name
    new.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(root.base / "work" / "app", new)
    root.session(new, "s2")
    root.discover()
    return Project.objects.get(repo_dir__endswith="work/app"), Project.objects.get(repo_dir=str(new))


def copied(former: Project, project: Project) -> Proposal:
    made = moved.propose(former, project, ME)
    assert made is not None
    return made


def written(made: Proposal) -> None:
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ME)
    assert applying.apply(made, ME).complete


def of_kind(kind: waiting.WaitingKind) -> list[waiting.WaitingItem]:
    return [item for item in waiting.waiting(timezone.now()) if item.kind is kind]


@pytest.mark.also_on_postgresql
def test_a_renamed_repository_is_known_by_its_folder_until_it_is_back(root: Root) -> None:
    former, project = renamed(root)
    assert project.moved_from == former
    assert former.repo_gone_at
    with pytest.raises(ReviewRefused, match="same project"):
        moved.propose(former, former, ME)
    shutil.move(project.repo_dir, root.base / "work" / "app")
    root.discover()
    project.refresh_from_db()
    assert project.moved_from is None
    assert not Project.objects.get(repo_dir__endswith="work/app").repo_gone_at


def test_another_repository_follows_nothing(root: Root) -> None:
    shutil.move(root.base / "work" / "app", root.base / "elsewhere")
    other = root.repository("other")
    root.session(other, "s2")
    root.discover()
    assert Project.objects.get(repo_dir=str(other)).moved_from is None


@pytest.mark.also_on_postgresql
@pytest.mark.parametrize(("last_used", "follows"), [("2026-03-01", True), ("2026-03-03", False)])
def test_a_fresh_clone_of_that_name_follows_it_if_it_was_used_later(
    root: Root, last_used: str, *, follows: bool
) -> None:
    clone = root.repository("code/app")
    shutil.rmtree(root.base / "work" / "app")
    root.session(clone, "s2")  # typed on 2 March
    moment = dt.datetime.fromisoformat(last_used).timestamp()
    os.utime(root.folder(root.base / "work" / "app") / "s1.jsonl", (moment, moment))
    root.discover()
    root.discover()
    assert bool(Project.objects.get(repo_dir=str(clone)).moved_from) is follows


@pytest.mark.not_on_postgresql
def test_the_memories_and_their_index_arrive_once_they_are_approved(root: Root) -> None:
    former, project = renamed(root)
    made = copied(former, project)
    assert copied(former, project) == made  # asked for twice it is one proposal until it is decided
    root.memory(Path(former.repo_dir), "more.md", FACT.replace("8087", "8090"))
    root.discover()
    assert copied(former, project) != made, "it has another memory"
    (root.folder(former.repo_dir) / "memory" / "more.md").unlink()
    root.discover()
    assert not Path(project.memory_dir).exists()
    written(made)
    folder = Path(project.memory_dir)
    assert {path.name: path.read_text() for path in folder.glob("*.md")} == {
        "port.md": FACT,
        "MEMORY.md": INDEX,
    }
    assert (root.folder(former.repo_dir) / "memory" / "port.md").read_text() == FACT
    assert moved.propose(former, project, ME) is None


@pytest.mark.not_on_postgresql
def test_rows_go_into_an_index_that_is_there_already(root: Root) -> None:
    former, project = renamed(root)
    root.memory(Path(project.repo_dir), "host.md", FACT.replace("port", "host"))
    root.memory(Path(project.repo_dir), "MEMORY.md", "# Mine\n\n- [Host](host.md) - the host\n")
    root.discover()
    written(copied(former, project))
    index = (Path(project.memory_dir) / "MEMORY.md").read_text()
    assert index == "# Mine\n\n- [Host](host.md) - the host\n- [Port](port.md) - the port of the API\n"


@pytest.mark.not_on_postgresql
def test_another_text_of_that_name_stays_and_is_named(root: Root) -> None:
    former, project = renamed(root)
    root.memory(former_dir := Path(former.repo_dir), "host.md", FACT.replace("8087", "8088"))
    root.memory(Path(project.repo_dir), "port.md", FACT.replace("8087", "9000"))
    root.discover()
    made = copied(former, project)
    assert made.summary == (
        f"Copies 1 memory from {former_dir}. Not copied, as another memory has the name: port.md."
    )
    written(made)
    assert "9000" in (Path(project.memory_dir) / "port.md").read_text()


@pytest.mark.not_on_postgresql
def test_the_inbox_tells_it_until_somebody_decided(root: Root) -> None:
    former, project = renamed(root)
    [item] = of_kind(waiting.WaitingKind.MOVED)
    assert (item.project, former.repo_dir in item.why) == (str(project), True)
    made = copied(former, project)
    assert of_kind(waiting.WaitingKind.MOVED) == []
    review.decide(made, review.select_hunks(made), Hunk.Verdict.REJECTED, ME)
    review.submit(made, ME)
    assert of_kind(waiting.WaitingKind.MOVED) == []


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_the_index_is_not_read_again_for_each_memory_that_is_copied(root: Root) -> None:
    """Read once for each row, an index of a thousand rows took most of half a minute."""
    app = root.base / "work" / "app"
    for number in range(40):
        root.memory(app, f"port_{number}.md", FACT.replace("8087", str(9000 + number)))
    rows = "".join(f"- [Port {number}](port_{number}.md) - port {number}\n" for number in range(40))
    root.memory(app, "MEMORY.md", INDEX + rows)
    former, project = renamed(root)
    root.memory(Path(project.repo_dir), "MEMORY.md", "# Mine\n")
    root.discover()
    profile = cProfile.Profile()
    made = profile.runcall(copied, former, project)
    assert sum(one.callcount for one in profile.getstats() if _reads_a_row(one.code)) < 40 * 12
    written(made)
    assert "port_39.md" in (Path(project.memory_dir) / "MEMORY.md").read_text()


def _reads_a_row(code: object) -> bool:
    return isinstance(code, CodeType) and (Path(code.co_filename).name, code.co_name) == ("index.py", "_row")


@pytest.mark.also_on_postgresql
def test_copies_made_before_they_had_a_word_of_their_own_are_called_copied(root: Root) -> None:
    made = copied(*renamed(root))
    made.operations.update(kind="edit")
    edited = Proposal.objects.create(project=made.project, origin=Proposal.Origin.DREAM)
    edited.operations.create(key="e", kind="edit", reason="Changed by hand.")
    importlib.import_module("dreams.migrations.0064_earlier_copies").name(apps, None)
    assert set(made.operations.values_list("kind", flat=True)) == {"copy"}
    assert edited.operations.get().kind == "edit"


@pytest.mark.not_on_postgresql
def test_one_memory_that_moved_is_no_answer_to_the_offer_of_all(root: Root) -> None:
    root.memory(root.base / "work" / "app", "host.md", FACT.replace("8087", "8088"))
    former, project = renamed(root)
    memory = Memory.objects.get(path="port.md", project=former)
    arrived = Proposal.objects.get(public_id=moved.arrive(memory, project, ME).proposal)
    assert hand_edits.forget(memory, ME, moved_to=project).complete
    assert len(of_kind(waiting.WaitingKind.MOVED)) == 1
    # Nor is one that moved before both halves had a column.
    Proposal.objects.filter(pk=arrived.pk).update(moved_to=None)
    importlib.import_module("dreams.migrations.0070_arriving_half").fill(apps, None)
    arrived.refresh_from_db()
    assert arrived.moved_to == project and arrived.leaves_for is None
    Proposal.objects.filter(pk=arrived.pk).update(summary="In other words.")
    assert len(of_kind(waiting.WaitingKind.MOVED)) == 1
