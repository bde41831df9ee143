"""The half of a move that arrives has its project in the column that the half that leaves has."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F


def fill(apps, editor):
    made = apps.get_model("dreams", "Proposal").objects.filter(origin="copied", summary__startswith="Moves ")
    made.update(moved_to=F("project"))


class Migration(migrations.Migration):

    dependencies = [
        ("dreams", "0069_reasons_without_secrets"),
    ]

    operations = [
        migrations.AlterField(
            model_name="proposal",
            name="moved_to",
            field=models.ForeignKey(
                blank=True,
                help_text="Of the two halves of a move: where the memory moves to. What leaves must be there when it is removed.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="dreams.project",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
