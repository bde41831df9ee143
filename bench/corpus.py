"""Generates an agent's config folder for benchmarks from a seed, with the exact truth about its contents.

    python bench/corpus.py FOLDER --megabytes 1000 [--sessions 2000] [--projects 40] [--memories 1200] [--shape long]

Three shapes of sessions. "long" is like old config folders: 5.5 KB a line on average, tool output of many KB twice in a
line, two lines of five are progress, usage repeated on several lines of a turn, forks that copy most of another file,
sub-agents, 3 % of the files over 1 MB. "short": many lines of a few hundred bytes. "small": a few KB a session. The same
arguments give the same bytes. One session is written at a time: 10 GB take no more memory than 1 MB.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

Record = dict[str, object]

WORDS = (
    *("the", "of", "build", "test", "cache", "index", "user", "memory", "file", "line", "read", "write"),
    *("commit", "branch", "error", "fix", "\n", "\n    ", '"', "ü", "\t", "src/app/models.py", "0x7f", "—"),
)
SHAPES = ("long", "short", "small")
# The API's name of each kind of token, by our name.
KINDS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_creation_tokens": "cache_creation_input_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
}


@dataclass(slots=True)
class Truth:
    """The contents of a config folder. `sessions` are main transcripts, `transcripts` include those of sub-agents; a request
    counts once, even if lines and forks repeat it, with the tokens of its last line."""

    projects: int = 0
    sessions: int = 0
    transcripts: int = 0
    memories: int = 0
    bytes: int = 0
    requests: int = 0
    tokens: dict[str, dict[str, int]] = field(default_factory=dict)

    def count(self, requests: dict[str, tuple[str, dict[str, int]]]) -> None:
        self.requests += len(requests)
        for model, usage in requests.values():
            told = self.tokens.setdefault(model, dict.fromkeys(KINDS, 0))
            for kind, name in KINDS.items():
                told[kind] += usage[name]

    def save(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n")


class Corpus:
    """Makes sessions of one shape. The same seed gives the same bytes. `truth` describes what was written so far."""

    def __init__(self, shape: str, seed: int = 7) -> None:
        self._rng = random.Random(seed)
        self._shape, self._long = shape, shape == "long"
        self._text = " ".join(self._rng.choices(WORDS, k=400_000))
        self.truth = Truth()

    def root(
        self,
        folder: Path,
        megabytes: float,
        *,
        projects: int = 40,
        sessions: int | None = None,
        memories: int = 0,
    ) -> list[Path]:
        """Writes a config folder: about `megabytes` of transcripts (in exactly so many sessions), and memories."""
        made = self.write(folder / "projects", megabytes, projects=projects, sessions=sessions)
        for number in range(memories):
            slug = self._slug(number % projects)
            self._write_memory(folder / "projects" / slug / "memory", number)
        return made

    def write(
        self, folder: Path, megabytes: float, *, projects: int = 40, sessions: int | None = None
    ) -> list[Path]:
        """Writes `megabytes` of transcripts in `folder`/<slug>/, each ninth a fork of the previous; returns their paths."""
        made, written, last = list[Path](), 0, b""
        self.truth.projects = max(self.truth.projects, projects)
        for project in range(projects):
            (folder / self._slug(project)).mkdir(parents=True, exist_ok=True)
        mean = megabytes * 1e6 / sessions if sessions else None
        mains = number = 0
        while mains < sessions if sessions else written < megabytes * 1e6:
            name, slug = (
                f"{number:08x}-0000-4000-8000-{self._rng.getrandbits(48):012x}",
                self._slug(number % projects),
            )
            child = self._long and number % 11 == 10 and bool(made)
            path = self._child_of(made[-1], name) if child else folder / slug / f"{name}.jsonl"
            if not child and number % 9 == 8 and made[-1].parent.name != "subagents":
                path = made[-1].parent / path.name
            copied = last if not child and number % 9 == 8 else b""
            size = self._size(mean) - (len(copied) if mean else 0)
            data = copied + self.session(name, slug, max(size, 1), sidechain=child)
            path.write_bytes(data)
            made.append(path)
            mains += not child
            written, number, last = (
                written + len(data),
                number + 1,
                data[: 1 << 20].rpartition(b"\n")[0] + b"\n",
            )
        self.truth.sessions += mains
        self.truth.transcripts += len(made)
        self.truth.bytes += written
        return made

    @staticmethod
    def _slug(project: int) -> str:
        return f"-home-dev-project-{project:03d}"

    @staticmethod
    def _child_of(main: Path, name: str) -> Path:
        """The path for a sub-agent of the previous session."""
        path = main.with_suffix("") / "subagents" / f"agent-{name[:8]}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _write_memory(self, folder: Path, number: int) -> None:
        folder.mkdir(exist_ok=True)
        name, kind = f"topic_{number:05d}", ("user", "feedback", "project", "reference")[number % 4]
        body = self._prose(int(self._rng.lognormvariate(7.5, 0.6)))
        front = f"---\nname: {name}\ndescription: What is known of {number}\ntype: {kind}\n---\n\n"
        (folder / f"{name}.md").write_text(f"{front}# Topic {number}\n\n{body}\n", encoding="utf-8")
        with (folder / "MEMORY.md").open("a", encoding="utf-8") as index:
            index.write(f"- [Topic {number}]({name}.md) — what is known of {number}\n")
        self.truth.memories += 1

    def session(self, name: str, slug: str, size: int, *, sidechain: bool = False) -> bytes:
        """One transcript of about `size` bytes: complete lines, at least one turn."""
        parts, written, turn = list[bytes](), 0, 0
        requests: dict[str, tuple[str, dict[str, int]]] = {}
        while written < size:
            for record in self._turn(name, slug, turn, sidechain):
                line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                parts.append(line)
                written += len(line)
                if record["type"] == "assistant":
                    message = record["message"]
                    requests[str(record["requestId"])] = message["model"], message["usage"]
                if written >= size:
                    break
            turn += 1
        self.truth.count(requests)
        return b"".join(parts)

    def _size(self, mean: float | None) -> int:
        """Bytes of the next session; `mean` on average, if given."""
        if mean is not None:
            return int(mean * self._rng.lognormvariate(-0.5, 1.0))
        if self._shape == "small":
            return self._rng.randrange(1_000, 6_000)
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
                "output": self._prose(300 if self._shape != "small" else 60),
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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "folder", type=Path, help="a new folder; the truth stands beside it in FOLDER.truth.json"
    )
    parser.add_argument("--megabytes", type=float, default=100.0)
    parser.add_argument("--sessions", type=int)
    parser.add_argument("--projects", type=int, default=40)
    parser.add_argument("--memories", type=int, default=0)
    parser.add_argument("--shape", choices=SHAPES, default="long")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    if given.folder.exists():
        sys.exit(f"{given.folder} exists already; name a new folder.")
    corpus = Corpus(given.shape, given.seed)
    corpus.root(
        given.folder,
        given.megabytes,
        projects=given.projects,
        sessions=given.sessions,
        memories=given.memories,
    )
    truth = given.folder.with_name(given.folder.name + ".truth.json")
    corpus.truth.save(truth)
    print(truth.read_text(), end="")


if __name__ == "__main__":
    main()
