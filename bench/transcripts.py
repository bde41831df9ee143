"""How fast transcripts are read, as a ratio to bare reading: `python bench/transcripts.py [--megabytes N] [--small N]`.

A corpus with a fixed seed is written to a temporary folder: tool output of all sizes, progress lines, repeated and
growing usage, forks that copy most lines, sub-agents. Ratios, not seconds: the machine's noise cancels out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dreams.transcripts import Reader, Scan, UsageRow, keep_best, scan, without_replays

WORDS = [
    "the",
    "of",
    "build",
    "test",
    "cache",
    "index",
    "user",
    "memory",
    "file",
    "line",
    "read",
    "write",
    "commit",
    "branch",
    "error",
    "fix",
    "\\n",
    '"',
    "ü",
]


def prose(rng: random.Random, size: int) -> str:
    piece = " ".join(rng.choices(WORDS, k=400))
    return (piece * (size // len(piece) + 1))[:size]


def session_lines(rng: random.Random, name: str, turns: int) -> Iterator[dict[str, object]]:
    for turn in range(turns):
        base = {
            "parentUuid": f"{rng.getrandbits(128):032x}",
            "isSidechain": False,
            "cwd": "/home/dev/app",
            "sessionId": name,
            "version": "2.1.200",
            "gitBranch": "main",
            "timestamp": f"2026-03-{1 + turn % 28:02d}T10:{turn % 60:02d}:00.000Z",
        }
        if turn % 10 == 0:
            yield {
                **base,
                "type": "user",
                "uuid": _id(rng),
                "message": {"role": "user", "content": prose(rng, 80)},
            }
        usage = {"input_tokens": rng.randrange(9), "cache_read_input_tokens": rng.randrange(90_000)}
        usage |= {"cache_creation_input_tokens": rng.randrange(2_000)}
        message = {"id": f"msg_{_id(rng)}", "role": "assistant", "model": f"claude-{rng.randrange(3)}"}
        request = f"req_{_id(rng)}"
        final = rng.randrange(2, 4_000)
        for output in (1, final, final):
            content = [{"type": "text", "text": prose(rng, rng.choice((100, 900)))}]
            whole = {**message, "content": content, "usage": {**usage, "output_tokens": output}}
            yield {**base, "type": "assistant", "uuid": _id(rng), "requestId": request, "message": whole}
        output_text = prose(rng, int(rng.paretovariate(1.1) * 1_500) % 2_000_000)
        result = [{"type": "tool_result", "tool_use_id": "t", "content": output_text}]
        body = {"role": "user", "content": result}
        tool = {"stdout": output_text, "stderr": "", "interrupted": False}
        yield {**base, "type": "user", "uuid": _id(rng), "message": body, "toolUseResult": tool}
        for _ in range(4):
            yield {
                **base,
                "type": "progress",
                "uuid": _id(rng),
                "data": {"type": "hook", "command": prose(rng, 300)},
            }


def _id(rng: random.Random) -> str:
    return f"{rng.getrandbits(128):032x}"


def corpus(folder: Path, megabytes: int, small: int) -> None:
    """`megabytes` of ordinary sessions, each fifth a fork of the one before, and `small` tiny ones."""
    rng = random.Random(7)
    written, number, last = 0, 0, b""
    while written < megabytes << 20:
        name = f"{number:08x}"
        fork = number % 5 == 4
        lines = session_lines(rng, name, rng.choice((5, 40, 200)))
        data = (last if fork else b"") + b"".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines
        )
        (folder / f"{name}.jsonl").write_bytes(data)
        written, number, last = written + len(data), number + 1, data[: 4 << 20].rpartition(b"\n")[0] + b"\n"
    for tiny in range(small):
        line = next(session_lines(rng, f"t{tiny}", 1))
        (folder / f"t{tiny:07d}.jsonl").write_bytes(json.dumps(line).encode() + b"\n")


def bare(paths: list[Path]) -> None:
    buffer = bytearray(1 << 20)
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def records(paths: list[Path]) -> int:
    reader = Reader()
    return sum(1 for path in paths for _ in reader.read(path))


def rows(paths: list[Path]) -> list[UsageRow]:
    reader, best = Reader(), dict[int, UsageRow]()
    for path in paths:
        for batch in scan(path, Scan(), reader=reader):
            for row in batch.usage.values():
                keep_best(best, row)
    return without_replays(best.values())


def plain(paths: list[Path]) -> dict[tuple[str, str], dict[str, int]]:
    """The same totals by the plainest code: what the fast way is checked against."""
    best: dict[tuple[str, str], dict[str, int]] = {}
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                record = json.loads(line)
                usage = record.get("message", {}).get("usage")
                if usage:
                    key = (record["message"]["id"], record["requestId"])
                    if key not in best or sum(usage.values()) > sum(best[key].values()):
                        best[key] = usage
    return best


def timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def best_of(work: Callable[[], object], times: int = 3) -> float:
    return min(timed(work)[0] for _ in range(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--small", type=int, default=2_000)
    parser.add_argument("--keep", type=Path, help="write the corpus here and leave it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        corpus(folder, options.megabytes, options.small)
        measure(sorted(folder.glob("*.jsonl")))


def measure(paths: list[Path]) -> None:
    size = sum(path.stat().st_size for path in paths)
    base = best_of(lambda: bare(paths))
    print(f"{len(paths)} files, {size / 1e6:.0f} MB; bare reading {base:.3f} s = 1.0")
    for name, work in (("records", records), ("scan, all rows", rows)):
        seconds = best_of(lambda work=work: work(paths))  # type: ignore[misc]
        print(f"{name:16} {seconds / base:5.1f} x   {size / seconds / 1e6:6.0f} MB/s")
    exact(paths)
    appended(max(paths, key=lambda path: path.stat().st_size))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def exact(paths: list[Path]) -> None:
    seconds, expected = timed(lambda: plain(paths))
    assert isinstance(expected, dict)
    found = rows(paths)
    totals = [
        sum(row.input for row in found),
        sum(row.output for row in found),
        sum(row.cache_read for row in found),
    ]
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens")
    assert totals == [sum(usage[name] for usage in expected.values()) for name in names], "totals differ"
    print(f"{len(found)} requests, totals exact against plain json ({seconds:.2f} s)")


def appended(path: Path) -> None:
    """One line appended to the biggest file costs that line."""
    state = Scan()
    for _ in scan(path, state):
        pass
    before = state.cursor.offset
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"new","message":{"role":"user","content":"one more"}}\n')
    seconds, batches = timed(lambda: list(scan(path, state)))
    assert isinstance(batches, list)
    read = sum(batch.bytes_read for batch in batches)
    print(
        f"one line appended to {os.fspath(path.name)} ({before / 1e6:.0f} MB): {read} bytes, {seconds * 1e3:.2f} ms"
    )


if __name__ == "__main__":
    main()
