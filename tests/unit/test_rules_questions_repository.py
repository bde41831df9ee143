"""What the repository says already, and what it no longer has, is asked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import pytest
from dulwich import porcelain
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo

from dreams.engines.rules.notes.bodies import units
from dreams.engines.rules.questions import families
from dreams.engines.rules.questions.repository import ConfigLines
from dreams.engines.rules.repository import Repository, ever_there
from dreams.engines.types import LineDate, Question
from dreams.lib.prose.statement_pairs import PlacedText
from tests.world.cases import each
from tests.world.rules import dream, memory

SECRET = "gh" + "p_" + "q8Rt2" * 7 + "x"
OTHER = "- The docs are built with Sphinx.\n"
REPO = {
    "CLAUDE.md": "# Rules\n\n- Run `just check` before every push, and read what it says.\n",
    "package.json": '{"scripts": {"lint": "eslint ."}, "dependencies": {"left-pad": "^1.3.0"}}',
    "Dockerfile": "FROM python:3.12-slim AS harbour\nENV PORT=8123\nEXPOSE 8123\n",
    "compose.yml": "services:\n  cache:\n    image: redis:7.2.4\n    ports: ['9321:6379']\n",
    ".github/workflows/ci.yml": "jobs:\n  nightly-sweep:\n    runs-on: ubuntu-24.04\n",
    ".env.example": "# The night run: pier-17 --night\nLAUNCH_MODE=slow\n",
    "Makefile": "check:\n\truff check .\n",
    "src/web/cart.ts": "",
    "src/web/list.ts": "",
    "src/api/orders.py": "",
    "src/lib/mailer.py": "",
}


def questions_of(folder: Path, files: Mapping[str, str], repo: Mapping[str, str]) -> list[Question]:
    for name, text in repo.items():
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text(text)
    return dream(folder / "scratch", files, repo=folder / "repo").outcome.questions


def asked(
    folder: Path,
    line: str,
    kind: str = "project",
    repo: Mapping[str, str] | None = REPO,
    path: str = "notes.md",
) -> list[Question]:
    for name, text in (repo or {}).items():
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text(text)
    files = {path: memory(f"- {line}\n{OTHER}", kind), "MEMORY.md": f"- [Notes]({path})\n"}
    made = dream(folder / "scratch", files, repo=folder / "repo" if repo else None)
    assert line in made.text(path), "nothing of it is certain"
    return made.outcome.questions


@each(
    ("line", "file"),
    [
        ("Run `just check` before every push and read what it says.", "CLAUDE.md"),
        ("We have left-pad at `^1.3.0`", "package.json"),
        ("The stage `harbour` is built from `python:3.12-slim`", "Dockerfile"),
        ("`cache` maps 9321:6379", "compose.yml"),
        ("The cache service is on host port 9321", "compose.yml"),
        ("The cache is redis 7.2.4 in compose", "compose.yml"),
        ("The CI job `nightly-sweep` is on `ubuntu-24.04`", ".github/workflows/ci.yml"),
    ],
)
def test_what_a_file_of_the_repository_seems_to_say_is_asked(tmp_path: Path, line: str, file: str) -> None:
    (question,) = asked(tmp_path, line)
    assert (question.kind, [option.id for option in question.options]) == ("derived", ["remove", "keep"])
    assert question.citations[0].place == file
    assert question.weight == (0.4 if file == "CLAUDE.md" else 0.2), "configuration is asked about last"
    (edit,) = question.options[0].edits
    assert edit.after is not None and line not in edit.after and OTHER in edit.after


def test_one_line_among_many_that_configuration_has_tells_where_to_look(tmp_path: Path) -> None:
    others = "".join(f"- {word} is not written down there.\n" for word in ("Paying", "Sending", "Storing"))
    for line, kinds in (
        ("**Stage:** `harbour`, from `python:3.12-slim`.", []),
        ("The stage `harbour` is from `python:3.12-slim`.", ["derived"]),
    ):
        files = {"n.md": memory(f"- {line}\n{others}", "project"), "MEMORY.md": "- [N](n.md)\n"}
        assert [each.kind for each in questions_of(tmp_path, files, REPO)] == kinds


@each(
    "line",
    [
        "Run `just check` before every release, it takes an hour",
        "We have left-pad at `^1.3.0`, which leaks sockets",
        "left-pad must never be at `^1.3.0`",
        "The stage `harbour` is built from `python:3.13-slim`",
        "`cache` loses its data on restart",
        "The environment has `LAUNCH_MODE`",
        "The night run: `pier-17 --night`",
    ],
)
def test_what_says_more_or_otherwise_is_not_asked(tmp_path: Path, line: str) -> None:
    assert asked(tmp_path, line) == []


RULE = "Split payloads of `ledger-worker` into batches of forty, then retry each batch twice."


@each(
    ("said", "kinds"),
    [
        (
            "- **Batches:** retry every batch twice; `ledger-worker` payloads are split into batches of forty.\n",
            ["derived"],
        ),
        ("- Payloads of `ledger-worker` are split into batches.\n", []),
        ("- Payloads of `cache-worker` are split into batches of forty; retry each batch twice.\n", []),
    ],
)
def test_a_rule_that_instructions_tell_in_other_words_is_asked_about(
    tmp_path: Path, said: str, kinds: list[str]
) -> None:
    files = {"batches.md": memory(f"{RULE}\n", "feedback"), "MEMORY.md": "- [Batches](batches.md)\n"}
    assert [each.kind for each in questions_of(tmp_path, files, {"CLAUDE.md": said})] == kinds


@each(("before", "asks"), [("", False), ("The gate is checked by hand.\n\n", True)])
def test_what_the_rest_of_a_memory_is_said_of_is_not_taken_out_of_it(
    tmp_path: Path, before: str, asks: bool
) -> None:
    rule = "Only a firm with a meeting in the last sixty days is gated out."
    rest = "A meeting is one of these:\n\n- A call that somebody took.\n- A visit to the yard.\n"
    files = {"gate.md": memory(f"{before}{rule}\n\n{rest}", "feedback"), "MEMORY.md": "- [Gate](gate.md)\n"}
    assert bool(questions_of(tmp_path, files, {"CLAUDE.md": f"- {rule}\n"})) is asks


@each("colon", [":", "："])
def test_what_introduces_a_list_is_not_taken_out_of_it(tmp_path: Path, colon: str) -> None:
    lead = f"每台船都要在 `~/.harbour/settings.json` 設定{colon}"
    rest = f"{lead}\n- Windows: `pier-17`\n- Mac: `pier-18`\n\nThe yard is closed at noon.\n"
    files = {
        "gate.md": memory(f"The gate is checked by hand.\n\n{rest}", "feedback"),
        "MEMORY.md": "- [Gate](gate.md)\n",
    }
    assert questions_of(tmp_path, files, {"CLAUDE.md": f"# Rules\n\n{lead}\n"}) == []


@each("reason", ["", "\n**Why:** eight closures were too many.\n"])
def test_a_rule_is_taken_out_of_no_memory_that_alone_has_its_reason(tmp_path: Path, reason: str) -> None:
    rule = "Pass one enum of actions to each view that is shared."
    files = {"enums.md": memory(f"{rule}\n{reason}", "feedback"), "MEMORY.md": "- [Enums](enums.md)\n"}
    found = questions_of(tmp_path, files, {"CLAUDE.md": f"- {rule}\n"})
    assert [question.kind for question in found] == ([] if reason else ["derived"])
    if not reason:
        (question,) = found
        assert question.why == "CLAUDE.md seems to say this already, in line 1."
        edits = {edit.path: edit.after for edit in question.options[0].edits}
        assert edits == {"enums.md": None, "MEMORY.md": ""}


def test_a_reason_of_one_rule_keeps_no_other_from_being_asked_about(tmp_path: Path) -> None:
    rules = [
        "Pass one enum of actions to each view that is shared.",
        "Split every payload into batches of forty.",
    ]
    notes = memory(f"- {rules[0]}\n  **Why:** eight closures were too many.\n- {rules[1]}\n", "feedback")
    files = {"enums.md": notes, "MEMORY.md": "- [Enums](enums.md)\n"}
    (question,) = questions_of(tmp_path, files, {"CLAUDE.md": "".join(f"- {rule}\n" for rule in rules)})
    after = {edit.path: edit.after for edit in question.options[0].edits}["enums.md"]
    assert after is not None and rules[0] in after and "Why" in after and rules[1] not in after


@each(("kind", "end", "asks"), [("project", ".", False), ("feedback", ".", True), ("feedback", "", False)])
def test_one_fact_of_many_that_instructions_tell_too_is_part_of_a_whole_and_a_whole_sentence_of_a_rule_is_not(
    tmp_path: Path, kind: str, end: str, asks: bool
) -> None:
    rule = f"- Run `just check` before every push and read what it says{end}\n"
    many = "".join(f"- The box pier-{number} is used on floor {number}.\n" for number in range(8))
    files = {"notes.md": memory(rule + many, kind), "MEMORY.md": "- [Notes](notes.md)\n"}
    found = questions_of(tmp_path, files, {"CLAUDE.md": REPO["CLAUDE.md"]})
    assert [question.kind for question in found] == (["derived"] if asks else [])


@each(
    ("kind", "rest", "asks"),
    [
        ("project", "- The box pier-17 is used at night.\n", False),
        ("project", "\n## Boxes\n\n- The box pier-17 is used at night.\n", True),
        ("feedback", "- The box pier-17 is used at night.\n", True),
    ],
)
def test_a_fact_is_not_taken_out_of_a_list_that_keeps_other_entries(
    tmp_path: Path, kind: str, rest: str, asks: bool
) -> None:
    entry = "- Run `just check` before every push and read what it says\n"
    files = {
        "notes.md": memory(f"Before a release:\n{entry}{rest}", kind),
        "MEMORY.md": "- [Notes](notes.md)\n",
    }
    found = questions_of(tmp_path, files, {"CLAUDE.md": REPO["CLAUDE.md"]})
    assert [question.kind for question in found] == (["derived"] if asks else [])


@each(
    ("source", "asks"),
    [("The stages are listed in the Dockerfile.", False), ("The stages are listed on the wall.", True)],
)
def test_a_memory_that_tells_where_its_facts_are_from_keeps_them(
    tmp_path: Path, source: str, asks: bool
) -> None:
    text = f"The stage `harbour` is built from `python:3.12-slim`, see Dockerfile.\n\n{source}\n"
    files = {"notes.md": memory(text, "project"), "MEMORY.md": "- [Notes](notes.md)\n"}
    found = questions_of(tmp_path, files, REPO)
    assert [question.kind for question in found] == (["derived"] if asks else [])


@each(
    ("entry", "asks"),
    [
        ("**Subject** — the `pier-reader` that is meant, or the yard", False),
        ("Always name the `pier-reader` that is meant before the yard", True),
    ],
)
def test_a_field_is_not_taken_out_of_a_rule_that_keeps_the_others_and_a_rule_is(
    tmp_path: Path, entry: str, asks: bool
) -> None:
    rest = "- **Place** — where the tide stands.\n- **Hour** — when it was read.\n"
    files = {
        "names.md": memory(f"A name has three parts.\n\n- {entry}\n{rest}", "feedback"),
        "MEMORY.md": "- [Names](names.md)\n",
    }
    assert bool(questions_of(tmp_path, files, {"CLAUDE.md": f"# Rules\n\n- {entry}\n"})) is asks


def test_a_line_that_nobody_wrote_says_nothing(tmp_path: Path) -> None:
    data = '{"accounts": [' + ", ".join(f'{{"id": "PIER{n}F", "cash": {n}}}' for n in range(900)) + "]}"
    assert asked(tmp_path, "Account: `PIER700F`", repo={"orders.json": data}) == []
    short = '{"accounts": [{"id": "PIER700F"}]}'
    assert len(asked(tmp_path / "2", "Account: `PIER700F`", repo={"orders.yml": short})) == 1
    assert asked(tmp_path / "3", "Account: `PIER700F`", repo={"orders.json": short}) == []  # data
    board = f"data:\n  board.json: '{data}'\n"  # as of a dashboard
    assert asked(tmp_path / "4", "Account: `PIER700F`, with 871 in cash", repo={"board.yml": board}) == []


def test_without_a_repository_nothing_is_asked(tmp_path: Path) -> None:
    assert asked(tmp_path, "We have left-pad at `^1.3.0`", repo=None) == []
    assert asked(tmp_path, "Orders are in `src/gone/orders.py`", repo=None) == []


def test_a_file_that_moved_is_asked_about_with_its_new_path(tmp_path: Path) -> None:
    (question,) = asked(tmp_path, "Mails are sent by `src/core/mailer.py` alone")
    assert (question.kind, [option.id for option in question.options]) == (
        "gone",
        ["update", "remove", "keep"],
    )
    (edit,) = question.options[0].edits
    assert edit.after is not None and "Mails are sent by `src/lib/mailer.py` alone" in edit.after


def test_a_file_that_is_gone_is_asked_about_wherever_it_is_named(tmp_path: Path) -> None:
    (question,) = asked(tmp_path, "The basket is in `src/web/basket.ts`")
    assert [option.id for option in question.options] == ["remove", "update", "keep"]
    assert question.why == "The repository has src/web/, but no basket.ts in it."
    (edit,) = question.options[1].edits
    assert "The basket is in `src/web/basket.ts` (no longer in the repository)\n" in (edit.after or "")

    files = {
        "one.md": memory("| What | Where |\n|---|---|\n| Basket | `src/web/basket.ts` |\n"),
        "two.md": memory("**Basket**: src/web/basket.ts holds it.\nIt was rewritten in May.\n"),
        "three.md": memory(
            "```sh\ntouch src/web/basket.ts\n```\n\nMove it to `src/web/basket.ts` one day.\n"
        ),
        "MEMORY.md": "- [One](one.md) — where\n- [Two](two.md) — what\n- [Three](three.md) — how\n",
    }
    found = questions_of(tmp_path / "other", files, {"src/web/cart.ts": ""})
    (question,) = (each for each in found if each.kind == "gone")
    assert [(place.path, place.line_no) for place in question.places] == [("one.md", 7), ("two.md", 5)]
    assert [option.id for option in question.options] == ["update", "keep"]


def test_what_else_a_statement_says_stays_when_its_file_is_gone(tmp_path: Path) -> None:
    (question,) = asked(tmp_path, "All five shops sell by weight. The basket is in `src/web/basket.ts`.")
    remove = question.options[0]
    assert (remove.id, remove.label) == ("remove", "Remove the sentence")
    assert "- All five shops sell by weight.\n" in (remove.edits[0].after or "")


@each("named", ["`src/web/basket.ts`", "**`src/web/basket.ts`**"])
def test_an_entry_about_a_file_goes_with_all_that_it_says_of_it(tmp_path: Path, named: str) -> None:
    (question,) = asked(tmp_path, f"{named} — the basket of the shop. Drawn in the bar.")
    remove = question.options[0]
    assert (remove.id, remove.label) == ("remove", "Remove it")
    assert remove.edits[0].after == memory(OTHER)


@each(("field", "asks"), [("sources:\n  - path: ", False), ("description: The basket is in ", True)])
def test_a_field_that_is_no_prose_takes_no_remark_about_a_lost_file(
    tmp_path: Path, field: str, asks: bool
) -> None:
    note = f"---\nname: Basket\n{field}src/web/basket.ts\n---\n\n{OTHER}"
    files = {"n.md": note, "MEMORY.md": "- [Basket](n.md)\n"}
    assert bool(questions_of(tmp_path, files, REPO)) is asks


def test_each_memory_is_taken_apart_once_for_all_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every place that names a lost file looked through all memories, and every family of questions did."""
    read: list[str] = []
    monkeypatch.setattr(families, "units", lambda path, document: read.append(path) or units(path, document))
    gone = {f"{name}.md": memory(f"- A part of the shop is `src/web/{name}.ts`\n{OTHER}") for name in "abcd"}
    found = questions_of(tmp_path, {**gone, "MEMORY.md": "# Memory\n"}, REPO)
    assert {place.path for each in found if each.kind == "gone" for place in each.places} == {*gone}
    assert sorted(read) == ["MEMORY.md", *gone]


