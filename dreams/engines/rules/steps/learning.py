"""Adds lessons to memory: to the file with their topic, else to a new file by topic. Pure but for the recorder."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import PurePosixPath

from dreams.conf import Config
from dreams.engines.rules.notes import bodies
from dreams.engines.rules.notes.bodies import with_bullet
from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, digest
from dreams.engines.rules.notes.wording import clause, headline, is_slug
from dreams.engines.rules.steps.orphans import TITLE_MAX, loaded, with_row
from dreams.engines.rules.user_statements.lessons import Lesson
from dreams.engines.types import Citation
from dreams.lib import memdir
from dreams.lib.files.text import decode, quoted
from dreams.lib.prose import lexicon
from dreams.lib.prose.exchanges import denied
from dreams.lib.prose.statement_index import StatementIndex
from dreams.lib.prose.statements import statement
from dreams.lib.prose.words import tokens

MOST_NEW_FILES = 5  # the rest is added to one file per type: a flood of files would hide them all
SHARED_WORDS = 2  # rare words, at least so many in common with a file on the same topic; chosen
# Of a new file: words of its name, and characters of a title that is a complete statement. Chosen.
TITLE_WORDS = 4
SHORT_TITLE = 50
_CONTRACTED = re.compile("(?:do|does|is|are|was|ca|wo|must|should|did)n['’]?t")
_WEAK_IN_NAMES = frozenset(
    {"instead", "rather", "before", "after", "again", "run", "don't", "stop", "remember"}
)


def learn(rec: Recorder, lessons: Sequence[Lesson], config: Config) -> None:
    """Add lessons to memory. Contradictions of memory are left to a question."""
    if not lessons:
        return
    index = StatementIndex(rec.tree.texts)
    lessons = [lesson for lesson in lessons if not denied(index, lesson.text)]
    about = _topics(rec.tree) if lessons else {}
    # New files, which later lessons on their topic are added to; what a person said and what a log says stay apart.
    fresh: dict[tuple[str, bool], dict[str, frozenset[str]]] = defaultdict(dict)
    rest: list[Lesson] = []
    for lesson in lessons:
        new = fresh[lesson.kind, lesson.is_logged]
        if _beside(rec, lesson, about[lesson.kind] | new):
            continue
        if sum(map(len, fresh.values())) == MOST_NEW_FILES:
            rest.append(lesson)
        elif path := _new_file(rec, lesson, config):
            new[path] = _about(rec.tree, path)
    for kind, logged in product(memdir.MEMORY_TYPES, (False, True)):
        of_kind = [each for each in rest if (each.kind, each.is_logged) == (kind, logged)]
        _common_file(rec, of_kind, config)


def learn_each(rec: Recorder, lessons: Sequence[Lesson], config: Config) -> list[str]:
    """Add each lesson as a separate operation, never next to another added one; returns the operations' names in order, "" for a
    lesson without a place."""
    about, names = _topics(rec.tree), []
    for lesson in lessons:
        made = len(rec.edits)
        if not _beside(rec, lesson, about[lesson.kind]):
            _new_file(rec, lesson, config)
        names.append(rec.edits[-1].operation if len(rec.edits) > made else "")
    return names


def _topics(tree: Tree) -> dict[str, dict[str, frozenset[str]]]:
    """Memory type → the files that may be added to, with the words of their names and descriptions."""
    about: dict[str, dict[str, frozenset[str]]] = {kind: {} for kind in memdir.MEMORY_TYPES}
    for path in tree.topics():
        about.setdefault(tree.kind(path) or "", {})[path] = _about(tree, path)
    return about


def _reason(lessons: Sequence[Lesson]) -> str:
    if len(lessons) > 1:
        source = "your agent’s logs" if lessons[0].is_logged else "your prompts"
        return f"From {source}, {len(lessons)} things: “{clause(lessons[0].text, 120)}” and more."
    sessions = lessons[0].sessions
    often = f" in {sessions} sessions" if sessions > 1 else ""
    if lessons[0].is_logged:
        return f"Your agent’s log says so: {quoted(clause(lessons[0].text, 160) or lessons[0].text)}."
    how = "You wrote" if lessons[0].in_passing else "You asked for"
    return f"{how} this{often}: {quoted(clause(lessons[0].text, 160) or lessons[0].text)}."


def _counted(lessons: Sequence[Lesson]) -> str:
    return "logged" if lessons[0].is_logged else "learnt"


def _cited(lessons: Iterable[Lesson]) -> tuple[Citation, ...]:
    return tuple(cited for lesson in lessons for cited in lesson.citations)


def _beside(rec: Recorder, lesson: Lesson, about: Mapping[str, frozenset[str]]) -> bool:
    """Add it to the file that clearly has the same topic."""
    for path in _fitting(lesson, about):
        document = with_bullet(rec.tree.document(path), lesson.text)
        if document is not None:
            change = NewText(path, decode(document.to_bytes()), _reason([lesson]), citations=_cited([lesson]))
            is_new = any(edit.path == path and edit.before is None for edit in rec.edits)
            done = rec.operation("learn", [change], key=digest(lesson.kind, lesson.text))
            rec.count(_counted([lesson]), done and not is_new)  # all of a new file is one decision
            return done
    return False


def _fitting(lesson: Lesson, about: Mapping[str, frozenset[str]]) -> list[str]:
    """Files whose name or description shares rare words with the lesson, best first."""
    counts = Counter(word for words in about.values() for word in words)
    rare = max(2, len(about) // 5)
    told = content(lesson.text)
    scores = {}
    for path, words in about.items():
        shared = {word for word in words & told if counts[word] <= rare}
        name = bodies.words_of(PurePosixPath(path).stem) if shared else frozenset()
        if len(shared) >= SHARED_WORDS or (name and name <= told):
            scores[path] = len(shared)
    return sorted(scores, key=lambda path: (-scores[path], path))


def _about(tree: Tree, path: str) -> frozenset[str]:
    front = tree.document(path).frontmatter
    texts = [PurePosixPath(path).stem, *((front.name or "", front.description or "") if front else ())]
    return bodies.words_of(". ".join(texts))


def content(text: str) -> frozenset[str]:
    """The words of a statement's topic."""
    words = statement(text).weights
    return frozenset(word for word in words if word not in lexicon.GENERIC and not word[:1].isdigit())


