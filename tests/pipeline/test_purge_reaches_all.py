"""A purge reaches every column into which people, agents and engines write: found by asking the models, so also a new one."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from django.apps import apps
from django.db import models
from django.db.models import Value

from dreams.lib.agents.transcripts import Cursor, Scan, Summary
from dreams.models import DreamLog, InstructionText, Project, TranscriptFile
from dreams.services import daily_logs, review, secret_purge
from dreams.services.apply import applying
from dreams.services.discovery import resume
from dreams.services.memories import syncing
from dreams.services.secret_purge import locating
from tests.world import directory as world
from tests.world.directory import ME
from tests.world.rows import make_dream

pytestmark = pytest.mark.django_db(transaction=True)
# Made from parts: no file may hold what looks like a live credential.
TOKEN = "ghp_" + "w5Tn8QyB3xK6mV1cJ9rL2pZ7dG4sF0hAoUeI"
#: Of the installation or its folders, not of a project, or an index that is read again, or the audit log, which holds no contents.
ELSEWHERE = {
    "Project",
    *(
        "AuditEntry",
        "SearchText",
        "Blob",
        "Purge",
        "Override",
        "Policy",
        "Host",
        "Price",
        "Channel",
        "LoginSession",
    ),
    *("HistoryFile", "HiddenPrompt", "ScheduledJob", "JobRun", "FeedToken", "LoginLink", "Snooze"),
}
#: Names of files, folders, hosts, people and branches: where one holds a secret, it is masked wherever it is shown.
NAMES = {
    *(
        "path",
        "target_path",
        "place",
        "files",
        "made_dirs",
        "memory_dir",
        "root",
        "repo_dir",
        "cwd",
        "slug",
        "host",
    ),
    *(
        "asked_on",
        "directory",
        "session_id",
        "branch",
        "agent",
        "agent_name",
        "submitting_by",
        "scope",
        "history_key",
        "seen",
    ),
}
#: Written by memoryweb alone, of ids, counts, digests and sentences of its own.
OURS = {
    "results",
    "gate_fingerprint",
    "counts",
    "rows",
    "tally",
    "agent_settings",
    "problems",
    "operation",
    "unread",
}
#: Columns whose shape is read while they are purged.
SHAPES = {"edits": [{"path": "a.md", "before": "", "after": "", "reason": TOKEN}]}
VALUES: dict[str, object] = {
    "DateTimeField": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "CharField": "x",
    "TextField": "x",
    "BooleanField": False,
    "FloatField": 1.0,
    "DecimalField": 1,
    "BinaryField": b"x",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The token stood in a memory, and a person took it out."""
    made = world.make_project(tmp_path / "claude", {"deploy.md": f"Deploys use {TOKEN} there.\n"})
    redaction = secret_purge.propose(made, ME)
    assert redaction is not None
    review.decide(redaction, review.select_hunks(redaction), "approved", ME)
    review.confirm(redaction, redaction.findings.filter(severity="block"), ME)
    assert applying.apply(redaction, ME).applied
    return made


def _a_row_of_each(project: Project) -> list[models.Model]:
    """A row of every table of a project, each with the others that it can name."""
    made: dict[type[models.Model], models.Model] = {Project: project}

    def row_of(model: type[models.Model]) -> models.Model:
        if model not in made:
            given = {}
            for column in model._meta.concrete_fields:
                other = column.related_model
                if isinstance(other, type) and (not column.null or other in made):
                    given[column.name] = row_of(other)
                elif not (
                    column.null or column.has_default() or other or isinstance(column, models.AutoField)
                ):
                    given[column.name] = VALUES.get(column.get_internal_type(), 1)
            made[model] = model._default_manager.create(**given)
        return made[model]

    return [
        row_of(model)
        for model in apps.get_app_config("dreams").get_models()
        if model.__name__ not in ELSEWHERE
    ]


