"""A change of a copy is called copied."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0060_moved_repositories'),
    ]

    operations = [
        migrations.AlterField(
            model_name='operation',
            name='kind',
            field=models.CharField(choices=[('learn', 'Learnt'), ('merge', 'Merged'), ('date', 'Dated'), ('index', 'Index row'), ('demote', 'Shortened'), ('update', 'Updated'), ('prune', 'Removed'), ('edit', 'Edited'), ('copy', 'Copied'), ('undo', 'Undone')], max_length=10),
        ),
        migrations.AlterField(
            model_name='policy',
            name='kind',
            field=models.CharField(blank=True, choices=[('learn', 'Learnt'), ('merge', 'Merged'), ('date', 'Dated'), ('index', 'Index row'), ('demote', 'Shortened'), ('update', 'Updated'), ('prune', 'Removed'), ('edit', 'Edited'), ('copy', 'Copied'), ('undo', 'Undone')], help_text='Empty: any.', max_length=10, verbose_name='kind of change'),
        ),
    ]
