"""Claims about a written session: what it bears out, and the same claims with one thing changed."""

import json
from pathlib import Path

import pytest

from dreams.lib.prose.claims import SessionText, anchors, check, read
from dreams.lib.prose.claims.anchors import claim_of
from dreams.lib.prose.claims.binding import bind
from dreams.lib.prose.claims.occurrences import occurrences
from tests.world.cases import each
from tests.world.transcripts import LINES, said, tool_call, tool_result, write


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> SessionText:
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
    ("actor", "`flushPending` merges the entries by their sequence number and drops doubled ones"),
    ("unit", "`openJournal` takes its lock for 45 minutes"),
    ("negation", "The snapshot is not taken"),
    ("recombined", "`flushPending()` opens the journal file and takes its lock"),
    ("recombined", "The nightly export keeps 14 archives in the `heartbeat` bucket"),
    ("recombined", "The nightly export keeps 14 archives, written by internal/server.go"),
    ("foreign", "The journal is merged by merge_ledger_entries"),
    ("foreign", "`closeLedger()` opens the journal file and takes its lock"),
    ("foreign", "The nightly export keeps 14 archives in the `warmstore` bucket"),
    ("negation", "The importer is not already flushed before the snapshot"),
    ("negation", "`mergeEntries` does not sort the entries by their sequence number"),
    ("words", "The payment provider was switched to invoices"),
]


@each("claim", BORNE_OUT)
def test_what_the_session_says_is_supported(session: SessionText, claim: str) -> None:
    assert check(session, claim).answer == "supported", check(session, claim).why


@each(("kind", "claim"), CHANGED)
def test_one_changed_thing_is_noticed(session: SessionText, kind: str, claim: str) -> None:
    assert check(session, claim).answer != "supported", kind


def test_the_opposite_is_a_contradiction_and_names_its_place(session: SessionText) -> None:
    found = check(session, "The cache is never flushed before the snapshot")
    assert found.answer == "contradicted"
    assert found.evidence[0].line == 6
    assert found.evidence[0].quote == "The cache is always flushed before the snapshot is taken."


def test_quotes_stand_in_the_session_as_they_are(session: SessionText) -> None:
    for claim in [*BORNE_OUT, *(claim for _, claim in CHANGED)]:
        for quote in check(session, claim).evidence:
            told = json.dumps(LINES[quote.line - 1], ensure_ascii=False)
            assert json.dumps(quote.quote, ensure_ascii=False)[1:-1] in told


def test_only_lines_before_the_claim_count(session: SessionText) -> None:
    claim = "The nightly export keeps 14 archives in the `cold-store` bucket"
    assert check(session, claim, before_line=len(LINES)).answer == "unsupported"
    assert check(session, claim, before_line=len(LINES) + 1).answer == "supported"


@each("claim", ["", "   ", "it is", "`", "- ", "…"])
def test_a_claim_that_says_nothing_is_not_supported(session: SessionText, claim: str) -> None:
    assert check(session, claim).answer == "unsupported"


@each("claim", ["not gone", "The zeppelin does not levitate", "It is never, never not so", "no"])
def test_a_denial_of_what_a_session_never_spoke_of_is_not_supported(session: SessionText, claim: str) -> None:
    assert check(session, claim).answer == "unsupported"


def test_what_is_said_to_be_itself_is_not_supported(session: SessionText) -> None:
    assert check(session, "The retry limit was raised from 7 to 7").answer == "unsupported"
    assert check(session, "`retryLimit` = `retryLimit`").answer == "unsupported"


def test_an_empty_session_supports_nothing() -> None:
    assert check(SessionText(), "The staging server listens on port 8125").answer == "unsupported"


def test_a_persons_words_are_borne_out_word_for_word_and_shown(session: SessionText) -> None:
    found = check(session, "The nightly export runs at 02:40 and keeps 14 archives")
    assert (found.answer, found.evidence[0].role) == ("supported", "user")


def test_words_that_a_source_denies_do_not_stand_there(tmp_path: Path) -> None:
    evidence = read(write(tmp_path / "a.jsonl", [said("user", "Please never run the migrations on deploy.")]))
    assert check(evidence, "Run the migrations on deploy").answer != "supported"


def test_what_a_person_says_later_counts(tmp_path: Path) -> None:
    lines = [said("user", "The beta group is 40 people."), said("user", "The beta group is 60 people now.")]
    evidence = read(write(tmp_path / "a.jsonl", lines))
    found = check(evidence, "The beta group is 40 people")
    assert found.answer == "contradicted"
    assert found.evidence[0].quote == "The beta group is 60 people now."
    assert check(evidence, "The beta group is 40 people", before_line=2).answer == "supported"


