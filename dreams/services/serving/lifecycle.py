"""What `serve` does, in order: prepare, listen, print the link, watch its child, and clean up."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Self

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections

from dreams import conf
from dreams.lib.refusal import Refusal
from dreams.models import DreamRun
from dreams.services import database, dreaming, login, recovery, server_registry
from dreams.services.hosts import host as this_host
from dreams.services.scheduling import scheduler
from dreams.services.serving import cluster, web_server
from dreams.services.serving.cluster import GRACE_SECONDS, REFUSED, end_group
from dreams.services.serving.web_server import Web
from memoryweb import BASE_DIR, typed, version

COMMAND = (sys.executable, "-m", "memoryweb", "cluster", "--parent-on-stdin")
FIRST_WAIT = 1.0  # seconds before the queue is started again, doubled each time
LONGEST_WAIT = 30.0  # seconds before a part that died is started again; chosen
HEALTHY_SECONDS = 60.0  # after which a queue counts as well, and the waits begin anew


class Supervisor:
    """Keeps one child process running. `say` prints a line for a person."""

    def __init__(
        self,
        say: Callable[[str], None],
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] = COMMAND,
        first_wait: float = FIRST_WAIT,
    ) -> None:
        self._say = say
        self._command = command
        self._environment = {**os.environ, **(environment or {})}
        self._child: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._first_wait = self._wait = first_wait
        self._start_at: float | None = None

    @property
    def pid(self) -> int | None:
        """The child's PID, which is its process group too."""
        return self._child.pid if self._child else None

    def start(self) -> None:
        # A separate session: Ctrl-C only reaches us, and its group can be ended at once.
        # Its standard input is a pipe that closes when we die.
        try:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                env=self._environment,
                cwd=BASE_DIR,
                start_new_session=True,
            )
        except OSError as error:  # too many processes, or an update removed this Python: pages go on
            self._child = None
            self._again(f"The queue could not be started ({error.strerror}).")
            return
        self._started_at = time.monotonic()
        self._start_at = None

    def look(self) -> None:
        """Call regularly: restarts an ended child, with increasing waits."""
        if self._start_at is not None:
            if time.monotonic() >= self._start_at:
                self.start()
        elif self._child is not None and self._child.poll() is not None:
            self._ended(self._child)

    def _ended(self, child: subprocess.Popen[bytes]) -> None:
        end_group(child.pid, 0)
        if time.monotonic() - self._started_at > HEALTHY_SECONDS:
            self._wait = self._first_wait
        self._again("" if child.returncode == REFUSED else f"The queue ended (exit code {child.returncode}).")

    def _again(self, why: str) -> None:
        """Plans the next start, each a little later."""
        if why:
            self._say(f"{why} Restarting in {self._wait:.3g} s.")
        self._start_at = time.monotonic() + self._wait
        self._wait = min(self._wait * 2, LONGEST_WAIT)

    def stop(self) -> None:
        """End the child and everything it started, in about three seconds at most."""
        child, self._child, self._start_at = self._child, None, None
        if child is None:
            return
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS + 0.8)
        end_group(child.pid, 0)
        child.wait()
        if child.stdin:
            child.stdin.close()


LOOK_SECONDS = 0.2  # between two looks at the lock; chosen
WATCH_SECONDS = 0.5  # between two looks whether all is well; chosen
LOCK_SECONDS = 3.0  # for another server that just ends; chosen

Say = Callable[[str], None]


class CannotServe(Refusal):
    """`serve` cannot start; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What was asked for on the command line."""

    host: str = "127.0.0.1"
    port: int | None = None
    roots: Sequence[Path] = ()
    browser: bool = True


class Stop:
    """Remembers Ctrl-C or SIGTERM. The signal handler does almost nothing, as not even locks are safe there."""

    def __init__(self) -> None:
        self._asked, self._bell = os.pipe()

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        """Ignore a second Ctrl-C, so that ending is completed."""

    def _ask(self, number: int, frame: FrameType | None) -> None:
        os.write(self._bell, b"!")

    def wait(self, seconds: float) -> bool:
        """Wait up to so long; whether it came."""
        return bool(select.select([self._asked], [], [], seconds)[0])


def serve(chosen: ServeOptions, say: Say) -> None:
    """Serve until told to stop. `say` takes lines for a person. Raises CannotServe."""
    with Stop() as stop:
        lock = _only_one()
        try:
            _serve(chosen, say, stop)
        finally:
            server_registry.clear()
            web_server.clear()
            os.close(lock)


