"""What of a memory folder is not read, and why."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0062_where_lines_went'),
    ]

    operations = [
        migrations.AddField(
            model_name='project',
            name='left_alone',
            field=models.JSONField(blank=True, help_text='Files of its memory folder that are not read: [[name, reason]]; empty for rows created before this field existed.', null=True),
        ),
    ]