@each(
    ("text", "presence"),
    [
        ("openJournal()", 1.0),
        ("openJournal(path, mode)", 0.95),
        ("internal/reader.go", 1.0),
        ("lib/other/reader.go", 0.75),
        ("openJournalLater", 0.0),
        ("flush-audit", 0.45),
    ],
)
def test_a_name_stands_whole_in_part_or_not_at_all(session: SessionText, text: str, presence: float) -> None:
    (anchor,) = claim_of(f"see `{text}` there").anchors
    assert occurrences(session, anchor, len(session.units)).presence == pytest.approx(presence)


def test_a_name_unlike_its_neighbours_in_a_list_is_odd() -> None:
    found = claim_of("reads `one_key`, `two_key` and `--force`")
    assert [anchors.odd_in_list(found, anchor) for anchor in found.anchors] == [-1, -1, 1]


def test_the_same_words_with_another_thing_in_their_midst_are_a_contradiction(tmp_path: Path) -> None:
    summary = "Phase two of the billing job moved from `cron_daily` to `queue_runner` and keeps 5 retries per tenant."
    evidence = read(write(tmp_path / "a.jsonl", [said("assistant", summary)]))
    assert check(evidence, summary).answer == "supported"
    for was, now in (
        ("`queue_runner`", "`billing_job`"),
        ("5 retries", "8 retries"),
        ("and keeps", "and never keeps"),
    ):
        found = check(evidence, summary.replace(was, now))
        assert (found.answer, found.evidence[0].quote) == ("contradicted", summary), now


def test_a_number_that_was_true_once_does_not_speak_against_the_later_one(tmp_path: Path) -> None:
    lines = [
        said("assistant", "The suite has all 12 tests of the billing job passing now."),
        said(
            "assistant", "I added three more, so the suite of the billing job has 15 tests, all passing now."
        ),
    ]
    evidence = read(write(tmp_path / "a.jsonl", lines))
    assert check(evidence, "The suite has all 15 tests of the billing job passing now").answer == "supported"


def test_a_version_is_said_by_a_longer_one(tmp_path: Path) -> None:
    listing = '{\n  "dependencies": {\n    "next": "15.5.2",\n    "react": "19.1.0"\n  }\n}'
    lines = [tool_call("Read", file_path="/web/package.json", id="p"), tool_result("p", listing)]
    evidence = read(write(tmp_path / "a.jsonl", lines))
    assert check(evidence, "`package.json` has react 19 among its dependencies").answer == "supported"
    assert check(evidence, "`package.json` has react 18 among its dependencies").answer != "supported"


@each(
    ("true", "false"),
    [
        ("The gate's `retries` default to 4", "The gate's `retries` default to 2"),  # 2 is a line, and 2>&1
        ("`gate.conf` sets `burst: 9` for the gate", "`gate.conf` sets `burst: 4` for the gate"),
        ("The gate needs gatelib v3.12.1 to start", "The gate needs gatelib v3.12.4 to start"),
        ("`hooks/gate.conf` sets the burst to 9", "`hooks/door.conf` sets the burst to 9"),
    ],
)
def test_a_number_or_a_name_of_somewhere_else_bears_out_nothing(
    tmp_path: Path, true: str, false: str
) -> None:
    listing = "1\u2192# The gate needs gatelib v3.12.1 to start\n2\u2192gate:\n3\u2192  retries: 4  # default of the gate\n4\u2192  burst: 9"
    door = "1\u2192door:\n2\u2192  colour: green"
    lines = [
        tool_call("Read", file_path="/srv/etc/hooks/gate.conf", id="g"),
        tool_result("g", listing),
        tool_call("Read", file_path="/srv/etc/hooks/door.conf", id="d"),
        tool_result("d", door),
        tool_call("Bash", command="gatectl check 2>&1 | tail", id="c"),
        tool_result("c", "gate.conf:2: retries of the gate are the default"),
        said("assistant", "The gate lets `any` header pass."),
    ]
    evidence = read(write(tmp_path / "a.jsonl", lines))
    assert check(evidence, true).answer == "supported", check(evidence, true).why
    assert check(evidence, false).answer != "supported"


@each(
    ("claim", "answer"),
    [
        ("Queue 0 is drained by hand", "supported"),
        ("Queue 1 is drained by hand", "supported"),
        ("Queue 2 is drained by hand", "unsupported"),
        ("Worker 4 never restarts on its own", "supported"),
        ("The proxy listens on port 8080", "contradicted"),
    ],
)
def test_a_numbered_thing_is_not_contradicted_by_another_of_its_kind(
    tmp_path: Path, claim: str, answer: str
) -> None:
    told = (
        "Queue 0 is drained by hand.",
        "Queue 1 is drained by hand.",
        "Worker 4 never restarts on its own.",
        "Worker 5 restarts on its own.",
        "The proxy listens on port 8080.",
        "The proxy listens on port 9090 now.",
    )
    evidence = read(write(tmp_path / "a.jsonl", [said("user", line) for line in told]))
    assert check(evidence, claim).answer == answer