def _texts_of(row: models.Model) -> list[str]:
    """The columns of a row with room for a secret, except names."""
    columns = [
        column
        for column in row._meta.concrete_fields
        if isinstance(column, models.TextField | models.JSONField)
        or (isinstance(column, models.CharField) and (column.max_length or 0) >= 200)
    ]
    return [column.name for column in columns if column.name not in NAMES | OURS]


def test_a_purge_leaves_the_secret_in_no_column_of_any_row_of_the_project(project: Project) -> None:
    rows = _a_row_of_each(project)
    InstructionText.objects.get().projects.add(project)
    for row in rows:
        for name in _texts_of(row):
            is_json = isinstance(row._meta.get_field(name), models.JSONField)
            is_list = is_json and isinstance(row._meta.get_field(name).get_default(), list)
            shape = SHAPES.get(name, [{"said": TOKEN}] if is_list else {"said": TOKEN})
            if is_json:
                setattr(row, name, shape)
                row.save(update_fields=[name])
            else:  # as a host with an older version stores it: some columns mask what is saved
                type(row)._default_manager.filter(pk=row.pk).update(**{name: Value(f"It is {TOKEN}.")})
    [leak] = secret_purge.find_secrets(project).found
    secret_purge.purge(project, [leak.id], ME)
    left = [
        f"{type(row).__name__}.{name}"
        for row in rows
        for kept in type(row)._default_manager.filter(pk=row.pk)
        for name in _texts_of(row)
        if TOKEN in str(getattr(kept, name))
    ]
    assert not left, " ".join(left)


def test_what_was_read_of_a_transcript_is_kept_without_it_and_reading_goes_on_there(project: Project) -> None:
    """A version that did not know this kind of secret has it in the totals from which the next reading continues."""
    asked = f'Say "it is {TOKEN}".'
    state = resume.state_of(Scan(Cursor(9, 1), Summary(last_prompt=asked, user_turns=1)))
    session = project.sessions.create(session_id="s", touched_at=VALUES["DateTimeField"])
    file = TranscriptFile.objects.create(session=session, path="/t/s.jsonl", state=state)
    [leak] = secret_purge.find_secrets(project).found
    secret_purge.purge(project, [leak.id], ME)
    file.refresh_from_db()
    kept = resume.summary_of(bytes(file.state))
    assert kept is not None and TOKEN.encode() not in bytes(file.state)
    assert (kept.last_prompt, kept.user_turns) == (asked.replace(TOKEN, "[redacted: github-token]"), 1)


def test_a_secret_that_json_writes_otherwise_leaves_what_was_read_of_a_transcript_too(
    project: Project,
) -> None:
    secret = 'w5"Tn8\\QyB3\nxK6é'
    state = resume.state_of(Scan(Cursor(9, 1), Summary(last_prompt=f"Use {secret} there.")))
    session = project.sessions.create(session_id="s", touched_at=VALUES["DateTimeField"])
    file = TranscriptFile.objects.create(session=session, path="/t/s.jsonl", state=state)
    locating.scrub(project, {secret: "password"})
    file.refresh_from_db()
    kept = resume.summary_of(bytes(file.state))
    assert kept is not None and kept.last_prompt == "Use [redacted: password] there."


def test_a_daily_log_that_was_read_stays_read_after_a_purge(tmp_path: Path) -> None:
    path, lines = "logs/2026/03/2026-03-03.md", f"- Releases are on Mondays.\n- The key is {TOKEN}.\n"
    project = world.make_project(tmp_path / "claude", {path: lines})
    log = project.memories.get(path=path)
    DreamLog.objects.create(dream=make_dream(project), memory=log, sha256=log.sha256, used=True)
    assert daily_logs.new_lines(project) == 0
    (world.folder(project) / path).write_text(lines.replace(TOKEN, "[redacted: github-token]"))
    syncing.refresh(project)
    [leak] = secret_purge.find_secrets(project).found
    secret_purge.purge(project, [leak.id], ME)
    assert daily_logs.new_lines(project) == 0
