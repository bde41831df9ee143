"""A mark for the sessions and the memories of each project, kept by triggers (SQLite): what pages count is kept beside it.
Dreams that nobody was told of are found by an index of their own."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from dreams.migrations import _marks
from dreams.migrations._statements import run


def create(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": _marks.CREATE_PROJECTS})


def drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": _marks.DROP_PROJECTS})


class Migration(migrations.Migration):
    dependencies = [("dreams", "0053_snooze_per_account")]

    operations = [
        migrations.RunPython(create, drop),
        migrations.AddIndex(
            "dreamrun",
            models.Index(
                fields=["-ended_at"], name="dream_untold", condition=models.Q(notified_at__isnull=True)
            ),
        ),
    ]
