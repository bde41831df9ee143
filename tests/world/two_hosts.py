"""Two hosts on one database, in one process: the current data directory decides which host acts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from django_q.models import OrmQ

from dreams.models import HostRequest, Project
from dreams.services import host_request_worker, host_requests, hosts

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


class TwoHosts:
    """The test acts as the host "laptop"; in `there` it acts as "desk", which has the projects given to it."""

    def __init__(self, settings: SettingsWrapper, folder: Path) -> None:
        self._settings, self._desk = settings, folder / "data-of-desk"
        with self.there():
            settings.HOST_NAME = "desk"
            hosts.register()
            hosts.note_seen()
            self.desk = hosts.host()
        settings.HOST_NAME = "laptop"
        hosts.register()
        settings.HOST_NAME = ""

    @contextmanager
    def there(self) -> Iterator[None]:
        mine, self._settings.DATA_DIR = self._settings.DATA_DIR, self._desk
        try:
            yield
        finally:
            self._settings.DATA_DIR = mine

    def accept(self) -> None:
        with self.there():
            host_requests.set_accepts(True, "me")

    def give(self, project: Project) -> None:
        Project.objects.filter(pk=project.pk).update(host=self.desk)
        project.refresh_from_db()

    def work(self) -> list[HostRequest]:
        """Desk's scheduler takes requests, and its worker carries them out."""
        with self.there():
            taken = host_request_worker.take()
            done = [host_request_worker.carry_out(one.pk) for one in taken]
        return [one for one in done if one is not None]

    def tasks(self, key: str) -> int:
        return int(OrmQ.objects.filter(key=hosts.cluster_name(key)).count())
