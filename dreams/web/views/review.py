"""The review desk: show a proposal and decide on its parts; shared responses of all actions of a review.

Every action is a POST that redirects to its decision. With htmx the same address answers with the changed parts of the
page. A verdict carries the state it was made on: if that changed, it is refused and the current state is shown. One
verdict on many decisions also carries their digest.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget

from dreams.lib import memdir
from dreams.lib.files.text import plural
from dreams.models import FileChange, Hunk, Proposal
from dreams.models.reasons import bare
from dreams.services import people, review
from dreams.services.inbox.waiting import open_decisions
from dreams.services.proposals import summaries
from dreams.services.review import ReviewRefused
from dreams.web import hidden_secrets, render, verdicts
from dreams.web.access import actor, reviewer
from dreams.web.htmx import Request, SeeOther, go, rendered, wants_fragment
from dreams.web.pages import (
    memory as memory_pages,
    questions as question_pages,
    recall,
    review as pages,
    review_proposal,
)
from dreams.web.pages.recall import loads
from dreams.web.pages.review import listing
from dreams.web.pages.review_filter import ReviewQuery, batch_of, parse_query, passing, window
from dreams.web.pages.review_proposal import LoadedDecision, LoadedProposal, address, find, load as load_rows
from dreams.web.pages.review_texts import texts_of
from dreams.web.pages.settings import policies_at
from dreams.web.paging import number_or_none

A_YEAR = 60 * 60 * 24 * 365  # seconds for which a layout is remembered; chosen


@require_safe
def desk(request: Request, public_id: str) -> HttpResponse:
    proposal = proposal_of(public_id)
    if proposal.public_id != public_id:
        return HttpResponseRedirect(address(proposal))
    if request.GET.get("layout") in LAYOUTS:
        return _remember_layout(request)
    loaded = load(request, proposal)
    asked = parse_query(request.GET)
    if asked.file is not None and asked.file not in {file.pk for file in loaded.files}:
        raise Http404("no such file in this proposal")
    if wants_fragment(request) and asked.file is not None:
        return one_file(request, loaded, asked)
    return page(request, loaded, asked)


@require_POST
def decide(request: Request, public_id: str) -> HttpResponse:
    """Approves, rejects or resets one decision, those on the page with a file or in all, or everything."""
    loaded = load(request, proposal_of(public_id))
    verdict = request.POST.get("verdict", "")
    if verdict not in (Hunk.Verdict.APPROVED, Hunk.Verdict.REJECTED, Hunk.Verdict.PENDING):
        raise Http404("no such verdict")
    scope = request.POST.get("scope", "")
    asked_for = _batch(request, loaded, scope, verdict) if scope else named(request, loaded)
    if isinstance(asked_for, str):
        return refuse(request, loaded, asked_for)
    if not asked_for:
        return refuse(request, loaded, "Nothing is left to decide.")
    before, reason = verdicts.remember(asked_for), request.POST.get("reason", "").strip()
    seen = [hunk for one in asked_for for hunk in one.hunks]
    hunks = _proposed(request, asked_for) or seen
    try:
        decided = review.decide(
            loaded.proposal, hunks, Hunk.Verdict(verdict), reviewer(request), reason=reason, seen=seen
        )
    except ReviewRefused as refused:
        return refuse(request, loaded, str(refused))
    said = verdicts.sentence(Hunk.Verdict(verdict), asked_for, before, reason)
    verdicts.push(request, loaded.proposal, before, said)
    if any(hunk["edited"] for hunk in before):
        loaded = load(request, loaded.proposal)  # the findings are those of the proposed text again
    loaded.decided(decided)
    return answer(request, loaded, asked_for)


def _proposed(request: Request, asked_for: Sequence[LoadedDecision]) -> list[Hunk]:
    """The edited change whose proposed text is to be restored; empty for other buttons."""
    wanted = request.POST.get("hunk", "") if "as_proposed" in request.POST else ""
    return [hunk for one in asked_for for hunk in one.hunks if str(hunk.pk) == wanted]


@require_POST
def take_back(request: Request, public_id: str) -> HttpResponse:
    """Undoes the last verdict of this visit; repeated, the one before."""
    proposal = proposal_of(public_id)
    try:
        touched = verdicts.pop(request, proposal, reviewer(request))
    except ReviewRefused as refused:
        return refuse(request, load(request, proposal), str(refused))
    loaded = load(request, proposal)
    found = {one.key: one for hunk in touched if (one := loaded.decision_of.get(hunk.pk))}
    return answer(request, loaded, list(found.values()), goes_there=True)


def named(request: Request, loaded: LoadedProposal, *, keeps: bool = True) -> list[LoadedDecision] | str:
    """The decision that the form names by one of its changes; or the reason if it changed since the page was opened.

    Actions that save nothing (not `keeps`) are allowed on a changed one: a preview may arrive after a quick save.
    """
    wanted = request.POST.get("hunk", "")
    hunk = next((hunk for hunk in loaded.all_hunks if str(hunk.pk) == wanted), None)
    if hunk is None:
        raise Http404("no such hunk in this proposal")
    decision = loaded.decision_of[hunk.pk]
    same = hunk.file.base_sha == request.POST.get("base", "")
    is_seen = not keeps or request.POST.get("seen") in (None, decision.seen)
    if same and is_seen:
        return [decision]
    return review.CHANGED if loaded.is_open else review.why_closed(loaded.proposal.state)


def _batch(request: Request, loaded: LoadedProposal, scope: str, verdict: str) -> list[LoadedDecision] | str:
    """The decisions that the form's button counted; or a message with their current number if they changed."""
    file = file_of(request, loaded) if scope == "file" else None
    query = QueryDict(request.POST.get("back", ""), mutable=True)
    if view := request.POST.get("view"):
        query["view"] = view
    batch = batch_of(passing(loaded, parse_query(query)), scope, file)
    found = list(batch.of(verdict))
    counted = (request.POST.get("digest"), request.POST.get("count"))
    if counted == (batch.digest(verdict), str(len(found))):
        return found
    if not loaded.is_open:
        return review.why_closed(loaded.proposal.state)
    return f"This list changed since you opened the page: it has {plural(len(found), 'decision')} now. Nothing was decided."


