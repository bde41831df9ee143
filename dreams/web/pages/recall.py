"""What an agent would have before it for a question: now, or once an open proposal is applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dreams import conf
from dreams.findings.ledger import facts
from dreams.findings.ledger.units import Unit, units_of
from dreams.lib import diff
from dreams.lib.files import text
from dreams.lib.prose.recall import NotChosen, Seen
from dreams.lib.secrets.masking import Mask
from dreams.models import Project, Proposal
from dreams.services import proposals, recalling
from dreams.services.memories import syncing
from dreams.services.recalling import Chosen, Recall

MOST_LINES = 8
#: How much of a question's weight a line must have to be shown as what speaks to it.
SPEAKS = 0.3
#: Memories that were not chosen, shown with the reason.
MOST_LEFT_OUT = 200


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A memory the agent would open, with the lines that speak to the question."""

    chosen: Chosen
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class Answer:
    """`index_lines` are those of the loaded index that speak to the question."""

    recall: Recall
    opened: list[Opened]
    index_lines: list[Line]

    @property
    def index_size(self) -> int:
        return len(self.recall.index)

    @property
    def bytes(self) -> int:
        return self.recall.bytes + self.index_size

    @property
    def left_out(self) -> tuple[NotChosen, ...]:
        return self.recall.left_out[:MOST_LEFT_OUT]

    @property
    def more_left_out(self) -> int:
        return len(self.recall.left_out) - len(self.left_out)


@dataclass(frozen=True, slots=True)
class Page:
    """`shown` and `tools` are as typed, so that the form keeps them. `model` may be asked to choose; empty: none is
    configured."""

    question: str
    shown: str
    tools: str
    now: Answer
    then: Answer | None
    proposal: str
    model: str


def page(
    project: Project,
    question: str,
    *,
    shown: str = "",
    tools: str = "",
    with_proposal: bool = False,
    by_model: bool = False,
) -> Page:
    """`with_proposal` asks the directory as the open proposal would leave it, too; `by_model` has the model of the
    settings choose, which costs money."""
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
    return Page(question, shown, tools, asked, then, waiting.public_id if waiting else "", model)


def _seen(files: Mapping[str, bytes], shown: str, tools: str) -> Seen:
    paths = [path for path in _listed(shown) if path in files]
    return Seen(paths, sum(len(files[path]) for path in paths), _listed(tools))


def _listed(typed: str) -> list[str]:
    """Names separated by commas or blanks."""
    return list(dict.fromkeys(typed.replace(",", " ").split()))


def answer(
    project: Project,
    files: Mapping[str, bytes],
    question: str,
    seen: Seen | None = None,
    *,
    by_model: bool = False,
) -> Answer:
    found = recalling.ask(project, files, question, seen, free=not by_model)
    return Answer(
        recall=found,
        opened=[
            Opened(one, _lines(one.path, files[one.path][: one.bytes], question)) for one in found.chosen
        ],
        index_lines=_lines("MEMORY.md", found.index, question),
    )


def _lines(path: str, data: bytes, question: str) -> list[Line]:
    """The statements that share most with the question, in their order."""
    mask = Mask.of([text.decode(data)])
    scored = [
        (facts.coverage(question, unit.text), unit) for unit in units_of(path, data) if unit.kind != "field"
    ]
    best = sorted((pair for pair in scored if pair[0] >= SPEAKS), key=lambda pair: -pair[0])[:MOST_LINES]
    found: list[Unit] = sorted((unit for _, unit in best), key=lambda unit: unit.first_line)
    return [Line(unit.first_line, diff.visible(mask(unit.text))) for unit in found]
