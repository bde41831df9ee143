"""What the documents say exists, and what exists is in the documents."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

from django.core.management import BaseCommand, CommandError, load_command_class

from dreams import conf
from dreams.management.base import parsed
from memoryweb import version

ROOT = Path(__file__).resolve().parents[2]


def doc(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_setting_is_documented_with_its_default() -> None:
    rows = {
        line.split("|")[1].strip(): line
        for line in doc("docs/configuration.md").splitlines()
        if line.startswith("| ")
    }
    for spec in conf.specs().values():
        row = rows[spec.label]
        shown = (
            {True: "on", False: "off"}[spec.default] if isinstance(spec.default, bool) else str(spec.default)
        )
        assert f"| {shown}" in row or (shown == "" and "(empty)" in row), row
        assert spec.key == "roots" or f"`{spec.env_name}`" in row, row
        assert spec.help in row


def test_every_command_is_documented_and_every_documented_command_exists() -> None:
    folder = ROOT / "dreams/management/commands"
    own = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    named = set(re.findall(r"`([a-z_]+)(?: [^`]*)?`", doc("docs/operations.md")))
    assert own <= named, f"not in docs/operations.md: {sorted(own - named)}"
    table = [line for line in doc("docs/operations.md").splitlines() if line.startswith("| `")]
    listed = {name for line in table for name in re.findall(r"`([a-z_]+)", line.split("|")[1])}
    assert listed <= own, f"documented, but not there: {sorted(listed - own)}"


def test_every_option_of_a_command_is_in_its_row() -> None:
    rows = [line for line in doc("docs/operations.md").splitlines() if line.startswith("| `")]
    of_all = {"--json", *options(BaseCommand())}
    missing = []
    for path in sorted((ROOT / "dreams/management/commands").glob("[a-z]*.py")):
        own = " ".join(line for line in rows if re.match(rf"\| .*`{path.stem}\b", line))
        named = set(options(load_command_class("dreams", path.stem))) - of_all
        missing += [f"{path.stem} {option}" for option in sorted(named) if option not in own]
    assert not missing, "not in docs/operations.md"


def options(command: BaseCommand) -> list[str]:
    """The options that its `--help` shows."""
    shown = [one for one in command.create_parser("", "")._actions if one.help != argparse.SUPPRESS]
    return [one.option_strings[-1] for one in shown if one.option_strings]


def test_every_command_line_in_the_docs_is_one_that_its_command_takes() -> None:
    lines = command_lines()
    refused = []
    for name, line in lines:
        parser = load_command_class("dreams", name).create_parser("manage.py", name)
        try:
            parsed(parser, shlex.split(line, comments=True))
        except (CommandError, ValueError) as error:
            refused.append(f"{name}{line}: {error}")
    assert len(lines) > 40 and not refused


def command_lines() -> list[tuple[str, str]]:
    """(command, what is typed behind it) of every example: lines of blocks, and what sentences have in backticks."""
    own = "|".join(path.stem for path in (ROOT / "dreams/management/commands").glob("[a-z]*.py"))
    line = re.compile(rf"(?:\$ )?(?:python )?(manage\.py |memoryweb )?({own})\b(?! [A-Z_]+=)([^`]*)")
    found = []
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        blocks = [*"".join(fenced).splitlines(), *re.findall(r"^ {4}(.*)", text, re.MULTILINE)]
        found += [match for one in blocks if (match := line.match(one)) and "[--" not in one]
        inline = re.findall(r"(?<!`)`([^`]+)`(?!`)", text)
        found += [match for one in inline if (match := line.match(" ".join(one.split()))) and match[1]]
    return [(match[2], match[3]) for match in found]


def test_every_test_that_the_docs_name_for_a_promise_exists() -> None:
    named = re.findall(r"`(tests/[^`]+)`", doc("docs/security.md"))
    assert len(named) > 10 and not [name for name in named if not (ROOT / name).is_file()]


def test_every_library_that_runs_is_explained() -> None:
    explained = doc("docs/dependencies.md").lower()
    text = doc("pyproject.toml")
    block = text.split("dependencies = [", 1)[1].split("]", 1)[0]
    for name in re.findall(r'"([a-z0-9.-]+)', block.lower()):
        assert name in explained, f"{name} is not in docs/dependencies.md"


def test_the_environment_variables_that_are_read_are_documented() -> None:
    configuration = doc("docs/configuration.md")
    read = set(re.findall(r'env\.\w+\("([A-Z_]+)"', doc("memoryweb/settings.py")))
    assert read, "the settings read nothing"
    for name in read - {"CLAUDE_CONFIG_DIR", "MEMORYWEB_TIME_ZONE"}:
        assert f"`{name}`" in configuration, name


def test_every_module_named_in_the_architecture_exists() -> None:
    """A table's places stand below the folder that the heading above it names."""
    below = ROOT
    for line in doc("docs/architecture.md").splitlines():
        if line.startswith("#"):
            below = ROOT / (re.findall(r"`([a-z_/]+)`", line) or [""])[0]
        if line.startswith("| `"):
            for place in re.findall(r"`([a-z_/.]+)`", line.split("|")[1]):
                candidates = [below / place, below.parent / place]
                assert any(path.exists() for path in candidates), f"{place} below {below}"


def test_the_version_is_the_changelogs_newest_heading() -> None:
    assert f"## {version()}" in doc("CHANGELOG.md")


def test_the_keys_are_those_of_the_sheet() -> None:
    sheet = set(re.findall(r"<kbd>(.)</kbd>", doc("templates/_keys.html")))
    assert (
        set(re.findall(r"`(.)`", doc("docs/reviewing.md").split("## Keys")[1].split("Everything")[0]))
        == sheet
    )
