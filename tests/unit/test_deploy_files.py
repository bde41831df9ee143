"""The files that start memoryweb with a session or in a container say what memoryweb understands."""

from __future__ import annotations

import plistlib
import re
import shlex
import sys

import pytest
from ruamel.yaml import YAML

from memoryweb import BASE_DIR, __main__

DEPLOY = BASE_DIR / "deploy"


def _options(words: list[str]) -> list[str]:
    from dreams.management.commands.serve import Command

    parser = Command().create_parser("memoryweb", "serve")
    return [f"{key}={value}" for key, value in vars(parser.parse_args(words)).items() if value]


def _after_serve(text: str) -> list[str]:
    words = shlex.split(text)
    return words[words.index("serve") + 1 :]


def test_the_unit_starts_serve_and_stops_it_as_ctrl_c_does() -> None:
    unit = (DEPLOY / "memoryweb.service").read_text()
    started = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert started
    assert "no_browser=True" in _options(_after_serve(started[1]))
    assert "\nKillSignal=SIGINT\n" in unit


def test_the_launch_agent_starts_serve() -> None:
    agent = plistlib.loads((DEPLOY / "memoryweb.plist").read_bytes())
    assert agent["Label"] == "memoryweb"
    assert "no_browser=True" in _options(_after_serve(agent["ProgramArguments"][-1]))


def test_the_image_is_no_root_and_its_command_is_understood() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users == ["memoryweb"]
    command = next(line for line in lines if line.startswith("CMD "))
    assert "host=0.0.0.0" in _options(_after_serve(" ".join(re.findall(r'"([^"]*)"', command))))


def test_the_services_have_a_read_only_root_and_only_this_machine_reaches_them() -> None:
    services = YAML(typ="safe").load(DEPLOY / "compose.yaml")["services"]
    ours = services["memoryweb"]
    assert ours["read_only"] is True
    assert ours["ports"] == ["127.0.0.1:8765:8765"]
    assert "ports" not in services["database"]


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        (["memoryweb"], ["serve"]),
        (["memoryweb", "--port", "0"], ["serve", "--port", "0"]),
        (["memoryweb", "doctor"], ["doctor"]),
        (["memoryweb", "--help"], ["--help"]),
    ],
)
def test_alone_or_with_options_only_the_command_serves(
    typed: list[str], run: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", typed)
    monkeypatch.setattr(__main__, "run", lambda words, _command: seen.append(list(words)))
    __main__.main()
    assert seen == [run]


def test_windows_is_refused_with_the_way_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "SYSTEM", "nt")
    with pytest.raises(SystemExit, match="WSL2"):
        __main__.run(["serve"], "memoryweb")
