"""Claims with one word of their own beside what a short session says: nothing of it is called supported."""

from dreams.lib.prose.claims import SessionText, check
from tests.world.cases import each

SAID = (
    "Please indent with tabs, not spaces, in the parser.",
    "The canary server listens on port 7443 and Ines owns it.",
    "We release every Tuesday at 11:00 with make publish.",
    "Never force a push to trunk without a second reader.",
    "Bruno is on duty in March.",
    "I like brief replies in Dutch.",
    "The desktop team cuts the branch on Wednesday.",
    "Waits are 40 seconds in the office and 8 seconds on the road.",
    "We moved the search index from Elasticsearch to Meilisearch.",
    "Do not mock the clock in the scheduler tests.",
    'The lint step prints "all clean here" at its end.',
    "Every release note has two sentences.",
    "Ticket ING-412 is about the canary server.",
    "The switches live in settings/switches.toml and are read by `loadSwitches(path: str)`.",
)
PAIRS = [
    ("Released with `make publish` every Tuesday", "Released with `make release` every Tuesday"),
    ("Ines owns the canary server", "Bruno owns the canary server"),
    ("Bruno is on duty in March", "Bruno is on duty in May"),
    ("Bruno is on duty in March", "Ines is on duty in March"),
    ("Likes brief replies in Dutch", "Likes brief replies in Danish"),
    ("The desktop team cuts the branch on Wednesday", "The phone team cuts the branch on Wednesday"),
    ("The road's wait is 8 seconds", "The road's wait is 40 seconds"),
    ("The office wait is 40 seconds", "The office wait is 8 seconds"),
    ("The switches are in `settings/switches.toml`", "The switches are in `setup/switches.toml`"),
    ("Reads the switches by `loadSwitches(path: str)`", "Reads the switches by `loadSwitches(name: str)`"),
    ("The search index moved to Meilisearch", "The search index moved to Elasticsearch"),
    ("The clock is not mocked in the scheduler tests", "The clock is mocked in the scheduler tests"),
    ('The lint step prints "all clean here" at its end', 'The lint step prints "nothing left here" at its end'),
    ("Every release note has two sentences", "Every release note has five sentences"),
    ("Ticket ING-412 is about the canary server", "Ticket ING-421 is about the canary server"),
    ("Indent with tabs in the parser", "Never indent with tabs in the parser"),
    ("The canary server of Ines listens on port `7443`", "The canary server of Marta listens on port `7443`"),
]  # fmt: skip


def _heard() -> SessionText:
    evidence = SessionText()
    for line, turn in enumerate(SAID, start=1):
        evidence.add(turn, line, "user", prose=True)
    return evidence


@each(("true", "invented"), PAIRS)
def test_a_word_that_is_not_said_of_it_is_seen_and_the_rest_is_supported(true: str, invented: str) -> None:
    assert check(_heard(), true).answer == "supported", check(_heard(), true).why
    assert check(_heard(), invented).answer != "supported"


def test_what_is_wanted_and_not_another_is_not_contradicted_by_both_their_names() -> None:
    assert check(_heard(), "Indent with tabs over spaces").answer != "contradicted"
    assert check(_heard(), "Indent with spaces over tabs").answer == "contradicted"


def test_the_word_that_stands_in_no_source_is_named() -> None:
    assert check(_heard(), "The phone team cuts the branch on Wednesday").why == "“phone” stands in no source"


@each(
    "claim",
    [
        "**Purpose:** Bruno is on duty in March",  # no source has the label
        "`loadSwitches` parses `settings/switches.toml`",  # nor how two names of code go together
        "The switches in `settings/switches.toml` (713 lines) are read by `loadSwitches`",
        "Reads the switches by `loadSwitches()`",
        "Ines owns the canary server. Bruno is on duty in March.",
    ],
)  # fmt: skip
def test_a_label_a_count_of_lines_and_the_arguments_of_a_call_are_not_held_against_a_claim(
    claim: str,
) -> None:
    assert check(_heard(), claim).answer == "supported", check(_heard(), claim).why
