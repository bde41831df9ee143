"""Checks citations at once: is the quote where the model says it is? PURE: no Django.

A quote that is not found is reported to the model, and the citation is kept and marked, so that the
reviewer sees it too.
"""

import datetime as dt
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from dreams.engines.anthropic import repository
from dreams.engines.linedates import day_of_log
from dreams.engines.types import Citation, EvidenceSource, Job, SessionBrief
from dreams.lib import memdir
from dreams.lib.agents import transcripts
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files import safefs
from dreams.lib.files.text import one_line
from dreams.lib.prose.statements import statement
from dreams.lib.secrets import redact

MOST_CITATIONS = 20  # of one edit; chosen
QUOTE_CHARS = 1_000  # of a kept quote; chosen
SHORTEST_PREFIX = 6  # characters of a session's id: fewer match several by chance
MOST_MATCHES = 200  # of a quote in one transcript; more is a word that is everywhere
FILE_BYTES = 4 * 1024 * 1024  # of a repository file that is searched for a quote
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
_SHOWN = re.compile(r"/transcripts/[^/]+/memory/")


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    citations: tuple[Citation, ...]
    problems: tuple[str, ...]


class BadCitations(Exception):
    """The citations have the wrong shape; the text says what is expected."""


class QuoteFinder:
    """Finds quotes. `watch` is called while long transcripts are read."""

    def __init__(self, job: Job, watch: Callable[[], None]) -> None:
        self._job = job
        self._watch = watch
        self.folders = frozenset(str(brief.path.parent) for brief in job.sessions)  # of transcripts

    def check(self, given: object) -> CheckedCitation:
        """Raises BadCitations."""
        if not isinstance(given, list) or len(given) > MOST_CITATIONS:
            raise BadCitations(f"`citations` must be a list of at most {MOST_CITATIONS} objects.")
        found = [self._one(entry) for entry in given]
        problems = [
            f"“{citation.quote[:120]}” does not appear in {_named(citation)} ({citation.note})"
            for citation in found
            if not citation.found
        ]
        return CheckedCitation(tuple(found), tuple(problems))

    def _one(self, entry: object) -> Citation:
        if not isinstance(entry, Mapping):
            raise BadCitations("Each citation must be an object with `session` and `quote`.")
        name, quote = entry.get("session"), entry.get("quote")
        if not isinstance(name, str) or not isinstance(quote, str) or not name.strip() or not quote.strip():
            raise BadCitations("Each citation needs `session` and `quote`, both texts that are not empty.")
        line = entry.get("line")
        wanted = line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else None
        quote = quote.strip()[:QUOTE_CHARS]
        name = name.strip()
        in_repository = name.startswith("/repo/")
        if name.endswith(".md") and not in_repository:
            return self._in_memory(name, quote, wanted)
        kept = redact.redact(quote)  # a model was not shown the secret, and the quote is stored
        if kept != quote:
            source: EvidenceSource = "repository" if in_repository else "transcript"
            return _missing(source, kept, name, wanted, "it has a secret; cite words without it")
        return (self._in_repository if in_repository else self._in_session)(name, quote, wanted)

    # --- Sessions -------------------------------------------------------------------------------------------------

    def _in_session(self, name: str, quote: str, line: int | None) -> Citation:
        path, brief = self._transcript(name)
        if path is None:
            return self._in_commit(name, quote)
        if brief is not None and brief.no_answer:
            return _in_prompts(brief, quote, line)
        try:
            matches = transcripts.find_quote(path, quote, limit=MOST_MATCHES, progress=self._progress)
        except OSError as error:
            return _missing("transcript", quote, str(path), line, error.strerror or "it cannot be read")
        if not matches:
            return _missing("transcript", quote, str(path), line, "no line holds these words", brief)
        matches = [match for match in matches if shows_something(quote, match.turn.parts[match.part].text)]
        if not matches:
            return _missing("transcript", quote, str(path), line, NOTHING_WHOLE, brief)
        match = min(matches, key=lambda m: (not _is_typed(m, quote), abs((m.turn.line or 0) - (line or 0))))
        turn = match.turn
        return Citation(
            "transcript",
            quote,
            place=str(path),
            session_pk=brief.pk if brief else None,
            line_no=turn.line,
            offset=turn.offset,
            role=_role(match, quote),
            at=turn.at,
            context=redact.redact(turn.parts[match.part].text)[:QUOTE_CHARS],
        )

    def _progress(self, read: int) -> None:
        self._watch()

    def _transcript(self, name: str) -> tuple[Path | None, SessionBrief | None]:
        """The file of a session given by its id, a prefix of it, or its path under /transcripts."""
        bare = PurePosixPath(name).name.removesuffix(".jsonl")
        for brief in self._job.sessions:
            if bare in (brief.session_id, brief.path.stem):
                return brief.path, brief
        if len(bare) >= SHORTEST_PREFIX:
            near = [brief for brief in self._job.sessions if brief.session_id.startswith(bare)]
            if len(near) == 1:
                return near[0].path, near[0]
        return self._older(bare), None

    def _older(self, bare: str) -> Path | None:
        """An older session in the folders of the new ones."""
        if not _NAME.fullmatch(bare):
            return None
        folders = dict.fromkeys(brief.path.parent for brief in self._job.sessions)
        return next((path for folder in folders if (path := folder / f"{bare}.jsonl").is_file()), None)

    # --- Files ----------------------------------------------------------------------------------------------------

    def _in_memory(self, name: str, quote: str, line: int | None) -> Citation:
        path = memory_path(name, self.folders).lstrip("/")
        known = self._job.workspace.snapshot.files.get(path)
        if known is None:
            return _missing("memory", quote, path, line, "there was no such memory when the dream began")
        found = _in_text("memory", known.data.decode("utf-8", "replace"), path, quote, line)
        return replace(found, role="log", at=self._day_of(path)) if memdir.is_log(path) else found

    def _day_of(self, path: str) -> dt.datetime | None:
        day = day_of_log(path)
        return dt.datetime.combine(day, dt.time(12), self._job.time_zone) if day else None

    def _in_commit(self, name: str, quote: str) -> Citation:
        """A commit is named by its id, or the first characters that the briefing shows."""
        folder = self._job.repo_dir
        found = repository.commit(folder, name) if folder and _COMMIT.fullmatch(name) else None
        if found is None:
            return _missing("transcript", quote, name, None, "there is no such session")
        message, at = found
        cited = _in_text("repository", message, f"commit {name}", quote, None)
        return replace(cited, at=at, line_no=None)

    def _in_repository(self, name: str, quote: str, line: int | None) -> Citation:
        if self._job.repo_dir is None:
            return _missing("repository", quote, name, line, "there is no repository")
        try:
            with safefs.Root.open(self._job.repo_dir) as root:
                data = root.read_bytes(name.removeprefix("/repo/"), limit=FILE_BYTES)
        except (OSError, safefs.SafeFsError):
            return _missing("repository", quote, name, line, "there is no such file")
        return _in_text("repository", data.decode("utf-8", "replace"), name, quote, line)


