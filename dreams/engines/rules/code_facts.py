"""What the files that configure a repository surely say: scripts, versions, targets and services. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dreams.engines.rules.repository import Repository

MOST_FACTS = 5_000


@dataclass(frozen=True, slots=True)
class CodeFact:
    """Something a file says. `quote` is the line that says it, `words` is how one could put it, `values` what a statement
    must name to say the same."""

    path: str
    line_no: int
    quote: str
    words: str
    values: tuple[str, ...]


def facts(repo: Repository | None) -> list[CodeFact]:
    """Everything that is understood; a file that cannot be parsed says nothing."""
    configs = sorted(repo.configs.items()) if repo else []
    return list(islice((fact for path, text in configs for fact in _of_file(path, text)), MOST_FACTS))


Reader = Callable[[str, str], Iterator[CodeFact]]


def _of_file(path: str, text: str) -> list[CodeFact]:
    *folders, name = path.split("/")
    reader = None if any(folder.startswith(".") for folder in folders) else _READERS.get(name)
    try:
        return list(reader(path, text)) if reader else []
    except (ValueError, RecursionError):
        return []


def _fact(path: str, text: str, words: str, *values: str) -> CodeFact:
    """The line is the first one that has the last value."""
    lines = text.split("\n")
    number = next((at for at, line in enumerate(lines, 1) if values[-1].split("\n")[0] in line), 1)
    coded = " ".join(f"`{value}`" for value in values)
    told = f"{path} {path.rpartition('/')[2]} {words} {coded}"
    return CodeFact(path, number, lines[number - 1].strip()[:300], told, values)


def _package(path: str, text: str) -> Iterator[CodeFact]:
    found = json.loads(text)
    if not isinstance(found, dict):
        return
    for name, command in _texts(found.get("scripts")):
        yield _fact(
            path,
            text,
            f"the script `npm run {name}` {name} runs executes calls is `{command}`",
            name,
            command,
        )
    for key, what in (
        ("name", "the npm package is called named name"),
        ("version", "the package version is at"),
    ):
        if isinstance(found.get(key), str) and found[key]:
            yield _fact(path, text, f"{what} `{found[key]}`", found[key])
    for name, wanted in _texts(found.get("engines")):
        yield _fact(
            path, text, f"{path} engines asks requires needs wants {name} version `{wanted}`", name, wanted
        )
    if isinstance(found.get("packageManager"), str):
        yield _fact(
            path, text, f"the package manager is `{found['packageManager']}`", found["packageManager"]
        )


def _texts(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield from ((k, v) for k, v in value.items() if isinstance(k, str) and isinstance(v, str) and v)


def _makefile(path: str, text: str) -> Iterator[CodeFact]:
    """Targets of one recipe line: what a longer one does is not said in a line."""
    for match in re.finditer(r"^([\w.-]+):[^=\n]*\n((?:\t[^\n]*\n?)+)", text, re.MULTILINE):
        recipe = [line.strip().lstrip("@-") for line in match[2].split("\n") if line.strip()]
        if len(recipe) == 1:
            words = f"`make {match[1]}` the target {match[1]} runs executes calls is `{recipe[0]}`"
            yield _fact(path, text, words, match[1], recipe[0])


def _pyproject(path: str, text: str) -> Iterator[CodeFact]:
    project: Mapping[str, Any] = tomllib.loads(text).get("project", {})
    for key, words in (
        ("name", "the Python package project is called named"),
        ("version", "the package version is at"),
        ("requires-python", "requires needs asks Python version"),
    ):
        if isinstance(project.get(key), str) and project[key]:
            yield _fact(path, text, f"{words} `{project[key]}`", project[key])


def _compose(path: str, text: str) -> Iterator[CodeFact]:
    service = ""
    inside = False
    for line in text.split("\n"):
        if re.match(r"\S", line):
            inside = line.startswith("services:")
        match = re.match(r"  ([\w.-]+):\s*$", line)
        if match:
            service = match[1]
        image = re.match(r"\s{3,}image:\s*[\"']?([^\s\"'#]+)", line)
        if inside and service and image:
            words = f"the docker compose service container {service} runs starts uses from with image is `{image[1]}`"
            yield _fact(path, text, words, service, image[1])


def _go(path: str, text: str) -> Iterator[CodeFact]:
    for match in re.finditer(r"^(module|go)\s+(\S+)\s*$", text, re.MULTILINE):
        what = (
            "the Go module is called named"
            if match[1] == "module"
            else "the module needs requires Go version"
        )
        yield _fact(path, text, f"{what} `{match[2]}`", match[2])


def _version_file(path: str, text: str) -> Iterator[CodeFact]:
    value = text.strip()
    tool = "Node node.js" if "nv" in path.rpartition("/")[2] or "node" in path else "Python"
    if value and len(value) < 30 and "\n" not in value:
        yield _fact(path, text, f"asks pins requires needs uses {tool} version is `{value}`", value)


_READERS: Mapping[str, Reader] = {
    "package.json": _package,
    "Makefile": _makefile,
    "pyproject.toml": _pyproject,
    "docker-compose.yml": _compose,
    "docker-compose.yaml": _compose,
    "compose.yml": _compose,
    "compose.yaml": _compose,
    "go.mod": _go,
    ".nvmrc": _version_file,
    ".node-version": _version_file,
    ".python-version": _version_file,
}
