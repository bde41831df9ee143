"""Questions about an index that is longer than an agent loads: rows to shorten, sections to move. PURE.

A shortened row stays a sentence and keeps its rule. What the row's file does not say yet moves there. Each row is decided
separately."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from dreams.engines.rules.notes.bodies import with_paragraph
from dreams.engines.rules.notes.days import names_a_day
from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, from_memory, is_index
from dreams.engines.rules.notes.wording import ends_open, sentences, summed_up
from dreams.engines.rules.questions.families import Inputs
from dreams.engines.rules.steps import orphans
from dreams.engines.rules.steps.index import lines_leading
from dreams.engines.types import KEEP, Edit, Fate, Option, Place, Question
from dreams.lib import memdir
from dreams.lib.files.text import decode, one_line, plural
from dreams.lib.prose import lexicon

MOST_ROWS = 40  # that one question offers; chosen
LEAST_GAIN = 20  # characters
LEAST_SHARE = 0.05  # of the excess; less is not worth an answer; chosen
LEAST_WORDS = 5  # of a shortened row; with fewer nobody knows when to open the file; chosen
SAID = 0.9  # share of a row's words that its file must have to say the same
ROOM = 1.3  # offered, as a multiple of what is needed, because some is declined
WEIGHT = 0.8  # rows beyond the limit are not loaded
_WORD = re.compile(r"\w+")
_RULES = lexicon.NEGATIONS | set("must always only should mandatory critical forbidden avoid".split())  # noqa: SIM905 - a word list


@dataclass(frozen=True, slots=True)
class _Offer:
    row: memdir.IndexRow
    topic: str
    hook: str
    links: int
    day: dt.date
    orders: bool  # preferences of a person
    moves: bool  # its file does not say everything yet

    @property
    def gain(self) -> int:
        """The bytes it saves."""
        return len(self.row.hook.encode("utf-8", "replace")) - len(self.hook.encode("utf-8", "replace"))


def shorter_rows(context: Inputs) -> Iterator[Question]:
    """One question about MEMORY.md, if it is too long and rows can be shortened."""
    path = memdir.INDEX_NAME
    tree, config = context.tree_before, context.job.config
    state, has = _index_after(context)
    if state.cut_by is None or path not in tree.indexes():
        return
    need = state.bytes - config.index_max_bytes
    offers = _least_helpful(context) if need > 0 else []  # shorter rows do not reduce the lines
    chosen = _needed(offers, need)[:MOST_ROWS]
    saved = sum(offer.gain for offer in chosen)
    if saved < need * LEAST_SHARE or not chosen:
        return
    left = len(_needed(offers[len(chosen) :], need - saved))
    drafted = ((each.topic, context.draftsman.edits(_shorten, each)) for each in chosen)
    edits = tuple(edit for made in drafted for edit in _of(*made))
    yield Question(
        "index",
        " ".join(sorted(offer.topic for offer in chosen[:3])),
        _why(has, chosen, left, config.index_max_lines, config.index_max_bytes),
        tuple(_place(offer) for offer in chosen),
        (Option("demote", "Shorten the selected rows", edits), KEEP),
        weight=WEIGHT,
    )


def _needed(offers: Sequence[_Offer], need: int) -> list[_Offer]:
    """The first ones that save so many bytes, and a few more."""
    saved = accumulate((offer.gain for offer in offers), initial=0)
    return [offer for offer, before in zip(offers, saved, strict=False) if before < need * ROOM]


def unlisted(context: Inputs) -> Iterator[Question]:
    """One question about memories without a row that this dream does not list itself: no certain title, or no index yet."""
    tree, path = context.tree_before, memdir.INDEX_NAME
    if not tree.writable(path):
        return
    listed = "\n".join(edit.after or "" for edit in context.edits if edit.path == path)
    options = (option for each in context.found for option in each.options)
    removed = {edit.path for option in options for edit in option.edits if edit.after is None}
    every = orphans.unlisted(tree, path, context.job.left_unlisted)
    at = {each: Place(each, *orphans.told_at(tree, each)) for each in every if each not in removed}
    found = [each for each, place in at.items() if each not in listed and not context.is_touched(place)]
    config = context.job.config
    if not orphans.has_room(tree, path, found, config):
        return  # the summary says so
    has_index = path in tree.texts

    def list_them(rec: Recorder) -> None:
        for each in found:
            orphans.add(rec, path, each, config)

    option = context.draftsman.option("learn", "Add to index" if has_index else f"Create {path}", list_them)
    yield Question(
        "learn",
        f"unlisted {' '.join(found)}" if has_index else f"no {path}",
        f"{plural(len(found), 'memory is', 'memories are')} not in any index, so no session finds {'it' if len(found) == 1 else 'them'}.",
        tuple(map(at.__getitem__, found)),
        (option, KEEP),
    )


def _index_after(context: Inputs) -> tuple[memdir.Loaded, str]:
    """The index after this dream, as an agent loads it, and a sentence that gives its length."""
    path, config = memdir.INDEX_NAME, context.job.config
    made = [edit.after for edit in context.edits if edit.path == path]
    after = made[-1] if made else context.tree_before.texts.get(path)
    state = orphans.loaded(after or "", config)
    has = "With the changes of this dream the index has" if made else "The index has"
    return state, f"{has} {state.lines:,} lines and {state.bytes:,} bytes"


def _why(has: str, chosen: Sequence[_Offer], left: int, lines: int, size: int) -> str:
    saved = sum(offer.gain for offer in chosen)
    moved = sum(offer.moves for offer in chosen)
    rest = "Their files have the rest already" if moved < len(chosen) else "The rest moves into their files"
    if 0 < moved < len(chosen):
        kept = len(chosen) - moved
        rest = f"For {kept} the file already has the rest, for {moved} the rest moves into the file"
    more = f" A later dream asks about {left} more." if left else ""
    return (
        f"{has}; an agent loads {lines:,} lines and {size:,} bytes. "
        f"{plural(len(chosen), 'row')} could be shorter, by {saved:,} bytes in all. {rest}.{more}"
    )


def _place(offer: _Offer) -> Place:
    links = plural(offer.links, "link") + " from other memories"
    note = f"{links}, last written {offer.day.isoformat()}" if offer.day > dt.date.min else links
    return Place(memdir.INDEX_NAME, offer.row.line_no, offer.row.raw, note=note)


def _least_helpful(context: Inputs) -> list[_Offer]:
    """All rows that could be shorter: first those whose file says everything already, with few links, then old; preferences of the person
    last."""
    tree = context.tree_before
    links = _links(tree)
    seen: set[str] = set()
    offers: list[_Offer] = []
    written = context.job.line_dates.get(memdir.INDEX_NAME, ())
    ours = {number for number, line in enumerate(written, 1) if line and line.ours}  # as they were agreed to
    for row in memdir.parse_index(tree.texts[memdir.INDEX_NAME]).rows:
        context.report.checkpoint()
        place = Place(memdir.INDEX_NAME, row.line_no, row.raw)
        if row.target in seen or row.line_no in ours or context.is_touched(place):
            continue
        seen.add(row.target)
        if hook := _shorter(tree, row, context.job.config.row_max):
            days = (line.day for line in context.job.line_dates.get(row.target, ()) if line)
            day, orders = max(days, default=dt.date.min), tree.is_rule(row.target)
            moves = not _says(tree.texts[row.target], row.hook)
            offers.append(_Offer(row, row.target, hook, links[row.target], day, orders, moves))
    return sorted(offers, key=lambda offer: (offer.orders, offer.moves, offer.links, offer.day, -offer.gain))


def _links(tree: Tree) -> Counter[str]:
    """How many memories link to each."""
    found: Counter[str] = Counter()
    stems = {path.removesuffix(".md").rpartition("/")[2]: path for path in tree.memories()}
    for path in tree.memories():
        text = tree.texts[path]
        named = {link.path for link in memdir.markdown_links(text)}
        named |= {stems[link.target] for link in memdir.wikilinks(text) if link.target in stems}
        found.update(named - {path})
    return found


def _shorter(tree: Tree, row: memdir.IndexRow, row_max: int) -> str:
    """A shorter text: the file's description if the file says all of the row, else the row's beginning. "" if a rule or a date is lost."""
    if row.form != "link" or len(row.targets) != 1 or not row.hook or row.target not in tree.texts:
        return ""
    is_said = _says(tree.texts[row.target], row.hook)  # else the row may be newer
    if is_index(row.target) or not (is_said or tree.writable(row.target)):
        return ""
    front = tree.document(row.target).frontmatter
    described = one_line((front.description or "") if front and is_said else "")
    room = max(row_max - (row.length - len(row.hook)), row_max // 2)
    # The last part of a row often has the person's wish, without a word that shows it.
    begun = "" if tree.is_rule(row.target) else summed_up(row.hook, min(room, len(row.hook) - LEAST_GAIN))
    for said in (described, begun):
        fits = said and len(said) + LEAST_GAIN <= len(row.hook) and len(said.split()) >= LEAST_WORDS
        if fits and not ends_open(said) and not names_a_day(said) and rules_in(row.hook) <= rules_in(said):
            return said
    return ""


def _says(text: str, hook: str) -> bool:
    """Whether the file has nearly all words of the row (`SAID`)."""
    wanted = _words(hook)
    return len(wanted & _words(text)) >= SAID * len(wanted)


def _words(text: str) -> set[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return {word for word in words if len(word) > 3 or any(map(str.isdigit, word))}


def rules_in(text: str) -> set[str]:
    """The words of a text that make it a rule."""
    return {word for word in (found.casefold() for found in _WORD.findall(text)) if word in _RULES}


def _of(topic: str, made: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits with a memory's path as their operation."""
    return tuple(replace(edit, operation=topic) for edit in made)


