"""Adds memoryweb's hook to an agent's settings file after the diff was confirmed, and removes it again on request.

The only file outside memory directories and the data directory that memoryweb writes. It is read again under a lock, and
nothing is written if it changed since the diff was shown.
"""

import codecs
import copy
import datetime as dt
import difflib
import json
import logging
import os
import re
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import filelock
from django.conf import settings
from django.utils import timezone

from dreams.lib.files import flush, safefs, text
from dreams.lib.refusal import Refusal
from dreams.services import auditlog
from memoryweb import BASE_DIR, IS_SOURCE, datadir

log = logging.getLogger(__name__)

UTF8 = "utf-8-sig"  # with or without the mark that some editors begin a file with
NAME = "settings.json"
EVENT = "SessionEnd"
VERBS = ["hook", "session-end"]
TIMEOUT = 1  # timeout of the command in seconds; it needs at most half a second
BACKUPS_KEPT = 5  # the newest; chosen
MOST_BYTES = 1024 * 1024  # of a settings file; chosen
LOCK_SECONDS = 5.0  # that a person waits for another of our processes
SLOW_LOCK = 0.1  # seconds, above which it is reported; chosen
Values = dict[str, Any]
_CLOSER = re.compile(r"[\]}]")
_OURS = re.compile(rf'\{{|"(?:hooks|{EVENT})"\s*:\s*')  # where a part begins that may be ours
MOST_PLACES = 1_000  # of a text that are tried; chosen


class SettingsRefused(Refusal):
    """The file was left as it is; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """The proposed settings of a config folder. `shown` identifies the state that the diff is based on."""

    path: Path
    before: str
    after: str
    shown: str

    @property
    def is_empty(self) -> bool:
        return self.before == self.after

    @property
    def diff(self) -> list[str]:
        """Its lines, each with a sign: "+", "-" or a space."""
        lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), lineterm="", n=3)
        return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def with_hook(root: Path) -> SettingsChange:
    """The settings of a config folder with our entry. Raises SettingsRefused."""
    return _change(root, _added)


def without_hook(root: Path) -> SettingsChange:
    """The same settings without our entry, and with everything else. Raises SettingsRefused."""
    return _change(root, _removed)


def command() -> str:
    """What the agent runs when a session ends."""
    started = [str(BASE_DIR / "manage.py")] if IS_SOURCE else ["-m", "memoryweb"]
    words = [sys.executable, *started, *VERBS, "--data-dir", str(settings.DATA_DIR)]
    return shlex.join(words)


def add_hook(root: Path, shown: str, actor: str) -> bool:
    """Add our entry; `shown` is that of the confirmed change. False if it is there already. Raises SettingsRefused."""
    datadir.hook_token(Path(settings.DATA_DIR))
    return _rewrite(root, _added, shown, actor)


def remove_hook(root: Path, shown: str, actor: str) -> bool:
    """Remove exactly our entry. False if there is none. Raises SettingsRefused."""
    return _rewrite(root, _removed, shown, actor)


# --- What changes -------------------------------------------------------------------------------------------------


def _added(values: Values) -> Values:
    groups = _groups(values)
    if any(_is_ours(hook) for hook in _hooks(groups)):
        return values
    made = copy.deepcopy(values)
    entry = {"hooks": [{"type": "command", "command": command(), "timeout": TIMEOUT}]}
    made.setdefault("hooks", {})[EVENT] = [*groups, entry]
    return made


def _removed(values: Values) -> Values:
    """The settings without our command and without what becomes empty."""
    groups = _groups(values)
    if not any(_is_ours(hook) for hook in _hooks(groups)):
        return values
    made = copy.deepcopy(values)
    kept = [_without_ours(group) for group in groups]
    left = [group for group in kept if group is not None]
    if left:
        made["hooks"][EVENT] = left
    else:
        del made["hooks"][EVENT]
    if not made["hooks"]:
        del made["hooks"]
    return made


def _groups(values: Values) -> list[Any]:
    hooks = values.get("hooks", {})
    groups = hooks.get(EVENT, []) if isinstance(hooks, dict) else None
    if not isinstance(groups, list):
        raise SettingsRefused("Its “hooks” are not in the form that memoryweb knows. Add the lines by hand.")
    return groups


def _hooks(groups: Sequence[Any]) -> Iterator[Any]:
    for group in groups:
        inner = group.get("hooks") if isinstance(group, dict) else None
        yield from inner if isinstance(inner, list) else ()


def _is_ours(hook: Any) -> bool:
    """Whether it is a command of memoryweb, also of another installation."""
    said = hook.get("command") if isinstance(hook, dict) else None
    try:
        words = shlex.split(said) if isinstance(said, str) else []
    except ValueError:
        return False
    at = next((place for place, word in enumerate(words) if word.endswith(("manage.py", "memoryweb"))), -1)
    return at >= 0 and words[at + 1 : at + 3] == VERBS


def _without_ours(group: Any) -> Any:
    """The group without our command; None if it becomes empty."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(inner, list) or not any(_is_ours(hook) for hook in inner):
        return group
    left = [hook for hook in inner if not _is_ours(hook)]
    return {**group, "hooks": left} if left else None


