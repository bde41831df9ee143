"""How facts are worded: in shapes of statements from a folder, ours (`own/`) or somebody else's, so that a benchmark's wordings
need not be those of its authors; and the words that names and values are made of. Pure.

A folder's `*.jsonl` has one JSON object a line, `*.json` a list of them: `{"kind", "texts", …}` (docs/dreambench.md has
the kinds). `*.md` are real memories: a statement with a name and a value becomes a shape, by replacing both with slots.
Half of the shapes, by their hash, are the report half: people who work on an engine only look at the cases of
the work half."""

import hashlib
import json
import random
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

_FILE = tomllib.loads(Path(__file__).with_name("wordings.toml").read_text("utf-8"))
#: What is said in a case, by its kind.
SAID: Mapping[str, Sequence[Any]] = {name: told for name, told in _FILE.items() if isinstance(told, list)}
VOCABULARY: Mapping[str, list[str]] = {name: words.split() for name, words in _FILE["vocabulary"].items()}
VALUES: Mapping[str, list[str]] = _FILE["values"]
OWN = Path(__file__).with_name("own")


class Words:
    """Draws words with one random source; subjects are never drawn twice."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        pairs = [(one, two) for one in VOCABULARY["first"] for two in VOCABULARY["second"]]
        self.rng.shuffle(pairs)
        self._subjects = iter(pairs)

    def pair(self) -> tuple[str, str]:
        """The two words of a new name."""
        return next(self._subjects)

    def theme(self) -> str:
        """The topic of a memory with several statements."""
        return " ".join(self.rng.sample(VOCABULARY["themes"], 2))

    def person(self) -> str:
        return f"{self.rng.choice(VOCABULARY['people'])} {self.rng.choice(VOCABULARY['surnames'])}"

    def value(self, sort: str) -> str:
        if sort in _MADE:
            return _MADE[sort](self)
        if sort in VALUES:
            return str(self.rng.choice(VALUES[sort]))
        digits = int(sort.removeprefix("digits")) if sort.startswith("digits") else 4
        return str(self.rng.randrange(10 ** (digits - 1) + 1, 10**digits))

    def joined(self, mark: str) -> str:
        return f"{self.rng.choice(VOCABULARY['first'])}{mark}{self.rng.choice(VOCABULARY['second'])}"


# Composed values: each is drawn by one function.
_MADE: Mapping[str, Callable[[Words], str]] = {
    "person": lambda w: w.person(),
    "port": lambda w: str(w.rng.randrange(3001, 9990)),
    "days": lambda w: str(w.rng.choice((7, 14, 21, 28, 30, 45, 60, 90, 120, 180))),
    "seconds": lambda w: str(w.rng.choice((3, 5, 8, 12, 15, 20, 25, 40, 75, 100))),
    "count": lambda w: str(w.rng.randrange(11, 95) * 10),
    "time": lambda w: f"{w.rng.randrange(0, 24):02}:{w.rng.choice((5, 10, 15, 20, 25, 35, 40, 45, 50)):02}",
    "ident": lambda w: f"{w.joined('-')}-{w.rng.randrange(11, 99)}",
    "flag": lambda w: w.joined("_").upper(),
    "path": lambda w: (
        f"{w.rng.choice(('etc', 'ops', 'conf', 'src'))}/{w.joined('/')}.{w.rng.choice(('yaml', 'toml', 'sh', 'sql'))}"
    ),
    "host": lambda w: f"{w.joined('-')}.{w.rng.choice(('internal', 'corp', 'lan'))}",
    "version": lambda w: f"{w.rng.randrange(1, 20)}.{w.rng.randrange(0, 40)}.{w.rng.randrange(1, 60)}",
    "size": lambda w: f"{w.rng.choice((192, 256, 384, 512, 640, 768, 896))} MB",
    "percent": lambda w: f"{w.rng.randrange(11, 97)}%",
    "money": lambda w: f"${w.rng.randrange(11, 990)}",
    "command": lambda w: f"{w.rng.choice(('make', 'just', 'npm run', 'uv run'))} {w.joined('-')}",
    "ticket": lambda w: f"{w.rng.choice(('OPS', 'PLAT', 'ENG', 'DATA'))}-{w.rng.randrange(100, 9999)}",
    "table": lambda w: w.joined("_"),
}


Half = Literal["work", "report"]
HALVES: tuple[Half, ...] = ("work", "report")
MOST_FILES = 500  # read from a folder; chosen
MOST_BYTES = 1_000_000  # of one of them; chosen
MOST_SHAPES = 5_000  # kept of all of them; chosen
MOST_LETTERS = 1_000  # of a text in a shape; chosen
# The slots that every text of a kind needs; for a fact or a day, one of several forms.
NEEDED: Mapping[str, tuple[str, ...]] = {
    "fact": ("{subject}", "{value}"),
    "environment": ("{subject}", "{env}", "{value}"),
    "dated": ("{fact}", "{day}|{day_long}|{day_us}"),
    "forget": ("{subject}|{fact}",),
    "expiry": ("{subject}", "{day}|{day_long}|{day_us}"),
    "lure": ("{fact}",),
    "secret": ("{subject}", "{secret}"),
    "code": ("{word}",),
    "body": ("{fact}",),
    "title": ("{subject}",),
    "subject": ("{a}|{A}", "{b}|{B}"),
    "filler": (),
    "values": (),
    "env": (),
}
_SHARED = frozenset({"values", "env", "subject"})  # vocabulary, shared by both halves
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_SUBJECT = re.compile(
    r"`(?P<code>[A-Za-z][\w-]{3,30})`|\b(?P<name>[A-Za-z][a-z]+(?:[-_][a-z]+)+|[A-Z][a-z]+[A-Z]\w+)\b"
)
_VALUE = re.compile(r"`(?P<code>[\w./:@-]{3,40})`|(?<![\w.,-])(?P<number>\d+(?:\.\d+)*)(?![\w,-]|\.\d)")


class NoShapes(Exception):
    """The folder has no usable statements; the message says why."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Wordings of one statement. For the kinds `fact` and `environment`, `texts` are paraphrases of each other.

    `told`: how a person reports a change; `leans`: text elsewhere that depends on the value; `file` and `content`: code
    in the repository, with `more`, notes that add to it; `role`: the speaker of a lure.
    """

    kind: str
    texts: tuple[str, ...]
    sort: str
    told: tuple[str, ...]
    leans: tuple[str, ...]
    file: str
    content: Any
    more: tuple[str, ...]
    role: str

    @property
    def half(self) -> Half:
        return HALVES[hashlib.sha256(f"{self.kind}\0{self.texts[0]}".encode()).digest()[0] % 2]


@dataclass
class Shapes:
    """All shapes of a folder. `refused` lists what was left out, a line each."""

    of: dict[str, list[Shape]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def kind(self, kind: str, half: Half) -> list[Shape]:
        return [s for s in self.of.get(kind, ()) if kind in _SHARED or s.half == half]

    def values(self, sort: str) -> list[str]:
        return [text for s in self.of.get("values", ()) if s.sort == sort for text in s.texts]

    def add(self, shape: Shape) -> None:
        self.of.setdefault(shape.kind, []).append(shape)


def read(folder: Path) -> Shapes:
    """Every shape of a folder, sorted by file name. Raises NoShapes."""
    if not folder.is_dir():
        raise NoShapes(f"{folder} is not a folder.")
    found = Shapes()
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            found.refused.append(f"{name}: {error}")
            continue
        for number, row in _rows(path.suffix, text, found, name):
            _take(found, row, f"{name}:{number}")
    if not any(found.kind("fact", half) for half in HALVES):
        raise NoShapes(f"{folder} has no statement with a subject and a value. See docs/dreambench.md.")
    return found


def _files(folder: Path) -> list[Path]:
    suffixes = {".jsonl", ".json", ".md"}
    found = (
        p for p in sorted(folder.rglob("*")) if p.suffix in suffixes and p.is_file() and not p.is_symlink()
    )
    return [p for p, _ in zip(found, range(MOST_FILES), strict=False) if p.stat().st_size <= MOST_BYTES]


def _rows(suffix: str, text: str, found: Shapes, name: str) -> Iterator[tuple[int, object]]:
    if suffix == ".md":
        yield from _statements(text)
        return
    lines = enumerate(text.splitlines(), start=1) if suffix != ".json" else [(1, text)]
    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            made = json.loads(line)
        except ValueError as error:
            found.refused.append(f"{name}:{number}: no JSON ({error})")
            continue
        for row in made if isinstance(made, list) else [made]:
            yield number, row


def _take(found: Shapes, row: object, place: str) -> None:
    if sum(map(len, found.of.values())) >= MOST_SHAPES:
        return
    try:
        found.add(_shape(row))
    except (KeyError, TypeError, ValueError) as error:
        found.refused.append(f"{place}: {error}")


def _shape(row: object) -> Shape:
    if not isinstance(row, Mapping):
        raise TypeError("not an object")
    kind = str(row.get("kind", ""))
    if kind not in NEEDED:
        raise ValueError(f"unknown kind {kind!r}")
    made = Shape(
        kind,
        _texts(row, "texts", NEEDED[kind]),
        sort=str(row.get("sort", "")),
        told=_texts(row, "told", NEEDED["fact"]),
        leans=_texts(row, "leans", NEEDED["fact"]),
        file=str(row.get("file", "")),
        content=row.get("content", ""),
        more=_texts(row, "more", NEEDED[kind]),
        role=str(row.get("role", "user")),
    )
    if not made.texts:
        raise ValueError("no texts")
    if kind == "code" and (not made.file or "{word}" not in json.dumps(made.content)):
        raise ValueError("code needs a file and a content with {word}")
    if made.file.startswith(("/", "..")) or ".." in made.file.split("/"):
        raise ValueError("a file must be inside the repository")
    return made


def _texts(row: Mapping[str, Any], name: str, needed: Sequence[str]) -> tuple[str, ...]:
    given = row.get(name, ())
    texts = [given] if isinstance(given, str) else list(given)
    for text in texts:
        if not isinstance(text, str) or not 0 < len(text) <= MOST_LETTERS:
            raise ValueError(f"{name} must be texts of at most {MOST_LETTERS:,} letters")
        lacking = [slot for slot in needed if not any(one in text for one in slot.split("|"))]
        if lacking:
            raise ValueError(f"{text[:60]!r} lacks {lacking[0]}")
    return tuple(dict.fromkeys(texts))


# --- Real memories --------------------------------------------------------------------------------------------------


def _statements(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Shapes of the one-line list items and paragraphs that have a name and a value."""
    for number, line in _prose(text):
        shape = _of_line(_ITEM.sub("", line).strip())
        if shape:
            yield number, shape


