"""A folder that is swapped for a link while tools, workspace and apply go through it never leads outside."""

from pathlib import Path

import pytest

from bench.swap_race import race


@pytest.mark.more
def test_nothing_outside_is_shown_or_touched_while_names_are_swapped(tmp_path: Path) -> None:
    figures = race(tmp_path.resolve(), 2.0)
    assert figures.leaks == 0 and figures.outside_untouched
    # Each way has really gone through the names, and really met the link. An apply is all or nothing, so the link
    # may keep it from ever getting through.
    for name, count in figures.by_name.items():
        assert count.tries and (count.through or name.startswith("apply")), figures
    assert sum(count.refused for count in figures.by_name.values()), figures
