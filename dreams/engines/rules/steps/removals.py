"""What leaves a memory for certain: a secret, and a line that stands elsewhere in the same words. Pure but for the recorder."""

from __future__ import annotations

from collections.abc import Sequence

from dreams.engines.rules.notes import bodies
from dreams.engines.rules.notes.bodies import LineStatement, units
from dreams.engines.rules.notes.removing import fates, remove
from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, from_memory, is_index, is_log, is_team
from dreams.lib import memdir
from dreams.lib.files.text import quoted
from dreams.lib.prose import comparing, lexicon
from dreams.lib.prose.statements import statement
from dreams.lib.secrets import redact as redaction
from dreams.lib.secrets.spotting import is_certain, is_for_apps, spans


def redact(rec: Recorder) -> None:
    """One operation for each secret that is certain.

    The checkup names the others and what an app shows to everybody: of ten that were taken out of public directories six
    were none, and most of these were known by a name alone (docs/real-directories.md). Pinned and hand-edited memories, logs
    and what may not be written stay too.
    """
    tree = rec.tree
    for path in sorted(tree.texts):
        if is_log(path) or not tree.writable(path) or tree.settled(path):
            continue
        rec.report.checkpoint()
        text = tree.texts[path]
        found = [span for span in spans(text) if is_certain(text, span) and not is_for_apps(text, span)]
        for span in sorted(found, key=lambda span: span.start - span.end):  # one may be a part of another
            taken = {text[span.start : span.end]: span.rule}
            line_no = text.count("\n", 0, span.start) + 1
            quote = redaction.redact(text.split("\n")[line_no - 1].rstrip("\r"))
            kind = span.rule.replace("-", " ")
            reason = (
                f"A secret does not belong in memory ({kind}). If it is live, revoke it: agents have read it."
            )
            cited = (from_memory(path, line_no, quote, "shown without the secret"),)
            after = redaction.without(tree.texts[path], taken)
            rec.count("redacted", rec.operation("edit", [NewText(path, after, reason, citations=cited)]))


# --- Doubled lines --------------------------------------------------------------------------------------------------

LEAST_TO_MERGE = 3  # words with a meaning: two short lines are alike by chance
SHARED_WORDS = 2  # fewer say the same of nothing; most pairs are spared a close look
CHECK_EVERY = 200  # pairs, between two looks whether to stop


def merge_lines(rec: Recorder) -> None:
    """One pass over all statements; each may be removed once. What is kept for another may go in the next round."""
    every = [
        unit for path in _paths(rec.tree) for unit in units(path, rec.tree.document(path)) if _tells(unit)
    ]
    gone: set[LineStatement] = set()
    kept: set[LineStatement] = set()
    pairs: list[tuple[LineStatement, LineStatement]] = []  # (stays, goes)
    words = [frozenset(statement(unit.text).weights) for unit in every]
    for count, (one, two) in enumerate(comparing.candidates([unit.text for unit in every])):
        if count % CHECK_EVERY == 0:
            rec.report.checkpoint()
        if len(words[one] & words[two]) < SHARED_WORDS:
            continue
        pair = _decide(rec.tree, every[one], every[two])
        if pair and pair[0] not in gone and pair[1] not in gone and pair[1] not in kept:
            kept.add(pair[0])
            gone.add(pair[1])
            pairs.append(pair)
    _remove_all(rec, pairs)


def _paths(tree: Tree) -> list[str]:
    return [*tree.topics(), *(path for path in tree.indexes() if not is_team(path))]


def _tells(unit: LineStatement) -> bool:
    """Long enough to be sure about; rows of an index are its own step's work."""
    words = [word for word in statement(unit.text).weights if word not in lexicon.GENERIC]
    is_row = is_index(unit.path) and bool(memdir.parse_index(unit.raw).rows)
    return len(words) >= LEAST_TO_MERGE and not is_row


def _decide(tree: Tree, one: LineStatement, two: LineStatement) -> tuple[LineStatement, LineStatement] | None:
    """Which stays and which goes, or neither."""
    if is_index(one.path) != is_index(two.path):
        return None
    if one.path == two.path and one.headings != two.headings:
        return None  # each says it of what its own heading names
    exact = comparing.normalised(one.text) == comparing.normalised(two.text)
    if one.frame != two.frame or (not exact and not _types_agree(tree, one, two)):
        return None
    found = comparing.same(one.text, two.text)
    if not found.same or not bodies.places_agree(tree, one, two):
        return None
    as_long = exact and len(one.text) == len(two.text)
    return (one, two) if as_long or found.fuller == "a" else (two, one)


def _types_agree(tree: Tree, one: LineStatement, two: LineStatement) -> bool:
    kinds = {tree.kind(one.path), tree.kind(two.path)}
    return len(kinds) == 1 or not kinds & {"user", "feedback"}


def _remove_all(rec: Recorder, pairs: Sequence[tuple[LineStatement, LineStatement]]) -> None:
    """From the last line of a file to the first, so that the numbers of the others hold."""
    for keep, drop in sorted(pairs, key=lambda pair: (pair[1].path, -pair[1].first_line)):
        if drop.path not in rec.tree.texts or keep.path not in rec.tree.texts:
            continue
        place = "further up" if keep.path == drop.path else f"in {keep.path}"
        reason = f"The same is {place}: {quoted(keep.text)}."
        cited = (
            from_memory(keep.path, keep.first_line, keep.text, "what stays"),
            from_memory(drop.path, drop.first_line, drop.text),
        )
        told = fates(drop, "merged-into", keep.path, keep.text)
        rec.count("lines", remove(rec, drop, "merge", reason, told, cited))