def test_a_link_to_another_place_is_there_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "repo/src/web").mkdir(parents=True)
    (tmp_path / "repo/src/web/basket.ts").symlink_to("../../../shared/basket.ts")
    assert asked(tmp_path, "The basket is in `src/web/basket.ts`") == []


def committed(
    folder: Path, files: Mapping[str, str], then: Mapping[str, str], subject: bytes = b"Files"
) -> None:
    """A repository with two commits: these files, then those."""
    with porcelain.init(str(folder)) as repo:
        for here in (files, then):
            gone = [str(folder / name) for name in files if name not in here]
            porcelain.remove(repo, gone) if gone else None
            for name, text in here.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
            porcelain.add(repo, [str(folder / name) for name in here])
            porcelain.commit(repo, subject, author=b"A <a@b>", committer=b"A <a@b>")


def test_what_no_commit_ever_had_is_not_gone(tmp_path: Path) -> None:
    """A repository's history tells what was in it: the rest is of another one, built, or on one machine only."""
    committed(tmp_path / "repo", {**REPO, "src/web/basket.ts": "x"}, REPO)
    (question,) = asked(tmp_path, "The basket is in `src/web/basket.ts`, paying in `src/web/pay.ts`")
    assert question.why == "The repository has src/web/, but no basket.ts in it."


