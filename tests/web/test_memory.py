"""One memory's pages: read it, compare and restore versions, edit by hand, forget: each through the same door."""

from __future__ import annotations

import errno
import html
import re
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.lib import memdir
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files import text
from dreams.models import Blob, Evidence, Hunk, Memory, Project, Proposal, Version
from dreams.services import review
from dreams.services.apply import applying
from dreams.services.apply.applying import ApplyReport, NotWritten
from dreams.services.memories import hand_edits, syncing
from dreams.services.review import ReviewRefused, submitting
from dreams.web.pages import memory as pages
from tests.world import directory as real, rows


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    return real.make_project(tmp_path)


@pytest.fixture
def memory(project: Project) -> Memory:
    return project.memories.get(path="project_deploy.md")


def _page(browser: Client, name: str, memory: Memory, query: str = "") -> str:
    return " ".join(browser.get(reverse(name, args=[memory.pk]) + query).content.decode().split())


def _on_disk(memory: Memory) -> Path:
    return Path(memory.project.memory_dir) / memory.path


def _write_outside(memory: Memory, content: bytes) -> None:
    _on_disk(memory).write_bytes(content)
    syncing.refresh(memory.project)
    memory.refresh_from_db()


def _edit(browser: Client, memory: Memory, content: str, **more: str) -> HttpResponse:
    fields = {"content": content, "base_sha": memory.sha256, **more}
    return browser.post(reverse("memory-edit", args=[memory.pk]), fields)


# --- Reading ------------------------------------------------------------------------------------------------------


def test_links_lead_to_siblings_and_missing_ones_are_marked(browser: Client, tmp_path: Path) -> None:
    files = {
        "a.md": "See [[B note]], [[b|that]], [the same](b.md) and [[nowhere]].\n",
        "b.md": "---\nname: B note\n---\n\nPlain.\n",
    }
    project = real.make_project(tmp_path, files)
    a, b = project.memories.get(path="a.md"), project.memories.get(path="b.md")
    shown = _page(browser, "memory", a)
    assert shown.count(f'href="{reverse("memory", args=[b.pk])}"') == 4 + 1
    assert 'class="wikilink missing">nowhere' in shown
    assert f'<a href="{reverse("memory", args=[a.pk])}">a.md</a>' in _page(browser, "memory", b)


def test_frontmatter_is_a_table_and_text_is_rendered_safely(browser: Client, memory: Memory) -> None:
    _write_outside(
        memory, b"---\nname: Deploy\nmetadata:\n  type: project\n---\n\n# Big\n\n<script>x()</script>\n"
    )
    shown = _page(browser, "memory", memory)
    assert '<th scope="row">metadata.type</th><td>project</td>' in shown
    assert "<h2>Big</h2>" in shown
    assert "<script>x()" not in shown


def test_bytes_that_are_not_utf8_are_written_out_and_not_edited_here(browser: Client, memory: Memory) -> None:
    _write_outside(memory, b"caf\xe9 \xe2\x80\xae hidden\n")
    shown = _page(browser, "memory", memory, "?view=source")
    assert "caf⟨0xE9⟩ ⟨U+202E⟩ hidden" in shown
    assert "not valid UTF-8" in shown
    editor = _page(browser, "memory-edit", memory)
    assert "It cannot be edited here." in editor
    assert "<textarea" not in editor


def test_a_memory_that_is_gone_keeps_its_history_and_can_come_back(browser: Client, memory: Memory) -> None:
    _on_disk(memory).unlink()
    syncing.refresh(memory.project)
    shown = _page(browser, "memory", memory)
    assert "No longer on disk" in shown
    assert "Removed outside" in shown
    version = memory.versions.exclude(sha256="").get()
    assert f"?a={version.pk}&amp;restore=1" in shown
    browser.post(reverse("memory-restore", args=[memory.pk]), {"version": version.pk})
    assert _on_disk(memory).read_text() == real.DEPLOY


