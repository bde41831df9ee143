"""A mark for each date of requests, kept by triggers (SQLite): sums of months that are over are kept beside it."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from dreams.migrations import _marks
from dreams.migrations._statements import run


def create(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": _marks.CREATE_DAYS})


def drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": _marks.DROP_DAYS})


class Migration(migrations.Migration):
    dependencies = [("dreams", "0009_page_indexes")]

    operations = [migrations.RunPython(create, drop)]
