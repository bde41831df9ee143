"""A ledger row per turn and model. What dreams used before is carried over, a row each, so that no budget forgets it."""

import django.db.models.deletion
from django.db import migrations, models


def dollars():
    return models.DecimalField(blank=True, decimal_places=10, max_digits=16, null=True)


def carry_over(apps, schema_editor):
    DreamRun, DreamUsage = apps.get_model("dreams", "DreamRun"), apps.get_model("dreams", "DreamUsage")
    counts = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
    for run in DreamRun.objects.exclude(engine="rules").iterator():
        read, written, cached, made = (getattr(run, name) for name in counts)
        if not read + written + cached + made:
            continue
        # Which lifetime a cache write had was not kept; five minutes is what dreams ask for.
        DreamUsage.objects.create(
            dream=run,
            turn=0,
            at=run.ended_at or run.started_at or run.created_at,
            model=run.model,
            input_tokens=read,
            output_tokens=written,
            cache_read_tokens=cached,
            cache_write_5m_tokens=made,
            cost_usd=run.cost_usd,
        )
        if run.cost_usd is None:
            run.unpriced_tokens = read + written + cached + made
            run.save(update_fields=["unpriced_tokens"])


class Migration(migrations.Migration):
    dependencies = [("dreams", "0003_channel")]
    operations = [
        migrations.CreateModel(
            name="DreamUsage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("turn", models.PositiveIntegerField()),
                ("at", models.DateTimeField(db_index=True)),
                ("model", models.CharField(max_length=100)),
                ("requests", models.PositiveIntegerField(default=0)),
                ("input_tokens", models.BigIntegerField(default=0)),
                ("output_tokens", models.BigIntegerField(default=0)),
                ("cache_write_5m_tokens", models.BigIntegerField(default=0)),
                ("cache_write_1h_tokens", models.BigIntegerField(default=0)),
                ("cache_read_tokens", models.BigIntegerField(default=0)),
                ("cost_usd", dollars()),
                ("input_usd", dollars()),
                ("output_usd", dollars()),
                ("cache_write_5m_usd", dollars()),
                ("cache_write_1h_usd", dollars()),
                ("cache_read_usd", dollars()),
                (
                    "dream",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="usage",
                        to="dreams.dreamrun",
                    ),
                ),
            ],
            options={
                "ordering": ["at", "pk"],
                "indexes": [models.Index(fields=["dream", "turn"], name="dreams_drea_dream_i_838ed2_idx")],
            },
        ),
        migrations.AddField(
            "dreamrun",
            "unpriced_tokens",
            models.BigIntegerField(default=0, help_text="Tokens of models whose price is unknown."),
        ),
        migrations.AlterField(
            "dreamrun",
            "cost_usd",
            models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="Cost of the tokens whose price is known. Empty: no price is known.",
                max_digits=12,
                null=True,
            ),
        ),
        migrations.AlterField(
            "turn",
            "input_tokens",
            models.BigIntegerField(default=0, help_text="All input tokens, cached or not."),
        ),
        migrations.AddField(
            "turn",
            "api_ms",
            models.PositiveIntegerField(default=0, help_text="Time spent in the API, including retries and waits."),
        ),
        migrations.AddField("turn", "api_ms_without_retries", models.PositiveIntegerField(default=0)),
        migrations.AddField("turn", "tool_ms", models.PositiveIntegerField(default=0)),
        migrations.AddField("turn", "lines_added", models.PositiveIntegerField(default=0)),
        migrations.AddField("turn", "lines_removed", models.PositiveIntegerField(default=0)),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
    ]