def _only_one() -> int:
    """The lock of this data directory; waits a moment, as an earlier `serve` may be ending."""
    path = Path(settings.DATA_DIR) / "serve.lock"
    until = time.monotonic() + LOCK_SECONDS
    while (lock := cluster.take_lock(path)) is None:
        other = server_registry.running()
        if other is not None:
            raise CannotServe(
                f"memoryweb already serves this data directory at {other.address} (process {other.pid}). "
                f"`{typed('login_url')}` prints a login link; to run a second one, set MEMORYWEB_DATA_DIR."
            )
        if time.monotonic() > until:
            raise CannotServe(
                f"Another process is using {path}. Wait until it ends, or set MEMORYWEB_DATA_DIR."
            )
        time.sleep(LOOK_SECONDS)
    return lock


def _serve(chosen: ServeOptions, say: Say, stop: Stop) -> None:
    login.ensure_owner()
    _refuse_open_door(chosen.host)
    try:
        listening = web_server.listen(chosen.host, chosen.port, settings.PORT)
    except web_server.CannotListen as error:
        raise CannotServe(str(error)) from error
    with listening:
        choose_roots(chosen.roots, say)
        make_ready(say)
        web = Web(listening, chosen.host)
        # The queue's process has no other way to know the config folders given to `serve`.
        queue = Supervisor(say, {"MEMORYWEB_ROOTS": os.pathsep.join(map(str, settings.ROOTS))})
        with _ended(web, queue, say):
            web.start()
            server_registry.write(web.address, web.port)
            _tell(web.address, chosen, say)
            # After the link, as both take of the first page's time.
            queue.start()
            web.load()
            _watch(web, queue, stop)
    say("Stopped. All its processes have ended.")


def _refuse_open_door(host: str) -> None:
    """Refuse an address that others can reach while a link alone is enough to log in."""
    if not web_server.is_loopback(host) and not login.has_password_account():
        raise CannotServe(
            f"{host} can be reached from other machines, and no account has a password yet. "
            f"Set one with `{typed('password')}`, "
            "or serve on 127.0.0.1."
        )


def choose_roots(given: Sequence[Path], say: Say) -> None:
    """Use the given config folders, else the configured ones, else a demo's."""
    from dreams.services import demo  # noqa: PLC0415 - its texts are only needed where there is no root

    if given:
        settings.ROOTS = tuple(given)
        if conf.current().roots:
            say("The folders set in Settings, Places take precedence over --root; clear them there.")
    elif demo.is_wanted():
        made = demo.ensure()
        settings.ROOTS = (demo.root(),)
        state = "A demo was created" if made else "The demo is shown"
        say(f"No config folder of an agent was found on this machine. {state} in {demo.root()}.")
        say("To see your own notes: serve --root DIR, or set MEMORYWEB_ROOTS.")


def make_ready(say: Say) -> None:
    """Collect static files, name variables that set nothing, and recover from an earlier crash."""
    web_server.collect()
    for line in (*conf.unknown_in_environment(), *recovery.recover().said):
        say(line)


@contextmanager
def _ended(web: Web, queue: Supervisor, say: Say) -> Iterator[None]:
    """After the block no dream runs, no process is left and the clocks of unfinished dreams are rewound; while the database
    cannot be used, the next start does that."""
    try:
        yield
    finally:
        web.stop()
        connections.close_all()  # a server may have ended this one since
        failed: BaseException | None = None
        # Heals the locks of killed dreams now, not at the next start.
        for step in (partial(_cancel_dreams, queue), queue.stop, scheduler.repair):
            try:
                step()
            except (DatabaseError, InterfaceError) as error:
                failed = failed or error
        if failed:
            is_away = database.is_away(failed)
            why = database.why_away(failed) if is_away else f"The database cannot be used: {failed}."
            say(f"{why} The next start ends what is unfinished.")
        database.write_out()
        connections.close_all()


def _cancel_dreams(queue: Supervisor) -> None:
    """Mark dreams that run in our workers as cancelled, so that a killed worker does not count as a failure."""
    running = DreamRun.objects.filter(status=DreamRun.Status.RUNNING, project__host=this_host())
    for dream in running.select_related("project"):
        with suppress(ProcessLookupError):
            if dream.worker_pid and os.getpgid(dream.worker_pid) == queue.pid:
                dreaming.cancel(dream, actor="")


def _tell(address: str, chosen: ServeOptions, say: Say) -> None:
    link = login.make_link()
    say(f"memoryweb {version()} serves at {address}")
    say("")
    say(f"  Log in:  {address}{link.path}")
    say(f"  or paste this code there:  {link.code}")
    say("")
    minutes = int(login.LIFETIME.total_seconds() // 60)
    say(
        f"The link works once, for {minutes} minutes; `{typed('login_url')}` prints a new one. "
        "Press Ctrl-C to stop."
    )
    if chosen.browser and web_server.has_display():
        web_server.show(address + link.path)


def _watch(web: Web, queue: Supervisor, stop: Stop) -> None:
    while not stop.wait(WATCH_SECONDS):
        queue.look()
        if not web.is_alive:
            raise CannotServe("The web server stopped; the lines above say why. Start it again.")
