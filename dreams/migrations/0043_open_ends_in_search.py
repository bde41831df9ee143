"""Sessions that left tasks unfinished are taken into the search index again, with those tasks."""

from typing import Any

from django.db import migrations


def search_again(apps: Any, schema_editor: Any) -> None:
    session = apps.get_model("dreams", "Session")
    owners = apps.get_model("dreams", "OpenEnd").objects.values("session_id")
    session.objects.filter(pk__in=owners).update(title_indexed_at=None)


class Migration(migrations.Migration):
    dependencies = [("dreams", "0042_daily_logs")]

    operations = [migrations.RunPython(search_again, migrations.RunPython.noop, elidable=True)]
