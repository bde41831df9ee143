"""The one Django app, and its system checks."""

from django.apps import AppConfig


class DreamsConfig(AppConfig):
    name = "dreams"
    verbose_name = "memoryweb"

    def ready(self) -> None:
        from dreams import conf  # noqa: F401, PLC0415 - its checks are registered once the apps are known
        from dreams.models import prepared  # noqa: F401, PLC0415 - its lookups are registered then
