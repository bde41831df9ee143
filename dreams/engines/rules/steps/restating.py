"""Replaces a statement by a person's newer wording that is the same except for what changed. Pure but for the recorder."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from dreams.engines.rules.notes.bodies import standing_lines
from dreams.engines.rules.notes.removing import Rewording, reword
from dreams.engines.rules.notes.tree import Recorder, Tree, is_index, is_log, is_team
from dreams.engines.rules.notes.wording import below_label, label_of, sentences
from dreams.engines.rules.user_statements.lessons import Lesson
from dreams.engines.rules.user_statements.phrases import DOUBTFUL
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.statements import Stated
from dreams.engines.types import Citation
from dreams.lib import memdir
from dreams.lib.files.text import quoted
from dreams.lib.prose import lexicon
from dreams.lib.prose.comparing import adds, normalised
from dreams.lib.prose.exchanges import exchange, words_of
from dreams.lib.prose.pieces import WEAK, ComparedWord, keys_of, pieces
from dreams.lib.prose.statement_index import statements_of
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.statements import statement

MOST_COMPARED = 200  # statements, to bound time; chosen
ANEW = "You reworded it."


@dataclass(frozen=True, slots=True)
class _Said:
    """A complete statement, and how it was said."""

    text: str
    citations: tuple[Citation, ...]
    how: Stated


def restate(rec: Recorder, heard: Sequence[Heard], lessons: Sequence[Lesson], told: set[str]) -> set[str]:
    """Replace old wordings by new ones; returns the statements that memory now has."""
    said = [
        each for each in _said(heard, lessons) if told.isdisjoint((each.text.rstrip("."), each.how.quote))
    ]
    memory = _Lines(rec.tree) if said else None
    done: set[str] = set()
    for place, each in enumerate(said):
        rec.report.checkpoint()
        later = said[place + 1 : place + MOST_COMPARED]
        if memory is None or any(each.text in whole for whole in done):
            continue  # a sentence of the current text
        line = PlacedText("", "body", 1, 1, each.text, each.text)
        if any(_is_restated(line, other) for other in later):
            continue
        if _restate(rec, memory, each):
            done.add(each.text)
            rec.count("updated", 1)
            memory = _Lines(rec.tree)
    return done


def _said(heard: Sequence[Heard], lessons: Sequence[Lesson]) -> Iterator[_Said]:
    for lesson in (each for each in lessons if not each.is_logged):
        yield _Said(lesson.text, tuple(lesson.citations), Stated(lesson.text, lesson.text, noted=True))
    for place, each in enumerate(heard):
        for stated in each.stated:
            begins_a_list = stated.text.endswith(":") and not each.prompt.text.rstrip().endswith(stated.quote)
            if not begins_a_list and not _is_changed(stated, heard[place + 1 :]):
                stop = "." if stated.quote.rstrip().endswith(f"{stated.text}.") else ""
                yield _Said(stated.text + stop, (each.citation(stated.quote),), stated)


def _is_changed(stated: Stated, later: Sequence[Heard]) -> bool:
    """Whether a later change replaces it, which would conflict with this step."""
    typed = [one for each in later[:MOST_COMPARED] for one in each.typed if one.changes]
    words = words_of(stated.text)
    return any(words & words_of(one.text) and exchange(stated.text, one.text, "") for one in typed)


class _Lines:
    """The lines of memory that may be reworded: `near` by their first words, `like` by all, `rows` by the file they lead to."""

    def __init__(self, tree: Tree) -> None:
        self.near: dict[str, list[PlacedText]] = defaultdict(list)
        self.like: dict[str, list[PlacedText]] = defaultdict(list)
        self.rows: dict[str, list[PlacedText]] = defaultdict(list)
        for line in _lines_of(tree):
            self.near[opening(line.text)].append(line)
            self.like[normalised(line.text)].append(line)
            if line.source == "row":
                self.rows[line.target].append(line)


def _lines_of(tree: Tree) -> Iterator[PlacedText]:
    """Lines of memories and indexes, descriptions, and hooks of rows."""
    for path in sorted(
        path for path in tree.texts if not is_log(path) and not is_team(path) and tree.rewordable(path)
    ):
        for unit in standing_lines(path, tree.document(path)):
            if not is_index(path) or not memdir.parse_index(unit.raw).rows:
                yield unit
        yield from (each for each in statements_of({path: tree.texts[path]}) if each.source != "body")


def _restate(rec: Recorder, memory: _Lines, said: _Said) -> bool:
    """Reword the only statement that can be meant, or if no body has it, a file's summaries."""
    target, hook = _told_row(said.text)
    text = hook or said.text
    alike = memory.like[normalised(said.how.cited)] if said.how.cited else memory.near[opening(text)]
    meant = memory.rows[target] if target else [line for line in alike if _is_restated(line, said)]
    bodies = [line for line in meant if line.source == "body"]
    if len(bodies) > 1:
        return False
    chosen = bodies or meant
    if not chosen or len({(line.target, normalised(line.text)) for line in chosen}) != 1:
        return False
    wordings = [Rewording(line, below_label(line.text, text)) for line in chosen]
    reason = f"You reworded it: {quoted(said.citations[-1].quote)}."
    return not text.startswith(("#", ">", "-", "|")) and reword(rec, wordings, reason, ANEW, said.citations)


