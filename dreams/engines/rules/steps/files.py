"""Merges files that certainly say the same. Pure but for the recorder.

Certain are bodies that differ only in white space and the order of unnumbered items; `refusal` says what speaks against it.
Everything else is a question (`questions/same.py`), for which `lib/prose/comparing.py` compares two statements.
"""

import re
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from dreams.engines.linedates import day_in_name
from dreams.engines.rules.notes import bodies
from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, digest, from_memory, is_index, is_log
from dreams.engines.rules.notes.wording import says_something
from dreams.engines.rules.steps.index import base_of, undoubled
from dreams.engines.types import Citation, Fate
from dreams.lib import memdir
from dreams.lib.files.text import one_line
from dreams.lib.prose.values import LONGEST, missing, read

_PLAIN_KEYS = frozenset(
    {key for keys in memdir.FIELD_KEYS.values() for key in keys} | {"metadata", "node_type"}
)
LABEL = "A label of the merged file; all its content is kept."
LINK = "The linked file was merged; the link now leads to the merged memory."
MOST_READ = 4_000  # characters of a body searched for its topic
LEAST_TOLD = 3.0  # least weight of a body without names that still shows its topic
_SUFFIX = re.compile(
    r"(?:[-_ ]?\(?v?\d{1,3}\)?|[-_ ](?:copy|copie|kopie|backup|bak|new|old|final|dup)(?:[-_ ]?\(?\d{1,3}\)?)?)$",
    re.IGNORECASE,
)
_JOINTS = re.compile(r"(?<=[^\W\d])[._-](?=\w)")
_ITEM = re.compile(r"[-*+]\s+(?:\[[ xX]\]\s+)?")


def merge(rec: Recorder, row_max: int) -> None:
    """Merges each group of equal bodies into its best file, where that is certain."""
    for group in same_bodies(rec.tree, rec.tree.topics()):
        keep, *rest = by_worth(rec.tree, group)
        for drop in rest:
            rec.report.checkpoint()
            if not refusal(rec.tree, keep, drop):
                rec.count("files", int(merge_into(rec, keep, drop, row_max)))


def same_bodies(tree: Tree, paths: Iterable[str]) -> list[list[str]]:
    """Groups of files whose bodies differ only in white space and the order of unnumbered items."""
    groups: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        if key := _body_key(tree.document(path).body):
            groups[key].append(path)
    return [group for group in groups.values() if len(group) > 1]


def _body_key(body: str) -> str:
    """A key that is equal for bodies that say the same word for word; empty for an empty body.

    Unnumbered lists without children are equal in any order.
    """
    found: list[str] = []
    items: list[str] = []
    nested = False
    for line in [*memdir.split_lines(_without_title(body)), "."]:
        text = one_line(line)
        if not text:
            continue
        if _ITEM.match(text):
            nested = nested or line[:1].isspace()
            items.append(text)
            continue
        found += items if nested else sorted(items)
        items, nested = [], False
        found.append(text)
    return "\n".join(found) if says_something("".join(found)) else ""


def by_worth(tree: Tree, group: Iterable[str]) -> list[str]:
    """Best to keep first: without a number suffix, then linked, then older, then with more frontmatter."""
    linked = ChainMap(*[_linked(path, tree.texts[path]) for path in reversed(tree.indexes())])

    def worth(path: str) -> tuple[bool, bool, int, int, int, str]:
        snapshot = tree.workspace.snapshot.files.get(path)
        front = tree.document(path).frontmatter
        stated = sum(bool(front.text(field)) for field in memdir.FIELD_KEYS) if front else 0
        numbered = _SUFFIX.search(PurePosixPath(path).stem) is not None
        age = snapshot.mtime_ns if snapshot else 0
        return numbered, path not in linked, age, -stated, linked.get(path, 0), path

    return sorted(group, key=worth)


@lru_cache(maxsize=8)
def _linked(path: str, text: str) -> dict[str, int]:
    """The files that an index names, with the line."""
    base = base_of(path)
    return {base + target: row.line_no for row in memdir.parse_index(text).rows for target in row.targets}


