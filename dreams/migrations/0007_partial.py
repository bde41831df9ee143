"""The steps of a dream are kept while it runs, so that what it had changed can be proposed when it stops early."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dreams", "0006_purge")]
    operations = [
        migrations.AddField(
            "proposal",
            "partial",
            models.BooleanField(
                default=False, help_text="Changes of an unfinished dream, proposed because a person asked for them."
            ),
        ),
        migrations.CreateModel(
            name="WorkStep",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("path", models.CharField(max_length=1000)),
                (
                    "before_sha",
                    models.CharField(blank=True, help_text="Empty: the file did not exist.", max_length=64),
                ),
                (
                    "after_sha",
                    models.CharField(blank=True, help_text="Empty: the file was removed.", max_length=64),
                ),
                ("operation", models.CharField(max_length=200)),
                ("kind", models.CharField(max_length=10)),
                ("reason", models.TextField()),
                ("citations", models.JSONField(blank=True, default=list)),
                ("fates", models.JSONField(blank=True, default=list)),
                (
                    "dream",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="dreams.dreamrun",
                    ),
                ),
            ],
            options={
                "ordering": ["dream", "number"],
                "constraints": [models.UniqueConstraint(fields=("dream", "number"), name="work_step_once")],
            },
        ),
        migrations.CreateModel(
            name="WorkText",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("data", models.BinaryField()),
                ("size", models.BigIntegerField()),
                (
                    "dream",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="step_texts",
                        to="dreams.dreamrun",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("dream", "sha256"), name="work_text_once")]
            },
        ),
    ]
