"""A fact belongs to the heading, label, row or column that it is said of: what only moves is kept, what changes places is not."""

from __future__ import annotations

from dreams.findings import examine
from dreams.findings.directories import between
from tests.world.cases import each
from tests.world.findings import codes

LOSS = "unexplained-loss"
TWO = "# Settings\n\n## Staging\n\n- Port: {}\n- Cache: {}\n\n## Production\n\n- Port: {}\n- Cache: {}\n"
LABELS = TWO.replace("## Staging", "**Staging:**").replace("## Production", "**Production:**")
TABLE = (
    "# Servers\n\n| Host | Port | Timeout |\n|---|---|---|\n| alpha | 8080 | 30 s |\n| beta | 9090 | 45 s |\n"
)


def told(before: str | dict[str, str], after: str | dict[str, str]) -> list[str]:
    states = ({"a.md": each} if isinstance(each, str) else each for each in (before, after))
    return codes(
        examine(between(*({path: text.encode() for path, text in files.items()} for files in states)))
    )


@each("text", [TWO, LABELS])
@each("values", [("9090", "on", "8080", "off"), ("8080", "off", "9090", "on")])
def test_values_that_change_places_below_two_headings_or_labels_are_lost(text, values):
    assert LOSS in told(text.format("8080", "on", "9090", "off"), text.format(*values))


def test_values_that_change_places_between_two_files_are_lost():
    before = {"staging.md": "# Staging\n\n- Port: 8080\n", "production.md": "# Production\n\n- Port: 9090\n"}
    after = {"staging.md": "# Staging\n\n- Port: 9090\n", "production.md": "# Production\n\n- Port: 8080\n"}
    assert LOSS in told(before, after)
    assert LOSS not in told(before, {"servers.md": before["production.md"] + "\n" + before["staging.md"]})


def test_code_that_changes_places_below_two_headings_is_lost():
    text = "# Ship\n\n## Staging\n\n```\n{}\n```\n\n## Production\n\n```\n{}\n```\n"
    assert LOSS in told(text.format("make ship", "make push"), text.format("make push", "make ship"))


def test_a_value_that_changes_below_one_heading_is_lost_though_the_other_heading_has_it():
    assert LOSS in told(TWO.format("80", "on", "80", "off"), TWO.format("443", "on", "80", "off"))


def test_sections_and_bullets_that_only_move_are_no_loss():
    text = TWO.format("8080", "on", "9090", "off")
    head, staging, production = text.split("## ")
    assert LOSS not in told(text, f"{head}## {production}\n## {staging}")
    notes = "# Notes\n\n## Bugs\n\n- Uploads hang on Fridays\n- Search times out\n\n## Ideas\n\n- Cache the search\n"
    moved = "# Notes\n\n## Bugs\n\n- Uploads hang on Fridays\n\n## Ideas\n\n- Cache the search\n- Search times out\n"
    assert LOSS not in told(notes, moved)


def test_what_follows_a_label_stays_with_it():
    before = "- **lint**: checks the style of every file\n- **build**: packs the app for release\n"
    crossed = "- **lint**: packs the app for release\n- **build**: checks the style of every file\n"
    assert LOSS in told(before, crossed)
    below = "### lint\n\nchecks the style of every file\n\n### build\n\npacks the app for release\n"
    assert LOSS not in told(before, below)


@each(
    ("old", "new"),
    [("| 8080 | 30 s |", "| 9090 | 30 s |"), ("| Port | Timeout |", "| Timeout | Port |"), ("8080 | 30 s", "30 s | 8080")],
)  # fmt: skip
def test_a_cell_belongs_to_its_row_and_to_its_column(old, new):
    after = TABLE.replace(old, new).replace(
        "beta | 9090", "beta | 8080" if "9090 | 30" in new else "beta | 9090"
    )
    assert LOSS in told(TABLE, after)


def test_columns_that_move_with_their_cells_are_no_loss():
    after = "# Servers\n\n| Host | Timeout | Port |\n|---|---|---|\n| beta | 45 s | 9090 |\n| alpha | 30 s | 8080 |\n"
    assert LOSS not in told(TABLE, after)


def test_the_finding_names_what_stands_in_a_statements_place():
    states = (
        {"a.md": TWO.format(*values).encode()} for values in (("1", "a", "2", "a"), ("2", "a", "1", "a"))
    )
    found = examine(between(*states))
    losses = [each for each in found.findings if each.code == LOSS]
    assert len(losses) == 2
    assert "has taken its place" in losses[0].message