def memory_path(name: str, folders: Collection[str]) -> str:
    """A memory's path relative to the memory directory; a path elsewhere unchanged. `folders` are those of transcripts."""
    shown = _SHOWN.match(name)
    known = (shown[0] if shown else "/memory/", "memory/", *(f"{folder}/memory/" for folder in folders))
    place = next((place for place in known if name.startswith(place)), "")
    return name.removeprefix(place).lstrip("/") if place else name


NOTHING_WHOLE = "it is not a whole line, and no whole word of it has a meaning"
_MARKS = " -*•.,;:!\"'“”"


def shows_something(quote: str, text: str) -> bool:
    """Whether a quote has a whole word or value with a meaning, or is a whole line: “e” and “it is” are in every text."""
    wanted = one_line(quote)
    if statement(" ".join(wanted.split()[1:-1])).weights:
        return True
    has_meaning = bool(statement(wanted).weights)
    return any(
        line.strip(_MARKS) == wanted.strip(_MARKS) or (has_meaning and _is_whole(wanted, line))
        for line in map(one_line, (*text.split("\n"), text))
    )


def _is_whole(words: str, line: str) -> bool:
    """Whether they appear somewhere without cutting a word at either end."""
    for found in re.finditer(re.escape(words), line):
        ends = (line[at - 1 : at + 1] for at in found.span() if at)
        if not any(len(both) == 2 and all(map(_is_joined, both)) for both in ends):
            return True
    return False


