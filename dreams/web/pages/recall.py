"""What an agent would load for a question: now, or after an open proposal is applied. And what an applied proposal changed:
new and removed statements, and a question from a past session with the answers of the memory before and after.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from dreams import conf
from dreams.engines import drafts
from dreams.findings.ledger import facts
from dreams.findings.ledger.units import Unit, units_of
from dreams.lib import diff, memdir
from dreams.lib.diff import visible
from dreams.lib.files import text
from dreams.lib.prose.recall import LoadedSoFar
from dreams.lib.secrets.masking import Mask
from dreams.models import AppliedFile, Memory, Project, Prompt, Proposal
from dreams.services import blobs, proposals, recalling
from dreams.services.memories import syncing
from dreams.services.recalling import Recall
from dreams.web.pages.index_size import IndexSize, size_as_loaded
from dreams.web.pages.review_proposal import LoadedProposal
from dreams.web.pages.review_texts import file_texts

MOST = 8  # memories on each side; chosen
#: Fields and headings are not knowledge; index rows repeat their memories.
KNOWN = frozenset({"sentence", "table", "code"})
MOST_PROMPTS, LONGEST = 200, 300
#: The share of a question's words that a new statement must have to be its answer, and how many words at least.
LIKE, SHARED = 0.34, 2
#: How many questions are tried to find one with a different answer.
MOST_TRIED = 3
Texts = Mapping[str, bytes]
MOST_LINES = 8  # matches per memory; chosen
#: The share of a question's weight that a line must cover to be shown as a match.
SPEAKS = 0.3


@dataclass(frozen=True, slots=True)
class IndexLine:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """`index_lines` are the lines of the loaded index that match the question."""

    recall: Recall
    opened: list[dict[str, Any]]
    index_lines: list[IndexLine]

    @property
    def index_size(self) -> int:
        return len(self.recall.index)

    @property
    def bytes(self) -> int:
        return self.recall.bytes + self.index_size


def page(
    project: Project,
    question: str,
    *,
    shown: str = "",
    tools: str = "",
    with_proposal: bool = False,
    by_model: bool = False,
) -> dict[str, Any]:
    """`with_proposal` also asks the directory after the open proposal; `by_model` lets the configured model choose, which
    costs money. `shown` and `tools` are as typed, so that the form keeps them."""
    now = syncing.contents(project)
    waiting = project.proposals.filter(state=Proposal.State.OPEN).order_by("-created_at").first()
    seen = _seen(now, shown, tools)
    then = None
    if waiting is not None and with_proposal:
        after = proposals.subject_of(waiting, now, undecided=True).after
        then = answer(project, after, question, seen, by_model=by_model)
    asked = answer(project, now, question, seen, by_model=by_model)
    config = conf.current(project)
    model = config.model if config.recall_engine != "rules" else ""
    return {
        "shown": shown,
        "tools": tools,
        "now": asked,
        "then": then,
        "proposal": waiting.public_id if waiting else "",
        "model": model,
    }


def _seen(files: Mapping[str, bytes], shown: str, tools: str) -> LoadedSoFar:
    paths = [path for path in _listed(shown) if path in files]
    return LoadedSoFar(paths, sum(len(files[path]) for path in paths), _listed(tools))


def _listed(typed: str) -> list[str]:
    """Splits names at commas and spaces."""
    return list(dict.fromkeys(typed.replace(",", " ").split()))


def answer(
    project: Project,
    files: Mapping[str, bytes],
    question: str,
    seen: LoadedSoFar | None = None,
    *,
    by_model: bool = False,
) -> RecallAnswer:
    found = recalling.ask(project, files, question, seen, free=not by_model)
    return RecallAnswer(
        recall=found,
        opened=[
            {"chosen": one, "lines": _lines(one.path, files[one.path][: one.bytes], question)}
            for one in found.chosen
        ],
        index_lines=_lines(memdir.INDEX_NAME, found.index, question),
    )


def _lines(path: str, data: bytes, question: str) -> list[IndexLine]:
    """The statements that match the question best, in the order of the file."""
    mask = Mask.of([text.decode(data)])
    scored = [
        (facts.coverage(question, unit.text), unit) for unit in units_of(path, data) if unit.kind != "field"
    ]
    best = sorted((pair for pair in scored if pair[0] >= SPEAKS), key=lambda pair: -pair[0])[:MOST_LINES]
    found: list[Unit] = sorted((unit for _, unit in best), key=lambda unit: unit.first_line)
    rows = memdir.parse_index(text.decode(data)).rows if path == memdir.INDEX_NAME else ()
    whole = {row.line_no: f"{row.title}: {row.hook}" for row in rows if row.hook}  # many hooks say the same
    told = dict.fromkeys((unit.first_line, whole.get(unit.first_line, unit.text)) for unit in found)
    return [IndexLine(number, diff.visible(mask(line))) for number, line in told]


def known_since(proposal: Proposal) -> dict[str, Any] | None:
    """None if nothing of it is written, or no written text still differs from the old one."""
    if proposal.state != Proposal.State.APPLIED:
        return None
    rows = AppliedFile.objects.filter(
        application__proposal=proposal, application__undone_at__isnull=True
    ).order_by("application", "pk")
    first, last = dict[str, str](), dict[str, str]()
    for row in rows:
        first.setdefault(row.path, row.before_sha)
        last[row.path] = row.after_sha
    if not first:
        return None
    now = syncing.contents(proposal.project)
    before = _before(now, first)
    known = {row.path: row for row in proposal.project.memories.filter(path__in=first)}
    written = {
        unit.key for path, data in _before(now, last).items() if path in last for unit in units_of(path, data)
    }
    changed = list(_changed(before, now, written, first, known))
    new = [unit for path in first for unit in _new(before, now, path) if unit.key in written]
    asked = _asked(proposal, new, before, now) if changed else None
    return {"memories": changed, "asked": asked} if changed else None


def _before(now: Texts, shas: Mapping[str, str]) -> dict[str, bytes]:
    """The current directory, with the written files in their old state."""
    texts = blobs.get_many(sha for sha in shas.values() if sha)
    kept = {path: data for path, data in now.items() if path not in shas}
    return kept | {path: texts[sha] for path, sha in shas.items() if sha in texts}


def _changed(
    before: Texts, now: Texts, written: Collection[str], paths: Iterable[str], known: Mapping[str, Memory]
) -> Iterator[dict[str, Any]]:
    """Without what somebody else wrote or removed since: `written` has the keys of all statements as they were written."""
    mask = Mask.of(data.decode("utf-8", "replace") for side in (before, now) for data in side.values())
    for path in sorted(paths):
        lost = [unit for unit in _new(now, before, path) if unit.key not in written]
        # The replacement of a lost line is shown even if another memory already said it.
        new = _new(before, now, path) or (_new(_of(before, path), now, path) if lost else [])
        new = [unit for unit in new if unit.key in written]
        learnt, gone = ([visible(mask(unit.text)) for unit in units] for units in (new, lost))
        if learnt or gone:
            row = known.get(path)
            yield {
                "pk": row.pk if row and path in now else None,
                "name": (row.name if row else "") or path,
                "learnt": learnt[:MOST],
                "gone": gone[:MOST],
                "more": max(0, len(learnt) - MOST) + max(0, len(gone) - MOST),
            }


def _of(texts: Texts, path: str) -> Texts:
    return {path: texts[path]} if path in texts else {}


def _new(old: Texts, new: Texts, path: str) -> list[Unit]:
    """Statements of `path` in `new` that no file had in `old`; moved ones do not count."""
    if new.get(path) == old.get(path):
        return []
    said = {unit.key for name, data in old.items() for unit in units_of(name, data)}
    return [unit for unit in units_of(path, new.get(path)) if unit.kind in KNOWN and unit.key not in said]


def _asked(proposal: Proposal, new: Sequence[Unit], before: Texts, now: Texts) -> dict[str, Any] | None:
    """The question that the new statements answer best and whose answer changed."""
    for prompt in _questions(proposal, new)[:MOST_TRIED]:
        question = " ".join(prompt.text.split())
        then = answer(proposal.project, before, question)
        since = answer(proposal.project, now, question)
        if _said(then) != _said(since):
            asked = visible(Mask.of([question])(question))
            return {
                "text": asked,
                "session": prompt.session,
                "before": _written_lines(then, since),
                "now": _written_lines(since, then),
            }
    return None


def _questions(proposal: Proposal, new: Sequence[Unit]) -> list[Prompt]:
    """Questions from this project's sessions, those that the new statements answer best first."""
    rows = Prompt.objects.filter(
        session__project=proposal.project_id, session__own=False, text__contains="?"
    ).select_related("session")
    found = [(_share(row, new), row) for row in rows.order_by(F("at").desc(nulls_last=True))[:MOST_PROMPTS]]
    return [row for share, row in sorted(found, key=lambda pair: -pair[0]) if share >= LIKE]