def test_the_commit_that_removed_or_moved_a_file_is_cited(tmp_path: Path) -> None:
    subject = f"Drop the  old basket, key {SECRET}\n\nIt was slow."
    before = {name: text for name, text in REPO.items() if name != "src/lib/mailer.py"}
    before |= {"src/web/basket.ts": "x", "src/core/mailer.py": "x"}
    committed(tmp_path / "repo", before, REPO, subject.encode())
    line = "The basket is in `src/web/basket.ts`, mails are sent by `src/core/mailer.py`"
    moved, gone = asked(tmp_path, line)
    with Repo(str(tmp_path / "repo")) as repo:
        commit = repo.head().decode()[:7]
    today = dt.datetime.now(dt.UTC).date()
    said = f"in {commit}, {today.day} {today:%B %Y}: Drop the old basket, key [redacted: github-token]"
    assert [one.note for one in gone.citations] == [f"Removed {said}"]
    assert [one.note for one in moved.citations] == [f"Moved {said}"]


def test_what_one_commit_removed_is_one_question_whichever_memories_name_it(tmp_path: Path) -> None:
    gone = {f"src/web/{name}.ts": name for name in ("basket", "till", "scale")}
    committed(tmp_path / "repo", {**REPO, **gone}, REPO)
    files = {
        "shop.md": memory("- The basket is in `src/web/basket.ts`.\n- The till is in `src/web/till.ts`.\n"),
        "yard.md": memory("- The scale is in `src/web/scale.ts`.\n- Weigh as `src/web/till.ts` does.\n"),
        "MEMORY.md": "- [Shop](shop.md)\n- [Yard](yard.md)\n",
    }
    (question,) = (each for each in questions_of(tmp_path, files, {}) if each.kind == "gone")
    told = "src/web/basket.ts, src/web/till.ts, src/web/scale.ts"
    assert question.why == f"The repository has none of 3 files that 2 memories name: {told}."
    assert [edit.path for edit in question.options[0].edits] == ["shop.md", "yard.md"]
    assert len(question.places) == 4


