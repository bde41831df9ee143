"""Which projects load an instruction text always, as one may load at some files what another loads always. Existing rows say so
after their next scan."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dreams", "0073_conditional_instructions")]

    operations = [
        migrations.AddField(
            model_name="instructiontext",
            name="always_in",
            field=models.ManyToManyField(
                help_text="Those of them that load it whatever file they are at.",
                related_name="always_loaded_texts",
                to="dreams.project",
            ),
        ),
        migrations.RemoveField(model_name="instructiontext", name="is_conditional"),
    ]
