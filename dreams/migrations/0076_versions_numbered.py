"""Versions have an order that no clock decides: that in which they were saved. Those that were saved later as earlier ones, by an
import or because an apply overtook them, are placed by their time."""

from typing import Any

from django.db import migrations, models
from django.db.models import F, Q

from dreams.migrations import _marks
from dreams.migrations._statements import run


def number_versions(apps: Any, schema_editor: Any) -> None:
    versions = apps.get_model("dreams", "Version").objects
    versions.update(number=F("pk"))
    imported = apps.get_model("dreams", "AuditEntry").objects.filter(action="history.imported")
    was_imported = Q(mtime_ns=0, proposal=None, memory__project__in=imported.values("project_id_was"))
    placed = set(versions.filter(was_imported | Q(aside_at__isnull=False)).values_list("pk", "memory"))
    for memory in {memory for _, memory in placed}:
        rows = list(versions.filter(memory=memory).order_by("pk"))
        in_order = [row for row in rows if (row.pk, memory) not in placed]
        for row in sorted(rows, key=lambda row: (row.at, row.pk)):
            if row not in in_order:
                later = (at for at, other in enumerate(in_order) if other.at > row.at)
                in_order.insert(next(later, len(in_order)), row)
        for row, number in zip(in_order, [row.pk for row in rows], strict=True):
            row.number = number
        versions.bulk_update(in_order, ["number"], batch_size=500)


def create_triggers(apps: Any, editor: Any) -> None:
    """The table was rebuilt for the column."""
    run(editor, {"sqlite": _marks.CREATE_OF_VERSIONS})


class Migration(migrations.Migration):
    dependencies = [("dreams", "0075_texts_always_loaded")]

    operations = [
        # Backwards it is the last one, after the table was rebuilt without the column.
        migrations.RunPython(migrations.RunPython.noop, create_triggers),
        migrations.AddField(
            model_name="version",
            name="number",
            field=models.BigIntegerField(
                db_default=0, help_text="Orders the versions of a memory: clocks may have been wrong."
            ),
        ),
        migrations.AddIndex(
            model_name="version",
            index=models.Index(fields=["memory", "-number"], name="version_by_number"),
        ),
        migrations.RunPython(number_versions, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(create_triggers, migrations.RunPython.noop),
    ]
