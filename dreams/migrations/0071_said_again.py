"""What a person typed although memory said it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dreams", "0070_arriving_half"),
    ]

    operations = [
        migrations.CreateModel(
            name="SaidAgain",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("statement", models.CharField(help_text="Digest of the statement’s words.", max_length=64)),
                (
                    "loaded",
                    models.CharField(
                        choices=[
                            ("start", "Loaded when the session began"),
                            ("linked", "In a memory that the index named"),
                            ("beyond", "Beyond what an agent loads of the index"),
                            ("unlisted", "In a memory that the index did not name"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "prompt",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="said_again",
                        to="dreams.prompt",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("prompt", "statement"), name="said_again_once")
                ],
            },
        ),
    ]
