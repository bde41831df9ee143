"""The page of the docs on history names the limits that the code has."""

from __future__ import annotations

from pathlib import Path

from dreams.services.memories import blame
from dreams.web.pages.blame import ORIGINS

DOC = (Path(__file__).resolve().parents[2] / "docs" / "history.md").read_text(encoding="utf-8")


def test_the_limits_of_blame_are_those_of_the_code() -> None:
    text = " ".join(DOC.split())
    assert f"The newest {blame.MAX_STATES} versions are compared" in text
    assert f"at most {blame.MAX_BYTES >> 20} MB of text" in text
    assert f"The newest {blame.MAX_WRITES} writes of agents are" in text


def test_every_kind_of_origin_is_explained() -> None:
    named = {"dream": "**a dream**", "session": "**a session**", "hand": "**by hand**"}
    for kind in ORIGINS:
        assert named.get(kind, f"**{kind}**") in DOC
