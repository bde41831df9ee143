"""Adds index rows for memories without one. Each row is a separate change. Pure but for the recorder."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from contextlib import suppress
from pathlib import PurePosixPath

from dreams.conf import Config
from dreams.engines.rules.notes.days import WRITTEN, names_a_day
from dreams.engines.rules.notes.tree import TEAM_INDEX, NewText, Recorder, Tree, digest, from_memory, is_team
from dreams.engines.rules.notes.wording import (
    IS_OVER,
    is_labelled,
    is_slug,
    says_something,
    sentences,
    summed_up,
)
from dreams.engines.rules.steps.index import base_of, mentioned
from dreams.engines.types import Job
from dreams.lib import diff, memdir
from dreams.lib.files.text import decode, encode, is_utf8, one_line, plural
from dreams.lib.prose import comparing
from dreams.lib.prose.values import count_words
from dreams.lib.secrets.redact import values

TITLE_MAX = 60  # letters of a row's title; chosen
LONGEST_TITLE = 90  # longest name that is kept complete
MANY, MOST_UNLISTED = 10, 0.8  # memories without a row: their number and share
ROOM = 0.9  # of what an agent loads, so that there is room for the next memory
LEAST_WORDS = 4  # of a line that introduces a list; shorter ones say nothing alone
LONGEST_HOOK = 400  # if it has no shorter sentence
_TITLE_END = re.compile(r"\s+[—–-]+\s+|:\s+|\s+(?=\()")
# After a title that is the first clause of the hook; within a clause the rest would mean something else.
_NEXT_CLAUSE = re.compile(r"[,;:.]\s+|\s+[—–-]\s+")
SET_ASIDE = re.compile(r"archived?|old|trash|backups?|drafts?", re.IGNORECASE)
# Session records: LAST_SESSION.md, dispatch-activity-log.md, session_2026_04_17_inventory.md.
RECORD = re.compile(
    r"(?:^|.*[_-])(?:(?:change|update|work|dev)?log|journal|diary|session|hand(?:off|over))s?(?:[_-]?\d.*)?|hand(?:off|over)[_-].*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_NAMED_DAY = re.compile(r"(?<!\d)(\d{4})[-_](\d\d)[-_](\d\d)(?!\d)")
# Files about the folder, not memories.
NO_MEMORY = re.compile(r"(?:README|CLAUDE|AGENTS|CHANGELOG|LICENSE|INSTALL|SKILL)(?![a-z]).*")
_FIELD = re.compile(r"[A-Z][\w ]{0,20}: ")  # "Transcript: /home/…" in a record
_TELLS_A_STATE = re.compile(  # or a day, in any order
    r"\b(?:done|completed?|shipped|resolved|closed|finished|status|progress|wip|to-?do)\b|\d/\d\d?/\d", re.I
)


def add_orphans(rec: Recorder, job: Job) -> None:
    """Add a row for each file with a clear title, if the index has room for all. A first index is asked about as a whole."""
    for index_path in (memdir.INDEX_NAME, TEAM_INDEX):
        if not rec.tree.writable(index_path) or index_path in rec.tree.hand_edited:
            continue
        found = unlisted(rec.tree, index_path, job.left_unlisted)
        if not has_room(rec.tree, index_path, found, job.config):
            told = plural(len(found), "memory is", "memories are")
            rows = "its row" if len(found) == 1 else "a row for each"
            rec.note(f"{told} not in any index, and {index_path} has no room for {rows}.")
            continue
        titles = [*_titles(rec.tree, index_path).values(), *(written_title(rec.tree, path) for path in found)]
        for path in found if _is_settled(rec.tree, index_path, job, len(found)) else ():
            if _is_surely_listed(rec.tree, path) and titles.count(written_title(rec.tree, path)) == 1:
                add(rec, index_path, path, job.config)
    is_free = memdir.INDEX_NAME not in rec.tree.texts and rec.tree.writable(memdir.INDEX_NAME)
    if is_free and (paths := rec.tree.memories()) and not _is_memory_folder(rec.tree):
        rec.note(f"There is no {memdir.INDEX_NAME} to list the {plural(len(paths), 'file')}.")


def _is_settled(tree: Tree, index_path: str, job: Job, missing: int) -> bool:
    """Whether an index is there to list memories: somebody else wrote in it, or it has more rows than it lacks."""
    if (file := tree.workspace.snapshot.files.get(index_path)) is None:
        return False
    says = {*memdir.kinds(tree.document(index_path).body)} - {"heading", "blank"}
    if says and not _titles(tree, index_path):
        return False  # it may be there for what else it says
    lines = zip(decode(file.data).split("\n"), job.line_dates.get(index_path, ()), strict=False)
    ours = {day is not None and day.ours for line, day in lines if line.strip()}
    return ours != {True} or len(memdir.parse_index(tree.texts[index_path]).rows) > missing


def _is_surely_listed(tree: Tree, path: str) -> bool:
    """Whether it has frontmatter and a written title about its topic. Titles made from file names, or with a state or day, are
    asked about."""
    title = written_title(tree, path)
    dated = _NAMED_DAY.search(path) or WRITTEN.search(title) or _TELLS_A_STATE.search(title)
    return bool(title) and tree.document(path).frontmatter is not None and not dated


def _titles(tree: Tree, index_path: str) -> dict[str, str]:
    """The targets of an index's rows for memories, and their titles."""
    index = memdir.parse_index(tree.texts.get(index_path, ""))
    return {row.target: row.title for row in index.rows if row.is_memory_target}


