"""The statements of a memory's body: what they depend on, where new ones may go, and what their place says about them. Pure."""

import re
from collections.abc import Iterator, Sequence

from dreams.engines.rules.notes.wording import is_labelled, says_something, sentences
from dreams.lib import memdir
from dreams.lib.files.text import one_line
from dreams.lib.prose import comparing, lexicon
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.statements import statement
from dreams.lib.prose.values import read
from dreams.lib.prose.words import stem

BULLET = re.compile(r"^\s*[-*+]\s+")


def units(path: str, document: memdir.Document) -> list[PlacedText]:
    """The statements that can be removed without breaking the text around them: bullets without children, and paragraphs
    of one line."""
    items = memdir.sections(document.body, document.body_start_line)
    ends = list_ends(items)
    free = (place for place in range(len(items)) if _is_free(items, place))
    return [_stated(path, items, place, ends, items[place].content or items[place].text) for place in free]


def _stated(
    path: str, items: list[memdir.BodyItem], place: int, ends: list[int], text: str, last: int | None = None
) -> PlacedText:
    """The statement at an index, including the items up to `last`."""
    told = items[place : (place if last is None else last) + 1]
    raw = told[0].text if last is None else "".join(each.text for each in told).rstrip("\r\n")
    lines, frame = (told[0].first_line, told[-1].last_line), _frame(items, place, ends[place])
    return PlacedText(path, "body", *lines, one_line(text), raw, tuple(told[0].under), frame=frame)


def standing_lines(path: str, document: memdir.Document) -> Iterator[PlacedText]:
    """One-line statements that may be reworded in place: bullets without children, paragraphs (also those that introduce
    something), and each line of a paragraph of labelled lines."""
    items = memdir.sections(document.body, document.body_start_line)
    ends = list_ends(items)
    for place, item in enumerate(items):
        alone = item.kind == "paragraph" or (item.kind == "bullet" and not item.marker[:1].isdigit())
        if not alone or item.text.lstrip().startswith(">") or len(memdir.with_children(items, place)) > 1:
            continue
        lines = [line.rstrip("\r") for line in item.text.rstrip("\n").split("\n")]
        if len(lines) > 1 and not all(map(is_labelled, lines)):
            continue
        frame = _frame(items, place, ends[place])
        for number, line in enumerate(lines, start=item.first_line):
            if says_something(line):
                told = one_line(BULLET.sub("", line))
                yield PlacedText(path, "body", number, number, told, line, tuple(item.under), frame=frame)


def _is_free(items: list[memdir.BodyItem], place: int) -> bool:
    item, following = items[place], _beside(items, place, 1)
    if is_labelled(item.text) or not _may_go(items, place, item.content or item.text):
        return False
    if item.kind == "bullet":
        return not _is_explained(items, place)
    return item.first_line == item.last_line and not (following and is_labelled(following.text))


def _may_go(items: list[memdir.BodyItem], place: int, text: str) -> bool:
    """Whether it says something and nothing hangs on it: no quote, introduction, numbered step or parent."""
    item = items[place]
    if item.kind not in {"bullet", "paragraph"} or not says_something(text) or _leads_on(text):
        return False
    is_plain = not (item.content.lstrip().startswith(">") or item.marker[:1].isdigit())
    return is_plain and (item.kind == "paragraph" or len(memdir.with_children(items, place)) == 1)


def _leads_on(text: str) -> bool:
    """Whether it introduces what comes after it."""
    return text.rstrip(" *\r\n").endswith((":", "："))


def is_alone(document: memdir.Document, unit: PlacedText) -> bool:
    """Whether nothing else is below its heading, or between two rules."""
    items = memdir.sections(document.body, document.body_start_line)
    own = [at for at, each in enumerate(items) if unit.first_line <= each.first_line <= unit.last_line]
    before, behind = _beside(items, own[0], -1), _beside(items, own[-1], 1)
    if before and before.kind == "rule":
        return behind is None or behind.kind == "rule"
    level = before.level if before else 0
    return level > 0 and (behind is None or 0 < behind.level <= level)


def _is_explained(items: list[memdir.BodyItem], place: int) -> bool:
    """Whether a list has only this item, and the reason for it comes after."""
    before, behind = _beside(items, place, -1), _beside(items, place, 1)
    return bool(behind and REMARK.match(behind.text)) and not (before and before.kind == "bullet")


