"""What a person typed although a memory or an instruction file said it already when the session began.

A row has no text: only its prompt, and the digest of the statement. It counts while a file has that statement.
"""

import datetime as dt
import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeAlias

from django.db.models import F
from rapidfuzz import fuzz, utils

from dreams import conf
from dreams.engines.types import Citation, Repeated
from dreams.lib import memdir
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files import text
from dreams.lib.prose import comparing
from dreams.lib.prose.comparing import digest
from dreams.models import HiddenPrompt, Memory, Project, Prompt, Proposal, SaidAgain
from dreams.services import blobs, hosts
from dreams.services.memories import hand_edits, instructions, syncing, time_travel

Loaded = SaidAgain.Loaded
Digests: TypeAlias = Callable[[str, str], Sequence[tuple[int, str]]]  # of a file's statements, with lines
MOST_ROWS = 2_000  # the newest of a project; chosen
MOST_QUOTES = 12  # of one statement, the newest; chosen
#: Where the statement was when the newest of the sessions began, and what helps.
REMEDIES = {
    Loaded.START: "It was loaded when the session began. A note only asks; a hook or a check in the repository enforces.",
    Loaded.LINKED: "It was in a file that your agent opens only if its index row seems to fit. Write the rule itself into that row.",
    Loaded.BEYOND: "It was beyond what your agent loads of the index. Move its row up, or shorten the index.",
    Loaded.UNLISTED: "No index row named its file, so only a search could find it. Give it a row.",
}


class Quote(NamedTuple):
    """The sentence of a prompt that says it. `note`: as of a citation."""

    prompt: Prompt
    text: str
    note: str


@dataclass(frozen=True, slots=True)
class StatementSaidAgain:
    """A statement, where it is now, and the prompts that say it again, newest first. `loaded`: as of the newest."""

    path: str
    line_no: int
    statement: str
    loaded: SaidAgain.Loaded
    prompts: tuple[Prompt, ...]

    @property
    def key(self) -> str:
        return digest(self.statement)

    @property
    def times(self) -> str:
        return "once" if len(self.prompts) == 1 else f"{len(self.prompts):,} times"

    @property
    def remedy(self) -> str:
        return REMEDIES[self.loaded]

    @property
    def quotes(self) -> list[Quote]:
        from dreams.engines.rules.notes import wording  # noqa: PLC0415 - slow to build, rarely needed

        near = functools.partial(fuzz.token_sort_ratio, self.statement, processor=utils.default_process)
        found = []
        for prompt in self.prompts[:MOST_QUOTES]:
            said = max(wording.sentences(prompt.text), key=near, default=prompt.text)
            found.append(Quote(prompt, said, NO_ANSWER if hasattr(prompt, "history") else ""))
        return found


def record(project: Project, found: Iterable[Repeated]) -> None:
    """Keeps what a file said already when the session began, which may be long before the prompt. Not in a transaction: it
    reads all memories. A second call keeps nothing twice."""
    cited = {(one.citation.session_pk, one.citation.offset): one.citation for one in found}
    typed = Prompt.objects.filter(session__project=project, session__in={pk for pk, _ in cited if pk})
    typed = typed.filter(offset__in={offset for _, offset in cited}).select_related("session")
    prompts = {(row.session_id, row.offset): row for row in typed}
    had = functools.cache(functools.partial(_had, project, functools.cache(_digests)))
    rows = []
    for one in found:
        prompt = prompts.get((one.citation.session_pk or 0, one.citation.offset or 0))
        began = prompt.session.started_at if prompt else None
        key = digest(one.statement)
        if prompt and began and (loaded := had(began).get(key)):
            rows.append(SaidAgain(prompt=prompt, statement=key, loaded=loaded))
    SaidAgain.objects.bulk_create(rows, ignore_conflicts=True)


