
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dreams', '0030_price_limits'),
    ]

    operations = [
        migrations.CreateModel(
            name='CatchingUsage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_index=True)),
                ('model', models.CharField(max_length=100)),
                ('requests', models.PositiveIntegerField(default=0)),
                ('input_tokens', models.BigIntegerField(default=0, help_text='All input tokens, cached or not.')),
                ('output_tokens', models.BigIntegerField(default=0)),
                ('cost_usd', models.DecimalField(blank=True, decimal_places=10, max_digits=16, null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='catching_usage', to='dreams.project')),
            ],
            options={
                'verbose_name': 'token count of catching',
                'verbose_name_plural': 'token counts of catching',
                'ordering': ['at', 'pk'],
            },
        ),
    ]
