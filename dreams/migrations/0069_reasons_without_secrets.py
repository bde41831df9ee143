"""Reasons that were stored as they were typed lose their secrets, as new ones do."""

from django.db import migrations

from dreams.lib.secrets.redact import redact_all

COLUMNS = (
    ("Proposal", "summary"),
    ("Operation", "reason"),
    ("Hunk", "decide_reason"),
    ("Decision", "reason"),
    ("LeftOut", "reason"),
    ("Purge", "reason"),
)


def mask(apps, editor):
    for model, column in COLUMNS:
        rows = apps.get_model("dreams", model).objects.order_by()
        most = rows.model._meta.get_field(column).max_length
        found = list(rows.exclude(**{column: ""}).values_list("pk", column))
        for (pk, typed), bare in zip(found, redact_all([typed for _, typed in found]), strict=True):
            if typed != bare:
                rows.filter(pk=pk).update(**{column: bare[:most]})


class Migration(migrations.Migration):

    dependencies = [
        ("dreams", "0068_moved_memory"),
    ]

    operations = [migrations.RunPython(mask, migrations.RunPython.noop, elidable=True)]
