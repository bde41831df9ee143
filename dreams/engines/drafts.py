"""Turns an engine's edits into hunks, grouped into operations. PURE: no Django, no disk.

The engine's edits are steps; a person decides on hunks. A hunk belongs to every edit that removed one of its
removed lines or added one of its added lines, even if a later edit changed the same line. Hunks that share an
edit's operation form one operation and are decided together."""

import functools
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from dreams.engines.types import Citation, Edit, Fate, FateKind, OperationKind
from dreams.lib import diff, memdir
from dreams.lib.files import text

#: Of two successive steps on a line, the one that keeps less wins: a line dated and then forgotten is forgotten.
_WEIGHT: tuple[FateKind, ...] = ("kept-in", "merged-into", "superseded-by", "stated")
_Line = tuple[str, str]  # path, text


class Lineage:
    """What the edits report about each line, in order."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._told: dict[_Line, list[tuple[int, Fate]]] = defaultdict(list)
        self._was: dict[_Line, list[str]] = defaultdict(list)
        #: By path: what is reported about a part of a line.
        self._parts: dict[str, list[tuple[int, Fate]]] = defaultdict(list)
        for place, edit in enumerate(edits):
            whole = {line.strip() for line in (edit.before or "").split("\n")} if edit.fates else set()
            for fate in edit.fates:
                about = fate.text.strip()
                self._told[edit.path, about].append((place, fate))
                if about and about not in whole:
                    self._parts[edit.path].append((place, fate))
                if fate.target_path == edit.path and fate.target_text:
                    self._was[edit.path, fate.target_text.strip()].append(about)

    def between(self, path: str, removed: Iterable[str], added: Iterable[str]) -> set[str]:
        """The states of these lines in between: what the removed ones became in this file, and what the added ones were."""
        ends = {*removed, *added}
        return (self._spread(path, removed, self._became) | self._spread(path, added, self._were)) - ends

    def fates(self, path: str, removed: Iterable[str]) -> list[Fate]:
        """The final fate of each removed line, then those of parts of them."""
        lines = dict.fromkeys(line.strip() for line in removed)
        told = [each for line in lines for each in self._told.get((path, line), ())]
        whole = text.one_line(" ".join(lines))  # a statement may go over several lines
        told += [each for each in self._parts.get(path, ()) if text.one_line(each[1].text) in whole]
        return [self._followed(place, fate) for place, fate in dict.fromkeys(told)]

    @staticmethod
    def _spread(path: str, lines: Iterable[str], step: Callable[[_Line], Sequence[str]]) -> set[str]:
        found, todo = set[str](), [*lines]
        while todo:
            new = [other for other in step((path, todo.pop())) if other not in found]
            found.update(new)
            todo += new
        return found

    def _were(self, line: _Line) -> Sequence[str]:
        return self._was.get(line, ())

    def _became(self, line: _Line) -> list[str]:
        path = line[0]
        return [
            f.target_text.strip()
            for _, f in self._told.get(line, ())
            if f.target_path == path and f.target_text
        ]

    def _followed(self, place: int, fate: Fate) -> Fate:
        seen: set[_Line] = set()
        while (line := (fate.target_path, fate.target_text.strip())) not in seen and line[1]:
            seen.add(line)
            later = next(((at, f) for at, f in self._told.get(line, ()) if at > place), None)
            if later is None:
                break
            place, other = later
            kind = max(fate.kind, other.kind, key=_WEIGHT.index)
            fate = replace(other, text=fate.text, kind=kind, note=other.note or fate.note)
        return fate


Item = TypeVar("Item")
MOST_EVIDENCE = 5  # quotes of one hunk
ChangeKind = Literal["add", "modify", "delete"]

# An operation made of several edits has the most informative of their kinds.
KIND_ORDER: tuple[OperationKind, ...] = (
    "update",
    "merge",
    "learn",
    "prune",
    "demote",
    "date",
    "edit",
    "copy",
    "restore",
    "undo",
    "index",
)


@dataclass(frozen=True, slots=True)
class DraftHunk:
    """A hunk with its evidence. `citations` has at most `MOST_EVIDENCE`, those about its lines first."""

    hunk: diff.Hunk
    operation: str
    citations: tuple[Citation, ...]
    fates: tuple[Fate, ...]

    @property
    def inputs_key(self) -> str:
        """Identifies its inputs: while they are unchanged, a rejected hunk is not proposed again."""
        said = sorted({f"{c.source}\0{c.quote}" for c in self.citations})
        return hashlib.sha256("\0\0".join(said).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class DraftFile:
    path: str
    kind: ChangeKind
    base: bytes | None
    new: bytes | None
    hunks: tuple[DraftHunk, ...]


@dataclass(frozen=True, slots=True)
class DraftOperation:
    key: str
    kind: OperationKind
    reason: str
    steps: frozenset[str] = frozenset()  # the engine's names of the operations in it


@dataclass(frozen=True, slots=True)
class Draft:
    files: tuple[DraftFile, ...] = ()
    operations: Mapping[str, DraftOperation] = field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()  # (path, hunk id)

    @property
    def is_empty(self) -> bool:
        return not self.files


def file_hunks(path: str, base: bytes | None, new: bytes | None) -> list[diff.Hunk]:
    """The hunks of one file. A file that is added, deleted or not text is one hunk; the rows of a new index are
    decided one by one."""
    before, after = text.decode(base or b""), text.decode(new or b"")
    whole = base is None or new is None or not (text.is_utf8(base) and text.is_utf8(new))
    cut: diff.Granularity = "rows" if is_new_index(path, base, new) else "block" if whole else "unit"
    found = diff.hunks(before, after, path=path, granularity=cut)
    if found or not whole or base == new:
        return found
    # An empty file that is added or deleted has no differing line, but is still a change to decide on.
    name = hashlib.sha256(f"{path}\0{base is None}\0{new is None}".encode()).hexdigest()[:12]
    return [diff.Hunk(name, 0, (), 0, ())]


def is_new_index(path: str, base: bytes | None, new: bytes | None) -> bool:
    """Whether it is an index that does not exist yet or is empty; accepting any of its rows creates it."""
    return path == memdir.INDEX_NAME and not base and new is not None and text.is_utf8(new)


def change_kind(base: bytes | None, new: bytes | None) -> ChangeKind:
    if base is None:
        return "add"
    return "delete" if new is None else "modify"


def draft(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    edits: Sequence[Edit],
    rejected: Mapping[tuple[str, str], str] | None = None,
) -> Draft:
    """Everything that differs between `before` and `after`, grouped by operation.

    `rejected` maps (path, hunk id) to the inputs key under which it was rejected: such a hunk is omitted
    with the rest of its operation while its inputs are the same.
    """
    made = _assemble(before, after, edits)
    dropped = {
        hunk.operation
        for file in made.files
        for hunk in file.hunks
        if rejected and rejected.get((file.path, hunk.hunk.id)) == hunk.inputs_key
    }
    if not dropped:
        return made
    again = _assemble(before, only(made, before, made.operations.keys() - dropped), edits)
    left_out = ((file.path, h.hunk.id) for file in made.files for h in file.hunks if h.operation in dropped)
    return Draft(again.files, again.operations, tuple(left_out))


def only(made: Draft, before: Mapping[str, bytes], operations: Iterable[str]) -> dict[str, bytes]:
    """The directory with only these operations of `made` applied."""
    wanted = set(operations)
    after = dict(before)
    for file in made.files:
        chosen = {hunk.hunk.id: hunk.operation in wanted for hunk in file.hunks}
        data = rebuild(file.base, file.new, [hunk.hunk for hunk in file.hunks], chosen)
        if data is None:
            after.pop(file.path, None)
        else:
            after[file.path] = data
    return after


def rebuild(
    base: bytes | None,
    new: bytes | None,
    hunks: Sequence[diff.Hunk],
    chosen: Mapping[str, diff.Choice],
) -> bytes | None:
    """The file with the chosen hunks applied (True, or a replacement text); None if there is no such file."""
    taken = [hunk for hunk in hunks if chosen.get(hunk.id, False) is not False]
    if base is None and not taken:
        return None
    if new is None and taken and all(chosen[hunk.id] is True for hunk in taken):
        return None
    if not hunks:
        return base
    return text.encode(diff.apply_hunks(text.decode(base or b""), hunks, {h.id: chosen[h.id] for h in taken}))


def _assemble(before: Mapping[str, bytes], after: Mapping[str, bytes], edits: Sequence[Edit]) -> Draft:
    lines = functools.cache(lambda path: text.decode(before.get(path, b"")).split("\n"))
    edits = [replace(edit, citations=tuple(_at_base(c, lines) for c in edit.citations)) for edit in edits]
    steps = [_Step.of(edit) for edit in edits]
    told = Lineage(edits)
    groups, index_rows = _Groups(), _IndexRows(before, after, edits)
    _link_chains(steps, groups)
    of_path: dict[str, list[_Step]] = defaultdict(list)
    for step in steps:
        of_path[step.edit.path].append(step)
    loose: list[_LooseFile] = []
    for path in sorted(before.keys() | after.keys()):
        base, new = before.get(path), after.get(path)
        if base == new:
            continue
        matched = [(hunk, _steps_of(path, hunk, of_path[path], told)) for hunk in file_hunks(path, base, new)]
        for hunk, own in matched:
            memory = index_rows.memory(path, hunk, own)
            tied = [f"file:{memory}"] if memory else [step.edit.operation for step in own]
            comes = base is None and not is_new_index(path, base, new)
            whole = [f"file:{path}"] if comes or new is None else []
            groups.join([f"hunk:{path}:{hunk.id}", *tied, *whole])
        loose.append((path, base, new, matched))
    _link_renames(loose, groups)
    files = tuple(
        DraftFile(
            path,
            change_kind(base, new),
            base,
            new,
            tuple(_draft_hunk(path, h, own, groups, told) for h, own in matched),
        )
        for path, base, new, matched in loose
    )
    return Draft(files, _operations(files, steps, groups))


def _at_base(citation: Citation, lines_of: Callable[[str], Sequence[str]]) -> Citation:
    """The citation with its line number in the person's file: the engine's earlier steps moved lines in its copy."""
    told, line_no = citation.quote.split("\n")[0].strip(), citation.line_no
    if citation.source != "memory" or not line_no or not told:
        return citation
    places = [number for number, line in enumerate(lines_of(citation.place), 1) if told in line]
    nearest = min(places, key=lambda number: abs(number - line_no), default=line_no)
    return replace(citation, line_no=nearest)


def _draft_hunk(
    path: str, hunk: diff.Hunk, own: "Sequence[_Step]", groups: "_Groups", told: Lineage
) -> DraftHunk:
    citations = _own_evidence(hunk, _unique(citation for step in own for citation in step.edit.citations))
    fates = _unique(told.fates(path, hunk.removed.split("\n")))
    return DraftHunk(hunk, groups.key(f"hunk:{path}:{hunk.id}"), citations, fates)


def _own_evidence(hunk: diff.Hunk, citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """The citations that support these lines first, at most `MOST_EVIDENCE`: nobody reads seventy quotes."""
    lines = hunk.removed + hunk.added

    def is_elsewhere(citation: Citation) -> bool:
        return citation.source == "memory" and citation.quote.strip() not in lines

    return tuple(sorted(citations, key=is_elsewhere)[:MOST_EVIDENCE])


def _unique(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(items))


def _operations(
    files: Iterable[DraftFile], steps: "Sequence[_Step]", groups: "_Groups"
) -> dict[str, DraftOperation]:
    """One operation per group that still has a hunk, with its most informative kind and all its reasons."""
    used = _unique(hunk.operation for file in files for hunk in file.hunks)
    edits: dict[str, list[Edit]] = defaultdict(list)
    for step in steps:
        edits[groups.key(step.edit.operation)].append(step.edit)
    made: dict[str, DraftOperation] = {}
    for key in used:
        own = edits.get(key, [])
        if not own:
            made[key] = DraftOperation(key, "edit", "Changed by hand.")
            continue
        kind = min((edit.kind for edit in own), key=KIND_ORDER.index)
        own.sort(key=lambda edit: KIND_ORDER.index(edit.kind))
        reason = " ".join(_unique(edit.reason for edit in own))
        made[key] = DraftOperation(key, kind, reason, frozenset(edit.operation for edit in own))
    return made


@dataclass(frozen=True, slots=True)
class _Step:
    """An edit with the lines that it removed and added."""

    edit: Edit
    removed: frozenset[str]
    added: frozenset[str]

    @classmethod
    def of(cls, edit: Edit) -> "_Step":
        changed = diff.hunks(edit.before or "", edit.after or "", path=edit.path)
        return cls(
            edit,
            frozenset(_telling(line for hunk in changed for line in hunk.base_lines)),
            frozenset(_telling(line for hunk in changed for line in hunk.new_lines)),
        )


_LooseFile = tuple[str, bytes | None, bytes | None, list[tuple[diff.Hunk, list[_Step]]]]


def _telling(lines: Iterable[str]) -> Iterable[str]:
    """Leaves out blank lines and rules: they are everywhere and would tie unrelated edits together."""
    bare = (line.strip() for line in lines)
    return (line for line in bare if any(map(str.isalnum, line)))


def _steps_of(path: str, hunk: diff.Hunk, steps: list[_Step], told: Lineage) -> list[_Step]:
    """The steps on this file that made the hunk."""
    removed, added = set(_telling(hunk.base_lines)), set(_telling(hunk.new_lines))
    between = set(_telling(told.between(path, removed, added)))
    own = [
        step
        for step in steps
        if step.removed & removed or step.added & added or (step.removed | step.added) & between
    ]
    if own or removed or added:
        return own
    # A hunk of only blank lines belongs to the last step on the file.
    return steps[-1:]


def _link_chains(steps: Sequence[_Step], groups: "_Groups") -> None:
    """Joins an edit with the earlier edit whose line it changes: they cannot be decided separately."""
    wrote: dict[tuple[str, str], str] = {}
    for step in steps:
        earlier = [wrote[step.edit.path, line] for line in step.removed if (step.edit.path, line) in wrote]
        groups.join([step.edit.operation, *earlier])
        wrote.update({(step.edit.path, line): step.edit.operation for line in step.added})


def _link_renames(changed: Sequence[_LooseFile], groups: "_Groups") -> None:
    """Makes a rename one decision: with only half of it the file would be lost, or exist twice."""
    gone = {path: text.decode(base) for path, base, new, _ in changed if base is not None and new is None}
    come = {path: text.decode(new) for path, base, new, _ in changed if base is None and new is not None}
    names = {path: [f"hunk:{path}:{hunk.id}" for hunk, _ in matched] for path, _, _, matched in changed}
    for new_path, old_path in diff.renamed(gone, come).items():
        groups.join([*names[old_path], *names[new_path]])


class _IndexRows:
    """Which memory an index row is decided with: the one it points to, if that file is added or deleted.

    Only for rows that the engine wrote in separate steps; others already belong to an operation.
    """

    def __init__(
        self, before: Mapping[str, bytes], after: Mapping[str, bytes], edits: Sequence[Edit]
    ) -> None:
        self._whole = before.keys() ^ after.keys()
        self._elsewhere = {edit.operation for edit in edits if edit.path != memdir.INDEX_NAME}

    def memory(self, path: str, hunk: diff.Hunk, own: Sequence[_Step]) -> str:
        """Its path; empty if the hunk is not such a row."""
        if path != memdir.INDEX_NAME or any(step.edit.operation in self._elsewhere for step in own):
            return ""
        rows = memdir.parse_index("".join((*hunk.base_lines, *hunk.new_lines))).rows
        targets = {row.target for row in rows}
        return next(iter(targets)) if len(targets) == 1 and targets <= self._whole else ""


class _Groups:
    """Union-find over names; a group's key is derived from its smallest member, so it is stable."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def _find(self, name: str) -> str:
        self._parent.setdefault(name, name)
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def join(self, names: Sequence[str]) -> None:
        first = self._find(names[0])
        for other in names[1:]:
            second = self._find(other)
            if first != second:
                first, second = min(first, second), max(first, second)
                self._parent[second] = first

    def key(self, name: str) -> str:
        return hashlib.sha256(self._find(name).encode("utf-8", "surrogatepass")).hexdigest()[:12]
