"""A leaked secret: found without being told, taken out of memories by a proposal, and purged from all that was kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ

from dreams import tasks
from dreams.engines.types import KEEP, Edit, Option, Place, Question as Asked
from dreams.findings.base import NewFinding
from dreams.lib.prose.comparing import digest
from dreams.lib.storage import history, journal
from dreams.management.base import Refused
from dreams.management.commands.secrets import Command
from dreams.models import (
    AuditEntry,
    Blob,
    Card,
    Decision,
    Finding,
    Hunk,
    LedgerEntry,
    OpenEnd,
    Project,
    Prompt,
    Proposal,
    Purge,
    Question,
    QuestionOption,
    SaidAgain,
    SearchText,
    SessionNotes,
    Version,
)
from dreams.services import (
    blobs,
    database,
    recovery,
    review,
    rollback,
    secret_purge,
    session_notes,
    verifying,
)
from dreams.services.apply import applying
from dreams.services.memories import hand_edits, said_again, syncing
from dreams.services.proposals import rebase
from dreams.services.questions import answering, asking as questions_asking
from dreams.services.search import index
from tests.world import asking, directory as world, rows
from tests.world.agent_folder import closed_to_us
from tests.world.directory import ME
from tests.world.journal import list_journals

pytestmark = pytest.mark.django_db(transaction=True)
# Made from parts: no file may hold what looks like a live credential.
# No other test has this one: what they store may still lie in free pages of the database file.
TOKEN = "ghp_" + "m2Rk9WvX4cT7pB1zN6hQ8dJ3sL5yG0fAuEoI"
OTHER = "ghp_" + "Jw4nTz8QkV2xB6rC1mY9hD3sL7pF5gA0uEoI"
UNSAFE = "PRAGMA secure_delete=OFF"  # as SQLite is, but where a system builds it otherwise
LEAKED = (
    f"---\nname: Deploy\ntype: project\n---\n\nThe API runs on host alpha.\n\nDeploys use {TOKEN} there.\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The token stood in a memory that has since been changed by a dream; a second memory never had it."""
    return world.make_project(tmp_path / "claude", {"project_deploy.md": LEAKED, "other.md": "Another.\n"})


def _redacted(project: Project) -> Proposal:
    made = secret_purge.propose(project, ME)
    assert made is not None
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ME)
    review.confirm(made, made.findings.filter(severity="block"), ME)
    assert applying.apply(made, ME).applied
    return made


def _id(project: Project) -> str:
    [leak] = secret_purge.find_secrets(project).found
    return leak.id