TEXT = "".join(f"export const part{number} = {number}\n" for number in range(8))


@each(
    ("text", "others", "why"),
    [
        (TEXT, {}, "; it was renamed to src/web/trolley.ts."),
        (TEXT.replace("part1", "piece1"), {}, "; it was renamed to src/web/trolley.ts."),
        (TEXT.replace("part", "piece"), {}, " in it."),
        (TEXT, {"src/web/trolley.ts": ""}, " in it."),
    ],
)
def test_a_file_that_a_commit_renamed_is_asked_about_with_its_new_name(
    tmp_path: Path, text: str, others: Mapping[str, str], why: str
) -> None:
    """Not where much of it is new, or it is gone by its new name, too."""
    then = {**REPO, "src/web/trolley.ts": text, **{name: held for name, held in others.items() if held}}
    committed(tmp_path / "repo", {**REPO, "src/web/basket.ts": TEXT}, then, b"Trolleys")
    if "" in others.values():
        (tmp_path / "repo/src/web/trolley.ts").unlink()
    (question,) = asked(tmp_path, "The basket is in `src/web/basket.ts`, whatever is paid")
    assert question.why.startswith("The repository has ")
    assert question.why.endswith(why)
    if "renamed" in why:
        assert question.options[0].label == "Write src/web/trolley.ts"
        assert [one.note.partition(" in ")[0] for one in question.citations] == ["Renamed"]
        assert question.citations[0].note.endswith(": Trolleys")


def test_what_one_commit_renamed_is_one_question_whichever_memories_name_it(tmp_path: Path) -> None:
    texts = {name: "".join(f"{name} {number}\n" for number in range(20)) for name in ("cart", "list", "menu")}
    old = {f"src/shop-{name}.ts": text for name, text in texts.items()}
    committed(
        tmp_path / "repo",
        old,
        {f"src/yard-{name}.ts": text for name, text in texts.items()},
        b"Call it a yard",
    )
    files = {
        "MEMORY.md": "- [One](one.md)\n- [Two](two.md)\n",
        "one.md": memory("- The cart is in `src/shop-cart.ts`\n- The list is in `src/shop-list.ts`\n"),
        "two.md": memory(f"- The menu is in `src/shop-menu.ts`\n{OTHER}"),
    }
    (question,) = dream(tmp_path / "scratch", files, repo=tmp_path / "repo").outcome.questions
    assert question.why == (
        "2 memories name 3 files that were renamed: src/shop-cart.ts, src/shop-list.ts, src/shop-menu.ts."
    )
    after = {edit.path: edit.after or "" for edit in question.options[0].edits}
    assert "`src/yard-cart.ts`" in after["one.md"] and "`src/yard-list.ts`" in after["one.md"]
    assert "`src/yard-menu.ts`" in after["two.md"]


