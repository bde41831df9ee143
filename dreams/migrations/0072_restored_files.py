"""A restore has a kind of its own, also one that was proposed before."""

from typing import Any

from django.db import migrations, models

KINDS = [
    ("learn", "Learnt"),
    ("merge", "Merged"),
    ("date", "Dated"),
    ("index", "Index row"),
    ("demote", "Shortened"),
    ("update", "Updated"),
    ("prune", "Removed"),
    ("edit", "Edited"),
    ("copy", "Copied"),
    ("restore", "As it was"),
    ("undo", "Undone"),
]


def name_restores(apps: Any, schema_editor: Any) -> None:
    apps.get_model("dreams", "Operation").objects.filter(proposal__origin="restore").update(kind="restore")


class Migration(migrations.Migration):
    dependencies = [
        ("dreams", "0071_said_again"),
    ]

    operations = [
        migrations.AlterField(
            model_name="operation",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=10),
        ),
        migrations.AlterField(
            model_name="policy",
            name="kind",
            field=models.CharField(
                blank=True, choices=KINDS, help_text="Empty: any.", max_length=10, verbose_name="kind of change"
            ),
        ),
        migrations.AlterField(
            model_name="hunk",
            name="seconded_by",
            field=models.CharField(
                blank=True, help_text="The second person who approved it, where one is needed.", max_length=150
            ),
        ),
        migrations.RunPython(name_restores, migrations.RunPython.noop, elidable=True),
    ]
