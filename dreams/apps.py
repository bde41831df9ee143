"""The one Django app, and its system checks."""

from django.apps import AppConfig


class DreamsConfig(AppConfig):
    name = "dreams"
    verbose_name = "memoryweb"

    def ready(self) -> None:
        from dreams.conf import checks  # noqa: F401, PLC0415 - registering needs the app registry
