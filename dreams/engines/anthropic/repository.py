"""The state of the project's repository, read with a library: no git program runs, no lock is taken. PURE.

Parts that fail or take too long are left out; a dream does not depend on them.
"""

import datetime as dt
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from dreams.engines.types import LOOK_SECONDS
from dreams.lib.secrets.redact import cut

SECONDS = 3.0  # to read the repository, in a dream of minutes; chosen
# The agent's own constants.
STATUS_CHARS = 2_000
COMMITS = 5
TOO_LARGE = "Status: not looked at, the repository is large"
MAIN_NAMES = ("main", "master", "trunk")
# Comparing a working tree reads every file with a changed time: skipped for huge ones.
MOST_INDEX_ENTRIES = 20_000


def describe(folder: Path | None, watch: Callable[[], None] = lambda: None) -> str:
    """Branch, main branch, user, the last commits and the status, a line each; empty without a repository.

    The parts are read concurrently and left out when they take too long. Raises only what `watch` raises.
    """
    if folder is None or not folder.is_dir():
        return ""
    looks = [_Look(folder, part) for part in (_branch, _user, _commits, _changed, _untracked)]
    until = time.monotonic() + SECONDS
    while any(look.worker.is_alive() for look in looks) and time.monotonic() < until:
        next(look.worker for look in looks if look.worker.is_alive()).join(LOOK_SECONDS)
        watch()
    *first, changed, untracked = [look.lines for look in looks]
    return "\n".join([line for lines in first for line in lines or ()] + _status(changed, untracked))


def commit(folder: Path, name: str) -> tuple[str, dt.datetime] | None:
    """The message and the time of the commit whose id begins with `name`; None if none or several do."""
    with suppress(Exception):  # a damaged repository may raise anything
        from dulwich.repo import Repo  # noqa: PLC0415 - only where a commit is cited

        with Repo(str(folder)) as repo:
            found: Any
            (found,) = (repo[sha] for sha in repo.object_store.iter_prefix(name.encode()))
            at = dt.datetime.fromtimestamp(found.commit_time, dt.UTC)
            return found.message.decode("utf-8", "replace"), at
    return None


class _Look:
    """Reads one part of the repository in a thread, which is abandoned when it takes too long: it only reads.
    `lines` is None until it is done."""

    def __init__(self, folder: Path, part: Callable[[Any], list[str]]) -> None:
        self.lines: list[str] | None = None
        self.worker = threading.Thread(
            target=self._look, args=(folder, part), name="dream-repository", daemon=True
        )
        self.worker.start()

    def _look(self, folder: Path, part: Callable[[Any], list[str]]) -> None:
        # A damaged repository only costs a line of the briefing.
        with suppress(Exception):
            from dulwich.repo import Repo  # noqa: PLC0415 - only where a repository is looked at

            with Repo(str(folder)) as repo:
                self.lines = part(repo)


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
        own = commit.commit_time + commit.commit_timezone  # the day where it was made, as git shows it
        day = dt.datetime.fromtimestamp(own, dt.UTC).date().isoformat()
        subject = cut(commit.message.decode("utf-8", "replace").partition("\n")[0], 200)
        found.append(f"  {commit.id.decode()[:8]} {day} {subject}")
    return found


def _changed(repo: Any) -> list[str]:
    from dulwich import porcelain  # noqa: PLC0415 - as above

    if _is_huge(repo):
        return [TOO_LARGE]
    status = porcelain.status(repo, untracked_files="no", optional_locks=False)
    staged = [name for names in status.staged.values() for name in names]
    return [f"  staged {_name(n)}" for n in staged] + [f"  changed {_name(n)}" for n in status.unstaged]


def _untracked(repo: Any) -> list[str]:
    """New files and new folders (without their contents), except ignored ones."""
    from dulwich import porcelain  # noqa: PLC0415 - as above

    if _is_huge(repo):
        return []
    found = porcelain.get_untracked_paths(
        repo.path,
        repo.path,
        repo.open_index(),
        exclude_ignored=True,
        untracked_files="normal",
        repo=repo,
    )
    # One more than can be shown, so that the note about omitted ones appears.
    return [f"  untracked {_name(n)}" for n in islice(found, STATUS_CHARS // len("  untracked x\n") + 1)]


def _is_huge(repo: Any) -> bool:
    return len(repo.open_index()) > MOST_INDEX_ENTRIES


def _status(changed: list[str] | None, untracked: list[str] | None) -> list[str]:
    """Both lists, cut at the limit with a note; empty if neither is known."""
    if changed is None and untracked is None:
        return []
    if changed == [TOO_LARGE]:
        return changed
    text = "\n".join([*(changed or ()), *(untracked or ())])
    if not text:
        return ["Status: clean"] if changed is not None and untracked is not None else []
    cut = "\n  [more was left out]" if len(text) > STATUS_CHARS else ""
    return ["Status:", text[:STATUS_CHARS] + cut]


def _name(name: bytes | str) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name
