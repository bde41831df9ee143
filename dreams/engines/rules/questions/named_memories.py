"""Questions about what a memory or row says about another memory: dead links, missing files, "superseded", older dates. PURE."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from dreams.engines.rules.notes import days
from dreams.engines.rules.notes.removing import is_linked
from dreams.engines.rules.notes.tree import (
    NewText,
    Recorder,
    digest,
    from_memory,
    is_daily,
    is_index,
    is_log,
    lines_changed,
    lines_gone,
)
from dreams.engines.rules.notes.wording import IS_OVER, sentences, summed_up
from dreams.engines.rules.questions.families import Inputs, first_of
from dreams.engines.rules.questions.same import cited, place_of
from dreams.engines.rules.steps.forgetting import remove_file
from dreams.engines.rules.steps.index import Names, base_of, dead_links, in_repository, missing, untyped
from dreams.engines.rules.steps.orphans import SET_ASIDE, told_at
from dreams.engines.types import KEEP, Fate, Place, Question
from dreams.lib import diff, memdir
from dreams.lib.files.text import decode, joined, one_line, plural, quoted
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.values import read

MOST_PLACES = 12  # of one question
# How useful an answer is, chosen: every session loads rows; a dead link misleads nobody.
OUT_OF_DATE, DEAD_ROWS, DEAD_LINKS = 0.65, 0.4, 0.15
_WORD = re.compile(r"\w+|[^\w\s'\"`*()\[\].,;:!?/…–—“”‘’-]")  # or a sign: "✅"
_NO_NAME = re.compile(r" |\.(?!md$)")  # "[[auth.email]]" is a table of TOML, "[[task #35]]" of another list
# "supersedes X", "corrects X": X is older. "Corrected X" may be a record of work on X, "overrides X" is said of settings.
_SUPERSEDES = re.compile(r"\b(?:supersed(?:es|ing)|correct(?:s|ing))\b[^.;]{0,80}?\[\[([^\]|#]+)", re.I)


def about_named_memories(context: Inputs) -> Iterator[Question]:
    """Memories that another one calls out of date; dead rows of each index and dead links, one question each."""
    names = Names(context.tree_before)
    yield from _called_out_of_date(context, names)
    yield from _dead_rows(context)
    yield from _dead(context, names)


def _called_out_of_date(context: Inputs, names: Names) -> Iterator[Question]:
    tree, asked = context.tree_before, set[str]()
    for unit in context.statements:
        context.report.checkpoint()
        if unit.source == "description" or is_log(unit.path) or is_daily(unit.path):
            continue
        for sentence in sentences(one_line(unit.text)):
            for old in map(names.path_of, _SUPERSEDES.findall(sentence)):
                if not old or old in {*asked, unit.path} or is_index(old) or not tree.writable(old):
                    continue
                if any(names.path_of(link.target) == unit.path for link in memdir.wikilinks(tree.texts[old])):
                    continue  # it says so itself
                asked.add(old)
                yield _history(context, old, unit, sentence)


def _history(context: Inputs, old: str, unit: PlacedText, sentence: str) -> Question:
    label = f"Say so at the top of {old}"
    option = context.draftsman.option("history", label, _put_above, old, unit, sentence)
    why = f"Another memory says that it replaces or corrects {old}, which does not say so."
    places = (Place(old, *told_at(context.tree_before, old)), place_of(unit))
    cited = (from_memory(unit.path, unit.first_line, sentence),)
    return Question("changed", f"{old} {unit.path}", why, places, (option, KEEP), cited, weight=OUT_OF_DATE)


def _put_above(rec: Recorder, path: str, unit: PlacedText, sentence: str) -> None:
    document = rec.tree.document(path)
    said = f"> See [[{unit.path.removesuffix('.md')}]]: {sentence}\n\n"
    lead = document.body[: len(document.body) - len(document.body.lstrip("\r\n"))]
    after = decode(memdir.with_body(document, lead + said + document.body[len(lead) :]).to_bytes())
    reason = f"{unit.path} says: {quoted(sentence)}."
    cited = (from_memory(unit.path, unit.first_line, unit.text),)
    rec.operation("update", [NewText(path, after, reason, (), cited)], key=digest(path, unit.text))


def _dead_rows(context: Inputs) -> Iterator[Question]:
    """Index rows whose files are missing; none if most are missing, as in an incomplete copy."""
    tree, repo = context.tree_before, context.repository
    here = {PurePosixPath(each).name.casefold() for each in repo.files} if repo else ()  # in any folder
    for path in tree.indexes():
        index = memdir.parse_index(tree.texts[path])
        leading = [row for row in index.rows if row.is_memory_target and row.form == "link"]
        dead = [row for row in leading if missing(tree, path, row) and len(row.targets) == 1]
        dead = [row for row in dead if PurePosixPath(row.target).name.casefold() not in here]
        # Not every folder is read, as a hidden one.
        dead = [row for row in dead if not in_repository(context.job.repo_dir, row.target)]
        if not dead or 2 * len(dead) > len(leading) or not tree.writable(path):
            continue
        label = f"Remove the {'row' if len(dead) == 1 else 'rows'}"
        option = context.draftsman.option("remove", label, _unlist, path=path, rows=dead)
        names = [row.target for row in dead]
        them = "points to a file that is" if len(dead) == 1 else "point to files that are"
        yield Question(
            "gone",
            " ".join(names)[:300],
            f"{plural(len(dead), 'row')} of {path} {them} missing: {first_of(names)}.",
            tuple(Place(path, row.line_no, row.raw.strip()) for row in dead[:MOST_PLACES]),
            (option, KEEP),
            weight=DEAD_ROWS,
        )


def _unlist(rec: Recorder, path: str, rows: Sequence[memdir.IndexRow]) -> None:
    after = memdir.parse_index(rec.tree.texts[path]).without(rows).text
    told = lines_gone(rec.tree.texts[path], after, "Its file is missing.")
    cited = tuple(from_memory(path, row.line_no, row.raw.strip()) for row in rows[:3])
    rec.operation("index", [NewText(path, after, "The rows pointed to files that are missing.", told, cited)])


def _dead(context: Inputs, names: Names) -> Iterator[Question]:
    tree, repo = context.tree_before, context.repository
    # Also files ("[[CLAUDE.md]]", a memory of another agent) and folders ("[[release-notes]]", a skill) of the repository. "[[name]]"
    # tells how to link.
    here = (*repo.files, *repo.folders) if repo else ()
    elsewhere = {"name", *(PurePosixPath(each).name for each in here)}
    memories = {untyped(name) for name in elsewhere if name.endswith(".md")}
    found = [
        (path, text.count("\n", 0, link.start) + 1, link)
        for path in tree.topics()
        for text in (tree.texts[path],)
        for link in dead_links(names, text)
        if not _NO_NAME.search(re.split(r"[#|]", text[link.start + 2 : link.end])[0])
        if names.without_type(link.target) is None
        if link.target not in elsewhere and untyped(link.target) not in memories
    ]
    option = context.draftsman.option("remove", "Keep the words, without the links", _unlink, found=found)
    named = sorted({link.target for _, _, link in found})
    places = (Place(path, at, tree.texts[path].split("\n")[at - 1].strip()) for path, at, _ in found)
    yield Question(
        "gone",
        " ".join(named)[:300],
        f"{plural(len(named), 'linked memory does', 'linked memories do')} not exist: "
        f"{first_of(named)}. You may be planning to write {'it' if len(named) == 1 else 'them'}.",
        tuple(dict.fromkeys(places))[:MOST_PLACES],
        (option, KEEP),
        weight=DEAD_LINKS,
    )


def _unlink(rec: Recorder, found: Sequence[tuple[str, int, memdir.WikiLink]]) -> None:
    for path in dict.fromkeys(path for path, _, _ in found):
        before = text = rec.tree.texts[path]
        links = (link for where, _, link in found if where == path)
        for link in sorted(links, key=lambda each: -each.start):
            name = text[link.start + 2 : link.end - 2].replace("_", "-")  # words, no code
            text = text[: link.start] + (link.label or name) + text[link.end :]
        lines = before.split("\n")
        numbers = list(dict.fromkeys(number for where, number, _ in found if where == path))
        cited = tuple(from_memory(path, number, lines[number - 1].rstrip("\r")) for number in numbers[:3])
        told = lines_changed(before, text, path)
        rec.operation("edit", [NewText(path, text, "The link pointed to no memory.", told, cited)])


# --- Over -----------------------------------------------------------------------------------------------------------

OVER = 0.5  # how useful an answer is, chosen
OPENING = 30  # characters at the start of a first statement; chosen


def said_to_be_over(context: Inputs) -> Iterator[Question]:
    """Memories whose row, description or first statement says that they are over."""
    told: dict[str, PlacedText] = {}
    begun: set[str] = set()
    for each in context.statements:
        if each.source == "body" and each.path in begun:
            continue
        begun |= {each.path} if each.source == "body" else set()
        # Later words of a body are about something else.
        if IS_OVER.search(each.text[:OPENING] if each.source == "body" else each.text):
            told.setdefault(each.target or each.path, each)
    for path in (path for path in context.tree_before.topics() if path in told):
        quote = cited(told[path])
        given = (path, "It is over.", quote, "It says that it is over.")
        option = context.draftsman.option("remove", "Remove the memory", remove_file, *given)
        aside = map(SET_ASIDE.fullmatch, path.split("/")[:-1])
        if not (any(aside) or is_linked(context.tree_before, path)):
            it = "it" if told[path].path == path else path
            why = f"{told[path].path} says that {it} is out of date. Is it still useful?"
            subject, places = f"over {path}", (place_of(told[path]),)
            yield Question("expired", subject, why, places, (option, KEEP), (quote,), OVER)


# --- Index says -----------------------------------------------------------------------------------------------------

BEHIND = 0.6  # how useful an answer is; chosen


def against_its_files(context: Inputs) -> Iterator[Question]:
    """Rows that are older than their file's description, which they may take, or the first sentences of it that fit."""
    described = {each.path: each for each in context.statements if each.source == "description"}
    for row in context.statements:
        context.report.checkpoint()
        now = described.get(row.target) if row.source == "row" else None
        new = summed_up(now.text, max(context.job.config.row_max, len(row.text))) if now else ""
        then = context.job.described_then.get(row.raw.strip(), "")
        if now and new and (told := _is_behind(row.text, then, now.text, new)):
            label = "Use the description as its row"
            option = context.draftsman.option("replace", label, _row_says, row=row, text=new)
            places, quotes = (place_of(row), place_of(now)), (cited(row), cited(now))
            subject, why = f"{row.target} {told[0]}", told[1] + _lost(row.text, new)
            yield Question("changed", subject, why, places, (option, KEEP), quotes, weight=BEHIND)