def are_apart(tree: Tree, group: Sequence[str]) -> bool:
    """Whether files with one text are about different environments, things or days, so that nobody needs to be asked."""
    keep, *rest = group
    # The next report replaces the text of "report_latest", and not the record of a day.
    kinds = {(read(_in_words(_labels(tree, path))).environments, day_in_name(path)) for path in group}
    return len(kinds) > 1 or any(_is_of_another_thing(tree, keep, drop) for drop in rest)


def refusal(tree: Tree, keep: str, drop: str) -> str:
    """Why merging two files is not certain, for a person; "" if it is."""
    if tree.settled(keep) or tree.settled(drop):
        return "one of the files is pinned or was edited by hand"
    if _own_fields(tree.document(drop)) - _own_fields(tree.document(keep)):
        return f"{drop} has its own frontmatter"
    if are_apart(tree, (keep, drop)):
        return "their labels name different things, environments or days"
    labels, here = _labels(tree, drop), _in_words(f"{keep} {tree.texts[keep]}")
    if len(labels) > LONGEST:
        return f"the labels of {drop} are too long to be compared"
    said, kept = read(_in_words(labels)), read(here)
    # As written: in words a host, an address and a path are no values.
    for key in sorted(missing(read(labels), kept) | missing(said, kept)):
        if not re.search(rf"(?<!\w){re.escape(_in_words(key))}(?!\w)", here, re.IGNORECASE):
            return f"only the labels of {drop} say {key}"
    if said.denials and not kept.denials:
        return f"only the labels of {drop} deny something"
    if _is_linked_from_fixed(tree, drop):
        return f"a file that must not be changed links to {drop}"
    return ""


def _own_fields(document: memdir.Document) -> set[tuple[str, str]]:
    """The frontmatter besides name, description and type; if it is not valid YAML ("name: Ports: web"), its lines."""
    front = document.frontmatter
    if front is None:
        return set()
    if front.problem:
        lines = (line.strip() for line in document.head.splitlines())
        pairs = [(key, value.strip()) for key, _, value in (line.partition(":") for line in lines)]
        return {pair for pair in pairs if pair[0].strip("-") and pair[0] not in _PLAIN_KEYS}
    every = [*front.raw.items(), *front.metadata.items()]
    return {(key, str(value)) for key, value in every if key not in _PLAIN_KEYS}


def _names(tree: Tree, path: str) -> str:
    """The names and the title of a file, without the number of a copy."""
    document = tree.document(path)
    named = (document.frontmatter.name or "").strip() if document.frontmatter else ""
    names = (PurePosixPath(path).stem.replace("_", " "), named.replace("_", " "), _title(document.body))
    return ". ".join(_SUFFIX.sub("", name) for name in names)


def _labels(tree: Tree, path: str) -> str:
    """Its names and its description."""
    front = tree.document(path).frontmatter
    return f"{_names(tree, path)}. {(front.description or '') if front else ''}"


def _in_words(text: str) -> str:
    """Text with spaces in its names: `copper.relay`, copper_relay and "copper relay" are one name."""
    return _JOINTS.sub(" ", text)


def _is_of_another_thing(tree: Tree, keep: str, drop: str) -> bool:
    """Whether the names of two files are about two things, and the body tells too little to show which."""
    body = read(tree.document(drop).body[:MOST_READ])
    measured = {value.key for value in body.values if value.is_measured}
    words = sum(weight for word, weight in body.terms.items() if word not in measured)
    if words >= LEAST_TOLD or len(measured) < len({value.key for value in body.values}):
        return False
    mine, theirs = (bodies.words_of(_in_words(_names(tree, path))) for path in (keep, drop))
    return not (mine <= theirs or theirs <= mine)


def _is_linked_from_fixed(tree: Tree, path: str) -> bool:
    """Whether a file that may not be changed without asking links to it."""
    return any(
        other != path
        and not is_log(other)
        and not (tree.free(other) or other in tree.indexes())
        and memdir.retarget(text, path, f"{path}.moved.md") != text
        for other, text in tree.texts.items()
    )


def _without_title(body: str) -> str:
    """The body without a title at its beginning."""
    lines = memdir.split_lines(body)
    first = next((place for place, line in enumerate(lines) if line.strip()), None)
    if first is None or not lines[first].startswith("# "):
        return body
    return "".join([*lines[:first], *lines[first + 1 :]])


