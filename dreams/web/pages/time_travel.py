"""A project's memories at any time, and what changed between two times."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from dreams import conf
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.lib.storage import history
from dreams.models import Blob, Memory, Project, Version
from dreams.services import blobs
from dreams.services.memories import time_travel
from dreams.web.hidden_secrets import Sight
from dreams.web.pages import diffs
from dreams.web.pages.index_size import size_as_loaded
from dreams.web.pages.memory import Look, Looks, body_of
from dreams.web.pages.project import READING_ORDER
from dreams.web.paging import PageOfRows, page_of

PAGE_SIZE = 60  # rows; chosen


def iso(moment: dt.datetime) -> str:
    """The time for an address, with microseconds: a change at exactly that time must count as included."""
    return moment.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


def directory(project: Project, when: dt.datetime, number: str | None = None) -> dict[str, Any]:
    """The files at a time. `since` is the last change before it."""
    since = time_travel.last_change(project, when)
    after = time_travel.change_after(project, when)
    rows = time_travel.memories_at(project, when)
    page = page_of(rows.order_by(READING_ORDER, "path"), number, PAGE_SIZE)
    now = project.memories.filter(gone_at__isnull=True).count()
    first_look = time_travel.first_check(project)
    return {
        "when": when,
        "iso": iso(when),
        "files": PageOfRows(_files(list(page.object_list)), page),
        "since": _step(since),
        "previous": _step(time_travel.change_before(project, since) if since else None),
        "next": _step(after),
        # For the time before memoryweb's first scan, only the files' modification times are known.
        "first_look": first_look,
        "is_before_look": when < first_look,
        "is_now": after is None,
        "loaded": _loaded(project, when),
        "newer": now - rows.filter(gone_at__isnull=True).count(),
    }


def _step(at: dt.datetime | None) -> dict[str, Any] | None:
    return None if at is None else {"at": at, "iso": iso(at)}


def _files(rows: Sequence[time_travel.MemoryThen]) -> list[dict[str, Any]]:
    pks = [row.then for row in rows]
    versions = Version.objects.in_bulk(pks)
    looks = Looks.of(versions.values())
    return [_file(row, versions[pk], looks(versions[pk])) for row, pk in zip(rows, pks, strict=True)]


def _file(row: time_travel.MemoryThen, version: Version, look: Look) -> dict[str, Any]:
    """One file at that time; `since` is "", "changed" or "gone" since then."""
    changed = "" if row.sha256 == version.sha256 else "changed"
    return {"memory": row, "version": version, "look": look, "since": "gone" if row.gone_at else changed}


def _loaded(project: Project, when: dt.datetime) -> dict[str, Any] | None:
    row = time_travel.memories_at(project, when).filter(path=memdir.INDEX_NAME).first()
    data = _bytes(project, row.then_sha) if row else None
    if data is None:
        return None
    config = conf.current(project)
    found = memdir.loaded(data, max_lines=config.index_max_lines, max_bytes=config.index_max_bytes)
    return {
        "index": size_as_loaded(data, config),
        "text": diff.visible(Mask.of([found.text])(found.text)),
        "warning": found.warning,
    }


def reading(
    project: Project, when: dt.datetime, path: str, is_bare: Callable[[Memory], bool]
) -> dict[str, Any] | None:
    """The text of one file; None if it did not exist then or its content is not kept."""
    row = time_travel.memories_at(project, when).filter(path=path).first()
    if row is None:
        return None
    data = _bytes(project, row.then_sha)
    if data is None:
        return None
    sight = Sight.of([text.decode(data)], is_bare=is_bare(row))
    return {"file": _files([row])[0], "body": body_of(sight.mask.bytes(data)), "sight": sight}


def _bytes(project: Project, sha: str) -> bytes | None:
    """From the database, else from the history; None if neither has it."""
    try:
        return time_travel.bytes_of(project, [sha])[sha]
    except (blobs.MissingBlob, history.HistoryError, OSError):
        return None


# Further changed files are only named, with a link to their lines.
MOST_SHOWN = 30
MOST_FILES = 500
MOST_ROWS = 1_500
MOST_SHOWN_BYTES = 2 << 20


def between(
    project: Project, old: Mapping[str, str], new: Mapping[str, str], only: str = ""
) -> dict[str, Any]:
    """The changes from one state (path → sha256) to another. `only` shows the lines of that file alone."""
    changed = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    wanted = [path for path in changed if path == only] if only else changed[:MOST_FILES]
    shown = set(_within(wanted, old, new))
    texts = blobs.get_many(sha for path in shown for sha in (old.get(path, ""), new.get(path, "")))
    pks = dict(project.memories.filter(path__in=wanted).values_list("path", "pk"))
    letters = Counter(_letter(old.get(path, ""), new.get(path, "")) for path in changed)
    counted = {"added": letters["A"], "changed": letters["M"], "removed": letters["D"]}
    return {
        "files": [
            _changed(path, pks.get(path), (old.get(path, ""), new.get(path, "")), texts, path in shown)
            for path in wanted
        ],
        "total": len(changed),
        "more": 0 if only else max(0, len(changed) - len(wanted)),
        "words": ", ".join(f"{count} {what}" for what, count in counted.items() if count),
    }


def _within(paths: Sequence[str], old: Mapping[str, str], new: Mapping[str, str]) -> Sequence[str]:
    """The paths whose lines are shown, limited in number and total size."""
    few = list(islice(paths, MOST_SHOWN))
    shas = {sha for path in few for sha in (old.get(path), new.get(path)) if sha}
    sizes = dict(Blob.objects.filter(sha256__in=shas).values_list("sha256", "size"))
    shown: list[str] = []
    total = 0
    for path in few:
        total += sizes.get(old.get(path, ""), 0) + sizes.get(new.get(path, ""), 0)
        if shown and total > MOST_SHOWN_BYTES:
            break
        shown.append(path)
    return shown


def _letter(old: str, new: str) -> str:
    return "A" if not old else "D" if not new else "M"


def _changed(
    path: str, pk: int | None, shas: tuple[str, str], texts: Mapping[str, bytes], is_shown: bool
) -> dict[str, Any]:
    """`rows` is None if only the name is shown."""
    missing = is_shown and any(sha and sha not in texts for sha in shas)
    before, after = (
        (text.decode(texts.get(sha, b"")) for sha in shas) if is_shown and not missing else ("", "")
    )
    found = diffs.difference(before, after, Mask.of((before, after)), MOST_ROWS)
    rows = found["rows"] if is_shown and not missing else None
    return {**found, "rows": rows, "path": path, "pk": pk, "letter": _letter(*shas), "missing": missing}