def test_the_quotes_that_applied_changes_rest_on_stand_beside_the_text(
    browser: Client, project: Project
) -> None:
    proposal = real.three_changes(project)
    testing = project.memories.get(path="feedback_testing.md")
    assert "Why it says so" not in _page(browser, "memory", testing)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    review.submit(proposal, real.ME)
    applying.apply(proposal, real.ME)
    shown = _page(browser, "memory", testing)
    assert "<blockquote>as I said</blockquote>" in shown
    assert "You · s.jsonl · line 3" in shown
    # A quote of the prompt history leads to the prompt.
    session = rows.make_session(project, gone_at=timezone.now())
    Evidence.objects.filter(hunk__file__proposal=proposal).update(session=session, line_no=3, note=NO_ANSWER)
    prompt = f'href="{reverse("session-prompt", args=[session.pk, 3])}"'
    for page in ("memory", "memory-blame"):
        assert prompt in _page(browser, page, testing), page


def test_the_quote_behind_a_removal_is_not_why_the_rest_says_so(browser: Client, project: Project) -> None:
    fewer = real.TESTING.replace("Snapshots are reviewed by hand.\n", "")
    proposal = real.propose(
        project, real.edit("feedback_testing.md", real.TESTING, fewer, "snapshots", "prune")
    )
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    review.submit(proposal, real.ME)
    applying.apply(proposal, real.ME)
    shown = _page(browser, "memory", project.memories.get(path="feedback_testing.md"))
    assert "Applied from a proposal" in shown and "Why it says so" not in shown


def test_the_index_shows_how_much_of_it_is_loaded(browser: Client, project: Project) -> None:
    index = project.memories.get(path="MEMORY.md")
    assert "The whole index is read." in _page(browser, "memory", index)


# --- History ------------------------------------------------------------------------------------------------------


def test_a_version_of_another_memory_is_not_found(browser: Client, memory: Memory, project: Project) -> None:
    other = project.memories.get(path="feedback_testing.md").versions.get()
    address = reverse("memory-compare", args=[memory.pk])
    assert browser.get(f"{address}?a={other.pk}").status_code == 404
    response = browser.post(reverse("memory-restore", args=[memory.pk]), {"version": other.pk})
    assert response.status_code == 404


def test_versions_are_compared_word_by_word_and_a_restore_in_its_own_direction_and_then_done(
    browser: Client, memory: Memory
) -> None:
    first = memory.versions.get()
    _write_outside(memory, real.DEPLOY.replace("host alpha", "host beta").encode())
    newest = memory.versions.order_by("-pk")[0]
    shown = _page(browser, "memory-compare", memory, f"?a={first.pk}&b={newest.pk}")
    assert "<del>alpha</del>" in shown and "<ins>beta</ins>" in shown
    assert '<span class="diff-sign" aria-hidden="true">+</span>' in shown, "a screen reader says “Added”"
    shown = _page(browser, "memory-compare", memory, f"?a={first.pk}&b={first.pk}")
    assert "No differences: this version" in shown
    shown = _page(browser, "memory-compare", memory, f"?a={first.pk}&restore=1")
    assert "<del>beta</del>" in shown
    assert "<ins>alpha</ins>" in shown
    assert f'name="version" value="{first.pk}"' in shown
    given = {"version": first.pk, "base_sha": newest.sha256, "reason": "It was right"}
    response = browser.post(reverse("memory-restore", args=[memory.pk]), given)
    assert response.status_code == 303
    assert _on_disk(memory).read_text() == real.DEPLOY
    made = memory.versions.order_by("-pk")[0]
    assert (made.origin, made.actor) == (Version.Origin.RESTORE, "owner")


# --- Editing ------------------------------------------------------------------------------------------------------


def test_an_edit_is_written_through_a_proposal_and_keeps_line_ends(browser: Client, memory: Memory) -> None:
    _write_outside(memory, b"One\r\nTwo\r\n")
    _edit(browser, memory, "One\r\nThree", reason="Counted again")
    assert _on_disk(memory).read_bytes() == b"One\r\nThree\r\n"
    made = Proposal.objects.get()
    assert (made.origin, made.state, made.summary) == ("edit", "applied", "Counted again")


def test_a_text_that_the_database_lost_is_edited_as_the_history_has_it(
    browser: Client, memory: Memory
) -> None:
    kept = _on_disk(memory).read_text()
    Blob.objects.all().delete()
    assert html.escape(kept) in browser.get(reverse("memory-edit", args=[memory.pk])).content.decode()
    _edit(browser, memory, kept + "\nAnd on Fridays.\n")
    assert _on_disk(memory).read_text() == kept + "\nAnd on Fridays.\n"


