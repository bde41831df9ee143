"""Edit, Write and Delete on the scratch copy, each with a reason and checked evidence. PURE: no Django.

A refused call gets an ordinary answer that says why and what to do instead; the model reads it and goes on.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

from dreams.engines.anthropic.citations import BadCitations, QuoteFinder, fates_of, memory_path
from dreams.engines.anthropic.schemas import KINDS
from dreams.engines.types import Citation, Edit, Fate, FateKind, OperationKind
from dreams.lib.files import safefs
from dreams.lib.files.workspace import Workspace, WorkspaceRefused
from dreams.lib.memdir import INDEX_NAME
from dreams.lib.secrets import redact

if TYPE_CHECKING:
    from dreams.lib.files.workspace import TrialWorkspace

MASKED = re.compile(rf"{redact.MARKED.pattern}|⟨(?:U\+[0-9A-F]{{4,6}}|0x[0-9A-F]{{2}})⟩")
AGAIN = "Call Edit with the new passage as both strings,"  # explains a change without making it again
_BOM = "\ufeff"
_FATES = get_args(FateKind)


class Refusal(Exception):
    """Why a change was not made, and what to do instead; the model reads this."""


class Writer:
    """Makes changes and records each as an `Edit`, in order. `saw` has the files that the model has read."""

    def __init__(self, workspace: "Workspace | TrialWorkspace", evidence: QuoteFinder) -> None:
        self._workspace = workspace
        self._evidence = evidence
        self.folders = evidence.folders
        self._read: set[str] = set()
        self.edits: list[Edit] = []

    def saw(self, path: str) -> None:
        self._read.add(path)

    def on(self, workspace: "TrialWorkspace") -> "Writer":
        """A writer for drafts, with the same files read."""
        drafts = Writer(workspace, self._evidence)
        drafts._read = set(self._read)
        return drafts

    def draft(self, name: str, given: Mapping[str, Any], citations: tuple[Citation, ...]) -> Edit:
        """Makes one change with evidence that is already checked. Raises Refusal."""
        edit = self._edit(name, *self._texts(name, given), given, citations)
        self._apply(edit)
        return edit

    def call(self, name: str, given: Mapping[str, Any]) -> tuple[str, str]:
        """(answer for the model, path changed). Raises Refusal."""
        path, before, after = self._texts(name, given)
        try:
            checked = self._evidence.check(given.get("citations"))
        except BadCitations as error:
            raise Refusal(str(error)) from error
        if not checked.citations and path != INDEX_NAME:
            raise Refusal(
                "Cite at least one passage that speaks for this change: a session, or the memory itself."
            )
        citations, problems = checked.citations, checked.problems
        if after == before:
            return self._explained(path, citations, problems, given), path
        edit = self._edit(name, path, before, after, given, citations)
        self._apply(edit)
        if not problems:
            self._prove_again(edit, whole=name == "Write")
        return self._told(edit, problems), path

    def _texts(self, name: str, given: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
        """(path, its text, the text that the call makes)"""
        # Models mix up the two names that agents' tools have for it.
        path = self._inside(_string(given, "file_path" if "file_path" in given else "path").strip())
        before = self._before(path)
        make = {"Edit": self._edited, "Write": self._written, "Delete": self._deleted}[name]
        return path, before, make(path, before, given)

    def _inside(self, named: str) -> str:
        """The path relative to the memory directory: `/repo/memory/x.md` is a file of the repository."""
        path = memory_path(named, self.folders)
        if path.startswith(("/", "~")):
            raise Refusal(f"{named[:200]} is not below /memory, and only memories are written here.")
        if not named.isprintable():
            raise Refusal("The name holds a character that cannot be seen. Choose a plain one.")
        return path

    def _edit(
        self,
        name: str,
        path: str,
        before: str | None,
        after: str | None,
        given: Mapping[str, Any],
        citations: tuple[Citation, ...],
    ) -> Edit:
        return Edit(
            path,
            before,
            after,
            operation=_label(given) or f"step-{len(self.edits) + 1}",
            kind=_kind(name, path, before, given),
            reason=_reason(given),
            citations=citations,
            fates=self._fates(path, given, after),
        )

    # --- The new text ------------------------------------------------------------------------------------------

    def _before(self, path: str) -> str | None:
        try:
            safefs.split(path)
            return self._workspace.read(path)
        except (OSError, safefs.SafeFsError) as error:
            raise Refusal(
                f"{path} is no path of a memory ({error}). Name a .md file below /memory."
            ) from error

    def _edited(self, path: str, before: str | None, given: Mapping[str, Any]) -> str:
        if before is None:
            raise Refusal(f"There is no {path}. Use Write to make it.")
        old, new = _string(given, "old_string"), _string(given, "new_string")
        if not old:
            raise Refusal("`old_string` is empty. Give the passage to replace.")
        count = before.count(old)
        if count == 0 and "\r\n" in before and "\r" not in old:
            old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
            count = before.count(old)
        if count != 1:
            times = "does not appear" if count == 0 else f"appears {count} times"
            raise Refusal(
                f"`old_string` {times} in {path}; it must appear exactly once. Read the file again."
            )
        if old == new and not self._to_explain(path, given):
            raise Refusal("`old_string` and `new_string` are the same. Nothing was changed.")
        return self._checked(path, before, before.replace(old, new))

    def _written(self, path: str, before: str | None, given: Mapping[str, Any]) -> str:
        content = _string(given, "content")
        if before is None:
            return self._checked(path, "", content)
        self._must_have_read(path)
        if "\r\n" in before and "\r" not in content:
            content = content.replace("\n", "\r\n")
        if before.startswith(_BOM) and not content.startswith(_BOM):
            content = _BOM + content
        if content == before and not self._to_explain(path, given):
            raise Refusal(f"{path} already reads like this. Nothing was changed.")
        return self._checked(path, before, content)

    def _deleted(self, path: str, before: str | None, given: Mapping[str, Any]) -> None:
        if before is None:
            if self._to_explain(path, given):
                return  # it removed the file; now it brings a better quote
            raise Refusal(f"There is no {path}.")
        if path == INDEX_NAME:
            raise Refusal("The index cannot be removed. Edit its rows.")
        self._must_have_read(path)

    def _must_have_read(self, path: str) -> None:
        if path not in self._read:
            raise Refusal(f"You have not read {path} in this dream. Read it first.")

    @staticmethod
    def _checked(path: str, before: str, after: str) -> str:
        if not after.strip(" \t\r\n" + _BOM):
            raise Refusal(
                f"That would leave {path} empty, which is removing it. Read it and use Delete, with a reason."
            )
        for mark in set(MASKED.findall(after)) - set(MASKED.findall(before)):
            raise Refusal(
                f"{mark} stands for something that you were not shown, and must not be written into a memory. "
                "Use Edit on a passage without it."
            )
        return after

    # --- Why ------------------------------------------------------------------------------------------------------

    def _to_explain(self, path: str, given: Mapping[str, Any]) -> list[int]:
        """Indexes of this dream's edits of a file that have a quote not found, or that the call explains further."""
        own = [place for place, edit in enumerate(self.edits) if edit.path == path]
        unproven = [place for place in own if not all(found.found for found in self.edits[place].citations)]
        if unproven or not self._fates(path, given):
            return unproven
        named = _lines(str(given.get("new_string") or ""))
        made = (
            place
            for place in own
            if any(one in new for new in _new_lines(self.edits[place]) for one in named)
        )
        return list(made) or own[-1:]

    def _prove_again(self, new: Edit, *, whole: bool) -> None:
        """Drops quotes that were not found from changes that a proven one replaces. A `whole` new text proves what stays, too."""
        now = _lines(new.after)
        for place, edit in enumerate(self.edits[:-1]):
            stays = _new_lines(edit) & now
            if edit.path == new.path and new.citations and (whole or not stays):
                found = tuple(one for one in edit.citations if one.found)
                if found != edit.citations:
                    self.edits[place] = replace(edit, citations=(*found, *(new.citations if stays else ())))

    def _explained(
        self, path: str, citations: tuple[Citation, ...], problems: tuple[str, ...], given: Mapping[str, Any]
    ) -> str:
        """Handles the same call with better evidence: a right change need not be undone to fix its quote."""
        if problems:
            raise Refusal(f"A quote could not be found: {'; '.join(problems)}. The change stays unproven.")
        for place in self._to_explain(path, given):
            edit = self.edits[place]
            cited = (*(one for one in edit.citations if one.found and one not in citations), *citations)
            self.edits[place] = replace(
                edit, citations=cited, fates=(*edit.fates, *self._fates(path, given, edit.after))
            )
        return f"{path} is as it was; its change has the new quotes and explanations."

    def _fates(self, path: str, given: Mapping[str, Any], after: str | None = None) -> tuple[Fate, ...]:
        """Where each removed line went: unless the call says otherwise, to the only line of `after` that an Edit made."""
        new = [line for line in str(given.get("new_string") or "").splitlines() if line.strip()]
        new = [line.strip() for line in (after or "").splitlines() if len(new) == 1 and new[0] in line]
        made = []
        for entry in fates_of(given.get("removed")):
            if entry.get("fate") not in _FATES:
                continue
            kind = cast(FateKind, entry["fate"])
            target, there = str(entry.get("target") or ""), str(entry.get("target_text") or "")
            if kind != "stated" and not there and new:
                target, there = target or path, new[0]
            note = str(entry.get("note") or "") or (_reason(given) if kind == "stated" else "")
            target, note = memory_path(target, self.folders), redact.redact(note)[:1_000]
            lines = [line for line in str(entry["text"]).splitlines() if line.strip()]
            made += [Fate(line, kind, target, there, note) for line in lines]
        return tuple(made)

    # --- Applying -------------------------------------------------------------------------------------------------

    def _apply(self, edit: Edit) -> None:
        try:
            if edit.after is None:
                self._workspace.delete(edit.path)
            else:
                self._workspace.write(edit.path, edit.after)
        except (WorkspaceRefused, safefs.SafeFsError, OSError) as error:
            raise Refusal(str(error)) from error
        self._read.add(edit.path)
        self.edits.append(edit)

    @staticmethod
    def _told(edit: Edit, problems: tuple[str, ...]) -> str:
        did = "removed" if edit.after is None else ("made" if edit.before is None else "changed")
        told = f"{edit.path} is {did}."
        if problems:
            again = "Delete it again" if edit.after is None else AGAIN
            told += (
                f" But a quote could not be found: {'; '.join(problems)}. The change is marked as unproven. Look the words up. "
                f"{again} with the right quote, or take the change back."
            )
        return told


def _lines(text: str | None) -> set[str]:
    return {line.strip() for line in (text or "").splitlines() if line.strip()}


def _new_lines(edit: Edit) -> set[str]:
    return _lines(edit.after) - _lines(edit.before)


def _string(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise Refusal(f"`{key}` is missing, or is no text.")
    return value


def _reason(given: Mapping[str, Any]) -> str:
    reason = " ".join(_string(given, "reason").split())
    if not reason:
        raise Refusal("`reason` is empty. Say why, in one sentence.")
    return redact.redact(reason)[:1_000]


def _label(given: Mapping[str, Any]) -> str:
    label = given.get("operation")
    return redact.redact(" ".join(label.split()))[:100] if isinstance(label, str) else ""


def _kind(name: str, path: str, before: str | None, given: Mapping[str, Any]) -> OperationKind:
    stated = given.get("kind")
    if stated in KINDS:
        return cast(OperationKind, stated)
    if path == INDEX_NAME:
        return "index"
    if name == "Delete":
        return "prune"
    return "learn" if before is None else "update"
