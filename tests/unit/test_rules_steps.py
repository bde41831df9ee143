"""Index, merging and dates: what each step does, and what it leaves alone."""

import datetime as dt
from pathlib import Path

import pytest

from dreams.engines.rules.notes.days import names_a_day, spans
from dreams.engines.types import EvidenceSource, LineDate
from tests.world.cases import each
from tests.world.rules import WRITTEN, Dreamt, dream, memory, unaccounted

A = memory(
    "- Releases are cut from `main` by the release job.\n", name="Release notes", description="How we release"
)


def test_an_orphan_gets_a_row_in_words_of_its_own(tmp_path: Path):
    index = "# Index\n\n## Project\n- [A](a.md) — first\n\n## User\n"
    text = "---\ntype: project\n---\n\n# Freeze weeks\n\nSet by Ana. More.\n"
    made = dream(tmp_path, {"MEMORY.md": index, "a.md": A, "b.md": text})
    assert made.text("MEMORY.md") == index.replace("first\n", "first\n- [Freeze weeks](b.md) — Set by Ana.\n")
    assert made.summary == "Added 1 index row for a memory that had none."
    (cited,) = made.edits[0].citations
    assert (cited.place, cited.line_no, cited.quote) == ("b.md", 7, "Set by Ana.")


def test_an_orphan_of_a_type_without_rows_goes_where_most_rows_are(tmp_path: Path):
    index = "# Index\n\n- [A](a.md) — first\n- [C](c.md) — third\n\n## Only if explicitly asked\n\n- [D](d.md) — old\n"
    files = notes(["a.md", "c.md", "d.md"])
    text = "---\ntype: user\n---\n\n# Freeze weeks\n\nSet by Ana. More.\n"
    made = dream(tmp_path, {"MEMORY.md": index, "b.md": text, **files})
    assert "third\n- [Freeze weeks](b.md) — Set by Ana.\n" in made.text("MEMORY.md")


def test_a_file_that_is_not_utf8_is_named_in_the_index_by_its_file_name(tmp_path: Path):
    """Its own words would make the index no UTF-8 either, and every step that touches it would be taken back."""
    odd = "---\nname: Caf\xe9 au lait\ntype: user\n---\n\nDas Ger\xe4t ist alt.\n".encode("latin-1")
    done = dream(tmp_path, {"MEMORY.md": "# Memory\n", "odd.md": odd})
    assert "[odd](odd.md)" in done.text("MEMORY.md")
    assert done.after["MEMORY.md"].decode("utf-8")


def notes(names: list[str]) -> dict[str, str]:
    """A memory of its own for each name."""
    return {
        name: f"{A.rstrip()} Host box-{number} takes part.\n".replace("notes", f"notes of box {number}", 1)
        for number, name in enumerate(names)
    }


def test_one_name_that_hides_characters_costs_the_other_memories_no_row(tmp_path: Path):
    names = [f"note_{number}.md" for number in range(34)]
    bytes_of_others = {"in\u202ene.md": A, "wide.md": "# Wide\n\nThe port is 9.\n".encode("utf-16")}
    made = dream(tmp_path, {"MEMORY.md": "# Memory\n", **notes(names), **bytes_of_others})
    index = made.text("MEMORY.md")
    assert all(f"({name})" in index for name in names)
    assert "\u202e" not in index


def row_for(folder: Path, path: str, text: str) -> str:
    made = dream(folder, {"MEMORY.md": "# Memory\n\n- [A](a.md) — first\n", "a.md": A, path: text})
    asked = [option.edits[-1].after for each in made.outcome.questions for option in each.options[:1]]
    return (asked[0] if asked and asked[0] else made.text("MEMORY.md")).splitlines()[-1]


def test_a_row_for_an_orphan_has_its_whole_description_or_whole_sentences_of_it(tmp_path: Path):
    one = "Deploys go out at night"
    two = f"{one} from the build host of the team. {'They take long ' * 20}and end with a mail."
    assert row_for(tmp_path / "1", "b.md", memory("x\n", name="Long one", description=one)).endswith(
        f" — {one}"
    )
    cut = row_for(tmp_path / "2", "b.md", memory("x\n", name="Long one", description=two))
    assert cut == f"- [Long one](b.md) — {one} from the build host of the team."
    endless = row_for(tmp_path / "3", "b.md", memory("x\n", name="Long one", description="word " * 80))
    assert endless == f"- [Long one](b.md) — {('word ' * 80).strip()}"