def _is_behind(row: str, then: str, now: str, new: str) -> tuple[str, str] | None:
    """What is newer in the description, and a sentence about it."""
    texts = (row, now)
    before, since = ({day for day, as_told in days.told(text) if as_told == f"{day}"} for text in texts)
    if before and since and max(before) < min(since):
        last, first = f"{max(before)}", f"{min(since)}"
        return f"{last} {first}", f"The row is as of {last}, the description of its file as of {first}."
    said, was, has, gets = (read(text).terms.keys() for text in (row, then, now, new))
    # Of 58 such rows of public memories 47 were out of date.
    if not (said & was) - has or not gets - was - said:
        return None
    return now[:200], "The row says what its file’s description once said and no longer does."


def _lost(row: str, new: str) -> str:
    """A sentence about what the row says and its new text does not, in its own words: “never” is lost as easily as a name."""
    said = set(_WORD.findall(new.casefold()))
    parts = (row[start:end].strip(" ,;:—–-") for start, end in diff.word_spans(row, new)[0])
    lost = [quoted(each) for each in parts if not said.issuperset(_WORD.findall(each.casefold()))]
    return f" The new row does not say {joined(lost)}." if lost else ""


def _row_says(rec: Recorder, row: PlacedText, text: str) -> None:
    index = memdir.parse_index(rec.tree.texts[row.path])
    leading = (each for each in index.rows if base_of(row.path) + each.target == row.target)
    found = [each for each in leading if row.text in one_line(each.raw)]
    if len(found) != 1 or found[0].form != "link":
        return
    after = index.rewritten(found[0], hook=text).text
    told = (Fate(found[0].raw, "superseded-by", row.target, text),)
    cited = (from_memory(row.path, found[0].line_no, found[0].raw),)
    reason = f"You took the description of {row.target}."
    rec.operation("update", [NewText(row.path, after, reason, told, cited)])