def _everywhere(project: Project) -> bytes:
    """Every byte of the database, its copies, the journal and the project's history; git objects unpacked too.

    Of a database on a server every value of every row: its files are not ours to read.
    """
    files = [*_database_files(), *database.copies()] if connection.vendor == "sqlite" else []
    found = [Path(path).read_bytes() for path in files] or list(_values())
    for folder in (syncing.history_path(project), Path(settings.DATA_DIR) / "journal"):
        found += [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    with syncing.open_history(project) as store:
        found += [store.read(sha) for commit in store.log(1000) for sha in store.tree_at(commit.id).values()]
    return b"".join(found)


def _values() -> Iterator[bytes]:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - our own tables
            for row in cursor.fetchall():
                for value in row:
                    yield bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()


def _database_files() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA database_list")
        files = [row[2] for row in cursor.fetchall() if row[2]]
    return files + [log for file in files if Path(log := f"{file}-wal").exists()]


def test_no_digest_of_a_text_with_the_secret_is_kept_and_nobody_waits_while_texts_are_read_for_them(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, statements = list[bool](), said_again._statements

    def look(path: str, content: str) -> Iterator[tuple[int, str]]:
        held.append(connection.in_atomic_block)
        return statements(path, content)

    monkeypatch.setattr(said_again, "_statements", look)
    statement = f"Deploys use {TOKEN} there."
    _said_again(project, "Another.", statement)
    card = Card.objects.create(project=project, key=digest(statement), said=statement, text=statement)
    asked = Asked(
        "forget", statement, f"It says {statement}", (Place("project_deploy.md", 8, statement),), (KEEP,)
    )
    questions_asking.save(rows.make_dream(project), None, [asked])
    _redacted(project)
    secret_purge.purge(project, {_id(project)}, ME)
    assert held and not any(held)
    assert [row.statement for row in SaidAgain.objects.all()] == [digest("Another.")]
    card.refresh_from_db()
    assert card.key != digest(statement)
    assert Question.objects.get().subject != questions_asking.digest(asked)


def test_no_digest_of_a_line_with_the_secret_is_kept_with_a_finding_and_the_confirmations_of_others_stay(
    project: Project,
) -> None:
    statement = f"Deploys use {TOKEN} there."
    redaction = _redacted(project)
    other = world.propose(project, Edit("other.md", "Another.\n", "A third.\n", "one", "update", "Why."))
    review.confirm(other, other.findings.filter(severity="block"), ME)
    of_other = other.findings.order_by("pk").values_list("key", "message_parts", "confirmed_by")
    stays = list(of_other)
    assert any(by for *_, by in stays)
    told = NewFinding("ledger", "reworded", "warn", f"“{statement}” is reworded.", about=statement)
    elsewhere = Finding.objects.create(
        proposal=other, key=told.key, message=told.message, message_parts={Finding.ABOUT: digest(statement)}
    )
    guessable = set(redaction.findings.values_list("key", flat=True)) | {told.key}
    secret_purge.purge(project, {_id(project)}, ME)
    assert guessable.isdisjoint(Finding.objects.values_list("key", flat=True))
    elsewhere.refresh_from_db()
    kept = [elsewhere.message_parts, *redaction.findings.values_list("message_parts", flat=True)]
    assert not any(Finding.ABOUT in parts for parts in kept)
    assert list(of_other.exclude(pk=elsewhere.pk)) == stays


def test_a_question_about_a_line_with_a_mask_is_not_asked_again_after_a_purge(project: Project) -> None:
    """Its digest is of the mask, so it has nothing of a secret."""
    statement = "Staging uses [redacted: github-token] there."
    Card.objects.create(project=project, key=digest(statement), said=statement, text=statement)
    asked = Asked("forget", statement, "It is old.", (Place("other.md", 1, statement),), (KEEP,))
    dream = rows.make_dream(project)
    questions_asking.save(dream, None, [asked])
    answering.answer(Question.objects.get(), "keep", ME)
    _redacted(project)
    secret_purge.purge(project, {_id(project)}, ME)
    questions_asking.save(dream, None, [asked])
    assert Question.objects.get().state == "answered"
    assert Card.objects.get().key == digest(statement)


def _said_again(project: Project, *statements: str) -> None:
    prompt = Prompt.objects.create(key=1, session=rows.make_session(project), offset=0, line_no=1)
    for said in statements:
        SaidAgain.objects.create(prompt=prompt, statement=digest(said), loaded="start")


def test_where_a_secret_stands_is_said_and_a_redaction_is_proposed_that_leaves_the_rest_of_the_line(
    project: Project,
) -> None:
    [leak] = secret_purge.find_secrets(project).found
    assert leak.rule == "github-token"
    assert [(place.path, place.line_no) for place in leak.places] == [("project_deploy.md", 8)]
    assert TOKEN not in repr(leak) and TOKEN[4:] not in leak.id
    made = secret_purge.propose(project, ME)
    assert made is not None and made.origin == Proposal.Origin.REDACTION and made.state == "open"
    deploy = world.folder(project) / "project_deploy.md"
    assert deploy.read_text() == LEAKED, "it changes nothing by itself"
    assert not made.findings.filter(severity__in=["refuse"]).exists()
    assert _redacted(project) == made  # asked for twice, it waits once
    assert deploy.read_text() == LEAKED.replace(TOKEN, "[redacted: github-token]")
    [leak] = secret_purge.find_secrets(project).found
    assert not leak.stands and leak.texts == 1


def test_nothing_is_purged_while_it_still_stands_or_waits_or_a_dream_runs_that_may_have_read_it(
    project: Project,
) -> None:
    secret = _id(project)
    with pytest.raises(secret_purge.PurgeRefused, match=r"still in project_deploy\.md"):
        secret_purge.purge(project, [secret], ME)
    _redacted(project)
    waiting = world.propose(project, world.edit("other.md", "Another.\n", f"Use {TOKEN}.\n", "back"))
    with pytest.raises(secret_purge.PurgeRefused, match=waiting.public_id):
        secret_purge.purge(project, [secret], ME)
    waiting.delete()
    dream = rows.make_dream(project, status="running")
    with pytest.raises(secret_purge.PurgeRefused, match="A dream is running"):
        secret_purge.purge(project, [secret], ME)
    assert not Purge.objects.exists()
    dream.delete()
    assert secret_purge.purge(project, [secret], ME).texts


def test_a_purged_secret_is_nowhere_in_what_is_kept(project: Project) -> None:
    _redacted(project)
    index.catch_up(5)
    secret = _id(project)
    copy = Path(settings.DATA_DIR) / database.COPIES / "20260101T000000000000.sqlite3"
    copy.parent.mkdir(exist_ok=True)
    if connection.vendor == "sqlite":  # a server's copies are its administrator's
        with connection.cursor() as cursor:  # the file alone lacks what is in the log beside it
            cursor.execute("VACUUM INTO %s", [str(copy)])
            cursor.execute(UNSAFE)
        assert TOKEN.encode() in copy.read_bytes()
    assert TOKEN.encode() in _everywhere(project)
    done = secret_purge.purge(project, [secret], ME, reason="It leaked.")
    assert done.texts == 1 and not done.waits
    kept = _everywhere(project)
    assert TOKEN.encode() not in kept
    assert zlib.compress(LEAKED.encode())[2:-4] not in kept
    assert TOKEN.lower().encode() not in kept  # the search index folds case
    assert secret_purge.find_secrets(project).found == ()
    assert verifying.verify().problems == []


@pytest.mark.not_on_postgresql
def test_the_copy_before_an_update_has_no_secret_that_the_update_took_out_of_reasons(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it is stopped right after: then the next start has nothing to update."""
    rows.make_proposal(project)
    long = "because it says so " * 400
    with connection.cursor() as cursor:
        cursor.execute("UPDATE dreams_proposal SET summary = %s", [f"Use {TOKEN} {long}Use {TOKEN}"])

    def migrate() -> None:
        Proposal.objects.update(summary="Use [redacted: github-token] again.")
        raise KeyboardInterrupt

    def connected(
        file: Path, connect: Callable[[Path], sqlite3.Connection] = sqlite3.connect
    ) -> sqlite3.Connection:
        made = connect(file)
        made.execute(UNSAFE)
        return made

    monkeypatch.setattr(sqlite3, "connect", connected)
    monkeypatch.setattr(database, "_is_behind", lambda applied: True)
    monkeypatch.setattr(database, "_migrate", migrate)
    with pytest.raises(KeyboardInterrupt):
        database.ensure()
    (copy,) = database.copies()
    with closing(sqlite3.connect(copy)) as opened:
        (said,) = opened.execute("SELECT summary FROM dreams_proposal").fetchone()
    assert said.startswith("Use [redacted: github-token] because")
    assert f"Use {TOKEN}".encode() not in copy.read_bytes()


def test_what_quoted_it_quotes_it_no_more_and_all_else_of_the_old_version_can_be_restored(
    project: Project,
) -> None:
    before = project.memories.get(path="project_deploy.md").versions.earliest("at").sha256
    made = _redacted(project)
    assert LedgerEntry.objects.filter(hunk__file__proposal=made, text__contains=TOKEN).exists()
    Finding.objects.update(message_parts={"statement": f"Deploys use {TOKEN} there."})
    dream = rows.make_dream(project, self_review=[{"code": "reworded", "said": f"“{TOKEN}” is gone."}])
    secret_purge.purge(project, [_id(project)], ME)
    dream.refresh_from_db()
    assert TOKEN not in str([dream.self_review, *Finding.objects.values_list("message_parts", flat=True)])
    entry = LedgerEntry.objects.get(hunk__file__proposal=made, text__contains="[redacted")
    assert TOKEN not in entry.text
    oldest = project.memories.get(path="project_deploy.md").versions.earliest("at")
    assert oldest.sha256 != before
    expected = LEAKED.replace(TOKEN, "[redacted: github-token]").encode()
    assert bytes(Blob.objects.get(pk=oldest.sha256).data) == expected
    with syncing.open_history(project) as store:
        assert store.read(oldest.sha256) == expected


def test_an_undo_after_a_purge_brings_back_all_but_the_secret(project: Project) -> None:
    after = LEAKED.replace("host alpha", "host beta").replace(TOKEN, "[redacted: github-token]")
    made = world.propose(project, world.edit("project_deploy.md", LEAKED, after, "moved"))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ME)
    review.confirm(made, made.findings.filter(severity="block"), ME)
    assert applying.apply(made, ME).applied
    secret_purge.purge(project, [_id(project)], ME)
    assert rollback.rollback(made, ME).applied
    text = (world.folder(project) / "project_deploy.md").read_text()
    assert text == LEAKED.replace(TOKEN, "[redacted: github-token]")


@pytest.mark.more
def test_the_reason_for_an_undo_keeps_nothing_of_it_in_the_journal_and_the_history(project: Project) -> None:
    made = world.propose(project, world.edit("other.md", "Another.\n", "Another one.\n", "reworded"))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ME)
    assert applying.apply(made, ME).applied
    assert rollback.rollback(made, ME, reason=f"It came with {TOKEN}.").applied
    _redacted(project)
    secret_purge.purge(project, [_id(project)], ME)
    assert TOKEN.encode() not in _everywhere(project)
    with syncing.open_history(project) as store:
        reasons = [commit.trailers.get("Reason") for commit in store.log(1000)]
    assert "It came with [redacted: github-token]." in reasons


@pytest.mark.more
def test_a_purge_reaches_tasks_of_sessions_and_the_reason_for_an_undo_that_waits(tmp_path: Path) -> None:
    """A password is told by the name before it, so where it is alone only a purge knows it."""
    password = "kX9vQ2mLp7" + "ZsW4rT"
    files = {"deploy.md": f"# Deploy\n\ndb_password = {password}\n", "other.md": "Another.\n"}
    project = world.make_project(tmp_path / "claude", files)
    made = world.propose(project, world.edit("other.md", "Another.\n", "Another one.\n", "reworded"))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ME)
    assert applying.apply(made, ME).applied
    session = rows.make_session(project)
    told = f"Change {password}"
    OpenEnd.objects.create(session=session, number=1, subject=told, blocked_by=[told], offset=0, line_no=1)
    waiting = rollback.propose(made, ME, rollback.Selection(), reason=told)
    _redacted(project)
    index.catch_up(5)
    assert SearchText.objects.filter(session=session, text__contains=password.lower()).exists()
    secret_purge.purge(project, [_id(project)], ME)
    index.catch_up(5)
    assert not SearchText.objects.filter(text__contains=password.lower()).exists()
    waiting.refresh_from_db()
    kept = [waiting.undo_asked, *OpenEnd.objects.values("subject", "blocked_by")]
    assert password not in str(kept) and str(kept).count("Change [redacted: ") == 3


def test_the_audit_log_names_what_was_replaced_and_holds_no_content(project: Project) -> None:
    old = Version.objects.get(memory__path="project_deploy.md").sha256
    _redacted(project)
    secret_purge.purge(project, [_id(project)], ME, reason=f"Oops: {TOKEN}")
    entry = AuditEntry.objects.get(action="history.purged")
    assert old in entry.data["replaced"]
    assert TOKEN not in str(entry.data) and TOKEN not in Purge.objects.get().reason


@pytest.mark.more
def test_an_edit_that_was_decided_anew_and_a_typed_reason_keep_nothing_of_it(project: Project) -> None:
    made = secret_purge.propose(project, ME)
    assert made is not None
    (hunk,) = review.select_hunks(made)
    review.edit(made, hunk, f"Deploys need {TOKEN} no more.", ME)
    review.decide(made, [hunk], Hunk.Verdict.APPROVED, ME, reason=f"The token {TOKEN} leaked.")
    typed = blobs.put(f"Nothing names {TOKEN} here.".encode())
    assert applying.apply(made, ME).applied
    secret_purge.purge(project, [_id(project)], ME)
    assert TOKEN.encode() not in _everywhere(project)
    assert not Blob.objects.filter(pk=typed).exists()
    edited = Decision.objects.get(verdict=Hunk.Verdict.EDITED)
    kept = bytes(Blob.objects.get(pk=edited.text_sha).data)
    assert kept == b"Deploys need [redacted: github-token] no more.\n"
    assert verifying.verify().problems == []


@pytest.mark.more
@pytest.mark.parametrize("broken", ["purge", "recover"])
def test_a_purge_that_a_crash_interrupts_is_finished_at_the_next_start(
    project: Project, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _redacted(project)
    secret = _id(project)

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(history.HistoryStore, broken, crash)
        with pytest.raises(KeyboardInterrupt):
            secret_purge.purge(project, [secret], ME)
    assert TOKEN.encode() in _everywhere(project)
    assert "Finished a purge of 1 text." in recovery.recover().histories
    assert TOKEN.encode() not in _everywhere(project)
    assert Purge.objects.get().done_at is not None
    assert verifying.verify().problems == []


@pytest.mark.not_on_postgresql
def test_a_purge_is_done_only_when_the_log_of_the_database_has_nothing_of_it(project: Project) -> None:
    """Another process may read; or this one is killed before the log is cut off, which the next start then does."""
    _redacted(project)
    secret = _id(project)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        [wait] = cursor.fetchone()
        cursor.execute("PRAGMA busy_timeout = 10")
    with closing(sqlite3.connect(connection.settings_dict["NAME"])) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM dreams_blob").fetchall()
        done = secret_purge.purge(project, [secret], ME)
        assert done.waits == ("Another process reads the database, whose log still has the texts.",)
        assert TOKEN.encode() in _everywhere(project)
        assert Purge.objects.get().done_at is None
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {wait}")
    assert "Finished a purge of 1 text." in recovery.recover().histories
    assert TOKEN.encode() not in _everywhere(project)


def test_a_text_that_only_the_journal_of_a_failed_write_has_is_purged(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two changes one was approved: the file with it alone was never on disk, nor in the database."""
    plain, half = "First.\n\nSecond.\n\nThird.\n", f"Use {TOKEN}.\n\nSecond.\n\nThird.\n"
    world.put(world.folder(project) / "two.md", plain)
    made = world.propose(
        project,
        world.edit("two.md", plain, half, "one"),
        world.edit("two.md", half, half.replace("Third", "Fourth"), "two"),
    )
    first, second = made.files.get().hunks.order_by("number")
    review.decide(made, [first], Hunk.Verdict.APPROVED, ME)
    review.decide(made, [second], Hunk.Verdict.REJECTED, ME)
    review.confirm(made, made.findings.filter(severity="block"), ME)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(journal.System, "exchange", full)
        assert "full" in applying.apply(made, ME).error
    Proposal.objects.filter(pk=made.pk).update(state=Proposal.State.REJECTED)
    _redacted(project)
    assert half.encode() in _everywhere(project)
    assert not secret_purge.purge(project, [_id(project)], ME).waits
    assert TOKEN.encode() not in _everywhere(project)


def test_a_purge_waits_for_the_journal_and_is_finished_later(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _redacted(project)

    def busy(*_: object) -> None:
        raise journal.JournalBusy("another process is writing memory files; try again when it is done")

    with monkeypatch.context() as patched:
        patched.setattr(journal, "forget_texts", busy)
        [waits] = secret_purge.purge(project, [_id(project)], ME).waits
    assert waits.startswith("another process is writing memory files")
    assert recovery.recover().histories == ["Finished a purge of 1 text."]
    assert TOKEN.encode() not in _everywhere(project)


@pytest.mark.not_on_postgresql
def test_a_purge_that_was_cut_off_is_finished_while_the_server_runs(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only the process of its page or command was killed nothing starts anew for months."""
    _redacted(project)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(history.HistoryStore, "purge", killed)
        with pytest.raises(KeyboardInterrupt):
            secret_purge.purge(project, [_id(project)], ME)
    cache.clear()
    tasks.tick()
    assert "purges" not in [task.name() for task in OrmQ.objects.all()], "it may be under way"
    Purge.objects.update(at=timezone.now() - secret_purge.AGAIN)
    tasks.tick()
    tasks.tick()
    assert [task.name() for task in OrmQ.objects.all()].count("purges") == 1
    assert tasks.finish_purges() == "Finished a purge of 1 text."
    assert TOKEN.encode() not in _everywhere(project)
    assert tasks.finish_purges() == "nothing to do"


def _a_journal() -> Path:
    folder = Path(settings.DATA_DIR) / "journal"
    return folder / list_journals(folder)[0].name


def test_a_purge_needs_no_journal_whose_texts_the_disk_lost(project: Project) -> None:
    _redacted(project)
    for folder in ("blobs", "old"):
        shutil.rmtree(_a_journal() / folder, ignore_errors=True)
    assert not secret_purge.purge(project, [_id(project)], ME).waits
    assert TOKEN.encode() not in _everywhere(project)


def test_a_purge_says_which_journal_may_not_be_read_and_changes_nothing(project: Project) -> None:
    """It may have the secret."""
    _redacted(project)
    with closed_to_us(_a_journal()):
        [waits] = recovery.recover().problems
        assert "not ended yet" in waits
        with pytest.raises(secret_purge.PurgeRefused, match=f"{_a_journal()}.*Permission denied"):
            secret_purge.purge(project, [_id(project)], ME)
    assert TOKEN.encode() in _everywhere(project)
    assert not secret_purge.purge(project, [_id(project)], ME).waits


@pytest.mark.not_on_postgresql
def test_a_purge_that_waits_is_finished_though_another_replaced_its_texts_meanwhile(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.folder(project) / "project_deploy.md"
    file.write_text(file.read_text() + f"The old ones used {OTHER}.\n")
    _redacted(project)
    first, second = secret_purge.find_secrets(project).found

    def busy(*_: object) -> None:
        raise history.HistoryBusy("Another process writes to it")

    with monkeypatch.context() as patched:
        patched.setattr(history.HistoryStore, "purge", busy)
        assert secret_purge.purge(project, [first.id], ME).waits == ("Another process writes to it",)
    with monkeypatch.context() as patched:
        patched.setattr(history.HistoryStore, "purge", busy)
        [waits] = secret_purge.resume()
        assert waits.endswith("is not finished: Another process writes to it")
    assert not secret_purge.purge(project, [second.id], ME).waits
    recovered = recovery.recover()
    assert not recovered.problems and len(recovered.histories) == 1
    kept = _everywhere(project)
    assert TOKEN.encode() not in kept and OTHER.encode() not in kept
    assert not Purge.objects.filter(done_at=None).exists() and verifying.verify().problems == []


def test_a_purge_is_not_finished_while_the_history_is_somewhere_else(
    project: Project, tmp_path: Path
) -> None:
    """As after a move to another machine, before its folder is copied, too."""
    _redacted(project)
    os.rename(syncing.history_path(project), tmp_path / "elsewhere")
    with pytest.raises(
        Refused, match=r"It may have the texts where it is now\. `recover` tries again\."
    ) as told:
        call_command("secrets", str(project.pk), "--purge", _id(project))
    assert f"{syncing.history_path(project)} is missing" in str(told.value)
    assert verifying.lost_histories(), "nothing hides that it is lost"
    [waits] = secret_purge.resume()
    assert waits.startswith("A purge of 1 text is not finished")
    os.rename(tmp_path / "elsewhere", syncing.history_path(project))
    assert secret_purge.resume() == ["Finished a purge of 1 text."]
    assert TOKEN.encode() not in _everywhere(project)
    assert verifying.verify().problems == []


@pytest.mark.not_on_postgresql
def test_an_unfinished_purge_of_a_project_that_an_adoption_deleted_is_finished_in_its_history(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _redacted(project)

    def busy(*_: object) -> None:
        raise history.HistoryBusy("Another process writes to it")

    with monkeypatch.context() as patched:
        patched.setattr(history.HistoryStore, "purge", busy)
        assert secret_purge.purge(project, [_id(project)], ME).waits
    path = syncing.history_path(project)
    project.delete()
    assert secret_purge.resume() == ["Finished a purge of 1 text."]
    with history.HistoryStore(path) as store:
        assert not any(TOKEN.encode() in store.read(sha) for sha in store.texts())
        assert any(b"[redacted: github-token]" in store.read(sha) for sha in store.texts())


@pytest.mark.not_on_postgresql
def test_a_restore_asked_for_before_a_purge_takes_nothing_from_a_history_that_the_purge_waits_for(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_secret = project.memories.get(path="project_deploy.md").sha256
    _redacted(project)

    def busy(*_: object) -> None:
        raise history.HistoryBusy("Another process writes to it")

    with monkeypatch.context() as patched:
        patched.setattr(history.HistoryStore, "purge", busy)
        assert secret_purge.purge(project, [_id(project)], ME).waits
    with pytest.raises(blobs.MissingBlob, match=with_secret):
        hand_edits.restore(project, "project_deploy.md", with_secret, ME)
    assert recovery.recover().histories
    assert TOKEN.encode() not in _everywhere(project)


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("old, new", [("The", "Thf"), (TOKEN, TOKEN.replace("_", "-"))])
def test_the_list_and_a_purge_read_a_text_that_a_disk_damaged_from_the_history(
    project: Project, old: str, new: str
) -> None:
    memory = project.memories.get(path="project_deploy.md")
    wanted, damaged = _id(project), Blob.objects.get(sha256=memory.sha256)
    _redacted(project)
    Blob.objects.filter(pk=damaged.pk).update(data=bytes(damaged.data).replace(old.encode(), new.encode(), 1))
    assert _id(project) == wanted
    assert not secret_purge.purge(project, [wanted], ME).waits
    with syncing.open_history(project) as store:
        first = store.tree_at(store.log(1000)[-1].id)["project_deploy.md"]
        assert store.read(first).decode() == LEAKED.replace(TOKEN, "[redacted: github-token]")
    assert verifying.verify().problems == []


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_key_over_several_lines_leaves_line_numbers_as_they_were(tmp_path: Path) -> None:
    head, foot = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
    block = f"{head}\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\nAgEAAoIBAQC7VJTUt9Us8cKj\n{foot}"
    project = world.make_project(tmp_path / "claude", {"key.md": f"Before.\n{block}\nAfter.\n"})
    _redacted(project)
    text = (world.folder(project) / "key.md").read_text()
    assert text.splitlines().index("After.") == 5
    secret_purge.purge(project, [_id(project)], ME)
    assert b"MIIEvQIBADANBgkqhkiG9w0" not in _everywhere(project)


@pytest.mark.not_on_postgresql
def test_a_key_with_a_line_that_is_in_the_words_instead_of_it_can_be_purged(tmp_path: Path) -> None:
    """As where a person has replaced a line of it: the mask has that word too, and would count as a part of the key."""
    head, foot = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
    block = f"{head}\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\nredacted\nAgEAAoIBAQC7VJTUt9Us8cKj\n{foot}"
    project = world.make_project(tmp_path / "claude", {"key.md": f"Before.\n{block}\nAfter.\n"})
    _redacted(project)
    secret_purge.purge(project, [_id(project)], ME)
    assert b"MIIEvQIBADANBgkqhkiG9w0" not in _everywhere(project)
    assert not secret_purge.find_secrets(project).found


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize(
    "mark, frame, inner",
    [
        ("", ("-----BEGIN {}-----", "-----END {}-----"), "Proc-Type: 4,ENCRYPTED"),
        ("> ", ("-----BEGIN {}-----", "-----END {}-----"), "Comment: OpenPGP"),
        ("", ("---- BEGIN SSH2 ENCRYPTED {} ----", "---- END SSH2 ENCRYPTED {} ----"), "Comment: laptop"),
    ],
)
def test_a_purge_of_a_key_leaves_the_words_around_it_where_they_are_without_a_key(
    tmp_path: Path, mark: str, frame: tuple[str, str], inner: str
) -> None:
    head, foot = (each.format("PRIVATE " + "KEY") for each in frame)
    key = ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", "AgEAAoIBAQC7VJTUt9Us8cKj", "9Us8cK==")
    block = "".join(f"{mark}{line}\n" for line in (head, inner, "", *key, foot))
    about = f"It ends with:\n\n{mark}{foot}\n\nIn it is:\n\n{inner}\n\nOne line is {key[1]}.\n"
    project = world.make_project(tmp_path / "claude", {"key.md": f"Before.\n{block}", "about.md": about})
    _redacted(project)
    world.put(world.folder(project) / "about.md", about.replace(key[1], "secret"))
    syncing.refresh(project)
    secret_purge.purge(project, [_id(project)], ME)
    kept = _everywhere(project)
    assert not any(line.encode() in kept for line in key)
    first = project.memories.get(path="about.md").versions.order_by("number").first()
    assert blobs.get_text(first.sha256) == about.replace(key[1], "[redacted: private-key]")


def _noted(project: Project, text: str) -> SessionNotes:
    """Notes as they were kept before the rule that knows the token existed."""
    session = rows.make_session(project)
    row = session_notes.save(session.pk, SessionNotes.Origin.AGENT, "Before.", at=session.touched_at, size=7)
    SessionNotes.objects.filter(pk=row.pk).update(sha256=blobs.put(text.encode()))
    return SessionNotes.objects.get(pk=row.pk)


@pytest.mark.more
def test_a_purge_reaches_notes_on_sessions_and_leaves_the_rest_of_them(project: Project) -> None:
    notes = _noted(project, f"# Learnings\n\nDeploys use {TOKEN} there.\n")
    _redacted(project)
    index.catch_up(5)
    secret_purge.purge(project, [_id(project)], ME)
    notes.refresh_from_db()
    assert blobs.get_text(notes.sha256) == "# Learnings\n\nDeploys use [redacted: github-token] there.\n"
    assert not SearchText.objects.filter(text__contains=TOKEN.lower()).exists()
    index.catch_up(5)
    assert SearchText.objects.filter(session=notes.session_id, text__contains="deploys use").exists()
    assert TOKEN.encode() not in _everywhere(project)


def test_a_secret_that_only_notes_on_a_session_hold_is_found_and_purged(project: Project) -> None:
    other = "ghp_" + "b8Lw3KfN5uY1xQ7mD2rV9cH6tA4sZ0jGpIeO"
    notes = _noted(project, f"The worker signs in with {other}.\n")
    [leak] = [leak for leak in secret_purge.find_secrets(project).found if not leak.stands]
    assert leak.paths == [f"notes on session {notes.session.session_id}"]
    secret_purge.purge(project, [leak.id], ME)
    notes.refresh_from_db()
    assert blobs.get_text(notes.sha256) == "The worker signs in with [redacted: github-token].\n"


def test_an_unknown_id_is_refused(project: Project) -> None:
    with pytest.raises(secret_purge.PurgeRefused, match="nothing to purge"):
        secret_purge.purge(project, ["feedfeedfeedfeed"], ME)


def test_a_purge_reaches_questions_and_their_drafted_answers(tmp_path: Path, monkeypatch) -> None:
    token = "ghp_" + "q7Vd2HsN9xLk4RtB6yWm1ZcP8jFg3TaUeKiO"
    line = f"Deploys use {token} there."
    project = world.make_project(
        tmp_path / "asked", {"project_deploy.md": f"# Deploy\n\nOn alpha.\n\n{line}\n"}
    )
    ask = asking.asks("project_deploy.md", "On alpha.", "On beta.")
    about_it = asking.asks("project_deploy.md", line, f"{line} Still.", label=f"Keep {token}")
    asking.dream(project, monkeypatch, ask, about_it)
    _redacted(project)
    [leak] = secret_purge.find_secrets(project).found
    secret_purge.purge(project, [leak.id], ME)
    assert token.encode() not in _everywhere(project)
    # The question about the other line is still there, and its answer still fits.
    question = Question.objects.get(state="open")
    done = answering.answer(question, "replace", ME)
    assert done.proposal is not None
    assert applying.apply(done.proposal, ME).complete
    content = (world.folder(project) / "project_deploy.md").read_text()
    assert "On beta." in content and "[redacted: github-token]" in content


def test_one_stored_text_is_counted_in_the_singular() -> None:
    secret = {"id": "s1", "rule": "github-token", "places": [], "paths": [], "kept_texts": 1}
    told = "\n".join(Command().words({"purged": 1, "proposal": "", "secrets": [secret]}))
    assert "Removed from 1 stored text." in told
    assert "(1 stored text)" in told


@pytest.mark.more
def test_a_purge_takes_no_text_from_a_proposal_of_another_project(project: Project, tmp_path: Path) -> None:
    """As a copy of the memories into the repository's new folder: its versions have the text only once it is applied."""
    other = world.make_project(tmp_path / "other", {"other.md": "Another.\n"})
    waiting = world.propose(other, world.edit("project_deploy.md", None, LEAKED, "copied", "learn"))
    answer = asking_of(other)
    _redacted(project)
    secret_purge.purge(project, [_id(project)], ME)
    (change,) = waiting.files.all()
    assert blobs.get_text(change.new_sha) == LEAKED
    assert blobs.get_text(answer) == LEAKED
    assert verifying.verify().problems == []


def asking_of(project: Project) -> str:
    """A question whose answer is the leaked text; returns its sha256."""
    edits = (Edit("more.md", None, LEAKED, "answer", "learn", "Said."),)
    question = Asked(
        "changed", "more", "Is it so?", (Place("other.md", 1, "Another."),), (Option("replace", "Do", edits),)
    )
    questions_asking.save(rows.make_dream(project), None, [question])
    return str(QuestionOption.objects.get(question__project=project, option_id="replace").edits[0]["after"])


@pytest.mark.more
def test_a_conflict_that_waits_stays_solvable_after_a_purge(project: Project) -> None:
    """Its three texts are named by the conflict alone; here the one that was applied had the secret."""
    moved = LEAKED.replace("host alpha", "host beta")
    made = world.propose(project, world.edit("project_deploy.md", LEAKED, moved, "moved"))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ME)
    review.confirm(made, made.findings.filter(severity="block"), ME)
    assert applying.apply(made, ME).applied
    clean = moved.replace("host beta", "host gamma").replace(TOKEN, "a token")
    (world.folder(project) / "project_deploy.md").write_text(clean)
    undo = rollback.propose(made, ME, rollback.EVERYTHING)
    file = undo.files.get()
    assert file.conflict
    secret_purge.purge(project, [_id(project)], ME)
    assert TOKEN.encode() not in _everywhere(project)
    file.refresh_from_db()
    merged = rebase.three_way(rebase.sides_of(file), file.path)
    rebase.resolve(file, dict.fromkeys(range(len(merged.conflicts)), "theirs"))
    assert applying.apply(undo, ME, rebased=True).complete
    assert "host alpha" in (world.folder(project) / "project_deploy.md").read_text()
