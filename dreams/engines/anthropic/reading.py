"""The model's eyes. The sandbox answers where it is installed; else a plain reader over the same mounts does. PURE.

`/memory` is the scratch copy, `/transcripts/<folder>` the folders of the sessions. A reader never raises for what
stands in a call: whatever is wrong is an answer.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import re2

from dreams import safefs
from dreams.engines.base import Job

OUTPUT_CHARS = 30_000
FILE_BYTES = 64 * 1024 * 1024
MOST_FILES = 20_000
SHOWN_AROUND = 600
DEFAULT_HITS = 50


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    refused: bool = False


class ReadTools(Protocol):
    """Read-only tools by name. `run` is called from several threads."""

    names: frozenset[str]

    def run(self, name: str, given: Mapping[str, Any]) -> Answer: ...

    def close(self) -> None: ...


def open_tools(job: Job) -> ReadTools:
    """The readers of one dream."""
    return PlainReads(job)


class PlainReads:
    """Read, Grep and Glob over the mounts, by handle and without following links."""

    names = frozenset({"Read", "Grep", "Glob"})

    def __init__(self, job: Job) -> None:
        self._roots = {"/memory": safefs.Root.open(job.workspace.folder)}
        for folder in dict.fromkeys(brief.path.parent for brief in job.sessions):
            if folder.is_dir():
                self._roots[f"/transcripts/{folder.name}"] = safefs.Root.open(folder)

    def close(self) -> None:
        for root in self._roots.values():
            root.close()

    def run(self, name: str, given: Mapping[str, Any]) -> Answer:
        try:
            if name == "Read":
                return self._read(given)
            return self._grep(given) if name == "Grep" else self._glob(given)
        except (OSError, safefs.SafeFsError, KeyError, TypeError, ValueError, re2.error) as error:
            return Answer(f"Not done: {error}", refused=True)

    def _read(self, given: Mapping[str, Any]) -> Answer:
        lines = self._text(str(given["file_path"])).split("\n")
        first = max(1, int(given.get("offset") or 1))
        chosen = lines[first - 1 : first - 1 + int(given.get("limit") or 2_000)]
        return _capped("\n".join(f"{number:>6}\t{line}" for number, line in enumerate(chosen, start=first)))

    def _grep(self, given: Mapping[str, Any]) -> Answer:
        flags = "(?i)" if given.get("-i") else ""
        pattern = re2.compile(flags + str(given["pattern"]))
        hits: list[str] = []
        most = int(given.get("head_limit") or DEFAULT_HITS)
        for path in self._files(str(given.get("path") or "/"), str(given.get("glob") or "*")):
            for number, line in enumerate(self._text(path).split("\n"), start=1):
                found = pattern.search(line)
                if found:
                    hits.append(f"{path}:{number}:{_around(line, found.start())}")
            if len(hits) >= most:
                break
        return _capped("\n".join(hits[:most]) or "No match.")

    def _glob(self, given: Mapping[str, Any]) -> Answer:
        pattern = str(given["pattern"]).replace("**/", "*")
        if not pattern.startswith("/"):
            pattern = str(given.get("path") or "").rstrip("/") + "/*" + pattern.lstrip("*")
        found = [path for path in self._files("/", "*") if fnmatch.fnmatchcase(path, pattern)]
        return _capped("\n".join(found) or "No file.")

    def _text(self, path: str) -> str:
        for mount, root in self._roots.items():
            if path.startswith(mount + "/"):
                data: bytes = root.read_bytes(path.removeprefix(mount + "/"), limit=FILE_BYTES)
                return data.decode("utf-8", "replace")
        raise ValueError(f"There is no {path}. Paths begin with /memory or /transcripts.")

    def _files(self, below: str, name: str) -> Iterator[str]:
        for mount, root in self._roots.items():
            for entry in root.walk(limit=MOST_FILES):
                path = f"{mount}/{entry.rel}"
                inside = below in (path, "/") or path.startswith(below.rstrip("/") + "/")
                if (
                    isinstance(entry, safefs.Found)
                    and inside
                    and fnmatch.fnmatchcase(path.rpartition("/")[2], name)
                ):
                    yield path


def _around(line: str, at: int) -> str:
    start = max(0, at - SHOWN_AROUND // 2)
    shown = line[start : start + SHOWN_AROUND]
    return ("…" if start else "") + shown + ("…" if len(line) > start + SHOWN_AROUND else "")


def _capped(text: str) -> Answer:
    if len(text) <= OUTPUT_CHARS:
        return Answer(text)
    return Answer(text[:OUTPUT_CHARS] + f"\n[cut at {OUTPUT_CHARS:,} characters; narrow the call]")
