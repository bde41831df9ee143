"""A small tool whose notes are in order: a dream finds nothing to do, and says so."""

from __future__ import annotations

import datetime as dt

from dreams.services.demo.writing import Agent, DemoProject, Note, Talk, You, days

INDEX = """# Memory

- [Style](feedback_style.md) — small functions, no classes where a function will do
- [Release](project_release.md) — tags are signed, the changelog comes first
"""

STYLE = """---
name: Style
description: How code is written here
type: feedback
---

Small functions; no classes where a function will do.
"""

RELEASE = """---
name: Release
description: How a release is made
type: project
---

The changelog is written first; then the version is tagged, and the tag is signed.
"""

ASKED = (
    ("List books by shelf", "list the books grouped by shelf", "`bookshelf list --by shelf` does it now."),
    ("Import from CSV", "import the books in export.csv", "212 books were imported, 3 rows had no title."),
    ("Faster search", "search is slow for one letter", "It waits for the second letter now."),
    ("Typo in the help", "there is a typo in the help of `lend`", "Corrected."),
    ("Colours in the list", "mark lent books in the list", "They are dimmed, and marked with a dot."),
)


def project(now: dt.datetime) -> DemoProject:
    return DemoProject(
        "bookshelf",
        notes=(
            Note("MEMORY.md", INDEX, days(30)),
            Note("feedback_style.md", STYLE, days(60)),
            Note("project_release.md", RELEASE, days(30)),
        ),
        talks=tuple(
            Talk(title, days(24 - 5 * number + 0.9), (You(asked), Agent(answer)))
            for number, (title, asked, answer) in enumerate(ASKED)
        ),
        files={"README.md": "# bookshelf\n\nWho has borrowed which book.\n"},
    )
