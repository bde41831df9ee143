"""Roles: accounts that might not see anything stay so, and who is logged in already is listed."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations, models
from django.utils import timezone


def lock_out_as_before(apps: Any, schema_editor: Any) -> None:
    """An account without any mark could log in and see nothing. Now it would be a viewer's."""
    accounts = apps.get_model("auth", "User").objects
    accounts.filter(is_staff=False, is_superuser=False).update(is_active=False)


def list_logins(apps: Any, schema_editor: Any) -> None:
    now = timezone.now()
    known = set(apps.get_model("auth", "User").objects.values_list("pk", flat=True))
    row = apps.get_model("dreams", "LoginSession")
    for session in apps.get_model("sessions", "Session").objects.filter(expire_date__gt=now).iterator():
        user = str(SessionStore().decode(session.session_data).get("_auth_user_id", ""))
        if user.isdecimal() and int(user) in known:
            row.objects.create(user_id=int(user), session_key=session.session_key, made_at=now, seen_at=now)


class Migration(migrations.Migration):
    dependencies = [
        ("dreams", "0045_submit_in_parts"),
        ("sessions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LoginSession",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("made_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField(help_text="To about ten minutes.")),
                (
                    "address",
                    models.CharField(
                        blank=True, help_text="Where the requests came from at login.", max_length=64
                    ),
                ),
                (
                    "device",
                    models.CharField(
                        blank=True, help_text="Browser and system, as the browser says.", max_length=60
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="login_sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["-seen_at"]},
        ),
        migrations.RunPython(lock_out_as_before, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(list_logins, migrations.RunPython.noop, elidable=True),
    ]
