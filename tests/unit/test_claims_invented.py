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
    "The switches live in settings/switches.toml and are read by `loadSwitches(path: str)`.",
)
PAIRS = [
    ("Releases go out with `make publish` every Tuesday", "Releases go out with `make release` every Tuesday"),
    ("Ines owns the canary server", "Bruno owns the canary server"),
    ("Bruno is on duty in March", "Bruno is on duty in May"),
    ("Bruno is on duty in March", "Ines is on duty in March"),
    ("Likes brief replies in Dutch", "Likes brief replies in Danish"),
    ("The desktop team cuts the branch on Wednesday", "The phone team cuts the branch on Wednesday"),
    ("The road's wait is 8 seconds", "The road's wait is 40 seconds"),
    ("The office wait is 40 seconds", "The office wait is 8 seconds"),
    ("The switches are in `settings/switches.toml`", "The switches are in `setup/switches.toml`"),
    ("Reads the switches by `loadSwitches(path: str)`", "Reads the switches by `loadSwitches(name: str)`"),
    ("Pushes to trunk are not forced without a second reader", "A forced push to trunk is fine without a second reader"),
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
    assert check(_heard(), true).verdict == "supported", check(_heard(), true).why
    assert check(_heard(), invented).verdict != "supported"


def test_what_is_wanted_and_not_another_is_not_contradicted_by_both_their_names() -> None:
    assert check(_heard(), "Indent with tabs over spaces").verdict != "contradicted"
    assert check(_heard(), "Indent with spaces over tabs").verdict == "contradicted"


def test_the_word_that_stands_in_no_source_or_elsewhere_is_named() -> None:
    assert check(_heard(), "The phone team cuts the branch on Wednesday").why == "“phone” stands in no source"
    assert check(_heard(), "Ines is on duty in March").why == "“Ines” is not said of this"
