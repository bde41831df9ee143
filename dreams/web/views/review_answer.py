"""How the review desk answers: the page, one of its parts, or what changed in it, and what every verb needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render as rendered
from django.utils.cache import patch_vary_headers

from dreams import memdir
from dreams.models import FileChange, Hunk, Proposal
from dreams.review import Reviewer
from dreams.web import render, unmasked, verdicts
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, wants_fragment
from dreams.web.pages import questions as question_pages
from dreams.web.pages import written
from dreams.web.selectors import memory as memory_selector
from dreams.web.selectors.review import desk as selector
from dreams.web.selectors.review.desk import Loaded
from dreams.web.selectors.review.loaded import HunkRow

LAYOUTS = {"auto": "Auto", "unified": "Unified", "split": "Split"}
CHIPS = ("Wrong", "Outdated", "Already said elsewhere", "Not worth keeping", "Poorly worded")


def _to_file(proposal: Proposal, asked: selector.Asked) -> str:
    """What a file's number is put behind: two hundred entries need no two hundred addresses."""
    here = selector.address(proposal, **asked.query)
    return f"{here}{'&' if '?' in here else '?'}file="


@dataclass(slots=True)
class Resolver:
    """`[[names]]` → a memory's page, or this page where the memory is only proposed. Asks nothing before it is used."""

    loaded: Loaded
    known: render.Resolver | None = None
    do_not_call_in_templates: bool = True

    def __call__(self, name: str) -> str | None:
        known = self.known or memory_selector.resolver(self.loaded.proposal.project)
        self.known = known
        found = known(name)
        if found is not None:
            return found
        wanted = memdir.name_key(name.partition("#")[0].removesuffix(".md"))
        for file in self.loaded.shown_files:
            if wanted in _names_of(file.path):
                return selector.address(self.loaded.proposal, file=file.pk, anchor=f"file-{file.pk}")
        return None


def _names_of(path: str) -> tuple[str, str]:
    """As a link may write it: with its folder, and without."""
    bare = path.removesuffix(".md")
    return memdir.name_key(bare), memdir.name_key(bare.rpartition("/")[2])