def test_a_row_without_a_description_has_the_first_sentence_that_says_something(tmp_path: Path):
    views = "# View decisions\n\n## Layers\n\nViews are split into three layers:\n\n- host\n- session\n"
    assert row_for(tmp_path / "1", "v.md", views).endswith(" — Views are split into three layers")
    record = "## Session 1\n\n- Transcript: /home/dev/.claude/projects/app/1.jsonl\n- Status: reviewed by Ana\n\nRoot causes:\n"
    assert row_for(tmp_path / "2", "lessons.md", record) == "- [Lessons](lessons.md)"
    results = "## Lint\n\n- `ruff check` — OK\n- OK\n\nThe linter runs before every push.\n"
    assert row_for(tmp_path / "3", "lint.md", results).endswith(" — The linter runs before every push.")
    assert row_for(tmp_path / "4", "port.md", "## Port\n\n- ポートは8080です\n").endswith(
        " — ポートは8080です"
    )


@each(
    ("path", "text", "title"),
    [
        ("project_freeze.md", memory("# Freezes\n\nx y\n", name="Freeze weeks"), "Freeze weeks"),
        ("project_freeze.md", memory("# How we freeze\n\nx y\n", name="project-freeze"), "How we freeze"),
        ("project_freeze_weeks.md", memory("## The result\n\nx y\n", name="freeze-weeks"), "Freeze weeks"),
        ("project_freeze_2026_05_26.md", memory("## Done\n\nx y\n"), "Freeze 2026-05-26"),
        ("project_freeze_weeks.md", memory("Status: all phases are done.\n"), "Freeze weeks"),
        ("project_api_of_github.md", memory("Status: the API of GitHub is met.\n"), "API of GitHub"),
        ("project_api_of_ci.md", memory("Status: an API; no api of CI. NO CI.\n"), "Api of CI"),
        (
            "f.md",
            memory("x y\n", name=f"The freeze — {'in each week of the year ' * 4}and after"),
            "The freeze",
        ),
    ],
)
def test_the_title_of_an_orphans_row_is_one_that_a_person_wrote_or_is_asked_about(
    tmp_path: Path, path: str, text: str, title: str
):
    assert row_for(tmp_path, path, text).startswith(f"- [{title}]({path})")


def test_a_file_with_a_secret_in_its_name_is_titled_by_the_name_as_it_is(tmp_path: Path):
    """In words, with spaces for underscores, no check and no mask would know the secret any more."""
    path = "key_gh" + "p_x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO.md"
    assert row_for(tmp_path, path, memory("- Used by the mill.\n")).startswith(f"- [{path[:-3]}]({path})")


def test_a_row_is_titled_by_its_file_where_all_others_are(tmp_path: Path):
    index = "# Memory\n\n- [a.md](a.md) — first\n"
    made = dream(
        tmp_path, {"MEMORY.md": index, "a.md": A, "b.md": memory("Set by Ana.\n", name="Freeze weeks")}
    )
    assert made.text("MEMORY.md") == f"{index}- [b.md](b.md) — Set by Ana.\n"


@pytest.mark.parametrize("listed", ["Freeze weeks", "A"])
def test_a_memory_with_the_title_of_another_one_is_asked_about(tmp_path: Path, listed: str):
    files = {"MEMORY.md": f"# Memory\n\n- [{listed}](a.md) — first\n", "a.md": A}
    files["b.md"] = memory("Set by Ana.\n", name="Freeze weeks")
    made = dream(tmp_path, {**files, "c.md": files["b.md"].replace("Ana", "Bob")} if listed == "A" else files)
    assert (made.edits, [each.kind for each in made.outcome.questions]) == ([], ["learn"])


def test_rows_for_orphans_are_decided_one_by_one(tmp_path: Path):
    files = notes([f"note_{number}.md" for number in range(40)])
    made = dream(tmp_path, {"MEMORY.md": "# Memory\n", **files})
    assert len(made.operations("index")) == 40


@pytest.mark.more
@pytest.mark.parametrize("index", [{}, {"MEMORY.md": "# Memory\n"}], ids=["none", "empty"])
def test_an_index_that_has_no_room_for_all_orphans_takes_none_by_its_name(
    tmp_path: Path, index: dict[str, str]
):
    files = notes([f"note_{number:03}.md" for number in range(190)])
    made = dream(tmp_path, {**index, **files})
    assert (made.edits, made.outcome.questions) == ([], [])
    assert "190 memories are not in any index, and MEMORY.md has no room for a row for each." in made.summary


