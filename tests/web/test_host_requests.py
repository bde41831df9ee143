"""A page asks the host that has the files, says so, names a host that is away, and takes a request back."""

from __future__ import annotations

import datetime as dt
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.utils import timezone

from dreams.models import Host, HostRequest, Hunk, Memory, Proposal, Version
from dreams.services import host_request_worker
from dreams.services.apply import applying
from dreams.web.pages import review_proposal as selector
from tests.world import directory as world
from tests.world.kept import Keep, Kept
from tests.world.manifest import manifest
from tests.world.rows import make_session
from tests.world.two_hosts import TwoHosts

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


MORE = pytest.mark.more


@pytest.fixture
def two(browser: Client, settings: SettingsWrapper, tmp_path: Path) -> TwoHosts:
    return TwoHosts(settings, tmp_path)


@pytest.fixture(scope="module")
def made(kept: Keep) -> Kept[Proposal]:
    return kept(world.all_approved)


@pytest.fixture
def approved(made: Kept[Proposal], two: TwoHosts) -> Proposal:
    proposal = made.anew()
    two.give(proposal.project)
    two.accept()
    return proposal


def _text(browser: Client, address: str) -> str:
    return html.unescape(browser.get(address).content.decode())


def _submit(browser: Client, proposal: Proposal, **more: str) -> str:
    loaded = selector.load(proposal)
    given = {"bases": loaded.digest, "answers": loaded.answers, **more}
    answer = browser.post(f"/review/{proposal.public_id}/submit/", given, follow=True)
    return html.unescape(answer.content.decode())