@each(
    "line",
    [
        "`src/web/basket.ts`→`trolley.ts`, and the views follow",
        "- [x] Write `src/web/basket.ts`",
        "✅ `src/web/basket.ts` has its own tests",
    ],
)
def test_a_line_with_the_new_name_and_one_that_is_ticked_tell_what_was_done(
    tmp_path: Path, line: str
) -> None:
    committed(
        tmp_path / "repo",
        {**REPO, "src/web/basket.ts": TEXT},
        {**REPO, "src/web/trolley.ts": TEXT},
        b"Trolleys",
    )
    assert asked(tmp_path, line.removeprefix("- ")) == []


def test_of_two_new_files_with_as_many_lines_of_the_removed_one_neither_is_its_new_name(
    tmp_path: Path,
) -> None:
    then = {**REPO, "src/web/wagon.ts": TEXT + "wagon\n", "src/web/trolley.ts": TEXT + "trolley\n"}
    committed(tmp_path / "repo", {**REPO, "src/web/basket.ts": TEXT}, then, b"Trolleys")
    (question,) = asked(tmp_path, "The basket is in `src/web/basket.ts`, whatever is paid")
    assert question.why == "The repository has src/web/, but no basket.ts in it."
    assert [one.note.partition(" in ")[0] for one in question.citations] == ["Removed"]


@each(
    ("line", "then", "after"),
    [
        (
            "See [`src/web/basket.ts`](../../src/web/basket.ts).",
            {"src/web/trolley.ts": TEXT},
            "See [`src/web/trolley.ts`](../../src/web/trolley.ts).",
        ),
        (
            "Do `src/web/basket.ts --all` first",
            {},
            "Do `src/web/basket.ts --all` (no longer in the repository) first",
        ),
        (
            "See [`src/web/basket.ts`](../../src/web/basket.ts), first",
            {},
            "See [`src/web/basket.ts`](../../src/web/basket.ts) (no longer in the repository), first",
        ),
    ],
)
def test_an_answer_writes_behind_the_code_that_names_a_file_and_into_its_link(
    tmp_path: Path, line: str, then: Mapping[str, str], after: str
) -> None:
    committed(tmp_path / "repo", {**REPO, "src/web/basket.ts": TEXT}, {**REPO, **then})
    (question,) = asked(tmp_path, line)
    option = next(each for each in question.options if each.id == "update")
    assert any(f"- {after}\n" in (edit.after or "") for edit in option.edits), option.edits


def test_a_renamed_file_is_found_beside_one_whose_text_a_partial_clone_lacks(tmp_path: Path) -> None:
    then = {**REPO, "src/web/large.ts": "x" * 99, "src/web/trolley.ts": TEXT.replace("part1", "piece1")}
    committed(tmp_path / "repo", {**REPO, "src/web/basket.ts": TEXT}, then)
    lacking = Blob.from_string(b"x" * 99).id.decode()
    (tmp_path / "repo/.git/objects" / lacking[:2] / lacking[2:]).unlink()
    (question,) = asked(tmp_path, "The basket is in `src/web/basket.ts`, whatever is paid")
    assert question.why.endswith("; it was renamed to src/web/trolley.ts.")


def test_a_renamed_file_keeps_the_folder_from_which_a_memory_names_it(tmp_path: Path) -> None:
    committed(
        tmp_path / "repo",
        {**REPO, "app/src/web/basket.ts": TEXT},
        {**REPO, "app/src/shop/trolley.ts": TEXT, "app/src/web/x.ts": "x"},
    )
    (question,) = asked(tmp_path, "The basket is in `src/web/basket.ts`, whatever is paid")
    assert question.options[0].label == "Write src/shop/trolley.ts"


def test_a_file_of_the_same_name_that_was_not_renamed_gets_no_new_name(tmp_path: Path) -> None:
    then = {**REPO, "src/web/trolley.ts": TEXT}
    before = {**REPO, "src/web/basket.ts": TEXT, "src/lib/basket.ts": "other", "src/lib/x.ts": "x"}
    committed(tmp_path / "repo", before, {**then, "src/lib/x.ts": "x"})
    line = "Carts are in `src/web/basket.ts`, prices in `src/lib/basket.ts`"
    renamed, gone = asked(tmp_path, line)
    assert "`src/lib/basket.ts`" in (renamed.options[0].edits[0].after or "")
    assert "`src/web/trolley.ts`" in (renamed.options[0].edits[0].after or "")
    assert gone.why == "The repository has src/lib/, but no basket.ts in it."


def test_a_new_name_with_a_backslash_is_written_as_it_is(tmp_path: Path) -> None:
    now = "src/web/trolley\\d.ts"
    committed(tmp_path / "repo", {**REPO, "src/web/basket.ts": TEXT}, {**REPO, now: TEXT})
    (question,) = asked(tmp_path, "The basket is in `src/web/basket.ts`, whatever is paid")
    assert f"`{now}`" in (question.options[0].edits[0].after or "")


