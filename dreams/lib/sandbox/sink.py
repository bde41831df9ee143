"""Where output ends up: capped, decoded once, with a note where something was left out."""

from __future__ import annotations

from collections.abc import Iterator

from .limits import Meter


class Sink:
    """Output and errors in the order they came. After the cap nothing more is taken and the line stops."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._all = bytearray()
        self.stdout = bytearray()
        self._notes: list[str] = []
        self.cut = False

    def drain(self, stream: Iterator[bytes], meter: Meter) -> None:
        """Take a stream until it ends or the cap is met."""
        for chunk in stream:
            meter.tick()
            self._take(chunk)
            self.stdout += chunk[: self._cap * 4]
            if self.cut:
                return

    def error(self, data: bytes) -> None:
        self._take(data)

    def note(self, text: str) -> None:
        self._notes.append(f"[{text}]")

    def only(self, text: str) -> None:
        """Forget everything else: a refused line has no output."""
        self._all.clear()
        self.stdout.clear()
        self._notes = [text]

    def _take(self, data: bytes) -> None:
        # A character has at most four bytes: past this, the cap in characters is surely met.
        room = self._cap * 4 + 4 - len(self._all)
        self._all += data[: max(room, 0)]
        if len(self._all) > self._cap and not self.cut:
            self.cut = len(data) > room or len(self._decoded()) > self._cap

    def _decoded(self) -> str:
        return self._all.decode("utf-8", "replace")

    def text(self) -> str:
        shown = self._decoded()
        if self.cut:
            shown = shown[: self._cap]
            self.note(f"output cut at {self._cap:,} characters; narrow the command, or add | head or | tail")
        if self._notes and shown and not shown.endswith("\n"):
            shown += "\n"
        return shown + "".join(note + "\n" for note in self._notes)
