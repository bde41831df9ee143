"""A history comes back from its export: after the data was lost, beside newer versions, and never with a purged secret."""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
import shutil
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from dulwich import objects

from dreams.findings import secrets
from dreams.lib import process, progress
from dreams.lib.storage import history
from dreams.lib.storage.history import HistoryStore, bundle, gitrepo, trees
from dreams.lib.storage.history.gitrepo import GitRepo
from dreams.models import AuditEntry, Blob, Memory, Project, Purge, Version
from dreams.services import blobs, hosts, recovery, rollback, secret_purge, verifying
from dreams.services.apply import applying
from dreams.services.memories import exports, syncing
from tests.world import directory as world
from tests.world.directory import ME
from tests.world.kept import Keep, Kept

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]
TOKEN = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
OTHER = "ghp_" + "m3Vb8TqY1zR6wK9hX2cN7jL4dP0sG5fAoUeI"


def with_three_states(folder: Path) -> Project:
    project = world.make_project(folder)
    _change(project, "project_deploy.md", "Second.\n")
    _change(project, "project_deploy.md", "Third.\n")
    return project


@pytest.fixture(scope="module")
def made(kept: Keep[Project]) -> Kept[Project]:
    return kept(with_three_states)


@pytest.fixture
def project(made: Kept[Project]) -> Project:
    """As found, then two edits outside."""
    return made.anew()


def _change(project: Project, path: str, text: str) -> None:
    (world.folder(project) / path).write_text(text)
    syncing.refresh(project)


def _exported(project: Project, tmp_path: Path) -> Path:
    file = tmp_path / "out.bundle"
    exports.write(project, file)
    return file


def _lose_everything(project: Project) -> Project:
    """The data directory and the database are gone; discovery has found the files anew."""
    shutil.rmtree(syncing.history_path(project))
    Memory.objects.all().delete()
    syncing.refresh(project)
    return project


def _texts(project: Project, path: str) -> list[str]:
    rows = Version.objects.filter(memory__project=project, memory__path=path).order_by("number")
    with syncing.open_history(project) as store:
        return [store.read(row.sha256).decode() for row in rows]


def test_an_export_brought_back_to_where_it_was_made_adds_nothing(project: Project, tmp_path: Path) -> None:
    was = Version.objects.count()
    assert exports.bring_back(_exported(project, tmp_path), ME).versions == 0
    assert Version.objects.count() == was


def test_lost_versions_come_back_in_their_order(project: Project, tmp_path: Path) -> None:
    file = _exported(project, tmp_path)
    _lose_everything(project)
    assert _texts(project, "project_deploy.md") == ["Third.\n"]
    done = exports.bring_back(file, ME)
    assert done.project == project and done.states == 3
    assert sorted(set(_texts(project, "project_deploy.md"))) == sorted(
        [world.DEPLOY, "Second.\n", "Third.\n"]
    )
    assert verifying.verify().problems == []


def test_lost_versions_come_back_in_that_order_also_where_a_clock_was_behind(
    project: Project, tmp_path: Path
) -> None:
    with time_machine.travel(timezone.now() - dt.timedelta(days=3)):
        _change(project, "project_deploy.md", "Fourth.\n")
    _change(project, "project_deploy.md", "Fifth.\n")
    kept = _texts(project, "project_deploy.md")
    file = _exported(project, tmp_path)
    for lost in ("Second.\n", "Fourth.\n"):
        Version.objects.filter(sha256=hashlib.sha256(lost.encode()).hexdigest()).delete()
    assert exports.bring_back(file, ME).versions == 2
    assert _texts(project, "project_deploy.md") == kept
    _lose_everything(project)
    exports.bring_back(file, ME)
    assert list(dict.fromkeys(_texts(project, "project_deploy.md"))) == kept


def test_what_was_kept_here_meanwhile_stays(project: Project, tmp_path: Path) -> None:
    file = _exported(project, tmp_path)
    _lose_everything(project)
    _change(project, "project_deploy.md", "Fourth.\n")
    exports.bring_back(file, ME)
    assert {"Second.\n", "Third.\n", "Fourth.\n"} <= set(_texts(project, "project_deploy.md"))
    with syncing.open_history(project) as store:
        newest = store.log(1)[0]
        assert store.read(store.tree_at(newest.id)["project_deploy.md"]) == b"Fourth.\n"