def _prose(text: str) -> Iterable[tuple[int, str]]:
    lines = text.splitlines()
    head = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    start = head + 1 if lines and lines[0].strip() == "---" else 0
    fenced = False
    for number, line in enumerate(lines[start:], start=start + 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith(("#", "|", ">", "<")) and 20 <= len(line) <= 300:
            yield number, line


def _of_line(line: str) -> dict[str, Any] | None:
    if "{" in line or "](" in line or "[[" in line:
        return None
    subject = _SUBJECT.search(line)
    if not subject:
        return None
    values = [m for m in _VALUE.finditer(line) if m.end() <= subject.start() or m.start() >= subject.end()]
    if not values:
        return None
    value = values[-1]
    own = value["code"] or value["number"]
    spans = sorted(
        [
            (subject.span("code" if subject["code"] else "name"), "{subject}"),
            (value.span("code" if value["code"] else "number"), "{value}"),
        ],
        reverse=True,
    )
    for (start, end), slot in spans:
        line = f"{line[:start]}{slot}{line[end:]}"
    if own in line or line.count("{subject}") != 1:
        return None
    return {"kind": "fact", "sort": _sort_of(own), "texts": [line], "bare": True}


def _sort_of(value: str) -> str:
    if value.isdecimal():
        return f"digits{min(len(value), 6)}"
    if re.fullmatch(r"v?\d+(\.\d+)+", value):
        return "version"
    return "path" if "/" in value else "ident"
