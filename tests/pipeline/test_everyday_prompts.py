"""What people type on an ordinary day: what they plainly say is caught, what is only work is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dreams.lib.agents.transcripts.typed_prompts import is_correction
from dreams.models import Card, DreamRun, Hunk
from dreams.services import dreaming
from dreams.services.catching import lifecycle
from tests.world import directory as world
from tests.world.talking import Talk, first_start, say

pytestmark = pytest.mark.django_db

#: Session → what was typed in it; the agent's words stand in between.
EVERYDAY = {
    "one": ["Bugs are tracked in Linear, project INGEST."],
    "two": ["I prefer tabs over spaces in Makefiles."],
    "three": ["We use pnpm, not npm."],
    "correction": ["add the endpoint", "No, that's wrong. The port is 8081, not 8080."],
    "decision": ["We decided on PostgreSQL 16 for the plover service."],
    "fix": ["The fix was to pin urllib3 below 2."],
    "move": ["We moved the plover queue to Redis 7."],
    "reference": ["The runbook is at https://wiki.acme.dev/runbooks/ingest"],
}


@pytest.mark.not_on_postgresql
def test_statements_a_correction_a_decision_a_fix_a_confirmation_and_a_reference_are_each_caught(
    tmp_path: Path,
) -> None:
    project = first_start(tmp_path, {})
    for name, texts in EVERYDAY.items():
        say(tmp_path, *texts, name=name)
    Talk(tmp_path, "confirmation").user("how do we deploy?").agent("So deploys go through Argo now?").user(
        "Yes, exactly."
    ).save()
    lifecycle.catch(project)
    caught = dict(Card.objects.values_list("session__session_id", "text"))
    names = {Talk(tmp_path, name).id: name for name in (*EVERYDAY, "confirmation")}
    assert {names[session]: text for session, text in caught.items()} == {
        "one": "Bugs are tracked in Linear, project INGEST.",
        "two": "I prefer tabs over spaces in Makefiles.",
        "three": "We use pnpm, not npm.",
        "correction": "The port is 8081, not 8080.",
        "decision": "We decided on PostgreSQL 16 for the plover service.",
        "fix": "The fix was to pin urllib3 below 2.",
        "confirmation": "deploys go through Argo now",
        "move": "We moved the plover queue to Redis 7.",
        "reference": "The runbook is at https://wiki.acme.dev/runbooks/ingest",
    }
    types = dict(Card.objects.values_list("text", "memory_type"))
    assert types["The runbook is at https://wiki.acme.dev/runbooks/ingest"] == "reference"
    assert types["I prefer tabs over spaces in Makefiles."] == "user"


@pytest.mark.not_on_postgresql
def test_what_the_page_about_catching_gives_as_an_example_is_caught(tmp_path: Path) -> None:
    page = Path("docs/catching.md").read_text()
    section = page.partition("## What is caught")[2].partition("Only what you typed")[0]
    quoted = re.findall(r'"([^"]+)"', page.partition("When a session")[0] + section)
    whole = [text.replace("https://…", "https://wiki.example.com") for text in dict.fromkeys(quoted)]
    # What an agent asks and a "yes" to it are a test of their own; words with "…" are beginnings.
    said = {f"one-{at}": text for at, text in enumerate(whole) if " " in text and text[-1] not in "…?"}
    assert len(said) >= 6
    project = first_start(tmp_path, {})
    for name, text in said.items():
        say(tmp_path, text, name=name)
    lifecycle.catch(project)
    caught = dict(Card.objects.values_list("session__session_id", "said"))
    left = {text for name, text in said.items() if Talk(tmp_path, name).id not in caught}
    assert left == {"no, use pnpm here"}, "what the page says is not caught"


@pytest.mark.not_on_postgresql
def test_the_evidence_of_a_confirmation_is_what_the_agent_said_and_the_person_agreed_to(
    tmp_path: Path,
) -> None:
    project = first_start(tmp_path)
    Talk(tmp_path).user("how do we deploy?").agent("So deploys go through Argo now?").user(
        "Yes, exactly."
    ).save()
    lifecycle.catch(project)
    card = Card.objects.get()
    assert [(cited["role"], cited["quote"]) for cited in card.citations] == [
        ("assistant", "So deploys go through Argo now?"),
        ("user", "Yes, exactly."),
    ]


WORK = """fix the login bug
can you add a test for the parser?
why does the build fail on main?
please rename getUser to loadUser everywhere
run the tests again
we agreed to go with option 2
we decided to use the second approach
yes
ok, go ahead
no, the other file
show me the diff
commit this with a short message
what does this function do?
the error is at https://sentry.io/issues/1
look at https://github.com/acme/app/pull/3 and tell me what you think
the tests are failing, see the output above
let's try something else
stop, that is too much
I think the cache is stale
could we use a queue here instead?
undo that
now do the same for the admin page
remember to run the migration before you push this branch
is the port 8080 or 8081?
it says: Remember that the session has expired
make the button blue
I am not sure whether it is the proxy
thanks, that works
wait, I forgot to save the file
how would you always keep both in sync?
for now just return an empty list
delete the old screenshots
I spent $4 on the setup instead of real work for Plover
the bill of today's run is now $3.10
we now have covered parser.py and it did not help with the rest
since Plover was restarted by me, its page shows 1 % again
no, `mv` it back and then `git mv` it
no, first show me what is in build-12.md"""


@pytest.mark.not_on_postgresql
def test_ordinary_work_is_not_caught(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    for number, prompt in enumerate(WORK.splitlines()):
        say(tmp_path, prompt, name=f"work {number}")
    lifecycle.catch(project)
    assert list(Card.objects.values_list("said", flat=True)) == []


def test_a_session_with_a_correction_or_a_fix_is_known_as_such() -> None:
    assert is_correction("No, that's wrong. The port is 8081.")
    assert is_correction("ok so the fix was to pin urllib3 below 2")
    assert not is_correction("please fix the login bug")


def test_a_dream_learns_nothing_from_a_prompt_that_the_agent_noted_at_once(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    note = str(world.folder(project) / "project_deploy.md")
    talk = Talk(tmp_path).user("Always use pnpm for installs, never npm.").wrote(note, world.DEPLOY)
    talk.user("Remember that releases are cut on Tuesdays.").agent("Noted.").save()
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.PAGE, forced=True).pk)
    assert run is not None and run.status == "completed", run and run.error
    learnt = Hunk.objects.filter(file__proposal__dream=run).values_list("operation__reason", flat=True)
    told = "\n".join(learnt)
    assert "releases are cut on Tuesdays" in told and "pnpm" not in told
