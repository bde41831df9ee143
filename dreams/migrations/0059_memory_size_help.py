"""The help text of a memory's size is on its size; it was on its hash. No table changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dreams", "0058_resumed_sessions")]
    operations = [
        migrations.AlterField(
            "memory",
            "sha256",
            models.CharField(blank=True, help_text="Of the file when last seen.", max_length=64),
        ),
        migrations.AlterField(
            "memory", "size", models.BigIntegerField(default=0, help_text="Bytes when last seen.")
        ),
    ]
