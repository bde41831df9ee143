"""Which sentences of a prompt tell how things are, and which words make them none."""

from __future__ import annotations

from pathlib import Path

from dreams.engines.rules.steps.forgetting import asked_text, wanted
from dreams.engines.rules.user_statements.requests import wishes
from dreams.engines.rules.user_statements.speech import is_remark, narrows, standing_from, takes_back
from dreams.engines.rules.user_statements.statements import typed_sentences, whole_statements
from tests.world.cases import each
from tests.world.rules import dream, memory, session


def tells(said: str) -> bool:
    """Whether a prompt tells that uploads may have up to 50 MB."""
    return any("uploads may have up to 50 MB" in typed.text for typed in typed_sentences(said))


@each(
    ("line", "said"),
    [
        ("The API listens on port 8080.", "the admin API listens on port 9090 now"),
        ("Logs are shipped to Splunk.", "audit logs are shipped to S3 now, not Splunk"),
        (
            "Contracts are signed in DocuSign.",
            "contracts of suppliers are signed in Skribble now, not in DocuSign",
        ),
        ("Node 2 of 5 holds the index.", "node 3 of 5 holds the index now"),
        ("Errors go to Sentry.", "errors are fine now, not Sentry's fault"),
        ("The API listens on port 8080.", "in the sandbox, the API listens on port 9090 now"),
        (
            "The API listens on port 8080.",
            "write a commit message: moved the API from port 8080 to port 9090",
        ),
        ("The API listens on port 8080.", "the API listens on port 9090 now, right?"),
        ("The API listens on port 8080.", "according to the wiki the API listens on port 9090 now"),
        ("The API listens on port 8080.", "we almost moved the API from port 8080 to port 9090"),
        ("The API listens on port 8080.", "we moved the API from port 8080 to port 9090 but took it back"),
        ("The API listens on port 8080.", "start the API on port 9090 now"),
        ("The API listens on port 8080.", "the API listens on port 9090 now. Is that right?"),
        ("The API listens on port 8080.", "the notes are wrong: the API listens on port 9090. Is that so?"),
        ("The API listens on port 8080.", "I have the API on port 9090 now instead of 8080"),
        ("The timeout of the importer is 5 seconds.", "I set the timeout to 90 seconds"),
        ("Deploys go out on Tuesdays.", "deploys go out on Thursdays now in my branch only"),
        ("Theme: dark", "the theme is broken now"),
        ("Key metrics", "we're on Python 3.12 now"),
        ("Node.js: 22", "we're on Python 3.12 now"),
        ("The relay needs Redis.", "the relay needs React now"),
        ("The vault of the shared notes is full.", "we switched from Vault to AWS Secrets Manager"),
        ("Vault structure was agreed.", "we switched from Vault to AWS Secrets Manager"),
        ("Hosting is on Render.", "hosting is in eu-central-1 now"),
        ("Deploys go out on Tuesdays.", "Priya: deploys go out on Thursdays now"),
        ("Deploys go out on Tuesdays.", "wow, deploys go out on Sundays now, what could go wrong"),
        ("Cache: Redis", "cache is cold now"),
        ("Deploys go out on Tuesdays.", "per the runbook deploys go out on Thursdays now"),
        ("Deploys go out on Tuesdays.", "perfect, deploys go out on Sundays now, nobody will notice"),
        ("Deploys go out on Tuesdays.", "from the retro notes — deploys go out on Thursdays now"),
        ("The API listens on port 8080.", "great, so the API listens on port 1 now 🙄"),
        ("The API listens on port 8080.", "pytest output\n\nthe API listens on port 9090 now\n\nwhy?"),
        ("The API listens on port 8080.", "wenn the API listens on port 9090 now, was dann"),
        ("Run the tests with `npm test`.", "migrations are run by `make migrate` now"),
    ],
)
def test_what_is_not_told_as_done_or_of_another_thing_changes_nothing(
    tmp_path: Path, line: str, said: str
) -> None:
    files = {
        "notes.md": memory(f"- {line}\n- The docs are built with Sphinx.\n"),
        "MEMORY.md": "- [Notes](notes.md)\n",
    }
    assert f"- {line}\n" in dream(tmp_path, files, [session(1, said)]).text("notes.md")