def _told_row(text: str) -> tuple[str, str]:
    """Target and hook if `text` is an index row, else empty."""
    rows = memdir.parse_index(f"- {text}\n").rows if text.startswith("[") else ()
    return (rows[0].target, rows[0].hook) if len(rows) == 1 and len(rows[0].targets) == 1 else ("", "")


def _is_restated(line: PlacedText, said: _Said) -> bool:
    if said.how.cited:
        return normalised(line.text) == normalised(said.how.cited)
    if said.how.unsure and not _doubts(said.text) <= _doubts(line.text):
        return False
    return (
        (said.how.noted or _is_typed_again(line.text, said.text))
        and _may_be_meant_there(line, said.text)
        and restated(line.text, said.text)
    )


def _is_typed_again(line: str, said: str) -> bool:
    """Whether it is an entry or a label whose first word is typed as it is written. A plain sentence may report what happened."""
    is_entry = line.startswith("**") or not line.endswith((".", "!"))
    return is_entry and not line[:1].islower() and line.split()[:1] == said.split()[:1]


def _doubts(text: str) -> set[str]:
    return {found[0].casefold() for table in DOUBTFUL for found in table.finditer(text)}


def _may_be_meant_there(line: PlacedText, said: str) -> bool:
    """Whether the context above a line ("In staging:") does not restrict it, unless the new wording has it too."""
    told = keys_of(said)
    for above in line.frame:
        words = {key for key in keys_of(above) if not key[0].isdigit()} - lexicon.GENERIC
        if not words <= told or statement(above).negations:
            return False
    around = statement(". ".join((*line.headings, *line.frame)))
    return around.environments <= statement(said).environments


# --- Whether it is the same statement in a new wording ---------------------------------------------------------------

_DAY = re.compile(r"(?<![\d-])\d{4}-\d\d(?:-\d\d)?(?![\d-])")
_ARTICLES = frozenset({"the", "our", "a", "an", "my", "its"})
_UNSAYING = WEAK | {"port", "version", "number", "day"}  # words that a value implies
OPENING = 2  # words at most before a number that form a name with it: "firewall rule 12"
LEAST_SHARED = 3  # words at least that old and new share; any two sentences may share fewer
MOST_LOST = 2  # values
NEARLY_ALL = 0.75  # of the old words; then the second word of the subject may differ
OF_OLD, OF_NEW = 0.6, 0.4  # shares of both that must be common


def restated(old: str, new: str) -> bool:
    """Whether `new`, which a person asked to note, is a new wording of `old`."""
    # A sentence more may be the task: "Tests hit a real database. Do it again for the importer."
    if keys_of(old) == keys_of(new) or len(sentences(new)) > len(sentences(old)) or is_later(old, new):
        return is_later(old, new)
    before, now = normalised(old), normalised(new)
    if len(before.split()) >= LEAST_SHARED and now.startswith(f"{before} "):
        return True  # the old words with additions
    one, other = statement(old), statement(new)
    if keys_of(new) - _UNSAYING <= keys_of(old) and len(one.negations) == len(other.negations):
        return False  # nothing new
    if one.environments != other.environments or one.days != other.days or adds(new, old):
        return False
    if label_of(old) == label_of(new) != "":
        return True
    denied = len(one.negations) > len(other.negations) and not old.startswith("`")
    if denied and not keys_of(old) - lexicon.NEGATIONS - lexicon.STATUSES <= keys_of(new):
        return False
    return not _of_another(old, new) and _shares_most(old, new) and not _loses_values(old, new)