def _share(prompt: Prompt, new: Sequence[Unit]) -> float:
    if len(prompt.text) > LONGEST:
        return 0
    shares = (
        facts.coverage(prompt.text, unit.text)
        for unit in new
        if len(facts.shared_words(prompt.text, unit.text)) >= SHARED
    )
    return max(shares, default=0)


def _written_lines(answer: RecallAnswer, other: RecallAnswer) -> list[dict[str, Any]]:
    there = {text for _, text in _said(other)}
    return [{"text": text, "path": path, "only_here": text not in there} for path, text in _said(answer)]


def _said(answer: RecallAnswer) -> list[tuple[str, str]]:
    """The matches in the opened memories; if none are opened, those in the index."""
    lines = [(memory["chosen"].path, line.text) for memory in answer.opened for line in memory["lines"]]
    return lines or [(memdir.INDEX_NAME, line.text) for line in answer.index_lines]


@dataclass(frozen=True, slots=True)
class Loads:
    """The index `now`, with all changes that are not rejected, and `before` them. `is_on_disk`: they are written.
    `is_since`: the index changed after the proposal was made. `off` and `back` are titles of rows that are no longer, or
    again, within the limit."""

    is_on_disk: bool
    is_since: bool
    now: IndexSize
    before: IndexSize
    off: tuple[str, ...]
    back: tuple[str, ...]

    @property
    def compared(self) -> str:
        """The label of the number to compare with."""
        if self.is_on_disk:
            return "before:"
        return "when this was proposed:" if self.is_since else "now"


