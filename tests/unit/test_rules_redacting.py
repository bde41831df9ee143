"""A secret that stands in a memory is proposed for redaction, and nothing else of its line goes."""

from __future__ import annotations

import base64
import datetime as dt
import re
from pathlib import Path

import dreams
from dreams.engines.linedates import KeptVersion, line_dates
from dreams.findings import examine, health
from dreams.findings.directories import between
from tests.world.cases import each
from tests.world.rules import NOON, dream, memory

TOKEN = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
INDEX = "- [Deploy](deploy.md) — how we deploy\n"
BODY = f"- Deploys use {TOKEN} there.\n- The runner is small.\n"


def test_the_line_stays_without_the_secret(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "deploy.md": memory(BODY, name="Deploy", description="how we deploy")}
    made = dream(tmp_path, files)
    assert made.text("deploy.md") == files["deploy.md"].replace(TOKEN, "[redacted: github-token]")
    assert "removed 1 secret" in made.summary.lower()
    [edit] = made.edits
    assert "revoke" in edit.reason
    assert not any(TOKEN in part for c in edit.citations for part in (c.quote, c.note, c.context))


def test_no_check_holds_it_against_a_reviewer(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "deploy.md": memory(BODY, name="Deploy", description="how we deploy")}
    made = dream(tmp_path, files)
    report = examine(between(made.before, made.after))
    assert {found.severity for found in report.findings} <= {"info"}
    assert {row.fate for row in report.ledger} == {"kept-in"}


ID = "8c1e04d7-3f52-4a9b-b6d0-5e7a91c2f348"  # a secret only where a name says so


def test_a_secret_goes_from_lines_that_do_not_call_it_one_too(tmp_path: Path) -> None:
    body = f"- New key: `{ID}`\n- The runner is small.\n- `SHIP_API_KEY={ID}`\n"
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": memory(body, name="Deploy")})
    assert "New key: `[redacted: assigned-secret]`" in made.text("deploy.md")
    assert ID not in made.text("deploy.md") and "removed 1 secret" in made.summary.lower()
    assert not [found.code for found in examine(between(made.before, made.after)).findings if found.blocks]


def test_no_finding_quotes_a_secret_from_a_line_that_does_not_call_it_one() -> None:
    before = memory(f"- The new one: `{ID}`\n- `SHIP_API_KEY={ID}`\n", name="Deploy")
    after = before.replace(f"- The new one: `{ID}`\n", "")
    report = examine(between({"deploy.md": before.encode()}, {"deploy.md": after.encode()}))
    told = " ".join(f"{each.message} {each.message_parts}" for each in report.findings)
    assert "unexplained-loss" in {found.code for found in report.findings}
    standing = health({"deploy.md": f"<!-- {ID} is new -->\n- `SHIP_API_KEY={ID}`\n".encode()}).findings
    assert {found.code for found in standing} >= {"raw-html", "standing-secret-assigned-secret"}
    told += " ".join(found.message for found in standing)
    assert not [part for part in (ID, ID[:8], ID[-12:]) if part in told]


def test_a_secret_of_words_hides_no_name_of_a_file_that_has_one_of_them() -> None:
    path = "harbor_integration_done.md"
    standing = health({path: b"- `SHIP_API_KEY=harbor-key-2026-secure-integration`\n"}).findings
    assert [each.message for each in standing if "secret" in each.code and path in each.message]


@each(
    "body",
    [
        f"```bash\nTOKEN='{TOKEN}'  node  bot.js\n```\n",
        f"| Host | Token |\n|---|---|\n| web_1 | `{TOKEN}` |\n",
        f"**Tried:**\n- {TOKEN}\n- {TOKEN[:-1]}y\n\n**Result:** none works.\n",
        f"The store: postgresql://ledger:{TOKEN}@10.0.0.15:5432/ledger?pool=20\n",
    ],
)
def test_a_line_of_code_or_of_a_table_without_its_secret_is_kept(tmp_path: Path, body: str) -> None:
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": memory(body)})
    report = examine(between(made.before, made.after))
    assert TOKEN not in made.text("deploy.md")
    assert {found.severity for found in report.findings} <= {"info"}


def test_a_description_of_several_paragraphs_without_its_secret_is_kept(tmp_path: Path) -> None:
    told = f'---\nname: deploy\ndescription: "How we deploy.\n\n- token: {TOKEN}"\ntype: project\n---\n\nBy hand.\n'
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": told})
    report = examine(between(made.before, made.after))
    assert TOKEN not in made.text("deploy.md")
    assert {found.severity for found in report.findings} <= {"info"}


def test_one_key_that_two_lines_hand_over_in_two_ways_is_taken_out_of_both(tmp_path: Path) -> None:
    key = "3c9d" + "0e57-5d5f-45b3-a9c3-3bb53d72" + "5cea"
    body = f"**API Key:** {key}\n\n**Server:** `tool add -H 'Authorization: Bearer {key}'`\n"
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": memory(body)})
    assert key not in made.text("deploy.md")
    assert {found.severity for found in examine(between(made.before, made.after)).findings} <= {"info"}


def test_the_address_of_a_contract_is_no_token(tmp_path: Path) -> None:
    address = "0x" + "c2d0bb2a6dd9bce8b7b1" + "e5f4a3c2b1a0f9e8d73a"
    files = {
        "MEMORY.md": INDEX,
        "deploy.md": memory(f"| Contract | Address |\n|---|---|\n| EGG token | {address} |\n"),
    }
    made = dream(tmp_path, files)
    assert made.text("deploy.md") == files["deploy.md"]


