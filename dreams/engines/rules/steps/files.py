"""Files whose content surely stands in another file: the richer one stays. Pure but for the recorder."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from dreams import memdir
from dreams.engines.rules.notes import places
from dreams.engines.rules.notes.bodies import with_paragraph
from dreams.engines.rules.notes.days import names_a_day
from dreams.engines.rules.notes.tree import Change, Recorder, Tree, digest, from_memory, is_index, is_log
from dreams.engines.rules.notes.wording import one_line, says_something
from dreams.engines.rules.steps.index import undoubled
from dreams.engines.types import Fate
from dreams.language import similarity
from dreams.language.statements import statement

_PLAIN_KEYS = frozenset(
    {key for keys in memdir.FIELD_KEYS.values() for key in keys} | {"metadata", "node_type"}
)
LABEL = "The label of a file that was merged; all that it held stays."
LINK = "The file that it leads to was merged; the link leads to where that went."
PARTNERS = 20  # files that share a line and are compared with one
MOST_READ = 4_000  # characters of a body looked at for what it is about
COMMON_FROM = 50  # a line in more files than this tells nothing


def merge(rec: Recorder, row_max: int) -> None:
    """Each merge takes a file away, so this ends."""
    bodies = {path: _blocks(rec.tree.document(path).body) for path in rec.tree.topics()}
    for one, two in list(_candidates(bodies)):
        rec.report.checkpoint()
        if one in rec.tree.texts and two in rec.tree.texts:
            pair = _decide(rec.tree, one, two)
            if pair and _merge(rec, *pair, row_max):
                rec.count("files", 1)


def _blocks(body: str) -> list[str]:
    """Paragraphs and lists between blank lines, normalised line by line: a block is kept or merged whole."""
    found: list[list[str]] = [[]]
    for line in memdir.split_lines(_without_title(body)):
        if line.strip():
            found[-1].append(similarity.normalised(line) or line.strip())
        elif found[-1]:
            found.append([])
    return ["\n".join(block) for block in found if block and says_something("".join(block))]


def _without_title(body: str) -> str:
    """The body without the heading of the first level that it begins with: a title is a file's name once more."""
    lines = memdir.split_lines(body)
    first = next((place for place, line in enumerate(lines) if line.strip()), None)
    if first is None or not lines[first].startswith("# "):
        return body
    return "".join([*lines[:first], *lines[first + 1 :]])


def _title(body: str) -> str:
    lines = (line for line in memdir.split_lines(body) if line.strip())
    first = next(lines, "")
    return first[2:].strip() if first.startswith("# ") else ""