def _beside(items: list[memdir.BodyItem], place: int, step: int) -> memdir.BodyItem | None:
    """The next item after (1) or before (-1) one that is not blank."""
    end = len(items) if step > 0 else -1
    return next((items[at] for at in range(place + step, end, step) if items[at].kind != "blank"), None)


# It belongs to the statement before it.
REMARK = re.compile(r"\s*(?:[-*+] )?\**(?:Why|How to apply|Reason)\b[^\n:]{0,20}:")


def wholes(path: str, document: memdir.Document) -> Iterator[PlacedText]:
    """Statements that `units` leaves out: labelled ones, ones of several lines, and ones followed by remarks ("**Why:** …"),
    which belong to their lines but not to their text."""
    items = memdir.sections(document.body, document.body_start_line)
    ends = list_ends(items)
    for place, item in enumerate(items):
        text = REMARK.split(item.content or item.text, maxsplit=1)[0]
        rest = text.strip().split("\n")[1:] if item.kind == "paragraph" else ()
        if _is_free(items, place) or not _may_go(items, place, text) or any(map(is_labelled, rest)):
            continue
        last = _last_remark(items, place)
        if last is not None:
            yield _stated(path, items, place, ends, text, last)


def _last_remark(items: list[memdir.BodyItem], place: int) -> int | None:
    """The index of the last remark after a statement, or its own; None if something else may depend on it: remarks below
    several statements may be about all of them."""
    last, opens_list = place, False
    before = _beside(items, place, -1)
    is_first = before is None or before.kind in {"heading", "rule"} or _is_remark(before)
    for at in range(place + 1, len(items)):
        item = items[at]
        if item.kind == "blank":
            continue
        if _is_remark(item):
            opens_list = _leads_on(item.text)
        elif not (opens_list and item.kind == "bullet"):
            is_text = items[place].kind == "paragraph"
            led = is_text and (item.kind in {"bullet", "table"} or is_labelled(item.text))
            return None if led or item.kind == "code" else last
        if not is_first:
            return None
        last = at
    return last


def _is_remark(item: memdir.BodyItem) -> bool:
    """Whether it is a remark on the statement before it: a reason, or a labelled line without a value of its own."""
    if REMARK.match(item.text):
        return True
    is_line = item.kind == "paragraph" and item.first_line == item.last_line
    return is_line and not _leads_on(item.text) and is_labelled(item.text) and not read(item.text).anchors


def list_ends(items: Sequence[memdir.BodyItem]) -> list[int]:
    """For each item the index of the last heading or paragraph before it, where its list begins; -1 if there is none."""
    found, last = list[int](), -1
    for place, item in enumerate(items):
        found.append(last)
        if item.kind in {"heading", "paragraph"}:
            last = place
    return found


def upwards(items: Sequence[memdir.BodyItem], place: int, end: int) -> Iterator[memdir.BodyItem]:
    """The items above an item that can give it context, nearest first. At a list's first level `end` skips its other
    entries, so that a list of thousands is not walked for each bullet."""
    depth = items[place].depth
    at = place - 1
    while at >= 0:
        if depth <= 0 and at > end:
            at = end
            continue
        item = items[at]
        if item.kind == "bullet":
            depth = min(depth, item.depth)
        yield item
        at -= 1


def _frame(items: list[memdir.BodyItem], place: int, end: int) -> tuple[str, ...]:
    """The introducing line and the parent bullets, nearest first."""
    is_bullet = items[place].kind == "bullet"
    if items[place].depth <= 0 and not is_bullet:
        return ()
    return tuple(
        comparing.normalised(item.content if item.kind == "bullet" else item.text)
        for item in parents(items, place, end)
        if item.kind == "bullet" or (is_bullet and (_leads_on(item.text) or is_labelled(item.text)))
    )


def parents(items: Sequence[memdir.BodyItem], place: int, end: int) -> Iterator[memdir.BodyItem]:
    """The bullets that an item is nested in, nearest first, then the paragraph above."""
    depth = items[place].depth
    for item in upwards(items, place, end):
        if item.kind == "bullet" and item.depth < depth:
            depth = item.depth
            yield item
        elif item.kind == "heading":
            return
        elif item.kind == "paragraph" and (items[place].kind == "bullet" or depth <= 0):
            yield item
            return


