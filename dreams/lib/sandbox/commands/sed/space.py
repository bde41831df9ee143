"""The pattern and the hold space: texts that grow at their end, put together when they are read and not with every line."""

from __future__ import annotations

from .replacing import LONGEST, too_long


class Space:
    """`sed ':a;N;$!ba;…'` adds every line of a file to one text: joined each time that would be lines times bytes."""

    __slots__ = ("_parts", "_size")

    def __init__(self, text: bytes = b"") -> None:
        self._parts, self._size = [text], len(text)

    @property
    def text(self) -> bytes:
        if len(self._parts) > 1:
            self._parts = [b"".join(self._parts)]
        return self._parts[0]

    def add(self, *more: bytes) -> None:
        """Raises LimitReached."""
        self._parts += more
        self._size += sum(map(len, more))
        if self._size > LONGEST:
            raise too_long()
