"""What is soon no longer true, or stands in the code, is told once for a memory; what is worth keeping is not."""

from __future__ import annotations

from dreams import findings
from dreams.findings.base import Found
from tests.world.cases import each
from tests.world.findings import codes, report

CODES = {"task-state", "debug-recipe", "architecture"}


def memory(body: str, name: str = "Notes") -> bytes:
    return f"---\nname: {name}\ndescription: about it\ntype: project\n---\n\n{body}\n".encode()


def told(body: str, name: str = "Notes") -> list[Found]:
    files = {
        "MEMORY.md": b"# Memory\n\n- [Notes](project_notes.md)\n",
        "project_notes.md": memory(body, name),
    }
    return [found for found in findings.health(files).findings if found.code in CODES]


RECIPE = "# Debugging the login\n\n1. Stop the server.\n2. Run `redis-cli flushall`.\n3. Delete `.cache`.\n4. Start it again."
SHELL_RECIPE = "## How to fix a stuck queue\n\n```sh\ndocker compose stop worker\nredis-cli del queue\ndocker compose up -d\n```"
ARCHITECTURE = (
    "The code in `src/api/` handles requests.\n\n`src/jobs/queue.py` implements the queue.\n\n"
    "`src/web/` renders the pages and calls the API."
)
NAMED_ARCHITECTURE = "The gateway handles every request.\n\nThe worker depends on the queue.\n\nThe reports module consists of three exporters."


@each(
    ("body", "code"),
    [
        ("TODO: finish the export form today.", "task-state"),
        ("- The migration is in progress; the rest tomorrow.", "task-state"),
        ("Currently working on the parser, tests follow next session.", "task-state"),
        ("- [x] Write the parser\n- [ ] Write its tests\n- [ ] Document it", "task-state"),
        (RECIPE, "debug-recipe"),
        (SHELL_RECIPE, "debug-recipe"),
        (ARCHITECTURE, "architecture"),
        (f"# Architecture\n\n{NAMED_ARCHITECTURE}", "architecture"),
    ],
)
def test_it_is_told_once_as_information_with_its_place_and_what_to_keep(body: str, code: str) -> None:
    [found] = told(body)
    assert (found.code, found.severity, found.path) == (code, "info", "project_notes.md")
    assert found.line_no and found.remedy


def test_the_name_of_a_memory_promises_an_architecture_too() -> None:
    assert told(NAMED_ARCHITECTURE, "Project structure")[0].code == "architecture"
    assert told(NAMED_ARCHITECTURE) == []


@each(
    "body",
    [
        "TODO comments need an issue number.",
        "Tests run against a real database today and after the move.",
        "The release is on 2026-04-01; the freeze begins the day before.",
        "- [ ] means open and - [x] done in our plans.",
        "- [ ] One open box alone is a way to write.",
        "We chose Redis over RabbitMQ because the team runs it already.",
        "`src/api/limits.py` holds the limits that the customer agreed to.",
        "# Debugging\n\n- Ask Mara before you attach to production.",
        "# Debugging\n\n- Logs are in Grafana.\n- Traces are in Tempo.\n- Alerts go to the on-call channel.",
        "# Deploying\n\n1. Run `make build`.\n2. Run `make push`.\n3. Tell the channel.",
        "The user is responsible for the billing team and talks to the customers.",
    ],
)
def test_what_a_memory_is_for_is_not_told(body: str) -> None:
    assert told(body) == []


def test_a_log_of_the_day_and_an_index_are_meant_to_say_what_is_open() -> None:
    text = b"TODO: finish the export form today.\n"
    files = {"MEMORY.md": text, "logs/2026/03/2026-03-01.md": text}
    assert not CODES & {found.code for found in findings.health(files).findings}


def test_of_a_change_only_what_it_adds_is_told() -> None:
    before = {"project_notes.md": memory("TODO: finish the export form today.")}
    after = {"project_notes.md": memory("TODO: finish the export form today.\n\nThe API runs on alpha.")}
    assert not CODES & codes(report(after, before))
    assert CODES & codes(report(before, {}))
