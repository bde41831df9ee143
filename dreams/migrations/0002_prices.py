"""Prices of models."""

from django.db import migrations

from dreams.migrations._prices import seed


class Migration(migrations.Migration):
    dependencies = [("dreams", "0001_initial")]
    operations = [migrations.RunPython(seed, migrations.RunPython.noop)]
