"""Advice: the index's size, long rows, many memories, types, what CLAUDE.md says, what was rejected."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from dreams import findings
from dreams.conf import Config
from dreams.findings import examine, examining
from dreams.findings.base import Repeated
from dreams.findings.directories import between
from dreams.lib.prose import comparing
from tests.world.cases import each
from tests.world.findings import FILES, INDEX, changed, codes, one, report


def test_an_index_over_its_lines_names_the_rows_that_fall_off():
    rows = "".join(f"- [Note {n}](note_{n}.md) — about {n}\n" for n in range(210))
    found = one(report({**FILES, "MEMORY.md": (INDEX + rows).encode()}), "index-over-budget")
    assert found.severity == "warn"
    assert "Note 197" in found.message
    assert "200 lines" in found.message
    tail = f"{'- A crane lifts.' + chr(10)}" * 210 + "- **CLAUDE.md** has the rules\n"
    found = one(report({**FILES, "MEMORY.md": (INDEX + tail).encode()}), "index-over-budget")
    assert "never loaded" not in found.message, "no row for a memory falls off"


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


def test_long_rows_that_stand_are_one_advice_for_the_index():
    rows = "".join(f"- [Note {n}](note_{n}.md) — {'what it says ' * n}\n" for n in range(14, 21))
    found = one(
        findings.health({"MEMORY.md": rows.encode(), "work/MEMORY.md": b"- [A](a.md) - a\n"}), "long-row"
    )
    longest = len(rows.splitlines()[-1])
    assert (
        f"7 rows of over 200 characters; the longest is that of note_20.md, with {longest}." in found.message
    )
    assert found.line_no == 7


def test_that_nothing_has_to_change_is_said_only_of_an_index_that_fits():
    row = f"- [Ana](user_role.md) — {'what Ana does ' * 20}\n"
    few, many = row, row + "".join(f"- [Note {n}](note_{n}.md) — about {n}\n" for n in range(210))
    for rows, fits in ((few, True), (many, False)):
        found = one(findings.health({"MEMORY.md": rows.encode()}), "long-row")
        assert ("While the index fits" in found.remedy) is fits
        assert "A shorter row leaves room" in found.remedy


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


def test_a_change_is_not_told_of_a_type_that_its_memory_never_had():
    before = {**FILES, "plain.md": b"- text\n", "lesson.md": b"---\ntype: lesson\n---\n- text\n"}
    after = {path: data.replace(b"- text", b"- other text") for path, data in before.items()}
    assert not {"no-type", "unknown-type"} & set(codes(examine(between(before, after))))
    lost = {**before, "lesson.md": b"- text\n"}
    assert "no-type" in codes(examine(between(before, lost)))


@each(("typed", "told"), [(0, 0), (4, 0), (5, 5)])
def test_a_memory_without_a_type_is_told_where_most_have_one(typed, told):
    files = {f"2026-02-{n}.md": b"- text\n" for n in range(10, 15)}
    files |= {f"user_{n}.md": b"---\ntype: user\n---\n- text\n" for n in range(typed)}
    assert [one.code for one in findings.health(files).findings].count("no-type") == told


def _memory(kind: str, body: str) -> bytes:
    return f"---\nname: a\ndescription: b\ntype: {kind}\n---\n\n{body}\n".encode()


def test_a_memory_of_another_type_than_its_name_says_is_told():
    path, data = "project_hosts.md", _memory("reference", "See https://wiki.test/hosts")
    found = one(findings.health({path: data}), "wrong-type")
    assert (found.severity, found.path) == ("info", path)
    assert found.remedy
    assert "wrong-type" in codes(report({**FILES, path: data}))


OPEN = "- [ ] The sums are right\n- [ ] The reader is fast"


@each(("boxes", "tells"), [(OPEN, False), (f"- [x] The cart works\n{OPEN}", True)])
def test_boxes_that_nobody_has_ticked_may_be_a_list_of_what_to_check(boxes, tells):
    files = {"project_shop.md": _memory("project", boxes)}
    assert ("task-state" in codes(findings.health(files))) is tells
    assert "task-state" in codes(report({**FILES, **files})), "as a change it is told"


@each(
    ("path", "data"),
    [
        ("user_tastes.md", _memory("user", "- The user prefers tabs")),
        ("users.md", _memory("project", "- Rows of users are kept for a year")),
    ],
)
def test_a_memory_of_its_own_type_is_not(path, data):
    assert "wrong-type" not in codes(findings.health({path: data}))


def test_a_reference_that_holds_the_content_is_told_and_a_pointer_is_not():
    content = "The importer reads a row, checks its sum and writes it back. " * 15
    held = {"reference_importer.md": _memory("reference", content)}
    assert one(findings.health(held), "reference-holds-content").severity == "info"
    assert "reference-holds-content" in codes(report({**FILES, **held}))
    pointer = _memory("reference", f"All of it is in https://wiki.test/importer\n\n{content}")
    assert "reference-holds-content" not in codes(findings.health({"reference_importer.md": pointer}))


TREE = "```\nshop/\n├── cart.py\n├── pay.py\n└── web/\n```"
LOG = "- `9fceb02` Add the cart\n- `1b4d0aa` Fix the sum"


@each(("body", "code"), [(TREE, "in-code"), (LOG, "in-git")])
def test_what_the_files_and_git_show_anyway_is_told_once(body, code):
    files = {"project_shop.md": _memory("project", body)}
    found = one(findings.health(files), code)
    assert (found.severity, bool(found.line_no), bool(found.remedy)) == ("info", True, True)
    assert code in codes(report({**FILES, **files}))


@each("tree", ["|-- cart.py\n|-- pay.py\n`-- web/", "+---cart\n|   +---old\n+---web"])
def test_a_file_tree_in_plain_characters_is_one_too(tree):
    assert "in-code" in codes(findings.health({"project_shop.md": _memory("project", tree)}))


TABLES = [
    "|---|---|\n" * 3,
    "+-----+-----+\n| a | b |\n+-----+-----+\n| c | d |\n+-----+-----+",
    "├──────┼────┤\n" * 3 + "└──────┴────┘",
    "shop\n├──> cart\n├──> pay\n└──> web",
    "useCart (hook)\n├── readCart() → store\n├── sumUp() → total\n└── Cart (client)",
]


@each("drawn", TABLES)
def test_a_table_or_a_drawing_of_something_else_is_no_file_tree(drawn):
    assert "in-code" not in codes(findings.health({"project_shop.md": _memory("project", drawn)}))


def test_one_commit_and_a_drawing_of_two_lines_are_no_copy():
    files = {"project_shop.md": _memory("project", "- `9fceb02` broke the sum\n- A\n├── B\n└── C")}
    assert not {"in-git", "in-code"} & codes(findings.health(files))


def test_what_the_code_says_is_told_with_its_place():
    files = {"project_shop.md": _memory("project", "- Tests are run by `npm test`, which calls `vitest run`")}
    repeated = [Repeated("project_shop.md", 7, "package.json, line 4,", '"test": "vitest run"')]
    found = one(findings.health(files, repeated=repeated), "in-code")
    assert (found.line_no, "package.json, line 4" in found.message) == (7, True)
    subject = replace(between(FILES, {**FILES, **files}), repeated=repeated)
    assert one(examine(subject), "in-code").hunk_id


def test_what_claude_md_says_already_is_told():
    said = {"CLAUDE.md": "Be brief.\n", "docs/rules.md": "# Rules\n\n- Run the linter before every commit.\n"}
    after = {**FILES, "user_a.md": b"- Run the linter before every commit\n"}
    found = examine(between(FILES, after, instructions=said))
    told = one(found, "in-instructions")
    assert told.severity == "warn" and "repeats docs/rules.md, line 3" in told.message
    other = {**FILES, "user_a.md": b"- Run the formatter before every commit\n"}
    assert "in-instructions" not in codes(examine(between(FILES, other, instructions=said)))


def test_a_memory_that_the_instructions_include_does_not_repeat_itself():
    files = {**FILES, "user_a.md": b"- Run the linter before every commit\n"}
    said = {"notes/user_a.md": "- Run the linter before every commit\n"}
    assert "in-instructions" not in codes(findings.health(files, instructions=said))
    after = {
        **files,
        "user_a.md": b"- Run the linter before every commit\n- Write short lines in every file\n",
    }
    assert "in-instructions" not in codes(examine(between(files, after, instructions=said)))
    copied = {"CLAUDE.md": "- Run the linter before every commit\n"}
    assert "in-instructions" in codes(examine(between(FILES, files, instructions=copied))), "a new copy of it"


def test_a_memory_that_leaves_the_index_is_told():
    row = "- [Ana](user_role.md) — what Ana does and likes\n"
    assert "user_role.md" in one(report(changed("MEMORY.md", row, "")), "row-lost").message
    assert "row-lost" not in codes(report(changed("MEMORY.md", "[Ana]", "[Ana Lima]")))


def test_a_lost_row_is_told_at_its_own_change_whatever_its_file_is_called():
    names = {"old_role.md": "old_role.md", '50% "off".md': "50%25%20%22off%22.md", "role.md": "role.md"}
    names["A.md"] = "A.md"  # before the index in order, and changed as well
    rows = [
        f"- [{name}]({target}) — what is in it\n\nA line that stays.\n\n" for name, target in names.items()
    ]
    before = {"MEMORY.md": "".join(rows).encode(), **dict.fromkeys(names, FILES["user_role.md"])}
    after = {"MEMORY.md": b"A line that stays.\n\n" * len(names), "A.md": before["A.md"] + b"- More.\n"}
    subject = between(before, {**before, **after})
    of_hunk = {hunk.hunk_id: "".join(hunk.removed) for hunk in subject.hunks}
    lost = {
        found.about: of_hunk[found.hunk_id] for found in examine(subject).findings if found.code == "row-lost"
    }
    assert lost.keys() == names.keys() and all(f"]({names[name]})" in lines for name, lines in lost.items())


def test_rows_that_lead_nowhere_and_memories_in_no_row_are_told_of_a_directory_as_it_stands():
    index = b"- [A](a.md) \xe2\x80\x94 a\n- [Gone](gone.md) \xe2\x80\x94 no more\n- [Docs](https://example.org/x.md)\n"
    files = {"MEMORY.md": index, "a.md": b"- text\n", "lost.md": b"- text\n", "logs/day.md": b"- text\n"}
    found = findings.health(files)
    assert "gone.md" in one(found, "row-dangles").message
    assert (one(found, "not-listed").path, one(found, "not-listed").severity) == ("lost.md", "info")
    assert not {"row-dangles", "not-listed"} & codes(findings.health({"a.md": b"- text\n"}))


def test_a_row_that_spells_its_memory_in_another_way_is_not_to_be_removed():
    """macOS finds the memory by it."""
    for row, file in (("Deploy.md", "deploy.md"), ("caf\u00e9.md", "cafe\u0301.md")):
        found = findings.health({"MEMORY.md": f"- [A]({row}) — a\n".encode(), file: b"- text\n"})
        assert f"spelt {file}" in one(found, "row-dangles").message
        assert "Remove" not in one(found, "row-dangles").remedy
        assert "not-listed" not in codes(found)
    index = "- [A](Team/gone.md) — a\n".encode()
    found = findings.health({"MEMORY.md": index, "team/MEMORY.md": b"# Team\n", "team/kept.md": b"- text\n"})
    assert "which is not there" in one(found, "row-dangles").message
    assert "team/kept.md" in one(found, "not-listed").message


def test_a_row_whose_memory_leaves_is_told():
    after = {path: data for path, data in FILES.items() if path != "deploy.md"}
    found = one(report(after), "row-dangles")  # and not the row that dangled before
    assert "deploy.md" in found.message


def test_what_is_said_of_a_row_stands_beside_its_own_change():
    row = "- [Ana](user_role.md) — what Ana does and likes\n"
    index = FILES["MEMORY.md"].replace(row.encode(), b"") + "- [New](new.md) — not there\n".encode()
    after = {path: data for path, data in FILES.items() if path != "deploy.md"} | {"MEMORY.md": index}
    said = {found.about: found for found in report(after).findings if found.code.startswith("row-")}
    assert len({found.hunk_id for found in said.values()}) == 3 and all(f.hunk_id for f in said.values())
    assert said["deploy.md"].path == "deploy.md"
    assert said["user_role.md"].path == said["new.md"].path == "MEMORY.md"


def test_a_rejected_line_that_comes_back_is_told():
    line = "- Backups go to Hetzner"
    rejected = {comparing.normalised(line): dt.date(2026, 11, 22)}
    subject = replace(between(FILES, {**FILES, "user_b.md": f"* {line[2:]}.\n".encode()}), rejected=rejected)
    found = one(examine(subject), "rejected-before")
    assert found.severity == "warn"
    assert found.message_parts.remark == "This was rejected on 22 Nov 2026."


def test_a_frontmatter_line_that_all_memories_have_is_no_rejected_line_come_back():
    rejected = {comparing.normalised("type: reference"): dt.date(2026, 11, 22)}
    text = "---\nname: Backups\ntype: reference\n---\n\nThe backups are in Nuremberg.\n"
    subject = replace(between(FILES, {**FILES, "reference_b.md": text.encode()}), rejected=rejected)
    assert "rejected-before" not in codes(examine(subject))


def test_what_was_rejected_is_told_once_for_changes_that_are_decided_together():
    lines = ["Backups go to Hetzner.", "Backups run at night."]
    rejected = {comparing.normalised(line): dt.date(2026, 11, 22) for line in lines}
    after = {**FILES, "user_b.md": f"{lines[0]}\n".encode(), "user_c.md": f"{lines[1]}\n".encode()}
    subject = between(FILES, after)
    together = [replace(hunk, operation="one") for hunk in subject.hunks]
    one(examine(replace(subject, hunks=together, rejected=rejected)), "rejected-before")


@each(
    "line",
    [
        "- The client is really annoying",
        "- User is a bad programmer",
        "- Bob is a terrible developer",
        "- The user is bad at math",
        "- He is stubborn",
        "- Our reviewer is often lazy",
        "- Tom is incompetent",
        "- The manager does not know what she is doing",
        "- My boss can be difficult, the PM is clueless",
        "- The contractor can't be trusted",
        "- He is an idiot",
        "- Tom is careless, and his manager easily gets angry",
        "- The client is careless",
    ],
)
def test_a_judgement_of_a_person_is_told(line):
    files = {"user_b.md": line.encode()}
    assert one(findings.health(files), "judgement").severity == "warn"
    assert "judgement" in codes(report({**FILES, **files}))


@each(
    "line",
    [
        "- The client is in Lyon",
        "- The HTTP client is terrible with retries, and a client is useless without its key",
        "- Imports are lazy, and so is the loader",
        "- Safari is annoying to test on",
        "- The client always complains about a missing header and never listens on 8080",
        "- The owner is Ana; the lead is Tom",
        "- The user is new to Rust and wants short answers",
        "- Performance was terrible before the index",
        "- The user was very careful with migrations",
        "- The customer is always asked first",
    ],
)
def test_what_is_said_of_a_thing_or_plainly_of_a_person_is_no_judgement(line):
    assert "judgement" not in codes(findings.health({"user_b.md": line.encode()}))


def test_a_check_that_fails_blocks_instead_of_stopping_the_others(monkeypatch):
    def broken(subject):
        raise ZeroDivisionError

    monkeypatch.setattr(examining, "CHECKS", (("broken", broken), *examining.CHECKS))
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
        return one(report(after, files), "protection-off").key

    assert key(FILES) == key(changed("deploy.md", "The shop runs", "Note.\n\nThe shop runs"))