def has_room(tree: Tree, index_path: str, paths: Sequence[str], config: Config) -> bool:
    """Whether rows for all of them leave room for the next memory, or there are none. Names do not show which ones to leave out."""
    if len(paths) > ROOM * config.index_max_lines:  # each row is a line; making hundreds takes seconds
        return False
    if not paths:
        return True
    after = tree.texts.get(index_path, "")
    rows = [row_text(tree, path, path.removeprefix(base_of(index_path)), config.row_max) for path in paths]
    with suppress(memdir.MemoryEditError):
        after = memdir.parse_index(after).extended(rows).text  # wherever each belongs: one step for all
    state = loaded(after, config)
    return state.lines <= ROOM * config.index_max_lines and state.bytes <= ROOM * config.index_max_bytes


def add(rec: Recorder, index_path: str, path: str, config: Config) -> None:
    after = with_row(rec.tree, index_path, path, config.row_max)
    if after is None:
        return
    if not after.endswith("\n"):  # so that the next row leaves this one alone
        after += memdir.parse_index(after).newline
    reason = f"{path} was not in any index, so no session would find it."
    cited = (from_memory(path, *told_at(rec.tree, path)),)
    # By file, so that rows with equal words are decided separately.
    change = NewText(index_path, after, reason, (), cited)
    rec.count("listed", rec.operation("index", [change], key=digest(index_path, path)))


def told_at(tree: Tree, path: str) -> tuple[int, str]:
    """The line with a memory's topic, and its text; the path if it has no topic in valid UTF-8."""
    said = hook if (hook := hook_of(tree, path)) and _is_text(hook) else path
    lines = enumerate(tree.texts[path].split("\n"), 1)
    return next((number for number, line in lines if said in line), 1), said


def loaded(text: str, config: Config) -> memdir.Loaded:
    return memdir.loaded(text, max_lines=config.index_max_lines, max_bytes=config.index_max_bytes)


