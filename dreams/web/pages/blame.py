"""The origin of each line of a memory: the dream and its reason, the session, or the person."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dreams.lib import diff
from dreams.lib.files.text import plural
from dreams.lib.secrets import redact
from dreams.lib.secrets.masking import Mask
from dreams.models import Evidence, Hunk, Memory, Operation, Session, Version
from dreams.services import blobs
from dreams.services.memories import hand_edits
from dreams.services.memories.blame import Chain, LineCause, LineCauses, Write, causes, chain, written_in
from dreams.services.proposals import summaries
from dreams.web.hidden_secrets import Sight
from dreams.web.pages.memory import Looks

MOST_LINES = 2_000  # of a memory; chosen
MOST_QUOTES = 3  # beside a line; chosen
MOST_SOURCES = 3  # files that a line came from; chosen


ORIGINS = {
    "dream": "from dreams",
    "session": "written in sessions",
    "hand": "by hand in memoryweb",
    "outside": "changed outside",
    "found": "already there when memoryweb started",
}


_BROUGHT_BACK = (Version.Origin.ROLLBACK, Version.Origin.RESTORE)

_DREAMT = {
    Operation.Kind.LEARN: "Learnt in a dream",
    Operation.Kind.MERGE: "Merged in a dream",
    Operation.Kind.DATE: "Dated in a dream",
    Operation.Kind.INDEX: "Added to the index in a dream",
    Operation.Kind.DEMOTE: "Moved out of the index in a dream",
    Operation.Kind.UPDATE: "Updated in a dream",
    Operation.Kind.PRUNE: "Shortened in a dream",
}


def blame(memory: Memory, version: Version, *, is_bare: bool = False) -> dict[str, Any]:
    """`version` is a version of the memory with a text. The number of queries does not depend on the number of lines."""
    found = chain(memory, version)
    why = causes(memory, found)
    sight = Sight.of(["\n".join(found.lines)], is_bare=is_bare)
    told = list(_told(found, why, sight.mask))
    named = written_in(memory, blobs.get_many([version.sha256]).get(version.sha256, b""))
    shares = _shares(told)
    return {
        "version": version,
        "is_now": memory.gone_at is None and version.sha256 == memory.sha256,
        "runs": _runs(told[:MOST_LINES], Looks.of(_versions(told))),
        "shares": shares,
        "summary": _summary(shares),
        "total": len(told),
        "more": max(0, len(told) - MOST_LINES),
        "is_cut": found.is_cut,
        "missing": found.missing,
        "origin_session": named if isinstance(named, Session) else None,
        "origin_id": named if isinstance(named, str) else "",
        "sight": sight,
    }


@dataclass(frozen=True, slots=True)
class _BlamedLine:
    number: int
    text: str
    cause: LineCause
    before: LineCause | None

    @property
    def key(self) -> tuple[object, ...]:
        return (_key(self.cause), self.before and _key(self.before))


def _key(cause: LineCause) -> tuple[object, ...]:
    write = (cause.write.session.pk, cause.write.offset) if cause.write else None
    return (cause.version.pk, cause.hunk and cause.hunk.pk, write, cause.came_from)


def _told(found: Chain, why: LineCauses, mask: Mask) -> Iterator[_BlamedLine]:
    for number, (text, origin) in enumerate(zip(found.lines, found.origins, strict=True), 1):
        cause = why.of(origin.here, text)
        before = why.of(origin.before, text) if origin.before else None
        same = before is None or _key(before) == _key(cause)
        yield _BlamedLine(number, diff.visible(mask(text)), cause, None if same else before)


def _versions(told: Iterable[_BlamedLine]) -> Iterator[Version]:
    for item in told:
        yield item.cause.version
        if item.before:
            yield item.before.version


def _runs(told: Sequence[_BlamedLine], looks: Looks) -> list[dict[str, Any]]:
    """Consecutive lines with the same origin; `before` is an earlier origin of their words, if there is one.

    Blank lines belong to the run above them: otherwise they would split every run.
    """
    groups: list[list[_BlamedLine]] = []
    for item in told:
        blank = not item.text.strip()
        if groups and (blank or item.key == groups[-1][0].key):
            groups[-1].append(item)
        else:
            groups.append([item])
    return [
        {
            "lines": group,
            "source": _source(group[0].cause, looks),
            "before": _source(group[0].before, looks) if group[0].before else None,
        }
        for group in groups
    ]


def _shares(told: Iterable[_BlamedLine]) -> list[dict[str, Any]]:
    counts = dict.fromkeys(ORIGINS, 0)
    for item in told:
        if item.text.strip():
            # Restored lines count by their first version.
            is_back = item.cause.version.origin in _BROUGHT_BACK
            counts[_kind(item.before if item.before and is_back else item.cause)] += 1
    return [
        {"kind": kind, "label": label, "lines": counts[kind]}
        for kind, label in ORIGINS.items()
        if counts[kind]
    ]


def _kind(cause: LineCause) -> str:
    if cause.write is not None:
        return "session"
    origin = cause.version.origin
    named = {
        Version.Origin.APPLY: "dream",
        Version.Origin.OUTSIDE: "outside",
        Version.Origin.FOUND: "found",
    }
    return named.get(Version.Origin(origin), "hand")


def _source(cause: LineCause, looks: Looks) -> dict[str, Any]:
    """The origin of a run of lines. `kind` is dream, session, hand, outside or found."""
    if cause.write is not None:
        return _by_session(cause, cause.write)
    version, hunk = cause.version, cause.hunk
    icon, _, what = looks(version)
    proposal = version.proposal
    dream = proposal.dream.public_id if proposal and proposal.dream else ""
    operation = hunk.operation if hunk else None
    reason = (operation.reason if operation else "") or (summaries.reason(proposal) if proposal else "")
    return {
        "kind": _kind(cause),
        "icon": icon,
        "what": _DREAMT.get(Operation.Kind(operation.kind), what) if operation and dream else what,
        "who": version.actor,
        "at": version.at,
        "reason": redact.redact(hand_edits.given(reason, version.actor)),
        "proposal": proposal.public_id if proposal else "",
        "dream": dream,
        "hunk": str(hunk.pk) if hunk else "",
        "note": "Reworded in the review." if hunk and hunk.verdict == Hunk.Verdict.EDITED else "",
        "came_from": tuple(map(diff.visible, cause.came_from[:MOST_SOURCES])),
        "quotes": list(hunk.evidence.all()[:MOST_QUOTES]) if hunk else (),
        "session": None,
    }


def _by_session(cause: LineCause, write: Write) -> dict[str, Any]:
    title = str(write.session)
    note = "" if cause.sure else "It wrote to this file at that time; what it wrote can no longer be read."
    return {
        "kind": "session",
        "icon": "session",
        "what": "Written in a session" if cause.sure else "Perhaps written in a session",
        "who": "the agent’s own dream" if write.session.own else "the agent",
        "at": write.at,
        "reason": "",
        "note": note,
        "session": {
            "pk": write.session.pk,
            "title": title,
            "offset": write.offset,
            "subagent": write.subagent,
        },
        "proposal": "",
        "dream": "",
        "hunk": "",
        "came_from": (),
        "quotes": (),
    }


def _summary(shares: Sequence[Mapping[str, Any]]) -> str:
    """The shares in one sentence, for screen readers."""
    parts = [f"{share['lines']:,} {share['label']}" for share in shares]
    lines = plural(sum(share["lines"] for share in shares), "line")
    return f"{lines} with text: {', '.join(parts)}." if parts else "It has no text."


MOST_EVIDENCE = 6  # rows; chosen


def evidence(memory: Memory) -> list[Evidence]:
    """Evidence for added text that is still there, newest first; the reason of a removal says nothing about the rest."""
    standing = Evidence.objects.filter(
        hunk__file__proposal__project=memory.project_id,
        hunk__file__path=memory.path,
        hunk__applied_in__isnull=False,
        hunk__undone_in__isnull=True,
        hunk__new_count__gt=0,
    )
    rows = standing.select_related("session").order_by("-hunk__applied_in", "-pk")
    # One quote may support several changes; it is read once.
    once = {(row.quote, row.session_id, row.line_no): row for row in rows[: MOST_EVIDENCE * 4]}
    return list(once.values())[:MOST_EVIDENCE]
