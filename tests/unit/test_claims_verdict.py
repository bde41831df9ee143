"""Claims about a written session: what it bears out, and the same claims with one thing changed."""

import pytest

from dreams.language.claims import Evidence, check, read
from tests.unit.claims_kit import LINES, write


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return read(write(tmp_path_factory.mktemp("claims") / "a.jsonl"))


BORNE_OUT = [
    "The staging server listens on port 8125",
    "Production listens on port 9310",
    "`openJournal()` opens the journal file and takes its lock",
    "`mergeEntries` sorts entries by sequence number and drops doubled ones",
    '`goconst`: string `"heartbeat"` has 4 occurrences',
    "The cache is always flushed before the snapshot",
    "The importer does not retry failed uploads",
    "The importer doesn't retry uploads that failed",
    "Sessions are encrypted at rest",
    "The audit trail is never flushed on shutdown",  # though the cache always is
    "Archives can't be split across buckets",
    "The retry limit was raised from 3 to 7",
    "The nightly export keeps 14 archives in the `cold-store` bucket",
    "`reader.go` defines `mergeEntries`",
]
CHANGED = [
    ("number", "The staging server listens on port 7000"),
    ("number", '`goconst`: string `"heartbeat"` has 5 occurrences'),
    ("number", "The retry limit was raised from 3 to 9"),
    ("number", "The nightly export keeps 40 archives in the `cold-store` bucket"),
    ("negation", "The cache is never flushed before the snapshot"),
    ("negation", "The importer retries failed uploads"),
    ("negation", "Sessions are not encrypted at rest"),
    ("negation", "The audit trail is always flushed on shutdown"),
    ("negation", "An archive can be split across several buckets of the same region"),
    ("direction", "The cache is always flushed after the snapshot"),
    ("recombined", "`flushPending()` opens the journal file and takes its lock"),
    ("recombined", "The nightly export keeps 14 archives in the `heartbeat` bucket"),
    ("foreign", "`closeLedger()` opens the journal file and takes its lock"),
    ("foreign", "The nightly export keeps 14 archives in the `warmstore` bucket"),
    ("words", "The payment provider was switched to invoices"),
]


@pytest.mark.parametrize("claim", BORNE_OUT)
def test_what_the_session_says_is_supported(session: Evidence, claim: str) -> None:
    assert check(session, claim).verdict == "supported", check(session, claim).why


@pytest.mark.parametrize(("kind", "claim"), CHANGED)
def test_one_changed_thing_is_noticed(session: Evidence, kind: str, claim: str) -> None:
    assert check(session, claim).verdict != "supported", kind


def test_the_opposite_is_a_contradiction_and_names_its_place(session: Evidence) -> None:
    found = check(session, "The cache is never flushed before the snapshot")
    assert found.verdict == "contradicted"
    assert found.evidence[0].line == 6
    assert found.evidence[0].quote == "The cache is always flushed before the snapshot is taken."


def test_quotes_stand_in_the_session_as_they_are(session: Evidence) -> None:
    for claim in [*BORNE_OUT, *(claim for _, claim in CHANGED)]:
        for quote in check(session, claim).evidence:
            assert any(quote.quote == unit.text[:300] and quote.line == unit.line for unit in session.units)


def test_only_lines_before_the_claim_count(session: Evidence) -> None:
    claim = "The nightly export keeps 14 archives in the `cold-store` bucket"
    assert check(session, claim, before_line=len(LINES)).verdict == "unsupported"
    assert check(session, claim, before_line=len(LINES) + 1).verdict == "supported"


@pytest.mark.parametrize("claim", ["", "   ", "it is", "`", "- ", "…"])
def test_a_claim_that_says_nothing_is_not_supported(session: Evidence, claim: str) -> None:
    assert check(session, claim).verdict == "unsupported"


def test_an_empty_session_supports_nothing() -> None:
    assert check(Evidence(), "The staging server listens on port 8125").verdict == "unsupported"