def _candidates(bodies: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Pairs that share a whole block, most shared first."""
    having: dict[str, list[str]] = defaultdict(list)
    for path, blocks in bodies.items():
        for block in dict.fromkeys(blocks):
            having[block].append(path)
    for path, blocks in bodies.items():
        shared: Counter[str] = Counter()
        for block in dict.fromkeys(blocks):
            if len(having[block]) < COMMON_FROM:
                shared.update(other for other in having[block] if other > path)
        ranked = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))
        yield from ((path, other) for other, _ in ranked[:PARTNERS])


def _decide(tree: Tree, one: str, two: str) -> tuple[str, str] | None:
    """(stays, goes), or None."""
    mine, theirs = _blocks(tree.document(one).body), _blocks(tree.document(two).body)
    if not mine or not theirs or _kinds_differ(tree, one, two) or not _topics_agree(tree, one, two):
        return None
    if mine == theirs:
        keep, drop = (one, two) if _worth(tree, one) >= _worth(tree, two) else (two, one)
    elif _contains(mine, theirs, tree.document(one).body):
        keep, drop = one, two
    elif _contains(theirs, mine, tree.document(two).body):
        keep, drop = two, one
    else:
        return None
    return (keep, drop) if _may_go(tree, drop) else None


def _contains(long: list[str], short: list[str], long_body: str) -> bool:
    """Whether `short` is one run of blocks of `long`, and no heading above it gives it another meaning."""
    starts = [at for at in range(len(long) - len(short) + 1) if long[at : at + len(short)] == short]
    if not starts:
        return False
    titles = {similarity.normalised(i.content) for i in memdir.sections(long_body) if i.kind == "heading"}
    return not any(line in titles for block in long[: starts[0]] for line in block.split("\n"))


def _topics_agree(tree: Tree, one: str, two: str) -> bool:
    """Two files for two environments, or about two things that the body does not name, are two facts."""
    front_one, front_two = tree.document(one).frontmatter, tree.document(two).frontmatter
    about = [
        f"{_names(path, front)}. {_title(tree.document(path).body)}"
        for path, front in ((one, front_one), (two, front_two))
    ]
    said = [
        f"{names}. {front.description or '' if front else ''}"
        for names, front in zip(about, (front_one, front_two), strict=True)
    ]
    if statement(said[0]).environments != statement(said[1]).environments:
        return False
    words = [statement(tree.document(path).body[:MOST_READ]).weights for path in (one, two)]
    told = words[0].keys() & words[1].keys()
    mine, theirs = (places.words_of(names) for names in about)
    if any(map(str.isdigit, "".join(mine ^ theirs))):
        return False
    # "Tests" and "tests first" are one topic; name and description of the other are carried over.
    one_sided = bool(mine & theirs) and (mine <= theirs or theirs <= mine)
    return one_sided or (places.says(mine - theirs, told) and places.says(theirs - mine, told))


def _names(path: str, front: memdir.Frontmatter | None) -> str:
    return f"{PurePosixPath(path).stem}. {(front.name or '') if front else ''}"


def _kinds_differ(tree: Tree, one: str, two: str) -> bool:
    kinds = {tree.kind(one), tree.kind(two)} - {None}
    return len(kinds) > 1


def _worth(tree: Tree, path: str) -> tuple[bool, int, int]:
    """The file that the index names, then the richer frontmatter, then the longer text."""
    front = tree.document(path).frontmatter
    stated = sum(bool(front.text(field)) for field in memdir.FIELD_KEYS) if front else 0
    index = tree.texts.get(memdir.INDEX_NAME, "")
    return PurePosixPath(path).name in index, stated, len(tree.texts[path])


def _may_go(tree: Tree, path: str) -> bool:
    """Its frontmatter holds nothing that we would not carry over, and no link to it stands where we may not write."""
    front = tree.document(path).frontmatter
    if front and (front.problem or {*front.raw, *front.metadata} - _PLAIN_KEYS):
        return False
    for other, text in tree.texts.items():
        fixed = other != path and not is_log(other) and not (tree.free(other) or other in tree.indexes())
        if fixed and memdir.retarget(text, path, f"{path}.moved.md") != text:
            return False
    return True


def _merge(rec: Recorder, keep: str, drop: str, row_max: int) -> bool:
    tree = rec.tree
    reason = f"All that {drop} says stands in {keep}, which stays."
    document = tree.document(drop)
    richer = _with_description(tree, keep, drop)
    if richer is None:
        return False
    text = richer.to_bytes().decode("utf-8", "surrogateescape")
    fates = tuple(_fates(tree.texts[drop], keep, text))
    cited = (from_memory(drop, document.body_start_line, document.body.strip()),)
    changes = [Change(drop, None, reason, fates, cited)]
    for other in sorted(tree.texts):
        old = text if other == keep else tree.texts[other]
        if other == drop or is_log(other) or not (tree.free(other) or other in tree.indexes()):
            continue
        new = (
            _retitled(memdir.retarget(old, drop, keep), drop, keep)
            if is_index(other)
            else memdir.retarget(old, drop, keep)
        )
        lost = tuple(_rewritten(tree.texts[other], new, other))
        if is_index(other):
            new, lost = _one_row(tree, other, new, keep, row_max, lost)
        changes.append(Change(other, new, reason, lost, cited))
    return rec.operation("merge", changes, key=digest(keep, drop))


def _with_description(tree: Tree, keep: str, drop: str) -> memdir.Document | None:
    """The keeper, with the description of the other where it has a word that the keeper lacks; None if it takes none.

    A name is a label, no line of a body: one that gives a number, a path or a denial which stands nowhere keeps the files apart.
    """
    document, front = tree.document(keep), tree.document(drop).frontmatter
    told = set(statement(tree.texts[keep][:MOST_READ].replace("_", " ")).weights)
    title = _title(tree.document(drop).body)
    name = statement(f"{front.name or '' if front else ''}. {title}".replace("_", " "))
    if name.negations or (name.numbers | name.codes) - told:
        return None
    said = one_line((front.description or "") if front else "")
    if not said or not statement(said.replace("_", " ")).weights.keys() - told:
        return document
    return None if names_a_day(said) else with_paragraph(document, said)


def _fates(before: str, keep: str, after: str) -> Iterator[Fate]:
    stands = {line.strip() for line in after.split("\n")}
    name = memdir.parse(before.encode("utf-8", "surrogateescape")).frontmatter
    label = f"name: {name.name}" if name and name.name else ""
    title = _title(memdir.parse(before.encode("utf-8", "surrogateescape")).body)
    for line in before.split("\n"):
        named = label and line.replace('"', "").replace("'", "").strip() == label
        titled = title and line.startswith("# ") and line[2:].strip() == title
        if (named or titled) and line.strip() not in stands:
            yield Fate(line.rstrip("\r"), "stated", note=LABEL)
        elif line.strip():
            yield Fate(line.rstrip("\r"), "merged-into", keep, line.strip() if line.strip() in stands else "")


def _rewritten(before: str, after: str, path: str) -> Iterator[Fate]:
    """Lines whose links now point to the file that stays."""
    for old, new in zip(before.split("\n"), after.split("\n"), strict=False):
        if old.strip() != new.strip() and old.strip():
            rows = memdir.parse_index(new).rows if is_index(path) else ()
            now = (rows[0].hook or rows[0].title) if rows else new.strip()
            yield Fate(old.rstrip("\r"), "superseded-by", path, now, LINK)


def _retitled(text: str, drop: str, keep: str) -> str:
    """A row that was titled by its file's name is titled by the name of the other file."""
    index = memdir.parse_index(text)
    for old in index.rows_for(keep):
        row = next(row for row in index.rows if row.line_no == old.line_no)
        if row.form == "link" and row.title in {drop, PurePosixPath(drop).name}:
            index = index.rewritten(row, title=PurePosixPath(keep).name)
    return index.text


def _one_row(
    tree: Tree, path: str, text: str, keep: str, row_max: int, fates: tuple[Fate, ...]
) -> tuple[str, tuple[Fate, ...]]:
    """The two rows that now point to one file as one row, where that loses nothing."""
    index = memdir.parse_index(text)
    rows = [
        row for row in index.rows_for(keep) if row.form == "link" and len(row.targets) == 1 and not row.lead
    ]
    if len(rows) != 2:
        return text, fates
    change = undoubled(tree, path, index, rows[0], rows[1], row_max, merged=True)
    if change is None or change.after is None:
        return text, fates
    # A row that was pointed elsewhere and then joined is told of in the words that stood on disk.
    joined = {fate.text.strip(): fate for fate in change.fates}
    told = tuple(replace(joined.get(f.target_text, f), text=f.text) for f in fates)
    return change.after, (*told, *change.fates)