def unlisted(tree: Tree, index_path: str, left_unlisted: Set[str]) -> list[str]:
    """The memories that an index does not mention, that are still useful, and that no person wanted left so."""
    shared = index_path == TEAM_INDEX
    text = tree.texts.get(index_path)
    if text is None and (shared or not _is_memory_folder(tree)):
        return []
    base = base_of(index_path)
    paths = [
        path
        for path in tree.memories()
        if path not in left_unlisted
        and is_team(path) == shared
        and _is_topic(tree, path, text or "")
        and says_something(tree.texts[path])
        and not any(map(IS_OVER.search, (written_title(tree, path), hook_of(tree, path))))
    ]
    index = memdir.parse_index(text or "")
    found = [path for path in paths if not mentioned(index, path.removeprefix(base))]
    # An index that lists hardly any file is not meant to list all.
    items = memdir.sections(memdir.parse(encode(text or "")).body)
    is_prose = any(each.kind == "paragraph" for each in items)
    is_a_choice = is_prose and len(found) >= MANY and len(found) > MOST_UNLISTED * len(paths)
    return [] if is_a_choice else found


def _is_memory_folder(tree: Tree) -> bool:
    """Whether the files are memories and not other notes: more than half have frontmatter or a typed name; one in five is chance."""
    paths = tree.memories()
    told = sum(bool(tree.document(p).frontmatter or tree.kind(p) in memdir.MEMORY_TYPES) for p in paths)
    return 2 * told > len(paths)


def _is_topic(tree: Tree, path: str, index: str) -> bool:
    """Whether it needs a row: no daily notes or record, not archived, not in a folder that an index covers, and plainly named.

    Hidden characters in a name would be hidden text in the index, which would undo the complete step.
    """
    name = PurePosixPath(path).name
    if not diff.is_plain(path) or NO_MEMORY.match(name) or RECORD.fullmatch(PurePosixPath(path).stem):
        return False
    if _NAMED_DAY.search(name) and tree.document(path).frontmatter is None:
        return False
    folders = [str(folder) for folder in PurePosixPath(path).parents if str(folder) not in {".", "team"}]
    return not any(
        SET_ASIDE.fullmatch(PurePosixPath(folder).name)
        or f"{folder}/" in index
        or f"{folder}/{memdir.INDEX_NAME}" in tree.texts
        for folder in folders
    )


def with_row(tree: Tree, index_path: str, path: str, row_max: int, *, first: bool = False) -> str | None:
    """The index with a row for a file, below the rows of its kind or before all others; None if that is not possible."""
    index = memdir.parse_index(tree.texts.get(index_path, ""))
    base = base_of(index_path)
    row = row_text(tree, path, path.removeprefix(base), row_max)
    try:
        if first or not _titles(tree, index_path):  # what else it says may be about something else
            index = index.with_first(*row)
        else:
            index = index.appended(*row, heading=_heading_for(tree, index, base, tree.kind(path)))
    except memdir.MemoryEditError:
        return None
    # A new file needs a final line end.
    return index.text if index_path in tree.texts or index.text.endswith("\n") else index.text + "\n"


def _heading_for(tree: Tree, index: memdir.Index, base: str, kind: str | None) -> str | None:
    """The section named for this type, else the one with most rows of it, else with most rows."""
    for item in memdir.sections(index.text) if kind else ():
        if item.kind == "heading" and item.content.casefold().strip() in {kind, f"{kind}s"}:
            return item.content
    rows = [row for row in index.rows if row.is_memory_target]
    alike = [
        row for row in rows if kind and (p := f"{base}{row.target}") in tree.texts and tree.kind(p) == kind
    ]
    places = Counter(row.heading for row in alike or rows)
    return places.most_common(1)[0][0] if places else None