def _is_joined(letter: str) -> bool:
    """Whether it belongs to one word with the letter beside it: not in Chinese or Japanese, which have no spaces."""
    return letter.isdigit() or letter.lower() != letter.upper()


def _is_typed(match: transcripts.Match, quote: str) -> bool:
    return match.turn.typed is not None and one_line(quote) in one_line(match.turn.typed)


def _role(match: transcripts.Match, quote: str) -> str:
    """The speaker: user only if a person typed it; transcripts use that role for much else."""
    if _is_typed(match, quote):
        return "user"
    kind = match.turn.parts[match.part].kind
    if kind in ("tool_result", "tool_use"):
        return kind
    return "tool_result" if match.turn.role == "user" else match.turn.role


def _in_text(source: EvidenceSource, text: str, place: str, quote: str, line: int | None) -> Citation:
    wanted = one_line(quote)
    lines = text.split("\n")
    hits = [number for number, found in enumerate(lines, start=1) if wanted in one_line(found)]
    if not hits and wanted not in one_line(text):
        return _missing(source, quote, place, line, "no line holds these words")
    if not shows_something(quote, text):
        return _missing(source, quote, place, line, NOTHING_WHOLE)
    number = min(hits, key=lambda hit: abs(hit - (line or hit)), default=None)
    return Citation(source, quote, place=place, line_no=number)


def _in_prompts(brief: SessionBrief, quote: str, line: int | None) -> Citation:
    """Searches the prompts, if the transcript was deleted."""
    wanted = one_line(quote)
    found = [prompt for prompt in brief.prompts if wanted in one_line(prompt.text)]
    if not found:
        return _missing("transcript", quote, str(brief.path), line, "no prompt holds these words", brief)
    found = [prompt for prompt in found if shows_something(quote, prompt.text)]
    if not found:
        return _missing("transcript", quote, str(brief.path), line, NOTHING_WHOLE, brief)
    prompt = min(found, key=lambda one: abs(one.line_no - (line or one.line_no)))
    return Citation(
        "transcript",
        quote,
        place=str(brief.path),
        session_pk=brief.pk,
        line_no=prompt.line_no,
        offset=prompt.offset,
        role="user",
        at=prompt.at,
        context=redact.redact(prompt.text)[:QUOTE_CHARS],
        note=NO_ANSWER,
    )


def _named(citation: Citation) -> str:
    """The place as the model knows it: a session's id, not where its file is on this machine."""
    return Path(citation.place).stem if citation.source == "transcript" else citation.place


def _missing(
    source: EvidenceSource,
    quote: str,
    place: str,
    line: int | None,
    note: str,
    brief: SessionBrief | None = None,
) -> Citation:
    pk = brief.pk if brief else None
    return Citation(source, quote, place=place, session_pk=pk, line_no=line, found=False, note=note)


def fates_of(given: object) -> Sequence[Mapping[str, Any]]:
    """The well-formed entries of `removed`; others are dropped."""
    entries = given if isinstance(given, list) else []
    return [
        entry for entry in entries[:500] if isinstance(entry, Mapping) and isinstance(entry.get("text"), str)
    ]
