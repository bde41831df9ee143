"""Advice: the index's budget, long rows, many memories, types, what CLAUDE.md says, what was rejected."""

from __future__ import annotations

from dataclasses import replace

from dreams import findings
from dreams.conf import Config
from dreams.findings import examine, examining
from dreams.findings.comparing import between
from dreams.language import similarity
from tests.unit.findings_kit import FILES, INDEX, changed, codes, one, report


def test_an_index_over_its_lines_names_the_rows_that_fall_off():
    rows = "".join(f"- [Note {n}](note_{n}.md) — about {n}\n" for n in range(210))
    found = one(report({**FILES, "MEMORY.md": (INDEX + rows).encode()}), "index-over-budget")
    assert found.severity == "warn"
    assert "Note 197" in found.message
    assert "200 lines" in found.message


def test_an_index_over_its_bytes_is_told_too():
    rows = "".join(f"- [Note {n}](note_{n}.md) — {'long ' * 60}\n" for n in range(100))
    assert "index-over-budget" in codes(findings.health({"MEMORY.md": rows.encode()}))


def test_a_long_row_is_told_where_it_is_written():
    long_row = f"- [Ana](user_role.md) — {'what Ana does ' * 20}\n"
    after = changed("MEMORY.md", "- [Ana](user_role.md) — what Ana does and likes\n", long_row)
    found = one(report(after), "long-row")
    assert (found.severity, found.line_no, bool(found.hunk_id)) == ("info", 3, True)
    again = changed("deploy.md", "15", "16", files=after)
    assert "long-row" not in codes(report(again, after))


def test_many_memories_are_an_advice_and_only_when_one_comes():
    before = {f"note_{n}.md": b"---\ntype: user\n---\n- text\n" for n in range(31)}
    config = Config(many_memories=30)
    more = {**before, "new.md": b"---\ntype: user\n---\n- other words\n"}
    assert one(examine(between(before, more, config=config)), "many-memories").severity == "info"
    fewer = {path: data for path, data in before.items() if path != "note_3.md"}
    assert "many-memories" not in codes(examine(between(before, fewer, config=config)))


def test_a_memory_without_a_type_is_told():
    assert "no-type" in codes(report({**FILES, "plain.md": b"- text\n"}))
    assert "no-type" not in codes(report({**FILES, "user_plain.md": b"- text\n"}))
    assert "unknown-type" in codes(report({**FILES, "a.md": b"---\ntype: lesson\n---\n- text\n"}))


def test_what_claude_md_says_already_is_told():
    said = "# Rules\n\n- Run the linter before every commit.\n"
    after = {**FILES, "user_a.md": b"- Run the linter before every commit\n"}
    found = examine(between(FILES, after, instructions=said))
    assert one(found, "in-instructions").severity == "warn"
    other = {**FILES, "user_a.md": b"- Run the formatter before every commit\n"}
    assert "in-instructions" not in codes(examine(between(FILES, other, instructions=said)))


def test_a_memory_that_leaves_the_index_is_told():
    row = "- [Ana](user_role.md) — what Ana does and likes\n"
    assert "user_role.md" in one(report(changed("MEMORY.md", row, "")), "row-lost").message
    assert "row-lost" not in codes(report(changed("MEMORY.md", "[Ana]", "[Ana Lima]")))


def test_a_row_whose_memory_leaves_is_told():
    after = {path: data for path, data in FILES.items() if path != "deploy.md"}
    assert "deploy.md" in one(report(after), "row-dangles").message  # and not the row that dangled before


def test_a_rejected_line_that_comes_back_is_told():
    line = "- Backups go to Hetzner"
    rejected = frozenset({similarity.normalised(line)})
    subject = replace(between(FILES, {**FILES, "user_b.md": f"* {line[2:]}.\n".encode()}), rejected=rejected)
    assert one(examine(subject), "rejected-before").severity == "warn"


def test_a_judgement_of_a_person_is_told():
    assert "judgement" in codes(report({**FILES, "user_b.md": b"- The client is really annoying\n"}))
    assert "judgement" not in codes(report({**FILES, "user_b.md": b"- The client is in Lyon\n"}))


def test_a_check_that_fails_blocks_instead_of_stopping_the_others(monkeypatch):
    def broken(subject):
        raise ZeroDivisionError

    monkeypatch.setattr(examining, "_CHECKS", (("broken", broken), *examining._CHECKS))
    found = report({**FILES, "run.sh": b"x\n"})
    assert {"check-failed", "not-markdown"} <= codes(found)
    assert one(found, "check-failed").severity == "block"


def test_the_worst_comes_first():
    found = report(
        {**changed("user_role.md", "- Prefers tabs over spaces in Go code\n", ""), "run.sh": b"x\n"}
    )
    ranks = [findings.base.SEVERITIES.index(f.severity) for f in found.findings]
    assert ranks == sorted(ranks)
    assert found.worst() == "refuse"


def test_a_finding_keeps_its_key_when_lines_above_it_come():
    def key(files):
        after = changed("deploy.md", "make ship", "make ship --no-verify", files=files)
        return one(report(after, files), "permission").key

    assert key(FILES) == key(changed("deploy.md", "The shop runs", "Note.\n\nThe shop runs"))