def test_a_text_that_is_lost_is_not_said_to_be_off_the_disk(browser: Client, memory: Memory) -> None:
    Blob.objects.all().delete()
    shutil.rmtree(syncing.history_path(memory.project))
    page = browser.get(reverse("memory-edit", args=[memory.pk]), follow=True).content.decode()
    assert "no longer on disk" not in page
    assert "is lost or damaged" in page and "verify" in page


def test_an_edit_of_an_old_state_says_so_and_keeps_what_was_typed(browser: Client, memory: Memory) -> None:
    seen = memory.sha256
    _write_outside(memory, b"Changed meanwhile.\n")
    response = browser.post(
        reverse("memory-edit", args=[memory.pk]), {"content": "My careful words.", "base_sha": seen}
    )
    shown = response.content.decode()
    assert response.status_code == 409
    assert "It changed while you were editing." in shown
    assert "My careful words.</textarea>" in shown
    assert f'name="base_sha" value="{memory.sha256}"' in shown
    assert "Changed meanwhile." in shown
    assert _on_disk(memory).read_bytes() == b"Changed meanwhile.\n"


def test_an_unseen_change_on_disk_counts_as_changed_too(browser: Client, memory: Memory) -> None:
    _on_disk(memory).write_bytes(b"Written a moment ago.\n")
    response = _edit(browser, memory, "Mine.")
    assert response.status_code == 409
    assert _on_disk(memory).read_bytes() == b"Written a moment ago.\n"


