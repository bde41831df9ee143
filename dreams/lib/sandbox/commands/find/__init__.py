"""find: the tests that look, the actions that print. Nothing that runs, removes or writes; no link is followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dreams.lib.files.safefs import SafeFsError

from ...mounts import trouble
from ...process import Process, Runner, is_folder
from .expression import Expression, parse
from .visit import Visit

_DEPTH = 64


@dataclass(slots=True)
class _Walk:
    process: Process
    expression: Expression
    out: list[bytes] = field(default_factory=list)
    stopped: bool = False

    def from_operand(self, path: str) -> Iterator[bytes]:
        try:
            stat = self.process.stat(path)
        except (OSError, SafeFsError) as error:
            self.process.complain(f"'{path}': {trouble(error)}")
            return
        name = path.rstrip("/").rsplit("/", 1)[-1] or "/"
        yield from self._visit(Visit(path, name, stat, 0, path, self.process, self.out))

    def _visit(self, visit: Visit) -> Iterator[bytes]:
        if self.stopped:
            return
        self.process.meter.tick()
        if not self.expression.depth_first:
            yield from self._judge(visit)
        descend = (
            is_folder(visit.stat) and visit.depth < min(self.expression.deepest, _DEPTH) and not self.stopped
        )
        if descend and (self.expression.depth_first or not visit.pruned):
            yield from self._below(visit)
        if self.expression.depth_first and not self.stopped:
            yield from self._judge(visit)

    def _judge(self, visit: Visit) -> Iterator[bytes]:
        if visit.depth >= self.expression.shallowest:
            self.expression.test(visit)
            self.stopped = visit.quit
        if self.out:
            yield b"".join(self.out)
            self.out.clear()

    def _below(self, visit: Visit) -> Iterator[bytes]:
        process = self.process
        try:
            entries = process.tree.entries(process.tree.place(visit.path, process.cwd))
        except (OSError, SafeFsError) as error:
            process.complain(f"'{visit.path}': {trouble(error)}")
            return
        process.meter.saw(len(entries))
        base = visit.path if visit.path.endswith("/") else visit.path + "/"
        for entry in entries:
            below = Visit(
                base + entry.name, entry.name, entry.stat, visit.depth + 1, visit.start, process, self.out
            )
            yield from self._visit(below)


def find(name: str, argv: list[str]) -> Runner:
    paths, expression = parse(argv)

    def run(process: Process) -> Iterator[bytes]:
        prepared = expression.prepared(process)
        walk = _Walk(process, prepared)
        for path in paths or ["."]:
            if not walk.stopped:
                yield from walk.from_operand(path)

    return run


COMMANDS = {"find": find}
