"""Ablation sees what is called and what gives something, in child processes too, and notices what a function earns."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import ablation

MODULE = """from __future__ import annotations
from functools import lru_cache

def useful(word: str) -> bool:
    return word == "yes"

def idle(word: str) -> bool:
    return False

@lru_cache
def shouted(word: str) -> str | None:
    return word.upper() if useful(word) else None

class Box:
    @property
    def many(self) -> tuple[int, ...]:
        return (1, 2)

    def each(self):
        yield from self.many

def never() -> bool:
    return True
"""
SCRIPT = """
from measured import Box, idle, shouted, useful  # as others import them
print([shouted(w) for w in ("yes", "no")], idle("x"), list(Box().each()), "ran for 3.2 seconds" if 0 else "")
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "measured.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delitem(sys.modules, "measured", raising=False)
    return f"sh -c '{sys.executable} {tmp_path}/script.py'"


def test_a_profile_counts_calls_and_what_they_gave_in_child_processes(command: str) -> None:
    counts = ablation.profile(["measured"], [command])
    assert counts["measured:shouted"] == (2, 1)
    assert counts["measured:useful"] == (2, 1)
    assert counts["measured:idle"] == (1, 0)
    assert counts["measured:Box.many"] == counts["measured:Box.each"] == (1, 1)
    assert counts["measured:never"] == (0, 0)


@pytest.mark.more
def test_what_changes_nothing_is_noticed_by_nothing_and_what_does_by_its_command(command: str) -> None:
    rows = list(ablation.switch(["measured"], [command], 20, frozenset({"measured:Box.many"})))
    said = {
        tuple(part.strip() for part in row.strip("|").split("|"))[:2]: row.split("|")[-2].strip()
        for row in rows
    }
    assert said["`measured:useful`", "False"] == said["`measured:useful`", "True"] == "1"
    assert said["`measured:idle`", "False"] == "nothing" and said["`measured:idle`", "True"] == "1"
    assert said["`measured:shouted`", "None"] == "1"
    assert said["`measured:never`", "False"] == "nothing"
    assert not any("Box.many" in row for row in rows)


def test_lines_about_time_are_not_compared_and_an_exit_code_is(tmp_path: Path) -> None:
    assert ablation.run("echo '3 passed in 1.2s'; echo good; exit 3", {}) == "good\nexit 3"
