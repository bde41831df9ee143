"""Titles of sessions can be found. SQLite builds the table of texts anew for it, so its triggers are put back."""

from __future__ import annotations

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from dreams.migrations._statements import run
from dreams.services.search import sqlite
from dreams.services.search.query import TextKind


def only(*names: str) -> models.Q:
    """A text of exactly one of these."""
    found = models.Q()
    for name in names:
        found |= models.Q(**{f"{other}__isnull": other != name for other in names})
    return found


def drop_triggers(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": sqlite.DROP_TRIGGERS})


def create_triggers(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": sqlite.triggers(TextKind.TYPED, TextKind.SESSION)})


def create_triggers_of_before(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": sqlite.triggers(TextKind.TYPED)})


def forget_titles(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("dreams", "SearchText").objects.filter(session__isnull=False).delete()
    drop_triggers(apps, editor)


class Migration(migrations.Migration):
    dependencies = [("dreams", "0010_usage_marks")]

    operations = [
        migrations.RunPython(drop_triggers, create_triggers_of_before),
        migrations.RemoveConstraint("searchtext", "search_text_of_one_thing"),
        migrations.AddField(
            "searchtext",
            "session",
            models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="dreams.session",
            ),
        ),
        migrations.AddField(
            "session",
            "title_indexed_at",
            models.DateTimeField(
                blank=True, help_text="When its title was indexed for search. Empty: not yet.", null=True
            ),
        ),
        migrations.AddIndex(
            "session",
            models.Index(
                fields=["touched_at"],
                condition=models.Q(title_indexed_at__isnull=True),
                name="session_title_waits",
            ),
        ),
        migrations.AddConstraint(
            "searchtext",
            models.CheckConstraint(
                condition=only("blob", "prompt", "session"), name="search_text_of_one_thing"
            ),
        ),
        migrations.RunPython(create_triggers, forget_titles),
    ]