def _new_file(rec: Recorder, lesson: Lesson, config: Config) -> str:
    """The path of a new memory with the lesson; "" if it cannot be written."""
    title = _title(lesson.text)
    words = _telling(title) or lesson.text.split()[:TITLE_WORDS]
    names = (*rec.tree.texts, *rec.tree.workspace.paths())
    path = memdir.safe_file_name(" ".join(words), lesson.kind, names)
    return path if _write(rec, path, [lesson], title or PurePosixPath(path).stem, config) else ""


def _title(text: str) -> str:
    """The title of a new file: the first clause, shortened if it is longer than a row's title."""
    fits = not clause(text, SHORT_TITLE).endswith("…")
    return headline(text, SHORT_TITLE if fits else TITLE_MAX)


def _telling(title: str) -> list[str]:
    """The topic words of a title as written, and its first negation with the negated word."""
    about = content(title)
    words = [
        token.text
        for token in tokens(title.replace("`", " "))
        if token.kind in {"word", "identifier"}
        and (
            _is_denial(token.text)
            or (token.text.lower() not in _WEAK_IN_NAMES and statement(token.text).weights.keys() & about)
        )
    ]
    found = list(dict.fromkeys(re.sub("['’]", "", word) if _is_denial(word) else word for word in words))
    denied = next((at for at, word in enumerate(found) if _is_denial(word)), -1)
    if denied < 0:
        return found[:TITLE_WORDS]
    if denied >= TITLE_WORDS:
        return [*found[: TITLE_WORDS - 1], *found[denied : denied + 2]]
    return found[: TITLE_WORDS + 1]