@pytest.mark.parametrize("index", [{}, {"MEMORY.md": "# Memory\n"}], ids=["none", "empty"])
def test_files_that_may_be_no_memories_get_no_index_and_are_named(tmp_path: Path, index: dict[str, str]):
    files = {f"0{number}-stage.md": f"# Stage {number}\n\nIt says {number}.\n" for number in range(3)}
    made = dream(tmp_path, {**index, **files})
    assert made.edits == []
    is_named = "There is no MEMORY.md to list the 3 files." in made.summary
    assert is_named is (not index)


def test_an_index_that_its_rows_fill_takes_no_further_one(tmp_path: Path):
    rows = "".join(f"- [Note {n}](note_{n}.md) — {'as it was told ' * 170}\n" for n in range(9))
    made = dream(tmp_path, {"MEMORY.md": f"# Memory\n\n{rows}", **notes([f"note_{n}.md" for n in range(10)])})
    assert "](note_9.md)" not in made.text("MEMORY.md")
    assert "1 memory is not in any index, and MEMORY.md has no room for its row." in made.summary


def test_a_memory_that_the_prose_of_an_index_names_as_code_gets_no_row(tmp_path: Path):
    files = notes(["ledger-move.md", "other-note.md"])
    index = "# Memory\n\nDone, for reference only: `ledger-move`.\n\n- [First](first.md) — the first\n"
    made = dream(tmp_path, {"MEMORY.md": index, "first.md": "The first memory says this.\n", **files})
    assert "ledger-move.md" not in made.text("MEMORY.md") and "](other-note.md)" in made.text("MEMORY.md")


def test_an_index_that_lists_hardly_a_memory_on_purpose_gets_no_rows(tmp_path: Path):
    files = notes([f"note_{number:03}.md" for number in range(30)])
    index = "# Memory\n\nKept short: search the folder for the rest.\n\n- [First](note_000.md) — the first\n"
    assert dream(tmp_path, {"MEMORY.md": index, **files}).operations("index") == {}


@each("path", ["README.md", "INSTALL.md", "skills/deploy/SKILL.md"])
def test_what_lies_beside_the_memories_gets_no_row(tmp_path: Path, path: str):
    made = dream(tmp_path, {"MEMORY.md": "- [A](a.md)\n", "a.md": A, path: "# How to notes\n\nx y\n"})
    assert (made.edits, made.outcome.questions) == ([], [])


def test_notes_of_which_one_has_a_typed_name_by_chance_get_no_index(tmp_path: Path):
    plain = {
        f"{name}.md": f"# The {name}\n\nOf {name} only.\n" for name in ("style", "tests", "project_overview")
    }
    assert dream(tmp_path, plain).edits == []


@each(
    "index",
    ["See [[a]] first.\n", "Read a.md first.\n", "| A | [x](a.md) |\n", "- `a.md` — x\n", "- [x](<a.md>)\n"],
)
def test_a_file_that_the_index_speaks_of_is_no_orphan(tmp_path: Path, index: str):
    assert dream(tmp_path, {"MEMORY.md": index, "a.md": A}).edits == []


def test_notes_by_day_logs_and_folders_set_aside_get_no_rows(tmp_path: Path):
    files = {"2026-02-12.md": "Did things.\n", "logs/2026/x.md": "x", "archive/old.md": A, "notes.txt": "x"}
    assert dream(tmp_path, files).edits == []


@each(
    ("path", "listed"),
    [
        ("LAST_SESSION.md", False),
        ("dispatch-activity-log.md", False),
        ("session_2026_04_17_inventory.md", False),
        ("handoff_active.md", False),
        ("project_session_cookies.md", True),
        ("feedback_handoff_format.md", True),
        ("feedback_logging.md", True),
    ],
)
def test_the_record_of_what_went_on_gets_no_row(tmp_path: Path, path: str, listed: bool):
    files = {
        "MEMORY.md": "- [A](a.md)\n",
        "a.md": A,
        path: memory("Cookies are signed.\n", name="Cookies of ours"),
    }
    assert (f"]({path})" in dream(tmp_path, files).text("MEMORY.md")) is listed


@each(
    ("name", "description"),
    [
        ("Cookies of ours — DONE", "how they are signed"),
        ("Cookies of ours: progress", "how they are signed"),
        ("cookies-of-ours", "how they are signed"),
        ("Cookies of ours, April 11, 2026", "how they are signed"),
        ("Cookies of ours (12/06/2026)", "how they are signed"),
        ("Cookies of ours", "SUPERSEDED by sessions.md"),
    ],
)
def test_what_tells_a_state_or_has_no_title_gets_no_row_unasked_and_what_is_over_none(
    tmp_path: Path, name: str, description: str
):
    text = memory("Cookies are signed.\n", name=name, description=description)
    made = dream(tmp_path, {"MEMORY.md": "- [A](a.md)\n", "a.md": A, "project_c.md": text})
    assert made.edits == []
    assert [each.kind for each in made.outcome.questions] == [
        "expired" if "SUPER" in description else "learn"
    ]