def whole(request: Request, named: Sequence[LoadedDecision]) -> Hunk:
    [decision] = named
    hunk = next(hunk for hunk in decision.hunks if str(hunk.pk) == request.POST.get("hunk"))
    return Hunk.objects.select_related("file__proposal__project").get(pk=hunk.pk)


def _remember_layout(request: Request) -> HttpResponse:
    """Saves the layout of a link in a cookie, for all reviews."""
    query = request.GET.copy()
    [layout] = query.pop("layout")[-1:]
    response = HttpResponseRedirect(f"{request.path}?{query.urlencode()}" if query else request.path)
    response.set_cookie(layout_cookie(), layout, max_age=A_YEAR, samesite="Strict", httponly=True)
    return response


# Responses: the page, one of its parts, or its changed parts; and helpers for all actions.

LAYOUTS = {"auto": "Auto", "unified": "Unified", "split": "Split"}
CHIPS = ("Wrong", "Outdated", "Already said elsewhere", "Not worth keeping", "Poorly worded")


def _to_file(proposal: Proposal, asked: ReviewQuery) -> str:
    """The address of a file without its id: so two hundred entries need only one `reverse`."""
    here = address(proposal, **asked.query)
    return f"{here}{'&' if '?' in here else '?'}file="


def resolver(loaded: LoadedProposal) -> render.Resolver:
    """`[[name]]` → a memory's page, or this page if the memory is only proposed. Makes no query until it is used."""
    known = cache(lambda: memory_pages.resolver(loaded.proposal.project))

    @render.TemplateResolver
    def resolve(name: str) -> str | None:
        if (found := known()(name)) is not None:
            return found
        wanted = memdir.name_key(name.partition("#")[0].removesuffix(".md"))
        for file in loaded.shown_files:
            if wanted in _names_of(file.path):
                return address(loaded.proposal, file=file.pk, anchor=f"file-{file.pk}")
        return None

    return resolve


def _names_of(path: str) -> tuple[str, str]:
    """The names for links: with and without the folder."""
    bare = path.removesuffix(".md")
    return memdir.name_key(bare), memdir.name_key(bare.rpartition("/")[2])


def page(request: Request, loaded: LoadedProposal, asked: ReviewQuery, status: int = 200) -> HttpResponse:
    desk = pages.desk(loaded, asked)
    context = {
        "desk": desk,
        "listing": desk["listing"],
        "questions": question_pages.of_proposal(loaded.proposal),
        "written": recall.known_since(loaded.proposal),
        "next": asked.to(loaded.proposal, file=asked.file),
        **_common(request, loaded, asked),
    }
    return rendered(request, "dreams/review.html", context, status)


