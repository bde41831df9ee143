"""The drafted answers of a question: the edits of each, merged onto memories that changed since."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dreams.engines.types import Edit, Fate
from dreams.lib import diff
from dreams.lib.diff import merge
from dreams.lib.files import text
from dreams.models import Question, QuestionOption, Session
from dreams.services import blobs
from dreams.services.proposals import rebase, saving

_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")


class DoesNotFit(Exception):
    """An answer's edits clash with the current text of its files; `paths` names them."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(", ".join(paths))
        self.paths = tuple(paths)


def stored(edits: Iterable[Edit]) -> list[dict[str, object]]:
    """The edits in the form that an option's row stores. The caller saves their texts as blobs."""
    return [
        {
            "path": edit.path,
            "before": text.sha_of(edit.before),
            "after": text.sha_of(edit.after),
            "operation": text.storable(edit.operation, 1000),
            "kind": edit.kind,
            "reason": text.storable(edit.reason, 2000),
            "citations": [saving.stored_citation(found) for found in edit.citations],
            "fates": [saving.stored_fate(found) for found in edit.fates],
        }
        for edit in edits
    ]


def text_shas(options: Iterable[QuestionOption]) -> set[str]:
    """The sha256 of every text that these options use."""
    return {edit[side] for option in options for edit in option.edits for side in ("before", "after")} - {""}


def edits_of(option: QuestionOption, rows: Sequence[str] = ()) -> list[Edit]:
    """The option's edits in order; for an `index` question only those of `rows`, if any are given.

    Raises blobs.MissingBlob.
    """
    wanted = _chosen(option, rows)
    kept = blobs.whole(blobs.get_many(text_shas([option])))
    named = {c.get("session_pk") for edit in wanted for c in edit["citations"]} - {None}
    sessions = set(Session.objects.filter(pk__in=named).values_list("pk", flat=True)) if named else set()
    return [
        Edit(
            path=edit["path"],
            before=_text(edit["before"], kept),
            after=_text(edit["after"], kept),
            operation=edit["operation"] if option.question.kind == Question.Kind.INDEX else "answer",
            kind=saving.operation_kind(edit["kind"]),
            reason=edit["reason"],
            citations=tuple(saving.citation(found, sessions) for found in edit["citations"]),
            fates=(*map(saving.fate, edit["fates"]), *_answered(option, edit, kept)),
        )
        for edit in wanted
    ]


def _answered(option: QuestionOption, edit: Mapping[str, Any], kept: Mapping[str, bytes]) -> list[Fate]:
    """The lines that the edit removes and the question shows: the person saw them and agreed to remove them.

    Used where the ledger finds nothing better. Lines that the question does not show still need a confirmation.
    """
    shown = [
        text.one_line(place["text"]) for place in option.question.places if place["path"] == edit["path"]
    ]
    if not shown:
        return []
    before, after = (diff.split_lines(_text(edit[side], kept) or "") for side in ("before", "after"))
    there = set(after)
    gone = dict.fromkeys(line.rstrip("\r\n") for line in before if line.strip() and line not in there)
    note = f"Answered: {option.label}"
    return [Fate(line, "stated", note=note) for line in gone if any(_said(line) in one for one in shown)]


def _said(line: str) -> str:
    """A line without its list marker, which is not part of the text."""
    return text.one_line(_MARK.sub("", line))


def _chosen(option: QuestionOption, rows: Sequence[str]) -> list[dict[str, Any]]:
    return [edit for edit in option.edits if not rows or edit["operation"] in rows]


def ends(
    option: QuestionOption, texts: Mapping[str, bytes], rows: Sequence[str] = ()
) -> dict[str, tuple[str | None, str | None]]:
    """Path → its text before and after the option, on the memories that the dream read; None: no file.

    `texts` are the blobs of `text_shas`, so that many options cost one query. Omits a file whose text is no longer
    stored.
    """
    before: dict[str, bytes | None] = {}
    edits: list[Edit] = []
    for edit in _chosen(option, rows):
        if any(edit[side] and edit[side] not in texts for side in ("before", "after")):
            continue
        sides = [_text(edit[side], texts) for side in ("before", "after")]
        before.setdefault(edit["path"], texts[edit["before"]] if edit["before"] else None)
        edits.append(Edit(edit["path"], sides[0], sides[1], "", "edit", ""))
    try:
        after = brought_onto(before, edits)
    except DoesNotFit:  # rows drafted on the same text that touch each other
        return {}
    decoded = {path: text.decoded(data) for path, data in before.items()}
    return {path: (decoded[path], text.decoded(data)) for path, data in sorted(after.items())}


def _text(sha: str, kept: Mapping[str, bytes]) -> str | None:
    if not sha:
        return None
    return text.decode(kept[sha] if sha in kept else blobs.get(sha))


def brought_onto(now: Mapping[str, bytes | None], edits: Iterable[Edit]) -> dict[str, bytes | None]:
    """The files of `now` that the edits change, after the edits: each is merged onto the current text.

    None: the file does not exist. Raises DoesNotFit.
    """
    after: dict[str, bytes | None] = {}
    torn: list[str] = []
    for edit in edits:
        here = after[edit.path] if edit.path in after else now.get(edit.path)
        base, wanted = (None if side is None else text.encode(side) for side in (edit.before, edit.after))
        merged = rebase.merged_bytes(rebase.Sides(base, here, wanted), edit.path)
        if isinstance(merged, merge.Merge):
            torn.append(edit.path)
        else:
            after[edit.path] = merged
    if torn:
        raise DoesNotFit(sorted(set(torn)))
    return {path: data for path, data in after.items() if data != now.get(path)}
