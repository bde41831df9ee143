"""The agent's Bash: parses a command line, runs pure-Python commands over the mounts, and returns text."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox import globbing, tokenizer
from dreams.lib.sandbox.commands import find_command, unknown
from dreams.lib.sandbox.mounts import Tree, normal, trouble
from dreams.lib.sandbox.process import (
    CommandLimits,
    CommandMeter,
    Process,
    Refused,
    Runner,
    SandboxLimit,
    UsageError,
)
from dreams.lib.sandbox.tokenizer import Pipeline, Simple
from dreams.lib.secrets import redact

FAULT = 70  # EX_SOFTWARE


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """The output for the agent. `stdout` is the last commands' output, without errors and notes."""

    output: str
    exit_code: int
    refused: bool
    ms: float
    stdout: bytes = b""
    cut: bool = False


class Shell:
    """Runs command lines one after the other; they share nothing but the mounts."""

    def __init__(self, tree: Tree, cwd: str = "/", limits: CommandLimits | None = None) -> None:
        self._tree = tree
        self._cwd = normal(cwd)
        self._limits = limits or CommandLimits()

    def run(self, line: str) -> CommandOutput:
        """Runs one command line. Never raises for anything in `line`."""
        started = time.perf_counter()
        sink = Sink(self._limits.output_chars)
        status, refused = self._answer(line, sink)
        ms = (time.perf_counter() - started) * 1000
        return CommandOutput(sink.text(), status, refused, round(ms, 3), bytes(sink.stdout), sink.cut)

    def _answer(self, line: str, sink: "Sink") -> tuple[int, bool]:
        try:
            pipelines = tokenizer.parse(line)
            for pipeline in pipelines:
                _check(pipeline)
            return _CommandLine(self._tree, self._cwd, CommandMeter(self._limits), time.time(), sink).all(
                pipelines
            ), False
        except Refused as refusal:
            sink.only(f"refused: {refusal}. Nothing was run.")
            return 1, True
        except SandboxLimit as reached:
            sink.note(str(reached))
            return reached.status, False
        except Exception as error:
            # A bug of ours in one line must not end the agent's session.
            sink.note(
                f"stopped by a fault of this shell ({type(error).__name__}); write the command differently"
            )
            return FAULT, False


def _check(pipeline: Pipeline) -> None:
    """Refuses a line before anything runs: it is run completely or not at all."""
    for simple in pipeline.commands:
        name, argv = simple.words[0], [word.text for word in simple.words[1:]]
        if name.glob is not None:
            raise Refused(f"{name.text!r}: a wildcard in the place of a command")
        try:
            _compiled(name.text, argv)
        except UsageError:
            continue  # reported when it is run


def _compiled(name: str, argv: list[str]) -> Runner:
    compile_command = find_command(name)
    if compile_command is None:
        raise Refused(unknown(name))
    return compile_command(name, argv)