def is_later(old: str, new: str) -> bool:
    """Whether `new` has the same words with a later day."""
    days = _DAY.findall(old), _DAY.findall(new)
    return len(days[0]) == len(days[1]) == 1 and days[0] < days[1] and _DAY.sub("", old) == _DAY.sub("", new)


def opening(text: str) -> str:
    """The first meaningful word, which a statement and its new wording share."""
    return next((piece.key for piece in _telling(text) if not piece.key[:1].isdigit()), "")


def _shares_most(old: str, new: str) -> bool:
    mine, theirs = (keys_of(text) - WEAK for text in (old, new))
    enough = len(mine & theirs) >= max(LEAST_SHARED, OF_OLD * len(mine), OF_NEW * len(theirs))
    one, other = _subject(old), _subject(new)
    nearly = len(mine & theirs) >= NEARLY_ALL * len(mine) and one[:1] == other[:1]
    return enough and (one == other or nearly)


def _telling(text: str) -> list[ComparedWord]:
    return [piece for piece in pieces(text) if piece.key and piece.key not in WEAK]


def _subject(text: str) -> list[str]:
    """The first two meaningful words: "the API of the importer" is not "the API"."""
    return [piece.key for piece in _telling(text) if piece.shape != "number"][:2]


def _of_another(old: str, new: str) -> bool:
    """Whether a plain word, several names, or the name that identifies the thing were exchanged."""
    mine, theirs = _telling(old), _telling(new)
    keys = [piece.key for piece in mine], [piece.key for piece in theirs]
    names = values = 0
    for tag, i, k, j, m in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        gone = [piece for piece in mine[i:k] if piece.key not in keys[1]]
        come = [piece for piece in theirs[j:m] if piece.key not in keys[0]]
        if tag == "replace" and gone and come and _is_other(old, gone, new, come):
            return True
        is_part = m < len(theirs) or any(piece.is_value and piece.key not in keys[1] for piece in mine)
        if come and not gone and is_part and _is_of(pieces(new), come[0]):
            return True
        if gone and not come and k < len(mine) and _is_of(pieces(old), gone[0]):
            return True
        both = [*gone, *come] if gone and come else []
        values += any(piece.is_value for piece in (*gone, *come))
        names += any(piece.shape == "name" for piece in gone) and any(piece.shape == "name" for piece in both)
    return names > 0 and values > 1


def _loses_values(old: str, new: str) -> bool:
    """Whether several values are lost, or one without a replacement."""
    mine, theirs = ({piece.key for piece in _telling(text) if piece.is_value} for text in (old, new))
    gone = mine - keys_of(new)
    return len(gone) > MOST_LOST or (bool(gone) and not theirs - keys_of(old))


def _is_other(old: str, gone: Sequence[ComparedWord], new: str, come: Sequence[ComparedWord]) -> bool:
    shapes = [[piece.is_value for piece in found] for found in (gone, come)]
    if not any(shapes[0] + shapes[1]) or (shapes[0] == shapes[1] and not all(shapes[0])):
        return True  # "logs for 30 days", "backups for 14 days"
    sides = ((old, gone), (new, come))
    if any(_names_a_thing(pieces(text), each.start) for text, found in sides for each in found):
        return True
    if any(not each.is_value and _is_of(pieces(text), each) for text, found in sides for each in found):
        return True  # "the export of orders", "the export"
    return all(_is_of(pieces(text), found[0]) for text, found in sides)


def _is_of(found: Sequence[ComparedWord], piece: ComparedWord) -> bool:
    """Whether a word, no number, follows "of" or "for": "backups of Atlas", "backups of Borealis"."""
    return piece.shape != "number" and _before(found, found.index(piece)) in {"of", "for"}


def _names_a_thing(found: Sequence[ComparedWord], start: int) -> bool:
    """Whether a number or name near the beginning identifies the thing: "Queue 3 is drained", "customer Acme has"."""
    place = next(at for at, piece in enumerate(found) if piece.end > start)
    head = [piece for piece in found[: place + 1] if piece.text.casefold() not in _ARTICLES]
    return (
        1 < len(head) <= OPENING + 1
        and place + 1 < len(found)
        and all(piece.key and piece.key not in WEAK for piece in head)
        and all(one.end + 1 == other.start for one, other in pairwise(head))
    )


def _before(found: Sequence[ComparedWord], place: int) -> str:
    """The word before an index, without articles."""
    before = [piece.text.casefold() for piece in found[max(0, place - 2) : place]]
    before = [word for word in before if word not in _ARTICLES]
    return before[-1] if before else ""
