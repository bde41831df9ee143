"""One memory: read, compare and restore versions, edit by hand, forget, move. Every change is a POST."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dreams import conf
from dreams.lib.files import flush, safefs, text
from dreams.lib.secrets.masking import Mask
from dreams.lib.storage import history
from dreams.models import Memory, Project, Proposal, Version
from dreams.services import blobs, host_requests, project_lock
from dreams.services.apply.applying import ApplyReport
from dreams.services.host_requests import NewRequest
from dreams.services.memories import hand_edits, moved, said_again
from dreams.services.review import ReviewRefused, submitting
from dreams.web import hidden_secrets
from dreams.web.access import is_path_here, reviewer
from dreams.web.hidden_secrets import Sight
from dreams.web.htmx import Request, SeeOther, go, page, wants_fragment
from dreams.web.pages import (
    blame as blame_pages,
    diffs,
    memory as pages,
    project as project_pages,
    statements as statements_pages,
)
from dreams.web.pages.index_size import size_as_loaded
from dreams.web.paging import Filter, chosen, number_or_none, search_text
from dreams.web.views.host_requests import asked

REASONS = ("It is wrong", "It is out of date", "It is private", "It is not useful")
CHANGED = "It changed since you opened it. Nothing was written: please check it again."
UNREAD = "Its file cannot be read now, so nothing here can change it."


@require_safe
def memory(request: Request, pk: int) -> HttpResponse:
    found = _memory(pk)
    data = pages.current_bytes(found)
    sight = _sight(request, found, text.decode(data or b""), found.description)
    view = chosen(request.GET.get("view"), ["source"], "rendered")
    is_index = found.kind == Memory.Kind.INDEX and data is not None
    wanted = Filter(
        chosen(request.GET.get("kind"), [str(origin) for origin in pages.ORIGINS]),
        search_text(request.GET.get("who")),
    )
    context: dict[str, Any] = {
        "memory": found,
        "is_index": is_index,
        "index_size": size_as_loaded(data or b"", conf.current(found.project)) if is_index else None,
        "evidence": blame_pages.evidence(found),
        "project": found.project,
        "sight": sight,
        "description": sight.mask(found.description),
        "body": None if data is None else pages.body_of(sight.mask.bytes(data)),
        "view": view,
        "resolve": pages.resolver(found.project),
        "said_again": _said_again(found) if data is not None else [],
        "links_out": [] if data is None else pages.links_out(found, data, sight.mask),
        "links_in": pages.links_in(found),
        "versions": pages.versions(found, request.GET.get("page"), wanted),
        "last_kept": pages.last_kept(found) if found.gone_at else None,
        # None: requested after the page is shown.
        "related": statements_pages.related(found) if statements_pages.is_quick(found.project) else None,
        "wanted": wanted,
        "choices": pages.filters(found),
    }
    return page(request, "dreams/memory.html", "dreams/_memory.html", context)


def _said_again(found: Memory) -> list[tuple[said_again.StatementSaidAgain, int, bool]]:
    """As the checkup lists them."""
    again = said_again.listed(found.project, found.path)
    edits = said_again.row_edits(found.project, again)
    return [(one, found.pk, one in edits) for one in again]


@require_POST
def index_row(request: Request, pk: int) -> HttpResponse:
    """Proposes a statement that was said again for the index row of its memory, and redirects to the review."""
    found = _memory(pk)
    edits = said_again.row_edits(found.project, said_again.listed(found.project, found.path))
    wanted = (edit for one, edit in edits.items() if one.key == request.POST.get("statement"))
    try:
        change = next(wanted, None)
        made = hand_edits.propose(found.project, change, reviewer(request)) if change else None
    except (hand_edits.Stale, ReviewRefused, safefs.SafeFsError, OSError) as error:
        return _stays(request, pk, f"No proposal was made: {error}")
    if made is None:
        messages.info(request, "Its index row says this already, or has no room for it.")
        return go(request, "memory", pk=pk)
    messages.success(request, "Nothing is written yet. Approve the row, then submit.")
    return go(request, "review", public_id=made.public_id)


@require_safe
def skill(request: Request, pk: int) -> HttpResponse:
    """The memory as a skill, to save; nothing is written."""
    found = _memory(pk)
    data = pages.current_bytes(found)
    if data is None or found.kind != Memory.Kind.TOPIC:
        raise Http404("There is no text to make a skill of.")
    headers = {"Content-Disposition": 'attachment; filename="SKILL.md"'}
    made = text.encode(pages.as_skill(found, data))
    return HttpResponse(made, content_type="text/markdown; charset=utf-8", headers=headers)


@require_safe
def compare(request: Request, pk: int) -> HttpResponse:
    """`?a=` and `?b=` are versions; without them, the newest and the one before."""
    found = _memory(pk)
    older, newer = (_picked(found, request.GET.get(name)) for name in "ab")
    return _compare_page(request, found, older, newer, restores=request.GET.get("restore") == "1")


def _compare_page(
    request: Request,
    found: Memory,
    older: pages.VersionRow | None,
    newer: pages.VersionRow | None = None,
    *,
    restores: bool,
    refused: str = "",
) -> HttpResponse:
    """`refused`: why restoring `older` was not possible; what was typed is kept."""
    options = pages.choices(found)
    if not options:
        raise Http404("This memory has no versions.")
    restored = older if restores and older and older.version.sha256 and not older.is_now else None
    new = newer or options[0]
    old = older or (options[1] if len(options) > 1 else options[0])
    # A restore is shown as the change that it will make to the file.
    is_bare = hidden_secrets.is_bare(request, found)
    # The newest version may be one that never reached the file.
    now = next((row for row in options if row.is_now), options[0])
    pair = (now, restored) if restored else (old, new)
    shown = pages.compare(*pair, is_bare=is_bare)
    context = {
        "memory": found,
        "project": found.project,
        "options": pages.with_picked(options, [shown["new"], shown["old"]]),
        "shown": shown,
        "is_bare": is_bare,
        "restored": restored,
        "base_sha": "" if found.gone_at else found.sha256,
        "refused": refused,
    }
    return page(
        request, "dreams/memory_compare.html", "dreams/_memory_compare.html", context, 409 if refused else 200
    )


def _picked(found: Memory, raw: str | None) -> pages.VersionRow | None:
    number = number_or_none(raw)
    if number is None:
        return None
    row = pages.version(found, number)
    if row is None:
        raise Http404("This memory has no such version.")
    return row


@require_POST
def secrets(request: Request, pk: int) -> HttpResponse:
    """Shows this visit the secrets of a memory, or masks them again; returns to the previous page."""
    found = _memory(pk)
    hidden_secrets.show_or_mask(request, found)
    back = request.POST.get("back", "")
    return SeeOther(back) if is_path_here(back) else go(request, "memory", pk=pk)


@require_POST
def restore(request: Request, pk: int) -> HttpResponse:
    found = _memory(pk)
    picked = _picked(found, request.POST.get("version"))
    if picked is None or not picked.version.sha256:
        raise Http404("There is nothing to restore in that version.")

    what = (found.project, found.path, picked.version.sha256)
    base, why = (
        request.POST.get("base_sha", ""),
        _reason(request) or hand_edits.moment_reason(picked.version.at),
    )
    new_request = partial(host_requests.to_restore, *what, base, why)
    act = partial(hand_edits.restore, *what, reviewer(request), base_sha=base, reason=why)
    again = partial(_compare_page, request, found, picked, restores=True)
    return _carried_out(request, found, new_request, act, f"Restored {found.path}.", again)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: Request, pk: int) -> HttpResponse:
    found = _memory(pk)
    data = pages.current_bytes(found)
    typed, base = request.POST.get("content", ""), request.POST.get("base_sha", "")
    again = partial(_edit_page, request, found, typed, base)
    if data is None or found.unread:
        gone = (
            "It is no longer on disk. Restore a version first." if found.gone_at else blobs.lost(found.sha256)
        )
        why = UNREAD if found.unread else gone
        if request.method == "POST":
            return again(previewed="preview" in request.POST, refused=f"Nothing was written. {why}")
        return _stays(request, pk, why)
    if request.method != "POST":
        return _edit_page(request, found, _for_field(data), found.sha256)
    if "preview" in request.POST:
        return again(previewed=True)
    new_request = partial(host_requests.to_edit, found, typed, base, _reason(request))
    act = partial(hand_edits.edit, found, typed, base, reviewer(request), reason=_reason(request))
    # Typed text is never lost: it is shown again beside the new state.
    return _carried_out(request, found, new_request, act, f"Saved {found.path}.", again, stale=True)


def _edit_page(
    request: Request,
    found: Memory,
    typed: str,
    base: str,
    *,
    previewed: bool = False,
    stale: bool = False,
    refused: str = "",
) -> HttpResponse:
    is_read, data = request.method != "POST", pages.current_bytes(found) or b""
    sight = _sight(request, found, text.decode(data), typed)
    context = {
        "memory": found,
        "project": found.project,
        "typed": typed,
        "base_sha": base,
        "stale": stale,
        "refused": refused,
        "sight": sight,
        # Nobody edits masked text: saving it would replace the secret with the mask.
        "hides": sight.mask.count(typed) if is_read else 0,
        "preview": pages.body_of(sight.mask(typed).encode("utf-8", "replace")),
        "changes": _changes(data, typed, sight.mask) if stale or previewed else None,
        "resolve": pages.resolver(found.project),
        "editable": pages.why_not_editable(data),
        "reason": _reason(request),
    }
    if previewed and wants_fragment(request):
        template = "dreams/_refused.html" if refused else "dreams/_memory_preview.html"
        return render(request, template, context, status=409 if refused else 200)
    return render(request, "dreams/memory_edit.html", context, status=409 if stale or refused else 200)


def _changes(data: bytes, typed: str, mask: Mask) -> list[diffs.DiffLine]:
    before, after = _for_field(data), typed.replace("\r\n", "\n")
    if not after.endswith("\n") and before.endswith("\n") and after:
        after += "\n"
    found: list[diffs.DiffLine] = diffs.difference(before, after, mask, pages.MOST_ROWS)["rows"]
    return found


def _for_field(data: bytes) -> str:
    """As in a browser's text field: lines end with LF, and bytes that are not UTF-8 are replaced."""
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