def page(request: Request, loaded: Loaded, asked: selector.Asked, status: int = 200) -> HttpResponse:
    desk = selector.desk(loaded, asked)
    context = {
        "desk": desk,
        "listing": desk.listing,
        "bases": desk.bar.digest,
        "questions": question_pages.of_proposal(loaded.proposal),
        "written": written.of(loaded.proposal),
        "next": asked.to(loaded.proposal, file=asked.file),
        **_common(request, loaded, asked),
    }
    response = rendered(request, "dreams/review.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def fragment(
    request: Request, template: str, loaded: Loaded, context: dict[str, object], status: int = 200
) -> HttpResponse:
    asked = selector.asked_of(QueryDict(_query_to_come_back_to(request)))
    response = rendered(request, template, {**_common(request, loaded, asked), **context}, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _common(request: Request, loaded: Loaded, asked: selector.Asked) -> dict[str, object]:
    layout = request.COOKIES.get(layout_cookie(), "auto")
    return {
        "proposal": loaded.proposal,
        "is_open": loaded.is_open,
        "asked": asked,
        "page_url": selector.address(loaded.proposal),
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
        "resolve": Resolver(loaded),
    }


def _query_to_come_back_to(request: Request) -> str:
    """Which of the page's views a person is at: the address of one file's fragment is not it."""
    if request.method == "POST":
        return request.POST.get("back", "")
    if wants_fragment(request) and "file" in request.GET:
        return urlsplit(request.htmx.current_url or "").query
    return request.GET.urlencode()


def around(request: Request, loaded: Loaded, files: set[int]) -> dict[str, object]:
    """The parts beside the cards that a verdict on `files` changes."""
    asked = selector.asked_of(QueryDict(request.POST.get("back", "")))
    listing = selector.listing(loaded, asked)
    shown = {new for new, old in loaded.renames.items() if old.pk in files} | files
    return {
        "listing": listing,
        # Under a filter files come and go, so the list is sent whole.
        "changed_entries": [] if asked.is_narrowed else [e for e in listing.entries if e.pk in shown],
        "bar": selector.bar(loaded),
        "loads": selector.loads(loaded),
    }


def answer(
    request: Request, proposal: Proposal, touched: Sequence[Hunk], file: int | None = None
) -> HttpResponse:
    """Back to the first hunk touched; with htmx, every card on the page that changed and what stands around."""
    anchor = f"hunk-{_main(request, touched)}" if touched else f"file-{file}" if file else ""
    if not wants_fragment(request):
        return SeeOther(back_to(request, proposal, anchor))
    loaded = load(request, proposal_of(proposal.public_id))
    shown = _shown(request)
    under = {loaded.hunks[old.pk][0].pk: loaded.hunks[new][0].pk for new, old in loaded.renames.items()}
    changed = {under.get(hunk.pk, hunk.pk) for hunk in touched} & shown
    files = {hunk.file_id for hunk in loaded.all_hunks if hunk.pk in changed} | ({file} if file else set())
    # A file read as it will be shows no changes by themselves: what was decided on changes how it reads.
    read = {file_of(request, loaded).pk} if request.POST.get("view") == "rendered" else set()
    return fragment(
        request,
        "dreams/_review_answer.html",
        loaded,
        {
            "cards": selector.some_cards(loaded, files - read, only=frozenset(changed)),
            "whole": selector.some_cards(loaded, read, "rendered", frozenset()) if read else [],
            "changed": changed,
            **around(request, loaded, {h.file_id for h in touched} | files),
        },
    )


def refuse(request: Request, loaded: Loaded, why: str, hunks: Sequence[HunkRow]) -> HttpResponse:
    """409 with the page as it is now; with htmx the file as it is now, and why, above it."""
    messages.error(request, why)
    loaded = load(request, proposal_of(loaded.proposal.public_id))
    if wants_fragment(request):
        files = {hunk.file_id for hunk in hunks[:1]}
        cards = selector.some_cards(loaded, files, only=shown_now(request, loaded))
        context = {"whole": cards, "with_messages": True, **around(request, loaded, files)}
        return fragment(request, "dreams/_review_answer.html", loaded, context, status=422)
    return page(request, loaded, selector.asked_of(QueryDict(request.POST.get("back", ""))), status=409)


def on_page(request: Request, loaded: Loaded, asked: selector.Asked) -> frozenset[int] | None:
    """The changes that a file shows on the page that asks for it: those of the page, or where it is not on it, those
    of the first page of its own. None: all."""
    here = selector.window_of(loaded, selector.asked_of(QueryDict(_query_to_come_back_to(request))))
    if any(here.shows(row) for row in loaded.hunks[asked.file or 0]):
        return here.hunks
    return selector.window_of(loaded, asked).hunks


def shown_now(request: Request, loaded: Loaded) -> frozenset[int] | None:
    """The changes on the page that posted, where it has pages; None: all. A page without scripts is made anew."""
    asked = selector.asked_of(QueryDict(request.POST.get("back", "")))
    return frozenset(_shown(request)) if selector.window_of(loaded, asked).is_paged else None


def _shown(request: Request) -> set[int]:
    return {int(pk) for pk in request.POST.get("shown", "").split(",") if pk.isdecimal()}


def load(request: Request, proposal: Proposal) -> Loaded:
    """With its secrets as they stand, where this visit asked for that."""
    loaded = selector.load(proposal)
    loaded.is_bare = unmasked.is_bare(request, proposal)
    return loaded


def file_of(request: Request, loaded: Loaded) -> FileChange:
    wanted = request.POST.get("file", "")
    found = next((file for file in loaded.files if str(file.pk) == wanted), None)
    if found is None:
        raise Http404("no such file in this proposal")
    return found


def _main(request: Request, touched: Sequence[Hunk]) -> int:
    """The hunk a person acted on, among those that were decided with it."""
    pks = [hunk.pk for hunk in touched]
    wanted = request.POST.get("hunk", "")
    return int(wanted) if wanted.isdecimal() and int(wanted) in pks else pks[0]


def back_to(request: Request, proposal: Proposal, anchor: str) -> str:
    asked = selector.asked_of(QueryDict(request.POST.get("back", "")))
    return asked.to(proposal, anchor, file=asked.file)


def layout_cookie() -> str:
    # By port: other servers on this machine share the host's cookies.
    return f"layout_{settings.PORT}"


def reviewer(request: Request) -> Reviewer:
    return Reviewer(actor(request))


def proposal_of(public_id: str) -> Proposal:
    found = selector.find(public_id)
    if found is None:
        raise Http404("no such proposal")
    return found
