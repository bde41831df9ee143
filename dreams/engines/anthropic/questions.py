"""The model's questions, whose quotes and drafted answers are checked like its changes. PURE: no Django.

A faulty question gets an ordinary answer that says why; the model may ask again.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from dreams.engines.anthropic.citations import BadCitations, CheckedCitation, QuoteFinder
from dreams.engines.anthropic.edit_tools import Refusal, Writer
from dreams.engines.types import (
    KEEP,
    QUESTIONS,
    Citation,
    Edit,
    Fate,
    Job,
    OperationKind,
    Option,
    Place,
    Question,
    QuestionKind,
)
from dreams.lib.files import text as texts
from dreams.lib.files.workspace import TrialWorkspace
from dreams.lib.prose.pieces import keys_of
from dreams.lib.secrets import redact

#: Questions kept for each one shown: "show more" shows the others.
PER_SHOWN = 3
MOST_PLACES = 8
MOST_EDITS = 20
WHY_CHARS = 500
LABEL_CHARS = 60
USEFULNESS = 0.5  # of a question without a valid one: the middle
_KINDS: Mapping[str, OperationKind] = {
    "merge": "merge",
    "remove": "prune",
    "demote": "demote",
    "learn": "learn",
}
_ROW_LINK = re.compile(r"\]\(<?([^)<>]+\.md)>?\)")


class Questions:
    """The questions of one dream. `asked` has them in order."""

    def __init__(self, job: Job, writer: Writer, evidence: QuoteFinder) -> None:
        self._job = job
        self._writer = writer
        self._evidence = evidence
        self.asked: list[Question] = []

    @property
    def most(self) -> int:
        return PER_SHOWN * self._job.config.questions_per_dream

    def ask(self, given: Mapping[str, Any]) -> str:
        """Records a question and returns the answer for the model. Raises Refusal."""
        if len(self.asked) >= self.most:
            raise Refusal(f"{self.most} questions are asked already, and no more are kept.")
        kind = str(given.get("kind"))
        if kind not in QUESTIONS:
            raise Refusal(f"`kind` must be one of {', '.join(QUESTIONS)}.")
        kind = cast("QuestionKind", kind)
        why = _line(given, "why", WHY_CHARS)
        places, citations = self._places(kind, given)
        subject = _subject(places)
        if any((one.kind, one.subject) == (kind, subject) for one in self.asked):
            raise Refusal("This was asked already.")
        shown = {place.path for place in places}
        drafted = self._options(kind, why, given, citations)
        options = tuple(_explained(option, shown) for option in drafted)
        weight = given.get("usefulness")
        sure = isinstance(weight, (int, float)) and not isinstance(weight, bool) and 0 <= weight <= 1
        weight = float(cast("float", weight)) if sure else USEFULNESS
        self.asked.append(Question(kind, subject, why, places, options, citations, weight))
        return "Asked. Go on without waiting for the answer."

    def standing(self) -> list[Question]:
        """The questions, without those about a statement that this dream has since changed."""
        return [one for one in self.asked if all(map(self._is_as_found, one.places))]

    # --- Places ---------------------------------------------------------------------------------------------------

    def _places(
        self, kind: QuestionKind, given: Mapping[str, Any]
    ) -> tuple[tuple[Place, ...], tuple[Citation, ...]]:
        named = given.get("places")
        if not isinstance(named, list) or not 1 <= len(named) <= MOST_PLACES:
            raise Refusal(
                f"`places` must be a list of 1 to {MOST_PLACES} objects with `session` and `quote`."
            )
        found = self._found(named)
        if any(cited.source not in ("memory", "transcript") for cited in found):
            raise Refusal("A place is in a memory or a session. Put files of /repo under `citations`.")
        if kind != "learn" and all(cited.source != "memory" for cited in found):
            raise Refusal("Name at least one memory among `places`: the one that an answer would change.")
        places = tuple(map(self._place, found))
        if not all(map(self._is_as_found, places)):
            raise Refusal("You changed that line in this dream, so a question about it would be dropped.")
        return places, (*found, *self._found(given.get("citations") or []))

    def _found(self, named: object) -> tuple[Citation, ...]:
        try:
            checked: CheckedCitation = self._evidence.check(named)
        except BadCitations as error:
            raise Refusal(str(error)) from error
        if checked.problems:
            raise Refusal(
                f"A quote could not be found: {'; '.join(checked.problems)}. Look it up and ask again."
            )
        return checked.citations

    def _place(self, cited: Citation) -> Place:
        said = cited.quote
        if cited.source == "memory" and cited.line_no is not None:
            said = self._as_found(cited.place).split("\n")[cited.line_no - 1].strip()
        return Place(cited.place, cited.line_no, said, cited.session_pk, cited.offset, cited.role, cited.at)

    def _as_found(self, path: str) -> str:
        known = self._job.workspace.snapshot.files.get(path)
        return texts.decode(known.data) if known else ""

    def _is_as_found(self, place: Place) -> bool:
        if place.path not in self._job.workspace.snapshot.files:
            return True  # in a session
        now = self._job.workspace.read(place.path)
        return now is not None and place.text in (line.strip() for line in now.split("\n"))

    # --- Answers --------------------------------------------------------------------------------------------------

    def _options(
        self, kind: QuestionKind, why: str, given: Mapping[str, Any], citations: tuple[Citation, ...]
    ) -> tuple[Option, ...]:
        named = given.get("options")
        if not isinstance(named, list) or not all(isinstance(entry, Mapping) for entry in named):
            raise Refusal("`options` must be a list of objects with `id`, `label` and `edits`.")
        ids = [str(entry.get("id")) for entry in named]
        if len(set(ids)) < len(ids) or not set(ids) <= set(QUESTIONS[kind]):
            raise Refusal(f"The answers to `{kind}` are {', '.join(QUESTIONS[kind])}, each at most once.")
        made = {str(entry["id"]): self._option(entry, why, citations) for entry in named}
        made.setdefault(KEEP.id, KEEP)
        if len(made) == 1:
            raise Refusal("Draft at least one answer that changes something.")
        return tuple(made[name] for name in QUESTIONS[kind] if name in made)

    def _option(self, entry: Mapping[str, Any], why: str, citations: tuple[Citation, ...]) -> Option:
        name, label = str(entry["id"]), _line(entry, "label", LABEL_CHARS)
        edits = entry.get("edits") or []
        if (
            not isinstance(edits, list)
            or len(edits) > MOST_EDITS
            or not all(isinstance(e, Mapping) for e in edits)
        ):
            raise Refusal(f"`edits` must be a list of at most {MOST_EDITS} objects.")
        if name == KEEP.id:
            if edits:
                raise Refusal("`keep` changes nothing: it has no edits.")
            return Option(KEEP.id, label)
        if not edits:
            raise Refusal(
                f"`{name}` has no edits. Draft what it changes, or leave it out: `keep` changes nothing."
            )
        common = {
            "reason": why,
            "operation": name,
            "kind": _KINDS.get(name, "update"),
            "removed": entry.get("removed"),
        }
        if name == "demote":
            rows = (self._drafted([{**edit, **common, "operation": _row(edit)}], citations) for edit in edits)
            return Option(name, label, tuple(edit for row in rows for edit in row))
        return Option(name, label, self._drafted([{**edit, **common} for edit in edits], citations))

    def _drafted(
        self, given: Sequence[Mapping[str, Any]], citations: tuple[Citation, ...]
    ) -> tuple[Edit, ...]:
        """Drafts the changes on the memories as they were before the dream, one after the other."""
        drafts = self._writer.on(TrialWorkspace(self._job.workspace))
        made = []
        for each in given:
            tool = "Delete" if each.get("delete") is True else "Write" if "content" in each else "Edit"
            made.append(drafts.draft(tool, each, citations))
        return tuple(made)


def _subject(places: Sequence[Place]) -> str:
    """The words and values of the statements: independent of how the model words its question."""
    return " ".join(sorted(frozenset().union(*(keys_of(place.text) for place in places))))


def _row(edit: Mapping[str, Any]) -> str:
    """The path that an index row links to: each row is decided separately."""
    found = _ROW_LINK.search(str(edit.get("old_string") or ""))
    if found is None:
        raise Refusal("Each edit of `demote` replaces one row of an index, with its link.")
    return found[1]


def _explained(option: Option, shown: Collection[str]) -> Option:
    return replace(option, edits=tuple(_accounted(edit, shown) for edit in option.edits))


def _accounted(edit: Edit, shown: Collection[str]) -> Edit:
    """Adds a fate for every removed line of a memory in `shown`, and of its row: the person who chooses the answer
    sees them. The reason does not cover lines of other memories: the person has to confirm those."""
    lines = set(edit.before.splitlines() if edit.before else ())
    kept = {line.strip() for line in (edit.after or "").splitlines()}
    gone = {line for line in lines if line.strip() and line.strip() not in kept}
    known = gone if edit.path in shown else {one for one in gone if any(f"({p})" in one for p in shown)}
    fates = [fate for fate in edit.fates if fate.text in (known if fate.kind == "stated" else gone)]
    if edit.kind != "merge":
        fates += [
            Fate(line, "stated", note=edit.reason) for line in sorted(known - {fate.text for fate in fates})
        ]
    return replace(edit, fates=tuple(fates))


def _line(given: Mapping[str, Any], key: str, most: int) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Refusal(f"`{key}` is missing. Say it in one line.")
    return redact.redact(" ".join(value.split()))[:most]
