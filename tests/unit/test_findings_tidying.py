"""What tidies a note and changes none of its facts is no loss; what takes a statement back is one, though its words stand."""

from __future__ import annotations

from dreams.findings import examine
from dreams.findings.directories import between
from tests.world.cases import each
from tests.world.findings import codes

LOSS = "unexplained-loss"
NOTE = '---\nname: deploy\ndescription: {}\n---\n\nx\n'  # fmt: skip
QUOTED = 'Always import `* as z from "zod"` and nothing else of it'
RULE = "Deploys run on Friday at noon."


def told(before: str, after: str) -> set[str]:
    return set(codes(examine(between({"a.md": before.encode()}, {"a.md": after.encode()}))))


@each(
    ("one", "other"),
    [
        (NOTE.format(QUOTED), NOTE.format('"' + QUOTED.replace('"', '\\"') + '"')),
        (NOTE.format(QUOTED), NOTE.format(">-\n  " + QUOTED.replace(" and ", "\n  and "))),
        ("# Deploys of the shop\n\nx\n", "Deploys of the shop\n===================\n\nx\n"),
        ("Run:\n\n```\nmake ship\nmake tag\n```\n", "Run:\n\n    make ship\n    make tag\n"),
        ("### Launcher\n\nStarts the workers at boot.\n", "- **Launcher**: Starts the workers at boot.\n"),
        ("**2. Parse gaps:** each gap has a reason\n", "2. Parse gaps: each gap has a reason\n"),
        ("Waits for the lock… then writes the file.\n", "Waits for the lock... then writes the file.\n"),
        ("The first line is long\nand the second goes on.\n", "> The first line is long\n> and the second goes on.\n"),
        ("| Clause | Version |\n|---|---|\n| `==1` | `1.0.0` |\n", "- Clause: `==1`; Version: `1.0.0`\n"),
        ("- a: one of them\n- b: another of them\n", "| Name | Value |\n|---|---|\n| a | one of them |\n| b | another of them |\n"),
    ],
)  # fmt: skip
def test_another_form_of_the_same_is_no_loss(one, other):
    assert LOSS not in told(one, other)
    if "Clause" not in one and "| Name" not in other:  # the names of columns are words too
        assert LOSS not in told(other, one)


@each(
    "after",
    [
        f"~~{RULE}~~", f"Obsolete — {RULE}", f"Wrong: {RULE}", f"Bob thinks that {RULE}", f"It is false that {RULE}",
        f"If approved, {RULE}", f"| Obsolete | {RULE} |",
    ],
)  # fmt: skip
def test_a_statement_that_is_taken_back_is_lost(after):
    assert LOSS in told(f"- {RULE}\n", f"- {after}\n")


def test_a_file_with_another_name_keeps_its_fields():
    data = b"---\nname: deploy\nstatus: draft\n---\n\nx y z\n"
    assert LOSS not in codes(examine(between({"a.md": data}, {"b.md": data})))
    assert LOSS in codes(examine(between({"a.md": data}, {"a.md": data.replace(b"status: draft\n", b"")})))


def test_a_wrapped_line_that_another_statement_has_too_does_not_keep_what_it_was_said_of():
    text = "# S\n\n## Ana\n\n{} is what the timeout\nof the agent is set to today\n\n## Bob\n\n{} is what the timeout\nof the agent is set to today\n"
    assert LOSS in told(text.format("30 s", "45 s"), text.format("45 s", "30 s"))


@each(
    ("old", "new"),
    [
        ("We use mypyc to compile it", "We ignore mypyc to compile it"),
        ("The response headers include a version", "The request headers include a version"),
        ("Secrets are required for every deploy", "Secrets are optional for every deploy"),
    ],
)
def test_another_word_in_the_place_of_an_everyday_one_is_a_loss(old, new):
    assert LOSS in told(f"- {old}\n", f"- {new}\n")


@each(
    ("old", "new"),
    [
        ("**Note**: CLI parameters take precedence over environment variables.", "**Note**: Environment variables take precedence over CLI parameters."),
        ("`DENSITY`: 2.0, `PRESSURE`: 0.5 (in `physics.rs`)", "`DENSITY`: 0.5, `PRESSURE`: 2.0 (in `physics.rs`)"),
        ("Allows a tuple or a list there, not just a list", "Allows a tuple or a list there, not a list"),
        ("Start with the problem and approaches to it", "Start with the problem"),
    ],
)  # fmt: skip
def test_what_changes_places_or_is_left_out_within_a_line_is_lost(old, new):
    assert LOSS in told(f"- {old}\n", f"- {new}\n")


def test_a_line_with_a_word_twice_changes_no_places_where_it_is_joined_to_another():
    line = "When `url_id` changes, messages are cleared first (via effect), then hydrated when `data.id === url_id`."
    assert LOSS not in told(
        f"- The id is the source of truth\n- {line}\n", f"- The id is the source of truth; {line}\n"
    )


@each(
    ("old", "new"),
    [
        ("Do not merge on Fridays, except for security fixes", "~~Do not merge on Fridays, except for security fixes~~"),
        ("Backups run nightly at 02:30 UTC and are kept for 35 days", "It is wrong that backups run nightly at 02:30 UTC and are kept for 35 days"),
        ("A migration of more than 5 minutes has to be split", "A migration of more than 5 minutes may be split"),
    ],
)  # fmt: skip
def test_a_statement_of_several_parts_that_is_taken_back_is_lost_too(old, new):
    assert LOSS in told(f"- {old}\n", f"- {new}\n")


def test_a_time_in_another_form_is_no_loss():
    old, new = (f"- The pipeline of the shop takes 12 {unit}\n" for unit in ("minutes", "min"))
    assert LOSS not in told(old, new)
    assert LOSS not in told(new, old)