# --- Reading and writing ------------------------------------------------------------------------------------------


def _change(root: Path, change: Callable[[Values], Values]) -> SettingsChange:
    with _not_too_deep(root):
        data, values = _read(root)
        made = change(values)
        before = data.decode(UTF8)
        after = before if made == values else _text(made, before)
    return SettingsChange(root / NAME, before, after, text.sha256(data))


@contextmanager
def _not_too_deep(root: Path) -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise SettingsRefused(f"{root / NAME} is nested too deeply. Add the lines by hand.") from error


def _read(root: Path) -> tuple[bytes, Values]:
    """The bytes and values of the settings; both empty if there is no file."""
    try:
        with safefs.Root.open(root) as folder:
            data = folder.read_bytes(NAME, limit=MOST_BYTES)
    except FileNotFoundError:
        return b"", {}
    except (OSError, safefs.SafeFsError) as error:
        raise SettingsRefused(f"{root / NAME}: {safefs.reason(error)}. Add the lines by hand.") from error
    try:
        values = json.loads(data.decode(UTF8), object_pairs_hook=_once)
    except ValueError as error:
        raise SettingsRefused(f"{root / NAME} is not valid JSON ({error}). Fix it first.") from error
    if not isinstance(values, dict):
        raise SettingsRefused(f"{root / NAME} is not a JSON object. Fix it first.")
    return data, values


def _once(pairs: list[tuple[str, Any]]) -> Values:
    """Refuses duplicate keys, as one of them would be lost."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _text(values: Values, before: str) -> str:
    """The old text with our lines added or removed; if that is not possible, written again with its indent and line ends.

    Raises SettingsRefused.
    """
    try:
        whole = _dumped(values, before)
        for text in _small_edits(values, before):
            if _read_as(text) == values:
                return text
        whole.encode()
    except ValueError as error:
        raise SettingsRefused(
            f"A value in it cannot be written back as it is ({error}). Add the lines by hand."
        ) from error
    return whole + ("\n" if before.endswith("\n") or not before else "")


def _small_edits(values: Values, before: str) -> Iterator[str]:
    """Candidates: the text with our lines before each closing bracket, or without each part that may be ours. The caller finds the
    one that means `values`."""
    was = _read_as(before) or {}
    if "hooks" not in was:
        body = before.rstrip()
        head = body[:-1].rstrip()
        yield head + ("," if was else "") + _inside({"hooks": values["hooks"]}, before) + before[len(head) :]
    elif any(_is_ours(hook) for hook in _hooks(_groups(was))):
        yield from _cut_out(before)
    else:
        group = _groups(values)[-1]
        for closer in islice(_CLOSER.finditer(before), MOST_PLACES):
            piece = [group] if closer[0] == "]" else {EVENT: [group]}
            yield _put_in(piece, before, closer.start())


def _put_in(piece: Values | list[Any], before: str, closer: int) -> str:
    """The text with the piece added before this closing bracket, formatted like the others."""
    head = before[:closer].rstrip()
    line = before[:closer].rpartition("\n")[2]
    outer = line[: len(line) - len(line.lstrip())]
    is_empty = head.endswith(("[", "{"))
    if line.strip() and not is_empty:  # on one line with the others
        return f"{head}, {json.dumps(piece, ensure_ascii=False)[1:-1]}{before[len(head) :]}"
    inside = _inside(piece, before).replace("\n", f"\n{outer}")
    end = "\r\n" if "\r\n" in before else "\n"
    rest = before[len(head) :] if not line.strip() else f"{end}{outer}{before[closer:]}"
    return f"{head}{'' if is_empty else ','}{inside}{rest}"


def _cut_out(before: str) -> Iterator[str]:
    decoder = json.JSONDecoder()
    for found in islice(_OURS.finditer(before), MOST_PLACES):
        try:
            _, end = decoder.raw_decode(before, found.start() if found[0] == "{" else found.end())
        except ValueError:  # within a text
            continue
        head, rest = before[: found.start()].rstrip(), before[end:]
        following = rest.lstrip()
        if head.endswith(","):
            yield head[:-1] + rest
        elif following.startswith(","):
            yield before[: found.start()] + following[1:].lstrip()
        else:
            yield head + following


def _inside(values: Values | list[Any], before: str) -> str:
    """The text between the brackets, without a final line break."""
    return _dumped(values, before)[1:-1].rstrip()


def _dumped(values: Values | list[Any], before: str) -> str:
    second = next((line for line in before.splitlines()[1:] if line.strip()), "  ")
    indent = "\t" if second.startswith("\t") else len(second) - len(second.lstrip()) or 2
    is_ascii = before.isascii() and "\\u" in before
    text = json.dumps(values, indent=indent, ensure_ascii=is_ascii, allow_nan=False)
    return text.replace("\n", "\r\n") if "\r\n" in before else text


def _read_as(text: str) -> Any:
    """None for what is not JSON."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except ValueError:
        return None


