"""Cards of what was said, and how far each session was read for it: those that are there already, to their end."""

import django.db.models.deletion
import dreams.models.public_ids
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def begin_at_the_end(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("dreams", "Session").objects.update(caught_bytes=models.F("size"))


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0026_suggested'),
    ]

    operations = [
        migrations.CreateModel(
            name='Card',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=dreams.models.public_ids.card_id, max_length=9, unique=True)),
                ('state', models.CharField(choices=[('waiting', 'Not listed yet'), ('open', 'To review'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('outdated', 'No longer needed')], default='waiting', max_length=10)),
                ('key', models.CharField(help_text='Digest of the statement; each is caught once.', max_length=64)),
                ('said', models.TextField(help_text='What the person typed.')),
                ('text', models.TextField(help_text='The line that would be remembered.')),
                ('memory_type', models.CharField(max_length=40)),
                ('citations', models.JSONField(default=list, help_text='Its sources: quotes with session and line.')),
                ('engine', models.CharField(max_length=20)),
                ('said_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('decided_by', models.CharField(blank=True, max_length=150)),
            ],
            options={
                'ordering': ['said_at', 'id'],
            },
        ),
        migrations.AddField(
            model_name='prompt',
            name='caught_at',
            field=models.DateTimeField(blank=True, help_text='When it was read for things to remember; a copy in a fork is not read again.', null=True),
        ),
        migrations.AddField(
            model_name='session',
            name='caught_bytes',
            field=models.BigIntegerField(blank=True, help_text='Bytes that were read for things to remember. Empty: none yet.', null=True),
        ),
        migrations.RunPython(begin_at_the_end, migrations.RunPython.noop),
        migrations.AddField(
            model_name='session',
            name='hinted_at',
            field=models.DateTimeField(blank=True, help_text='When the agent’s hook last reported the end of the session.', null=True),
        ),
        migrations.AlterField(
            model_name='policy',
            name='operation',
            field=models.CharField(blank=True, choices=[('add', 'Add'), ('change', 'Change'), ('remove', 'Remove'), ('catch', 'Remember what was caught')], help_text='Empty for a policy by kind of change.', max_length=10),
        ),
        migrations.AlterField(
            model_name='proposal',
            name='origin',
            field=models.CharField(choices=[('dream', 'Dream'), ('rollback', 'Undo'), ('restore', 'Restore'), ('edit', 'Edit by hand'), ('forget', 'Forget'), ('redaction', 'Redaction'), ('answers', 'Answers'), ('suggested', 'Suggested by your agent'), ('caught', 'Caught')], max_length=10),
        ),
        migrations.AddConstraint(
            model_name='proposal',
            constraint=models.UniqueConstraint(condition=models.Q(('origin', 'caught'), ('state', 'open')), fields=('project',), name='one_open_caught_proposal'),
        ),
        migrations.AddField(
            model_name='card',
            name='operation',
            field=models.ForeignKey(blank=True, help_text='The change that the card becomes.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='cards', to='dreams.operation'),
        ),
        migrations.AddField(
            model_name='card',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cards', to='dreams.project'),
        ),
        migrations.AddField(
            model_name='card',
            name='proposal',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='cards', to='dreams.proposal'),
        ),
        migrations.AddField(
            model_name='card',
            name='session',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='cards', to='dreams.session'),
        ),
        migrations.AddIndex(
            model_name='card',
            index=models.Index(fields=['project', 'state'], name='cards_by_state'),
        ),
        migrations.AddConstraint(
            model_name='card',
            constraint=models.UniqueConstraint(fields=('project', 'key'), name='card_once_per_project'),
        ),
    ]
