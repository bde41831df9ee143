"""What a generated config folder holds is known exactly, and discovery finds exactly that, whatever its size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from bench.corpus import SHAPES, Corpus
from dreams.services.discovery.run import PARTS

pytestmark = pytest.mark.django_db


def discovered(root: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    call_command("discover", root=[str(root)], json=True)
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.more
@pytest.mark.parametrize("shape", SHAPES)
def test_discovery_finds_exactly_what_a_corpus_says_that_it_holds(
    shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = Corpus(shape, seed=3)
    corpus.root(tmp_path / "root", 1.0, projects=4, memories=6)
    truth = corpus.truth
    found = discovered(tmp_path / "root", capsys)
    assert (found["projects"], found["sessions"], found["memories"]) == (4, truth.sessions, 6)
    assert found["bytes_read"] == truth.bytes
    totals = {"sessions": truth.sessions, "requests": truth.requests, "tokens": truth.tokens}
    assert found["totals"] == totals
    assert set(found["ms_by"]) == set(PARTS) and sum(found["ms_by"].values()) == found["ms"]
    again = discovered(tmp_path / "root", capsys)
    assert again["totals"] == totals and again["bytes_read"] == 0


def test_the_same_seed_gives_the_same_bytes_and_the_truth_beside_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        corpus = Corpus("small", seed=9)
        corpus.root(tmp_path / name, 0.1, projects=2, sessions=30, memories=4)
        corpus.truth.save(tmp_path / f"{name}.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert json.loads((tmp_path / "one.json").read_text())["sessions"] == 30


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_gates_tell_how_long_they_took_and_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Corpus("small", seed=1).root(tmp_path / "root", 0.05, projects=2, sessions=10)
    discovered(tmp_path / "root", capsys)
    call_command("gates", json=True)
    found = json.loads(capsys.readouterr().out)
    assert len(found["projects"]) == 2
    assert set(found["ms_by"]) == set(PARTS) and sum(found["ms_by"].values()) == found["ms"]
    assert found["totals"]["sessions"] == 10 and found["totals"]["requests"] > 0
