"""That an undo ended an earned policy is a column; its note said so before."""

from typing import Any

from django.db import migrations, models


def mark_ended(apps: Any, schema_editor: Any) -> None:
    ended = apps.get_model("dreams", "Policy").objects.filter(action="review", note__startswith="A change of")
    ended.exclude(maker="").update(ended_by_undo=True)


class Migration(migrations.Migration):
    dependencies = [("dreams", "0077_price_of_fable_5_2")]

    operations = [
        migrations.AddField(
            model_name="policy",
            name="ended_by_undo",
            field=models.BooleanField(
                db_default=False, help_text="Earned policies: the undo or refusal of a change ended the policy."
            ),
        ),
        migrations.AlterField(
            model_name="finding",
            name="message_parts",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="The message in parts: {statement, remark, detail}, and a digest of what it is about: {about}. Empty for rows created before this field existed.",
            ),
        ),
        migrations.RunPython(mark_ended, migrations.RunPython.noop, elidable=True),
    ]
