"""Bash, Read, Grep and Glob over mounts, run by a separate process that can do nothing else. PURE: no Django.

This is the caller's side: it starts the worker, sends calls, and kills it if a call takes too long or all is done. `worker`
is the process, `tools` are the tools, `fences` the protection by the operating system.
"""

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dreams.lib.json_worker import JsonWorker, WorkerFailed, WorkerTooSlow
from dreams.lib.sandbox.process import TIMED_OUT
from dreams.lib.sandbox.shell import CommandOutput
from dreams.lib.sandbox.tool_worker import fences
from dreams.lib.sandbox.tool_worker.fences import Fences
from dreams.lib.sandbox.tool_worker.tools import NAMES, ToolReply

CALL_SECONDS = 10.0  # the tools stop a second before; compiled code (jq) cannot, and is killed here
START_SECONDS = 30.0  # also on a busy machine; chosen
LONGEST = 4 * 1024 * 1024  # of one request; chosen
MOST_STARTS = 5  # of one dream; chosen


@dataclass(frozen=True, slots=True)
class Mounts:
    """The mounts: (name, folder, the real paths that lead to it)."""

    rows: tuple[tuple[str, str, tuple[str, ...]], ...]

    @property
    def folders(self) -> list[str]:
        return [folder for _, folder, _ in self.rows]

    def as_json(self) -> list[dict[str, object]]:
        return [{"name": name, "folder": folder, "stands_for": aka} for name, folder, aka in self.rows]


class ToolWorker:
    """Bash, Read, Grep and Glob. Calls from several threads run one after the other."""

    names = NAMES

    def __init__(
        self,
        mounts: Mounts,
        *,
        call_seconds: float = CALL_SECONDS,
        most_starts: int = MOST_STARTS,
        bwrap: str | None = None,
    ) -> None:
        """`bwrap` is the path of bubblewrap, "" for none; by default, the installed one. Raises WorkerFailed."""
        self._mounts = mounts
        self._call_seconds = call_seconds
        self._most_starts = most_starts
        self._bwrap = fences.bubblewrap_found() if bwrap is None else bwrap
        self._lock = threading.Lock()
        self._worker: JsonWorker | None = None
        self._starts = 0
        self._closed = False
        self.fences = Fences()
        self._start()

    def run(self, name: str, given: Mapping[str, Any]) -> ToolReply:
        """Runs one call. Never raises: if a worker died or hung, the answer says so, and a new one is started."""
        try:
            answer = self._ask({"name": name, "input": dict(given)})
            return ToolReply(str(answer["text"]), bool(answer["refused"]))
        except WorkerFailed as error:
            return ToolReply(f"Not done: {error}. Make the call smaller.", refused=True)

    def run_line(self, line: str, cwd: str = "/") -> CommandOutput:
        """Runs a person's command line; returns its status too. Never raises."""
        started = time.perf_counter()
        try:
            answer = self._ask({"name": "line", "input": {"line": line, "cwd": cwd}})
            return CommandOutput(answer["output"], answer["exit_code"], answer["refused"], answer["ms"])
        except (WorkerFailed, KeyError) as error:
            status = TIMED_OUT if isinstance(error, WorkerTooSlow) else 1
            ms = round((time.perf_counter() - started) * 1000, 3)
            return CommandOutput(f"[stopped: {error}; narrow the command]\n", status, refused=False, ms=ms)

    def close(self) -> None:
        """Ends the worker at once, even during a call."""
        self._closed = True
        worker = self._worker
        if worker is not None:
            worker.kill()
        with self._lock:
            self._end()

    # --- The process ----------------------------------------------------------------------------------------------

    def _ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The worker's answer; a failed worker is ended, and the next call starts another."""
        if len(json.dumps(asked)) >= LONGEST:
            raise WorkerFailed("the call is too long")
        with self._lock:
            try:
                return (self._worker or self._start()).ask(asked, self._call_seconds)
            except WorkerFailed:
                self._end()
                raise

    def _start(self) -> JsonWorker:
        self._starts += 1
        if self._closed or self._starts > self._most_starts:
            raise WorkerFailed("the reading tools are not available any more")
        trouble = fences.bubblewrap_trouble(self._bwrap)
        if not trouble:
            try:
                return self._launch(
                    fences.command(self._bwrap, self._mounts.folders, root=os.geteuid() == 0), ""
                )
            except WorkerFailed:
                # bubblewrap works, but not with these folders (one below a link, say): better no bubblewrap than no dream.
                self._end()
                trouble = "bubblewrap does not take these folders"
        return self._launch((), trouble)

    def _launch(self, around: Sequence[str], trouble: str) -> JsonWorker:
        worker = self._worker = JsonWorker("dreams.lib.sandbox.tool_worker.worker", around)
        hello = worker.ask(self._mounts.as_json(), START_SECONDS)
        self.fences = Fences(int(hello.get("landlock", 0)), bool(around), trouble)
        return worker

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()
