"""Each finding says which rule spoke, and a loss says what keeps the nearest statement from keeping it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from dreams import findings
from dreams.findings.base import SEVERITIES
from dreams.findings.directories import between
from dreams.findings.examining import CHECKS, RULES, rule_of
from dreams.lib.secrets.forms import titled
from tests.world.cases import each

FINDINGS = Path(findings.__file__).parent
CODE = re.compile(r"[a-z]+(?:-[a-z]+)*")
SENTENCE = re.compile(r"[A-Z][\w ,'’]+[.:]|[a-z_]+(?: [a-z_]+)+")
MADE_BY = {"NewFinding", "found_at", "_found", "_found_in_file"}
NO_CODES = {*SEVERITIES, *(name for name, _ in CHECKS), "ledger", "questions"}


def _codes() -> set[str]:
    """Every code that a check writes out where it makes a finding."""
    calls = [
        call
        for path in FINDINGS.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MADE_BY
    ]
    texts = [arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)]
    return {text for text in texts if isinstance(text, str) and CODE.fullmatch(text)} - NO_CODES


def test_every_code_has_a_rule_in_words() -> None:
    assert len(_codes()) > 25
    assert {code for code in _codes() if rule_of("x", code) == f"x: {code}"} == set()
    assert all(rule.endswith(".") for rule in RULES.values())


def test_no_sentence_of_a_check_has_a_name_of_the_code_in_it() -> None:
    texts = [
        node.value
        for path in FINDINGS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SENTENCE.fullmatch(node.value)
    ]
    assert len(texts) > 100
    assert [text for text in texts if re.search(r"[a-z]_[a-z]", text)] == []


def test_what_a_finding_was_held_against_is_said_only_where_there_is_something() -> None:
    before = {"a.md": b"---\ntype: project\n---\n\n- The depot keeps 14 archives.\n"}
    after = {**before, "b\u200b.md": before["a.md"]}
    (found,) = [one for one in findings.examine(between(before, after)).findings if one.code == "name-unfit"]
    told = found.message_parts
    assert told.detail == "" and rule_of(found.check, found.code, told.detail) == RULES["name-unfit"]


def test_a_secret_and_an_order_to_the_agent_have_one_too() -> None:
    assert rule_of("secrets", "secret-github-token").endswith("found by the rule GitHub token.")
    told = ("aws-access-key", "npm-token", "private-key", "json-web-token")
    assert [*map(titled, told)] == ["AWS access key", "npm token", "Private key", "JSON web token"]
    assert rule_of("injection", "agent-order").startswith("Text that gives orders")


@each(
    ("old", "new", "why"),
    [
        ("Reports of the depot are sent weekly to Mira.", "Reports of the depot are sent to Mira.", "lacks “week"),
        ("The depot keeps 14 archives of each ledger.", "The depot keeps 20 archives of each ledger.", "lacks “14”"),
        ("Mira asks Tom about the ledger.", "Tom asks Mira about the ledger.", "swaps two things"),
        ("Exports of the depot run nightly.", "If approved, exports of the depot run nightly.", "withdraws it"),
    ],
)  # fmt: skip
def test_a_loss_names_the_nearest_statement_and_what_it_lacks(old: str, new: str, why: str) -> None:
    before, after = ({"a.md": f"---\ntype: project\n---\n\n- {line}\n".encode()} for line in (old, new))
    found = findings.examine(between(before, after)).findings
    loss = next(one for one in found if one.code == "unexplained-loss")
    assert why in loss.message_parts.detail
    assert "Every removed statement" in rule_of(loss.check, loss.code, loss.message_parts.detail)