@each("head", ["---\ntype: project\n---\n\n", ""])
def test_a_file_without_a_head_gets_no_row_unasked(tmp_path: Path, head: str) -> None:
    others = {f"n{n}.md": f"{head}# Box {n}\n\nIt takes part in the release.\n" for n in range(5)}
    rows = "".join(f"- [Box]({name}) — a box\n" for name in others)
    brief = "# The brief\n\nWhat the boxes are for.\n"
    made = dream(tmp_path, {"MEMORY.md": f"# Memory\n\n{rows}", **others, "brief.md": brief})
    assert "brief.md" not in made.text("MEMORY.md")
    assert [each.places[0].path for each in made.outcome.questions if each.kind == "learn"] == ["brief.md"]


def test_a_row_of_a_renamed_file_is_pointed_to_it(tmp_path: Path):
    made = dream(tmp_path, {"MEMORY.md": "- [Rel](Release-Notes.md) — how\n", "release_notes.md": A})
    assert made.text("MEMORY.md") == "- [Rel](release_notes.md) — how\n"


def test_a_dangling_row_stays_as_it_is_because_it_may_be_the_only_copy(tmp_path: Path):
    made = dream(tmp_path, {"MEMORY.md": "- [Licence](gone.md) — the licence server is at port 9099\n"})
    assert made.edits == []
    assert "Left 1 index row whose file is missing" in made.summary


def test_rows_to_the_repository_urls_and_folders_are_left_alone(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "release-notes.md").touch()
    index = "- [R](docs/release-notes.md) — x\n- [U](https://x.example/a.md)\n- [S](specs/)\n- [Rel](release_notes.md)\n"
    made = dream(tmp_path / "w", {"MEMORY.md": index, "release_notes.md": A}, repo=tmp_path)
    assert made.edits == []


def test_a_row_that_says_no_more_than_another_of_its_file_goes_and_one_that_does_stays(tmp_path: Path):
    index = "- [A](a.md) — how releases go out\n- [A](a.md) — how releases go out; never on Friday\n- [A](a.md) — by Ana\n"
    made = dream(tmp_path, {"MEMORY.md": index, "a.md": A})
    assert made.text("MEMORY.md").splitlines() == index.splitlines()[1:]
    assert not any(map(unaccounted, made.edits))


@each(
    ("one", "other"),
    [
        ("use npm, not yarn", "use yarn, not npm"),
        ("releases; staging runs at night and production on Monday", "production runs at night"),
        ("when they do this", "how we do it"),
        ("it is ready", "is it ready?"),
        ("rotate the key", "⚠️ rotate the key"),
        ("see [the guide](https://one.example)", "see [the guide](https://two.example)"),
    ],
)
def test_a_row_that_says_the_same_words_otherwise_stays(tmp_path: Path, one: str, other: str):
    index = f"- [A](a.md) — {one}\n- [A](a.md) — {other}\n"
    assert dream(tmp_path, {"MEMORY.md": index, "a.md": A}).edits == []


@each("title", ["Yarn, not npm", "How we do it", "npm, not yarn?"])
def test_a_row_whose_title_says_the_same_words_otherwise_stays(tmp_path: Path, title: str):
    index = f"- [npm, not yarn](a.md) — for builds\n- [{title}](a.md)\n"
    assert dream(tmp_path, {"MEMORY.md": index, "a.md": A}).edits == []


@each("row", ["[A](a.md)", "[a.md](a.md) — Never on Friday.", "[Release notes](a.md) — how releases go out"])
def test_a_row_of_which_another_has_every_word_goes_and_the_change_says_so(tmp_path: Path, row: str):
    kept = "- [A](a.md) — how releases go out, by whom; never on Friday\n"
    made = dream(tmp_path, {"MEMORY.md": f"{kept}- {row}\n", "a.md": A})
    assert made.text("MEMORY.md") == kept
    assert [edit.reason for edit in made.edits] == ["This row adds nothing to the other row for a.md."]


