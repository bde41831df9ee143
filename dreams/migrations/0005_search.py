"""Search: one row for each text, and the index that each database has for parts of words.

Nothing is indexed here: texts that are there already are marked as not indexed, and follow in small steps.
"""

from __future__ import annotations

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from dreams.migrations._statements import run
from dreams.services.search import postgresql, sqlite
from dreams.services.search.query import TextKind


def create_index(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": (*sqlite.TABLES, *sqlite.triggers(TextKind.TYPED)), "postgresql": postgresql.CREATE})


def drop_index(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run(editor, {"sqlite": sqlite.DROP, "postgresql": postgresql.DROP})


class Migration(migrations.Migration):
    dependencies = [("dreams", "0004_usage")]

    operations = [
        migrations.AddField(
            "version",
            "indexed",
            models.BooleanField(db_default=False, help_text="Indexed for search."),
        ),
        migrations.AddField(
            "prompt",
            "indexed",
            models.BooleanField(db_default=False, help_text="Indexed for search."),
        ),
        migrations.AddIndex("memory", models.Index(fields=["sha256"], name="memory_by_sha256")),
        migrations.AddIndex("version", models.Index(fields=["sha256"], name="version_by_sha256")),
        migrations.AddIndex(
            "version",
            models.Index(fields=["at"], condition=models.Q(indexed=False), name="version_not_indexed"),
        ),
        migrations.AddIndex(
            "prompt",
            models.Index(fields=["at"], condition=models.Q(indexed=False), name="prompt_not_indexed"),
        ),
        migrations.CreateModel(
            name="SearchText",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "text",
                    models.TextField(
                        help_text="Lower case, without accents; secrets removed."
                    ),
                ),
                (
                    "blob",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="dreams.blob",
                    ),
                ),
                (
                    "prompt",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="dreams.prompt",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("blob__isnull", False), ("prompt__isnull", True))
                        | models.Q(("blob__isnull", True), ("prompt__isnull", False)),
                        name="search_text_of_one_thing",
                    )
                ],
            },
        ),
        migrations.RunPython(create_index, drop_index),
    ]
