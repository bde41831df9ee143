"""Questions that the old memory answers: drawn from what people asked in past sessions, and from the notes that change. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from dreams import memdir
from dreams.findings.base import Subject
from dreams.findings.statements import facts
from dreams.findings.statements.standing import Standing, State
from dreams.findings.statements.units import Unit, units_of
from dreams.language import lexicon
from dreams.language.statements import statement
from dreams.text import decode

MOST_ASKED = 40
MOST_NOTED = 60
MOST_PROMPTS = 300  # of past sessions, that are looked at
LONGEST_PROMPT = 400  # a longer one is a task or a paste, no question
SHARED = 2  # words of meaning that a prompt and its answer have in common, at least
LIKE = 0.5  # the share of a prompt's weight that its answer has, at least


@dataclass(frozen=True, slots=True)
class Question:
    """`text` is what is asked, `answer` the old statement that answers it. `asked` says that a person typed it."""

    text: str
    answer: Standing
    asked: bool


def questions(subject: Subject, old: State) -> list[Question]:
    """Those of past sessions first; each old statement answers at most one."""
    found = list(_from_sessions(subject, old))
    known = {question.answer.unit.key for question in found}
    noted = (one for one in _from_notes(subject) if one.answer.unit.key not in known)
    return found + [question for question, _ in zip(noted, range(MOST_NOTED), strict=False)]


def _from_sessions(subject: Subject, old: State) -> Iterator[Question]:
    seen: set[str] = set()
    for prompt in subject.asked[:MOST_PROMPTS]:
        text = " ".join(prompt.split())
        if len(text) > LONGEST_PROMPT or len(seen) >= MOST_ASKED:
            continue
        answer = next((s for s in old.likest(text) if _answers(text, s, subject.before)), None)
        if answer and answer.unit.key not in seen:
            seen.add(answer.unit.key)
            yield Question(text, answer, asked=True)


def _answers(prompt: str, standing: Standing, before: Mapping[str, bytes]) -> bool:
    """The prompt's words are mostly there or in what its memory is about, and it says something beyond them."""
    unit = standing.unit
    if unit.kind in {"heading", "title", "field"} or not facts.shared_words(prompt, unit.text):
        return False
    placed = f"{_topic(standing.path, before)}: {unit.text}"
    beyond = set(statement(unit.text[: facts.LONGEST]).weights) - set(statement(prompt).weights)
    many = len(facts.shared_words(prompt, placed)) >= SHARED
    return many and facts.coverage(prompt, placed) >= LIKE and bool(beyond)


def _from_notes(subject: Subject) -> Iterator[Question]:
    """What the changed files and the rows that change said: asked for by all words but those that are the answer."""
    for path, wanted in _touched(subject).items():
        topic = _topic(path, subject.before)
        for unit in units_of(path, subject.before.get(path)):
            near = wanted is None or any(n in wanted for n in range(unit.first_line, unit.last_line + 1))
            if near and unit.kind in {"sentence", "row", "table"} and (text := _without_answer(unit)):
                yield Question(f"{topic}: {text}", Standing(path, unit), asked=False)


def _topic(path: str, before: Mapping[str, bytes]) -> str:
    """What one who asks knows: what the memory is about, as it says itself, or as the index says of it."""
    front = memdir.parse(before[path]).frontmatter if path in before else None
    if front and (front.name or front.description):
        return " ".join(filter(None, [front.name, front.description])).replace("_", " ").replace("-", " ")
    index = _index(before.get(memdir.INDEX_NAME, b""))
    return " ".join(f"{row.title} {row.hook}" for row in index.rows_for(path))


@lru_cache(maxsize=2)
def _index(data: bytes) -> memdir.Index:
    """Asked for by every question of one check."""
    return memdir.parse_index(decode(data))


def _touched(subject: Subject) -> dict[str, set[int] | None]:
    """Path → its lines (1-based) that matter; None for all of it. Of an index only the rows that leave."""
    found: dict[str, set[int] | None] = {}
    for hunk in subject.hunks:
        if hunk.path.rpartition("/")[2] != "MEMORY.md":
            found[hunk.path] = None
            continue
        lines = found.setdefault(hunk.path, set())
        if lines is not None:
            lines.update(range(hunk.base_start + 1, hunk.base_start + 1 + len(hunk.removed)))
    for path in _rowless(subject):
        found[path] = None
    return found


def _rowless(subject: Subject) -> Iterable[str]:
    """Memories that a row which leaves pointed to: they may not be found any more."""
    gone = "\n".join(
        line for hunk in subject.hunks if hunk.path.endswith("MEMORY.md") for line in hunk.removed
    )
    return [path for path in sorted(subject.before) if path != "MEMORY.md" and f"({path})" in gone]


def _without_answer(unit: Unit) -> str:
    """The statement without its numbers, code and names; "" when too little is left to ask with."""
    made = statement(unit.text[: facts.LONGEST])
    anchors = {item.word for item in made.items if item.anchor}
    words = [item.word for item in made.items if not item.anchor and item.word not in lexicon.GENERIC]
    return " ".join(dict.fromkeys(words)) if anchors and len(set(words)) > 1 else ""