@each(
    ("source", "claim"),
    [
        ("This page displays the provider cards and should show the roles.", "Each page displays all roles on the provider cards"),
        ("It cannot use string(kind) as the name of a constant.", "Uses the `kindName` constant for the string"),
    ],
)  # fmt: skip
def test_words_of_quantity_and_scattered_words_are_no_contradiction(
    tmp_path: Path, source: str, claim: str
) -> None:
    lines = [said("assistant", "`kindName` is a constant."), said("assistant", source)]
    assert check(read(write(tmp_path / "a.jsonl", lines)), claim).answer != "contradicted"


def test_a_measure_in_smaller_units_bears_out_the_larger(tmp_path: Path) -> None:
    code = "export function callHook(verb) {\n  return execSync(verb, {\n    timeout: 30000,\n  });\n}"
    lines = [tool_call("Read", file_path="/src/hook.ts", id="h"), tool_result("h", code)]
    evidence = read(write(tmp_path / "a.jsonl", lines))
    assert check(evidence, "`callHook` runs `execSync` with a timeout of 30 seconds").answer == "supported"
    assert check(evidence, "`callHook` runs `execSync` with a timeout of 90 seconds").answer != "supported"


def test_what_stands_below_a_name_is_said_of_it_and_of_no_neighbour(tmp_path: Path) -> None:
    code = (
        "actions do\n  update :hide do\n    accept []\n    change set_attribute(:hidden_at, now)\n  end\n\n"
        "  update :unhide do\n    accept []\n    change set_attribute(:hidden_at, nil)\n  end\nend"
    )
    lines = [tool_call("Read", file_path="/lib/session.ex", id="s"), tool_result("s", code)]
    evidence = read(write(tmp_path / "a.jsonl", [*LINES, *lines]))  # in a few lines alone no word is rare
    assert check(evidence, "`:unhide` sets `hidden_at` to nil").answer == "supported"


@each(
    ("source", "true", "false"),
    [
        ("The worker doesn't support a `retry` field in the upload configuration.", "The worker does not support a `retry` field for uploads", "The worker supports a `retry` field for uploads"),
        ("Entries cannot be split without breaking the checksum of the block.", "An entry cannot be split without breaking its block's checksum", "An entry can be split without breaking its block's checksum"),
        ("The exporter writes the newest invoices of a tenant before the oldest ones.", "The exporter writes a tenant's newest invoices first", "The exporter reads a tenant's newest invoices before the oldest ones"),
        ("The migration of the ledger runs on staging every Tuesday evening.", "The ledger's migration runs on staging, on Tuesday evening", "The ledger's migration runs on production, on Tuesday evening"),
    ],
)  # fmt: skip
def test_in_other_words_what_is_denied_and_its_opposite_are_told_apart(
    tmp_path: Path, source: str, true: str, false: str
) -> None:
    chatter = [
        said("assistant", f"Module {name} is read next, then its tests are run.") for name in ("a", "b", "c")
    ]
    evidence = read(write(tmp_path / "a.jsonl", [*chatter, said("user", source)]))
    assert check(evidence, true).answer == "supported", check(evidence, true).why
    assert check(evidence, false).answer != "supported"


@each("one", ["x", "X", "0x", "é", "_a", "a-b-", "aB"])
def test_a_claim_of_one_endless_word_is_answered_like_any_other(session: SessionText, one: str) -> None:
    """Each place in a word was taken for the start of a name with capitals, and 4,000 letters took two minutes."""
    assert check(session, one * 4000).answer == "unsupported"


@each(
    ("source", "denies", "says"),
    [
        ("The importer does _not_ retry uploads.", "The importer does not retry uploads", "The importer does retry uploads"),
        ("the importer doesnt retry uploads", "The importer doesn't retry uploads", "The importer does retry uploads"),
        ("Arguments are non-positional by default.", "Arguments aren't positional by default", "Arguments are positional by default"),
    ],
)  # fmt: skip
def test_a_denial_is_heard_however_it_is_written(source: str, denies: str, says: str) -> None:
    evidence = SessionText()
    evidence.add(source, 1, "assistant", prose=True)
    assert check(evidence, denies).answer == "supported"
    assert check(evidence, says).answer == "contradicted"


OPTIONS = """parser = build(
    argument(
        "--deep",
        action="store_true",
        help="Watches folders and whatever stands below them.",
    ),
    argument(
        "--quiet",
        action="store_true",
        help="Prints errors alone.",
    ),
)
"""


def test_what_one_call_says_is_said_of_its_first_argument() -> None:
    evidence = SessionText()
    evidence.add(OPTIONS, 1, "tool", prose=False)
    near = {}
    for name in ("--deep", "--quiet"):
        claim = claim_of(f"`{name}`: watches folders and whatever stands below them")
        near[name] = bind(evidence, claim, claim.anchors[0], 99).here[1]
    assert near["--deep"] > 0.7
    assert near["--quiet"] < 0.1