def fragment(
    request: Request, template: str, loaded: LoadedProposal, context: dict[str, object], status: int = 200
) -> HttpResponse:
    asked = parse_query(QueryDict(_query_to_come_back_to(request)))
    return rendered(request, template, {**_common(request, loaded, asked), **context}, status)


def _common(request: Request, loaded: LoadedProposal, asked: ReviewQuery) -> dict[str, object]:
    layout = request.COOKIES.get(layout_cookie(), "auto")
    return {
        "proposal": loaded.proposal,
        "is_open": loaded.is_open,
        "asked": asked,
        "page_url": address(loaded.proposal),
        "all_files": asked.to(loaded.proposal, view="", page="", hunk=""),
        "to_file": _to_file(loaded.proposal, asked),
        "layout": layout if layout in LAYOUTS else "auto",
        "layouts": [
            (name, label, asked.to(loaded.proposal, file=asked.file, layout=name))
            for name, label in LAYOUTS.items()
        ],
        "chips": CHIPS,
        "back": _query_to_come_back_to(request),
        "last": verdicts.last(request, loaded.proposal),
        "undone": verdicts.undone(request, loaded.proposal),
        "resolve": resolver(loaded),
        "several": people.are_several(),
        # Whether a submit may continue with another proposal.
        "others": loaded.is_open
        and open_decisions(timezone.now(), actor(request)).exclude(pk=loaded.proposal.pk).exists(),
        "policies_at": loaded.proposal.by_policy
        and policies_at([loaded.proposal.project_id])[loaded.proposal.project_id],
    }


def _query_to_come_back_to(request: Request) -> str:
    """The query string of the page that the person sees, not that of a requested fragment."""
    if request.method == "POST":
        return request.POST.get("back", "")
    if wants_fragment(request) and "file" in request.GET:
        return (request.htmx.current_url or "").partition("#")[0].partition("?")[2]
    return request.GET.urlencode()


def one_file(request: Request, loaded: LoadedProposal, asked: ReviewQuery) -> HttpResponse:
    """The section of one file: with its decisions on the requesting page, else with all of them."""
    here = passing(loaded, parse_query(QueryDict(_query_to_come_back_to(request))))
    shown = {one.pk for one in window(here).decisions if one.file_id == asked.file}
    part = here if shown else passing(loaded, asked)
    pks = shown or {one.pk for one in window(part).decisions}
    renamed = loaded.old_names.get(asked.file or 0)
    pk = renamed.pk if renamed else asked.file
    [card] = [one for one in pages.some_cards(part, pks, {asked.file or 0}, asked.view) if one.pk == pk]
    return fragment(request, "dreams/_review_file.html", loaded, {"file": card})


def changed_file(request: Request, loaded: LoadedProposal, file: FileChange) -> HttpResponse:
    """The current section of one file, and the other changed parts of the page."""
    found = passing(loaded, _asked(request))
    cards = pages.some_cards(found, _shown(request).keys(), {file.pk})
    return _answer(request, loaded, {"whole": [card for card in cards if card.pk == file.pk]}, {file.pk})


def answer(
    request: Request,
    loaded: LoadedProposal,
    touched: Sequence[LoadedDecision],
    *,
    file: int | None = None,
    goes_there: bool = False,
) -> HttpResponse:
    """Redirects to the decision; with htmx, all changed cards and other parts of the page. `goes_there`: the page
    scrolls to it or opens its page."""
    found = passing(loaded, _asked(request))
    main = _main(request, touched)
    anchor = f"hunk-{main.pk}" if main else f"file-{file}" if file else ""
    if not wants_fragment(request):
        to = pages.where(found, main) if main and goes_there else back_to(request, loaded.proposal, anchor)
        return SeeOther(to)
    # The rendered view of a file has no cards, but verdicts change its text.
    read = {file_of(request, loaded).pk} if request.POST.get("view") == "rendered" else set()
    # Also decisions from another window or person: the bar counts them, and the cards must agree with it.
    shown = _shown(request)
    stale = {one.pk for one in loaded.decisions if shown.get(one.pk, "") not in ("", one.seen)}
    changed = ({one.pk for one in touched} | stale) & shown.keys()
    cards = pages.some_cards(found, changed, {file} if file else ())
    context = {
        "cards": [card for card in cards if card.pk not in read],
        "changed": changed,
        "whole": pages.some_cards(found, (), read, "rendered") if read else [],
    }
    response = _answer(request, loaded, context, {h.file_id for one in touched for h in one.hunks} | {file})
    if goes_there and main:
        go_to = {"review:go": {"to": anchor, "address": pages.where(found, main)}}
        response["HX-Trigger-After-Settle"] = json.dumps(go_to)
    return response


