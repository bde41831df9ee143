"""A line that is said in other words is now in another one."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0061_copied_changes'),
    ]

    operations = [
        migrations.AlterField(
            model_name='ledgerentry',
            name='fate',
            field=models.CharField(choices=[('kept-in', 'Kept in'), ('merged-into', 'Now in'), ('superseded-by', 'Superseded by'), ('stated', 'Left out because'), ('unexplained', 'Not explained')], max_length=14),
        ),
    ]
