"""Instruction files and pasted texts can be found. SQLite builds the table of texts anew for it, so its triggers are put
back."""

from __future__ import annotations

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from dreams.migrations._statements import run
from dreams.services.search import sqlite
from dreams.services.search.query import TextKind

OWNERS = ("blob", "prompt", "session", "history", "instruction")


def only(name: str, owners: tuple[str, ...]) -> models.Q:
    return models.Q(**{f"{other}__isnull": other != name for other in owners})


def drop_triggers(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": sqlite.DROP_TRIGGERS})


def create_triggers(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": sqlite.CREATE_TRIGGERS})


def create_triggers_of_before(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": sqlite.triggers(TextKind.TYPED, TextKind.SESSION)})


def forget_texts(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("dreams", "SearchText").objects
    rows.filter(models.Q(history__isnull=False) | models.Q(instruction__isnull=False)).delete()
    drop_triggers(apps, editor)


class Migration(migrations.Migration):
    dependencies = [("dreams", "0043_open_ends_in_search")]

    operations = [
        migrations.RunPython(drop_triggers, create_triggers_of_before),
        migrations.RemoveConstraint("searchtext", "search_text_of_one_thing"),
        migrations.CreateModel(
            "InstructionText",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("host", models.CharField(max_length=255)),
                ("path", models.TextField(help_text="Absolute path.")),
                (
                    "scope",
                    models.CharField(help_text="managed, user, project, rule or local.", max_length=10),
                ),
                ("text", models.TextField(help_text="Line by line as in the file.")),
                ("changed_at", models.DateTimeField(help_text="When the file was last changed.")),
                ("indexed", models.BooleanField(db_default=False, help_text="Indexed for search.")),
                (
                    "projects",
                    models.ManyToManyField(related_name="instruction_texts", to="dreams.project"),
                ),
            ],
        ),
        migrations.AddConstraint(
            "instructiontext",
            models.UniqueConstraint(fields=("host", "path"), name="instruction_text_unique_per_host"),
        ),
        migrations.AddField(
            "project",
            "instructions_read_at",
            models.DateTimeField(
                blank=True, help_text="When its instruction files were last read for search.", null=True
            ),
        ),
        migrations.AddField(
            "historyprompt",
            "indexed",
            models.BooleanField(db_default=False, help_text="Its pasted texts are indexed for search."),
        ),
        migrations.AddIndex(
            "historyprompt",
            models.Index(
                fields=["prompt"], condition=models.Q(indexed=False), name="pastes_not_indexed"
            ),
        ),
        migrations.AddField(
            "searchtext",
            "history",
            models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="dreams.historyprompt",
            ),
        ),
        migrations.AddField(
            "searchtext",
            "instruction",
            models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="dreams.instructiontext",
            ),
        ),
        migrations.AddConstraint(
            "searchtext",
            models.CheckConstraint(
                condition=only("blob", OWNERS)
                | only("prompt", OWNERS)
                | only("session", OWNERS)
                | only("history", OWNERS)
                | only("instruction", OWNERS),
                name="search_text_of_one_thing",
            ),
        ),
        migrations.RunPython(create_triggers, forget_texts),
    ]
