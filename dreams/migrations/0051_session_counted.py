from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dreams", "0050_priced_usd")]

    # The new one begins as the old one does, and is made by both databases without building the table anew.
    operations = [
        migrations.RemoveIndex("session", "dreams_sess_project_f6a16c_idx"),
        migrations.AddIndex(
            "session",
            models.Index(
                fields=[
                    "project",
                    "-touched_at",
                    "gone_at",
                    "own",
                    "corrections",
                    "root_key",
                    "given_back_at",
                    "session_id",
                ],
                name="session_counted",
            ),
        ),
    ]
