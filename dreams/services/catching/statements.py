"""Finds what a person asked to remember in the new parts of sessions, with the engine chosen in the settings."""

import datetime as dt
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings

from dreams import conf
from dreams.engines.anthropic import catching as model
from dreams.engines.types import Citation, Job, Repeated, SessionBrief, Silent
from dreams.lib.agents import transcripts
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files import workspace
from dreams.lib.prose.comparing import digest
from dreams.lib.secrets.redact import cut
from dreams.models import Card, LeftOut, ModelRequest, Project, Proposal
from dreams.services import pricing, proposals, review
from dreams.services.catching import card_states
from dreams.services.catching.unread_parts import UnreadPart
from dreams.services.memories import instructions, syncing

MOST_OF_AN_ANSWER = 1_000  # characters of an answer of the agent; mainly the person's words matter


@dataclass(frozen=True, slots=True)
class CaughtStatement:
    """`said` is what was typed, `text` the line of memory it becomes."""

    said: str
    text: str
    memory_type: str
    citations: tuple[Citation, ...]
    engine: str = "rules"

    @property
    def sessions(self) -> frozenset[int]:
        return frozenset(cited.session_pk for cited in self.citations if cited.session_pk is not None)

    @property
    def at(self) -> dt.datetime | None:
        return min((cited.at for cited in self.citations if cited.at), default=None)


@dataclass(slots=True)
class CatchingResult:
    """The statements found in `parts`, some of which may end early. `why`: why not everything was read; `failed`: trying again
    at once would not help."""

    statements: list[CaughtStatement]
    parts: list[UnreadPart]
    why: str = ""
    failed: bool = False
    repeated: Sequence[Repeated] = ()
    taken_back: Sequence[Card] = ()


def found(project: Project, parts: Sequence[UnreadPart], now: dt.datetime) -> CatchingResult:
    """The statements in `parts` that are not yet in memory, in a card or in a dream's change, in order of time."""
    with scratch(project) as copy:
        if conf.current(project).catch_engine == "anthropic":
            return _by_a_model(project, parts, _job(project, parts, copy, now))
        return _by_rules(project, parts, copy, now)


def _by_rules(
    project: Project, parts: Sequence[UnreadPart], copy: workspace.Workspace, now: dt.datetime
) -> CatchingResult:
    """What undecided cards are from is read again with what came after it: a later prompt may take back or change what an
    earlier one said."""
    from dreams.engines.rules import catching  # noqa: PLC0415 - its patterns are slow to build, and no page needs them

    undecided = card_states.undecided(project, [part.session for part in parts])
    older = [part.since_cards(undecided) for part in parts]
    whole = [
        replace(part, prompts=[*old.prompts, *part.prompts]) for old, part in zip(older, parts, strict=True)
    ]
    job = _job(project, whole, copy, now, undecided)
    lessons, repeated = catching.said(job, Silent())
    new = {(part.session.pk, row.offset) for part in parts for row in part.prompts}
    said = [
        CaughtStatement(lesson.citations[0].quote, lesson.text, lesson.kind, tuple(lesson.citations))
        for lesson in lessons
        if any((cited.session_pk, cited.offset) in new for cited in lesson.citations)
    ]
    then = replace(job, sessions=[part.brief for part in older])
    before = catching.said(then, Silent())[0] if undecided else ()
    gone = {digest(each.text) for each in before} - {digest(each.text) for each in lessons}
    taken_back = [card for card in undecided if card.key in gone]
    return CatchingResult(said, list(parts), repeated=repeated, taken_back=taken_back)


def _by_a_model(project: Project, parts: Sequence[UnreadPart], job: Job) -> CatchingResult:
    """Raises EngineError if no model can be asked. The usage of each request is stored in any case."""
    from dreams.engines.rules import catching  # noqa: PLC0415 - as above

    made = CatchingResult([], [])
    with pricing.Meter(project, ModelRequest.Purpose.CATCHING) as meter, model.line(job, meter) as line:
        catcher = model.Catcher(job, line)
        for part, brief in zip(parts, job.sessions, strict=True):
            read = catcher.read(_messages(part, brief))
            made.statements += [_statement(one, brief) for one in read.named]
            if read.windows or not read.failed:
                made.parts.append(part if read.until is None else part.before(read.until))
            made.why, made.failed = read.why or made.why, read.failed
            if read.failed:
                break
    memory = catching.known(job)
    made.repeated = [
        Repeated(one.citations[0], source) for one in made.statements for source in memory.sources(one.text)
    ]
    made.statements = [one for one in made.statements if not memory.says(one.text)]
    return made