def test_a_doubled_row_with_a_title_of_its_own_or_with_children_stays(tmp_path: Path):
    index = "- [A](a.md) — one\n- [Deploys at night](a.md) — one\n- [A](a.md)\n  - child\n"
    assert dream(tmp_path, {"MEMORY.md": index, "a.md": A}).edits == []


LONG = (
    "The queue is Redis 7.2; retries stop at 5, " + "and a long tail of words follows it " * 5 + "to the end."
)


def test_a_long_row_stays_as_it_is_while_the_index_fits(tmp_path: Path):
    files = {"MEMORY.md": f"- [Queue](q.md) — {LONG}\n", "q.md": memory("Facts.\n")}
    assert dream(tmp_path, files).edits == []


def test_the_same_line_in_two_files_is_asked_about(tmp_path: Path):
    files = {
        "project_api.md": memory("- The API listens on port 8080\n- API keys rotate every 90 days\n"),
        "project_ports.md": memory("- The API listens on port 8080.\n- Metrics on port 9100\n"),
        "MEMORY.md": "- [Api](project_api.md)\n- [Ports](project_ports.md)\n",
    }
    made = dream(tmp_path, files)
    assert made.edits == []
    (question,) = made.outcome.questions
    assert (question.kind, len(question.places)) == ("same", 2)


@each(
    ("one", "two"),
    [
        ("- The API listens on port 8080\n", "- The API listens on port 8081\n"),
        ("- Use PostgreSQL 15 for the main database\n", "- Use PostgreSQL 16 for the main database\n"),
        ("- Always squash commits before merging\n", "- Never squash commits before merging\n"),
        (
            "- The database in staging runs nightly dumps\n",
            "- The database in production runs nightly dumps\n",
        ),
        ("1. Run the release script twice\n", "2. Run the release script twice\n"),
        ("| Run | the release script twice |\n", "\n| Run | the release script twice |\n"),
        ("**Why:** the release script broke twice\n", "\n**Why:** the release script broke twice\n"),
        (
            "## Staging\n- The server restarts every night\n",
            "## Production\n- The server restarts every night\n",
        ),
        (
            "In staging:\n- The server restarts every night\n",
            "\nIn production:\n- The server restarts every night\n",
        ),
        (
            "- Billing\n  - deploys go out on Tuesdays only\n",
            "- Checkout\n  - deploys go out on Tuesdays only\n",
        ),
        ("```\nrun the release script twice\n```\n", "```\nrun the release script twice\n```\n"),
        (
            "## `workspace`\n\nThis value is not exported to the build.\n\n",
            "## `workspaces`\n\nThis value is not exported to the build.\n",
        ),
        (
            "## Review of staged changes\n\n- Merged into `ollama-git-precommit` — see above. **Published**: `/blog/ollama-git-precommit`.\n\n",
            "## Detection of credentials in staged changes\n\n- Merged into `ollama-git-precommit` — see above. **Published**: `/blog/ollama-git-precommit`.\n",
        ),
        (
            "## Reviewers\n- [ana](https://a.example) - Ana Weber\n",
            "## Owners\n- [ana](https://a.example) - Ana Weber\n",
        ),
        (
            "- `[name^=value]` the value starts with it\n",
            "- `[name|=value]` the value equals or starts with it\n",
        ),
        (
            "- `:flag([level=high])` returns packages with a high level\n",
            "- `:flag([level=high],[level=low])` returns packages with a high or a low level\n",
        ),
    ],
)
def test_look_alikes_and_lines_that_live_by_their_place_are_not_merged(tmp_path: Path, one: str, two: str):
    assert dream(tmp_path, {"MEMORY.md": "- [a](a.md)\n", "a.md": memory(one + two)}).edits == []


def test_a_line_that_does_not_name_what_its_file_is_about_stays_in_both(tmp_path: Path):
    line = "- Deploys go out on Tuesdays after lunch\n"
    files = {
        "project_billing.md": memory(line + "- Billing is in Go\n"),
        "project_checkout.md": memory(line + "- Checkout is in Rust\n"),
        "MEMORY.md": "- [b](project_billing.md)\n- [c](project_checkout.md)\n",
    }
    assert dream(tmp_path, files).edits == []


