"""What the repository says already. PURE: silent without a repository."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from rapidfuzz import fuzz

from dreams import memdir
from dreams import text as texts
from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.notes.removing import fates, remove
from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.notes.wording import one_line, sentences
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.units import KEEP, askable, place
from dreams.engines.rules.repository import Repository
from dreams.engines.types import Citation, Question
from dreams.language import lexicon, similarity
from dreams.language.pieces import pieces
from dreams.language.statements import statement
from dreams.linedates import day_in_name
from dreams.text import quoted

LONGEST = 240  # characters of a statement that says only this
LEAST_WORDS, LEAST_VALUE = 4, 4
NEARLY_SAME = 90  # of 100, as rapidfuzz counts words in any order
MOST_LINES, MOST_NEAR = 5_000, 100
MOST_PLACES = 5
NEAR = 3  # lines around a line that belong to it
RARE = 3  # lines of all configuration that have a value which tells where it is from
_WORD = re.compile(r"[\w@.+/:^~><=*-]*\w[\w@.+/:^~><=*-]*")
_CODE = re.compile(r"`([^`\n]+)`")
_CLAUSES = re.compile(r"[,;(—–]|\s-\s|\.\s|\bbecause\b|\bbut\b")
# How a file of each sort is called in prose.
_SORTS = {
    "package.json": ("npm", "package", "package.json", "node"),
    "pyproject": ("python", "pyproject", "pyproject.toml", "package"),
    "dockerfile": ("docker", "dockerfile", "image", "container"),
    "compose": ("compose", "docker", "docker-compose", "service"),
    ".github/workflows": ("ci", "workflow", "github", "job", "actions"),
    "makefile": ("make", "makefile", "target"),
    "go.mod": ("go", "module"),
}
_HIS_OWN = frozenset({"user", "feedback"})


def says_already(context: Asking) -> Iterator[Question]:
    """One question for a memory and the file that says what it says."""
    repo = context.repository
    if repo is None:
        return
    units = [unit for unit in askable(context.tree_before) if not day_in_name(unit.path)]
    instructed, told = _Instructed(repo), _Told(repo)
    found: dict[tuple[str, str], list[tuple[Unit, _Line]]] = defaultdict(list)
    for unit in units:
        context.report.checkpoint()
        line = instructed.by(unit)
        if line is None and not unit.frame and context.tree_before.kind(unit.path) not in _HIS_OWN:
            line = told.by(unit)
        if line is not None:
            found[unit.path, line.path].append((unit, line))
    for (_, path), pairs in found.items():
        yield from _derived(context, path, pairs[:MOST_PLACES])


def _derived(context: Asking, path: str, pairs: Sequence[tuple[Unit, _Line]]) -> Iterator[Question]:
    cited = tuple(
        Citation("repository", line.text[:300], place=path, line_no=line.line_no) for _, line in pairs
    )
    option = context.draftsman.option(
        "remove", "Remove what it repeats", partial(_remove_all, pairs=pairs, cited=cited)
    )
    if option is None:
        return
    lines = ", ".join(str(line.line_no) for _, line in pairs)
    where = f"in line {lines}" if len(pairs) == 1 else f"in lines {lines}"
    yield Question(
        "derived",
        " ".join(similarity.normalised(unit.text)[:80] for unit, _ in pairs),
        f"{path} seems to say this already, {where}.",
        tuple(place(unit) for unit, _ in pairs),
        (option, KEEP),
        cited,
        weight=0.4,
    )


def _remove_all(rec: Recorder, pairs: Sequence[tuple[Unit, _Line]], cited: Sequence[Citation]) -> None:
    for (unit, line), citation in sorted(
        zip(pairs, cited, strict=True), key=lambda each: -each[0][0].first_line
    ):
        note = f"{line.path} says it, line {line.line_no}: {quoted(line.text)}."
        remove(rec, unit, "prune", note, fates(unit, "stated", note=note), (citation,))


@dataclass(frozen=True, slots=True)
class _Line:
    path: str
    line_no: int  # 1-based
    text: str


class _Instructed:
    """What CLAUDE.md and its like say, by their words."""

    def __init__(self, repo: Repository) -> None:
        self._lines: list[tuple[_Line, str]] = []
        self._by_word: dict[str, list[int]] = defaultdict(list)
        for path, text in sorted(repo.instructions.items()):
            document = memdir.parse(texts.encode(text))
            for item in memdir.sections(document.body, document.body_start_line):
                if item.kind not in {"paragraph", "bullet"} or len(self._lines) > MOST_LINES:
                    continue
                said = one_line(item.content or item.text)
                for each in dict.fromkeys([said, *sentences(said)]):
                    self._add(_Line(path, item.first_line, each))

    def _add(self, line: _Line) -> None:
        plain = similarity.normalised(line.text)
        for word in set(plain.split()):
            self._by_word[word].append(len(self._lines))
        self._lines.append((line, plain))

    def by(self, unit: Unit) -> _Line | None:
        """The line that says the same in nearly the same words, with every value that it names."""
        plain = similarity.normalised(unit.text)
        words = sorted(set(plain.split()), key=lambda word: len(self._by_word.get(word, ())))
        if len(words) < LEAST_WORDS:
            return None
        near = {at for word in words[:2] for at in self._by_word.get(word, ())[:MOST_NEAR]}
        best = max(near, key=lambda at: fuzz.token_sort_ratio(plain, self._lines[at][1]), default=None)
        if best is None or fuzz.token_sort_ratio(plain, self._lines[best][1]) < NEARLY_SAME:
            return None
        line = self._lines[best][0]
        return line if set(_values(unit.text)) <= set(_values(line.text)) else None


class _Told:
    """The lines of all configuration, by the values in them."""

    def __init__(self, repo: Repository) -> None:
        self._lines = {path: text.split("\n") for path, text in repo.configs.items()}
        self._by_value: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for path, lines in self._lines.items():
            for number, line in enumerate(lines):
                for word in {word.strip("\"':,").casefold() for word in _WORD.findall(line)}:
                    self._by_value[word].append((path, number))

    def by(self, unit: Unit) -> _Line | None:
        """The line around which everything that the statement names is found, if it says nothing else."""
        text = unit.text
        if len(text) > LONGEST or len(sentences(text)) > 1 or "?" in text or statement(text).negations:
            return None
        values = _values(text)
        if not values or not _only_says(text, values):
            return None
        rarest = min(values, key=lambda value: len(self._at(value)))
        if len(rarest) < LEAST_VALUE or rarest.isdigit() or (len(values) == 1 and rarest.isalpha()):
            return None
        for path, number in self._at(rarest)[:RARE]:
            near = self._lines[path][max(number - NEAR, 0) : number + NEAR + 1]
            around = " ".join(near).casefold()
            if all(_is_in(value, around) for value in values) and (len(values) > 1 or _names(text, path)):
                return _Line(path, number + 1, self._lines[path][number].strip())
        return None

    def _at(self, value: str) -> Sequence[tuple[str, int]]:
        """The lines that have the value, or its rarest word."""
        words = [word.casefold() for word in _WORD.findall(value)]
        return min((self._by_value.get(word, ()) for word in words), key=len, default=())


def _values(text: str) -> list[str]:
    """Code, numbers and names, each once; a code span of several words is one."""
    coded = [" ".join(span.split()).casefold() for span in _CODE.findall(text)]
    bare = [
        piece.text.casefold() for piece in pieces(_CODE.sub(" ", text)) if piece.shape in {"number", "code"}
    ]
    return list(dict.fromkeys([*coded, *bare]))


def _only_says(text: str, values: Sequence[str]) -> bool:
    """Whether each part of it names a value: what stands behind a comma without one is more than a file says."""
    parts = [
        part
        for part in _CLAUSES.split(_CODE.sub(lambda m: m[0].replace(",", " "), text))
        if part.strip(" .`")
    ]
    return all(any(value in part.casefold() for value in values) or not _says_much(part) for part in parts)


def _says_much(part: str) -> bool:
    return any(word not in lexicon.GENERIC for word in statement(part).weights)


def _is_in(value: str, around: str) -> bool:
    """Whether the value, or each word of a command, is in these lines."""
    return value in around or all(
        word in around for word in value.split() if word not in {"npm", "run", "make", "pnpm", "yarn"}
    )


def _names(text: str, path: str) -> bool:
    """Whether a statement of one value names the sort of file that it is from."""
    name = PurePosixPath(path).name.casefold()
    sorts = next((words for part, words in _SORTS.items() if part in path.casefold()), (name.split(".")[0],))
    return bool(set(sorts) & set(_WORD.findall(text.casefold())))
