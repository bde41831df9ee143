from django.db import migrations, models


def complete(apps, schema_editor):
    """0001 was changed in place for an hour: columns that a database from before then lacks."""
    connection = schema_editor.connection
    for model in apps.get_app_config("dreams").get_models():
        with connection.cursor() as cursor:
            there = {column.name for column in connection.introspection.get_table_description(cursor, model._meta.db_table)}
        for field in model._meta.local_concrete_fields:
            if field.column not in there:
                schema_editor.add_field(model, field)


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0002_prices'),
    ]

    operations = [
        migrations.RunPython(complete, migrations.RunPython.noop),
        migrations.CreateModel(
            name='Channel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(choices=[('email', 'E-mail'), ('webhook', 'Webhook')], max_length=10, unique=True)),
                ('next_at', models.DateTimeField(blank=True, help_text="No check before this time.", null=True)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('told', models.JSONField(default=list, help_text="Ids of what the last digest listed.")),
                ('reminders', models.PositiveIntegerField(default=0, help_text="How many digests in a row had no news.")),
                ('failures', models.PositiveIntegerField(default=0, help_text='In a row.')),
                ('error', models.CharField(blank=True, max_length=500)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
    ]
