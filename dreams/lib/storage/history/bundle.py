"""Export and import: the complete history as one git bundle (v2), which `git clone FILE` can read."""

import hashlib
import os
import re
from pathlib import Path
from typing import BinaryIO

from dulwich.object_format import DEFAULT_OBJECT_FORMAT
from dulwich.objects import ObjectID
from dulwich.pack import write_pack_data
from dulwich.refs import HEADREF

from dreams.lib.storage.history.purge import purged
from dreams.lib.storage.history.upkeep import reachable, verify

from . import durable, gitrepo
from .gitrepo import INDEX, MAIN, REFS, GitRepo
from .model import HistoryError

_SIGNATURE = b"# v2 git bundle\n"
_REF = re.compile(rb"([0-9a-f]{40}) (\S+)\n")
_LINE = 1000  # bytes of a line of the head; chosen
_CHUNK = 1 << 20  # read at once; chosen
_DIGEST = 20  # bytes of a SHA-1 at the end of a pack


def export(repo: GitRepo, file: Path) -> None:
    """Writes a complete bundle with mode 0600, or none. Raises HistoryError if there is nothing to export."""
    heads = {name: oid for name in REFS if (oid := repo.ref(name))}
    if not heads:
        raise HistoryError(f"{repo.path} has no versions yet; there is nothing to export")
    oids = reachable(repo, heads.values())
    # Git checks out HEAD, so it is first.
    lines = [(HEADREF, heads[MAIN])] if MAIN in heads else []
    header = b"".join(oid + b" " + name + b"\n" for name, oid in [*lines, *heads.items()])

    def write(out: BinaryIO) -> None:
        out.write(_SIGNATURE + header + b"\n")
        write_pack_data(out.write, repo.records(oids), DEFAULT_OBJECT_FORMAT, num_records=len(oids))

    durable.write_file(file, write)


def restore(path: Path, file: Path) -> None:
    """Makes the history at `path` from a bundle: complete and verified, or not at all.

    Raises HistoryError for a damaged file, and if `path` already has a history.
    """
    with file.open("rb") as source:
        gitrepo.build(path, lambda repo: _fill(repo, source, file), keep=False)


def _fill(repo: GitRepo, source: BinaryIO, file: Path) -> None:
    heads = _header(source, file)
    # Verifies the pack's checksum and seeks back to its start.
    start = source.tell()
    left = source.seek(0, os.SEEK_END) - start - _DIGEST
    source.seek(start)
    digest = hashlib.sha1(usedforsecurity=False)
    while left > 0 and (chunk := source.read(min(_CHUNK, left))):
        digest.update(chunk)
        left -= len(chunk)
    if source.read() != digest.digest():
        raise _damaged(file, "its checksum does not match; it is cut short or changed")
    source.seek(start)
    try:
        repo.add_pack(iter(lambda: source.read(_CHUNK), b""))
    except OSError:  # errors of the disk that we write to
        raise
    except Exception as error:  # dulwich raises a dozen kinds on bad bytes; all mean damage here
        raise _damaged(file, f"its pack cannot be read ({error})") from error
    for name in REFS:
        if name in heads:
            repo.move_ref(name, None, heads[name])
    if problems := verify(repo):
        raise _damaged(file, problems[0].what)
    try:
        purged(repo)
    except HistoryError as error:
        raise _damaged(file, "its list of purged texts cannot be read") from error


def _header(source: BinaryIO, file: Path) -> dict[bytes, ObjectID]:
    if source.readline(_LINE) != _SIGNATURE:
        raise _damaged(file, "it does not begin as a git bundle of version 2")
    heads: dict[bytes, ObjectID] = {}
    while (line := source.readline(_LINE)) != b"\n":
        match = _REF.fullmatch(line)
        if not match or match[2] not in (HEADREF, *REFS):
            raise _damaged(file, f"its header has the unknown line {line[:80]!r}")
        heads[match[2]] = ObjectID(match[1])
    if INDEX not in heads or heads.pop(HEADREF, None) != heads.get(MAIN):
        raise _damaged(file, "its header does not name what an export holds")
    return heads


def _damaged(file: Path, why: str) -> HistoryError:
    return HistoryError(f"{file} is no whole export: {why}; export again or use another copy")
