import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dreams", "0037_hosts"),
    ]

    operations = [
        migrations.RenameModel(old_name="CatchingUsage", new_name="ModelRequest"),
        migrations.AlterModelOptions(
            name="modelrequest",
            options={
                "ordering": ["at", "pk"],
                "verbose_name": "model request without a dream",
                "verbose_name_plural": "model requests without a dream",
            },
        ),
        migrations.AlterField(
            model_name="modelrequest",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="model_requests",
                to="dreams.project",
            ),
        ),
        migrations.AddField(
            model_name="modelrequest",
            name="purpose",
            field=models.CharField(
                choices=[("catching", "Catching"), ("recall", "Recall"), ("handover", "Hand-over notes")],
                default="catching",
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="SetAside",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("usd", models.DecimalField(decimal_places=10, max_digits=16)),
                ("until", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="dreams.project"
                    ),
                ),
            ],
            options={
                "verbose_name": "amount set aside",
                "verbose_name_plural": "amounts set aside",
            },
        ),
    ]
