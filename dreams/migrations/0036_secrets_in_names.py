"""What files, branches and models call themselves is stored without secrets; rows from before are brought up to that."""

from django.db import migrations, models

from dreams.lib.secrets.redact import redact, values

WRITTEN = (
    ("Memory", ("type", "name", "description")),
    ("FileChange", ("memory_type",)),
    ("Session", ("branch",)),
    ("RequestUsage", ("model",)),
)


def clean(apps, schema_editor):
    for model, names in WRITTEN:
        table = apps.get_model("dreams", model).objects
        for name in names:
            for value in table.order_by().values_list(name, flat=True).distinct():
                if values(value):
                    table.filter(**{name: value}).update(**{name: redact(value)})
    memories = apps.get_model("dreams", "Memory").objects
    for key, path in memories.values_list("pk", "path"):
        if values(path):
            memories.filter(pk=key).update(secret_in_path=True)


class Migration(migrations.Migration):
    dependencies = [("dreams", "0035_plain_names")]
    operations = [
        migrations.AddField(
            "memory",
            "secret_in_path",
            models.BooleanField(db_default=False, help_text="The file's name contains a secret."),
        ),
        migrations.AddIndex(
            "memory",
            models.Index(
                fields=["path"],
                name="memory_secret_paths",
                condition=models.Q(("secret_in_path", True)),
            ),
        ),
        migrations.RunPython(clean, migrations.RunPython.noop),
    ]