def _answer(
    request: Request,
    loaded: LoadedProposal,
    context: Mapping[str, object],
    files: Collection[int | None],
    status: int = 200,
) -> HttpResponse:
    everything = {**context, **around(request, loaded, files)}
    return fragment(request, "dreams/_review_answer.html", loaded, everything, status)


def around(request: Request, loaded: LoadedProposal, files: Collection[int | None]) -> dict[str, object]:
    """The parts of the page besides the cards that a verdict on `files` changes."""
    found = passing(loaded, _asked(request))
    shown = {pk for pk in files if pk} | {new for new, old in loaded.renames.items() if old.pk in files}
    listed = listing(found, window(found))
    return {
        "listing": listed,
        # Only for the visible page of the list; with a filter, files may appear or vanish, so the full list is sent.
        "changed_entries": [entry for entry in listed["entries"] if entry["file"].pk in shown],
        "bar": pages.bar(found, review_proposal.state(loaded, loaded.files)),
        "loads": loads(loaded, texts_of(loaded, ())),
        "told": summaries.of_proposal(loaded.proposal).text,
    }


def refuse(request: Request, loaded: LoadedProposal, why: str) -> HttpResponse:
    """409 with the current page; with htmx the current file, with the reason in the bar, or all of a page that is no longer open.

    What was typed stays in its field, with the reason below it; without scripts the browser goes back to it. One's own
    reason for a verdict is repeated, as its card may have no field for it any more.
    """
    loaded = load(request, proposal_of(loaded.proposal.public_id))
    pk = request.POST.get("hunk", "")
    if wants_fragment(request) and "text" in request.POST:
        typed = fragment(request, "dreams/_review_not_saved.html", loaded, {"why": why, "hunk": pk}, 409)
        return reswap(retarget(typed, f"#preview-{pk}"), "innerHTML")
    reason = bare(request.POST.get("reason", "").strip())
    if "text" in request.POST:
        why_so = f"{why} To keep what you typed, go back and copy it."
    else:
        why_so = f"{why} The reason that you typed: “{reason}”" if reason and reason not in CHIPS else why
    messages.error(request, why_so)
    if not wants_fragment(request):
        return page(request, loaded, _asked(request), status=409)
    if not loaded.is_open:
        return go(request, address(loaded.proposal))
    about = next((one for one in loaded.decisions for h in one.hunks if str(h.pk) == pk), None)
    found, files = passing(loaded, _asked(request)), {about.file_id} if about else set()
    cards = pages.some_cards(found, _shown(request).keys(), files) if about else []
    context = {"whole": [card for card in cards if card.pk in files], "with_messages": True, "refused": why}
    return _answer(request, loaded, context, files, 409)


def _asked(request: Request) -> ReviewQuery:
    return parse_query(QueryDict(request.POST.get("back", "")))


def _shown(request: Request) -> dict[int, str]:
    """The decisions with cards on the posting page, each with the state it was made from if the page sent it."""
    cards = (card.partition(":") for card in request.POST.get("shown", "").split(","))
    return {number: seen for pk, _, seen in cards if (number := number_or_none(pk))}


def load(request: Request, proposal: Proposal) -> LoadedProposal:
    """Loads the proposal; its secrets are unmasked if this visit asked for that."""
    loaded = load_rows(proposal)
    loaded.is_bare = hidden_secrets.is_bare(request, proposal)
    return loaded


def file_of(request: Request, loaded: LoadedProposal) -> FileChange:
    wanted = request.POST.get("file", "")
    found = next((file for file in loaded.files if str(file.pk) == wanted), None)
    if found is None:
        raise Http404("no such file in this proposal")
    return found


def _main(request: Request, touched: Sequence[LoadedDecision]) -> LoadedDecision | None:
    """The decision that the person acted on, among all that changed with it."""
    wanted = request.POST.get("hunk", "")
    own = (one for one in touched if wanted in {str(hunk.pk) for hunk in one.hunks})
    return next(own, touched[0] if touched else None)


def back_to(request: Request, proposal: Proposal, anchor: str) -> str:
    asked = _asked(request)
    return asked.to(proposal, anchor, file=asked.file)


def layout_cookie() -> str:
    # With the port: other servers on this machine share the host's cookies.
    return f"layout_{settings.PORT}"


def proposal_of(public_id: str) -> Proposal:
    found = find(public_id)
    if found is None:
        raise Http404("no such proposal")
    return found
