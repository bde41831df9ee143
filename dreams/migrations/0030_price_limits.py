"""What a web search costs and what a model holds, as published when this was written; people edit them in the admin."""

from django.db import migrations, models

from dreams.migrations._prices import fill


class Migration(migrations.Migration):
    dependencies = [("dreams", "0029_sub_agents")]
    operations = [
        migrations.AddField(
            "price",
            "web_search",
            models.DecimalField(
                blank=True,
                decimal_places=4,
                help_text="Dollars per thousand searches. Empty: searches are counted without a cost.",
                max_digits=10,
                null=True,
            ),
        ),
        migrations.AddField(
            "price",
            "context_window",
            models.BigIntegerField(blank=True, help_text="Tokens that the model holds at once.", null=True),
        ),
        migrations.AddField(
            "price",
            "max_output",
            models.BigIntegerField(blank=True, help_text="Tokens of the longest answer.", null=True),
        ),
        migrations.AddField(
            "requestusage",
            "agent_micros",
            models.BigIntegerField(
                help_text="The cost that the agent reported, in millionths of a dollar.", null=True
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