def test_the_memory_files_are_not_touched(project: Project, tmp_path: Path) -> None:
    file = _exported(project, tmp_path)
    _change(project, "project_deploy.md", "Fourth.\n")
    before = {
        p: (p.read_bytes(), p.stat().st_mtime_ns) for p in world.folder(project).rglob("*") if p.is_file()
    }
    exports.bring_back(file, ME)
    after = {
        p: (p.read_bytes(), p.stat().st_mtime_ns) for p in world.folder(project).rglob("*") if p.is_file()
    }
    assert {p: state for p, state in after.items() if p.suffix == ".md"} == before


def test_bringing_the_same_file_back_twice_changes_nothing_more(project: Project, tmp_path: Path) -> None:
    file = _exported(project, tmp_path)
    _lose_everything(project)
    exports.bring_back(file, ME)
    assert exports.bring_back(file, ME).versions == 0


@pytest.mark.also_on_postgresql
def test_an_import_that_was_killed_between_two_transactions_is_ended_by_the_next_one(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the database's only writer for a part of the versions at a time."""
    kept = _texts(project, "project_deploy.md")
    file = _exported(project, tmp_path)
    _lose_everything(project)
    monkeypatch.setattr(exports, "PAGE", 1)
    real, made = exports._tell_some, list[int]()

    def killed_after_one(*given: Any) -> int:
        if any(made):
            raise KeyboardInterrupt
        made.append(real(*given))
        return made[-1]

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(exports, "_tell_some", killed_after_one)
        exports.bring_back(file, ME)
    assert Version.objects.filter(memory__path="project_deploy.md").count() == 2, "one came back"
    assert exports.bring_back(file, ME).versions == 1
    assert list(dict.fromkeys(_texts(project, "project_deploy.md"))) == kept
    assert exports.bring_back(file, ME).versions == 0


def test_an_import_of_many_memories_asks_the_database_a_few_times_for_each_part(tmp_path: Path) -> None:
    notes = {f"note_{number}.md": f"Service {number}.\n" for number in range(500)}
    project = world.make_project(tmp_path / "claude", notes)
    file = _exported(project, tmp_path)
    shutil.rmtree(syncing.history_path(project))
    told = list[tuple[str, int, int]]()
    with CaptureQueriesContext(connection) as queries, progress.watched(lambda *step: told.append(step)):
        exports.bring_back(file, ME)
    assert len(queries) < 200
    assert {("Importing versions", done, 500) for done in (0, 200, 400)} <= set(told)


@pytest.mark.also_on_postgresql
def test_a_memory_that_was_gone_long_ago_comes_back_as_gone(project: Project, tmp_path: Path) -> None:
    (world.folder(project) / "feedback_testing.md").unlink()
    syncing.refresh(project)
    file = _exported(project, tmp_path)
    _lose_everything(project)
    exports.bring_back(file, ME)
    row = project.memories.get(path="feedback_testing.md")
    assert row.gone_at is not None
    assert _texts_of_all(row) == [world.TESTING, None]


def _texts_of_all(row: Memory) -> list[str | None]:
    with syncing.open_history(row.project) as store:
        return [
            store.read(version.sha256).decode() if version.sha256 else None
            for version in row.versions.order_by("at", "pk")
        ]


def test_purged_secrets_do_not_come_back_with_an_older_export(project: Project, tmp_path: Path) -> None:
    """Two of one text, each purged on its own: the text with one of them is in no table any more."""
    _change(project, "project_deploy.md", f"Use {TOKEN} or {OTHER}.\n")
    file = _exported(project, tmp_path)
    _change(project, "project_deploy.md", "Use a token.\n")
    for leak in secret_purge.find_secrets(project).found:
        secret_purge.purge(project, [leak.id], ME)
    exports.bring_back(file, ME)
    assert secret_purge.find_secrets(project).found == ()
    with syncing.open_history(project) as store:
        texts = [store.read(sha) for sha in store.texts()]
    assert not [text for text in texts if TOKEN.encode() in text or OTHER.encode() in text]
    assert b"Use [redacted: github-token] or [redacted: github-token].\n" in texts


def test_a_purge_of_another_secret_in_a_copy_of_the_project_brings_no_purged_one_back(
    project: Project, tmp_path: Path
) -> None:
    copy = world.make_project(tmp_path / "copy")
    hosts.name_secrets()  # the key of their ids
    for each in (project, copy):
        _change(each, "project_deploy.md", f"Use {TOKEN} or {OTHER}.\n")
    file = _exported(project, tmp_path)
    for each, secret in ((project, TOKEN), (copy, OTHER)):
        _change(each, "project_deploy.md", "Use a token.\n")
        secret_purge.purge(each, [secrets.fingerprint(secret)], ME)
    exports.bring_back(file, ME)
    with syncing.open_history(project) as store:
        assert not [sha for sha in store.texts() if TOKEN.encode() in store.read(sha)]


def _empty_home(project: Project) -> None:
    """Another machine: the same files, and nothing is known of any purge."""
    _look_anew(project)
    Purge.objects.all().delete()
    Blob.objects.all().delete()
    Memory.objects.all().delete()
    shutil.rmtree(syncing.history_path(project))
    syncing.refresh(project)


def _purge_all_but(project: Project, *stays: str) -> None:
    """In this home, of what is in no current memory."""
    hosts.name_secrets()  # the key of their ids
    kept = {secrets.fingerprint(secret) for secret in stays}
    for leak in secret_purge.find_secrets(project).found:
        if leak.id not in kept:
            secret_purge.purge(project, [leak.id], ME)


def _with_a_secret(project: Project) -> list[bytes]:
    """What this home still has of either."""
    with syncing.open_history(project) as store:
        texts = [store.read(sha) for sha in store.texts()]
    texts += [bytes(data) for data in Blob.objects.values_list("data", flat=True)]
    return [text for text in texts if TOKEN.encode() in text or OTHER.encode() in text]


@pytest.mark.also_on_postgresql
@pytest.mark.parametrize("order", [*itertools.permutations(range(3))], ids=str)
def test_what_any_of_several_exports_knows_as_purged_stays_purged_in_an_empty_home_in_any_order(
    project: Project, tmp_path: Path, order: tuple[int, ...]
) -> None:
    """One is from before, and in two homes another secret of the same text was purged."""
    files = [tmp_path / f"{name}.bundle" for name in ("before", "token", "other")]
    _change(project, "project_deploy.md", f"Use {TOKEN} or {OTHER}.\n")
    _change(project, "project_deploy.md", f"Use {TOKEN} alone.\n")
    _change(project, "project_deploy.md", "Use a token.\n")
    exports.write(project, files[0])
    for file, other in zip(files[1:], (OTHER, TOKEN), strict=True):
        _empty_home(project)
        exports.bring_back(files[0], ME)
        _purge_all_but(project, other)
        exports.write(project, file)
    _empty_home(project)
    for number in order:
        exports.bring_back(files[number], ME, purge=True)
    assert not _with_a_secret(project) and secret_purge.find_secrets(project).found == ()
    told = _texts(project, "project_deploy.md")
    mark = "[redacted: github-token]"
    assert told[-3:] == [f"Use {mark} or {mark}.\n", f"Use {mark} alone.\n", "Use a token.\n"]
    assert told.count("Second.\n") == 1 and verifying.verify().problems == []
    exports.write(project, tmp_path / "last.bundle")
    _empty_home(project)
    exports.bring_back(tmp_path / "last.bundle", ME)
    exports.bring_back(files[0], ME)
    assert not _with_a_secret(project)


def test_the_export_of_a_home_that_purged_before_exports_told_of_it_tells_of_it(
    project: Project, tmp_path: Path
) -> None:
    _change(project, "project_deploy.md", f"Use {TOKEN}.\n")
    _change(project, "project_deploy.md", "Use a token.\n")
    before, after = tmp_path / "before.bundle", tmp_path / "after.bundle"
    exports.write(project, before)
    _purge_all_but(project)
    (syncing.history_path(project) / "refs" / "memoryweb" / "purged").unlink()
    exports.write(project, after)
    _empty_home(project)
    exports.bring_back(after, ME)
    exports.bring_back(before, ME)
    assert not _with_a_secret(project)


def test_an_export_tells_of_a_purged_text_by_no_digest_from_which_a_short_secret_could_be_guessed(
    project: Project, tmp_path: Path
) -> None:
    leaked = f"Use {TOKEN}.\n"
    _change(project, "project_deploy.md", leaked)
    _change(project, "project_deploy.md", "Use a token.\n")
    _purge_all_but(project)
    file = _exported(project, tmp_path)
    shutil.rmtree(syncing.history_path(project))
    with HistoryStore.import_bundle(syncing.history_path(project), file) as store:
        [name] = store.purged()
        [made] = Purge.objects.all()
        assert list(made.replaced) == [hashlib.sha256(leaked.encode()).hexdigest()]
        assert name not in made.replaced and list(store.purged().values()) == list(made.replaced.values())


@pytest.mark.also_on_postgresql
def test_a_secret_that_was_purged_elsewhere_and_is_in_a_memory_here_is_named_before_anything_is_imported(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with a purge: it would come back with the next look at the file."""
    leaked = f"Use {TOKEN}.\n"
    _change(project, "project_deploy.md", leaked)
    before = tmp_path / "before.bundle"
    exports.write(project, before)
    _change(project, "project_deploy.md", "Use a token.\n")
    _purge_all_but(project)
    file = _exported(project, tmp_path)
    (world.folder(project) / "project_deploy.md").write_text(leaked)
    _empty_home(project)
    was = Version.objects.count()
    with pytest.raises(
        exports.NotBroughtBack, match=r"purged .* It is still in project_deploy\.md\. Remove it there"
    ):
        exports.bring_back(file, ME)
    assert Version.objects.count() == was and not list(syncing.history_folder().glob(".import-*"))
    _change(project, "project_deploy.md", "Use a token.\n")
    with pytest.raises(exports.NotBroughtBack, match=r"1 stored text has it\. Add --purge"):
        exports.bring_back(file, ME)
    assert len(_with_a_secret(project)) == 2 and Version.objects.count() == was + 1
    call_command("import", str(file), "--purge")
    assert "was removed from 1 stored text here." in capsys.readouterr().out
    call_command("import", str(before))
    assert "was removed from" not in capsys.readouterr().out
    assert not _with_a_secret(project) and verifying.verify().problems == []


def test_an_import_that_is_refused_does_not_hide_that_the_history_is_lost(
    project: Project, tmp_path: Path
) -> None:
    """An empty one in its place would; and what the next import purges is purged in the history that it brings."""
    _change(project, "project_deploy.md", f"Use {TOKEN}.\n")
    before = tmp_path / "before.bundle"
    exports.write(project, before)
    _change(project, "project_deploy.md", "Use a token.\n")
    _purge_all_but(project)
    file = _exported(project, tmp_path)
    _empty_home(project)
    exports.bring_back(before, ME)
    assert len(_with_a_secret(project)) == 2
    shutil.rmtree(syncing.history_path(project))
    with pytest.raises(exports.NotBroughtBack, match="Add --purge"):
        exports.bring_back(file, ME)
    assert verifying.is_missing(project) and verifying.verify().problems
    assert [path.name for path in syncing.history_folder().iterdir()] == [".building.flock"]
    exports.bring_back(file, ME, purge=True)
    assert not verifying.is_missing(project) and verifying.verify().problems == []
    assert not _with_a_secret(project) and not Purge.objects.filter(done_at=None).exists()


def test_a_history_that_is_begun_while_an_export_is_imported_in_the_place_of_none_is_kept(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, place = _exported(project, tmp_path), syncing.history_path(project)
    shutil.rmtree(place)
    replay = exports._replay

    def late(*given: Any) -> None:
        _change(project, "project_deploy.md", "Meanwhile.\n")
        replay(*given)

    monkeypatch.setattr(exports, "_replay", late)
    with pytest.raises(exports.NotBroughtBack, match="Nothing was brought back"):
        exports.bring_back(file, ME)
    assert not verifying.is_missing(project)
    monkeypatch.undo()
    exports.bring_back(file, ME)
    assert _texts(project, "project_deploy.md")[-1] == "Meanwhile.\n"


def test_a_newer_token_in_the_place_of_a_purged_one_is_not_taken_for_it(
    project: Project, tmp_path: Path
) -> None:
    for each in (TOKEN, OTHER):
        _change(project, "project_deploy.md", f"Use {each}.\n")
    _change(project, "project_deploy.md", "Use a token.\n")
    _purge_all_but(project, OTHER)
    file = _exported(project, tmp_path)
    _empty_home(project)
    exports.bring_back(file, ME)
    assert {text.decode() for text in _with_a_secret(project)} == {f"Use {OTHER}.\n"}


def test_a_damaged_file_is_named_and_changes_nothing(project: Project, tmp_path: Path) -> None:
    file = _exported(project, tmp_path)
    file.write_bytes(file.read_bytes()[:-40])
    before = _texts(project, "project_deploy.md")
    with pytest.raises(exports.NotBroughtBack, match="is no whole export"):
        exports.bring_back(file, ME)
    file.write_bytes(b"PK" + file.read_bytes())
    with pytest.raises(exports.NotBroughtBack, match="it does not begin as a git bundle of version 2;"):
        exports.bring_back(file, ME)
    assert _texts(project, "project_deploy.md") == before
    assert not list(syncing.history_folder().glob(".import-*"))


@pytest.mark.parametrize(
    "listed",
    ["{", "[]", f'{{"{"a" * 64}": {"1" * 64}}}', f'{{"a": "{"1" * 64}"}}', "[" * 100_000],
    ids=range(5),
)
def test_a_file_whose_list_of_purged_texts_is_damaged_is_named(
    project: Project, tmp_path: Path, listed: str
) -> None:
    """It is the file that is damaged, and not the history here."""
    place = syncing.history_path(project)
    with closing(GitRepo(place)) as repo, repo.lock():
        blob, tree = objects.Blob.from_string(listed.encode()), objects.Tree()
        tree.add(b"purged.json", gitrepo.FILE, blob.id)
        made = trees.timeless(tree, b"A list\n")
        repo.write([blob, tree, made])
        repo.move_ref(gitrepo.PURGED, None, made.id)
        bundle.export(repo, file := tmp_path / "crafted.bundle")
    (place / "refs" / "memoryweb" / "purged").unlink()
    with pytest.raises(exports.NotBroughtBack, match="its list of purged texts cannot be read"):
        exports.bring_back(file, ME)
    assert not list(syncing.history_folder().glob(".import-*"))


@pytest.mark.parametrize("seconds", [2**62, 2**38], ids=["no time", "after the calendar of pages"])
def test_a_file_with_an_impossible_time_is_named_and_changes_nothing(
    project: Project, tmp_path: Path, seconds: int
) -> None:
    def late(commit: objects.Commit) -> None:
        commit.author_time = commit.commit_time = seconds

    with pytest.raises(exports.NotBroughtBack, match=r"is no whole export: .*impossible time"):
        exports.bring_back(_crafted(tmp_path, {}, late), ME, project)
    assert not list(syncing.history_folder().glob(".import-*"))


def test_a_file_with_numbers_and_names_that_no_column_can_hold_is_brought_back(
    project: Project, tmp_path: Path
) -> None:
    def odd(commit: objects.Commit) -> None:
        commit.author = commit.committer = b"J\xf6rg <joerg@example.org>"

    meta = history.Meta(0o100644, 2**70)
    exports.bring_back(_crafted(tmp_path, {"old.md": meta}, odd), ME, project)
    row = Version.objects.filter(memory__project=project, memory__path="old.md").earliest("number")
    assert (row.actor, row.mode, row.mtime_ns) == ("J\ufffdrg", 0o644, 2**63 - 1)


def _crafted(
    tmp_path: Path, metas: dict[str, history.Meta], change: Callable[[objects.Commit], None]
) -> Path:
    """An export of one state that no memoryweb has made."""
    at, file = timezone.now() - dt.timedelta(days=30), tmp_path / "crafted.bundle"
    with HistoryStore.open_or_create(tmp_path / "crafted.git") as store:
        store.commit(history.State({"old.md": b"Long ago.\n"}, metas, "By hand", {}, at, "Ann"))
    with closing(GitRepo(tmp_path / "crafted.git")) as repo, repo.lock():
        made = repo.ref(gitrepo.MAIN)
        assert made is not None
        commit = objects.Commit.from_string(repo.commit(made).as_raw_string())
        change(commit)
        repo.write([commit])
        repo.move_ref(gitrepo.MAIN, made, commit.id)
        bundle.export(repo, file)
    return file


def test_a_file_of_an_unknown_project_says_what_to_do(project: Project, tmp_path: Path) -> None:
    file = _exported(project, tmp_path)
    directory = project.memory_dir
    Project.objects.filter(pk=project.pk).update(memory_dir="/elsewhere/memory")
    with pytest.raises(exports.NotBroughtBack, match=f"is of {directory}, which is no project here"):
        exports.bring_back(file, ME)
    with pytest.raises(exports.NotBroughtBack, match=r"brought back: .*/none\.bundle: No such file"):
        exports.bring_back(tmp_path / "none.bundle", ME)


def test_a_file_that_names_no_project_is_brought_back_to_the_one_that_is_named(
    project: Project, tmp_path: Path
) -> None:
    long_ago = timezone.now() - dt.timedelta(days=30)
    with HistoryStore.open_or_create(tmp_path / "by-hand.git") as store:
        store.commit(history.State({"old.md": b"Long ago.\n"}, {}, "By hand", {}, long_ago, "Ann"))
        store.export(tmp_path / "by-hand.bundle")
    with pytest.raises(exports.NotBroughtBack, match="does not say which project it belongs to"):
        exports.bring_back(tmp_path / "by-hand.bundle", ME)
    exports.bring_back(tmp_path / "by-hand.bundle", ME, project)
    kept = Version.objects.filter(memory__project=project, memory__path="old.md").order_by("at")
    assert [blobs.get(row.sha256) for row in kept] == [b"Long ago.\n", b""], "then it was not there"


@pytest.mark.parametrize(
    ("where", "what"), [(GitRepo, "add_pack"), (HistoryStore, "put_many")], ids=["its pack", "joined to ours"]
)
def test_a_full_disk_is_not_told_as_a_fault_of_the_file(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: type, what: str
) -> None:
    file = _exported(project, tmp_path)
    _change(project, "project_deploy.md", "Fourth.\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(where, what, full)
    with pytest.raises(exports.NotBroughtBack) as refused:
        exports.bring_back(file, ME)
    assert "The disk is full: make room on it" in str(refused.value) and file.name not in str(refused.value)


def test_a_state_that_another_process_saves_while_the_history_is_replaced_is_not_lost(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Discovery does not take the project's lock."""
    file = _exported(project, tmp_path)
    opened = HistoryStore(syncing.history_path(project))
    state = history.State({"late.md": b"Late.\n"}, {}, "Late", {}, timezone.now(), "another")
    saving = threading.Thread(target=opened.commit, args=[state])
    real = exports._take_its_place

    def replace(aside: Path, place: Path) -> None:
        saving.start()
        saving.join(0.5)
        real(aside, place)

    monkeypatch.setattr(exports, "_take_its_place", replace)
    exports.bring_back(file, ME)
    saving.join(20)
    with syncing.open_history(project) as store:
        assert store.read(store.tree_at(store.log(1)[0].id)["late.md"]) == b"Late.\n"
        assert len(store.log()) == 4 and store.verify() == []


def _killed_at(project: Project) -> Callable[[Path, Path], Path]:
    """`Path.rename`, killed between the two renames of an import."""
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name.startswith(".import-") and target == syncing.history_path(project):
            raise KeyboardInterrupt
        return real(self, target)

    return rename


@pytest.mark.also_on_postgresql
def test_a_crash_between_the_two_renames_is_healed(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _exported(project, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", _killed_at(project))
        with pytest.raises(KeyboardInterrupt):
            exports.bring_back(file, ME)
    assert not syncing.history_path(project).exists()
    said = recovery.recover().histories
    assert f"{project.history_key}.git: restored, because an import of it was interrupted." in said
    with history.HistoryStore(syncing.history_path(project)) as store:
        assert store.verify() == []
    assert not list((Path(settings.DATA_DIR) / "history").glob(".*replaced"))


@pytest.mark.also_on_postgresql
def test_what_changes_between_a_crash_of_an_import_and_the_next_start_costs_no_state(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command was killed; the server goes on looking, and would have begun a history in the free place."""
    file = _exported(project, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", _killed_at(project))
        with pytest.raises(KeyboardInterrupt):
            exports.bring_back(file, ME)
    _change(project, "project_deploy.md", "Fourth.\n")
    recovery.recover()
    with history.HistoryStore(syncing.history_path(project)) as store:
        assert len(store.log()) == 4 and store.verify() == []
    assert not AuditEntry.objects.filter(action="history.begun_anew").exists()


@pytest.mark.also_on_postgresql
@pytest.mark.parametrize(
    "moment",
    ["dreams.lib.storage.history.durable.sync_trees", "dreams.services.memories.exports._take_its_place"],
)
def test_the_copy_of_an_import_that_was_killed_goes_at_the_next_start(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """It may have a secret that was purged here since the export; also while it is still being filled."""
    file = _exported(project, tmp_path)

    def copies() -> list[Path]:
        return list(syncing.history_folder().glob("*.import-*"))

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    ended = process.ProcessIdentity(2**22 + 1, 1.0)  # beyond the largest PID of Linux
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(process, "current", lambda: ended)
        patched.setattr(exports.shutil, "rmtree", lambda *_, **__: None)
        patched.setattr(moment, die)
        exports.bring_back(file, ME)
    assert len(copies()) == 1
    recovery.recover()
    assert not copies()


@pytest.mark.more
@pytest.mark.parametrize("name", ["s\udcff.md", "d/" * 500 + "long.md"], ids=["not UTF-8", "too long"])
def test_a_file_that_no_row_can_name_stays_in_the_history_and_does_not_stop_an_import(
    project: Project, tmp_path: Path, name: str
) -> None:
    """The history is replaced before the rows are told: such a file would have stopped every later import, too."""
    meta = history.Meta(0o644, 0)
    with HistoryStore.open_or_create(tmp_path / "other.git") as store:
        files = {name: b"Odd.\n", "plain.md": b"Plain.\n"}
        manifest = {"": meta, **dict.fromkeys(files, meta)}
        store.commit(history.State(files, manifest, "Found", {}, timezone.now(), "memoryweb"))
        store.export(tmp_path / "other.bundle")
    exports.bring_back(tmp_path / "other.bundle", ME, project)
    known = set(Memory.objects.values_list("path", flat=True))
    assert "plain.md" in known and all(len(path) < 100 and path.isprintable() for path in known)
    assert verifying.verify().problems == []


def test_one_state_is_counted_in_the_singular(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = world.make_project(tmp_path / "claude", {"only.md": "One.\n"})
    file = _exported(project, tmp_path)
    call_command("import", str(file))
    assert capsys.readouterr().out.endswith(": 1 state, 0 versions new here.\n")


def _look_anew(project: Project) -> None:
    """An empty home on another machine: only the files are there, and discovery has just found them."""
    shutil.rmtree(syncing.history_path(project))
    Memory.objects.all().delete()
    project.proposals.all().delete()
    syncing.refresh(project)


def _told(project: Project) -> list[tuple[object, ...]]:
    """What the pages say of every version, with the whole seconds of git."""
    rows = Version.objects.filter(memory__project=project).order_by("memory__path", "number")
    columns = ("memory__path", "sha256", "size", "mode", "mtime_ns", "origin", "actor")
    return [(*row, at.replace(microsecond=0)) for *row, at in rows.values_list(*columns, "at")]


@pytest.mark.also_on_postgresql
def test_in_an_empty_home_every_version_is_told_as_where_it_was_made(tmp_path: Path) -> None:
    """By the same maker, at the same time and in the same order: what was applied is not “found” there."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        proposal = world.all_approved(tmp_path)
        project = proposal.project
        clock.shift(60)
        assert applying.apply(proposal, ME).complete
        clock.shift(60)
        assert rollback.rollback(proposal, ME, rollback.Selection(("feedback_testing.md",))).complete
        clock.shift(60)
        _change(project, "project_deploy.md", "Second.\n")
        was = _told(project)
        file = _exported(project, tmp_path)
        clock.shift(60)
        _look_anew(project)
        exports.bring_back(file, ME)
    assert _told(project) == was
    assert exports.bring_back(file, ME).versions == 0 and _told(project) == was


def test_an_export_of_before_a_purge_leaves_every_moment_as_it_was(project: Project, tmp_path: Path) -> None:
    """The purge gave all states from the secret on other ids: they are no other states for that."""
    with time_machine.travel(timezone.now() + dt.timedelta(hours=1)):
        _change(project, "project_deploy.md", f"Use {TOKEN}.\n")
        file = _exported(project, tmp_path)
    with time_machine.travel(timezone.now() + dt.timedelta(hours=2)):
        _change(project, "project_deploy.md", "Use a token.\n")
        _change(project, "later.md", "Later.\n")
        secret_purge.purge(project, [leak.id for leak in secret_purge.find_secrets(project).found], ME)
    was = _told(project)
    assert all(row.size == len(blobs.get(row.sha256)) for row in Version.objects.all())
    with syncing.open_history(project) as store:
        states = len(store.log())
    assert exports.bring_back(file, ME).versions == 0
    assert _told(project) == was
    with syncing.open_history(project) as store:
        assert len(store.log()) == states
