"""Instruction texts say when they are loaded, if not always. Existing rows say so after their next scan."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dreams", "0072_restored_files")]

    operations = [
        migrations.AddField(
            model_name="instructiontext",
            name="is_conditional",
            field=models.BooleanField(db_default=False, help_text="Loaded at some files only."),
        ),
    ]
