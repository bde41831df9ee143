"""What leaves: asked to be forgotten, and nothing beside it; and what is asked about: past its day, or said by the code."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from dreams.engines.types import LineDate
from tests.world.cases import each
from tests.world.rules import Dreamt, dream, memory, session, unaccounted

INDEX = "- [Notes](notes.md) — notes\n"
OTHER = "- The docs are built with Sphinx.\n"


def lines(made: Dreamt) -> list[str]:
    return [line[2:] for line in made.text("notes.md").split("\n") if line.startswith("- ")]


def over(folder: Path, *body: str, said: tuple[str, ...] = (), repo: dict[str, str] | None = None) -> Dreamt:
    files = {"notes.md": memory("".join(f"- {line}\n" for line in body) + OTHER), "MEMORY.md": INDEX}
    for name, text in (repo or {}).items():
        path = folder / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    made = dream(folder, files, [session(1, *said)] if said else [], repo=folder / "repo" if repo else None)
    for edit in made.edits:
        assert not unaccounted(edit), edit.reason
        assert edit.citations, edit.reason
    return made


MEMORY = (
    "The copper indexer listens on port 80.",
    "The amber relay calls the copper indexer at night.",
    "The staging database is on port 5433.",
    "The production database is on port 5432.",
    "Anna owns billing.",
    "We use npm for installs.",
)


@each(
    ("said", "gone"),
    [
        ("forget about the copper indexer", MEMORY[0]),
        ("please forget what I said about the staging database", MEMORY[2]),
        ("forget that the staging database is on port 5433", MEMORY[2]),
        ("you can forget everything about the production database", MEMORY[3]),
        ("remove the staging database port from your memory", MEMORY[2]),
        ("don't remember Anna any more", MEMORY[4]),
        ("forget that we use npm", MEMORY[5]),
    ],
)
def test_what_a_person_asked_to_forget_is_asked_about_and_nothing_beside_it_would_go(
    tmp_path: Path, said: str, gone: str
) -> None:
    made = over(tmp_path, *MEMORY, said=(said,))
    if made.edits:  # it names the value
        left = [made.text("notes.md")]
    else:
        left = [each.options[0].edits[0].after or "" for each in made.outcome.questions]
    assert [gone] in [[line for line in MEMORY if line not in text] for text in left]
    assert len(left) <= 2


@each(
    "said",
    [
        "forget it",
        "never mind, forget that",
        "don't forget to run the copper indexer",
        "forget about the copper indexer, let's do the docs",
        "forget the staging database for now",
        'he said "forget about the copper indexer"',
        "did you forget about the copper indexer?",
    ],
)
def test_what_only_sounds_like_forgetting_leaves_all_as_it_is(tmp_path: Path, said: str) -> None:
    assert lines(over(tmp_path, *MEMORY, said=(said,)))[: len(MEMORY)] == list(MEMORY)


def test_what_was_wished_and_then_to_be_forgotten_is_not_learnt(tmp_path: Path) -> None:
    made = over(
        tmp_path, said=("Remember that the copper indexer is slow.", "forget about the copper indexer")
    )
    assert not any(b"slow" in data for data in made.after.values())


PARAGRAPHS = (
    "- Uses uv. The amber-mailer sends from eu-west-1. Tests run with pytest.\n\n"
    "The umber-mixer is slow and needs\na warm cache. The amber-mailer listens\non port 99. Everything else is fine.\n\n"
    "- Ask Ana first.\n"
)


def test_of_a_paragraph_the_one_sentence_that_is_meant_would_go_and_the_others_stay(tmp_path: Path) -> None:
    files = {"notes.md": memory(PARAGRAPHS), "MEMORY.md": INDEX}
    made = dream(tmp_path, files, [session(1, "forget about the amber-mailer")])
    options = [edit for each in made.outcome.questions for edit in each.options[0].edits]
    assert made.edits == [] and sorted(edit.after or "" for edit in options) == [
        memory(PARAGRAPHS.replace(" The amber-mailer sends from eu-west-1.", "")),
        memory(PARAGRAPHS.replace(" The amber-mailer listens\non port 99.", "")),
    ]
    assert [line for edit in options for line in unaccounted(edit)] == []


@each(
    "body",
    [
        "- Settings persist in a file and the amber-mailer. Tests run with pytest.\n",
        "- Settings persist in a file and the amber-mailer.\n",
        "- The mailer moved.\n\n**Why:** it was slow.\n**How to apply:** the amber-mailer needs a warm cache.\n",
    ],
)
def test_what_only_names_the_thing_or_stands_below_a_label_is_not_forgotten(
    tmp_path: Path, body: str
) -> None:
    files = {"notes.md": memory(body + OTHER), "MEMORY.md": INDEX}
    assert dream(tmp_path, files, [session(1, "forget about the amber-mailer")]).edits == []


def test_a_quotation_is_left_whole_or_removed_whole(tmp_path: Path) -> None:
    quoted = "> Uses uv. The amber-mailer sends from eu-west-1. Tests run with pytest.\n"
    files = {"notes.md": memory(f"{quoted}\n{OTHER}"), "MEMORY.md": INDEX}
    made = dream(tmp_path, files, [session(1, "forget about the amber-mailer")])
    options = [edit.after for each in made.outcome.questions for edit in each.options[0].edits]
    assert made.edits == [] and options == [memory(OTHER)]


def test_a_sentence_that_the_next_one_leans_on_stays(tmp_path: Path) -> None:
    body = (
        "- The copper-relay listens on port 80. It needs a warm cache.\n- The docs are built with Sphinx.\n"
    )
    made = dream(
        tmp_path, {"notes.md": memory(body), "MEMORY.md": INDEX}, [session(1, "forget about copper-relay")]
    )
    assert made.edits == []
    (asked,) = made.outcome.questions
    assert (asked.kind, [option.id for option in asked.options]) == ("forget", ["remove", "keep"])
    (edit,) = asked.options[0].edits
    assert edit.after == memory("- The docs are built with Sphinx.\n")


@each(("end", "left"), [("\n", "\n"), ("", "")])
def test_the_last_passage_takes_the_blank_line_before_it(tmp_path: Path, end: str, left: str) -> None:
    notes = memory(f"The docs are built with Sphinx.\n\nThe staging database is on port 5433.{end}")
    forget = session(1, 'forget "The staging database is on port 5433."')
    made = dream(tmp_path, {"notes.md": notes, "MEMORY.md": INDEX}, [forget])
    assert made.text("notes.md").endswith(f"---\n\nThe docs are built with Sphinx.{left}")


def test_a_file_that_said_nothing_else_goes_with_its_row(tmp_path: Path) -> None:
    files = {
        "ports.md": memory("The copper indexer listens on port 80.\n", name="Ports"),
        "notes.md": memory(OTHER),
        "MEMORY.md": INDEX + "- [Ports](ports.md) — ports\n",
    }
    made = dream(tmp_path, files, [session(1, "forget about the copper indexer on port 80")])
    assert "ports.md" not in made.after and made.text("MEMORY.md") == INDEX
    assert not any(unaccounted(edit) for edit in made.edits)


def test_a_file_that_another_one_links_to_stays(tmp_path: Path) -> None:
    files = {
        "ports.md": memory("The copper indexer listens on port 80.\n", name="Ports"),
        "notes.md": memory(OTHER + "- See [[ports]].\n"),
        "MEMORY.md": INDEX + "- [Ports](ports.md) — ports\n",
    }
    made = dream(tmp_path, files, [session(1, "forget about the copper indexer")])
    assert made.after["ports.md"] == made.before["ports.md"]


def test_what_held_until_a_day_that_has_passed_is_asked_about_and_what_still_holds_is_not(
    tmp_path: Path,
) -> None:
    passed, ahead = "Merges are frozen until 2026-03-01.", "Deploys need two approvals until 2099-03-01."
    made = over(tmp_path, passed, ahead)
    assert made.edits == []
    (asked,) = made.outcome.questions
    assert (asked.kind, asked.places[0].text.strip()) == ("expired", f"- {passed}")


REPO = {
    "CLAUDE.md": "# Rules\n\n- Run `just check` before every push.\n\n## Staging\n\n- Use the blue cluster for load tests.\n",
    "package.json": '{"name": "harbour-web", "scripts": {"lint": "eslint ."}, "engines": {"node": ">=20"}}',
    "Makefile": "check:\n\truff check .\n\nall:\n\tone\n\ttwo\n",
    "docker-compose.yml": "services:\n  cache:\n    image: redis:7.2\n",
}


@each(
    "line",
    [
        "`npm run lint` runs `eslint .`.",
        "The npm package is called `harbour-web`.",
        "`make check` runs `ruff check .`.",
        "docker-compose.yml runs the service `cache` from `redis:7.2`.",
    ],
)
def test_what_the_repository_says_word_for_word_is_asked_about_with_the_place(
    tmp_path: Path, line: str
) -> None:
    made = over(tmp_path, line, repo=REPO)
    assert line in lines(made)
    (asked,) = made.outcome.questions
    (edit,) = asked.options[0].edits
    assert asked.kind == "derived" and line not in (edit.after or "")
    assert edit.citations[0].source == "repository" and edit.citations[0].place in REPO


@each(
    "line",
    [
        "Run `just check` before every push, except on the docs branch.",
        "`npm run lint` runs `eslint .`, which takes four minutes.",
        "`npm run lint` does not run `eslint .`.",
        "`npm run lint` runs `biome .`.",
        "The npm package is called `harbour-old`.",
        "The service `cache` must stay on `redis:7.2`.",
        "`make all` runs `one`.",
    ],
)
def test_what_says_more_or_otherwise_than_the_repository_stays(tmp_path: Path, line: str) -> None:
    assert line in lines(over(tmp_path, line, repo=REPO))


def test_preferences_and_feedback_stay_whatever_the_repository_says(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "CLAUDE.md").write_text(REPO["CLAUDE.md"])
    files = {
        name: memory("- Run `just check` before every push.\n" + OTHER, kind)
        for name, kind in (("a.md", "user"), ("b.md", "feedback"))
    }
    made = dream(tmp_path, {**files, "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n"}, repo=tmp_path / "repo")
    assert any("just check" in made.text(path) for path in made.after if path in files)


def test_a_link_in_the_repository_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "elsewhere.md").write_text(REPO["CLAUDE.md"])
    (tmp_path / "repo" / "CLAUDE.md").symlink_to(tmp_path / "elsewhere.md")
    line = "Run `just check` before every push."
    files = {"notes.md": memory(f"- {line}\n{OTHER}"), "MEMORY.md": INDEX}
    assert line in lines(dream(tmp_path, files, repo=tmp_path / "repo"))


def test_where_only_a_memorys_day_says_which_is_newer_the_person_is_asked(tmp_path: Path) -> None:
    lines = {"status.md": "The API is on port 80", "notes.md": "The API is on port 81"}
    days = {
        name: LineDate(dt.date(2026, month, 10), "memory", "")
        for month, name in ((1, "status.md"), (2, "notes.md"))
    }
    files = {name: memory(f"- {line}\n{OTHER}") for name, line in lines.items()}
    made = dream(tmp_path, {**files, "MEMORY.md": INDEX}, written=days)
    assert all(line in made.text(name) for name, line in lines.items())
    (asked,) = [each for each in made.outcome.questions if each.kind == "changed"]
    assert [place.text for place in asked.places] == list(lines.values())
