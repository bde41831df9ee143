"""A statement whose words all stand is lost all the same where a small word makes it hold more, less or elsewhere."""

from __future__ import annotations

from dreams.findings import examine
from dreams.findings.directories import between
from tests.world.cases import each
from tests.world.findings import codes, one

LOSS, MOVED, REORDERED = "unexplained-loss", "another-heading", "another-order"


def told(before: str, after: str) -> list[str]:
    return codes(examine(between({"a.md": before.encode()}, {"a.md": after.encode()})))


@each(
    ("old", "new"),
    [
        ("Wrap changes of several tables in a transaction", "You may wrap changes of several tables in a transaction"),
        ("Every number must be a named constant", "Every number should be a named constant"),
        ("A cached parser would be safe there", "A cached parser must be safe there"),
        ("Prefer the plain type at the border of the client", "Always use the plain type at the border of the client"),
        ("Update each caller of the old function", "Update each caller of the old function if convenient"),
        ("Always use the Apache license for new files", "Use the Apache license for new files, where possible"),
        ("Read such a flag with `cmd.Flag` (preferred) or `cmd.Root`", "Read such a flag with `cmd.Flag` or `cmd.Root`"),
        ("The upload of the shop takes 500 boxes", "The upload of the shop takes about 500 boxes"),
        ("The upload of the shop takes at most 500 boxes", "The upload of the shop takes 500 boxes"),
        ("The upload of the shop takes 500 boxes", "The upload of the shop takes less than 500 boxes"),
        ("The upload of the shop takes 500 boxes", "The upload of the shop takes fewer than 500 boxes"),
        ("The upload of the shop takes 500 boxes", "The upload of the shop takes no more than 500 boxes"),
        ("Images of the shop have 2 MB", "Images of the shop are larger than 2 MB"),
        ("The upload of the shop takes 500 boxes", "The upload of the shop takes 500 boxes or less"),
        ("The upload of the shop takes at most 500 boxes", "The upload of the shop takes at least 500 boxes"),
        ("Read by both the shop and the hall", "Read by the shop or the hall"),
        ("Verify it with the old shell and the new shell", "Verify it with the old shell or the new shell"),
        ("This holds for all callers of the old function", "This holds for callers of the old function"),
        ("Only the owner of the shop may open the till", "The owner of the shop may open the till"),
        ("Never open the till of the shop unless the owner asks", "Never open the till of the shop"),
        ("The density of a box is computed from the others", "The density of a box was computed from the others"),
        ("The second lock file of the shop is removed", "The second lock file of the shop will be removed"),
        ("Ask at the start of a session or before the first call", "Ask after the start of a session or before the first call"),
        ("Logs are kept for 14 days in Loki", "Logs are gone from Loki for 14 days"),
        ("Linux with Wayland at work, Windows at home", "Linux with Wayland at home, Windows at work"),
    ],
)  # fmt: skip
def test_a_statement_that_holds_more_or_less_now_is_lost(old: str, new: str) -> None:
    assert LOSS in told(f"- {old}\n", f"- {new}\n")


@each(
    ("old", "new"),
    [
        ("A box has 20 parts or fewer", "A box has at most 20 parts"),
        ("The till takes at most 20 coins", "The till takes up to 20 coins"),
        ("If the till is open, ask the owner", "Ask the owner when the till is open"),
        ("The till cannot be opened at night", "At night the till can not be opened"),
        ("Each order of the shop is copied", "Every order of the shop is copied"),
        ("Do not open the till or the safe", "Do not open the till and the safe"),
    ],
)
def test_another_small_word_for_the_same_is_no_loss(old: str, new: str) -> None:
    assert LOSS not in told(f"- {old}\n", f"- {new}\n")


@each(
    ("old", "new", "lost"),
    [
        ("Der Dienst läuft mit Redis", "Der Dienst läuft nicht mit Redis", True),
        ("Auf main pushen", "Nie auf main pushen", True),
        ("Wir nutzen Redis", "Wir nutzen Redis nicht", True),
        ("Le service garde les traces dans var", "Le service ne garde pas les traces dans var", True),
        ("O cais guarda os registros em var", "O cais não guarda os registros em var", True),
        ("Der Dienst läuft mit Redis", "Der Dienst läuft mit Redis (siehe Plan)", False),
        ("Der Dienst läuft mit Redis", "Der Dienst läuft mit Redis Cluster", False),
        ("The service runs with Redis", "The service runs with plain Redis", False),
    ],
)
def test_a_word_put_into_a_clause_of_another_language_may_deny_it(old: str, new: str, lost: bool) -> None:
    assert (LOSS in told(f"- {old}.\n", f"- {new}.\n")) is lost


def test_what_a_word_too_many_makes_of_a_statement_is_told_with_that_word() -> None:
    before, after = (
        {"a.md": f"- {said}the changes of the tables in one step\n".encode()}
        for said in ("Write ", "You may write ")
    )
    found = one(examine(between(before, after)), LOSS)
    assert found.message.endswith("It was the only place that said it without “may”.")


def test_a_summary_that_alone_names_an_exception_keeps_it() -> None:
    note = "---\nname: words\ndescription: Say they{} of people\n---\n\nSay they of all people in the shop.\n"
    assert LOSS in told(note.format(", unless they asked for another word,"), note.format(""))


