"""Edits of notes as careful people make them are no loss; what leaves is told, whatever kind of fact it is."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

from dreams.findings import examine
from dreams.findings.directories import between
from tests.world.cases import each

BUILD = """\
---
name: project_build
description: Build and release of the shop
type: project
---

Run `make check` before pushing. CI runs the same target on every branch.

## Rules

- Integration tests hit a real Postgres 16 database, never mocks.
- The billing worker retries failed charges 3 times with a delay of 30 seconds.
- Do not edit files under `vendor/`, they are overwritten by the sync job.
- Feature flags live in `config/flags.yaml` and are reloaded every 5 minutes.
"""
PEOPLE = """\
---
name: user_team
description: Who does what in the shop team
type: user
---

- Ana reviews every schema change before it is merged.
- Tomás owns the notification service, Priya the reporting pipeline.
- Since 2026-01-14 uploads go through the media gateway instead of S3 directly.
- The staging database is restored from production every Monday, with names masked.
- The user works from Lisbon and is online from 09:00 to 17:00.
"""
RUNS = """\
---
name: runbook
description: How the shop is run
type: reference
---

| Service | Port | Owner |
|---|---|---|
| gateway | 8443 | Ana |
| billing | 9443 | Bob |

```sh
# nightly copy of the orders
pg_dump -Fc shop_prod > /srv/backup/orders.dump
systemctl restart billing-worker
```