def statements(document: memdir.Document, *, indexed: bool = False) -> Iterator[tuple[int, str]]:
    """Everything the file says, as lines and as sentences, including its description: what counts as known, with its line.
    `indexed`: also what the rows of an index say."""
    if front := document.frontmatter:
        head = [line.strip() for line in document.head.split("\n")]
        for key, value in (("name:", front.name), ("description:", front.description)):
            if value:
                yield next((at for at, line in enumerate(head, 1) if line.startswith(key)), 1), value
    for item in memdir.sections(document.body, document.body_start_line):
        if item.kind in {"code", "comment", "rule", "blank"}:
            continue
        for number, line in enumerate((item.content or item.text).split("\n"), item.first_line):
            told = one_line(line)
            if says_something(told):
                yield from ((number, text) for text in dict.fromkeys((told, *sentences(told))))
    if indexed:
        yield from ((row.line_no, row.hook) for row in memdir.parse_index(document.text).rows)


def with_paragraph(document: memdir.Document, text: str) -> memdir.Document | None:
    """The file with one more paragraph, at the end or before the first heading, so that no section gives it another meaning.
    None if the text would not become a separate paragraph."""
    items = memdir.sections(document.body)
    first = next((place for place, item in enumerate(items) if item.kind == "heading"), None)
    if first is None:
        return _checked(document, _at_end(document, ["", text]), text)
    opening = not any(item.kind != "blank" for item in items[:first])
    title = opening and items[first].level == 1
    at = items[first].last_line + 1 if title else items[first].first_line
    if at == 1 and document.bom and not document.head:
        return None  # would move the byte order mark
    lines = ["", text] if title else [text, ""]
    following = items[first + 1] if first + 1 < len(items) else None
    if title and following and following.kind != "blank":
        lines.append("")
    return _checked(document, _inserted(document, at, lines), text)


def with_bullet(document: memdir.Document, text: str) -> memdir.Document | None:
    """The file with one more bullet at its end; None if it has headings or labels, or a line introduces its last list."""
    items = [item for item in memdir.sections(document.body) if item.kind != "blank"]
    if any(item.kind == "heading" or is_labelled(item.text) for item in items):
        return None
    last = items[-1] if items else None
    if last and last.kind == "bullet" and not last.marker[:1].isdigit() and last.depth == 0:
        every = memdir.sections(document.body)
        place = every.index(last)
        if _frame(every, place, list_ends(every)[place]):
            return None
        indent = last.text[: len(last.text) - len(last.text.lstrip())]
        return _checked(document, _at_end(document, [f"{indent}{last.marker} {text}"]), text)
    return _checked(document, _at_end(document, ["", f"- {text}"] if items else [f"- {text}"]), text)


def _at_end(document: memdir.Document, lines: list[str]) -> str:
    count = len(memdir.split_lines(document.body.rstrip()))
    if not count and lines[:1] == [""] and document.body.strip("\r\n") == "":
        blank = len(memdir.split_lines(document.body))
        return _inserted(document, blank + 1, lines if not blank else lines[1:])
    return _inserted(document, count + 1, lines)


def _inserted(document: memdir.Document, at: int, lines: list[str]) -> str:
    return memdir.replace_lines(document.body, at, at, lines, document.newline)


def _checked(document: memdir.Document, body: str, text: str) -> memdir.Document | None:
    """The new file, or None if the statement is no separate item: an open code fence would swallow it."""
    made = memdir.with_body(document, body)
    wanted = one_line(text)
    kinds = {"paragraph", "bullet"}
    found = any(
        item.kind in kinds and one_line(item.content or item.text) == wanted
        for item in memdir.sections(made.body)
    )
    return made if found and made.head.rstrip("\r\n") == document.head.rstrip("\r\n") else None


_GENERAL = frozenset(
    stem(word)
    for word in "note notes fact facts detail details general misc other setup info known memory rule rules copy "  # noqa: SIM905 - a word list
    "preference preferences convention conventions user feedback project reference md".split()
)


def words_of(text: str) -> frozenset[str]:
    """The specific words of names and headings; `_` and `-` separate words."""
    words = statement(" ".join(text.replace("_", " ").replace("-", " ").split())).weights
    return frozenset(word for word in words if word not in lexicon.GENERIC and word not in _GENERAL)