SHOP = "# Shop\n\n## Staging\n\n- The port is open\n- {}\n\n## Production\n\n- The port is closed\n{}"
TOKEN = "Deploys need no token"


def test_a_statement_below_another_heading_of_its_file_is_told() -> None:
    assert MOVED in told(SHOP.format(TOKEN, ""), SHOP.format("Logs are short", f"- {TOKEN}\n"))


@each(
    "after",
    [
        SHOP.format(TOKEN, "").replace("## Staging", "## The staging:"),
        f"# Shop\n\n## Staging\n\n- {TOKEN}\n- The port is open\n\n## Production\n\n- The port is closed\n",
        "# Shop\n\n## Production\n\n- The port is closed\n\n## Staging\n\n- The port is open\n- "
        + f"{TOKEN}\n",
    ],
)
def test_a_heading_in_other_marks_and_another_order_are_no_other_heading(after: str) -> None:
    assert MOVED not in told(SHOP.format(TOKEN, ""), after)


@each(
    ("old", "new", "told_of"),
    [
        ("Atlas", "Borealis", True),
        ("Deploys", "Deploys (draft)", True),
        ("Deploys", "Deploys (if asked)", True),
        ("Draft of deploys", "Deploys", True),
        ("Nicht tun", "Tun", True),
        ("Test commands", "**Testing commands**", False),
        ("Deploys", "The deploys:", False),
    ],
)
def test_a_heading_that_says_something_else_of_lines_that_stay_is_told(
    old: str, new: str, told_of: bool
) -> None:
    before, after = (f"# Shop\n\n## {head}\n\n- {TOKEN}\n" for head in (old, new))
    found = examine(between({"a.md": before.encode()}, {"a.md": after.encode()}))
    assert (MOVED in codes(found)) is told_of
    assert LOSS not in codes(found)
    assert not told_of or one(found, MOVED).message == (
        f"“{old}” is the heading of lines that stay, and says something else now."
    )


def test_a_heading_that_goes_with_its_lines_is_accounted_for_by_them() -> None:
    assert MOVED not in told(
        f"# Shop\n\n## Atlas\n\n- {TOKEN}\n", "# Shop\n\n## Borealis\n\n- Logs are short\n"
    )


STEPS = "# Release\n\n## Steps\n\n1. Lint the shop\n2. Test the shop\n   on a copy. It takes long\n3. Ship the shop\n"
LINT, TEST, SHIP = "Lint the shop", "Test the shop\n   on a copy. It takes long", "Ship the shop"


def steps(*told: str, mark: str = "{}.") -> str:
    """The list of STEPS with these entries."""
    head = STEPS.partition("1.")[0]
    return head + "".join(f"{mark.format(at)} {each}\n" for at, each in enumerate(told, 1))


@each(
    "entries",
    [(SHIP, TEST, LINT), (TEST, LINT, SHIP), (SHIP, LINT, TEST), (SHIP, "Ask the owner", LINT, TEST)],
)
def test_a_numbered_list_in_another_order_is_told_once_for_each_change(entries: tuple[str, ...]) -> None:
    found = examine(between({"a.md": STEPS.encode()}, {"a.md": steps(*entries).encode()})).findings
    warned = [(each.hunk_id, each.code, each.severity) for each in found if each.check == "ledger"]
    assert warned and len(set(warned)) == len({hunk for hunk, *_ in warned}) == len(warned)
    assert {each[1:] for each in warned} == {(REORDERED, "warn")}


@each(
    "after",
    [
        steps("Ask the owner of the till", LINT, TEST, SHIP),
        steps(LINT, "Ask the owner of the till", TEST, SHIP),
        steps(LINT, SHIP),
        steps(SHIP),
        steps(LINT, TEST, SHIP, mark="{})"),
        steps(LINT, TEST, SHIP, mark="1."),
        steps(LINT, TEST, SHIP, mark="-"),
        steps(SHIP, TEST, LINT, mark="-"),
        steps(LINT, "It takes long. Test the shop on a copy", SHIP),
        steps(LINT, TEST, SHIP).replace("## Steps", "## How it is done"),
        STEPS.replace("# Release\n", "# Release\n\n1. Ship the shop\n2. Lint the shop\n"),
    ],
)
def test_a_list_that_is_only_longer_shorter_or_numbered_anew_is_in_the_same_order(after: str) -> None:
    assert REORDERED not in told(STEPS, after)


def test_what_stands_beside_a_list_in_another_order_is_not_told_as_one_of_its_entries() -> None:
    beside = "Ask the owner of the till first."
    before = STEPS.replace("1. Lint", f"{beside}\n\n1. Lint")
    after = f"{steps(SHIP, LINT, TEST)}\n{beside}\n"
    rows = examine(between({"a.md": before.encode()}, {"a.md": after.encode()})).ledger
    assert [row.note for row in rows if row.text == beside] == [""]
    assert any("another order" in row.note for row in rows)


def test_bullets_have_no_order() -> None:
    assert REORDERED not in told(steps(LINT, TEST, SHIP, mark="-"), steps(SHIP, TEST, LINT, mark="-"))
