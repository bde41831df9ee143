"""Writes and reads directories: memory, transcripts in an agent's format, a small repository; and baselines. No Django."""

import datetime as dt
import hashlib
import json
import os
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from rapidfuzz import fuzz

from dreams.dev.dreambench.builder import BuiltDirectory, BuiltMessage, MadeSession, World
from dreams.dev.dreambench.scoring import Ran, Score, score
from dreams.lib.files import workspace

_SPACE = uuid.UUID("6f6a3f0e-4c53-4f5e-9a55-0d5b1f7a2c11")


def write(made: BuiltDirectory, memory: Path, transcripts: Path, repo: Path) -> None:
    """Writes one directory. Its files get the day of writing as mtime, sessions the time of their last line."""
    repo = repo.resolve()
    for name, text in {**made.repo, ".git/HEAD": "ref: refs/heads/main\n"}.items():
        _put(repo / name, text.encode())
    for session in made.sessions:
        _write_session(transcripts / f"{_id(session.name)}.jsonl", session, repo)
    for name, data in made.files.items():
        path = memory / name
        _put(path, data)
        _touch(path, _moment(made.days[name], name))


def _moment(day: str, name: str) -> dt.datetime:
    """A varied time of a working day: files written within a minute look like a copied directory."""
    seconds = int.from_bytes(hashlib.sha256(name.encode()).digest()[:3], "big") % 28_800
    return dt.datetime.fromisoformat(f"{day}T08:00:00+00:00") + dt.timedelta(seconds=seconds)


def read(memory: Path) -> dict[str, bytes]:
    """Every file of a memory directory, as a dream reads them."""
    return workspace.take(memory).contents()


def replace(memory: Path, files: Mapping[str, bytes]) -> None:
    """Makes a temporary directory contain exactly these files; unchanged ones are not touched."""
    there = read(memory)
    for name in there.keys() - files.keys():
        (memory / name).unlink()
    for name, data in files.items():
        if there.get(name) != data:
            _put(memory / name, data)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _touch(path: Path, at: dt.datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))


def _id(name: str) -> str:
    return str(uuid.uuid5(_SPACE, name))


def _write_session(path: Path, session: MadeSession, repo: Path) -> None:
    at = dt.datetime.fromisoformat(session.at)
    records = list(_records(session, at, str(repo)))
    _put(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode())
    _touch(path, at + dt.timedelta(minutes=len(records)))


def _records(session: MadeSession, at: dt.datetime, cwd: str) -> Iterator[dict[str, object]]:
    parent = None
    for number, message in enumerate(session.messages):
        for body in _bodies(message, f"{session.name}/{number}"):
            name = _id(f"{session.name}/{number}/{body['type']}/{parent}")
            yield {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": cwd,
                "sessionId": _id(session.name),
                "version": "2.1.0",
                "gitBranch": "main",
                **body,
                "uuid": name,
                "timestamp": (at + dt.timedelta(minutes=number)).isoformat().replace("+00:00", "Z"),
            }
            parent = name


def _bodies(message: BuiltMessage, key: str) -> Iterator[dict[str, object]]:
    if message.role == "user":
        yield {"type": "user", "message": {"role": "user", "content": message.text}}
    elif message.role == "assistant":
        yield _assistant([{"type": "text", "text": message.text}], key)
    else:
        call = "toolu_" + _id(key).replace("-", "")[:20]
        yield _assistant([{"type": "tool_use", "id": call, "name": "WebFetch", "input": {}}], key)
        result = {"type": "tool_result", "tool_use_id": call, "content": message.text}
        yield {
            "type": "user",
            "message": {"role": "user", "content": [result]},
            "toolUseResult": message.text,
        }


def _assistant(content: list[dict[str, object]], key: str) -> dict[str, object]:
    usage = {
        "input_tokens": 900,
        "output_tokens": 40,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
    }
    message = {
        "id": f"msg_{_id(key)[:12]}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": content, "stop_reason": "end_turn", "usage": usage,
    }  # fmt: skip
    return {"type": "assistant", "requestId": f"req_{_id(key)[:12]}", "message": message}


def baseline(world: World, run: "Baseline", half: str = "") -> Score:
    """The score of a function from a directory to its files, over all directories or those of one half."""
    chosen = [made for made in world.directories if made.name.startswith(half)]
    return score(world.cases, [Ran(made, run(made)) for made in chosen])


ALIKE = 80.0  # of 100
_LINE = re.compile(r"^(?P<mark>\s*(?:[-*+]\s+)?)(?P<text>\S.*)$")
Baseline = Callable[[BuiltDirectory], Mapping[str, bytes]]


def nothing(directory: BuiltDirectory) -> Mapping[str, bytes]:
    return directory.files


def naive_merge(directory: BuiltDirectory) -> Mapping[str, bytes]:
    """Keeps the newest of similar lines; what a person typed is newer than all of them."""
    lines = [
        (directory.days[path], path, number, match["text"])
        for path, data in directory.files.items()
        if path != "MEMORY.md"
        for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"))
        if (match := _LINE.match(line))
        and len(line) > 20
        and not line.startswith(("#", "---", "name:", "desc"))
    ]
    gone, kept = set[tuple[str, int]](), list[tuple[str, int, str]]()
    for _, path, number, text in sorted(lines, reverse=True):
        if any(fuzz.ratio(text, other) >= ALIKE for _, _, other in kept):
            gone.add((path, number))
        else:
            kept.append((path, number, text))
    said = _told(directory, kept)
    return {path: _written(path, data, gone, said) for path, data in directory.files.items()}


def _told(directory: BuiltDirectory, kept: list[tuple[str, int, str]]) -> dict[tuple[str, int], str]:
    """Lines similar to a prompt, with the last such prompt."""
    found = {}
    typed = [m.text for s in directory.sessions for m in s.messages if m.role == "user" and len(m.text) > 20]
    for text in typed:
        best = max(kept, key=lambda line: fuzz.ratio(text, line[2]), default=None)
        if best and fuzz.ratio(text, best[2]) >= ALIKE:
            found[best[0], best[1]] = text
    return found


def _written(
    path: str, data: bytes, gone: set[tuple[str, int]], said: Mapping[tuple[str, int], str]
) -> bytes:
    lines = []
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n")):
        match = _LINE.match(line)
        if (path, number) in said and match:
            lines.append(f"{match['mark']}{said[path, number]}")
        elif (path, number) not in gone:
            lines.append(line)
    return "\n".join(lines).encode("utf-8", "surrogateescape")


BASELINES: Mapping[str, Baseline] = {"nothing": nothing, "naive merge": naive_merge}
