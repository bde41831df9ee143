"""The state of the project's repository, read by library: no git program runs, no lock is taken. PURE.

Whatever fails or takes too long is left out; a dream does not depend on it.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

SECONDS = 3.0
LOOK_SECONDS = 0.1
STATUS_CHARS = 2_000
COMMITS = 5
MAIN_NAMES = ("main", "master", "trunk")
# Comparing a working tree reads every file whose times changed: not for huge ones.
MOST_INDEX_ENTRIES = 20_000


def describe(folder: Path | None, watch: Callable[[], None] = lambda: None) -> str:
    """Branch, main branch, user, status and the last commits, a line each; empty when there is nothing to tell.

    Raises only what `watch` raises.
    """
    if folder is None or not folder.is_dir():
        return ""
    lines: list[str] = []
    # On a thread of its own, left behind when it takes too long: it only reads.
    worker = threading.Thread(target=_look, args=(folder, lines), name="dream-repository", daemon=True)
    worker.start()
    until = time.monotonic() + SECONDS
    while worker.is_alive() and time.monotonic() < until:
        worker.join(LOOK_SECONDS)
        watch()
    return "\n".join(list(lines))


def _look(folder: Path, lines: list[str]) -> None:
    try:
        from dulwich.repo import Repo  # noqa: PLC0415 - only where a repository is looked at

        repo = Repo(str(folder))
    except Exception:
        return
    with repo:
        for part in (_branch, _user, _commits, _status):
            _add(lines, part, repo)


def _add(lines: list[str], part: Callable[[Any], list[str]], repo: Any) -> None:
    # A damaged repository costs a line of the briefing, nothing else.
    with suppress(Exception):
        lines.extend(part(repo))


def _branch(repo: Any) -> list[str]:
    refs, _ = repo.refs.follow(b"HEAD")
    name = refs[-1].decode("utf-8", "replace").removeprefix("refs/heads/")
    known = {ref.decode("utf-8", "replace") for ref in repo.refs.keys()}  # noqa: SIM118 - not a dict
    main = next((found for found in MAIN_NAMES if f"refs/heads/{found}" in known), "")
    return [f"Branch: {name}"] + ([f"Main branch: {main}"] if main and main != name else [])


def _user(repo: Any) -> list[str]:
    return [f"User: {repo.get_config_stack().get((b'user',), b'name').decode('utf-8', 'replace')}"]


def _commits(repo: Any) -> list[str]:
    found = ["Last commits:"]
    for entry in repo.get_walker(max_entries=COMMITS):
        commit = entry.commit
        day = dt.datetime.fromtimestamp(commit.commit_time, dt.UTC).date().isoformat()
        subject = commit.message.decode("utf-8", "replace").partition("\n")[0][:200]
        found.append(f"  {commit.id.decode()[:8]} {day} {subject}")
    return found


def _status(repo: Any) -> list[str]:
    from dulwich import porcelain  # noqa: PLC0415 - as above

    if len(repo.open_index()) > MOST_INDEX_ENTRIES:
        return ["Status: not looked at, the repository is large"]
    status = porcelain.status(repo, untracked_files="no")
    staged = [name for names in status.staged.values() for name in names]
    shown = [f"  staged {_name(name)}" for name in staged] + [
        f"  changed {_name(n)}" for n in status.unstaged
    ]
    text = "\n".join(shown)
    if not text:
        return ["Status: clean"]
    cut = "\n  [more was left out]" if len(text) > STATUS_CHARS else ""
    return ["Status:", text[:STATUS_CHARS] + cut]


def _name(name: bytes | str) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name
