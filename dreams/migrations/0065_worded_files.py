"""Which file of an undo a person worded is a column of the file, and no part of what the undo was asked for."""

from django.db import migrations, models


def move(apps, editor):
    undos = apps.get_model('dreams', 'Proposal').objects.filter(origin='rollback')
    # To be written at once, but stopped before: the next undo withdraws it.
    undos.filter(undo_asked={}, state__in=['open', 'submitted']).update(undo_asked={'at_once': True})
    for undo in undos.filter(undo_asked__has_key='worded'):
        undo.files.filter(path__in=undo.undo_asked.pop('worded')).update(is_worded=True)
        undo.save(update_fields=['undo_asked'])


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0064_earlier_copies'),
    ]

    operations = [
        migrations.AddField(
            model_name='filechange',
            name='is_worded',
            field=models.BooleanField(default=False, help_text='A person solved a conflict of it in their own words.'),
        ),
        migrations.AlterField(
            model_name='proposal',
            name='undo_asked',
            field=models.JSONField(blank=True, default=dict, help_text='Of an undo: the hunks it undoes, whether they may be proposed again, the reason, whether without a review.'),
        ),
        migrations.RunPython(move, migrations.RunPython.noop),
    ]
