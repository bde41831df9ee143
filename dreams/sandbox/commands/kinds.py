"""file: what a file seems to hold, by its first bytes, in fewer words than libmagic has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from dreams.safefs import SafeFsError

from ..errors import UsageError
from ..mounts import trouble
from ..options import Spec, read
from ..process import Process, Runner, is_folder, raw
from . import looks

_FILE = Spec(
    flags={"b": "b", "brief": "b", "i": "i", "mime": "i", "mime-type": "type"},
    why_not={
        "f": "file names are not taken from files",
        "files-from": "file names are not taken from files",
        "m": "only the built-in rules are on offer",
        "C": "it writes a file",
        "L": "links are never followed",
        "s": "devices are never opened",
    },
)
_HEAD = 64 * 1024
_BEGINNINGS = (
    (b"\x89PNG\r\n", "PNG image data", "image/png"),
    (b"\xff\xd8\xff", "JPEG image data", "image/jpeg"),
    (b"GIF8", "GIF image data", "image/gif"),
    (b"%PDF-", "PDF document", "application/pdf"),
    (b"PK\x03\x04", "Zip archive data", "application/zip"),
    (b"\x1f\x8b", "gzip compressed data", "application/gzip"),
    (b"\x7fELF", "ELF executable", "application/x-executable"),
    (b"SQLite format 3\0", "SQLite 3.x database", "application/vnd.sqlite3"),
)


def file(name: str, argv: list[str]) -> Runner:
    args = read(name, _FILE, argv)
    if not args.operands:
        raise UsageError("Usage: file [-b] [-i] FILE...")
    width = max(len(path) for path in args.operands) + 1
    mime = args.has("i") or args.has("type")

    def run(process: Process) -> Iterator[bytes]:
        for path in args.operands:
            words, kind = _told(process, path)
            shown = (kind if args.has("type") else _with_charset(kind)) if mime else words
            lead = "" if args.has("b") else f"{path + ':':<{width}} "
            yield raw(f"{lead}{shown}\n")

    return run


def _with_charset(kind: str) -> str:
    return kind if kind.startswith("cannot") else f"{kind}; charset={_charset(kind)}"


def _charset(kind: str) -> str:
    return "utf-8" if kind.startswith(("text/", "application/json")) else "binary"


def _told(process: Process, path: str) -> tuple[str, str]:
    try:
        stat = process.stat(path)
        if is_folder(stat):
            return "directory", "inode/directory"
        if looks.letter(stat) != "f":
            return looks.kind(stat), f"inode/{looks.kind(stat).split()[0]}"
        head = b""
        for chunk in process.chunks(path):
            head += chunk
            if len(head) >= _HEAD:
                break
    except (OSError, SafeFsError) as error:
        words = f"cannot open '{path}' ({trouble(error)})"
        return words, words
    return _by_bytes(head)


def _by_bytes(head: bytes) -> tuple[str, str]:
    if not head:
        return "empty", "inode/x-empty"
    for beginning, words, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return words, kind
    if b"\0" in head:
        return "data", "application/octet-stream"
    if _is_json(head):
        return "JSON text data", "application/json"
    return _text(head), "text/plain"


def _is_json(head: bytes) -> bool:
    first = head.strip().partition(b"\n")[0] if head.lstrip()[:1] in (b"{", b"[") else b""
    for text in (head, first):
        try:
            if text and isinstance(json.loads(text), dict | list):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _text(head: bytes) -> str:
    try:
        # The cut may stand in the middle of a character.
        head[: len(head) - 4 if len(head) >= _HEAD else None].decode("utf-8")
        words = "ASCII text" if head.isascii() else "Unicode text, UTF-8 text"
    except UnicodeDecodeError:
        words = "ISO-8859 text"
    script = re.match(rb"#! ?(\S+)", head)
    if script:
        words = f"{script[1].decode('ascii', 'replace')} script, {words} executable"
    longest = max(map(len, head.split(b"\n")))
    words += f", with very long lines ({longest})" if longest > 300 else ""
    if ended := head.count(b"\r\n"):
        mixed = ", LF" if head.count(b"\n") > ended else ""
        words += f", with CRLF{mixed} line terminators"
    elif b"\n" not in head:
        words += ", with no line terminators"
    return words


COMMANDS = {"file": file}
