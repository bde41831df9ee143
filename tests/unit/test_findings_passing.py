"""What waits to be done is told once for a memory; what is worth keeping is not."""

from __future__ import annotations

from dreams import findings
from dreams.findings.base import NewFinding
from tests.world.cases import each
from tests.world.findings import codes, report

CODES = {"task-state"}
BOXES = "- [x] Write the parser\n- [ ] Write its tests\n- [ ] Document it"


def memory(body: str, name: str = "Notes") -> bytes:
    return f"---\nname: {name}\ndescription: about it\ntype: project\n---\n\n{body}\n".encode()


def told(body: str, name: str = "Notes") -> list[NewFinding]:
    files = {
        "MEMORY.md": b"# Memory\n\n- [Notes](project_notes.md)\n",
        "project_notes.md": memory(body, name),
    }
    return [found for found in findings.health(files).findings if found.code in CODES]


def test_open_boxes_are_told_once_as_information_with_their_place_and_what_to_keep() -> None:
    [found] = told(BOXES)
    assert (found.code, found.severity, found.path) == ("task-state", "info", "project_notes.md")
    assert found.line_no and found.remedy


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
    text = f"{BOXES}\n".encode()
    files = {"MEMORY.md": text, "logs/2026/03/2026-03-01.md": text}
    assert not CODES & {found.code for found in findings.health(files).findings}


def test_of_a_change_only_what_it_adds_is_told() -> None:
    before = {"project_notes.md": memory(BOXES)}
    after = {"project_notes.md": memory(f"{BOXES}\n\nThe API runs on alpha.")}
    assert not CODES & codes(report(after, before))
    assert CODES & codes(report(before, {}))
