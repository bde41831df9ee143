"""A table of cases is one test that tries each of them and names each that fails."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.world.cases import each


def test_every_case_is_tried_and_every_failing_one_is_named() -> None:
    tried = []

    @each("word, length", [("one", 3), ("two", 4), ("three", 5), ("four", 1)])
    def check(word: str, length: int) -> None:
        tried.append(word)
        assert len(word) == length, "wrong length"

    with pytest.raises(AssertionError) as told:
        check()
    assert tried == ["one", "two", "three", "four"]
    first, *lines = str(told.value).splitlines()
    assert first == "2 of 4 cases fail:"
    assert [line for line in lines if line.startswith("[")] == [
        "['two', 4] AssertionError: wrong length",
        "['four', 1] AssertionError: wrong length",
    ]


def test_what_is_not_raised_fails_its_case() -> None:
    @each("text", ["1", "x"])
    def check(text: str) -> None:
        with pytest.raises(ValueError, match="invalid"):
            int(text)

    with pytest.raises(AssertionError, match=r"1 of 2 cases fail:\n\['1'\] Failed: DID NOT RAISE"):
        check()


def test_two_tables_are_tried_in_all_pairs_under_their_own_names() -> None:
    tried = []

    @each("a", [1, 2])
    @each("b", ["x", "y"])
    def check(a: int, b: str) -> None:
        tried.append((a, b))
        assert (a, b) != (2, "x")

    with pytest.raises(AssertionError, match=r"\[2\] AssertionError: 1 of 2 cases fail:\n\['x'\]"):
        check()
    assert tried == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


def test_fixtures_stay_asked_for_and_each_case_has_an_empty_folder_of_its_own(tmp_path: Path) -> None:
    @each("name", ["a", "b"])
    def check(tmp_path: Path, name: str) -> None:
        assert not list(tmp_path.iterdir())
        (tmp_path / name).touch()

    assert list(inspect.signature(check).parameters) == ["tmp_path"]
    check(tmp_path=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_table_without_a_case_is_no_test() -> None:
    with pytest.raises(AssertionError, match="without a case"):
        each("name", [])
