from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("dreams", "0049_second_person")]

    operations = [migrations.RenameField("dreamrun", "cost_usd", "priced_usd")]
