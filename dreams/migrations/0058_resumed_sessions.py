"""Which session resumes another is found without going through all sessions of the project."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dreams", "0057_more_prices")]
    operations = [
        migrations.RemoveIndex("session", "session_root"),
        migrations.AddIndex(
            "session", models.Index(fields=["root_key", "project", "touched_at"], name="session_root")
        ),
    ]