def _had(project: Project, digests: Digests, when: dt.datetime) -> dict[str, SaidAgain.Loaded]:
    """The statements of memories and instruction files at that time, each as near to the agent as it was."""
    states = time_travel.states_at(project, when)
    kept = blobs.get_many(states.values())
    files = {path: text.decode(kept[sha]) for path, sha in states.items() if sha in kept}
    found = dict.fromkeys(_instructed(project, digests, when), Loaded.START)
    config, order = conf.current(project), list(Loaded)
    indexes = {
        path: memdir.loaded(content, max_lines=config.index_max_lines, max_bytes=config.index_max_bytes)
        for path, content in files.items()
        if memdir.is_index(path)
    }
    named = {target: how for path in indexes for target, how in _named(path, files[path], indexes[path])}
    for path, content in files.items():
        last = indexes[path].first_dropped_line if path in indexes else None
        for line, key in digests(path, content):
            how = named.get(path, Loaded.UNLISTED)
            if path in indexes:
                how = Loaded.BEYOND if last and line >= last else Loaded.START
            found[key] = min(found.get(key, how), how, key=order.index)
    return found


def _named(path: str, content: str, index: memdir.Loaded) -> Iterator[tuple[str, SaidAgain.Loaded]]:
    """The memories that an index names, loaded ones last."""
    folder = path.removesuffix(memdir.INDEX_NAME)
    rows = sorted(memdir.parse_index(content).rows, key=lambda row: row not in index.rows_dropped)
    for row in rows:
        how = Loaded.BEYOND if row in index.rows_dropped else Loaded.LINKED
        yield from ((folder + target, how) for target in row.targets)


def with_secrets(project: Project, contents: Iterable[str], secrets: Iterable[str]) -> set[str]:
    """The digests of statements in these texts that have one of the secrets, of those that rows have. Not in a transaction:
    it reads each text."""
    rows = SaidAgain.objects.filter(prompt__session__project=project)
    known = set(rows.values_list("statement", flat=True))
    return {
        key
        for content in (contents if known else ())
        for path in ("memory.md", memdir.INDEX_NAME)
        for _, statement in _statements(path, content)
        if any(secret in statement for secret in secrets) and (key := digest(statement)) in known
    }


def _instructed(project: Project, digests: Digests, when: dt.datetime) -> Iterator[str]:
    """The digests of the statements of instruction files that have not changed since."""
    for file in instructions.files(project, conditional=False):
        with suppress(OSError):
            if Path(file.path).stat().st_mtime <= when.timestamp():
                yield from (key for _, key in digests(file.path, file.text))


def _digests(path: str, content: str) -> Sequence[tuple[int, str]]:
    return [(line, digest(statement)) for line, statement in _statements(path, content)]


def _statements(path: str, content: str) -> Iterator[tuple[int, str]]:
    from dreams.engines.rules.notes import bodies  # noqa: PLC0415 - slow to build, rarely needed

    if path.endswith(".md") and not memdir.is_log(path):
        document = memdir.parse(text.encode(content))
        yield from bodies.statements(document, indexed=memdir.is_index(path))


# --- What is shown ------------------------------------------------------------------------------------------------


def listed(project: Project, path: str = "") -> list[StatementSaidAgain]:
    """The statements that were said again, most often and latest first; of one file, if `path` is given."""
    rows = SaidAgain.objects.filter(prompt__session__project=project, prompt__session__own=False)
    rows = rows.exclude(prompt__in=HiddenPrompt.objects.values("key")).select_related(
        "prompt__session", "prompt__history"
    )
    by_statement: dict[str, list[SaidAgain]] = defaultdict(list)
    for row in rows.order_by(F("prompt__at").desc(nulls_last=True), "-pk")[:MOST_ROWS]:
        by_statement[row.statement].append(row)
    found = []
    for at, line, statement in _places(project, path) if by_statement else ():
        if not by_statement:
            break
        if again := by_statement.pop(digest(statement), None):
            prompts = tuple(row.prompt for row in again)
            found.append(StatementSaidAgain(at, line, statement, Loaded(again[0].loaded), prompts))
    return sorted(found, key=lambda one: (-len(one.prompts), -_moment(one.prompts[0]), one.path, one.line_no))


def _moment(prompt: Prompt) -> float:
    return prompt.at.timestamp() if prompt.at else 0.0


