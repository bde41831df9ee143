"""The tasks that agents left. Transcripts of the last 30 days, which is how long agents keep them, are read again for them."""

import datetime as dt

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone

DAYS = dt.timedelta(days=30)


def read_again(apps, schema_editor):
    files = apps.get_model("dreams", "TranscriptFile").objects.filter(kind="main", gone_at__isnull=True)
    files.filter(session__own=False, session__touched_at__gte=timezone.now() - DAYS).update(
        size=-1, mtime_ns=0, offset=0, line_no=0, state=b"", identity=b"", problems=[]
    )


class Migration(migrations.Migration):
    dependencies = [("dreams", "0031_catching_usage")]
    operations = [
        migrations.CreateModel(
            name="OpenEnd",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.IntegerField(help_text="Its place among those of the session, from 1.")),
                ("subject", models.CharField(max_length=300)),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "not started"), ("in_progress", "in progress")],
                        default="pending",
                        max_length=20,
                    ),
                ),
                (
                    "blocked_by",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Subjects of the unfinished tasks that it waits for.",
                    ),
                ),
                ("offset", models.BigIntegerField(help_text="Byte offset of the last line about it.")),
                ("line_no", models.IntegerField(help_text="1-based.")),
                (
                    "at",
                    models.DateTimeField(blank=True, help_text="Time of the last line about it.", null=True),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="open_ends",
                        to="dreams.session",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("session", "number"), name="open_end_once")
                ]
            },
        ),
        migrations.AddIndex("session", models.Index(fields=["root_key"], name="session_root")),
        migrations.RunPython(read_again, migrations.RunPython.noop),
    ]
