"""A wheel with everything in it: installed by pipx and by uv into an empty home, served, logged in, dreamt, reviewed."""

from __future__ import annotations

import http.cookiejar
import os
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryweb import BASE_DIR, version
from tests.world import pressing
from tests.world.processes import servers
from tests.world.processes.servers import Home

pytestmark = pytest.mark.sweep

MINUTES = 5 * 60


def _quietly(*words: str | Path, home: Path | None = None) -> str:
    """What a command prints; one that cannot reach a package index skips the test, named."""
    # How an index is reached is the machine's own setting; everything else comes from the empty home.
    # Modules are compiled when they are used, as uv leaves them: what nothing imports is most of it.
    environment = {**os.environ, "PIP_NO_COMPILE": "1", **({"HOME": str(home)} if home else {})}
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=MINUTES,
        env=environment,
        check=False,
    )
    if "No matching distribution found" in done.stderr or "Failed to fetch" in done.stderr:
        pytest.skip(f"no package index can be reached: {words[1]}")
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def installers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installers")
    _quietly(sys.executable, "-m", "venv", folder)
    _quietly(folder / "bin/pip", "install", "--quiet", "pipx", "uv")
    return folder / "bin"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _quietly(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, BASE_DIR)
    (built,) = folder.glob("*.whl")
    return built


def test_it_has_the_two_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"memoryweb", "dreams", f"memoryweb-{version()}.dist-info"}
    inside = {"templates": "memoryweb/templates", "static": "memoryweb/static", "dreams": "dreams"}
    for folder, target in inside.items():
        for path in (BASE_DIR / folder).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                assert f"{target}/{path.relative_to(BASE_DIR / folder)}" in names
    assert not [name for name in names if name.endswith((".pyc", ".sqlite3"))]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """An empty one, into which the command is to be installed."""
    folder = tmp_path / "home"
    home = Home(folder, command=[str(folder / ".local/bin/memoryweb")])
    home.environment.pop("DJANGO_SETTINGS_MODULE")
    yield home
    home.end()


class Browser:
    """Pages of a server, with their cookies."""

    def __init__(self, address: str) -> None:
        self.address = address
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(jar)

    def get(self, path: str) -> str:
        return self._read(urllib.request.Request(self.address + path))  # noqa: S310 - our own server

    def press(self, text: str, label: str, **more: str) -> str:
        path, fields = pressing.form(text, label)
        return self.post(path, **{**fields, **more})

    def post(self, path: str, **fields: str) -> str:
        data = urllib.parse.urlencode(fields).encode()
        headers = {"Origin": self.address, "Referer": self.address + "/"}
        return self._read(urllib.request.Request(self.address + path, data, headers))  # noqa: S310

    def _read(self, request: urllib.request.Request) -> str:
        with self._opener.open(request, timeout=30) as answer:
            return answer.read().decode()


def test_pipx_installs_the_same_command(home: Home, installers: Path, wheel: Path) -> None:
    """What it then does, the next test shows: the same wheel, with the same libraries."""
    _quietly(installers / "pipx", "install", wheel, home=home.folder)
    done = subprocess.run([*home.command, "projects"], env=home.environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_it_serves_logs_in_dreams_and_is_reviewed(home: Home, installers: Path, wheel: Path) -> None:
    _quietly(installers / "uv", "tool", "install", "--python", sys.executable, wheel, home=home.folder)
    started = home.start("--port", "0")
    link = servers.link_of(home)
    assert "`memoryweb login_url` prints a new one" in home.log.read_text()
    browser = Browser(link.partition("/login/")[0])
    page = browser.get("/login/")
    assert "<code>memoryweb login_url</code>" in page
    assert "<h1>Inbox</h1>" in browser.press(page, "Log in", code=link.partition("token=")[2])

    dreamt = servers.until(
        lambda: home.rows("SELECT public_id FROM dreams_proposal WHERE state = 'open'"), "a proposal"
    )
    review = browser.get(f"/review/{dreamt[0]['public_id']}/")
    browser.press(review, "Approve all and submit q")
    servers.until(
        lambda: home.rows("SELECT 1 FROM dreams_proposal WHERE state = 'applied'"), "what was approved"
    )
    servers.stop(started)
