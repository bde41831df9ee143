"""The price of a model that was published in November 2026."""

from django.db import migrations

from dreams.migrations._prices import seed_newest


class Migration(migrations.Migration):
    dependencies = [("dreams", "0076_versions_numbered")]

    operations = [migrations.RunPython(seed_newest, migrations.RunPython.noop)]
