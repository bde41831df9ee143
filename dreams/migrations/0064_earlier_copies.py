"""Changes of copies made before they had a word of their own are called copied, too."""

from django.db import migrations


def name(apps, editor):
    operations = apps.get_model('dreams', 'Operation').objects
    operations.filter(kind='edit', proposal__origin='copied').update(kind='copy')


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0063_left_alone'),
    ]

    operations = [migrations.RunPython(name, migrations.RunPython.noop)]
