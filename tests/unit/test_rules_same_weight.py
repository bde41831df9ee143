"""Which doubles are asked about: a rule of a short memory, or a memory of hardly anything else. Others belong to their wholes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world.rules import dream, memory

HERE = "The reader of `ledger-worker` is drafted by Carla Castellanos.\n"
THERE = "Carla Castellanos drafts the reader of `ledger-worker`.\n"
HARBOURS = "Aalborg Bergen Calais Dieppe Esbjerg Faro Gdynia Hamina Ibiza Jaffa Kiel Leith Malaga Narvik Oslo".split()  # noqa: SIM905 - a word list
RIVERS = "Aare Bug Cher Drava Ebro Fulda Glomma Havel Inn Jiu Kemijoki Loire Moselle Neckar Oder".split()  # noqa: SIM905 - a word list


def told_with(double: str, names: list[str], statements: int) -> str:
    return double + "".join(
        f"\n{name} has berth {at} for the barges.\n"
        for at, name in enumerate(names[: statements - 1], start=31)
    )


@pytest.mark.parametrize(
    ("kind", "statements", "other_statements", "asks"),
    [
        ("project", 15, 15, False),
        ("project", 8, 15, False),
        ("reference", 8, 8, False),
        ("project", 7, 15, True),
        ("feedback", 13, 13, False),
        ("feedback", 12, 15, True),
        ("user", 4, 15, True),
        ("feedback", 15, 12, True),
    ],
)
def test_a_double_is_asked_about_where_it_has_weight(
    tmp_path: Path, kind: str, statements: int, other_statements: int, asks: bool
) -> None:
    files = {
        "MEMORY.md": "- [Readers](readers.md) — who drafts\n- [Ledger](ledger.md) — the ledger\n",
        "readers.md": memory(told_with(HERE, HARBOURS, statements), kind),
        "ledger.md": memory(told_with(THERE, RIVERS, other_statements)),
    }
    questions = dream(tmp_path, files).outcome.questions
    assert [each.kind for each in questions] == ["same"] * asks