def test_pinned_memories_and_logs_stay_as_they_are(tmp_path: Path) -> None:
    pinned = memory(BODY, name="Deploy", description="how we deploy").replace(
        "---\n\n", "metadata:\n  pinned: true\n---\n\n", 1
    )
    files = {"MEMORY.md": INDEX, "deploy.md": pinned, "logs/2026/01.md": f"Used {TOKEN}.\n"}
    made = dream(tmp_path, files)
    assert made.after["deploy.md"] == made.before["deploy.md"]
    assert made.after["logs/2026/01.md"] == made.before["logs/2026/01.md"]


def test_what_is_left_of_a_line_does_not_count_its_days_from_the_day_of_the_dream(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": INDEX,
        "deploy.md": memory(f"- The token of the store was {TOKEN} 2 days ago.\n{BODY}"),
    }
    made = dream(tmp_path / "one", files)
    kept = [KeptVersion(data, NOON, NOON, True, ours=True) for data in (made.after["deploy.md"],)]
    ours = {"deploy.md": line_dates(kept, dt.UTC)}
    assert dream(tmp_path / "two", made.after, written=ours).outcome.questions == []


def test_dreaming_again_changes_nothing(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "deploy.md": memory(BODY, name="Deploy", description="how we deploy")}
    first = dream(tmp_path / "a", files)
    assert dream(tmp_path / "b", first.after).edits == []


OTHER = "glpat-" + "Zk3vQ9xT7mB2nL5wR8sd"


def test_a_list_of_keys_is_decided_as_a_whole(tmp_path: Path) -> None:
    keys = [f"ghp_{number}{TOKEN[5:]}" for number in range(8)]
    body = "".join(f"- service {number}: {key}\n" for number, key in enumerate(keys))
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": memory(body, name="API keys")})
    assert len({edit.operation for edit in made.edits}) == 1
    assert not any(key in made.text("deploy.md") for key in keys)
    assert "removed 8 secrets" in made.summary.lower()


def test_each_secret_of_a_file_is_decided_by_itself_and_cites_its_own_line(tmp_path: Path) -> None:
    body = f"- Deploys use {TOKEN} there.\n- Reviews use {OTHER} there.\n"
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": memory(body)})
    assert "removed 2 secrets" in made.summary.lower()
    assert len({edit.operation for edit in made.edits}) == 2
    quoted = {
        made.text("deploy.md").split("\n")[c.line_no - 1] == c.quote
        for e in made.edits
        for c in e.citations
        if c.line_no
    }
    assert quoted == {True}


def token_for(role: str) -> str:
    claims = f'{{"iss":"supabase","ref":"abcdefghij","role":"{role}","iat":1700000000}}'.encode()
    parts = (b'{"alg":"HS256","typ":"JWT"}', claims, b"a signature of thirty-two bytes!")
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


@each(
    "line",
    [
        "- **Production client_key**: `awq7x2m9k4d8s1f6` (now active in `.env`)",
        f"- Maps key: {'AI' + 'zaSyB7x2m9K4d8s1f6Gh3Jk5Lq8Wz0Yc2VbN3'}",
        f"- anon key: `{token_for('anon')}`",
        "- NEXT_PUBLIC_STRIPE_KEY=pk_" + "live_51Hx7Kq2ZpL9vB4nM1cD8sF3",
        "- `VITE_MAPS_TOKEN=q7Kx2ZpL9vB4nM1cD8sF3gH6`",
        "The publishable API key is 9vB4nM1cD8sF3gH6jW0t",
    ],
)
def test_a_key_that_every_copy_of_an_app_has_stays_and_the_checkup_names_it(
    tmp_path: Path, line: str
) -> None:
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": memory(f"{line}\n")})
    assert made.edits == []
    (found,) = [found for found in health(made.before).findings if found.check == "secrets"]
    assert (found.severity, "apps show" in found.message) == ("info", True)


@each(
    "line",
    [
        f"- service_role key: `{token_for('service_role')}`",
        f"- The public repository's key is {TOKEN}",
        "- client_secret: `awq7x2m9k4d8s1f6`",
        "- anon key and service key: SERVICE_KEY=9vB4nM1cD8sF3gH6jW0tR5",
        "- The staging password: Tr0ub4dor&3",
    ],
)
def test_what_only_a_server_may_have_is_taken_out(tmp_path: Path, line: str) -> None:
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": memory(f"{line}\n")})
    assert "[redacted: " in made.text("deploy.md")


@each(
    "line",
    [
        "- Verification token: `ROUNDTRIP-2026-05-13-A`",
        "- POSTGRES_PASSWORD=staging_secure_2025",
        "- Invite wizard, second pass: step1+step2 share a header.",
        f"- The key begins with {TOKEN}... (the vault has the rest)",
    ],
)
def test_what_its_name_alone_makes_a_secret_stays_and_the_checkup_warns(tmp_path: Path, line: str) -> None:
    made = dream(tmp_path, {"MEMORY.md": INDEX, "deploy.md": memory(f"{line}\n")})
    assert made.edits == []
    (found,) = [found for found in health(made.before).findings if found.check == "secrets"]
    assert (found.severity, "looks like a secret" in found.message) == ("warn", True)


def test_one_module_knows_the_form_of_what_stands_in_for_a_secret() -> None:
    """Others import it; prompts and docstrings tell it to a reader."""
    package = Path(dreams.__file__).parent
    written = re.compile(r"""["']\\?\[redacted: """)
    knows = [path.name for path in package.rglob("*.py") if written.search(path.read_text())]
    assert knows == ["redact.py"]