@each(
    ("one", "two"),
    [
        ("Full security re-audit", "Full security re-audit (repeat 6-step checklist)"),
        ("Full security re-audit", "Full security re-audit"),
        ("Look at read-only replicas after each deploy", "Look at read-only replicas after each deploy"),
        ("Run the end-to-end tests first", "Run the end-to-end tests first (with Chromium)"),
        ("Read-only tokens for all scripts", "Read-only tokens for all scripts"),
        ("As of 2026-05-02: full re-audit takes 2 days", "As of 2026-05-09: full re-audit takes 3 days"),
    ],
)
def test_a_compound_word_is_no_name_that_makes_a_line_the_same_in_memories_of_two_things(
    tmp_path: Path, one: str, two: str
):
    files = {
        "citizen-skill-review.md": memory(f"- {one}\n- Citizen is in Go\n"),
        "constitution-skill-review.md": memory(f"- {two}\n- Constitution is in Rust\n"),
        "MEMORY.md": "- [b](citizen-skill-review.md)\n- [c](constitution-skill-review.md)\n",
    }
    assert dream(tmp_path, files).edits == []


def test_a_line_that_names_its_thing_only_as_a_compound_word_is_asked_about(tmp_path: Path):
    line = "copper-indexer needs a restart after each deploy"
    files = {
        "project_search.md": memory(f"- {line}\n- Search is in Rust\n"),
        "project_deploys.md": memory(f"- {line}\n- Deploys are slow\n"),
        "MEMORY.md": "- [s](project_search.md)\n- [d](project_deploys.md)\n",
    }
    made = dream(tmp_path, files)
    assert made.edits == []
    assert [asked.kind for asked in made.outcome.questions] == ["same"]


def test_a_file_that_says_nothing_new_goes_and_links_to_it_follow(tmp_path: Path):
    body = "Write tests before code.\n\n**Why:** bugs came back.\n"
    files = {
        "MEMORY.md": "- [Tests](feedback_tests.md) — tests first\n- [feedback_testing.md](feedback_testing.md) — tests first\n",
        "feedback_tests.md": memory(body, "feedback", "Tests", "tests first"),
        "feedback_testing.md": memory(body, "feedback", "Testing", "tests before code"),
        "user_role.md": memory("See [[feedback_testing]] and [t](feedback_testing.md#why).\n", "user"),
    }
    files["MEMORY.md"] += "- [Role](user_role.md)\n"
    made = dream(tmp_path, files)
    assert "feedback_testing.md" not in made.after
    assert "See [[feedback_tests]] and [t](feedback_tests.md#why)." in made.text("user_role.md")
    assert made.text("MEMORY.md").count("feedback_tests.md)") == 1
    (operation,) = made.operations("merge").values()
    assert {edit.path for edit in operation} == set(files) - {"feedback_tests.md"}
    assert not any(map(unaccounted, made.edits))


def test_a_merge_leaves_one_row_and_no_stray_name(tmp_path: Path):
    body = "Commit messages are imperative.\nThe ticket number stands at the end.\n"
    files = {
        "MEMORY.md": "- [Commit messages](feedback_commits.md) — imperative mood, ticket number at the end\n"
        "- [Commit style](feedback_commit_style.md) — imperative mood, ticket number at the end\n",
        "feedback_commits.md": memory(body, "feedback", "Commit messages", "How commit messages are written"),
        "feedback_commit_style.md": memory(
            body, "feedback", "Commit style", "How commit messages are written"
        ),
    }
    made = dream(tmp_path, files)
    assert made.text("MEMORY.md") == files["MEMORY.md"].split("\n")[0] + "\n"
    assert made.text("feedback_commits.md") == files["feedback_commits.md"]
    fates = [fate for edit in made.edits for fate in edit.fates if fate.text == "name: Commit style"]
    assert [(fate.kind, fate.note) for fate in fates] == [
        ("stated", "A label of the merged file; all its content is kept.")
    ]
    assert dream(tmp_path / "again", {path: made.text(path) for path in made.after}).edits == []


def test_a_row_of_a_merged_file_keeps_a_title_of_its_own_in_the_hook(tmp_path: Path):
    body = "Write tests before code.\n"
    files = {
        "MEMORY.md": "- [Tests](feedback_tests.md) — write them early on\n- [Tests after outages](feedback_tests_2.md) — with Ana\n",
        "feedback_tests.md": memory(body, "feedback", "Tests"),
        "feedback_tests_copy.md": memory(body, "feedback", "Tests"),
    }
    files["MEMORY.md"] = files["MEMORY.md"].replace("feedback_tests_2", "feedback_tests_copy")
    made = dream(tmp_path, files)
    assert made.text("MEMORY.md").count("](") == 1
    assert "Tests after outages — with Ana" in made.text("MEMORY.md")
    assert "write them early on" in made.text("MEMORY.md")


