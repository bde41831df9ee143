"""A second person approves each change, as two people may have decided parts of one file."""

from django.db import migrations, models
from django.db.models import OuterRef, Subquery

NAMES = ('seconded_by', 'seconded_sha')


def move(apps, editor):
    files = apps.get_model('dreams', 'FileChange').objects.exclude(seconded_by='')
    hunks = apps.get_model('dreams', 'Hunk').objects.filter(file__in=files, verdict__in=['approved', 'edited'])
    of = files.filter(pk=OuterRef('file'))
    hunks.update(**{name: Subquery(of.values(name)) for name in NAMES})


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0065_worded_files'),
    ]

    operations = [
        migrations.AddField(
            model_name='hunk',
            name='seconded_by',
            field=models.CharField(blank=True, help_text='The second person who approved it, where a project asks for one.', max_length=150),
        ),
        migrations.AddField(
            model_name='hunk',
            name='seconded_sha',
            field=models.CharField(blank=True, help_text='The version of the file that the second person approved.', max_length=64),
        ),
        migrations.RunPython(move, migrations.RunPython.noop),
        *(migrations.RemoveField(model_name='filechange', name=name) for name in NAMES),
    ]
