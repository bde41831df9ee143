"""Memories made of anchors that nobody touches, with one line between each two: the slots.

A three-way merge of different slots is never a conflict, so after any order of changes it is known which line each slot
must have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dreams.engines.types import Edit, Fate

INDEX = "MEMORY.md"
FILES = (INDEX, "one.md", "two.md")
SLOTS = 4
Values = dict[int, int | None]  # slot → value; None: no such line
EMPTY: Values = dict.fromkeys(range(SLOTS))


def anchor(path: str, number: int) -> str:
    if path == INDEX:
        return f"- [Anchor {number}](anchor_{number}.md) — stays"
    return f"Anchor {number} of {path} stays where it is."


def line(path: str, slot: int, value: int) -> str:
    if path == INDEX:
        return f"- [Slot {slot}](slot_{slot}.md) — value {value}"
    return f"Slot {slot} of {path} has value {value}."


def content(path: str, values: Mapping[int, int | None]) -> bytes:
    lines = ["# Memory"] if path == INDEX else [f"---\nname: {path}\ntype: project\n---"]
    for slot in range(SLOTS):
        value = values.get(slot)
        lines += [anchor(path, slot), *([line(path, slot, value)] if value is not None else [])]
    lines.append(anchor(path, SLOTS))
    joined = f"{lines[0]}\n\n" + "\n".join(lines[1:]) if path == INDEX else "\n\n".join(lines)
    return f"{joined}\n".encode()


def values_of(path: str, data: bytes) -> Values:
    """Raises AssertionError where a line is double, lost or elsewhere."""
    found = dict(EMPTY)
    for slot, value in re.findall(r"Slot (\d)\b.* value (\d+)", data.decode()):
        found[int(slot)] = int(value)
    assert content(path, found) == data, f"{path}:\n{data.decode()}"
    return found


Change = tuple[str, int, int | None]  # path, slot, new value


def edits(
    before: Mapping[str, bytes], changes: Sequence[Change], *, together: bool
) -> tuple[dict[str, bytes], list[Edit]]:
    """The files after these changes, and a step for each, as one operation or several."""
    after, made = dict(before), list[Edit]()
    for number, (path, slot, value) in enumerate(changes):
        was = after.get(path)
        now = values_of(path, was) if was is not None else EMPTY
        old = now[slot]
        if old == value:
            continue
        after[path] = content(path, {**now, slot: value})
        fates = () if old is None else (Fate(line(path, slot, old), "stated", note="So."),)
        operation = "both" if together else f"step {number}"
        before_text = None if was is None else was.decode()
        made.append(Edit(path, before_text, after[path].decode(), operation, "update", "So.", (), fates))
    return after, made


def assert_changed(
    path: str,
    was: bytes | None,
    now: bytes | None,
    base: bytes | None,
    wanted: bytes | None,
    *,
    whole: bool = True,
) -> None:
    """What changed from `was` to `now` is what changes from `base` to `wanted`: all of it where nobody else was there
    (with `whole`), and nothing else."""
    told = f"{path}: {was!r} became {now!r}, for {base!r} to {wanted!r}"
    if was is None or now is None or base is None or wanted is None:
        assert now in ((wanted,) if whole and was == base else (was, wanted)) or (now and was), told
        return
    a, b, c, d = (values_of(path, data) for data in (was, now, base, wanted))
    for slot in range(SLOTS):
        if c[slot] == d[slot]:
            assert b[slot] == a[slot], told
        elif whole and a[slot] == c[slot]:
            assert b[slot] == d[slot], told
        else:
            assert b[slot] in (a[slot], d[slot]), told
