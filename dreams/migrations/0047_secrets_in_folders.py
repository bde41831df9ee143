"""Projects whose folders have a secret in their names are marked, so that whatever shows text can mask it."""

from django.db import migrations, models

from dreams.lib.secrets.redact import values


def mark(apps, schema_editor):
    projects = apps.get_model("dreams", "Project").objects
    folders = apps.get_model("dreams", "TranscriptFolder").objects
    texts = [
        *projects.order_by().values_list("pk", "memory_dir", "slug", "root", "repo_dir").iterator(),
        *folders.order_by().values_list("project_id", "path", "cwd").iterator(),
    ]
    found = {pk for pk, *paths in texts if any(map(values, paths))}
    projects.filter(pk__in=found).update(secret_in_path=True)


class Migration(migrations.Migration):
    dependencies = [("dreams", "0046_roles")]
    operations = [
        migrations.AddField(
            "project",
            "secret_in_path",
            models.BooleanField(
                db_default=False, help_text="The name of one of its folders contains a secret."
            ),
        ),
        migrations.AddIndex(
            "project",
            models.Index(
                fields=["id"], name="project_secret_paths", condition=models.Q(("secret_in_path", True))
            ),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