@each(
    ("one", "two"),
    [
        (memory("Port 8080 is open.\n", name="staging"), memory("Port 8080 is open.\n", name="production")),
        (memory("Port 8080 is open.\n", more="pinned: true\n"), memory("Port 8080 is open.\n")),
        (
            memory("Port 8080 is open.\n", more="owner: Ana\n"),
            memory("Port 8080 is open.\n", more="owner: Bo\n"),
        ),
    ],
)
def test_files_that_differ_in_more_than_words_are_not_merged(tmp_path: Path, one: str, two: str):
    files = {"a.md": one, "b.md": two, "MEMORY.md": "- [a](a.md)\n- [b](b.md)\n"}
    assert dream(tmp_path, files).edits == []


def days_asked(made: Dreamt) -> list[str]:
    """The memory as each question about a relative day would write it."""
    assert made.edits == []
    return [each.options[0].edits[0].after or "" for each in made.outcome.questions]


def test_a_relative_day_is_asked_about_with_the_day_it_counts_from(tmp_path: Path):
    body = memory("- We moved to Valkey yesterday.\r\n- b\n")
    made = dream(tmp_path, {"MEMORY.md": "- [a](a.md)\n", "a.md": body})
    (after,) = days_asked(made)
    assert "- We moved to Valkey on 2026-09-30.\r\n- b\n" in after
    (question,) = made.outcome.questions
    assert question.why == "“yesterday” is 2026-09-30, counted from 2026-10-01 (first seen in the history)."
    edit = question.options[0].edits[0]
    assert (edit.kind, edit.citations[0].source) == ("date", "history")


@each("source", ["history", "transcript", "memory", "file"])
def test_no_relative_day_is_written_out_unasked_whoever_knows_the_day(tmp_path: Path, source: EvidenceSource):
    files = {"MEMORY.md": "- [a](a.md)\n", "a.md": memory("- We moved to Valkey yesterday.\n")}
    made = dream(tmp_path, files, written=LineDate(WRITTEN.day, source, "known"))
    assert len(days_asked(made)) == 1


def test_rows_behind_an_index_whose_last_line_does_not_end_are_decided_apart(tmp_path: Path):
    files = {
        "MEMORY.md": "# Memory\n\n- [A](a.md) — the aft",
        "a.md": memory("- aft\n", name="A", description="the aft"),
    }
    for name in ("bow", "cab", "dock"):
        files[f"{name}.md"] = memory(
            f"- {name}\n", "feedback", name=f"The {name}", description=f"of the {name}"
        )
    first, second, third = dream(tmp_path, files).edits
    for before, after in ((first, second), (second, third)):
        assert after.before == before.after
        assert (after.after or "").startswith(f"{before.after}- [The ")


def test_what_happened_today_gets_its_day(tmp_path: Path):
    made = dream(tmp_path, {"MEMORY.md": "- [a](a.md)\n", "a.md": memory("- We moved to Valkey today.\n")})
    (after,) = days_asked(made)
    assert "- We moved to Valkey on 2026-10-01.\n" in after


def test_the_title_of_a_body_keeps_no_two_files_apart_that_say_the_same(tmp_path: Path):
    body = "\n- The relay needs Node 20 and a lot of patience\n- Its logs are kept for a week\n"
    files = {
        "relay.md": f"# Relay{body}".encode(),
        "relay_notes.md": f"# Relay notes{body}".encode(),
        "MEMORY.md": b"- [Relay](relay.md)\n- [Relay notes](relay_notes.md)\n",
    }
    made = dream(tmp_path, files)
    assert len(made.after) == 2


@each(
    "body",
    [
        "- We moved recently.\n",
        "- We moved to the new cluster on May 7.\n",
        "- She took a break after Q3 was answered.\n",
        "- She offered to call today or tomorrow.\n",
        "- She calls either today, or tomorrow.\n",
        "- She calls today / tomorrow.\n",
        "- She calls on Sunday/tomorrow.\n",
        "- She calls tomorrow/Sunday.\n",
        "- She calls on Sunday, or tomorrow.\n",
        "- It was fixed in the Apr 28 release.\n",
        "- New entries are crossings that happened ≤ 5 days ago.\n",
        "- She learned to program 40 years ago, on punched cards.\n",
        "- The ramp was planned to finish in 8 weeks.\n",
        "- Yesterday's run was lost.\n",
        "- The tile shows the load in % vs. yesterday.\n",
        "- Docs of 2026-05-08 follow the changes that landed in the last two weeks.\n",
        '- The user was asked and said "that was done yesterday" of it.\n',
        "| Run | we moved yesterday |\n",
        "- Releases are cut every second Tuesday.\n",
        "- The report is sent on Monday.\n",
        "- Most of the machines in use today have an improved disk.\n",
        "- 이 파일 읽기 → 오늘 할 항목 선택\n",
        "- 칩: 오늘·이번주·이번 달\n",
        "- Heute laufen alle Pumpen mit Strom.\n",
        "- Today's servers run several threads at once.\n",
        "```\nmoved yesterday\n```\n",
        "> We moved yesterday.\n",
        "## 2026-03-01\n\n- We moved yesterday.\n",
        "- 2026-03-01\n  - We moved yesterday.\n",
        "On 2026-03-01:\n\n- We moved yesterday.\n",
    ],
)
def test_vague_quoted_and_dated_lines_keep_their_words(tmp_path: Path, body: str):
    assert days_asked(dream(tmp_path, {"MEMORY.md": "- [a](a.md)\n", "a.md": memory(body)})) == []