@each(
    "said",
    ["oops wrong project", "hm, scratch that. Anna still owns it", "just kidding", "that's staging only, sorry", "only this week though",
     "nah, we're keeping yarn", "wait, that PR isn't merged yet", "please ignore my last message", "no, I misread the calendar",
     "lol i wish. not happening", "Anna stays", "that isn't us", "hm no thats the admin one, forget what i said", "ah wait no, thats the avatar limit",
     "reverted in the evening, still webpack", "undo, the request got closed", "pretty sure that's wrong actually",
     "I take that back", "I misspoke, we still have the old one",
     "scrap that, Ana told me this morning in the standup that the migration will only happen in March",
     "actually that isn't merged yet, so please do not count on it when you write the deploy script tomorrow"],
)  # fmt: skip
def test_a_prompt_that_takes_back_or_narrows_what_was_said_before_is_known(said: str) -> None:
    assert takes_back(said)


@each(
    "said",
    [
        "forget that we use npm",
        "just so you know, forget what I said about the mailer",
        "actually let's do the docs",
        "just so you know, the port is 81",
        "it is on 81 now",
        "don't touch the lockfile",
    ],
)
def test_a_prompt_that_goes_on_takes_nothing_back(said: str) -> None:
    assert not takes_back(said)


def test_a_few_words_that_ask_and_want_nothing_are_said_of_what_came_before() -> None:
    assert is_remark("dream on, Fridays", "deploys are on Fridays now")
    assert not is_remark("`mailer` exports XLSX", "the API is on 81 now") and is_remark(
        "not on `api`", "`api` is 81 now"
    )
    assert (
        narrows("on the beta site")
        and narrows("that is the default, we override it")
        and not narrows("the beta site is green")
    )
    assert not any(map(is_remark, ("ok thanks", "run the tests", "is CI green?", "lgtm", "/compact")))


SAID = "uploads may have up to 50 MB now"


@each(
    "said",
    [
        f"Hi team,\n\nplease note that {SAID}.\n\nThanks",
        f"see mail below\n\n{SAID}.\n\nKind regards, Greta",
        f"Subject: limits\nFrom: ops@example.org\n\n{SAID}",
        f"$ limitctl status\n{SAID}",
        f"2026-10-10 09:12 limitd: ready\n{SAID}",
        f"the ticket reads like this\n\n{SAID}\nThumbnails are small.\n\ncan you estimate it",
        f"| limit | {SAID} |",
        f"// {SAID}\nthat comment is wrong, remove it",
        f"you are a grumpy admin. {SAID}",
        f"in this exercise\n{SAID}",
    ],
)
def test_what_has_the_shape_of_somebody_elses_text_is_nobodys_telling(said: str) -> None:
    assert not tells(said)
    assert tells(f"Hi! One thing first.\n\n{SAID}\n\nPlease fix the form.")


@each(
    "said",
    [
        "the consultant recommends argon2 for hashing from now on",
        "user story: as an admin I want mails to be short from now on",
        "the deck promises that five seats are free from now on",
        "never again vite instead of webpack",
    ],
)
def test_what_others_want_from_now_on_is_no_wish(said: str) -> None:
    assert wishes(said) == []


def test_what_stands_below_a_line_with_a_colon_is_somebodys_text() -> None:
    assert not tells(f"sample config:\n\n{SAID}\n\nwrite a parser")
    assert not tells(f"output of ./info.sh\n\n{SAID}")
    assert not tells(f"{SAID}\nremember this\n\nwhy does it say so")
    assert not tells(f"the ticket has these changes:\n- {SAID}")
    assert tells(f"some changes:\n- {SAID}")


def test_what_is_taken_back_in_the_same_prompt_does_not_stand() -> None:
    said = "the API is on port 9090 now - scratch that, it's 8080"
    assert said[standing_from(said) :].startswith("scratch")
    assert standing_from("the API is on port 9090 now. Please fix the test.") == 0


@each(
    ("said", "meant"),
    [
        ("The beta cluster is gone. Forget about it.", "The beta cluster"),
        ("`old-sync` doesn't exist anymore, please delete it from your memory", "`old-sync`"),
        ("we don't have Grunt anymore, remove that from memory", "Grunt"),
        ("you can drop everything you know about Project Falcon", "Project Falcon"),
        ("please forget my birthday", "my birthday"),
    ],
)
def test_what_a_request_to_forget_means(said: str, meant: str) -> None:
    (wish,) = wishes(said)
    assert wanted(asked_text(wish)) >= wanted(meant) != set()


@each("said", ["The build is red. Forget about it, let's go on.", "forget my last message", "delete it"])
def test_what_is_no_request_to_forget(said: str) -> None:
    assert not any(wanted(asked_text(wish)) for wish in wishes(said))


def test_a_no_that_belongs_to_its_sentence_stays_there() -> None:
    assert [one.text for one in whole_statements("No, the uploads are limited to 50 MB")] == ["the uploads are limited to 50 MB"]  # fmt: skip
    assert [one.text for one in whole_statements("No need for a list of books, keep two variables")] == [
        "No need for a list of books, keep two variables"
    ]