def _places(project: Project, path: str) -> Iterator[tuple[str, int, str]]:
    """Every statement with its place: of memories before indexes, and of instruction files."""
    files = syncing.contents(project, path)
    for name in sorted(files, key=lambda each: (memdir.is_index(each), each)):
        yield from ((name, *one) for one in _statements(name, text.decode(files[name])))
    for name, content in ({} if path else instructions.texts(project)).items():
        yield from ((name, *one) for one in _statements(name, content))


# --- Into its index row -------------------------------------------------------------------------------------------


def row_edits(
    project: Project, found: Iterable[StatementSaidAgain]
) -> dict[StatementSaidAgain, hand_edits.HandEdit]:
    """The change that puts a statement into the index row of its memory, for those that an agent would then load."""
    wanted = [one for one in found if one.loaded in (Loaded.LINKED, Loaded.UNLISTED)]
    if not wanted or project.host != hosts.host():
        return {}
    config, rows = conf.current(project), project.memories.filter(gone_at__isnull=True, unread="")
    shas = dict(rows.filter(path__endswith=memdir.INDEX_NAME).values_list("path", "sha256"))
    kept = blobs.get_many(shas.values())
    indexes = {path: kept[sha] for path, sha in shas.items() if sha in kept}
    memories = {row.path: row for row in rows.filter(path__in={one.path for one in wanted})}
    edits = {}
    for one in wanted:
        changed = None
        with suppress(KeyError, memdir.MemoryEditError):  # gone since, or the index has an open code fence
            changed = _with_rule(config, indexes, memories[one.path], one)
        if changed:
            why = f"You said this again {one.times}; your agent loads an index row when its session begins."
            before, cited = {path: indexes[path] for path in changed}, tuple(map(_cited, one.quotes))
            edits[one] = hand_edits.HandEdit(
                Proposal.Origin.EDIT, "index", why, changed, before, citations=cited
            )
    return edits


def _with_rule(
    config: conf.Config, indexes: Mapping[str, bytes], memory: Memory, one: StatementSaidAgain
) -> dict[str, bytes] | None:
    """The index that has the statement in the row of its memory; None if the row says it, or there is no room for it."""
    for path, target in reversed(memdir.indexes_of(memory.path).items()):
        index = memdir.parse_index(text.decode(indexes.get(path, b"")))
        plain = (row for row in index.rows_for(target) if row.form == "link" and len(row.targets) == 1)
        row = next(plain, None)
        if path not in indexes or (row is None and one.loaded == Loaded.LINKED):
            continue
        for hook in _hooks(row.hook if row else "", one.statement, memory.description):
            title = memory.name or PurePosixPath(memory.path).stem
            made = index.rewritten(row, hook=hook) if row else index.appended(title, target, hook)
            rows = made.rows_for(target)
            if not rows:
                continue  # the name reads as a place elsewhere
            now = rows[index.rows_for(target).index(row) if row else -1]
            dropped = _dropped(made, config)
            if (
                now.length <= config.row_max
                and now not in dropped
                and len(dropped) <= len(_dropped(index, config))
            ):
                return {path: text.encode(made.text)}
    return None


def _dropped(index: memdir.Index, config: conf.Config) -> Sequence[memdir.IndexRow]:
    """The rows that an agent does not load."""
    most = {"max_lines": config.index_max_lines, "max_bytes": config.index_max_bytes}
    return memdir.loaded(index.text, **most).rows_dropped


def _hooks(hook: str, rule: str, description: str) -> Iterator[str]:
    """What the row may say then, best first. Only what the memory's description says too leaves it."""
    if comparing.normalised(rule) in comparing.normalised(hook):
        return
    if hook:
        yield f"{hook.rstrip('.')}. {rule}"
    if not hook or comparing.same(hook, description):
        yield rule


def _cited(quote: Quote) -> Citation:
    prompt = quote.prompt
    return Citation(
        "transcript",
        quote.text,
        place=prompt.session.path,
        session_pk=prompt.session_id,
        line_no=prompt.line_no,
        offset=prompt.offset,
        role="user",
        at=prompt.at,
        note=quote.note,
    )
