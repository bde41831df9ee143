"""An infrastructure repository that was tidied this morning: its gates say when the next dream may be."""

from __future__ import annotations

import datetime as dt

from dreams.services.demo.writing import Agent, DemoProject, Note, Talk, You, days

INDEX = """# Memory

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


def project(now: dt.datetime) -> DemoProject:
    return DemoProject(
        "homelab",
        notes=(
            Note("MEMORY.md", INDEX, days(0.4)),
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
