"""Instruction texts say when they are loaded, if not always. Existing rows say so after their next scan."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dreams", "0072_restored_files")]

    operations = [
        migrations.AddField(
            model_name="instructiontext",
            name="when",
            field=models.TextField(
                blank=True, db_default="", help_text="The files at which it is loaded. Empty: always."
            ),
        ),
    ]