def test_a_review_that_is_submitted_here_is_written_there_and_reported_here(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    before = manifest(world.folder(approved.project))
    page = _submit(browser, approved)
    assert "Asked desk to do it" in page and "waiting for its host, desk" in page
    assert manifest(world.folder(approved.project)) == before
    inbox = _text(browser, "/")
    assert "desk’s move:" in inbox and "It was asked to write this" in inbox
    assert "Go through" not in inbox, "nobody can go on with it here"
    assert "View</span>" in inbox
    two.work()
    page = _text(browser, f"/review/{approved.public_id}/")
    assert "Write what was approved: done" in page and "Written: 3 files" in page
    assert manifest(world.folder(approved.project)) != before


@pytest.mark.more
def test_nothing_can_be_decided_until_the_host_that_was_asked_has_written(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    address, verbs = f"/review/{approved.public_id}/", ("decide", "edit", "submit", "apply")
    forms = [f'action="{address}{verb}/' for verb in verbs]
    assert forms[0] in _text(browser, address) and forms[2] in _text(browser, address)
    page = _submit(browser, approved)
    assert not [form for form in forms if form in page]
    back = {"back": address}
    browser.post(f"/requests/{HostRequest.objects.get().public_id}/withdraw/", back)
    assert forms[0] in _text(browser, address) and forms[2] in _text(browser, address)


def test_a_host_that_is_away_is_named_with_when_it_was_last_seen(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    Host.objects.filter(key=two.desk).update(last_seen_at=timezone.now() - dt.timedelta(hours=3))
    page = _submit(browser, approved)
    assert "It is away now (last seen 3 h ago)" in page
    assert "desk is away, last seen" in page
    assert " asked <time" in page
    HostRequest.objects.update(asked_on=two.desk)
    assert re.search(r" asked on\s+desk <time", _text(browser, f"/review/{approved.public_id}/"))


@pytest.mark.more
def test_a_request_is_withdrawn_on_the_page_until_it_is_taken(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    _submit(browser, approved)
    asked = HostRequest.objects.get()
    back = {"back": f"/review/{approved.public_id}/"}
    answer = browser.post(f"/requests/{asked.public_id}/withdraw/", back, follow=True)
    assert "Withdrawn" in answer.content.decode()
    assert two.work() == []
    _submit(browser, approved)
    with two.there():
        host_request_worker.take()
    again = HostRequest.objects.latest("pk")
    answer = browser.post(f"/requests/{again.public_id}/withdraw/", back, follow=True)
    assert "Too late: desk has taken it" in answer.content.decode()


@pytest.mark.more
@pytest.mark.parametrize(
    "verb", ["edit", *(pytest.param(name, marks=MORE) for name in ("forget", "restore"))]
)
def test_a_memory_is_changed_there(browser: Client, approved: Proposal, two: TwoHosts, verb: str) -> None:
    with two.there():
        assert applying.apply(approved, world.ME).complete
    found = Memory.objects.get(project=approved.project, path="feedback_testing.md")
    given = {
        "content": "Other.\n",
        "base_sha": found.sha256,
        "version": Version.objects.filter(memory=found).earliest("pk").pk,
    }
    page = browser.post(f"/memories/{found.pk}/{verb}/", given, follow=True).content.decode()
    assert "Asked desk to do it" in page and "Withdraw" in page
    [done] = two.work()
    assert done.state == HostRequest.State.DONE, done.text


@pytest.mark.more
def test_an_undo_is_previewed_by_what_was_last_seen_and_done_there(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    before = manifest(world.folder(approved.project))
    with two.there():
        assert applying.apply(approved, world.ME).complete
    address = f"/review/{approved.public_id}/undo/"
    page = _text(browser, address)
    seen = page.split('name="seen" value="')[1].split('"')[0]
    answer = browser.post(address, {"seen": seen}, follow=True)
    assert "Asked desk to do it" in answer.content.decode()
    [done] = two.work()
    assert done.state == HostRequest.State.DONE, done.text
    assert [row[:2] for row in manifest(world.folder(approved.project))] == [row[:2] for row in before]


@pytest.mark.more
@pytest.mark.parametrize(
    "verb", ["secrets/redact", "secrets/purge", "at/propose", "caught/read", "caught/submit", "dream"]
)
def test_what_a_project_page_starts_is_started_there(
    browser: Client, approved: Proposal, two: TwoHosts, verb: str
) -> None:
    given = {"when": "2020-01-01T00:00:00+00:00", "secret": "0"}
    answer = browser.post(f"/projects/{approved.project_id}/{verb}/", given, follow=True)
    assert "Asked desk to do it" in answer.content.decode()
    assert HostRequest.objects.filter(state="waiting", host=two.desk).count() == 1


@pytest.mark.more
def test_changed_files_are_brought_up_to_date_there(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    path = world.folder(approved.project) / "feedback_testing.md"
    path.write_text(path.read_text() + "\nAdded by a session.\n")
    answer = browser.post(f"/review/{approved.public_id}/bring-up/", follow=True)
    assert "Asked desk to do it" in answer.content.decode()
    [done] = two.work()
    assert done.state == HostRequest.State.DONE, done.text
    assert "Check the new result" in _text(browser, f"/review/{approved.public_id}/")


@pytest.mark.more
def test_a_folder_that_leads_elsewhere_there_is_named_with_what_to_do_here(
    browser: Client, approved: Proposal, two: TwoHosts, tmp_path: Path
) -> None:
    folder, here = world.folder(approved.project), f"/review/{approved.public_id}/"
    Proposal.objects.filter(pk=approved.pk).update(directory=str(folder))
    folder.rename(tmp_path / "set aside")
    folder.symlink_to(tmp_path / "set aside")
    _submit(browser, approved)
    [refused] = two.work()
    assert refused.state == HostRequest.State.REFUSED
    page = _text(browser, here)
    assert "The folder is another one now." in page and str(tmp_path / "set aside") in page
    assert "Can be submitted once it is brought up to date" in page.partition('id="submit-says"')[2]
    browser.post(f"{here}bring-up/", follow=True)
    assert two.work()[0].state == HostRequest.State.DONE
    page = _text(browser, here)
    assert "The folder is another one now." not in page and "Can be submitted once" not in page


def test_pages_that_need_the_disk_of_another_host_say_so_and_read_nothing_here(
    browser: Client, approved: Proposal, tmp_path: Path
) -> None:
    transcript = tmp_path / "of-somebody-else.jsonl"
    transcript.write_text('{"type":"user","message":{"role":"user","content":"A private word."}}\n')
    session = make_session(approved.project, path=str(transcript))
    page = _text(browser, f"/sessions/{session.pk}/")
    assert "The transcript is on desk." in page and "private" not in page
    assert "no longer on disk" not in page, "it is, on desk"
    here = f"/projects/{approved.project_id}/"
    page = _text(browser, f"{here}instructions/")
    assert "files are on desk" in page and "No instruction files" not in page
    assert "No CLAUDE.md is loaded here" not in _text(browser, here)
    assert "memories are on desk" in _text(browser, f"/projects/{approved.project_id}/recall/")


def test_a_host_that_does_nothing_for_others_is_named_before_anything_is_decided(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    Host.objects.filter(key=two.desk).update(accepts_requests=False)
    for address in (f"/review/{approved.public_id}/", f"/projects/{approved.project_id}/"):
        assert "files are on desk, which does not accept requests from other hosts yet" in _text(
            browser, address
        )
    Hunk.objects.update(verdict=Hunk.Verdict.PENDING)
    approved.findings.all().delete()
    browser.raise_request_exception = False
    assert "Do it on desk" in _submit(browser, approved, rest="1")
    assert set(Hunk.objects.values_list("verdict", flat=True)) == {Hunk.Verdict.PENDING}
    Host.objects.filter(key=two.desk).update(accepts_requests=True)
    assert "which does not accept requests" not in _text(browser, f"/review/{approved.public_id}/")


def test_a_review_that_cannot_be_submitted_here_says_where_it_can(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    bar = _text(browser, f"/review/{approved.public_id}/").partition('id="submit-says"')[2]
    assert "Writes 3 decisions" in bar and 'aria-disabled="true"' not in bar
    Host.objects.filter(key=two.desk).update(accepts_requests=False)
    bar = _text(browser, f"/review/{approved.public_id}/").partition('id="submit-says"')[2]
    assert "Can be submitted on desk, which has the files." in bar and 'aria-disabled="true"' in bar
    browser.raise_request_exception = False
    refused = _submit(browser, approved)
    assert "run <code>hosts accept</code> there" in refused


def test_no_dream_is_offered_where_the_host_that_has_the_files_would_refuse_it(
    browser: Client, approved: Proposal, two: TwoHosts
) -> None:
    here = f"/projects/{approved.project_id}/"
    assert "Not possible from here" not in _text(browser, here)
    Host.objects.filter(key=two.desk).update(accepts_requests=False)
    card = _text(browser, here).partition('class="dream-now"')[2].partition("</form>")[0]
    assert "Not possible from here: desk has the files and does not accept requests." in card
    assert "disabled" in card and "anyway" not in card
