"""Converts between the files of a memory directory and the git trees of one state, with a manifest of modes, mtimes and
sha256s; and the index sha256 → git blob, stored in the repository.

The manifest is JSON with one entry per line, so that an ordinary `git diff` of two states stays readable. Names that are not
UTF-8 are stored with JSON's lone surrogates.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree

from dreams.lib.files.seen import storable_ns
from dreams.lib.files.text import decode, one_line
from dreams.lib.storage.history.gitrepo import FILE, FOLDER, INDEX, GitRepo
from dreams.lib.storage.history.model import HistoryDamaged, HistoryNewer, ManifestEntry, Meta

FORMAT = 1  # of files stored next to a tree
LATEST = 2**37  # seconds of a commit's time, in the year 6325: a page can still add a time zone; chosen
MANIFEST = b"manifest.json"
MEMORY = b"memory"
#: Files that git refuses to check out by their names (`.git` and its spellings) live here, by a hash of the path.
ODD_NAMES = b"odd-names"

Location: TypeAlias = tuple[bytes, ...]

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
# Git refuses `.git` in any case, its NTFS short name and stream, trailing dots and spaces, and HFS+'s ignorables.
_ODD = re.compile(r"(\.git|git~\d+)([ .]*\Z|[ .]*:|\\)", re.IGNORECASE)
_IGNORABLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def is_sha256(text: str) -> bool:
    """Whether `text` is a sha256 in lower-case hexadecimal digits."""
    return bool(_SHA256.match(text))


def location(path: str) -> Location:
    """The tree entry of a memory path, as names from the commit's root.

    Raises ValueError for a path that does not stay below the memory directory.
    """
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{path!r} is no path below a memory directory")
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError(f"{path!r} is no file name on this system") from error
    if any(_ODD.match(_IGNORABLE.sub("", part)) for part in parts):
        return (ODD_NAMES, hashlib.sha256(raw).hexdigest().encode())
    return (MEMORY, *raw.split(b"/"))


def dump(entries: Mapping[str, ManifestEntry]) -> bytes:
    """The manifest's bytes, the same for equal entries."""
    lines = [
        f"{json.dumps(path)}: {json.dumps(_to_json(entry))}"
        for path, entry in sorted(
            entries.items(), key=lambda item: item[0].encode("utf-8", "surrogateescape")
        )
    ]
    body = ",\n".join(lines)
    return f'{{"format": {FORMAT}, "entries": {{\n{body}\n}}}}\n'.encode()