def _shorten(rec: Recorder, offer: _Offer) -> bool:
    path = memdir.INDEX_NAME
    index = memdir.parse_index(rec.tree.texts[path])
    row = offer.row
    new = index.rewritten(row, hook=offer.hook)
    lines = row.raw.split("\n")
    kept = new.lines[row.line_no - 1].rstrip("\r\n")
    fates = tuple(Fate(line, "kept-in", path, kept) for line in lines)
    reason = f"The index is longer than what an agent loads. {offer.topic} contains the rest of the row."
    cited = (from_memory(path, row.line_no, row.raw),)
    changes = [NewText(path, new.text, reason, fates, cited)]
    if offer.moves:
        told = with_paragraph(rec.tree.document(offer.topic), row.hook)
        if told is None:
            return False
        reason = "Only its index row said this."
        changes.append(NewText(offer.topic, decode(told.to_bytes()), reason, (), cited))
    return rec.operation("demote", changes)


# --- Index sections -------------------------------------------------------------------------------------------------

FULL = 0.98  # of the lines or bytes that an agent loads
LEAST_LINES, MOST_SECTIONS = 5, 6  # of a section that is worth a file; sections offered at once. Chosen
OF_SECTIONS = 0.7  # how useful an answer is; chosen
_OF_EVERY_SESSION = re.compile(
    r"\b(?:preferences?|rules?|conventions?|safety|critical|important|workflow|see also|index|user)\b", re.I
)
_REMARK = re.compile(r"\s*[(\[（][^)\]）]*[)\]）]|\s+[—–-]\s.*$|:.*$")
_IN_BRACKETS = re.compile(r"[(\[（][^()\[\]（）]*[)\]）]")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading of the index, its lines (1-based, inclusive), and the memory that they could become."""

    heading: str
    line: int
    last_line: int
    body: str
    topic: str
    title: str

    @property
    def lines(self) -> int:
        return self.last_line - self.line


def sections_of_a_full_index(context: Inputs) -> Iterator[Question]:
    """One question about sections of MEMORY.md; each is decided separately."""
    path, config = memdir.INDEX_NAME, context.job.config
    tree = context.tree_before
    state, has = _index_after(context)
    full = state.lines >= FULL * config.index_max_lines or state.bytes >= FULL * config.index_max_bytes
    if not full or path not in tree.indexes() or not tree.writable(path):
        return
    longest = sorted(_sections(context), key=lambda each: -each.lines)[:MOST_SECTIONS]
    drafted = ((each, context.draftsman.edits(_move, each, config.row_max)) for each in longest)
    edits_of = {each: _of(each.topic, made) for each, made in drafted if made}
    texts = [edit.after or "" for made in edits_of.values() for edit in made if edit.path == path]
    before, *after = (text.encode("utf-8", "replace") for text in (tree.texts[path], *texts))
    fewer = sum(before.count(b"\n") - each.count(b"\n") for each in after)
    size = sum(len(before) - len(each) for each in after)
    over = ((fewer, state.lines - config.index_max_lines), (size, state.bytes - config.index_max_bytes))
    if not edits_of or any(saved < LEAST_SHARE * each for saved, each in over):
        return
    saves = plural(fewer, "line") + (f" and {size:,} bytes" if size > 0 else "")
    option = Option("demote", "Move the selected sections into memories", tuple(chain(*edits_of.values())))
    yield Question(
        "index",
        " ".join(sorted(each.topic for each in edits_of)),
        f"{has}; an agent loads {config.index_max_lines:,} lines and "
        f"{config.index_max_bytes:,} bytes. {plural(len(edits_of), 'section')} could become "
        f"{'a memory' if len(edits_of) == 1 else 'memories'} with a row here: {saves} fewer.",
        tuple(Place(path, each.line, each.heading, note=plural(each.lines, "line")) for each in edits_of),
        (option, KEEP),
        weight=OF_SECTIONS,
    )


def _sections(context: Inputs) -> Iterator[_Section]:
    tree, path = context.tree_before, memdir.INDEX_NAME
    text = tree.texts[path]
    lines = memdir.split_lines(text)
    document = tree.document(path)
    rows = lines_leading(text)
    headings = [
        item for item in memdir.sections(document.body, document.body_start_line) if item.kind == "heading"
    ]
    taken: set[str] = set()
    ends = [each.first_line - 1 for each in headings[1:]] + [len(lines)] * bool(headings)
    for item, end in zip(headings, ends, strict=True):
        body = "".join(lines[item.last_line : end]).strip("\r\n")
        topic = _topic(tree, item.content)
        told = len([line for line in body.split("\n") if line.strip()])
        is_free = rows.isdisjoint(range(item.first_line, end + 1)) and topic not in tree.texts
        place = Place(path, item.first_line, "".join(lines[item.first_line - 1 : end]))
        if (
            item.level > 1
            and told >= LEAST_LINES
            and is_free
            and topic not in taken
            and not (_OF_EVERY_SESSION.search(item.content) or len(rules_in(f"{item.content} {body}")) > 1)
        ):
            taken.add(topic)
            section = _Section(item.text.strip(), item.first_line, end, body, topic, _title(item.content))
            if not context.is_touched(place):
                yield section


def _title(heading: str) -> str:
    return one_line(_REMARK.sub("", heading)) or one_line(heading)


def _topic(tree: Tree, heading: str) -> str:
    words = _NO_WORD.sub("_", _title(heading).lower()).strip("_") or "notes"
    prefix = "project_" if any(path.startswith("project_") for path in tree.memories()) else ""
    return f"{prefix}{words}.md"


def _move(rec: Recorder, section: _Section, row_max: int) -> bool:
    path = memdir.INDEX_NAME
    lines = memdir.split_lines(rec.tree.texts[path])
    said = _summary(section, row_max)
    row = memdir.render_row(section.title, section.topic, said)
    gone = [line.rstrip("\r\n") for line in lines[section.line : section.last_line] if line.strip()]
    index = memdir.replace_lines("".join(lines), section.line + 1, section.last_line + 1, [row, ""])
    told = tuple(Fate(line, "kept-in", section.topic, line.strip()) for line in gone)
    head = f"---\nname: {memdir.render_value(section.title)}\ndescription: {memdir.render_value(said or section.title)}\ntype: project\n---\n\n"
    reason = "The index is full; this is now a separate memory."
    cited = (from_memory(path, section.line, section.heading),)
    changes = [
        NewText(section.topic, f"{head}{section.body}\n", reason, (), cited),
        NewText(path, index, reason, told, cited),
    ]
    return rec.operation("demote", changes)


def _summary(section: _Section, row_max: int) -> str:
    """The section's first sentence, if it begins with one; else the remark in its heading."""
    first = next(iter(memdir.sections(section.body)), None)
    is_text = first is not None and first.kind == "paragraph" and not first.text.startswith(">")
    said = next(iter(sentences(one_line(first.text))), "") if first and is_text else ""
    remark = _REMARK.search(section.heading)
    aside = remark[0].strip(" —–-:") if remark else ""
    if _IN_BRACKETS.fullmatch(aside):
        aside = "" if any(map(str.isdigit, aside)) else aside[1:-1]  # "(2026-05-01)" is no topic
    return (summed_up(said, row_max) or aside).rstrip(" :")
