"""Stable 64-bit keys for ids, so that tables dedupe on an integer. Pure: no Django."""

from __future__ import annotations

from hashlib import blake2b


def key64(*parts: str) -> int:
    """A signed 64-bit key of the parts, the same on every machine and in every version.

    Signed, because that is what SQLite and PostgreSQL hold. With ten million keys the chance that any two
    collide is about 3 in a million.
    """
    digest = blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