def _rewrite(root: Path, change: Callable[[Values], Values], shown: str, actor: str) -> bool:
    with _locked(root), _not_too_deep(root):
        stat = _stat(root)
        data, values = _read(root)
        if text.sha256(data) != shown:
            raise SettingsRefused(f"{root / NAME} changed since it was shown. Look at it again.")
        made = change(values)
        if made == values:
            return False
        # Refuses a change that loses anything but our own entry.
        if _paths(_removed(values)) - _paths(_removed(made)):
            raise SettingsRefused("Something else would be lost from the settings. Nothing was written.")
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        after = mark + _text(made, data.decode(UTF8)).encode()
        if data:
            _back_up(root, data)
        _replace(root, after, stat)
    auditlog.record(
        "agent_settings.changed", actor=actor, object_id=NAME, was=text.sha256(data), now=text.sha256(after)
    )
    return True


def _paths(value: Any, above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """All keys with their parents, and all list values."""
    if isinstance(value, Mapping):
        own = {(*above, str(key)) for key in value}
        return own.union(*(_paths(inner, (*above, str(key))) for key, inner in value.items()))
    if isinstance(value, list):
        return set().union(
            *(_paths(inner, (*above, json.dumps(inner, sort_keys=True))) for inner in value), {above}
        )
    return {(*above, json.dumps(value))}


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    name = text.sha_of(str(root))[:16]
    lock = filelock.FileLock(Path(settings.DATA_DIR) / f"agent-settings-{name}.lock", mode=0o600)
    begun = time.monotonic()
    try:
        lock.acquire(timeout=LOCK_SECONDS)
    except filelock.Timeout as error:
        raise SettingsRefused("Another process writes these settings. Try again.") from error
    try:
        if (waited := time.monotonic() - begun) > SLOW_LOCK:
            log.warning("waited %.0f ms to write the settings of %s", waited * 1000, root)
        yield
    finally:
        lock.release()


def _stat(root: Path) -> tuple[int, int, int] | None:
    with suppress(FileNotFoundError):
        found = (root / NAME).stat(follow_symlinks=False)
        return found.st_ino, found.st_size, found.st_mtime_ns
    return None


def _back_up(root: Path, data: bytes) -> None:
    """Keep a dated copy in the data directory; only the newest few stay."""
    folder = Path(settings.DATA_DIR) / "agent-settings"
    folder.mkdir(mode=0o700, exist_ok=True)
    name = text.sha_of(str(root))[:16]
    stamp = timezone.now().astimezone(dt.UTC).strftime("%Y%m%dT%H%M%S%fZ")
    _write_new(copy := folder / f"{name}-{stamp}.json", data)
    datadir.make_room(copy, f"{name}-*.json", BACKUPS_KEPT)


def _write_new(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        flush.to_disk(file.fileno())


def _replace(root: Path, data: bytes, seen: tuple[int, int, int] | None) -> None:
    """Replace the file, unless somebody wrote to it after it was read."""
    draft = root / f".{NAME}.{secrets.token_hex(6)}"
    try:
        _write_new(draft, data)
        if _stat(root) != seen:
            raise SettingsRefused(f"{root / NAME} was written by another program just now. Try again.")
        os.replace(draft, root / NAME)  # noqa: PTH105 - the one step that others must see whole
    except OSError as error:
        raise SettingsRefused(f"{root / NAME} cannot be written: {error.strerror}.") from error
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