class _CommandLine:
    """One running line: the folder that `cd` changes, and the status that && and || check."""

    def __init__(self, tree: Tree, cwd: str, meter: CommandMeter, now: float, sink: "Sink") -> None:
        self._tree = tree
        self._cwd = cwd
        self._meter = meter
        self._now = now
        self._sink = sink
        self._status = 0

    def all(self, pipelines: list[Pipeline]) -> int:
        for pipeline in pipelines:
            skipped = {"&&": self._status != 0, "||": self._status == 0, ";": False}[pipeline.after]
            if not skipped and not self._sink.cut:
                self._status = self._pipeline(pipeline)
        return self._status

    def _pipeline(self, pipeline: Pipeline) -> int:
        stream: Iterator[bytes] = iter(())
        opened: list[Iterator[bytes]] = []
        process: Process | None = None
        for simple in pipeline.commands:
            process, stream = self._start(simple, stream)
            opened.append(stream)
        try:
            self._sink.drain(stream, self._meter)
        finally:
            # Earlier commands of the pipeline that were not read to the end have open files.
            for one in reversed(opened):
                _close(one)
        assert process is not None  # noqa: S101 - a pipeline holds at least one command
        if process.new_cwd is not None and len(pipeline.commands) == 1:
            self._cwd = process.new_cwd
        return process.status

    def _start(self, simple: Simple, stdin: Iterator[bytes]) -> tuple[Process, Iterator[bytes]]:
        pending: list[bytes] = []
        targets: dict[str, Callable[[bytes], None]] = {
            "shown": self._sink.take,
            "dropped": lambda data: None,
            "joined": pending.append,
        }
        process = Process(
            name=simple.words[0].text,
            tree=self._tree,
            cwd=self._cwd,
            stdin=stdin,
            meter=self._meter,
            now=self._now,
            stderr=targets[simple.stderr],
        )
        if simple.stdin is not None:
            found = process.attempt(process.chunks, simple.stdin if simple.stdin != "-" else "./-")
            if found is None:
                return process, iter(())
            process.stdin = found
        argv = globbing.expand(simple.words[1:], self._tree, self._cwd, self._meter)
        stream = _spawn([process.name, *argv], process)
        return process, _joined(stream, pending) if simple.stderr == "joined" else stream


def _spawn(argv: list[str], process: Process) -> Iterator[bytes]:
    """The output of one command. Errors in a file or an argument become error lines."""
    try:
        runner = _compiled(argv[0], argv[1:])
    except UsageError as error:
        process.complain(str(error), error.status)
        return iter(())
    return _guarded(runner, process)


def _guarded(runner: Runner, process: Process) -> Iterator[bytes]:
    stream: Iterator[bytes] = iter(())
    try:
        stream = runner(process)
        for chunk in stream:
            process.meter.tick()
            if chunk:  # an empty piece would look like the end
                yield chunk
    except UsageError as error:
        process.complain(str(error), error.status)
    except (OSError, SafeFsError) as error:
        process.complain(trouble(error))
    finally:
        _close(stream)


def _joined(stream: Iterator[bytes], pending: list[bytes]) -> Iterator[bytes]:
    """The output, with error lines before the piece they precede."""
    try:
        for chunk in stream:
            yield b"".join(pending) + chunk
            pending.clear()
        yield b"".join(pending)
    finally:
        _close(stream)


def _close(stream: Iterator[bytes]) -> None:
    close = getattr(stream, "close", None)
    if close is not None:
        close()


class Sink:
    """Collects output and errors in order. At the limit the line stops."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._all = bytearray()
        self.stdout = bytearray()
        self._notes: list[str] = []
        self.cut = False

    def drain(self, stream: Iterator[bytes], meter: CommandMeter) -> None:
        """Reads a stream until its end or the limit."""
        for chunk in stream:
            meter.tick()
            self.take(chunk)
            self.stdout += chunk[: self._cap * 4]
            if self.cut:
                return

    def note(self, text: str) -> None:
        self._notes.append(f"[{text}]")

    def only(self, text: str) -> None:
        """Replaces all output: a refused line has none."""
        self._all.clear()
        self.stdout.clear()
        self._notes = [text]

    def take(self, data: bytes) -> None:
        # A character has at most four bytes: after this many, the limit in characters is certainly reached.
        room = self._cap * 4 + 4 - len(self._all)
        self._all += data[: max(room, 0)]
        if len(self._all) > self._cap and not self.cut:
            self.cut = len(data) > room or len(self._decoded()) > self._cap

    def _decoded(self) -> str:
        return self._all.decode("utf-8", "replace")

    def text(self) -> str:
        shown = self._decoded()
        if self.cut:
            shown = redact.cut(shown, self._cap)
            self.note(f"output cut at {self._cap:,} characters; narrow the command, or add | head or | tail")
        if self._notes and shown and not shown.endswith("\n"):
            shown += "\n"
        return shown + "".join(note + "\n" for note in self._notes)
