"""Checks the index's lines and bytes, long rows and the number of memories. Advice, never a reason to drop anything. PURE."""

from collections.abc import Iterator, Mapping

from dreams.findings.base import NewFinding, Subject
from dreams.lib import memdir
from dreams.lib.files.text import decode, plural

CHECK = "budget"  # the stored name; in code and pages a budget is in dollars
MANY_WITHOUT_A_DREAM = 10  # memories without any dream so far; chosen


def check(subject: Subject) -> Iterator[NewFinding]:
    """Limits that are exceeded after the change, and long rows that it wrote."""
    changed = {path for path in subject.after if subject.before.get(path) != subject.after[path]}
    added = {(h.path, h.new_start + n + 1): h.hunk_id for h in subject.hunks for n in range(len(h.added))}
    for path, loaded in _indexes(subject):
        yield from _size(subject, path, loaded)
        if path in changed:
            yield from _new_rows(subject, path, loaded, added)
    if not topics(subject.after) <= topics(subject.before):
        yield from _many(subject)


def standing(subject: Subject) -> Iterator[NewFinding]:
    for path, loaded in _indexes(subject):
        yield from _size(subject, path, loaded)
        yield from _long_rows(subject, path, loaded)
    yield from _many(subject)


def _indexes(subject: Subject) -> Iterator[tuple[str, memdir.Loaded]]:
    lines, size = subject.config.index_max_lines, subject.config.index_max_bytes
    for path in sorted(filter(memdir.is_index, subject.after)):
        yield path, memdir.loaded(subject.after[path], max_lines=lines, max_bytes=size)


def topics(files: Mapping[str, bytes]) -> set[str]:
    """The paths of memories, without index and logs."""
    return {path for path in files if memdir.is_topic(path)}


def _size(subject: Subject, path: str, loaded: memdir.Loaded) -> Iterator[NewFinding]:
    config = subject.config
    if loaded.cut_by is None:
        return
    dropped = [row.title or row.target for row in loaded.rows_dropped if row.is_memory_target]
    more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
    falls = f" What is never loaded: {', '.join(dropped[:5])}{more}." if dropped else ""
    size = f"{plural(loaded.lines, 'line')} and {loaded.bytes:,} bytes"
    limit = f"{config.index_max_lines:,} lines or {config.index_max_bytes:,} bytes"
    yield NewFinding(
        CHECK,
        "index-over-budget",
        "warn",
        f"{path} has {size}; an agent loads {limit}.{falls}",
        "Shorten rows whose files say the same. A dream will ask which.",
        path,
        line_no=loaded.first_dropped_line,
        about=path,
    )


def _new_rows(
    subject: Subject, path: str, loaded: memdir.Loaded, added: Mapping[tuple[str, int], str]
) -> Iterator[NewFinding]:
    for row in _long(subject, path):
        if hunk_id := added.get((path, row.line_no)):
            most = subject.config.row_max
            says = f"The row of {row.target} takes {row.length} characters; about {most} are enough."
            yield NewFinding(
                CHECK, "long-row", "info", says, _remedy(loaded), path, hunk_id, row.line_no, row.target
            )


def _long_rows(subject: Subject, path: str, loaded: memdir.Loaded) -> Iterator[NewFinding]:
    """One finding per index for all its long rows: one for each would bury the other findings."""
    rows = _long(subject, path)
    if not rows:
        return
    longest = max(rows, key=lambda row: row.length)
    said = f"{plural(len(rows), 'row')} of over {subject.config.row_max} characters"
    says = f"{path} has {said}; the longest is that of {longest.target}, with {longest.length}."
    yield NewFinding(
        CHECK, "long-row", "info", says, _remedy(loaded), path, line_no=longest.line_no, about=path
    )


def _long(subject: Subject, path: str) -> list[memdir.IndexRow]:
    rows = memdir.parse_index(decode(subject.after[path])).rows
    return [row for row in rows if row.is_memory_target and row.length > subject.config.row_max]


def _remedy(loaded: memdir.Loaded) -> str:
    return f"{'' if loaded.cut_by else 'While the index fits, nothing has to change. '}A shorter row leaves room for others."


def _many(subject: Subject) -> Iterator[NewFinding]:
    count = len(topics(subject.after))
    if count > (most := subject.config.many_memories):
        says = f"There are {count:,} memories; up to {most} are easy to keep in view."
        remedy = "Merge related memories. Nothing has to be removed."
        yield NewFinding(CHECK, "many-memories", "info", says, remedy, about="many-memories")


def never_dreamt(files: Mapping[str, bytes], dreams: int) -> Iterator[NewFinding]:
    """Advice for a large directory that was never dreamt over."""
    count = len(topics(files))
    if count >= MANY_WITHOUT_A_DREAM and not dreams:
        says = f"There are {count:,} memories, and no dream has tidied them yet."
        remedy = "Dream now on the project’s page. Nothing is written until you review it."
        yield NewFinding(CHECK, "never-dreamt", "info", says, remedy, about="never-dreamt")