If no owner is named, ask first. A change that is not tested is never done. The commit check ran twice, and the user was burned by it.
Errors are written to `/var/log/shop.log`, rotated at 50 MB by logrotate.
"""
INDEX = "# Memory\n\n- [Build](build.md) — build and release of the shop\n- [Team](team.md) — who does what\n"
FILES = {"MEMORY.md": INDEX, "build.md": BUILD, "team.md": PEOPLE, "runs.md": RUNS}
Edit = Callable[[dict[str, str]], None]


def change(path: str, old: str, new: str) -> Edit:
    def edit(files: dict[str, str]) -> None:
        assert old in files[path]
        files[path] = files[path].replace(old, new, 1)

    return edit


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


def move(files: dict[str, str]) -> None:
    line = rows(files["team.md"])[1]
    files["team.md"] = files["team.md"].replace(line + "\n", "")
    files["build.md"] += line + "\n"


def turn(files: dict[str, str]) -> None:
    lines = rows(files["team.md"])
    head = files["team.md"].split("- ", 1)[0]
    files["team.md"] = head + "\n".join(reversed(lines)) + "\n"


def split(files: dict[str, str]) -> None:
    lines = rows(files["team.md"])[3:]
    for line in lines:
        files["team.md"] = files["team.md"].replace(line + "\n", "")
    files["ops.md"] = (
        "---\nname: ops\ndescription: Operations\ntype: project\n---\n\n" + "\n".join(lines) + "\n"
    )
    files["MEMORY.md"] += "- [Operations](ops.md) — operations\n"


def merge(files: dict[str, str]) -> None:
    files["build.md"] += (
        "\n## Who does what in the shop team\n\n" + files.pop("team.md").split("---\n\n", 1)[1]
    )
    files["MEMORY.md"] = files["MEMORY.md"].replace("- [Team](team.md) — who does what\n", "")


def wrap(files: dict[str, str]) -> None:
    for line in rows(files["build.md"]):
        files["build.md"] = files["build.md"].replace(line, textwrap.fill(line, 40, subsequent_indent="  "))


def prose(files: dict[str, str]) -> None:
    head, body = files["team.md"].split("---\n\n", 1)
    files["team.md"] = head + "---\n\n" + " ".join(line[2:] for line in rows(body)) + "\n"


def table(files: dict[str, str]) -> None:
    head, body = files["team.md"].split("---\n\n", 1)
    cells = "\n".join(f"| {line[2:]} |" for line in rows(body))
    files["team.md"] = f"{head}---\n\n| What |\n|---|\n{cells}\n"


def bullets(files: dict[str, str]) -> None:
    change("build.md", "Run `make check` before pushing. CI", "- Run `make check` before pushing.\n- CI")(
        files
    )


CAREFUL = {
    "moved to another file": move,
    "another order": turn,
    "a file split": split,
    "two files merged": merge,
    "wrapped anew": wrap,
    "a list made prose": prose,
    "prose made a list": bullets,
    "a list made a table": table,
    "another heading": change("build.md", "## Rules", "## Conventions"),
    "a row cut short": change("MEMORY.md", " — who does what", ""),
    "an article gone": change("team.md", "the notification", "notification"),
    "another word for it": change("team.md", "reviews every schema", "reviews each schema"),
    "a short form": change("build.md", "Do not edit", "Don't edit"),
    "emphasis": change("team.md", "- Ana", "- **Ana**"),
    "a sentence in two": change("build.md", "flags.yaml` and are", "flags.yaml`.\n- Feature flags are"),
    "a table made a list": lambda files: files.update(
        {
            "runs.md": RUNS.replace(
                RUNS[RUNS.index("| Service") : RUNS.index("```sh")],
                "- Service: gateway; Port: 8443; Owner: Ana\n- Service: billing; Port: 9443; Owner: Bob\n\n",
            )
        }
    ),
    "cells padded anew": change("runs.md", "| gateway | 8443 | Ana |", "|  gateway  |   8443 |Ana|"),
    "code moved": lambda files: files.update(
        {
            "runs.md": RUNS.replace(RUNS[RUNS.index("```sh") : RUNS.index("If no")], ""),
            "build.md": BUILD + "\n" + RUNS[RUNS.index("```sh") : RUNS.index("If no")],
        }
    ),
    "other words for it": change(
        "team.md", "Tomás owns the notification service", "Tomás is responsible for the notification service"
    ),
    "told the other way round": change(
        "runs.md", "If no owner is named, ask first.", "Ask first if no owner is named."
    ),
    "active for passive": change(
        "runs.md", "rotated at 50 MB by logrotate", "which logrotate rotates at 50 MB"
    ),
    "two denials for one": change(
        "build.md", "Do not edit files under", "Don't change, and do not edit, files under"
    ),
    "in other words in another file": lambda files: files.update(
        {
            "team.md": PEOPLE.replace(rows(PEOPLE)[1] + "\n", ""),
            "build.md": BUILD
            + "- The reporting pipeline is owned by Priya, the notification service by Tomás.\n",
        }
    ),
    "a detail more": change("team.md", "is merged.", "is merged (asked for by the user)."),
}
LOST = {
    "a line": change("team.md", "- Ana reviews every schema change before it is merged.\n", ""),
    "a sentence": change("build.md", " CI runs the same target on every branch.", ""),
    "a clause": change("team.md", ", Priya the reporting pipeline", ""),
    "a reason": change("build.md", ", they are overwritten by the sync job", ""),
    "a number": change("build.md", "3 times", "5 times"),
    "a unit": change("build.md", "30 seconds", "30 minutes"),
    "a version": change("build.md", "Postgres 16", "Postgres 17"),
    "a denial": change("build.md", "Do not edit", "Edit"),
    "never": change("build.md", "never mocks", "always mocks"),
    "a command": change("build.md", "`make check`", "`make test`"),
    "a path": change("build.md", "`config/flags.yaml`", "`config/app.yaml`"),
    "a name": change("team.md", "Ana reviews", "Anna reviews"),
    "owners who change places": change("team.md", "Tomás owns the notification service, Priya", "Priya owns the notification service, Tomás"),
    "a date": change("team.md", "2026-01-14", "2026-02-14"),
    "a day": change("team.md", "every Monday", "every Friday"),
    "an environment": change("team.md", "staging database", "test database"),
    "before and after": change("team.md", "before it is merged", "after it is merged"),
    "the other side of instead": change("team.md", "the media gateway instead of S3", "S3 instead of the media gateway"),
    "a field": change("team.md", "type: user\n", ""),
    "a cell": change("runs.md", "| 8443 ", "| "),
    "a cell of another row": change("runs.md", "| 8443 | Ana |", "| 9443 | Ana |"),
    "a row": change("runs.md", "| billing | 9443 | Bob |\n", ""),
    "the name of a column": change("runs.md", "| Port |", "| n/a |"),
    "a line of code": change("runs.md", "systemctl restart billing-worker\n", ""),
    "a word of code": change("runs.md", "shop_prod", "shop_stage"),
    "a comment in code": change("runs.md", "# nightly copy of the orders\n", ""),
    "what comes first": change("runs.md", "If no owner is named, ask first.", "Ask later if no owner is named."),
    "owners told the other way round": change("team.md", "Tomás owns the notification service, Priya the reporting pipeline.", "The reporting pipeline is owned by Tomás, the notification service by Priya."),
    "one of two denied": change("build.md", "never mocks", "never stubs"),
    "one of two denials": change("build.md", "Do not edit files under `vendor/`, they are overwritten", "Do not edit files under `vendor/`, they are not overwritten"),
    "a denial beside another": change("runs.md", "A change that is not tested is never done.", "A change that is not tested is done."),
    "a size": change("runs.md", "rotated at 50 MB by logrotate", "which logrotate rotates at 5 MB"),
    "a time": change("team.md", "09:00 to 17:00", "10:00 to 17:00"),
}  # fmt: skip


def blocks(edit: Edit) -> list[str]:
    after = dict(FILES)
    edit(after)
    return blocks_between(FILES, after)


def blocks_between(was: dict[str, str], after: dict[str, str]) -> list[str]:
    before, now = ({path: text.encode() for path, text in files.items()} for files in (was, after))
    return [found.message for found in examine(between(before, now)).findings if found.severity == "block"]


@each("kind", CAREFUL)
def test_a_careful_edit_is_no_loss(kind: str) -> None:
    assert blocks(CAREFUL[kind]) == []


@each("kind", LOST)
def test_a_fact_that_leaves_blocks(kind: str) -> None:
    assert blocks(LOST[kind]) != []


@each(
    ("old", "new"),
    [
        (
            "Pages are cached for 5 minutes at the edge but never in the browser.",
            "Never cache pages in the browser; the edge caches them for 5 minutes.",
        ),
        (
            "Alerts go to #ops during the day and to #oncall at night.",
            "Alerts go to #oncall at night and to #ops during the day.",
        ),
        ("Max upload: 10 MB for guests.", "Guests upload at most 10 MB."),
        ("Only Ida and Bo approve releases.", "Nobody but Ida and Bo approves releases."),
        ("Tests run on 3.9 as well.", "Tests also run on 3.9."),
        ("Cookies expire after 20 minutes.", "The cookie expires after 20 minutes."),
        ("Lint before you merge; the rest runs at 14:00.", "Before merging, lint. The rest runs at 14:00."),
        ("Refunds above 20 euros need an approval by Ida.", "Ida must approve refunds above 20 euros."),
        ("The bug in `shop/cart.ts` is known to Ida.", "Ida knows of the bug in `src/shop/cart.ts`."),
        (
            "The till accepts EUR, GBP and CHF, but no USD.",
            "EUR, GBP and CHF are accepted by the till; USD is not.",
        ),
        (
            "The shop takes Visa, bills in EUR and ships to Malta.",
            "- Takes Visa\n- Bills in EUR\n- Ships to Malta",
        ),
        (
            "Ida is responsible for the till, Bo for the hall and Eve for the lift.",
            "- Till: Ida\n- Hall: Bo\n- Lift: Eve",
        ),
        (
            "Never mock the clock in tests.\n\nA mocked clock hid a bug in May.",
            "Never mock the clock in tests: a mocked clock hid a bug in May.",
        ),
        (
            "Ship at most 20 boxes a day, up to 5 to Malta.",
            "Ship up to 20 boxes a day, at most 5 to Malta.",
        ),
        (
            "| Port | Owner |\n|---|---|\n| 8443 | Ana. In August Bob; ask first |",
            "- Port 8443\n- 8443: Ana. In August Bob; ask first\n- Owner",
        ),
    ],
)
def test_a_line_in_other_words_is_no_loss(old: str, new: str) -> None:
    assert one_line(old, new) == []


@each(
    ("old", "new"),
    [
        ("The API allows 120 requests per minute per key.", "The API allows 120 requests per minute."),
        (
            "Staging is at a.shop.test and live at b.shop.test.",
            "Staging is at b.shop.test and live at a.shop.test.",
        ),
        (
            "Only admins delete projects; owners archive them.",
            "Only owners delete projects; admins archive them.",
        ),
        (
            "Use tabs in Makefiles and four spaces elsewhere.",
            "Use spaces in Makefiles and four tabs elsewhere.",
        ),
        ("Error messages name the field and how to fix it.", "Error messages name the field."),
        ("He dislikes ORMs but accepts raw SQL.", "He dislikes ORMs and raw SQL."),
        (
            "Ana and Ben triage bugs; in August only Ben does.",
            "Ana and Ben triage bugs; in August only Ana does.",
        ),
        ("This applies even when existing tests pass.", "This applies even when nightly tests pass."),
        (
            "The loader takes files with a header and drops files without one.",
            "The loader takes files without a header and drops files with one.",
        ),
        ("Tag with the SHA; `latest` is for local use.", "Tag with `latest`; the SHA is for local use."),
        ("Deploys need green CI and one approval.", "Deploys need green CI or one approval."),
        ("Call the `__enter__` hook first.", "Call the `enter` hook first."),
        ("Until 3 May 2025 the cron runs on Fly.", "Since 3 May 2025 the cron runs on Fly."),
        ("Open tickets may be edited by support.", "Open tickets must be edited by support."),
        ("It needs two approvals and a dry run.", "It needs two approvals or a dry run."),
        (
            "The export has commas as marks and dots as ends.",
            "The export has dots as marks and commas as ends.",
        ),
        ("Wait for the reviewer before merging with CI.", "Wait for CI before merging with the reviewer."),
        ("Ida reports to Bo, and Bo reports to the CTO.", "Bo reports to Ida, and Ida reports to the CTO."),
        ("Comments explain why, not what, in English.", "Comments explain what, not why, in English."),
        ("Only Ida and Bo may approve releases in August.", "Only Ida and Bo may approve releases."),
        ("The weekly copy is made by the data team.", "The data team makes the copy."),
        (
            "Projects are deleted by admins, and archived by owners.",
            "Admins delete projects, which are archived.",
        ),
        ("Sessions end after 12 hours or 3 clicks.", "After 3 clicks or 12, sessions end."),
        ("Existing carts keep the old price for a month.", "For a month carts keep the old price."),
        (
            "The app runs on iOS 16 and later, and on Android 11.",
            "The app runs on Android 16, and on iOS 11 and later.",
        ),
        ("Lint first, and only then test.", "Test first, then lint."),
        ("Prices are set by the office, never in the hall.", "The hall sets prices; the office never does."),
        ("Every table must have an index on `id`.", "An index on `id` is recommended for every table."),
        ("Copies take about 4 hours on Sundays.", "On Sundays copies take 4 hours."),
        ("Ida was decided against in June by the board.", "In June Ida was decided on by the board."),
        (
            "Team Lynx keeps the parser, team Orca the runtime.",
            "- Parser: kept by team Orca\n- Runtime: kept by team Lynx",
        ),
        (
            "Ida is responsible for the till, Bo for the hall and Eve for the lift.",
            "- Till: Bo\n- Hall: Ida\n- Lift: Eve",
        ),
        ("Copy tests/__data__ by hand each week.", "Copy tests/data by hand each week."),
        (
            "Bo signs every contract; Ida prepares the drafts.",
            "Every contract is signed; Ida prepares the drafts.",
        ),
    ],
)
def test_a_line_that_says_another_thing_blocks(old: str, new: str) -> None:
    assert one_line(old, new) != []


def one_line(old: str, new: str) -> list[str]:
    return blocks_between({"a.md": f"# Shop\n\n{old}\n"}, {"a.md": f"# Shop\n\n{new}\n"})


def test_a_word_that_another_line_had_already_does_not_keep_what_left_with_its_file() -> None:
    lines = "- **Native** (default): `cargo build` — with the viewer\n- **WASM**: `cargo build --release` — without it\n"
    before = {"a.md": f"# A\n\n{lines}", "b.md": "# B\n\n- The viewer is blue.\n"}
    after = {"b.md": before["b.md"] + lines.replace("`cargo build` —", "`make viewer` —")}
    assert any("cargo build" in message for message in blocks_between(before, after))


def test_of_two_lines_that_left_the_one_that_was_told_anew_does_not_answer_for_the_other() -> None:
    """They are paired one by one: what was found for the first must not move the second onto it."""
    before = {
        "a.md": "- Ida waters the ferns in the hall twice a week.\n- The lift stops at night.\n- Bo locks the hall at 18:00.\n"
    }
    after = {
        "a.md": "- Twice a week the ferns in the hall are watered by Ida.\n- At 18:00 the hall is locked by Bo.\n"
    }
    (message,) = blocks_between(before, after)
    assert "lift stops" in message


@each(
    "line",
    [
        "Deploys of the shop run on Friday; the person on call watches the dashboard",
        "The till of the shop is locked at nine — its key is kept by the night porter",
        "Invoices are rounded half up and the monthly report is sent to the tax office",
    ],
)
def test_a_statement_cut_in_two_is_no_loss_wherever_its_halves_are(line: str) -> None:
    first, last = re.split(r"; | — | and ", line, maxsplit=1)
    note = "---\nname: notes\ntype: project\n---\n\n- {}\n- Kim owns the hall.\n- The lift is old.\n"
    before = {"notes.md": note.format(line).encode()}
    after = {"notes.md": f"{note.format(first)}- {last}\n".encode()}
    assert [found.message for found in examine(between(before, after)).findings if found.blocks] == []
