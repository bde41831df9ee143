"""Purging, bringing up to date and a state of before can be asked of another host."""

from django.db import migrations, models

DEEDS = [
    ("apply", "Write what was approved"),
    ("undo", "Undo"),
    ("edit", "Edit a memory"),
    ("forget", "Forget a memory"),
    ("restore", "Restore a version"),
    ("redact", "Propose to remove secrets"),
    ("purge", "Purge secrets from what is stored"),
    ("moment", "Propose a state of before"),
    ("bring-up", "Bring changed files up to date"),
    ("cards", "Write approved cards"),
    ("extract", "Read new sessions"),
    ("dream", "Dream"),
    ("job", "Run a job"),
]


class Migration(migrations.Migration):
    dependencies = [("dreams", "0047_secrets_in_folders")]
    operations = [
        migrations.AlterField("hostrequest", "deed", models.CharField(choices=DEEDS, max_length=10)),
    ]