def _is_denial(word: str) -> bool:
    """Whether it is a negation, including "don't" and "dont"."""
    return word.lower() in lexicon.NEGATIONS or _CONTRACTED.fullmatch(word.lower()) is not None


def _common_file(rec: Recorder, lessons: Sequence[Lesson], config: Config) -> None:
    """Add lessons beyond `MOST_NEW_FILES` to the common file of their type, which is named by the type."""
    if not lessons:
        return
    path = f"{lessons[0].kind}.md"
    if path not in rec.tree.texts:
        _write(rec, path, lessons, lessons[0].kind, config)
    elif rec.tree.free(path):
        document = rec.tree.document(path)
        for lesson in lessons:
            document = with_bullet(document, lesson.text) or document
        change = NewText(path, decode(document.to_bytes()), _reason(lessons), citations=_cited(lessons))
        rec.count(_counted(lessons), rec.operation("learn", [change]))


def _write(rec: Recorder, path: str, lessons: Sequence[Lesson], title: str, config: Config) -> bool:
    text = _style(rec.tree).file(path, title, lessons)
    reason, cited = _reason(lessons), _cited(lessons)
    changes = [NewText(path, text, reason, citations=cited)]
    if rec.tree.writable(memdir.INDEX_NAME):
        rec.tree.put(path, text)
        index = with_row(rec.tree, memdir.INDEX_NAME, path, config.row_aim)
        if index is not None and any(row.target == path for row in loaded(index, config).rows_dropped):
            # The end of a too long index is not loaded.
            index = with_row(rec.tree, memdir.INDEX_NAME, path, config.row_aim, first=True)
        rec.tree.put(path, None)
        if index is not None:
            changes.append(NewText(memdir.INDEX_NAME, index, reason, citations=cited))
    done = rec.operation("learn", changes, key=digest(*(lesson.text for lesson in lessons)))
    rec.count(_counted(lessons), done)
    return done


@dataclass(frozen=True, slots=True)
class _Style:
    """How this directory writes its memories."""

    nested: bool
    node_type: str
    slugs: bool
    newline: str

    def file(self, path: str, title: str, lessons: Sequence[Lesson]) -> str:
        name = PurePosixPath(path).stem if self.slugs else title
        description = clause(lessons[0].text, 140)
        kind = lessons[0].kind
        lines = ["---", f"name: {memdir.render_value(name)}"]
        if description:
            lines.append(f"description: {memdir.render_value(description)}")
        if self.nested:
            lines.append("metadata:")
            lines += [f"  node_type: {memdir.render_value(self.node_type)}"] if self.node_type else []
            lines.append(f"  type: {kind}")
        else:
            lines.append(f"type: {kind}")
        lines += ["---", "", *(f"- {lesson.text}" for lesson in lessons)]
        return "".join(f"{line}{self.newline}" for line in lines)


def _style(tree: Tree) -> _Style:
    fronts = [front for path in tree.memories() if (front := tree.document(path).frontmatter)]
    nested = [front for front in fronts if front.shape == "nested"]
    node_types = Counter(v for f in nested if isinstance(v := f.metadata.get("node_type"), str))
    names = [
        (path, front.name)
        for path in tree.memories()
        if (front := tree.document(path).frontmatter) and front.name
    ]
    slugs = [name for path, name in names if name == PurePosixPath(path).stem or is_slug(name)]
    crlf = sum("\r\n" in text for text in tree.texts.values())
    return _Style(
        nested=len(nested) * 2 > len(fronts),
        node_type=next((v for v, count in node_types.most_common(1) if count * 2 > len(nested)), ""),
        slugs=len(slugs) * 2 > len(names) > 0,
        newline="\r\n" if crlf * 2 > len(tree.texts) else "\n",
    )
