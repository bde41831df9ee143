"""The memories as the steps read them, and the only way in which a step changes them. Pure but for the workspace."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from dreams.engines.rules.notes.days import names_a_day
from dreams.engines.types import Citation, Edit, Fate, OperationKind, Reporter
from dreams.lib import memdir
from dreams.lib.files import text as texts
from dreams.lib.files.workspace import MAX_FILE_BYTES, TrialWorkspace, Workspace

# These only change a line in place.
_KEEPING: frozenset[OperationKind] = frozenset({"date", "edit"})
_DAILY = re.compile(r"(?:19|20)\d\d(?:-\d\d-\d\d(?!\d)|[01]\d[0-3]\d(?!\d)|-[Ww]\d\d(?!\d)|(?:-\d\d)?\.md)")
Files = Workspace | TrialWorkspace


class Tree:
    """All Markdown files of the scratch copy, as text. Steps read here and write through `Recorder`."""

    def __init__(self, workspace: Files, report: Reporter, hand_edited: Collection[str] = ()) -> None:
        self.workspace = workspace
        self.hand_edited = frozenset(hand_edited)
        self._editable = frozenset(workspace.editable())
        self.texts: dict[str, str] = {}
        self._documents: dict[str, memdir.Document] = {}
        for path in workspace.paths():
            report.checkpoint()
            if path.endswith(".md"):
                self.texts[path] = workspace.read(path) or ""

    def put(self, path: str, text: str | None) -> None:
        self._documents.pop(path, None)
        if text is None:
            self.texts.pop(path, None)
        else:
            self.texts[path] = text

    def document(self, path: str) -> memdir.Document:
        found = self._documents.get(path)
        if found is None:
            found = self._documents[path] = memdir.parse(texts.encode(self.texts[path]))
        return found

    def kind(self, path: str) -> str | None:
        return memdir.memory_type(self.document(path), path)

    def is_rule(self, path: str) -> bool:
        """Whether a memory is about what its person wants or who they are."""
        return self.kind(path) in {"feedback", "user"}

    def pinned(self, path: str) -> bool:
        front = self.document(path).frontmatter
        return front is not None and front.pinned

    def settled(self, path: str) -> bool:
        """Whether a memory is pinned or was edited by hand in the last week, and so is not changed without asking."""
        return path in self.hand_edited or self.pinned(path)

    def writable(self, path: str) -> bool:
        """Whether this path, existing or new, may be written."""
        return path in self._editable or not self.workspace.read_only_because(path)

    def free(self, path: str, *, team: bool = False) -> bool:
        """Whether a memory may be merged, reworded and added to: writable, not settled, not shared (unless `team`), not a daily log."""
        return (
            path in self.texts
            and self.writable(path)
            and (team or not is_team(path))
            and not is_daily(path)
            and not self.settled(path)
        )

    def rewordable(self, path: str) -> bool:
        """Whether a value in the file may be changed without asking; this includes team memory."""
        return path in self.indexes() if is_index(path) else self.free(path, team=True)

    def memories(self) -> list[str]:
        """All topic files, including shared and pinned ones, without indexes and logs."""
        return [path for path in sorted(self.texts) if not is_index(path) and not is_log(path)]

    def topics(self) -> list[str]:
        """The topic files that a step may change."""
        return [path for path in self.memories() if self.free(path)]

    def indexes(self) -> list[str]:
        """The index and the shared one, where they exist and may be changed."""
        return [
            path for path in (memdir.INDEX_NAME, TEAM_INDEX) if path in self.texts and self.writable(path)
        ]


TEAM_INDEX = f"team/{memdir.INDEX_NAME}"


is_index, is_team, is_log = memdir.is_index, memdir.is_team, memdir.is_log


def is_daily(path: str) -> bool:
    """Whether a file is named by a day, week, month or year: it is a log of that time, whatever its folder."""
    return _DAILY.match(PurePosixPath(path).name) is not None


@dataclass(frozen=True, slots=True)
class NewText:
    """The new text of one file (None: remove it), and the reason."""

    path: str
    after: str | None
    reason: str
    fates: tuple[Fate, ...] = ()
    citations: tuple[Citation, ...] = ()


@dataclass
class Recorder:
    """Writes operations to the workspace and records them as edits: all changes of an operation or none."""

    tree: Tree
    report: Reporter
    edits: list[Edit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _counted: dict[str, Counter[str]] = field(default_factory=dict)
    _made: list[str] = field(default_factory=list)  # operations not counted yet

    @property
    def counts(self) -> Counter[str]:
        """What was done so far by kind, without operations that were undone."""
        return sum(self._counted.values(), Counter[str]())

    def count(self, what: str, number: int) -> None:
        """Add `number` for the operations since the last count: one for each, or all to the last one if the numbers differ."""
        own = self._made[-number:] if number == len(self._made) else self._made[-1:]
        for name in own if number else ():
            self._counted.setdefault(name, Counter())[what] += number // len(own)
        self._made.clear()

    def take_back(self, operations: Collection[str]) -> None:
        """No longer count these operations. Their edits stay listed."""
        for name in operations:
            self._counted.pop(name, None)

    def operation(self, kind: OperationKind, changes: Sequence[NewText], key: str = "") -> bool:
        """Make the changes, each on the current text. False, and nothing is done, if one is not possible."""
        self.report.checkpoint()
        real = [change for change in changes if self.tree.texts.get(change.path) != change.after]
        if not real or not all(self._possible(change) for change in real):
            return False
        if kind not in _KEEPING and any(self._moves_a_day(change) for change in real):
            return False
        name = f"{kind}:{key or digest(*(part for c in real for part in (c.path, c.after or '')))}"
        for change in real:
            self._make(change, name, kind)
        self._made.append(name)
        return True

    def _possible(self, change: NewText) -> bool:
        if not self.tree.writable(change.path):
            return False
        try:
            return change.after is None or len(texts.encode(change.after)) <= MAX_FILE_BYTES
        except UnicodeEncodeError:
            return False

    def _moves_a_day(self, change: NewText) -> bool:
        """Whether it writes a line with "yesterday" anew, which would then mean another day."""
        old = Counter((self.tree.texts.get(change.path) or "").split("\n"))
        return any(names_a_day(line) for line in Counter((change.after or "").split("\n")) - old)

    def put(self, path: str, after: str | None) -> None:
        if after is None:
            self.tree.workspace.delete(path)
        else:
            self.tree.workspace.write(path, after)
        self.tree.put(path, after)

    def _make(self, change: NewText, name: str, kind: OperationKind) -> None:
        path, before = change.path, self.tree.texts.get(change.path)
        self.put(path, change.after)
        self.edits.append(
            Edit(path, before, change.after, name, kind, change.reason, change.citations, change.fates)
        )

    def note(self, sentence: str) -> None:
        """Add a sentence to the summary, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)


def lines_gone(before: str, after: str, note: str) -> tuple[Fate, ...]:
    """Ledger entries for the removed lines of a text, each with the reason."""
    gone = Counter(before.split("\n")) - Counter(after.split("\n"))
    return tuple(Fate(line.rstrip("\r"), "stated", note=note) for line in gone if line.strip())


def lines_changed(before: str, after: str, path: str) -> tuple[Fate, ...]:
    """Ledger entries for lines that were changed in place."""
    pairs = zip(before.split("\n"), after.split("\n"), strict=True)
    return tuple(Fate(old.rstrip("\r"), "kept-in", path, new.strip()) for old, new in pairs if old != new)


def digest(*parts: str) -> str:
    return hashlib.sha256("\0\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def from_memory(path: str, line_no: int, quote: str, note: str = "") -> Citation:
    """Evidence from a memory itself."""
    return Citation("memory", quote[:1000], place=path, line_no=line_no, note=note)
