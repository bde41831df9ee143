"""A value that is mentioned only to be set aside bears out nothing; the one in its place does."""

from dreams.lib.prose.claims import SessionText, check
from tests.world.cases import each

ASIDE = [
    ("The nightly export runs at 04:15, not 02:30 any more.", "02:30", "04:15"),
    ("The nightly export moved from 02:30 to 04:15.", "02:30", "04:15"),
    ("The nightly export runs at 04:15 (was 02:30).", "02:30", "04:15"),
    ("The nightly export was at 02:30 and is at 04:15 now.", "02:30", "04:15"),
    ("The nightly export used to run at 02:30; it runs at 04:15.", "02:30", "04:15"),
    ("The nightly export writes with `packer` instead of `zipper`.", "`zipper`", "`packer`"),
    ("In the nightly export we replaced `zipper` with `packer`.", "`zipper`", "`packer`"),
]
PLAIN = [
    ("The nightly export copies from `spool/` to `vault/`.", "The nightly export copies from `spool/`"),
    ("The nightly export takes from 3 to 7 minutes.", "The nightly export takes from 3 to 7 minutes"),
    ("The nightly export was at 02:30 and went well.", "The nightly export was at 02:30"),
    ("The nightly export is used to fill `vault/`.", "The nightly export fills `vault/`"),
    ("The nightly export moved from 02:30 to 04:15.", "The nightly export moved from 02:30 to 04:15"),
]


def heard(*turns: str) -> SessionText:
    evidence = SessionText()
    for line, turn in enumerate(turns, start=1):
        evidence.add(turn, line, "user", prose=True)
    return evidence


@each(("said", "gone", "instead"), ASIDE)
def test_what_is_set_aside_is_contradicted_and_what_stands_instead_is_not(
    said: str, gone: str, instead: str
) -> None:
    found = check(heard(said), f"The nightly export uses {gone}")
    assert (found.answer, found.evidence[0].quote) == ("contradicted", said)
    assert check(heard(said), f"The nightly export uses {instead}").answer == "supported"


@each(("said", "claim"), PLAIN)
def test_a_range_a_way_and_what_was_are_set_aside_by_nobody(said: str, claim: str) -> None:
    assert check(heard(said), claim).answer == "supported"


def test_the_later_word_counts_whichever_it_is() -> None:
    plain, moved = "The nightly export runs at 02:30.", "The nightly export moved from 02:30 to 04:15."
    found = check(heard(plain, moved), "The nightly export runs at 02:30")
    assert (found.answer, found.evidence[0].quote) == ("contradicted", moved)
    assert check(heard(moved, plain), "The nightly export runs at 02:30").answer == "supported"


def test_an_answer_and_a_cell_of_a_table_deny_what_they_stand_for() -> None:
    listing = "| event | blocks the session | output |\n| --- | --- | --- |\n| `SessionStart` | No | Shows stderr to the user |"
    evidence = heard(listing, "The package is on its second major version.\n**Deprecated:** No.")
    assert check(evidence, "`SessionStart` shows stderr to the user").answer == "supported"
    assert check(evidence, "The package is not deprecated").answer == "supported"


PORTS = "Production listens on port 5432 and staging on port 6432."


@each("said", [PORTS, "Production uses 5432, staging 6432.", "Staging has 6432; production has 5432, as ever."])  # fmt: skip
def test_of_two_numbers_in_a_line_each_is_its_own_things(said: str) -> None:
    found = check(heard(said), "Production uses 6432, staging 5432")
    assert (found.answer, found.evidence[0].quote) == ("contradicted", said)
    assert check(heard(said), "Staging uses 5432").answer == "contradicted"
    assert check(heard(said), "Staging uses 6432").answer == "supported"
    assert check(heard(said), "Production uses 5432").answer == "supported"


def test_one_line_that_gives_a_thing_its_number_outweighs_another_that_does_not() -> None:
    assert check(heard(PORTS, "Staging uses port 5432 too now."), "Staging uses 5432").answer == "supported"


def test_a_change_from_one_to_another_is_not_said_the_other_way_round() -> None:
    said = "The report mode changed from `json` to `terminal`."
    assert check(heard(said), "The report mode changed from `terminal` to `json`").answer == "contradicted"


def test_two_things_side_by_side_have_no_direction() -> None:
    assert check(heard("The ledger and the worker restart nightly."), "The worker and the ledger restart").answer == "supported"  # fmt: skip