def test_the_day_of_the_bullet_before_is_no_day_of_the_next_one(tmp_path: Path):
    body = "- Cluster\n  - Released on 2026-03-01.\n  - We moved yesterday.\n"
    (after,) = days_asked(dream(tmp_path, {"MEMORY.md": "- [a](a.md)\n", "a.md": memory(body)}))
    assert "yesterday" not in after and "Released on 2026-03-01" in after


@pytest.mark.more
@each("text", ["Freeze next Friday", "Last Tuesday we moved"])
def test_a_phrase_that_has_one_reading_only_on_some_days_names_a_day_on_all(text: str):
    counted = [bool(spans(text, WRITTEN.day + dt.timedelta(days=number))) for number in range(400)]
    assert any(counted) and not all(counted)
    assert names_a_day(text)


def test_no_date_is_made_up_where_nobody_knows_when_a_line_was_written(tmp_path: Path):
    files = {"MEMORY.md": "- [a](a.md)\n", "a.md": memory("- We moved yesterday.\n")}
    assert days_asked(dream(tmp_path, files, written=None)) == []


@each(("source", "note"), [("file", "the file’s own date"), ("memory", "the memory’s own date")])
def test_the_day_of_a_file_is_not_trusted_where_another_day_stands_beside_the_line(
    tmp_path: Path, source: EvidenceSource, note: str
):
    files = {
        "MEMORY.md": "- [a](a.md)\n",
        "a.md": memory("- We moved yesterday.\n- Since 2026-03-01 in Valkey\n"),
    }
    assert days_asked(dream(tmp_path, files, written=LineDate(WRITTEN.day, source, note))) == []


def test_a_day_to_come_beside_the_line_does_not_say_when_it_was_written(tmp_path: Path):
    files = {
        "MEMORY.md": "- [a](a.md)\n",
        "a.md": memory("- We moved yesterday.\n- Until 2091-03-01 nothing is deployed\n"),
    }
    made = dream(tmp_path, files, written=LineDate(WRITTEN.day, "memory", "the memory’s own date"))
    assert len(days_asked(made)) == 1


def test_pinned_logged_shared_and_daily_memories_keep_every_word(tmp_path: Path):
    body = "- We moved to Valkey yesterday.\n- The queue has 5 workers\n- The queue has 5 workers\n"
    files = {
        "pinned.md": memory(body, more="pinned: true\n"),
        "logs/2026/10/x.md": body,
        "team/x.md": body,
        "2026-10-01.md": body,
        "latin.md": body.encode() + b"\xff",
        "MEMORY.md": "- [p](pinned.md)\n- [l](latin.md)\n",
    }
    assert dream(tmp_path, files).edits == []


def test_what_was_edited_by_hand_lately_keeps_every_word(tmp_path: Path):
    body = "- We moved to Valkey yesterday.\n- The queue has 5 workers\n- The queue has 5 workers\n"
    files = {"a.md": memory(body), "b.md": A, "MEMORY.md": "- [a](a.md)\n- [a](a.md)\n"}
    assert dream(tmp_path / "1", files, hand_edited=frozenset({"a.md", "MEMORY.md"})).edits == []
    assert dream(tmp_path / "2", files).edits


def test_every_phase_tells_a_turn_and_asks_whether_to_go_on(tmp_path: Path):
    made = dream(tmp_path, {"a.md": A})
    assert [phase for phase, _, _ in made.told.turns] == ["orient", "gather", "consolidate", "prune"]
    assert made.told.turns[0][1] == "Read 1 memory and 0 index rows."
    assert made.told.checkpoints > 4