def _statement(one: model.Named, brief: SessionBrief) -> CaughtStatement:
    cited = Citation(
        "transcript",
        one.quote,
        place=str(brief.path),
        session_pk=brief.pk,
        line_no=one.prompt.line_no,
        offset=one.prompt.offset,
        role="user",
        note=NO_ANSWER if brief.no_answer else "",
        at=one.prompt.at,
    )
    return CaughtStatement(one.quote, one.text, one.memory_type, (cited,), "anthropic")


def _messages(part: UnreadPart, brief: SessionBrief) -> Iterator[model.SessionMessage]:
    """The prompts and answers in the new part, in order, without pasted text."""
    if brief.no_answer:
        yield from (
            model.SessionMessage(one.text[: model.CHARACTERS], one.offset, one) for one in brief.prompts
        )
        return
    typed = {prompt.offset: prompt for prompt in brief.prompts}
    offset: int | None = part.from_byte
    while offset is not None and offset < part.to_byte:
        page = transcripts.page(brief.path, offset, 200)
        for turn in page.turns:
            if turn.offset >= part.to_byte or turn.sidechain:
                continue
            if turn.offset in typed:
                prompt = typed[turn.offset]
                yield model.SessionMessage(prompt.text[: model.CHARACTERS], turn.offset, prompt)
            elif turn.type == "assistant":
                said = "\n".join(each.text for each in turn.parts if each.kind == "text").strip()
                if said:
                    yield model.SessionMessage(cut(said, MOST_OF_AN_ANSWER), turn.offset)
        offset = page.after


@contextmanager
def scratch(project: Project) -> Iterator[workspace.Workspace]:
    """A copy of the current memory directory. Edits made outside memoryweb are stored as versions first, as before a dream.
    Raises ReviewRefused while the folder is away."""
    review.refuse_if_away(project)
    snapshot = workspace.take(syncing.memory_dir(project))
    syncing.sync(project, snapshot)
    folder = workspace.scratch_folder(settings.DATA_DIR, f"caught-{secrets.token_hex(6)}")
    with workspace.Workspace.create(folder, snapshot) as copy:
        yield copy


def _job(
    project: Project,
    parts: Sequence[UnreadPart],
    copy: workspace.Workspace,
    now: dt.datetime,
    besides: Iterable[Card] = (),
) -> Job:
    config = conf.current(project)
    return Job(
        project_name=str(project),
        repo_dir=Path(project.repo_dir) if project.repo_dir else None,
        workspace=copy,
        sessions=[part.brief for part in parts],
        line_dates={},
        config=config,
        now=now,
        time_zone=conf.zone(config),
        prices=pricing.table() if config.catch_engine == "anthropic" else {},
        known=known(project, besides),
        instructions=instructions.texts(project),
    )


def known(project: Project, besides: Iterable[Card] = ()) -> tuple[str, ...]:
    """The texts of earlier cards, without outdated ones, lines that a dream currently proposes, and those that the person rejected."""
    cards = project.cards.exclude(state=Card.State.OUTDATED).exclude(pk__in=[card.pk for card in besides])
    waiting = proposals.open_dream_proposal(project)
    added = _added(waiting) if waiting else ()
    rejected = LeftOut.objects.decided().filter(project=project).values_list("added", flat=True)
    return (*cards.values_list("text", flat=True), *added, *(line for lines in rejected for line in lines))


def _added(proposal: Proposal) -> Iterator[str]:
    files = list(proposal.files.prefetch_related("hunks"))
    texts = proposals.texts_of(files)
    for file in files:
        for _, lines in proposals.text_hunks(file, texts):
            yield from proposals.added_lines(lines)
