"""What leaves: asked to be forgotten, superseded by a newer date, past its day, or said by the code; nothing beside it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import pytest

from dreams.engines.rules.steps.removals import ended
from dreams.engines.types import LineDate
from tests.world.cases import each
from tests.world.rules import WRITTEN, Dreamt, dream, memory, session, unaccounted

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


@pytest.mark.parametrize(
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
def test_what_a_person_asked_to_forget_goes_and_nothing_beside_it(
    tmp_path: Path, said: str, gone: str
) -> None:
    made = over(tmp_path, *MEMORY, said=(said,))
    assert [line for line in MEMORY if line not in lines(made)] == [gone]


@pytest.mark.parametrize(
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
    "- Deploys are frozen until 2026-05-01. Ask Ana first.\n"
)


def test_one_sentence_of_a_paragraph_is_forgotten_or_expires_and_the_others_stay(tmp_path: Path) -> None:
    files = {"notes.md": memory(PARAGRAPHS), "MEMORY.md": INDEX}
    made = dream(tmp_path, files, [session(1, "forget about the amber-mailer")])
    assert made.text("notes.md") == memory(
        "- Uses uv. Tests run with pytest.\n\n"
        "The umber-mixer is slow and needs\na warm cache. Everything else is fine.\n\n- Ask Ana first.\n"
    )
    assert [line for edit in made.edits for line in unaccounted(edit)] == []


@pytest.mark.parametrize(
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


def test_a_file_that_said_nothing_else_goes_with_its_row(tmp_path: Path) -> None:
    files = {
        "ports.md": memory("The copper indexer listens on port 80.\n", name="Ports"),
        "notes.md": memory(OTHER),
        "MEMORY.md": INDEX + "- [Ports](ports.md) — ports\n",
    }
    made = dream(tmp_path, files, [session(1, "forget about the copper indexer")])
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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "As of 2026-01-10: the API runs on PostgreSQL 15.",
            "Since 2026-03-02: the API runs on PostgreSQL 16.",
        ),
        ("The API is on port 80 (as of 2026-01-10)", "The API is on port 81 (as of 2026-02-10)"),
        (
            "Backend with /ping and /health routes (as of 2026-01-10)",
            "Backend with /ping, /health and /me routes (as of 2026-02-10)",
        ),
        (
            "As of 2026-01-10: auth with scrypt, tokens encrypted at rest",
            "As of 2026-02-10: auth with scrypt, tokens encrypted at rest, validated SESSION_DAYS",
        ),
    ],
)
def test_of_two_dated_statements_the_newer_one_stays(tmp_path: Path, old: str, new: str) -> None:
    for number, order in enumerate([(old, new), (new, old)]):
        made = over(tmp_path / str(number), *order)
        assert new in lines(made) and old not in lines(made)
        (edits,) = made.operations("update").values()
        assert {fate.kind for fate in edits[0].fates} == {"superseded-by"}
        assert new in {fate.target_text for fate in edits[0].fates}


@pytest.mark.parametrize(
    "body",
    [
        ("2026-01-10: load test reached 400 rps.", "2026-02-10: load test reached 500 rps."),
        ("2026-01-10: coverage is 81 %", "2026-02-10: coverage is 84 %"),
        ("[2025-11-02] Ana Ruiz owns billing.", "2026-01-05: Bo Lind owns billing."),
        ("As of 2026-01-10: node 2 of 5 holds the index.", "As of 2026-02-10: node 3 of 5 holds the index."),
        ("As of 2026-01-10: queue 3 is drained by hand.", "As of 2026-02-10: queue 4 is drained by hand."),
        ("As of 2026-01-10: staging runs PostgreSQL 15.", "As of 2026-02-10: production runs PostgreSQL 16."),
        ("As of 2026-01-10: billing uses Redis.", "As of 2026-02-10: search uses Redis."),
        ("2026-01-10: port is 80", "2026-01-11: port is 81", "2026-01-12: port is 82"),
        ("As of 2026-01-10: Ana was ill.", "As of 2026-02-10: Bo was ill."),
        ("Security audit of the API (2026-01-10)", "Security audit of the API and the portal (2026-02-10)"),
        (
            "2026-01-10: Sprint review with Acme, notes in wiki",
            "2026-02-10: Sprint review with Acme, notes in wiki, page 2",
        ),
    ],
)
def test_a_log_and_look_alikes_with_dates_stay_whole(tmp_path: Path, body: tuple[str, ...]) -> None:
    assert lines(over(tmp_path, *body))[: len(body)] == list(body)


@each(
    ("text", "day"),
    [
        ("Merges are frozen until 2026-03-01 for the audit.", "2026-03-01"),
        ("Do not touch `src/legacy` until 2026-03-01.", "2026-03-01"),
        ("Anna is on leave until March 1, 2026.", "2026-03-01"),
        ("The trial runs until 1 March 2026.", "2026-03-01"),
        ("Python 3.8 was supported until 2024-10-07.", None),
        ("We ran Node 16 until 2025-05-01.", None),
        ("It goes with the checks used by hand all through 2026-03-01.", None),
        ("The API was not available until 2026-03-01.", None),
        ("Not before 2026-03-01.", None),
        ("The certificate is valid until 2026-03-01.", None),
        ("Data of 2025 is kept until 2026-03-01.", None),
        ("Until 2026-03-01 two approvals; after that one is enough.", None),
        ("Merges are frozen until 2026-13-01.", None),
    ],
)
def test_the_day_until_which_a_whole_statement_holds(text: str, day: str | None) -> None:
    found = ended(text)
    assert (found.isoformat() if found else None) == day


def test_what_held_until_a_day_that_has_passed_goes_and_what_still_holds_stays(tmp_path: Path) -> None:
    passed, ahead = "Merges are frozen until 2026-03-01.", "Deploys need two approvals until 2099-03-01."
    made = over(tmp_path, passed, ahead)
    assert passed not in lines(made) and ahead in lines(made)


REPO = {
    "CLAUDE.md": "# Rules\n\n- Run `just check` before every push.\n\n## Staging\n\n- Use the blue cluster for load tests.\n",
    "package.json": '{"name": "harbour-web", "scripts": {"lint": "eslint ."}, "engines": {"node": ">=20"}}',
    "Makefile": "check:\n\truff check .\n\nall:\n\tone\n\ttwo\n",
    "docker-compose.yml": "services:\n  cache:\n    image: redis:7.2\n",
}


@pytest.mark.parametrize(
    "line",
    [
        "`npm run lint` runs `eslint .`.",
        "The npm package is called `harbour-web`.",
        "`make check` runs `ruff check .`.",
        "docker-compose.yml runs the service `cache` from `redis:7.2`.",
    ],
)
def test_what_the_repository_says_word_for_word_goes_with_the_place(tmp_path: Path, line: str) -> None:
    made = over(tmp_path, line, repo=REPO)
    assert line not in lines(made)
    (edit,) = made.edits
    assert edit.citations[0].source == "repository" and edit.citations[0].place in REPO


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("As of January 2026: the API runs on PostgreSQL 15.", "As of 2 March 2026: the API runs on PostgreSQL 16."),
        ("As of 2026-01-10 the API runs on PostgreSQL 15.", "The API runs on PostgreSQL 16 (updated 2026-03)."),
    ],
)  # fmt: skip
def test_days_are_read_as_notes_write_them(tmp_path: Path, old: str, new: str) -> None:
    made = over(tmp_path, old, new)
    assert new in lines(made) and old not in lines(made)


def _two_files(
    folder: Path, one: tuple[str, str], two: tuple[str, str], written: Mapping[str, LineDate] | None = None
) -> set[str]:
    """Which of two lines in two files stay."""
    files = {name: memory(f"- {line}\n{OTHER}") for name, line in (one, two)}
    rows = "".join(f"- [{name}]({name}) — of {name}\n" for name in files)
    made = dream(folder, {**files, "MEMORY.md": rows}, written=written or WRITTEN)
    told = "".join(made.text(name) for name in files if name in made.after)
    return {line for _, line in (one, two) if f"- {line}\n" in told}


def test_the_newer_of_two_statements_stays_in_whichever_file_it_is(tmp_path: Path) -> None:
    old, new = (
        "`copper-indexer` is on port 80 (as of 2026-01-10)",
        "`copper-indexer` is on port 81 (as of 2026-02-10)",
    )
    assert _two_files(tmp_path, ("project_status.md", old), ("session_notes.md", new)) == {new}


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


def test_a_day_on_which_a_line_was_only_there_makes_it_neither_old_nor_new(tmp_path: Path) -> None:
    old, new = "The API is on port 80", "The API is on port 81"
    days = {
        name: LineDate(dt.date(2026, month, 10), "history", "")
        for month, name in ((1, "status.md"), (3, "notes.md"))
    }
    assert _two_files(tmp_path / "a", ("status.md", old), ("notes.md", new), days) == {old, new}
    said = f"As of 2026-02-10: {new}"
    assert _two_files(tmp_path / "b", ("status.md", old), ("notes.md", said), days) == {old, said}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Backups of `plum-store` are taken with the tools of MariaDB 11.",
            "As of 2026-02-10: the data of `plum-store` sits in MongoDB 7.",
        ),
        ("As of 2026-02-10: the API is on port 80.", "As of 2026-12-24: the API is on port 81."),
    ],
)
def test_what_says_more_than_the_value_and_what_is_dated_ahead_change_nothing(
    tmp_path: Path, old: str, new: str
) -> None:
    day = LineDate(dt.date(2026, 1, 10), "file", "")
    assert _two_files(
        tmp_path, ("status.md", old), ("notes.md", new), {"status.md": day, "notes.md": day}
    ) == {old, new}


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("billing.md", "The API is on port 80 (2026-01-10)"), ("search.md", "The API is on port 81 (2026-02-10)")),
        (("billing.md", "Runs on Node 20 with Prisma and PostgreSQL (2026-01-10)"), ("search.md", "Runs on Node 22 with Prisma and PostgreSQL (2026-02-10)")),
        (("service_a.md", "Stack: FastAPI and PostgreSQL 15 (2026-01-10)"), ("service_b.md", "Stack: FastAPI and PostgreSQL 16 (2026-02-10)")),
        (("eu_region.md", "Backups are kept for 30 days in S3 (2026-01-10)"), ("us_region.md", "Backups are kept for 14 days in S3 (2026-02-10)")),
        (("deploy.md", "Host: box-1 at Hetzner (2026-01-10)"), ("deploy_eu.md", "Host: box-2 at Hetzner (2026-02-10)")),
        (("board_c.md", "The firmware fits in 212 KB of flash (2026-01-10)"), ("board_d.md", "The firmware fits in 231 KB of flash (2026-02-10)")),
        (("client_acme.md", "Contract runs until September, 3 days a week (2026-01-10)"), ("client_north.md", "Contract runs until December, 4 days a week (2026-02-10)")),
    ],
)  # fmt: skip
def test_two_files_named_for_two_things_say_nothing_of_each_other(
    tmp_path: Path, one: tuple[str, str], two: tuple[str, str]
) -> None:
    assert _two_files(tmp_path, one, two) == {one[1], two[1]}


@pytest.mark.parametrize(
    "body",
    [
        ("Bug: login fails on Safari 16 (2026-01-10)", "Bug: login fails on Firefox 120 (2026-02-10)"),
        ("Idea: cache the search results (2026-01-10)", "Idea: cache the avatar images (2026-02-10)"),
        ("Customer Acme is on plan Gold (2026-01-10)", "Customer Borealis is on plan Gold (2026-02-10)"),
        ("The worker on host-1 uses 4 GB (2026-01-10)", "The worker on host-2 uses 8 GB (2026-02-10)"),
        (
            "`nettle-portal` merges releases back into `develop` (2026-01-10)",
            "`marble-splitter` merges releases back into `develop` (2026-02-10)",
        ),
        ("The worker runs on Hetzner (2026-01-10)", "The worker runs on Node 20 (2026-02-10)"),
        (
            "Rooms are also known under the `hall` alias (2026-01-10)",
            "Rooms are also known under the `lobby` alias (2026-02-10)",
            "Rooms are also known under the `attic` alias (2026-03-10)",
        ),
        (
            "Search is slow on large catalogues (2026-01-10)",
            "Search is cached for large catalogues (2026-02-10)",
        ),
    ],
)
def test_entries_of_one_kind_and_things_with_names_of_their_own_stay_beside_each_other(
    tmp_path: Path, body: tuple[str, ...]
) -> None:
    assert lines(over(tmp_path, *body))[: len(body)] == list(body)


def test_a_line_written_after_a_dated_statement_is_not_superseded_by_it(tmp_path: Path) -> None:
    body = ("The API runs on PostgreSQL 17.", "As of 2025-12-24: the API runs on PostgreSQL 16.")
    assert lines(over(tmp_path, *body))[:2] == list(body)


def test_a_name_of_its_own_makes_a_statement_the_same_in_any_file_and_a_common_word_does_not(
    tmp_path: Path,
) -> None:
    def merged(statement: str, folder: str) -> bool:
        files = {
            "billing.md": memory(f"- {statement}\n{OTHER}"),
            "search.md": memory(f"- {statement}\n- Lint runs first.\n"),
            "MEMORY.md": "- [Billing](billing.md) — b\n- [Search](search.md) — s\n",
        }
        made = dream(tmp_path / folder, files)
        return (made.text("billing.md") + made.text("search.md")).count(statement) == 1

    assert merged("`copper-indexer` listens on port 8080.", "own")
    assert not merged("The API listens on port 8080.", "common")
    assert not merged("Deployed to eu-west-1 on every merge.", "region")
    assert not merged("Expected: ~12:00 UTC on each weekday", "time")
