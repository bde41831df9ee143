"""Each added claim has a source that says all of it; each new date follows from one."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from dreams.engines.types import Citation, Fate
from dreams.findings import evidence, examine
from dreams.findings.base import FindingsReport, SessionAnswer
from dreams.findings.directories import Said, SessionTurn, between, with_citations
from tests.world.cases import each
from tests.world.findings import FILES, changed, codes, one, report

END = "orders in 2025-11.\n"
HEAD = "---\nname: api\ndescription: Where the API runs\ntype: project\n---\n\n"
DAY = dt.datetime(2026, 3, 3, 9, 0, tzinfo=dt.UTC)


def adding(line: str, **more):
    return report(changed("deploy.md", END, f"{END}{line}\n"), **more)


def said(quote: str, role: str = "user", **more) -> tuple[Citation, ...]:
    return (Citation("transcript", quote, "s.jsonl", line_no=4, role=role, at=DAY, **more),)


def test_a_claim_without_a_quote_warns():
    found = one(adding("- Backups go to Hetzner every night"), "no-evidence")
    assert found.severity == "warn"
    assert found.line_no == 11
    assert "“Hetzner”" in found.message
    assert "“Hetzner”" in found.message_parts.remark and found.message_parts.remark.endswith(
        "in no memory and no quote."
    )
    assert found.message_parts.statement == "Backups go to Hetzner every night"


def test_words_without_source_are_shown_as_they_are_written():
    found = one(adding("- Releases are watched since the outage"), "no-evidence")
    assert "“Releases”" in found.message
    assert "“outage”" in found.message


def test_a_no_that_answers_denies_nothing_of_what_follows_it():
    quote = said("no, use uv instead of pip in this repository")
    assert "says-otherwise" not in codes(
        adding("- use uv instead of pip in this repository", citations=quote)
    )
    assert "says-otherwise" in codes(
        adding("- use pip in this repository", citations=said("no, do not use pip in this repository"))
    )


def test_the_first_clause_of_a_source_is_not_turned_round_by_its_second():
    quote = said("remember that the beta group is on Android only, there is no iOS beta")
    assert "says-otherwise" not in codes(adding("- the beta group is on Android only", citations=quote))
    assert "says-otherwise" in codes(adding("- there is iOS beta", citations=said("there is no iOS beta")))


def test_a_day_worked_out_from_the_line_before_has_a_source():
    line = "Yesterday staging moved to the new cluster."
    cited = (Citation("memory", line, "deploy.md", line_no=1, note="the memory’s own date: 2026-03-03"),)
    before = changed("deploy.md", END, f"{END}{line}\n")

    def wrote(day: str) -> set[str]:
        after = changed("deploy.md", "Yesterday", f"On {day}", before)
        return codes(report(after, before, citations=cited))

    assert not {"words-without-source", "date-without-source"} & wrote("2026-03-02")
    assert {"words-without-source", "date-without-source"} <= wrote("2026-05-09")


def test_a_quarter_worked_out_from_the_line_before_has_a_source():
    line = "The migration failed last quarter."
    cited = (Citation("memory", line, "deploy.md", line_no=1, note="the memory’s own date: 2026-03-03"),)
    before = changed("deploy.md", END, f"{END}{line}\n")
    after = changed("deploy.md", "last quarter", "in 2025-Q4", before)
    assert "words-without-source" not in codes(report(after, before, citations=cited))


def test_a_claim_that_its_quote_says_is_fine():
    quote = said("by the way, our backups go to Hetzner every night")
    assert not {"no-evidence", "words-without-source"} & codes(
        adding("- Backups go to Hetzner every night", citations=quote)
    )


def test_each_of_several_quotes_from_long_messages_is_a_source():
    long = " ".join(f"Step {number} is done." for number in range(120))
    quotes = (
        *said("we moved the backups", "assistant", context=long),
        *said("our backups go to Hetzner every night", "assistant"),
    )
    assert not {"no-evidence", "words-without-source"} & codes(
        adding("- Backups go to Hetzner every night", citations=quotes)
    )


def test_a_number_that_the_quote_does_not_have_is_listed():
    found = one(
        adding("- Backups are kept for 30 days", citations=said("backups are kept for 14 days")),
        "words-without-source",
    )
    assert "“30”" in found.message


def test_a_number_said_of_something_else_is_no_evidence():
    quote = said("backups are kept for 14 days. The team has 30 people.")
    assert "words-without-source" in codes(adding("- Backups are kept for 30 days", citations=quote))


@each(
    ("line", "quote", "is_found"),
    [
        ("- Nine agents have a budget of $3.25 a day", "3€/jour (~$3.25) via API", True),
        (
            "- The frontend runs on https://shop.example",
            "**Live:** [shop.example](https://shop.example)",
            True,
        ),
        (
            "- The other 9 agents only answer when they are asked by the first one",
            "delegates to the 9 agents",
            True,
        ),
        ("- The other 9 agents only answer when they are asked by the first one", "9 euros", False),
        ("- The layer is described in playbooks/viral-post.md", "# Viral post", True),
        ("- The layer is described in playbooks/viral-mail.md", "# Viral post", False),
    ],
)
def test_a_name_that_a_quoted_file_has_or_is_called_has_a_source(line: str, quote: str, is_found: bool):
    cited = Citation("repository", quote, "/repo/playbooks/viral-post.md", line_no=1)
    words = one(adding(line, citations=(cited,)), "words-without-source").message
    (value,) = (each for each in ("$3.25", "https://shop.example", "9", "playbooks/") if each in line)
    assert (f"“{value}" in words) is not is_found


@each(
    ("was", "now", "place"),
    [
        ("keeps its cache in memcached", "keeps its cache in redis", "/repo/README.md"),
        ("keeps its cache", "deletes its cache", "/repo/README.md"),
        ("has 8 replicas", "has 7 replicas", "/repo/Dockerfile.17"),
        ("has 8 replicas", "has 9 replicas", "commit abc1239"),
        ("has its notes in TXT", "has its notes in MD", "/repo/README.md"),
    ],
)
def test_a_claimed_change_whose_quote_and_file_lack_the_new_word_is_never_without_a_finding(was, now, place):
    line, new = (f"- The shop server in production {said}" for said in (was, now))
    before = {**FILES, "a.md": f"# A\n\n{line}\n".encode()}
    quote = "The shop server in production has its cache and its notes and its replicas"
    claim = Fate(line, "superseded-by", "a.md", new)
    found = report(
        changed("a.md", line, new, before),
        before,
        fates=(claim,),
        citations=(Citation("repository", quote, place, line_no=1),),
    )
    assert "words-without-source" in codes(found)


def test_a_change_that_is_proven_may_say_the_opposite_of_the_line_that_it_replaces():
    before = {**FILES, "a.md": b"# A\n\n- Payments: Stripe Checkout (Day 5, not yet built)\n"}
    after = changed("a.md", "not yet built", "built", before)
    proof = Citation("repository", "| Payments | Stripe | Checkout, built |", "/repo/README.md", line_no=1)
    assert "says-otherwise" not in codes(report(after, before, citations=(proof,)))
    itself = Citation("memory", "Stripe Checkout (Day 5, not yet built)", "a.md", line_no=3)
    assert "says-otherwise" in codes(report(after, before, citations=(itself,)))


def test_a_line_that_the_same_changes_correct_is_no_source_to_reverse():
    before = {
        **FILES,
        "a.md": b"# A\n\n- Checkout (Day 5, not yet built)\n\nText.\n\n- Current state (Day 2 complete)\n",
    }
    after = changed(
        "a.md", "not yet built", "built", changed("a.md", "Day 2 complete", "Day 5 built", before)
    )
    proof = Citation("repository", "Stripe checkout: yes (Day 5)", "/repo/README.md", line_no=1)
    assert "says-otherwise" not in codes(report(after, before, citations=(proof,)))


def test_a_claim_that_denies_its_quote_warns():
    quote = said("please don't run the migrations on deploy")
    assert "says-otherwise" in codes(adding("- Run the migrations on deploy", citations=quote))
    assert "says-otherwise" not in codes(adding("- Never run the migrations on deploy", citations=quote))


@each("denial", [", not.", ", never.", " (not).", ", or not."])
def test_a_denial_at_the_end_of_a_sentence_is_told_like_any_other_whether_it_comes_or_goes(denial: str):
    """The whole sentence is there, word for word, and says its opposite."""
    denied = f"The API runs on host alpha{denial}"
    for old, new in (("The API runs on host alpha.", denied), (denied, "The API runs on host alpha.")):
        before = {**FILES, "api.md": f"{HEAD}{old}\n".encode()}
        found = report({**FILES, "api.md": f"{HEAD}{new}\n".encode()}, before)
        assert "unexplained-loss" in codes(found), f"{old} → {new}"


@each("denial", ["Not.", "NOT!", "No.", "Never."])
def test_a_sentence_that_only_denies_the_one_before_it_is_told(denial: str):
    before = {**FILES, "api.md": f"{HEAD}The API runs on host alpha.\n".encode()}
    after = {**FILES, "api.md": f"{HEAD}The API runs on host alpha. {denial}\n".encode()}
    quote = (Citation("memory", "The API runs on host alpha.", "api.md", line_no=7),)
    assert "says-otherwise" in codes(report(after, before, citations=quote))


def test_a_quote_that_is_not_there_blocks():
    found = one(
        adding("- Backups go to Hetzner", citations=said("backups go to Hetzner", found=False)),
        "quote-not-found",
    )
    assert found.severity == "block" and "is not in" in found.message
    cut = (replace(said("e")[0], found=False, note="it is no whole word there"),)
    assert one(adding("- Backups go to Hetzner", citations=cut), "quote-not-found").message.endswith(
        ": it is no whole word there."
    )


def test_what_stood_before_needs_no_quote():
    assert "no-evidence" not in codes(adding("- Reviews pull requests every Friday"))


def test_a_short_title_claims_nothing_and_one_with_a_number_does():
    def row(title: str):
        return codes(
            report(
                changed(
                    "MEMORY.md", "- [Gone]", f"- [{title}](deploy.md) — how the shop is deployed\n- [Gone]"
                )
            )
        )

    assert "no-evidence" not in row("Release train")
    assert "no-evidence" in row("Release train of 14:30")


def test_a_row_is_covered_by_the_file_that_it_names():
    after = changed("MEMORY.md", "- [Gone]", "- [Shop](deploy.md) — the shop runs on PostgreSQL 15\n- [Gone]")
    assert not {"no-evidence", "words-without-source"} & codes(report(after))
    invented = changed("MEMORY.md", "- [Gone]", "- [Shop](deploy.md) — the shop runs on Kubernetes\n- [Gone]")
    assert "no-evidence" in codes(report(invented))


@each(("link", "warns"), [("feedback-harbour-gate", False), ("feedback-otter-gate", True)])
def test_the_name_of_a_linked_memory_needs_no_source(link: str, warns: bool):
    told = "orders in 2025-11. It closes as [[{}]] does.\n"
    files = {**FILES, "feedback_harbour_gate.md": b"The gate closes at night.\n"}
    before = changed("deploy.md", END, told.format("gate"), files)
    after = changed("deploy.md", END, told.format(link), files)
    assert ("no-evidence" in codes(report(after, before))) == warns


def test_what_a_person_wrote_needs_no_quote():
    assert not {"no-evidence", "date-without-source"} & codes(
        adding("- Backups moved on 2026-01-02", by_hand=True)
    )


def test_what_only_a_tool_printed_is_marked():
    line = "- Backups go to Hetzner every night"
    assert "only-tool-output" in codes(adding(line, citations=said(line, role="tool")))
    assert "only-tool-output" not in codes(adding(line, citations=said(line)))


def test_a_new_date_without_a_source_warns():
    found = adding("- Backups moved on 2026-01-02", citations=said("backups moved"))
    assert one(found, "date-without-source").severity == "warn"


def test_a_date_that_follows_from_a_relative_one_is_fine():
    found = adding("- Backups moved on 2026-03-02", citations=said("we moved the backups yesterday"))
    assert not {"date-without-source", "words-without-source"} & codes(found)


def test_a_wrongly_computed_date_warns():
    found = adding("- Backups moved on 2026-02-20", citations=said("we moved the backups yesterday"))
    assert "date-without-source" in codes(found)


def test_a_changed_date_without_a_source_warns():
    assert "date-changed" in codes(report(changed("deploy.md", "2025-11", "2025-12")))


def test_the_note_of_an_older_day_is_the_reference():
    before = {"a.md": b"---\ntype: project\n---\n- The old API was switched off yesterday\n"}
    after = {"a.md": b"---\ntype: project\n---\n- The old API was switched off on 2026-03-02\n"}
    cited = Citation(
        "history", "The old API was switched off yesterday", "a.md", note="first seen: 2026-03-03"
    )
    assert codes(report(after, before, citations=(cited,))) == set()
    wrong = Citation(
        "history", "The old API was switched off yesterday", "a.md", note="first seen: 2026-04-03"
    )
    assert "date-without-source" in codes(report(after, before, citations=(wrong,)))


def test_sessions_give_the_evidence_that_nobody_cited():
    subject = between(FILES, changed("deploy.md", END, f"{END}- Backups go to Hetzner every night\n"))
    turns = [
        SessionTurn("a.jsonl", 3, "tool", DAY, "backups go to Hetzner every night"),
        SessionTurn("a.jsonl", 9, "user", DAY, "Hello. Our backups go to Hetzner every night."),
    ]
    cited = with_citations(subject, Said(turns))
    (hunk,) = cited.hunks
    assert [(c.role, c.line_no) for c in hunk.citations] == [("user", 9), ("tool", 3)]
    assert "no-evidence" not in codes(examine(cited))


def test_a_persons_own_words_are_never_called_into_question():
    quote = said("The beta group is 40 people, not the whole office. There is no iOS beta yet, only Android.")
    assert not {"says-otherwise", "words-without-source", "no-evidence"} & codes(
        adding("- The beta group is 40 people", citations=quote)
    )


def test_a_person_who_said_otherwise_later_is_believed():
    first = said("The beta group is 40 people.")
    later = Citation("transcript", "The beta group is 60 people now.", "t.jsonl", line_no=2, role="user", at=DAY + dt.timedelta(days=3))  # fmt: skip
    found = one(adding("- The beta group is 40 people", citations=(*first, later)), "says-otherwise")
    assert "60 people now" in found.message


def test_a_session_that_says_otherwise_is_named():
    subject = between(FILES, changed("deploy.md", END, f"{END}- The importer retries failed uploads\n"))
    turns = [
        SessionTurn("a.jsonl", 3, "user", DAY, "Backups go to Hetzner every night."),
        SessionTurn("a.jsonl", 7, "assistant", DAY, "The importer does not retry failed uploads."),
    ]
    found = one(examine(with_citations(subject, Said(turns))), "says-otherwise")
    assert found.severity == "warn"


def heard_on(*added: str, by_hand: bool = False) -> FindingsReport:
    """The findings where sessions say the contrary of every added statement."""
    subject = between(FILES, changed("deploy.md", END, END + "".join(f"- {line}\n" for line in added)))
    place = Citation("transcript", "It is not so.", "s.jsonl", line_no=3, role="user")
    hunks = [replace(hunk, by_hand=by_hand) for hunk in subject.hunks]
    return examine(
        replace(subject, hunks=hunks, heard=lambda text: SessionAnswer("contradicted", "otherwise", place))
    )


def test_what_sessions_deny_is_told_of_an_engines_words_and_not_of_a_persons():
    line = "The importer retries failed uploads"
    assert "is not what a session says (line 3)" in one(heard_on(line), "says-otherwise").message
    typed = heard_on(line, by_hand=True)
    assert "says-otherwise" not in codes(typed)
    assert [judged.heard.answer for judged in typed.judged] == ["contradicted"], "beside the change it stands"


@each("kept", [True, False])
def test_two_rules_of_one_change_that_a_person_said_are_not_held_against_each_other(kept: bool) -> None:
    """If only one of them is added, the session that says the other is named."""
    rules = [f"The nightly export number {number} must never run before 04:00 UTC." for number in (1, 2)]
    lines = "".join(f"- {rule}\n" for rule in (rules if kept else rules[:1]))
    subject = between(FILES, changed("deploy.md", END, END + lines))
    newest = Citation("transcript", f"Remember that {rules[1]}", "b.jsonl", line_no=1, role="user")
    own = said(f"Remember that {rules[0]}")
    hunks = [replace(hunk, citations=own, operation="learn") for hunk in subject.hunks]

    def heard(text: str) -> SessionAnswer:
        return SessionAnswer("supported" if text in rules[1] else "contradicted", "", newest)

    assert ("says-otherwise" not in codes(examine(replace(subject, hunks=hunks, heard=heard)))) is kept


def test_no_more_statements_are_looked_up_than_the_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evidence, "MOST_JUDGED", 2)
    assert len(heard_on("Ana has a cat", "Ben has a dog", "Cleo has a bird").judged) == 2
