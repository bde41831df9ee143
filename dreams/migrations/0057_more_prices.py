"""Prices of the models that agents used before, and of cache reads that cost less than a tenth."""

from django.db import migrations

from dreams.migrations._prices import seed_more


class Migration(migrations.Migration):
    dependencies = [("dreams", "0056_unwatched")]
    operations = [migrations.RunPython(seed_more, migrations.RunPython.noop)]
