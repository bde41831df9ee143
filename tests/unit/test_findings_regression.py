"""Questions that the old memory answered are asked again of what an agent would load afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dreams.engines.types import Citation
from dreams.findings import examine, regression
from dreams.findings.base import FindingsReport
from dreams.findings.directories import between
from tests.world.cases import each
from tests.world.findings import DEPLOY, FILES, INDEX, USER, changed, codes, one


def _report(after: Mapping[str, bytes], *asked: str, before: Mapping[str, bytes] = FILES) -> FindingsReport:
    return examine(replace(between(before, after), asked=asked))


def _without(path: str) -> dict[str, bytes]:
    return {name: data for name, data in FILES.items() if name != path}


def test_a_change_that_loses_no_answer_needs_no_line() -> None:
    report = _report(changed("deploy.md", "through `make ship`", "with `make ship`"))
    assert not {"answer-lost", "questions"} & set(codes(report))


@each("link", ["x1.md", "x1.md#shop", "./x1.md"])
def test_a_fact_that_stands_but_is_no_longer_found_is_lost_to_an_agent(link: str) -> None:
    bare = b"The shop runs on PostgreSQL 15. Deploys go through `make ship`.\n"
    before = {**FILES, "x1.md": bare}
    before["MEMORY.md"] = (INDEX + f"- [Shop]({link}) - where the shop runs, how deploys go\n").encode()
    del before["deploy.md"]
    after = {**before, "MEMORY.md": INDEX.encode()}
    found = [f for f in _report(after, before=before).findings if f.code == "answer-lost"]
    assert found and all("x1.md" in f.message and "no longer find it" in f.message for f in found)
    assert {f.path for f in found} == {"MEMORY.md"}
    assert "an index row" in found[0].remedy


def test_what_is_one_link_away_is_told_once_for_its_memory() -> None:
    bare = b"Orders above 500 are checked by Ana.\n\nRefunds take 14 days and go through `make refund`.\n"
    hook = " - orders above a sum are checked, refunds take days and go through"
    before = {**FILES, "x1.md": bare, "MEMORY.md": f"{INDEX}- [Money](x1.md){hook}\n".encode()}
    after = {**before, "MEMORY.md": f"{INDEX}- [Money](x1.md)\n".encode()}
    report = _report(after, before=before)
    assert "answer-lost" not in codes(report)
    linked = one(report, "answer-linked")
    assert linked.severity == "info" and linked.path == "MEMORY.md" and linked.hunk_id
    assert linked.message.startswith("2 answers would be found only where an agent opens x1.md from its row")
    said = ["Orders above 500 are checked by Ana.", "Refunds take 14 days and go through `make refund`."]
    assert ", ".join(f"“{line}”" for line in said) in linked.message


def test_what_somebody_asked_for_once_is_missed_when_it_goes() -> None:
    after = changed("user_role.md", "- Never deploys to production after 16:00\n", "")
    report = _report(after, "may Ana deploy to production in the evening?", "unrelated words")
    lost = one(report, "answer-lost")
    assert lost.severity == "warn"
    assert "You asked “may Ana deploy to production in the evening?” in a past session." in lost.message
    assert "no longer appears anywhere" in lost.message
    assert lost.path == "user_role.md" and lost.hunk_id
    told = "An agent would no longer find an answer to 1 of 3 questions that the notes answered before."
    assert one(report, "questions").message == told


def test_a_request_to_forget_is_no_question_that_loses_its_answer() -> None:
    wish = "forget what you know about when Ana may deploy to production"
    subject = between(FILES, changed("user_role.md", "- Never deploys to production after 16:00\n", ""))
    assert "answer-lost" in codes(examine(replace(subject, asked=[wish])))
    cited = [replace(h, citations=(Citation("transcript", wish, role="user"),)) for h in subject.hunks]
    assert "answer-lost" not in codes(examine(replace(subject, asked=[wish], hunks=cited)))


def test_what_nobody_asked_for_and_is_gone_is_left_to_the_ledger() -> None:
    after = changed("user_role.md", "- Never deploys to production after 16:00\n", "")
    report = _report(after)
    assert "answer-lost" not in codes(report) and "unexplained-loss" in codes(report)


def test_a_new_answer_is_no_lost_one() -> None:
    after = changed("deploy.md", "PostgreSQL 15", "PostgreSQL 16")
    subject = replace(between(FILES, after), asked=("which PostgreSQL does the shop run on?",))
    assert "changed" in {one.outcome for one in regression.run(subject)}
    assert not {"answer-lost", "questions"} & set(codes(examine(subject)))


def test_a_merge_into_a_memory_that_is_found_keeps_its_answers() -> None:
    body = DEPLOY.split("---\n", 2)[2]
    merged = (USER + body).replace(
        "description: What Ana does and likes", "description: Ana, and how the shop is deployed"
    )
    after = {**_without("deploy.md"), "user_role.md": merged.encode()}
    after["MEMORY.md"] = (
        INDEX.replace("- [Deploy](deploy.md) — how the shop is deployed\n", "")
        .replace("what Ana does and likes", "what Ana does and likes, how the shop is deployed")
        .encode()
    )
    assert "answer-lost" not in codes(_report(after, "how is the shop deployed?"))


def test_the_rejected_part_counts_as_it_is_decided() -> None:
    """With the removal rejected, the text to be written is the old one: what was asked is answered."""
    subject = replace(between(FILES, FILES), asked=("may Ana deploy to production in the evening?",))
    assert [(one.question.asked, one.outcome) for one in regression.run(subject)] == [(True, "answered")]


def test_long_pastes_and_thousands_of_prompts_are_bounded() -> None:
    after = changed("deploy.md", "PostgreSQL 15", "PostgreSQL 16")
    asked = ["x " * 5_000, *(f"how is the shop deployed, take {n}?" for n in range(2_000))]
    report = _report(after, *asked)
    assert "check-failed" not in codes(report)


def test_a_neighbour_that_stood_before_is_no_new_answer() -> None:
    line = "- `npx flow swarm {0}` starts the swarm for {0} work\n"
    before = {**FILES, "user_role.md": (USER + line.format("audit") + line.format("review")).encode()}
    after = {**before, "user_role.md": (USER + line.format("review")).encode()}
    report = _report(after, "what does Ana do that starts the swarm for audit work?", before=before)
    assert "no longer appears anywhere" in one(report, "answer-lost").message
