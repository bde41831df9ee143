"""Transcripts to measure with, made from a fixed seed in a folder of the caller's.

Two shapes. "long": what long-lived config folders hold: 5.5 KB a line on average, tool output of many KB written twice
in a line, two lines of five progress, usage repeated on several lines of a turn, forks that copy most of another
file, sub-agents, 3 % of the files over 1 MB. "short": many lines of a few hundred bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

Record = dict[str, object]

WORDS = (
    *("the", "of", "build", "test", "cache", "index", "user", "memory", "file", "line", "read", "write"),
    *("commit", "branch", "error", "fix", "\n", "\n    ", '"', "ü", "\t", "src/app/models.py", "0x7f", "—"),
)
KEYS_LAST = ("type", "uuid", "timestamp")
SHAPES = ("long", "short")


class Corpus:
    """Makes sessions of one shape. The same seed gives the same bytes."""

    def __init__(self, shape: str, seed: int = 7) -> None:
        self._rng = random.Random(seed)
        self._long = shape == "long"
        self._text = " ".join(self._rng.choices(WORDS, k=400_000))

    def write(self, folder: Path, megabytes: float, *, projects: int = 40) -> list[Path]:
        """`megabytes` of transcripts in `folder`/<slug>/, each ninth a fork of the one before it."""
        made, written, number, last = list[Path](), 0, 0, b""
        for project in range(projects):
            (folder / f"-home-dev-project-{project:03d}").mkdir(parents=True, exist_ok=True)
        while written < megabytes * 1e6:
            name, project = f"{number:08x}-0000-4000-8000-{self._rng.getrandbits(48):012x}", number % projects
            if self._long and number % 11 == 10 and made:  # a sub-agent of the one before it
                path = made[-1].with_suffix("") / "subagents" / f"agent-{name[:8]}.jsonl"
                path.parent.mkdir(parents=True, exist_ok=True)
                data = self.session(name, path.parts[-4], self._size(), sidechain=True)
            else:
                path = folder / f"-home-dev-project-{project:03d}" / f"{name}.jsonl"
                data = self.session(name, path.parent.name, self._size())
                if number % 9 == 8:
                    path = (
                        made[-1].parent if made[-1].parent.name != "subagents" else path.parent
                    ) / path.name
                    data = last + data
            path.write_bytes(data)
            made.append(path)
            written, number, last = (
                written + len(data),
                number + 1,
                data[: 1 << 20].rpartition(b"\n")[0] + b"\n",
            )
        return made

    def session(self, name: str, slug: str, size: int, *, sidechain: bool = False) -> bytes:
        """One transcript of about `size` bytes: whole lines, at least one turn."""
        parts, written, turn = list[bytes](), 0, 0
        while written < size:
            for record in self._turn(name, slug, turn, sidechain):
                line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                parts.append(line)
                written += len(line)
                if written >= size:
                    break
            turn += 1
        return b"".join(parts)

    def _size(self) -> int:
        if not self._long:
            return self._rng.choice((8_000, 60_000, 300_000))
        big = self._rng.random() < 0.02
        return self._rng.randrange(1_000_000, 12_000_000) if big else int(self._rng.lognormvariate(11.4, 1.0))

    def _prose(self, size: int) -> str:
        at = self._rng.randrange(max(1, len(self._text) - size))
        return (self._text[at : at + size] * (size // len(self._text) + 1))[:size]

    def _id(self) -> str:
        return f"{self._rng.getrandbits(128):032x}"

    def _turn(self, name: str, slug: str, turn: int, sidechain: bool) -> Iterator[Record]:
        rng, at = (
            self._rng,
            f"2026-03-{1 + turn // 500 % 28:02d}T{turn // 60 % 24:02d}:{turn % 60:02d}:00.{turn % 999:03d}Z",
        )
        base: Record = {"parentUuid": self._id(), "isSidechain": sidechain, "userType": "external"}
        base |= {
            "cwd": f"/home/dev/{slug[10:]}",
            "sessionId": name,
            "version": "2.1.200",
            "gitBranch": "main",
        }
        if turn % 10 == 0:
            body = {"role": "user", "content": self._prose(rng.choice((20, 80, 400)))}
            yield {**base, "type": "user", "message": body, "uuid": self._id(), "timestamp": at}
        usage: Record = {"input_tokens": rng.randrange(9), "cache_read_input_tokens": rng.randrange(90_000)}
        usage |= {"cache_creation_input_tokens": (new := rng.randrange(2_000)), "service_tier": "standard"}
        usage |= {"cache_creation": {"ephemeral_5m_input_tokens": new, "ephemeral_1h_input_tokens": 0}}
        message: Record = {
            "model": f"claude-{rng.randrange(3)}",
            "id": f"msg_{self._id()}",
            "type": "message",
        }
        request, final, tool = f"req_{self._id()}", rng.randrange(2, 4_000), f"toolu_{self._id()}"
        blocks: list[Record] = [
            {
                "type": "thinking",
                "thinking": self._prose(rng.choice((300, 1_500))),
                "signature": self._id() * 8,
            },
            {"type": "text", "text": self._prose(rng.choice((100, 900)))},
            {"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": self._prose(200)}},
        ]
        for output, block in zip((1, final, final), blocks, strict=True):
            whole = {**message, "role": "assistant", "content": [block], "stop_reason": None}
            whole["usage"] = {**usage, "output_tokens": output}
            yield {
                **base,
                "message": whole,
                "requestId": request,
                "type": "assistant",
                "uuid": self._id(),
                "timestamp": at,
            }
        for _ in range(3):
            data = {
                "type": "bash_progress",
                "output": self._prose(300),
                "fullOutput": self._prose(900 if self._long else 60),
            }
            extra = {"toolUseID": tool, "parentToolUseID": tool, "uuid": self._id(), "timestamp": at}
            yield {**base, "type": "progress", "data": data, **extra}
        yield self._result(base, tool, at)

    def _result(self, base: Record, tool: str, at: str) -> Record:
        scale = 3_800 if self._long else 100
        output = self._prose(int(self._rng.paretovariate(1.25) * scale) % 1_000_000)
        body = {"role": "user", "content": [{"tool_use_id": tool, "type": "tool_result", "content": output}]}
        result = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        tail = {"uuid": self._id(), "timestamp": at, "toolUseResult": result}
        return {**base, "type": "user", "message": body, **tail}