def _title(body: str) -> str:
    first = next(filter(str.strip, memdir.split_lines(body)), "")
    return first[2:].strip() if first.startswith("# ") else ""


def merge_into(
    rec: Recorder, keep: str, drop: str, row_max: int, after: str | None = None, told: Sequence[Fate] = ()
) -> bool:
    """Remove a file whose content another one has, and update every link and row. One operation.

    `after` is the new text of the file that stays, if it changes; `told` says where reworded lines of the other went.
    """
    tree = rec.tree
    reason = f"{keep} already says everything in {drop}."
    text = tree.texts[keep] if after is None else after
    known = {fate.text: fate for fate in told}
    fates = tuple(known.get(fate.text, fate) for fate in _fates(tree.texts[drop], keep, text))
    # The file that stays is why the other one can go; that one is where what is added comes from.
    cited = tuple(_cited(tree, path) for path in ((keep,) if after is None else (keep, drop)))
    changes = [NewText(drop, None, reason, fates, cited)]
    for other in sorted(tree.texts):
        old = text if other == keep else tree.texts[other]
        if other == drop or is_log(other) or not tree.writable(other):
            continue
        new = memdir.retarget(old, drop, keep)
        if is_index(other):
            new = _retitled(new, drop, keep)
        lost = tuple(_rewritten(old, new, other))
        if is_index(other):
            new, lost = _one_row(tree, other, new, keep, row_max, lost)
        changes.append(NewText(other, new, reason, lost, cited))
    return rec.operation("merge", changes, key=digest(keep, drop))


def _cited(tree: Tree, path: str) -> Citation:
    document = tree.document(path)
    body = document.body.lstrip()
    return from_memory(
        path, document.body_start_line + document.body.removesuffix(body).count("\n"), body.rstrip()
    )


def _fates(before: str, keep: str, after: str) -> Iterator[Fate]:
    """Ledger entries for the lines of a merged file; its labels are no statements."""
    stands = {line.strip() for line in after.split("\n")}
    document = memdir.parse(before.encode("utf-8", "surrogateescape"))
    title = _title(document.body)
    for number, line in enumerate(before.split("\n"), start=1):
        label = number < document.body_start_line or (
            title and line.startswith("# ") and line[2:].strip() == title
        )
        if label and line.strip() not in stands | {""}:
            yield Fate(line.rstrip("\r"), "stated", note=LABEL)
        elif line.strip():
            yield Fate(line.rstrip("\r"), "merged-into", keep, line.strip() if line.strip() in stands else "")


def _rewritten(before: str, after: str, path: str) -> Iterator[Fate]:
    """Ledger entries for lines whose links now point to the file that stays."""
    for old, new in zip(before.split("\n"), after.split("\n"), strict=False):
        if old.strip() != new.strip() and old.strip():
            rows = memdir.parse_index(new).rows if is_index(path) else ()
            now = (rows[0].hook or rows[0].title) if rows else new.strip()
            yield Fate(old.rstrip("\r"), "superseded-by", path, now, LINK)


def _retitled(text: str, drop: str, keep: str) -> str:
    """A row titled by its file's name gets the name of the other file."""
    index = memdir.parse_index(text)
    for old in index.rows_for(keep):
        row = next(row for row in index.rows if row.line_no == old.line_no)
        if row.form == "link" and row.title in {drop, PurePosixPath(drop).name}:
            index = index.rewritten(row, title=PurePosixPath(keep).name)
    return index.text


def _one_row(
    tree: Tree, path: str, text: str, keep: str, row_max: int, fates: tuple[Fate, ...]
) -> tuple[str, tuple[Fate, ...]]:
    """The two rows of one file as one: joined if both say something, else the first."""
    index = memdir.parse_index(text)
    rows = [
        row for row in index.rows_for(keep) if row.form == "link" and len(row.targets) == 1 and not row.lead
    ]
    if len(rows) != 2:
        return text, fates
    change = undoubled(tree, path, index, rows[0], rows[1], row_max, merged=True)
    if change is None or change.after is None:
        return text, fates
    # A row that was changed and then joined is recorded with its original text.
    joined = {fate.text.strip(): fate for fate in change.fates}
    told = tuple(replace(joined.get(f.target_text, f), text=f.text) for f in fates)
    return change.after, (*told, *change.fates)