def test_a_preview_writes_nothing_and_shows_what_changes(browser: Client, memory: Memory) -> None:
    address = reverse("memory-edit", args=[memory.pk])
    typed = "---\nname: Deploys\n---\n\n# New\n\n[[feedback_testing]]"
    fields = {"content": typed, "base_sha": memory.sha256, "preview": "1"}
    fragment = browser.post(address, fields, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert "<dt>name</dt><dd>Deploys</dd>" in fragment
    assert "<h2>New</h2>" in fragment
    assert 'class="diff-row del"' in fragment
    assert "[[feedback_testing]]</textarea>" in browser.post(address, fields).content.decode()
    assert _on_disk(memory).read_text() == real.DEPLOY


def test_a_first_empty_line_survives_the_field(browser: Client, memory: Memory) -> None:
    _write_outside(memory, b"\n\nText after two empty lines.\n")
    page = browser.get(reverse("memory-edit", args=[memory.pk])).content.decode()
    field = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert field
    # A browser drops the line end right after the tag, and only that one.
    assert html.unescape(field.group(1)) == "\n" + "\n\nText after two empty lines.\n"


def test_what_a_finding_blocks_goes_on_in_its_review(
    browser: Client, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blocked(*_: object, **__: object) -> None:
        raise ReviewRefused("A secret stands in it.")

    monkeypatch.setattr(applying, "apply", blocked)
    response = _edit(browser, memory, "Something else.\n")
    waiting = Proposal.objects.get(state=Proposal.State.OPEN)
    assert response["Location"] == reverse("review", args=[waiting.public_id])
    assert "A secret stands in it." in browser.get(reverse("audit")).content.decode()


# --- Forgetting ---------------------------------------------------------------------------------------------------


def test_before_forgetting_the_page_shows_all_that_goes(browser: Client, project: Project) -> None:
    testing = project.memories.get(path="feedback_testing.md")
    (Path(project.memory_dir) / "project_deploy.md").write_text("As in [[feedback_testing]].\n")
    syncing.refresh(project)
    shown = _page(browser, "memory-forget", testing)
    assert "<del>- [Testing](feedback_testing.md) — how tests run</del>" in shown
    assert "Links that will break" in shown
    assert "project_deploy.md</a>" in shown
    assert testing.path in syncing.contents(project)


def test_forgetting_takes_the_file_and_its_row_once_and_keeps_the_reason(
    browser: Client, project: Project
) -> None:
    testing = project.memories.get(path="feedback_testing.md")
    given = {"chip": "It is out of date", "reason": "See wiki", "base_sha": testing.sha256}
    response = browser.post(reverse("memory-forget", args=[testing.pk]), given)
    assert response["Location"] == reverse("memory", args=[testing.pk])
    assert not _on_disk(testing).exists()
    assert "feedback_testing" not in (Path(project.memory_dir) / "MEMORY.md").read_text()
    assert Proposal.objects.get().summary == "It is out of date. See wiki"
    again = browser.post(reverse("memory-forget", args=[testing.pk]), given, follow=True)
    assert "no longer on disk" in again.content.decode()


def test_a_memory_that_changed_since_its_page_was_opened_is_shown_again_before_it_is_forgotten(
    browser: Client, memory: Memory
) -> None:
    address = reverse("memory-forget", args=[memory.pk])
    given = {"base_sha": memory.sha256, "reason": "See the wiki"}
    assert f'name="base_sha" value="{memory.sha256}"' in _page(browser, "memory-forget", memory)
    _write_outside(memory, b"What an agent wrote meanwhile.\n")
    answer = browser.post(address, given)
    shown, now = answer.content.decode(), text.sha256(b"What an agent wrote meanwhile.\n")
    assert answer.status_code == 409 and 'value="See the wiki"' in shown
    assert "It changed since you opened it. Nothing was written" in shown
    assert _on_disk(memory).exists() and f'name="base_sha" value="{now}"' in shown
    browser.post(address, {**given, "base_sha": now})
    assert not _on_disk(memory).exists()


def test_a_memory_that_changed_since_its_page_was_opened_is_shown_again_before_a_version_is_restored(
    browser: Client, memory: Memory
) -> None:
    first = memory.versions.earliest("pk")
    _write_outside(memory, b"Second.\n")
    given = {"version": first.pk, "base_sha": memory.sha256, "reason": "It was better"}
    assert f'name="base_sha" value="{memory.sha256}"' in _page(
        browser, "memory-compare", memory, f"?a={first.pk}&restore=1"
    )
    # A text that never reached the file is a newer version, and not what a restore would replace.
    late = Blob.objects.create(sha256=text.sha256(b"Late.\n"), size=6, data=b"Late.\n")
    memory.versions.create(number=9, sha256=late.sha256, at=timezone.now(), origin=Version.Origin.OUTSIDE)
    change = _page(browser, "memory-compare", memory, f"?a={first.pk}&restore=1").partition('class="hunk"')[2]
    assert "Second." in change and "Late." not in change
    _write_outside(memory, b"What an agent wrote meanwhile.\n")
    answer = browser.post(reverse("memory-restore", args=[memory.pk]), given)
    shown, now = answer.content.decode(), text.sha256(b"What an agent wrote meanwhile.\n")
    assert answer.status_code == 409 and "It changed since you opened it. Nothing was written" in shown
    assert 'value="It was better"' in shown and f'name="base_sha" value="{now}"' in shown
    assert _on_disk(memory).read_bytes() == b"What an agent wrote meanwhile.\n"
    browser.post(reverse("memory-restore", args=[memory.pk]), {**given, "base_sha": now})
    assert "Second" not in _on_disk(memory).read_text() and "meanwhile" not in _on_disk(memory).read_text()


def test_a_memory_moves_to_another_project_in_two_changes_with_an_undo_each(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    other = real.make_project(tmp_path / "other", {})
    testing = project.memories.get(path="feedback_testing.md")
    shown = _page(browser, "memory-move", testing)
    assert f'<option value="{other.pk}">' in shown and f'<option value="{project.pk}">' not in shown
    assert "<del>- [Testing](feedback_testing.md) — how tests run</del>" in shown
    done = browser.post(reverse("memory-move", args=[testing.pk]), {"to": other.pk}, follow=True)
    said = done.content.decode()
    undos = [reverse("undo", args=[made.public_id]) for made in Proposal.objects.all()]
    assert len(undos) == 2 and all(f'<a href="{undo}">Undo</a>' in said for undo in undos)
    assert not _on_disk(testing).exists()
    assert "feedback_testing.md" in syncing.contents(other)
    assert "Moved to another project" in said and ">Forgotten<" not in said
    assert "Moved “Testing” to another project" in html.unescape(browser.get("/").content.decode())


def test_a_move_whose_first_half_waits_goes_on_in_its_review(
    browser: Client, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = real.make_project(tmp_path / "other", {})
    testing = project.memories.get(path="feedback_testing.md")

    def blocked(*_: object, **__: object) -> None:
        raise ReviewRefused("A secret stands in it.")

    monkeypatch.setattr(applying, "apply", blocked)
    response = browser.post(reverse("memory-move", args=[testing.pk]), {"to": other.pk})
    assert response["Location"] == reverse("review", args=[Proposal.objects.get(project=other).public_id])
    assert _on_disk(testing).exists()


@pytest.mark.parametrize(
    "stop",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        ReviewRefused("Nothing was written. Its folder is away."),
        hand_edits.Stale("It changed."),
        ApplyReport(error="The disk is full."),
        ApplyReport(conflicts=(NotWritten("feedback_testing.md", submitting.NEEDS_ANOTHER),)),
    ],
)
def test_a_move_of_which_only_the_first_half_was_written_says_so(
    browser: Client, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: Any
) -> None:
    other = real.make_project(tmp_path / "other", {})
    testing = project.memories.get(path="feedback_testing.md")
    monkeypatch.setattr(hand_edits, "forget", mock.Mock(side_effect=[stop]))
    answer = browser.post(reverse("memory-move", args=[testing.pk]), {"to": other.pk}, follow=True)
    said = html.unescape(answer.content.decode()).partition('id="messages"')[2].partition('"crumbs"')[0]
    assert f"Written to {other}: feedback_testing.md." in said
    assert "Nothing " not in said and f"in {other}" in said
    assert "feedback_testing.md" in syncing.contents(other) and _on_disk(testing).exists()


def test_a_long_history_is_cut_into_pages(browser: Client, memory: Memory) -> None:
    Version.objects.bulk_create(
        Version(
            memory=memory, at=timezone.now(), origin=Version.Origin.OUTSIDE, sha256=text.sha256(b"%d" % n)
        )
        for n in range(40)
    )
    assert _page(browser, "memory", memory).count("timeline-what") == 30
    assert _page(browser, "memory", memory, "?page=2").count("timeline-what") == 11


def test_a_memory_is_downloaded_as_a_skill_with_its_description_and_without_secrets(
    browser: Client, memory: Memory
) -> None:
    secret = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
    steps = f"1. Run `make test`.\n2. Log in with {secret}.\n"
    head = '---\nname: Release: the shop\ndescription: How "shop" is released\n---\n\n'
    _write_outside(memory, f"{head}{steps}".encode() + b"3. Have a caf\xe9.\n")
    address = reverse("memory-skill", args=[memory.pk])
    assert address in _page(browser, "memory", memory)
    made = browser.get(address)
    assert made["Content-Disposition"] == 'attachment; filename="SKILL.md"'
    skill = memdir.parse(made.content)
    assert skill.frontmatter is not None
    assert (skill.frontmatter.name, skill.frontmatter.description) == (
        "release-the-shop",
        'How "shop" is released',
    )
    assert made.content.endswith(b"caf\xe9.\n"), "bytes that are no UTF-8 stay"
    body = skill.body.lstrip()
    assert body.startswith("1. Run `make test`.\n2. Log in with ") and secret not in body
    index = memory.project.memories.get(path="MEMORY.md")
    assert browser.get(reverse("memory-skill", args=[index.pk])).status_code == 404


def test_the_source_folds_a_long_line_as_other_pages_do(browser: Client) -> None:
    long = "word " * 300
    memory = rows.make_memory(rows.make_project(), text=f"# Title\n\n{long}\nEnd.\n")
    shown = browser.get(reverse("memory", args=[memory.pk]) + "?view=source").content.decode()
    source = shown.partition('<pre class="source file-source">')[2].partition("</pre>")[0]
    assert source.count("line-fold") == 1 and f'<div class="line-long">{long}' in source
    assert source.startswith("# Title\n\n<details") and source.endswith("</div>End.\n")


# --- Refused ------------------------------------------------------------------------------------------------------


def _refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(hand_edits, "propose", full)


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_refused_edit_keeps_the_text_and_the_reason(
    browser: Client, memory: Memory, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    _refused(monkeypatch)
    fields = {"content": "My careful words.\n", "base_sha": memory.sha256, "reason": "Because of the move"}
    answer = browser.post(reverse("memory-edit", args=[memory.pk]), fields, headers=headers)
    shown = answer.content.decode()
    assert answer.status_code == 409 and "Nothing was written: " in shown
    assert "My careful words.\n</textarea>" in shown and 'value="Because of the move"' in shown
    assert f'name="base_sha" value="{memory.sha256}"' in shown and "data-refused" in shown


def test_a_refused_forgetting_or_restore_keeps_the_reason(
    browser: Client, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_outside(memory, b"Changed.\n")
    first = memory.versions.order_by("number").first()
    assert first
    _refused(monkeypatch)
    why = {"chip": "It is private", "reason": "Because of the move"}
    memory.refresh_from_db()
    for name, given in (
        ("memory-forget", {"base_sha": memory.sha256}),
        ("memory-restore", {"version": first.pk, "base_sha": memory.sha256}),
    ):
        answer = browser.post(reverse(name, args=[memory.pk]), {**why, **given})
        shown = answer.content.decode()
        assert answer.status_code == 409 and "Nothing was written: " in shown
        assert 'value="Because of the move"' in shown
        assert ('value="It is private" checked' in shown) == (name == "memory-forget")
        assert f'action="{reverse(name, args=[memory.pk])}"' in shown, "it can be tried again"
    assert _on_disk(memory).read_bytes() == b"Changed.\n"


def test_a_text_whose_file_was_removed_while_it_was_typed_is_kept(browser: Client, memory: Memory) -> None:
    _on_disk(memory).unlink()
    syncing.refresh(memory.project)
    answer = _edit(browser, memory, "My careful words.\n", reason="It moved")
    shown = answer.content.decode()
    assert answer.status_code == 409 and "My careful words.\n</textarea>" in shown
    assert "It is no longer on disk. Restore a version first." in shown and 'value="It moved"' in shown

    preview = {"content": "My careful words.\n", "base_sha": memory.sha256, "preview": "1"}
    address = reverse("memory-edit", args=[memory.pk])
    shown = browser.post(address, preview, headers={"HX-Request": "true"}).content.decode()
    assert "It is no longer on disk." in shown and "<textarea" not in shown, "no page within the page"


# --- Not looked for -----------------------------------------------------------------------------------------------


def test_links_that_are_not_looked_for_are_not_said_to_be_none(
    browser: Client, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Not looked for" not in _page(browser, "memory", memory)
    monkeypatch.setattr(pages, "MOST_SIBLING_BYTES", 1)
    shown = _page(browser, "memory", memory)
    assert "Not looked for: the other memories are too large." in shown and "links here" not in shown
    assert "Links that will break were not looked for" in _page(browser, "memory-forget", memory)


def test_the_index_is_not_said_to_have_no_row_for_itself(browser: Client, project: Project) -> None:
    index = project.memories.get(kind=Memory.Kind.INDEX)
    assert "The index has no row for it." not in _page(browser, "memory-forget", index)


def test_a_link_leads_to_the_file_of_its_name_and_not_to_another_that_calls_itself_so(
    browser: Client, tmp_path: Path
) -> None:
    text_of = "---\nname: project_backup\n---\n\nBackups run at four.\n"
    files = {
        "MEMORY.md": "- [Backups](project_backup.md) — when they run\n",
        "a_copy.md": text_of,
        "project_backup.md": text_of,
    }
    project = real.make_project(tmp_path, files)
    index, copy, own = (project.memories.get(path=path) for path in files)
    assert f'href="/memories/{own.pk}/"' in _page(browser, "memory", index)
    assert f'href="/memories/{copy.pk}/"' not in _page(browser, "memory", index)
    assert "No other memory links here." in _page(browser, "memory", copy)
    assert "No other memory links here." not in _page(browser, "memory", own)
    (Path(project.memory_dir) / copy.path).unlink()
    syncing.refresh(project)
    assert "No other memory links here." in _page(browser, "memory", copy)
