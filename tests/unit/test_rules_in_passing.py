"""What a person types in passing: rules for later are learnt, what may be for one task only is asked, the rest is left alone."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, strategies as st

from dreams.engines.rules.questions import requests
from dreams.engines.rules.user_statements.in_passing import MOST_LIKELY, remarks
from dreams.engines.types import Question, SessionBrief
from tests.world.cases import each
from tests.world.rules import Dreamt, dream, memory, session
from tests.world.strategies import tries

INDEX = "- [Deploys](deploys.md) — how we ship\n"
FILES = {"MEMORY.md": INDEX, "deploys.md": memory("- Deploys run from CI.\n", name="Deploys")}


def slept(tmp_path: Path, *sessions: SessionBrief) -> Dreamt:
    return dream(tmp_path, FILES, sessions)


def questions(dreamt: Dreamt) -> Sequence[Question]:
    return [each for each in dreamt.outcome.questions if each.kind == "learn"]


def sureness(prompt: str) -> list[str]:
    return [each.sureness for each in remarks(prompt)]


@each(
    "prompt",
    [
        "I also prefer single quotes over double quotes for strings",
        "I prefer tabs.",
        "I like guard clauses more than nested ifs",
        "I hate it when you reformat whole files",
        "please don't mock the database in these tests, ever",
        "no wildcard imports, ever",
        "you keep mocking the database; stop doing that",
        "You keep committing generated files. Stop that.",
        "we track bugs in the Linear project INGEST",
        "We never deploy after lunch on Fridays.",
        "commit messages in this repo are written in Spanish",
        "I'm a data scientist, and web code is new to me",
        "I've been writing Go for ten years but never any frontend code",
        "I'm colour blind",
        "For small helpers I usually write doctests",
        "Whenever you add a setting, document it too",
        "Claude should never print credentials",
        "I want answers in German from now on",
        "btw we do code review in Gerrit, not GitHub",
        "I work at a bank",
        "prefer composition over inheritance",
        "always run the linter before committing",
        "never change the schema without asking",
        "never use any in TypeScript",
        "I want to avoid global state as much as possible",
    ],
)
def test_who_somebody_is_and_what_holds_in_general_is_certain(prompt: str) -> None:
    assert sureness(prompt) == ["certain"]


def test_the_next_time_that_something_happens_is_part_of_what_was_said() -> None:
    [when] = remarks("Next time I tell you to run the tests, do so.")
    [order] = remarks("Next time, use yarn.")
    assert (when.text, order.text) == ("Next time I tell you to run the tests, do so", "use yarn")


@each(
    "prompt",
    [
        "the auth rewrite is driven by legal, not tech debt",
        "Don't touch the vendored files, they are overwritten by the build.",
        "the reason we poll is that the load balancer drops idle connections",
        "the reason for the queue is that the bank answers late",
        "you never run the type checker before you say it is done",
        "Jonas owns the deploy pipeline",
        "our bugs live in Jira under PLAT",
        "do not mock the database in integration tests, we got burned by that",
        "our alerts go to PagerDuty",
        "Never show the banner when the user is logged in",
        "always show the sidebar on the start page",
        "don't ever open the dialog twice",
        "no, use select_related here, not prefetch",
        "Fix the login form. We hash passwords with argon2.",
        "Write a script that renames photos. Never overwrite a file.",
    ],
)
def test_what_may_be_for_this_task_only_is_likely(prompt: str) -> None:
    assert sureness(prompt) == ["likely"]


@each(
    "prompt",
    [
        "I prefer the second option",
        "I like this version better",
        "I hate this layout, redo it",
        "I always get a 500 when I log in",
        "I use this button to open the menu",
        "I'm a bit lost",
        "I'm not sure what this function does",
        "I'm working on the search page",
        "we need a table for invoices",
        "we send mails to everybody who signed up",
        "we have a bug in the checkout",
        "we merged the branch, please rebase",
        "we nearly moved the API from 8080 to 9090",
        "we quickly went back to Valkey",
        "We use the wrong variable here",
        "our tests are failing on CI",
        "you broke the login page again",
        "you keep getting the same error, try another approach",
        "the modal never closes",
        "the error is in the parser, not in the lexer",
        "The list must always be sorted by date",
        "make the header sticky",
        "use the other file",
        "In the future I'd like to add accounts",
        "make sure it keeps working in the future",
        "When you did the review, you skipped two folders",
        "stop the server",
        "do we never validate mails?",
        "Translate to French: We never share your data.",
        "Write a commit message: stop mocking the database",
        'The style guide says "always use tabs"',
        "> we never deploy on Fridays",
        "Here is the log:\nwe never deploy on Fridays",
        "The panel broke\n    at Panel.open (https://panel.local:8443/main.js:81:7)\nwe never deploy on Fridays",
        "```\nI prefer tabs\n```",
        "- we never deploy on Fridays",
        "Act as a strict reviewer.\nI prefer tabs.",
        "what if I prefer tabs",
        "for drawing forms can you copy from other yard pages, we use grid-cards,",
        "yes",
        "",
    ],
)
def test_tasks_reports_plans_questions_and_pasted_words_are_none(prompt: str) -> None:
    assert sureness(prompt) == []


@each(
    "prompt",
    [
        "Translate this into French\n\nI'm a lawyer and I work in Lyon.",
        "improve this text\nI prefer tea over coffee.",
        "Write a landing page\n\nWe never share your data.",
    ],
)
def test_a_text_below_a_task_is_never_certain(prompt: str) -> None:
    assert "certain" not in sureness(prompt)


def test_a_word_that_begins_an_aside_makes_a_line_below_a_task_ones_own() -> None:
    assert sureness("Fix the build.\n\nBtw I'm a Windows user.") == ["certain"]


def test_a_line_that_ends_with_a_time_is_no_trace() -> None:
    assert sureness("At work we begin at 9:30\nWe never deploy on Fridays.") == ["likely"]


def test_a_second_sentence_is_part_of_a_statement_only_where_it_is_its_other_half() -> None:
    assert [each.text for each in remarks("Don't use yarn. Use npm.")] == ["Don't use yarn. Use npm."]
    alone = "Never use any in TypeScript."
    assert [each.text for each in remarks(f"{alone} Types are documentation.")] == [alone]


def test_what_is_learnt_is_the_persons_own_sentence(tmp_path: Path) -> None:
    done = slept(tmp_path, session(1, "Fix the build. I also prefer single quotes over double quotes."))
    new = "\n".join(text.decode() for path, text in done.after.items() if path not in FILES)
    assert "- I also prefer single quotes over double quotes.\n" in new
    (learnt,) = {edit.reason for edit in done.outcome.edits if edit.kind == "learn"}
    assert learnt.startswith("You wrote this")
    assert all(edit.citations for edit in done.outcome.edits if edit.kind == "learn")


def test_what_is_likely_is_asked_with_the_change_drafted_and_changes_nothing_by_itself(
    tmp_path: Path,
) -> None:
    done = slept(tmp_path, session(1, "the auth rewrite is driven by legal, not tech debt"))
    assert done.after == done.before
    (asked,) = questions(done)
    assert [option.id for option in asked.options] == ["learn", "keep"]
    learn, keep = asked.options
    assert not keep.edits
    assert any(
        "- the auth rewrite is driven by legal, not tech debt\n" in (e.after or "") for e in learn.edits
    )
    assert all(edit.citations for edit in learn.edits)
    assert asked.places[0].text == "the auth rewrite is driven by legal, not tech debt"
    assert asked.places[0].session_pk == 1


def test_what_memory_says_already_is_not_asked(tmp_path: Path) -> None:
    said = "Jonas owns the deploy pipeline"
    files = {**FILES, "deploys.md": memory(f"- {said}.\n", name="Deploys")}
    assert not questions(dream(tmp_path, files, [session(1, said)]))


def test_what_an_update_brought_into_memory_is_not_asked(tmp_path: Path) -> None:
    files = {**FILES, "auth.md": memory("- The auth rewrite is driven by Legal.\n", name="Auth")}
    done = dream(tmp_path, files, [session(1, "the auth rewrite is driven by Compliance now, not Legal")])
    assert "- The auth rewrite is driven by Compliance." in done.text("auth.md")
    assert not questions(done)


def test_one_statement_is_not_asked_about_twice(tmp_path: Path) -> None:
    files = {
        **FILES,
        "deploys.md": memory("- Jonas owns the deploy pipeline and the runners.\n", name="Deploys"),
    }
    done = dream(tmp_path, files, [session(1, "Marta owns the deploy pipeline and the runners")])
    assert len([each for each in done.outcome.questions if any(p.session_pk for p in each.places)]) <= 1


def test_what_was_taken_back_is_neither_learnt_nor_asked(tmp_path: Path) -> None:
    done = slept(tmp_path, session(1, "Jonas owns the deploy pipeline", "sorry, that was wrong"))
    assert done.after == done.before
    assert not questions(done)


def test_a_prohibition_is_asked_about_once_it_was_typed_in_two_sessions(tmp_path: Path) -> None:
    said = "don't write code before I agree"
    assert not questions(slept(tmp_path / "once", session(1, said, said)))
    (asked,) = questions(slept(tmp_path / "twice", session(1, said), session(2, said)))
    assert "in 2 sessions" in asked.why


def test_what_is_likely_in_three_sessions_is_learnt(tmp_path: Path) -> None:
    said = "Write the parser. Never add a dependency."
    done = slept(tmp_path, *(session(pk, said) for pk in (1, 2, 3)))
    assert not questions(done)
    assert any(b"Never add a dependency" in text for text in done.after.values())


def test_a_long_session_gives_few_questions(tmp_path: Path) -> None:
    teams = [
        "payments",
        "search",
        "mobile",
        "billing",
        "growth",
        "media",
        "storage",
        "identity",
        "maps",
        "chat",
    ]
    prompts = [f"the {team} importer is maintained by the {team} team" for team in teams]
    assert len(questions(slept(tmp_path, session(1, *prompts)))) == requests.MOST_QUESTIONS


def test_a_specification_is_not_asked_about_sentence_by_sentence() -> None:
    spec = " ".join(f"We show {what} on the start page." for what in ("news", "prices", "maps"))
    assert sureness(spec).count("likely") <= MOST_LIKELY


def test_a_secret_said_in_passing_is_left_out(tmp_path: Path) -> None:
    said = "we use the password " + "hunter" + "2x9 always, password: " + "hunter" + "2x9"
    done = slept(tmp_path, session(1, said))
    assert not any(b"hunter" in text for text in done.after.values())
    assert not questions(done)


PIECES = st.sampled_from(
    [
        "I prefer tabs",
        "we never deploy on Fridays",
        "you keep mocking it",
        "stop doing that",
        "don't use yarn",
        "use npm",
        "because it broke",
        "from now on",
        "please",
        "fix the build",
        "the api is down",
        "never",
        "ever",
        "`code",
        '"',
        "(",
        "\n",
        "\n\n",
        ". ",
        ", ",
        " ",
        "; ",
        "?",
        "!",
        "- ",
        "> ",
        "…",
        "\x00",
        "🙄",
    ]
)


@given(st.lists(PIECES, max_size=25).map("".join))
@tries(100, 300)
def test_whatever_is_typed_only_its_own_words_are_kept(prompt: str) -> None:
    words = Counter(prompt.split())
    for remark in remarks(prompt):
        assert not Counter(remark.text.split()) - words
        assert remark.text and "\n" not in remark.text


@each("run", ["I prefer " * 2000, "a" * 12_000, "never " * 2000, "we " + "x, " * 4000, "no, " * 3000])
def test_a_long_run_is_read_in_no_time(run: str) -> None:
    started = time.process_time()
    remarks(run)
    assert time.process_time() - started < 2