def test_a_new_name_is_found_where_texts_are_not_on_this_machine(tmp_path: Path) -> None:
    """As in a clone without blobs, or beside a submodule: other files of the commit are asked about all the same."""
    now = {**REPO, "src/web/trolley.ts": TEXT, "src/web/other.ts": "other"}
    committed(tmp_path / "repo", {**REPO, "src/web/basket.ts": TEXT, "src/api/basket.py": "x"}, now)
    (
        tmp_path / "repo/.git/objects" / f"{(away := Blob.from_string(b'other').id.decode())[:2]}/{away[2:]}"
    ).unlink()
    line = "The basket is in `src/web/basket.ts`, its price in `src/api/basket.py`"
    renamed, gone = asked(tmp_path, line)
    assert renamed.options[0].label == "Write src/web/trolley.ts"
    assert gone.why == "The repository has src/api/, but no basket.py in it."


def test_the_commit_behind_a_merge_is_cited_and_not_the_merge(tmp_path: Path) -> None:
    """A branch dropped the file while the main line went on with it; the merge only took that over."""
    with porcelain.init(str(tmp_path)) as repo:

        def commit(day: int, said: bytes, names: str, *parents: bytes) -> bytes:
            tree, blob, made = Tree(), Blob.from_string(b"x"), Commit()
            for name in names.split():
                tree.add(name.encode(), 0o100644, blob.id)
            made.tree, made.parents, made.message = tree.id, [*parents], said
            made.author = made.committer = b"A <a@b>"
            made.author_time = made.commit_time = day * 86_400
            made.author_timezone = made.commit_timezone = 0
            for each in (blob, tree, made):
                repo.object_store.add_object(each)
            return made.id

        first = commit(1, b"First", "basket.ts cart.ts")
        branch = commit(2, b"Drop the basket", "cart.ts", first)
        main = commit(3, b"List", "basket.ts cart.ts list.ts", first)
        repo.refs[b"HEAD"] = commit(4, b"Merge", "cart.ts list.ts", main, branch)
    went = (ever_there(tmp_path, {"basket.ts": ""}) or {})["basket.ts"]
    assert went.said == f"Removed in {branch.decode()[:7]}, 3 January 1970: Drop the basket"


@each(("days", "asks"), [(-1, True), (2, False)])
def test_who_writes_of_a_file_after_it_went_knows_it(tmp_path: Path, days: int, asks: bool) -> None:
    committed(tmp_path / "repo", {**REPO, "src/web/basket.ts": "x"}, REPO)
    today = dt.datetime.now(dt.UTC).date()
    written = LineDate(today + dt.timedelta(days), "history", "first seen in the history")
    files = {
        "notes.md": memory(f"- The basket is in `src/web/basket.ts`\n{OTHER}"),
        "MEMORY.md": "- [N](notes.md)\n",
    }
    for name, text in REPO.items():
        (tmp_path / "repo" / name).write_text(text)
    made = dream(tmp_path / "scratch", files, repo=tmp_path / "repo", written=written)
    assert [question.kind for question in made.outcome.questions] == ["gone"] * asks


def test_files_that_a_commit_had_were_here_however_many_are_gone(tmp_path: Path) -> None:
    gone = {
        f"src/web/{part}_view.ts": "x" for part in ("till", "shelf", "door", "lamp", "desk", "bell", "sign")
    }
    committed(tmp_path / "repo", {**REPO, **gone}, REPO)
    (question,) = asked(tmp_path, "\n".join(f"- A part of the shop is `{path}`." for path in gone))
    assert question.why.startswith("The repository has none of 7 files")


def test_what_no_commit_ever_had_where_a_memory_says_did_not_move(tmp_path: Path) -> None:
    """It is short for a path, or the path of another repository. One may be named from a folder, too."""
    here = {"app/src/web/cart.ts": "", "app/lib/send_mail.py": "x"}
    committed(tmp_path / "repo", {"app/src/web/cart.ts": "", "app/core/send_mail.py": "x"}, here)
    line = "Mails are sent by `core/send_mail.py` and counted by `web/src/cart.ts`"
    (question,) = asked(tmp_path, line, repo=here)
    assert question.why == "The repository has no core/send_mail.py, but it has app/lib/send_mail.py."


def test_a_file_that_stood_beside_another_of_its_name_did_not_become_it(tmp_path: Path) -> None:
    there = {"app/lib/send_mail.py": "x", "web/list.ts": "x"}
    committed(tmp_path / "repo", {**there, "app/core/send_mail.py": "y"}, there)
    assert asked(tmp_path, "Mails are sent by `app/core/send_mail.py`", repo=there) == []


def test_a_folder_that_commits_leave_as_it_is_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with porcelain.init(str(tmp_path)) as repo:
        for name in ("src/a/one.py", "src/b/two.py", *(f"note-{number}.md" for number in range(20))):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x")
            porcelain.add(repo, [str(tmp_path / name)])
            porcelain.commit(repo, b"File", author=b"A <a@b>", committer=b"A <a@b>")
    read: list[object] = []
    get = Repo.__getitem__
    monkeypatch.setattr(Repo, "__getitem__", lambda git, name: read.append(name) or get(git, name))
    missing = {f"src/{folder}/{number}.py" for folder in "ab" for number in range(50)}
    assert set(ever_there(tmp_path, dict.fromkeys({"src/a/one.py", *missing}, "")) or ()) == {"src/a/one.py"}
    assert len(read) < 30


