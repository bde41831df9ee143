from typing import Any

from django.db import migrations, models

# As they stood until here: what failed was told by the text alone.
BEGINS = {
    "worker": ("Its worker died:",),
    "fault": ("An unexpected fault ended it",),
    "lock": ("The lock ", "Another process ", "Process "),
    "limit": ("It took longer than its setting allows",),
}


def fill(apps: Any, schema_editor: Any) -> None:
    """A failed dream of before: by how its text begins, otherwise its engine."""
    failed = apps.get_model("dreams", "DreamRun").objects.filter(status="failed", failure="")
    for failure, beginnings in BEGINS.items():
        for words in beginnings:
            failed.filter(error__startswith=words).update(failure=failure)
    failed.update(failure="engine")


class Migration(migrations.Migration):
    dependencies = [
        ("dreams", "0018_admin_plurals"),
    ]

    operations = [
        migrations.AddField(
            model_name="dreamrun",
            name="failure",
            field=models.CharField(
                blank=True,
                choices=[
                    ("engine", "The engine, or the server it asks"),
                    ("limit", "A limit of time, turns or money"),
                    ("lock", "The lock of the directory"),
                    ("worker", "The process that ran it"),
                    ("fault", "A fault of memoryweb"),
                ],
                help_text="For a failed dream, if known.",
                max_length=10,
                verbose_name="what failed",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
