"""What a first visit loads, compressed: under 100 KB for the pages that people come for, and no picture of text."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from django.test import Client

from memoryweb import BASE_DIR
from tests.web.test_review_page import many_files
from tests.world import every_kind as kinds

pytestmark = pytest.mark.django_db
MOST = 100_000
_LOADED = re.compile(r"<(?:link|script)[^>]*(?:href|src)=\"/static/([^\"?]+)")


def weight(browser: Client, path: str) -> int:
    """Bytes over the wire: the page and every style sheet, script and icon that it names."""
    page = browser.get(path).wire
    files = set(_LOADED.findall(page.decode()))
    assert any(name.endswith("tokens.css") for name in files)
    sent = [page, *((Path(BASE_DIR) / "static" / name).read_bytes() for name in files)]
    return sum(len(gzip.compress(part)) for part in sent)


@pytest.mark.more
def test_the_inbox_and_a_review_of_every_kind_are_light(browser: Client, tmp_path: Path) -> None:
    made = kinds.make_proposal(kinds.make_project(tmp_path))
    assert weight(browser, "/") < MOST
    assert weight(browser, f"/review/{made.public_id}/") < MOST


@pytest.mark.sweep
def test_a_review_of_two_hundred_files_is_hardly_heavier(browser: Client, tmp_path: Path) -> None:
    _, made = many_files(tmp_path, 200)
    assert weight(browser, f"/review/{made.public_id}/") < MOST
