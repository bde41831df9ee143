"""Questions about what the repository already says. PURE: nothing without a repository."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from dreams.engines.linedates import day_in_name
from dreams.engines.rules.notes.bodies import BULLET, REMARK
from dreams.engines.rules.notes.removing import fates, remove
from dreams.engines.rules.notes.tree import Recorder, Tree, is_index
from dreams.engines.rules.notes.wording import begins_with_a_label, sentences
from dreams.engines.rules.questions.families import Inputs, is_sentence, leads, leaves_entries, place
from dreams.engines.rules.repository import Repository
from dreams.engines.types import KEEP, Citation, Question
from dreams.lib.files.text import quoted
from dreams.lib.prose import comparing
from dreams.lib.prose.pieces import pieces
from dreams.lib.prose.statement_index import FEW, StatementIndex
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.statements import canonical, statement
from dreams.lib.prose.values import read

LONGEST = 240  # characters of a statement that says only this
LONGEST_LINE = 1_000  # of configuration; longer lines are data that matches anything
LEAST_WORDS, LEAST_VALUE, LEAST_STEM = 3, 4, 3
OUTSIDE = "/"  # marks instruction files, which may be named like a memory
MOST_LINES = 5_000  # of configuration; values that no line has are sorted last
MOST_PLACES = 5  # of one question; chosen
LITTLE = 7  # most statements of a memory, as a multiple of the repeated ones; chosen
OF_A_VALUE = 2  # weight of a value, in words
LEAST_SHARE = 0.7  # least share of a statement's weight that the file says too; chosen
MOST_ABOVE = 60  # lines searched for the parents of a line
NEAR = 3  # lines around a line that belong to it
RARE = 3  # lines of all configuration that have a value which tells where it is from
_WORD = re.compile(r"[\w@.+/:^~><=*-]*\w[\w@.+/:^~><=*-]*")
_CODE = re.compile(r"`([^`\n]+)`")
_PLAIN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NAME = re.compile(r"[A-Za-z][\w-]*\w")
_JOINS = re.compile(r"=+|(?<=\w)[@:]")
# What prose calls each kind of file and its contents.
_SORTS = {
    "package.json": ("npm", "package", "node", "script"),
    "pyproject": ("python", "package", "project", "entry", "point"),
    "requirements": ("python", "pip", "dependency", "pin"),
    "dockerfile": ("docker", "image", "container"),
    "compose": ("docker", "stack", "service"),
    ".github/workflows": ("ci", "workflow", "github", "job", "action"),
    "makefile": ("make", "target"),
}


def says_already(context: Inputs) -> Iterator[Question]:
    """One question for each memory and the file that repeats it."""
    repo = context.repository
    if repo is None:
        return
    units = [unit for unit in context.askable if not day_in_name(unit.path)]
    instructed, told, begun = _Instructed(context.tree_before, repo, units), ConfigLines(repo), leads(units)
    found: dict[tuple[str, str], list[tuple[PlacedText, _Line]]] = defaultdict(list)
    for unit in units:
        context.report.checkpoint()
        line = None if (unit.path, unit.first_line) in begun else instructed.by(unit)
        if line is None and not unit.frame:
            line = told.by(unit, least_values=2 if context.tree_before.is_rule(unit.path) else 1)
        # The file does not say its reason, which would be left behind or lost.
        if line is not None and not REMARK.search(unit.raw):
            found[unit.path, line.path].append((unit, line))
    told_by = Counter(unit.path for unit in units)
    for (memory, path), pairs in found.items():
        alone = path in repo.configs and len(pairs) == 1 and told_by[memory] > FEW
        if alone and not is_sentence(pairs[0][0].text):
            continue  # one label among many; of sixteen on public directories none was worth an answer
        is_rule = is_index(memory) or context.tree_before.is_rule(memory)
        is_little = len(pairs) * LITTLE < told_by[memory]
        is_torn = path not in repo.configs and leaves_entries(units, [unit for unit, _ in pairs])
        text, name = context.tree_before.texts[memory], PurePosixPath(path).name
        if not is_index(memory) and text.count(name) > sum(unit.raw.count(name) for unit, _ in pairs):
            continue  # the memory tells in another line where this is from, and keeps it all the same
        is_field = all(begins_with_a_label(unit.text) for unit, _ in pairs if BULLET.match(unit.raw))
        # A repeated fact may belong to its context; a rule is needed once, but not taken out of a long list or of its fields.
        if (is_torn and (is_little or is_field)) if is_rule else (is_little or is_torn):
            continue
        yield from _derived(context, path, pairs[:MOST_PLACES])


def _derived(context: Inputs, path: str, pairs: "Sequence[tuple[PlacedText, _Line]]") -> Iterator[Question]:
    cited = tuple(
        Citation("repository", line.text[:300], place=path, line_no=line.line_no) for _, line in pairs
    )
    option = context.draftsman.option("remove", "Remove what it repeats", _remove_all, pairs, cited)
    numbers = sorted({line.line_no for _, line in pairs})
    where = f"in line{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
    yield Question(
        "derived",
        " ".join(comparing.normalised(unit.text)[:80] for unit, _ in pairs),
        f"{path} seems to say this already, {where}.",
        tuple(place(unit) for unit, _ in pairs),
        (option, KEEP),
        cited,
        weight=0.4 if path.endswith(".md") else 0.2,  # of configuration four of ten were of use
    )


def _remove_all(
    rec: Recorder, pairs: "Sequence[tuple[PlacedText, _Line]]", cited: Sequence[Citation]
) -> None:
    both = zip(pairs, cited, strict=True)
    for (unit, line), citation in sorted(both, key=lambda each: -each[0][0].first_line):
        note = f"{line.path} says it, line {line.line_no}: {quoted(line.text)}."
        remove(rec, unit, "prune", note, fates(unit, "stated", note=note), (citation,))


@dataclass(frozen=True, slots=True)
class _Line:
    path: str
    line_no: int  # 1-based
    text: str


class _Instructed:
    """What instruction files (CLAUDE.md) say, in the same words or with most of the rare ones."""

    def __init__(self, tree: Tree, repo: Repository, units: Sequence[PlacedText]) -> None:
        told = {path: tree.texts[path] for path in {unit.path for unit in units}}
        own = set(tree.texts.values())  # an index that the instructions include
        said = {f"{OUTSIDE}{path}": text for path, text in repo.instructions.items() if text not in own}
        self._paths = said.keys()
        self._index = StatementIndex({**told, **said} if said else {})
        bodies = [each for each in self._index.statements if each.source == "body"]
        self._told = {(each.path, each.text): each for each in bodies if each.path in told}
        self._said = {
            _words(text): each
            for each in reversed(bodies)
            if each.path in said
            for text in (*sentences(each.text), each.text)
        }

    def by(self, unit: PlacedText) -> _Line | None:
        """The line that says the same."""
        words, told = _words(unit.text), self._told.get((unit.path, unit.text))
        said = self._said.get(words) if len(words[0]) >= LEAST_WORDS else None
        if said is None and told is not None:
            others = self._index.same_in(self._paths, told)
            said = next((each for each in others if not comparing.says_more(unit.text, each.text)), None)
        return _Line(said.path.removeprefix(OUTSIDE), said.first_line, said.text) if said else None


def _words(text: str) -> tuple[frozenset[str], int]:
    """The words of a text in any order, and its number of negations."""
    reading = read(text)
    return frozenset(reading.terms), reading.denials


class ConfigLines:
    """The lines of all configuration files, by word."""

    def __init__(self, repo: Repository) -> None:
        self._lines = {
            path: [line if len(line) <= LONGEST_LINE else "" for line in text.split("\n")]
            for path, text in repo.configs.items()
        }
        self._by_value: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for path, lines in self._lines.items():
            for number, line in enumerate(lines):
                whole = _WORD.findall(line)
                parts = (part for word in whole for part in _JOINS.split(word))
                for word in {*whole, *parts, *_NAME.findall(line)}:
                    self._by_value[word.casefold()].append((path, number))

    def by(self, unit: PlacedText, least_values: int = 1) -> _Line | None:
        """The line with everything that the statement names, if it says hardly anything else."""
        text = unit.text
        if len(text) > LONGEST or len(sentences(text)) > 1 or "?" in text or "[[" in text:
            return None
        if statement(text).negations:
            return None
        values = _values(text)
        rarest = min(values, key=lambda value: len(self._at(value)) or MOST_LINES, default="")
        if len(values) < least_values or len(rarest) < LEAST_VALUE or (len(values) == 1 and rarest.isalpha()):
            return None
        for path, number in self._at(rarest)[:RARE]:
            near = self._lines[path][max(number - NEAR, 0) : number + NEAR + 1]
            around = " ".join((path, *near)).casefold()
            is_remark = self._lines[path][number].lstrip().startswith(("#", "//"))
            if is_remark or all(_is_key(value, near) for value in values):
                continue  # what is set is named, and not to what
            if all(_is_in(value, around) for value in values) and self._says_most(text, values, path, number):
                return _Line(path, number + 1, self._lines[path][number].strip())
        return None

    def _at(self, value: str) -> Sequence[tuple[str, int]]:
        """The lines with the value, or with its rarest word; of several the longest."""
        words = {word.casefold() for word in (*_WORD.findall(value), *_NAME.findall(value))}
        known = words & self._by_value.keys()
        rarest = min(known, key=lambda word: (len(self._by_value[word]), -len(word), word), default="")
        return self._by_value[rarest] if rarest else ()

    def _says_most(self, text: str, values: Sequence[str], path: str, number: int) -> bool:
        """Whether the statement says little besides the values and what is around them (nearby lines, parents, path). For a single
        value something must be around it."""
        held = {canonical(word) for value in values for word in _PLAIN.findall(value.lower())}
        said = {w: weight for w, weight in read(text).terms.items() if w.isalpha() and w not in held}
        above = " ".join(self._above(path, number))
        known = {canonical(word.lower()) for word in _PLAIN.findall(above)}
        known |= {word.lower() for word in _NAME.findall(above)}
        known |= {canonical(word) for part, words in _SORTS.items() if part in path.lower() for word in words}
        covered = sum(said[word] for word in said if any(_begins(word, each) for each in known))
        found = OF_A_VALUE * len(values)
        enough = found + covered >= LEAST_SHARE * (found + sum(said.values()))
        return enough and (len(values) > 1 or covered > 0)

    def _above(self, path: str, number: int) -> Iterator[str]:
        """The surrounding lines, the parents and section above, and the path."""
        lines, depth = self._lines[path], 1_000
        yield path
        yield from lines[max(number - NEAR, 0) : number + NEAR + 1]
        for line in reversed(lines[max(number - MOST_ABOVE, 0) : number + 1]):
            indent = len(line) - len(line.lstrip())
            is_section = line.startswith("[") and depth >= 0
            if line.strip() and (indent < depth or is_section):
                yield line
                depth = -1 if is_section else indent


def _is_key(value: str, lines: Sequence[str]) -> bool:
    """Whether a line sets it to something; "8080:80" does not."""
    is_set = re.compile(rf"[\s\"'-]*{re.escape(value)}(?:=|[\"']?: *[^\s{{\[])")
    return not value.isdigit() and any(is_set.match(line.casefold()) for line in lines)


def _begins(one: str, other: str) -> bool:
    """ "dep" and "dependencies", "linter" and "lint"."""
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= LEAST_STEM and long.startswith(short))


def _values(text: str) -> list[str]:
    """Code, numbers and names without repetition; a code span is one value, "name==1.2" is two."""
    coded = [" ".join(span.split()).casefold() for span in _CODE.findall(text)]
    bare = [
        part.removeprefix("./")
        for piece in pieces(_CODE.sub(" ", text))
        if piece.shape in {"number", "code"} and not piece.text.isalpha()
        for part in _JOINS.split(piece.text.casefold())
    ]
    return list(dict.fromkeys(value for value in (*coded, *bare) if value))


def _is_in(value: str, around: str) -> bool:
    """Whether the value, or each word of a command, is in these lines."""
    return value in around or all(
        word in around for word in value.split() if word not in {"npm", "run", "make", "pnpm", "yarn"}
    )