def test_memories_of_another_checkout_are_not_held_against_this_one(tmp_path: Path) -> None:
    parts = ["till", "shelf", "door", "lamp", "desk", "bell", "sign"]
    body = "".join(f"- The {part} of the shop is `src/web/{part}_view.ts`.\n" for part in ["cart", *parts])
    files = {"shop.md": memory(body), "MEMORY.md": "- [Shop](shop.md) — the shop\n"}
    assert questions_of(tmp_path / "1", files, {"src/web/cart_view.ts": ""}) == []
    there = {f"src/web/{part}_view.ts": "" for part in parts[1:]}
    (question,) = questions_of(tmp_path / "2", files, there)
    assert "cart_view.ts, src/web/till_view.ts" in question.why


@each(
    "line",
    [
        "- A new store is `src/web/xxx_store.ts`.",
        "- On the host it is `D:\\shop`, with `src/web/stall.ts`.",
    ],
)
def test_a_name_for_any_file_and_a_line_about_another_place_are_left(tmp_path: Path, line: str) -> None:
    files = {
        "shop.md": memory(f"{line}\n- The cart is `src/web/cart.ts`.\n"),
        "MEMORY.md": "- [Shop](shop.md) — the shop\n",
    }
    assert questions_of(tmp_path, files, {"src/web/cart.ts": ""}) == []


def test_a_file_that_is_gone_is_found_behind_a_name_for_any_file(tmp_path: Path) -> None:
    line = "- Stores are named like `src/web/xxx_store.ts`, the till is `src/web/till.ts`.\n"
    files = {"shop.md": memory(line), "MEMORY.md": "- [Shop](shop.md) — the shop\n"}
    (question,) = questions_of(tmp_path, files, {"src/web/cart.ts": ""})
    assert (question.kind, question.subject) == ("gone", "src/web/till.ts")


def test_files_that_one_memory_names_are_one_question_and_a_name_without_a_folder_is_none(
    tmp_path: Path,
) -> None:
    repo = {f"src/part_{n}.py": "" for n in range(5)}
    body = "- Styles are in `src/cart_styles.py`, rules in `src/cart_rules.py`.\n- The cart is `part_1.py`.\n- Data is in `cart_rules.json`, orders in `all_orders.py`.\n"
    files = {"cart.md": memory(body), "MEMORY.md": "- [Cart](cart.md) — the cart\n"}
    (question,) = questions_of(tmp_path, files, repo)
    told = "src/cart_styles.py, src/cart_rules.py"
    assert question.why == f"The repository has none of 2 files that 1 memory names: {told}."
    note, keep = question.options
    gone = "(no longer in the repository)"
    assert f"- Styles are in `src/cart_styles.py` {gone}, rules in `src/cart_rules.py` {gone}.\n" in (
        note.edits[0].after or ""
    )
    assert keep.id == "keep"


@each(
    "line",
    [
        "The cart is in `src/web/cart.ts`",
        "The cart is in `web/cart.ts`",
        "The cart is in `src/web/CART.ts`",
        "Lint with `npm run lint`",
        "The other project has `lib/core/basket.ts`",
        "We removed `src/web/basket.ts` in May",
        "The basket is in `src/web/basket.ts --all` (no longer in the repository)",
        "Nunca criar `src/web/basket.ts`, só `src/web/cart.ts`",
        "不要再创建 `src/web/basket.ts`",
        "Results are in `src/web/report.json`",
        "**Deleted in May:**\n  - `src/web/basket.ts`",
        "0.9 (4c1d07be): the basket is in `src/web/basket.ts`",
        "The script is `npm run typecheck` in the sister project, not here",
        "@import '@yard/shop/web/cart.ts'; is the first line",
        "import cart from '@/web/shop/cart.ts'",
    ],
)
def test_what_is_there_or_may_be_elsewhere_is_not_asked_about(tmp_path: Path, line: str) -> None:
    assert asked(tmp_path, line) == []


@each(
    "path",
    [
        *("project_session_2026-05-01.md", "changelog.md", "updatelog_20260501.md", "journal/2026-W09.md"),
        *("1976.md", "2026-03.md"),
    ],
)
def test_a_memory_of_what_was_done_may_name_what_was_there_then(tmp_path: Path, path: str) -> None:
    assert asked(tmp_path, "The basket is in `src/web/basket.ts`", path=path) == []


def test_an_index_that_the_instructions_include_does_not_say_itself_already(tmp_path: Path) -> None:
    index = "- [Notes](notes.md)\n\nA memory has one fact, and each row leads to one of them.\n"
    files = {"notes.md": memory(OTHER), "MEMORY.md": index}
    assert questions_of(tmp_path, files, {"AGENTS.md": index}) == []
    (question,) = questions_of(tmp_path / "other", files, {"AGENTS.md": f"# Rules\n\n{index}"})
    assert question.kind == "derived"


def test_an_ignored_file_says_nothing(tmp_path: Path) -> None:
    repo = {**REPO, ".gitignore": "src/web/basket.ts\n"}
    assert asked(tmp_path, "The basket is in `src/web/basket.ts`", repo=repo) == []