@require_http_methods(["GET", "HEAD", "POST"])
def forget(request: Request, pk: int) -> HttpResponse:
    found = _memory(pk)
    if found.gone_at is not None or found.unread:
        messages.info(request, UNREAD if found.unread else f"{found.path} is no longer on disk.")
        return go(request, "memory", pk=pk)
    if request.method != "POST":
        return _forget_page(request, found)
    base, why = request.POST.get("base_sha", ""), _reason(request)
    new_request = partial(host_requests.to_forget, found, base, why)
    act = partial(hand_edits.forget, found, reviewer(request), base_sha=base, reason=why)
    done = f"Forgotten: {found.path}. Its history is kept below."
    again = partial(_forget_page, request, found)
    return _carried_out(request, found, new_request, act, done, again)


def _forget_page(request: Request, found: Memory, refused: str = "") -> HttpResponse:
    context = {
        "memory": found,
        "project": found.project,
        "leaving": pages.leaving(found),
        "reasons": REASONS,
        "refused": refused,
    }
    return render(request, "dreams/memory_forget.html", context, status=409 if refused else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def move(request: Request, pk: int) -> HttpResponse:
    """Two changes, each with its undo: it is written to the other project, then removed here."""
    found = _memory(pk)
    targets = pages.move_targets(found)
    if request.method == "POST":
        target, who = get_object_or_404(targets, pk=number_or_none(request.POST.get("to"))), reviewer(request)
        try:
            for half in moved.halves(found, target, who):
                if waits := _waits(request, found, half, partial(_stays, request, pk)):
                    return waits
        except hand_edits.Stale:
            messages.error(request, f"It changed a moment ago, so it is here and in {target}. Move it again.")
        return go(request, "memory", pk=pk)
    context = {"memory": found, "project": found.project, "leaving": pages.leaving(found), "targets": targets}
    return render(request, "dreams/memory_move.html", context)


def _stays(request: Request, pk: int, refused: str) -> HttpResponse:
    messages.error(request, refused)
    return go(request, "memory", pk=pk)


def _carried_out(
    request: Request,
    found: Memory,
    new_request: Callable[[], NewRequest],
    act: Callable[[], ApplyReport],
    done: str,
    again: Callable[..., HttpResponse],
    **stale: bool,
) -> HttpResponse:
    """Does it, or asks the host that has the files, and reports the result; a blocked change continues in its proposal.
    What is refused is shown `again`, with the reason (`refused`) and what was typed; `stale` where it changed meanwhile.
    """
    here = go(request, "memory", pk=found.pk)
    try:
        if waits := asked(request, found.project, new_request, here):
            return waits
    except (ReviewRefused, project_lock.ProjectBusy) as refused:
        return again(refused=str(refused))
    try:
        return _waits(request, found, moved.Half(found.project, done, act), again) or here
    except hand_edits.Stale:
        found.refresh_from_db()
        return again(**stale) if stale else again(refused=CHANGED)


def _waits(
    request: Request, found: Memory, half: moved.Half, again: Callable[..., HttpResponse]
) -> HttpResponse | None:
    """As `_carried_out`; None if nothing of it waits."""
    project, not_done = half.project, half.not_done
    try:
        report = half.act()
    except ReviewRefused as refused:
        said = str(refused).replace(moved.NOT_WRITTEN, not_done)
        if (to := _waiting(found, project)) is None:
            return again(refused=said)
        messages.warning(request, said)
        return go(request, "review", public_id=to.public_id)
    except (
        blobs.MissingBlob,
        history.HistoryError,
        project_lock.ProjectBusy,
        safefs.SafeFsError,
        OSError,
    ) as error:
        return again(refused=f"{not_done}: {flush.in_words(error)}")
    if not report.complete:
        waits = [*report.conflicts, *report.rebased]
        why = report.error or "; ".join(f"{item.path}: {item.why}" for item in waits)
        if all(item.why == submitting.NEEDS_ANOTHER for item in waits) and not report.error:
            messages.info(request, f"{not_done} yet: a second person must approve it.")
        else:
            messages.error(request, f"{not_done}: {why}")
        to = _waiting(found, project)
        return go(request, "review", public_id=to.public_id) if to else go(request, "memory", pk=found.pk)
    if report.applied:
        undo = reverse("undo", args=[report.proposal])
        messages.success(request, format_html('{} <a href="{}">Undo</a>', half.done, undo))
        for said in report.said:
            messages.warning(request, said)
    else:
        messages.info(request, " ".join(report.said) or "Nothing differs from the current files.")
    return None


def _waiting(found: Memory, project: Project) -> Proposal | None:
    """The proposal that a change by hand became and that waits."""
    origins = Proposal.Origin
    by_hand = [origins.EDIT, origins.FORGET, origins.RESTORE, origins.COPIED]
    waiting = project.proposals.filter(origin__in=by_hand, state__in=Proposal.UNFINISHED)
    return waiting.filter(files__path=found.path).order_by("-pk").first()


def _memory(pk: int) -> Memory:
    return get_object_or_404(Memory.objects.select_related("project"), pk=pk)


def _sight(request: Request, found: Memory, *texts: str) -> Sight:
    return Sight.of(texts, is_bare=hidden_secrets.is_bare(request, found))


def _reason(request: Request) -> str:
    """A selected reason and the typed text as one sentence."""
    parts = [request.POST.get("chip", ""), request.POST.get("reason", "")]
    return ". ".join(part.strip() for part in parts if part.strip())


@require_safe
def blame(request: Request, pk: int) -> HttpResponse:
    """`?version=` is one of its versions; by default the newest that is not a removal."""
    memory = _memory(pk)
    version = _version(memory, request.GET.get("version"))
    found = blame_pages.blame(memory, version, is_bare=hidden_secrets.is_bare(request, memory))
    context = {"memory": memory, "project": memory.project, "blame": found}
    return page(request, "dreams/memory_blame.html", "dreams/_memory_blame.html", context)


def _version(memory: Memory, raw: str | None) -> Version:
    rows = memory.versions.exclude(sha256="").select_related("proposal__dream").order_by("-number", "-pk")
    number = number_or_none(raw)
    found = rows.first() if number is None else rows.filter(pk=number).first()
    if found is None:
        raise Http404("This memory has no such version.")
    return found


@require_safe
def statements(request: Request, pk: int) -> HttpResponse:
    """A separate page, and a part of the checkup."""
    project = get_object_or_404(Project, pk=pk)
    context = {
        "project": project,
        "head": project_pages.counts(project),
        "statements": statements_pages.page(project, search_text(request.GET.get("value"))),
    }
    return page(request, "dreams/project_statements.html", "dreams/_statements.html", context)


@require_safe
def related(request: Request, pk: int) -> HttpResponse:
    memory = _memory(pk)
    context = {"memory": memory, "project": memory.project, "related": statements_pages.related(memory)}
    return page(request, "dreams/memory_related.html", "dreams/_memory_related.html", context)