def load(raw: bytes) -> dict[str, ManifestEntry]:
    """Path → entry. Raises HistoryDamaged if it is not our manifest, or has a path outside."""
    try:
        document = json.loads(decode(raw))
        if document["format"] != FORMAT:
            raise HistoryNewer(f"manifest format {document['format']} is newer than this program; update it")
        return {path: _from_json(path, value) for path, value in document["entries"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HistoryDamaged(f"a manifest cannot be read ({error})") from error


def _to_json(entry: ManifestEntry) -> dict[str, object]:
    value: dict[str, object] = {}
    if entry.sha256 is not None:
        value |= {"sha256": entry.sha256, "size": entry.size}
    if entry.meta is not None:
        value |= {"mode": f"{entry.meta.mode:04o}", "mtime_ns": entry.meta.mtime_ns}
    return value


def _from_json(path: str, value: dict[str, object]) -> ManifestEntry:
    sha256 = value.get("sha256")
    if sha256 is not None and not is_sha256(str(sha256)):
        raise ValueError(f"{sha256!r} is no sha256")
    if path or sha256 is not None:  # "" is the memory directory itself
        location(path)
    return ManifestEntry(
        None if sha256 is None else str(sha256), _integer(value.get("size", 0)), _meta(value)
    )


def _meta(value: dict[str, object]) -> Meta | None:
    if "mode" not in value:
        return None
    return Meta(int(str(value["mode"]), 8) & 0o7777, storable_ns(_integer(value["mtime_ns"])))


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no whole number")
    return value


_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}\Z")


def to_bytes(text: str) -> bytes:
    """The text in UTF-8, with the original bytes of undecodable names; NUL, which git forbids, is removed."""
    text = text.replace("\0", "")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that is no undecodable byte
        return text.encode("utf-8", "replace")


def message(subject: str, trailers: Mapping[str, str]) -> bytes:
    """The bytes of a commit message.

    Raises ValueError for a trailer name that git could not read back.
    """
    lines = [one_line(subject.replace("\0", "")) or "(no message)", ""]
    for key, value in trailers.items():
        if not _KEY.match(key):
            raise ValueError(f"{key!r} is no trailer name; use letters, digits and hyphens")
        first, *more = value.split("\n")
        # Git continues a trailer on a line with a leading space; a blank line would end the trailers.
        lines += [f"{key}: {first}", *(f" {_guarded(line)}" for line in more)]
    return to_bytes("\n".join(lines) + "\n")


def read_message(raw: bytes) -> tuple[str, dict[str, str]]:
    """Subject and trailers; lines of a foreign commit that are no trailers are ignored."""
    subject, _, body = decode(raw).removesuffix("\n").partition("\n\n")
    trailers: dict[str, str] = {}
    key = ""
    for line in body.split("\n"):
        name, colon, value = line.partition(": ")
        if line.startswith(" ") and key:
            trailers[key] += "\n" + line[1:].removeprefix(".")
        elif colon and _KEY.match(name):
            key = name
            trailers[key] = value
    return one_line(subject), trailers


def identity(author: str) -> bytes:
    """`author` as git's `Name <address>`; a plain name gets an address that leads nowhere."""
    name = re.sub(r"[<>\r\n]", " ", author).strip() or "unknown"
    return to_bytes(name) + b" <memoryweb@localhost>"


def moment_of(commit: Commit) -> datetime:
    """When a state was stored. Raises HistoryDamaged for a time that a foreign program or a damage made."""
    if not 0 <= commit.commit_time <= LATEST:
        raise HistoryDamaged(f"commit {commit.id.decode()} has an impossible time, {commit.commit_time}")
    return datetime.fromtimestamp(commit.commit_time, UTC)


def author_of(raw: bytes) -> str:
    """The name in a git identity."""
    return decode(raw.rpartition(b" <")[0] or raw)


def _guarded(line: str) -> str:
    return f".{line}" if not line.strip() or line.startswith(".") else line


class Index:
    """The index at one commit of its ref; its folders (by the first two digits) are read on demand."""

    def __init__(self, repo: GitRepo | None) -> None:
        """`repo` is None for a repository that does not exist yet."""
        self._repo = repo
        self.head = repo.ref(INDEX) if repo else None
        self._root = repo.tree(repo.commit(self.head).tree) if repo and self.head else Tree()
        self._shelves: dict[bytes, dict[bytes, ObjectID]] = {}

    def get(self, sha256: str) -> ObjectID | None:
        """The blob of the text with this sha256."""
        return self._shelf(sha256[:2].encode()).get(sha256[2:].encode())

    def items(self) -> Iterator[tuple[str, ObjectID]]:
        """Every stored sha256 with its blob."""
        for entry in self._root.iteritems():
            for rest, blob in self._shelf(entry.path).items():
                yield (entry.path + rest).decode("ascii", "replace"), blob

    def changed(self, add: Mapping[str, ObjectID], drop: frozenset[str] = frozenset()) -> list[ShaFile]:
        """The objects of the index with `add` added and `drop` removed; the last one is its commit.

        Empty if the index does not change.
        """
        root = Tree()
        for entry in self._root.iteritems():
            root.add(entry.path, entry.mode, entry.sha)
        objects: list[ShaFile] = []
        for name in sorted({sha256[:2] for sha256 in (*add, *drop)}):
            shelf = self._shelf_tree(name, add, drop)
            if len(shelf):
                root[name.encode()] = (FOLDER, shelf.id)
                objects.append(shelf)
            elif name.encode() in root:
                del root[name.encode()]
        if self.head and root.id == self._root.id:
            return []
        return [*objects, root, timeless(root, b"Texts kept by their sha256\n")]

    def _shelf(self, name: bytes) -> dict[bytes, ObjectID]:
        if name not in self._shelves:
            repo = self._repo if name in self._root else None
            entries = repo.tree(self._root[name][1]).iteritems() if repo else ()
            self._shelves[name] = {entry.path: entry.sha for entry in entries}
        return self._shelves[name]

    def _shelf_tree(self, name: str, add: Mapping[str, ObjectID], drop: frozenset[str]) -> Tree:
        tree = Tree()
        for rest, blob in self._shelf(name.encode()).items():
            if name + rest.decode("ascii", "replace") not in drop:
                tree.add(rest, FILE, blob)
        for sha256, blob in add.items():
            if sha256.startswith(name):
                tree.add(sha256[2:].encode(), FILE, blob)
        return tree


def timeless(tree: Tree, message: bytes) -> Commit:
    """The commit of a tree; always the same one, so that a repeated update changes nothing."""
    return new_commit(tree.id, None, message, 0, "memoryweb")


def new_commit(tree: ObjectID, parent: ObjectID | None, message: bytes, at: int, author: str) -> Commit:
    """A commit that is not stored yet; `at` in seconds since 1970."""
    commit = Commit()
    commit.tree = tree
    commit.parents = [parent] if parent else []
    commit.author = commit.committer = identity(author)
    commit.author_time = commit.commit_time = at
    commit.author_timezone = commit.commit_timezone = 0
    commit.message = message
    return commit


# --- Trees -----------------------------------------------------------------------------------------------------------


def entries(files: Mapping[str, bytes], metas: Mapping[str, Meta]) -> dict[str, ManifestEntry]:
    """The manifest of a state. Raises ValueError for a path that cannot be below a memory directory."""
    found = {path: ManifestEntry(None, 0, meta) for path, meta in metas.items()}
    for path, data in files.items():
        found[path] = ManifestEntry(hashlib.sha256(data).hexdigest(), len(data), metas.get(path))
    for path, entry in found.items():
        if path or entry.sha256:
            location(path)
    return found


def build(found: Mapping[str, ManifestEntry], blobs: Mapping[str, ObjectID]) -> list[ShaFile]:
    """The manifest's blob and the trees of a state, children before parents; the root is the last one.

    Raises ValueError if a path is both a file and a directory.
    """
    kept = Blob.from_string(dump(found))
    top: dict[tuple[bytes, ...], Tree] = {(): Tree()}
    top[()].add(MANIFEST, FILE, kept.id)
    for path, entry in found.items():
        if entry.sha256:
            *folders, name = location(path)
            _put(top, tuple(folders), name, FILE, blobs[entry.sha256], path)
    objects: list[ShaFile] = [kept]
    for where in sorted(top, key=len, reverse=True):
        objects.append(top[where])
        if where:
            _put(top, where[:-1], where[-1], FOLDER, top[where].id, "")
    return objects


def _put(
    top: dict[tuple[bytes, ...], Tree],
    where: tuple[bytes, ...],
    name: bytes,
    mode: int,
    oid: ObjectID,
    path: str,
) -> None:
    for depth in range(len(where) + 1):
        top.setdefault(where[:depth], Tree())
    if name in top[where] or (mode == FILE and (*where, name) in top):
        raise ValueError(f"{path or name!r} is both a file and a directory")
    top[where].add(name, mode, oid)


def find(repo: GitRepo, root: ObjectID, where: Location) -> ObjectID | None:
    """The blob at a path in a state, None if there is none."""
    oid = root
    for depth, name in enumerate(where, start=1):
        tree = repo.tree(oid)
        if name not in tree:
            return None
        mode, oid = tree[name]
        if (mode == FOLDER) == (depth == len(where)):
            return None
    return oid


def manifest_of(repo: GitRepo, commit: Commit) -> dict[str, ManifestEntry]:
    oid = find(repo, commit.tree, (MANIFEST,))
    if oid is None:
        raise HistoryDamaged(f"commit {commit.id.decode()} has no manifest; import an export of this history")
    return load(repo.blob(oid))


def flat(repo: GitRepo, root: ObjectID) -> dict[Location, ObjectID]:
    """Every file of a state with its blob."""
    files: dict[Location, ObjectID] = {}
    waiting: list[tuple[Location, ObjectID]] = [((), root)]
    while waiting:
        where, oid = waiting.pop()
        for entry in repo.tree(oid).iteritems():
            place = (*where, entry.path)
            if entry.mode == FOLDER:
                waiting.append((place, entry.sha))
            else:
                files[place] = entry.sha
    return files