def test_files_that_moved_together_are_one_question(tmp_path: Path) -> None:
    repo = {"docs/plans/1-fog.md": "", "docs/plans/2-sky.md": "", "packages/game/src/fog/plugin.ts": ""}
    files = {
        "fog.md": memory(
            "Plan `.claude/plans/1-fog.md`, done long ago.\n\n- It is `game/fog/plugin.ts`, and no other.\n"
        ),
        "sky.md": memory("```sh\nless .claude/plans/2-sky.md\n```\n\nSee .claude/plans/1-fog.md too.\n"),
        "MEMORY.md": "- [Fog](fog.md) — the fog\n- [Sky](sky.md) — the sky\n",
    }
    questions = questions_of(tmp_path, files, repo)
    assert [question.why for question in questions] == [
        "2 memories name 2 files in .claude/, and they are in docs/ now.",
        "The repository has no game/fog/plugin.ts, but it has packages/game/src/fog/plugin.ts.",
    ]
    plans = questions[0]
    assert [(place.path, place.line_no) for place in plans.places] == [
        ("fog.md", 5),
        ("sky.md", 6),
        ("sky.md", 9),
    ]
    assert ".claude" not in "".join(edit.after or "" for edit in plans.options[0].edits)
    assert len({edit.operation for edit in plans.options[0].edits}) == 1


@each(
    "line",
    [
        "Moved `game/fog/plugin.ts` to `packages/game/src/fog/plugin.ts`",
        "The other checkout is at `~/work/game/fog/plugin.ts`",
        "One of `game/fog/*.ts`, such as https://example.org/game/fog/plugin.ts",
        "It is called `game/fog/index.ts`",
        "It is a part of `../game/fog/plugin.ts`",
        "Reports have `game/fog/plugin.ts` as a dangling path",
        "Ours is `server/plugin.ts`",
        "It has `web/api/fog/route.ts`",
    ],
)
def test_a_path_that_may_mean_another_file_is_left(tmp_path: Path, line: str) -> None:
    repo = {"packages/game/src/fog/plugin.ts": "", "a/fog/index.ts": "", "b/fog/index.ts": ""}
    repo |= {"web/api/rain/route.ts": "", "web/snow/route.ts": ""}
    files = {"fog.md": memory(f"- {line}.\n- The fog is grey.\n"), "MEMORY.md": "- [Fog](fog.md) — the fog\n"}
    assert questions_of(tmp_path, files, repo) == []


@each(
    ("line", "file", "content"),
    [
        ("devDep left-pad 4.0.1", "package.json", '{"devDependencies": {\n"left-pad": "4.0.1"}}'),
        ("tool-x line length 100", "pyproject.toml", "[tool.tool-x]\nline-length = 100"),
        ("Requirement: left-pad==1.9.0", "requirements.txt", "left-pad==1.9.0"),
        ("Volume: birch-ledger", "compose.yml", "volumes:\n  birch-ledger: {}"),
        ("Topic: birch-ledger", ".env.example", "TOPIC=birch-ledger"),
        ("container runs as birch-ledger", "Dockerfile", "FROM debian\nUSER birch-ledger"),
        ("Primary region of birch-ledger: ams", "fly.toml", 'app = "birch-ledger"\nprimary_region = "ams"'),
        (
            "The base path is /birch-ledger/",
            "web/vite.config.ts",
            'export default { base: "/birch-ledger/" }',
        ),
        ("On k8s `birch-ledger` has 3 replicas", "deploy/k8s.yaml", "name: birch-ledger\nreplicas: 3"),
    ],
)
def test_a_key_or_a_section_says_what_a_value_is(tmp_path: Path, line: str, file: str, content: str) -> None:
    (question,) = asked(tmp_path, line, repo={file: content})
    assert (question.kind, question.citations[0].place) == ("derived", file)


@each(
    "line",
    ["birch-ledger fills up every march", "Volume birch-ledger: snapshot before the demo", "`make birch-ledger` needs a dongle"],
)  # fmt: skip
def test_what_says_more_than_the_file_is_not_asked(tmp_path: Path, line: str) -> None:
    repo = {"compose.yml": "volumes:\n  birch-ledger: {}", "Makefile": "birch-ledger:\n\t./x.sh"}
    assert asked(tmp_path, line, repo=repo) == []


@each("kind", ["feedback", "user"])
def test_a_fact_of_two_values_is_asked_about_wherever_it_was_noted_and_a_wish_is_not(
    tmp_path: Path, kind: str
) -> None:
    fact, wish = "`cache` is redis:7.2 in compose", "The linter is eslint."
    (question,) = [each for each in asked(tmp_path / "fact", fact, kind) if each.kind == "derived"]
    assert question.why.startswith("compose.yml")
    assert [each for each in asked(tmp_path / "wish", wish, kind) if each.kind == "derived"] == []


def test_a_memory_that_says_nothing_else_is_removed_with_a_row_that_repeats_its_name(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "compose.yml").write_text("volumes:\n  birch-ledger: {}")
    files = {
        "MEMORY.md": "- [Things to know](things.md) — about things to know\n",
        "things.md": memory("Volume: birch-ledger in compose\n", name="Things to know"),
    }
    (question,) = dream(tmp_path / "scratch", files, repo=tmp_path / "repo").outcome.questions
    assert {edit.path: edit.after for edit in question.options[0].edits} == {
        "things.md": None,
        "MEMORY.md": "",
    }


@each("name", ["nettle-courier", "amber-press", "kelp-relay", "teal-sorter", "linen-vault", "olive-tagger"])
def test_of_a_commands_words_that_are_as_rare_the_longest_tells_the_line(name: str) -> None:
    lines = ["{", f'  "{name}": "vite build --mode {name}",', '  "packageManager": "pnpm@9.1.0"', "}"]
    text = f"`pnpm run {name}` builds the site (vite build --mode {name})."
    told = ConfigLines(Repository(configs={"package.json": "\n".join(lines)}))
    line = told.by(PlacedText("a.md", "body", 1, 1, text, text))
    assert line is not None and line.line_no == 2
