"""The invented projects, each different and as untidy as real ones: two tidy ones here, `orders` and `garden` in separate
modules."""

import datetime as dt

from dreams.services.demo.content import garden, orders
from dreams.services.demo.writing import Agent, Demo, DemoProject, Note, Talk, You, days

_HOMELAB_INDEX = """# Memory

- [Hosts](reference_hosts.md) — which machine does what
- [Plan before apply](feedback_plan.md) — show the plan and wait
- [Backups](project_backups.md) — nightly, kept for 30 days
"""

HOSTS = """---
name: Hosts
description: Which machine does what
type: reference
---

`basil` runs the containers, `thyme` keeps the backups, `sage` is the router.
"""

PLAN = """---
name: Plan before apply
description: Never apply without showing the plan
type: feedback
---

Show `terraform plan` and wait for a yes before `terraform apply`.

**Why:** the DNS zone was replaced once, and mail was gone for a day.
"""

BACKUPS = """---
name: Backups
description: When backups run and how long they are kept
type: project
---

Backups run every night at 03:30 and are kept for 30 days.
"""


def homelab() -> DemoProject:
    """An infrastructure repository that was tidied this morning: its gates show when the next dream may run."""
    return DemoProject(
        "homelab",
        notes=(
            Note("MEMORY.md", _HOMELAB_INDEX, days(0.4)),
            Note("reference_hosts.md", HOSTS, days(90)),
            Note("feedback_plan.md", PLAN, days(70)),
            Note("project_backups.md", BACKUPS, days(0.4)),
        ),
        talks=(
            Talk(
                "Renew the certificates",
                days(15),
                (
                    You("the certificate of the photo server runs out on Sunday, renew it"),
                    Agent(
                        "",
                        "Bash",
                        {"command": "terraform plan -target=acme_certificate.photos"},
                        "Plan: 1 to add, 0 to change, 1 to destroy.",
                    ),
                    Agent("This replaces the certificate only. Apply it?"),
                    You("yes"),
                ),
            ),
            Talk(
                "Move backups to thyme",
                days(1.5),
                (
                    You("move the nightly backups from basil to thyme"),
                    Agent(
                        "I changed the target of the timer.",
                        "Edit",
                        {"file_path": "ansible/backup.yml", "old_string": "basil:/srv/backup"},
                        "The file ansible/backup.yml has been updated.",
                    ),
                ),
            ),
            Talk(
                "Why is DNS slow",
                days(0.3),
                (
                    You("names take two seconds to resolve on the wifi"),
                    Agent(
                        "",
                        "Bash",
                        {"command": "dig @sage example.org +stats | tail -4"},
                        ";; Query time: 2014 msec",
                    ),
                    Agent("The router asks a server first that no longer answers. I would remove it."),
                ),
            ),
        ),
        files={"README.md": "# homelab\n\nThree machines under the stairs.\n"},
        consolidated=days(0.4),
    )


_BOOKSHELF_INDEX = """# Memory

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


def bookshelf() -> DemoProject:
    """A small tool with tidy notes: a dream finds nothing to do, and reports that."""
    return DemoProject(
        "bookshelf",
        notes=(
            Note("MEMORY.md", _BOOKSHELF_INDEX, days(30)),
            Note("feedback_style.md", STYLE, days(60)),
            Note("project_release.md", RELEASE, days(30)),
        ),
        talks=tuple(
            Talk(title, days(24 - 5 * number + 0.9), (You(asked), Agent(answer)))
            for number, (title, asked, answer) in enumerate(ASKED)
        ),
        files={"README.md": "# bookshelf\n\nWho has borrowed which book.\n"},
    )


def projects(now: dt.datetime) -> Demo:
    """All of them, with dates relative to `now` (aware)."""
    return Demo(now, (orders.project(now), garden.project(now), homelab(), bookshelf()))
