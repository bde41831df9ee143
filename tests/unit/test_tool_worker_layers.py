"""The layers of the operating system around the worker, each with the tools out of the way: what a fault in them
could still do. Each layer that this machine offers is tried; how one is asked for is looked at on any machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from dreams.lib.sandbox.tool_worker import Mounts, ToolWorker, fences
from tests.world.cases import each

OFFERED = fences.offered()
NET_SINCE = 4  # Landlock's version that also closes the network

ACTS = """
import os, socket, sys
from dreams.lib.sandbox.tool_worker import fences
inside, outside, port, other, landlock = sys.argv[1:]
if landlock == "yes":
    fences.landlock([os.path.dirname(inside)])
fences.limit_resources()

def connect():
    with socket.socket() as s:
        s.settimeout(1)
        s.connect(("127.0.0.1", int(port)))

def write():
    with open(inside, "a") as file:
        file.write("x")

acts = {
    "read inside": lambda: open(inside).read(),
    "read outside": lambda: open(outside).read(),
    "list outside": lambda: os.listdir(os.path.dirname(outside)),
    "read passwords": lambda: open("/etc/passwd").read(),
    "write": write,
    "remove": lambda: os.unlink(inside),
    "make": lambda: os.mkdir(inside + ".d"),
    "start": lambda: os.fork() or os._exit(0),
    "connect": connect,
    "see others": lambda: os.kill(int(other), 0),
}
for name, act in acts.items():
    try:
        act()
        print(name, "done", sep=":")
    except OSError:
        print(name, "refused", sep=":")
"""


@dataclass(frozen=True)
class Layer:
    """What stands around the acts, and what it must refuse beside what the limits do."""

    name: str
    landlock: bool
    bubblewrap: bool
    refused: frozenset[str]


def layers() -> list[Layer]:
    """The limits alone, and every layer that the system offers, alone and together."""
    disk = {"read outside", "list outside", "read passwords", "remove", "make"}
    net = {"connect"} if OFFERED.landlock >= NET_SINCE else set()
    found = [Layer("limits", False, False, frozenset())]
    if OFFERED.landlock:
        found.append(Layer("landlock", True, False, frozenset(disk | net)))
    if OFFERED.bubblewrap:
        closed = frozenset(disk | {"connect", "see others"})
        found.append(Layer("bubblewrap", False, True, closed))
    if OFFERED.landlock and OFFERED.bubblewrap:
        found.append(Layer("both", True, True, closed))
    return found


@pytest.mark.parametrize("layer", layers(), ids=lambda layer: layer.name)
def test_a_process_behind_a_layer_reads_its_mounts_and_does_nothing_else(
    tmp_path: Path, layer: Layer
) -> None:
    inside, outside = tmp_path / "memory" / "MEMORY.md", tmp_path / "home" / "secret.txt"
    for path in (inside, outside):
        path.parent.mkdir()
        path.write_text("text\n")
    around = fences.command(fences.bubblewrap_found(), [str(inside.parent)], root=os.geteuid() == 0)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        given = [str(inside), str(outside), port, str(os.getpid()), "yes" if layer.landlock else "no"]
        words = [sys.executable, "-c", ACTS, *given]
        ran = subprocess.run(
            [*(around if layer.bubblewrap else ()), *words],
            cwd=fences.BASE,
            env={"PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
    ends = dict(line.split(":") for line in ran.stdout.split("\n") if line)
    assert ends["read inside"] == "done", ran.stderr
    assert ends["write"] == "refused"
    assert {name for name in layer.refused if ends[name] != "refused"} == set()
    if layer.refused:
        assert inside.read_text() == "text\n"
    else:
        assert ends["read outside"] == ends["connect"] == "done", "the acts themselves work"


@each("root", [True, False])
def test_bubblewrap_is_asked_for_no_network_new_namespaces_and_mounts_to_read_only(root: bool) -> None:
    words = fences.command("/usr/bin/bwrap", ["/data/scratch/memory", "/data/scratch"], root=root)
    assert words[0] == "/usr/bin/bwrap" and words[-1] == "--"
    assert {"--unshare-net", "--unshare-pid", "--unshare-ipc", "--remount-ro"} <= set(words)
    assert not {"--bind", "--bind-try", "--dev-bind", "--share-net", "--proc"} & set(words)
    assert ("--cap-add" in words) is root and words[words.index("--cap-drop") + 1] == "ALL"
    mounted = [words[at + 1] for at, word in enumerate(words) if word == "--ro-bind-try"]
    assert mounted.index("/data/scratch") < mounted.index("/data/scratch/memory"), "a parent hides no child"
    assert {sys.prefix, sys.base_prefix, str(fences.BASE / "dreams")} <= set(mounted)
    assert not {"/", "/home", "/root", "/etc", str(Path.home()), str(fences.BASE)} & set(mounted)


def fake(tmp_path: Path, body: str) -> str:
    path = tmp_path / "bwrap"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o700)
    return str(path)


@pytest.mark.more
@each(
    ("body", "said"),
    [
        ("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", "uid map: Permission denied"),
        ("exit 3", "it ended with 3"),
        ("echo yes", "it ended with 0"),
    ],
)
def test_a_bubblewrap_that_the_system_forbids_is_told_and_done_without(
    tmp_path: Path, body: str, said: str
) -> None:
    bwrap = fake(tmp_path, body)
    assert said in fences.bubblewrap_trouble(bwrap)
    worker = ToolWorker(Mounts((("memory", str(tmp_path), ()),)), bwrap=bwrap)
    assert said in worker.fences.trouble and not worker.fences.bubblewrap
    assert "bwrap" in worker.run("Bash", {"command": "ls /memory"}).text
    worker.close()


def test_a_bubblewrap_that_does_not_take_the_folders_is_done_without(tmp_path: Path) -> None:
    """It passes its trial, and fails over what it shall mount."""
    bwrap = fake(tmp_path, f'case "$*" in *{tmp_path}*) exit 1;; *) echo works;; esac')
    worker = ToolWorker(Mounts((("memory", str(tmp_path), ()),)), bwrap=bwrap)
    assert worker.fences.trouble == "bubblewrap does not take these folders" and not worker.fences.bubblewrap
    assert "bwrap" in worker.run("Bash", {"command": "ls /memory"}).text
    worker.close()


def test_where_there_is_no_bubblewrap_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = fences.offered()
    assert not found.bubblewrap and found.trouble == "bubblewrap is not installed"
    assert "not start" in fences.bubblewrap_trouble(str(tmp_path / "nothing"))


def test_the_layers_are_told_the_outer_one_first() -> None:
    assert fences.Fences(7, True).layers == ("bubblewrap", "Landlock (version 7)")
    assert fences.Fences(0, True).layers == ("bubblewrap",) and fences.Fences(0, True).has_os_sandbox
    assert fences.Fences().layers == () and not fences.Fences().has_os_sandbox


def _runs(child: psutil.Process) -> bool:
    """Nobody may have collected it yet: what has ended counts as gone."""
    try:
        return child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_when_the_engine_is_gone_everything_that_it_started_goes_too(tmp_path: Path) -> None:
    worker = ToolWorker(Mounts((("memory", str(tmp_path), ()),)))
    assert worker._worker is not None and worker._worker.process.stdin is not None
    process = worker._worker.process
    started = psutil.Process(process.pid).children(recursive=True)
    worker._worker.process.stdin.close()  # as the kernel does it when the engine is killed
    assert process.wait(10) is not None
    until = time.monotonic() + 10  # the kernel kills them one after the other
    while any(map(_runs, started)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(map(_runs, started))
    worker.close()