def row_text(tree: Tree, path: str, target: str, row_max: int) -> tuple[str, str, str]:
    """Title, target and hook of a row, only in words of the file. The hook is complete sentences, or the description."""
    title, stem, hook = title_of(tree, path), PurePosixPath(path).stem, hook_of(tree, path)
    titles = _titles(tree, TEAM_INDEX if is_team(path) else memdir.INDEX_NAME)
    if titles and all(PurePosixPath(each).name == titles[each] for each in titles):
        title, hook = PurePosixPath(path).name, hook or title  # as all others have
    if not _is_text(title) or values(stem):  # a secret written as words would not be found by checks
        title = stem
    if not _is_text(hook) or comparing.normalised(hook) == comparing.normalised(title):
        return title, target, ""
    if hook.lower().startswith(title.lower()) and (rest := _NEXT_CLAUSE.match(hook, len(title))):
        hook = hook[rest.end() :]
    room = row_max - len(memdir.render_row(title, target, "x")) + 1
    return title, target, summed_up(hook, room) or (hook if len(hook) <= LONGEST_HOOK else "")


def _is_text(words: str) -> bool:
    """Whether it is valid UTF-8, so that the index stays editable."""
    return is_utf8(encode(words))


def title_of(tree: Tree, path: str) -> str:
    """The written title, else the file name in words, with the capitals that the file always gives them: API, GitHub."""
    if title := written_title(tree, path):
        return title
    # Sorted, the form with fewest capitals comes last.
    said = {word.lower(): word for word in sorted(set(_WORD.findall(tree.texts[path])))}
    spelt = {key: word for key, word in said.items() if word[1:] != word[1:].lower()}
    return _WORD.sub(lambda word: spelt.get(word[0].lower(), word[0]), _as_words(PurePosixPath(path).stem))


def written_title(tree: Tree, path: str) -> str:
    """The name if it is written in words, else the title of the body, else a short sentence with the words of the file name; ""
    if none. Headings below the first level are titles of parts.
    """
    document = tree.document(path)
    name = one_line((document.frontmatter.name or "") if document.frontmatter else "")
    items = [item for item in memdir.sections(document.body) if item.kind == "heading"]
    heads = [one_line(item.content) for item in items[:1] if item.level == 1]
    for text in (name, *heads):
        title = _short(text)
        if title and not is_slug(title) and "](" not in title and "[[" not in title:
            return title
    words = _as_words(PurePosixPath(path).stem)
    said = hook_of(tree, path).rstrip(".")
    about = comparing.normalised(said).split()
    if len(said) <= TITLE_MAX and "[" not in said and set(comparing.normalised(words).split()) & set(about):
        return said[:1].upper() + said[1:]
    return ""


def _short(text: str) -> str:
    """A title, or its first part if it is long; "" if that is a single word or still too long."""
    if len(text) > LONGEST_TITLE:
        text = _TITLE_END.split(text, maxsplit=1)[0]
    return text if " " in text and len(text) <= LONGEST_TITLE else ""


def _as_words(slug: str) -> str:
    """A file name as a title: "feedback_test_first" becomes "Test first"."""
    dated = _NAMED_DAY.sub(r"\1~\2~\3", slug)
    first, *rest = [word.replace("~", "-") for word in re.split(r"[_\-\s]+", dated) if word] or [slug]
    words = " ".join(rest if rest and first.lower() in memdir.MEMORY_TYPES else [first, *rest])
    return words[:1].upper() + words[1:]


def hook_of(tree: Tree, path: str) -> str:
    """The description, else the first sentence of the body."""
    document = tree.document(path)
    description = one_line((document.frontmatter.description or "") if document.frontmatter else "")
    if says_something(description) and not names_a_day(description):
        return description
    for item in memdir.sections(document.body):
        quote = item.text.lstrip().startswith(">")
        if quote or item.kind not in {"paragraph", "bullet"} or is_labelled(item.text):
            continue
        first = next(iter(sentences(one_line(item.content or item.text))), "")
        is_bare = count_words(" ".join(_WORD.findall(memdir.mask_code(first)))) < 2  # "`ruff check` — OK"
        if not (is_bare or _FIELD.match(first) or (first.endswith(":") and len(first.split()) < LEAST_WORDS)):
            return "" if names_a_day(first) else first.rstrip(" :")
    return ""