def loads(loaded: LoadedProposal, texts: Mapping[str, bytes]) -> Loads | None:
    """None if the project has no index and gets none, or if nothing of a closed proposal was ever written."""
    is_on_disk = any(hunk.applied_in_id for hunk in loaded.all_hunks)
    waits = loaded.proposal.state in Proposal.UNFINISHED
    if not (is_on_disk or waits):
        return None
    before, after = _written(loaded) if is_on_disk else _decided(loaded, texts)
    if before is None and after is None:
        return None
    config = conf.current(loaded.proposal.project)
    old, new = size_as_loaded(before or b"", config), size_as_loaded(after or b"", config)
    fell, falls = _titles(old), _titles(new)
    rows = {row.title or row.target for row in memdir.parse_index(text.decode(after or b"")).rows}
    return Loads(
        is_on_disk=is_on_disk,
        is_since=not is_on_disk and text.sha256(before or b"") != (_sha_now(loaded) or text.sha256(b"")),
        now=new,
        before=old,
        off=tuple(title for title in falls if title not in fell),
        back=tuple(title for title in fell if title not in falls and title in rows),
    )


def _titles(index: IndexSize) -> list[str]:
    return [row.title or row.target for row in index.lost]


def _written(loaded: LoadedProposal) -> tuple[bytes | None, bytes | None]:
    """The index before anything of this was written, and the one on disk."""
    now = _sha_now(loaded)
    written = AppliedFile.objects.filter(application__proposal=loaded.proposal.pk, path=memdir.INDEX_NAME)
    before = written.order_by("pk").values_list("before_sha", flat=True).first()
    before = now if before is None else before
    kept = blobs.get_many(filter(None, {before, now}))
    return kept.get(before), kept.get(now)


def _decided(loaded: LoadedProposal, texts: Mapping[str, bytes]) -> tuple[bytes | None, bytes | None]:
    """The index that the proposal starts from, and the one with the verdicts; undecided changes count until the submit."""
    file = next((file for file in loaded.files if file.path == memdir.INDEX_NAME), None)
    if file is None:
        now = _sha_now(loaded)
        data = blobs.get_many([now]).get(now) if now else None
        return data, data
    lines = file_texts(file, loaded.hunks[file.pk], texts)
    if loaded.is_open:
        return lines.base, lines.decided()
    taken = {row.hunk_id: lines.edited.get(row.hunk_id, row.is_taken) for row, _ in lines.hunks}
    return lines.base, drafts.rebuild(lines.base, lines.new, [hunk for _, hunk in lines.hunks], taken)


def _sha_now(loaded: LoadedProposal) -> str:
    rows = loaded.proposal.project.memories.filter(path=memdir.INDEX_NAME, gone_at__isnull=True)
    return rows.values_list("sha256", flat=True).first() or ""
