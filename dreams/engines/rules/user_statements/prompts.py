"""All that was typed, in the order of time, with what each prompt asks for, tells or agrees to; what was taken back is left out.

Pure but for the transcript, where the words stand that an assent was said to."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dreams.engines.rules.user_statements.confirmations import Assent, as_told, assent, summed_up
from dreams.engines.rules.user_statements.remember_requests import Wish, wishes
from dreams.engines.rules.user_statements.retractions import is_remark, narrows, standing_from, takes_back
from dreams.engines.rules.user_statements.speech import opened
from dreams.engines.rules.user_statements.statements import (
    Stated,
    Typed,
    typed_sentences,
    whole_statements,
)
from dreams.engines.types import Citation, Job, PromptBrief, Reporter, SessionBrief
from dreams.lib.agents import transcripts
from dreams.lib.files.text import quoted
from dreams.lib.prose.exchanges import is_told_past
from dreams.lib.prose.pieces import keys_of
from dreams.lib.prose.values import read

_LONG_AGO = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the agent summed up in `turn`, word for word, and the person agreed to by the next thing typed."""

    turn: transcripts.Turn
    sentences: tuple[str, ...]
    by: Assent

    def typed(self) -> Iterator[Typed]:
        """What of it tells a change, each with the agent's words as its quote."""
        for said in self.sentences:
            text = opened(as_told(said))[0]
            agreed = all(key in keys_of(text) and not is_told_past(key, text) for key in self.by.repeats)
            if text and agreed:
                yield Typed(text.rstrip(" .!"), said, changes=True)

    def wishes(self) -> Iterator[Wish]:
        """What of it was to be remembered."""
        return (
            replace(wish, quote=said)
            for said in self.sentences
            if self.by.keep
            for wish in wishes(f"Remember that {as_told(said)}")
        )


@dataclass(eq=False)
class Heard:
    """One prompt of one session."""

    session: SessionBrief
    prompt: PromptBrief
    wishes: list[Wish] = field(default_factory=list)
    typed: list[Typed] = field(default_factory=list)
    stated: list[Stated] = field(default_factory=list)
    agreed: Agreed | None = None

    @property
    def words(self) -> str:
        """All that the person said or agreed to."""
        return "\n".join((self.prompt.text, *(self.agreed.sentences if self.agreed else ())))

    def citations(self, quote: str) -> tuple[Citation, ...]:
        """Where it was said; of what was agreed to, the agent's words and then the person's."""
        if self.agreed is None or quote not in self.agreed.sentences:
            return (self.citation(quote),)
        of_the_agent = replace(
            self.citation(quote),
            line_no=self.agreed.turn.line,
            offset=self.agreed.turn.offset,
            role="assistant",
            at=self.agreed.turn.at,
            note="you agreed to it in your next turn",
        )
        return of_the_agent, self.citation(self.prompt.text)

    def reason(self, quote: str) -> str:
        agreed = self.agreed is not None and quote in self.agreed.sentences
        return f"{'You agreed to this' if agreed else 'You said so'}: {quoted(quote)}."

    def citation(self, quote: str) -> Citation:
        return Citation(
            "transcript",
            quote[:1000],
            place=str(self.session.path),
            session_pk=self.session.pk,
            line_no=self.prompt.line_no,
            offset=self.prompt.offset,
            role="user",
            at=self.prompt.at,
        )


def hear(job: Job, report: Reporter) -> list[Heard]:
    """Every prompt, oldest first. A prompt that begins by taking back leaves nothing of the one before it."""
    found: list[Heard] = []
    last: dict[int, Heard] = {}
    for session, prompt in _in_time(job):
        report.checkpoint()
        before = last.get(session.pk)
        start = standing_from(prompt.text)
        asked = [wish for wish in wishes(prompt.text) if _stands(prompt.text, wish.quote, start)]
        wanted = "\n".join(wish.quote for wish in asked if wish.fact)
        typed = [
            replace(each, changes=each.changes or each.quote in wanted)
            for each in typed_sentences(prompt.text)
            if _stands(prompt.text, each.quote, start)
        ]
        stated = [each for each in whole_statements(prompt.text) if _stands(prompt.text, each.quote, start)]
        heard = Heard(session, prompt, asked, typed, stated, _agreed(session, prompt))
        if heard.agreed is not None:
            heard.typed += heard.agreed.typed()
            heard.wishes += heard.agreed.wishes()
        if before is not None and _is_about(before.prompt.text, heard):
            before.wishes, before.typed, before.stated = [], [], []
        last[session.pk] = heard
        found.append(heard)
    return found


def _agreed(session: SessionBrief, prompt: PromptBrief) -> Agreed | None:
    """What a prompt agrees to. A transcript that is gone, or was written anew, tells nothing."""
    by = assent(prompt.text)
    if by is None:
        return None
    try:
        turn = transcripts.answered(session.path, prompt.offset, line=prompt.line_no)
    except OSError:
        return None
    held = summed_up(turn.parts[-1].text) if turn else []
    return Agreed(turn, tuple(held), by) if turn and held else None


def _is_about(before: str, heard: Heard) -> bool:
    """Whether a prompt takes back or narrows what the one before it said, and tells no change of its own."""
    prompt = heard.prompt.text
    if any(wish.verdict == "forget" for wish in heard.wishes):
        return False
    if takes_back(prompt):
        return True
    told_anew = heard.wishes or any(each.changes for each in heard.typed)
    stated = any(not each.unsure for each in heard.stated)
    of_it = narrows(prompt) and read(prompt).anchors <= read(before).anchors
    return not told_anew and (of_it or (not stated and is_remark(prompt, before)))


def _stands(prompt: str, quote: str, start: int) -> bool:
    """Whether it was said behind what the same prompt takes back. A quote that was put together is looked for by its beginning."""
    return not start or prompt.find(quote[:30]) >= start


def _in_time(job: Job) -> Iterator[tuple[SessionBrief, PromptBrief]]:
    """Prompts of sessions that ran side by side are told apart by their own moments."""
    every = [(session, prompt) for session in job.sessions for prompt in session.prompts]
    last = _LONG_AGO
    dated = []
    for place, (session, prompt) in enumerate(every):
        last = prompt.at or last
        dated.append((last, place, session, prompt))
    for _, _, session, prompt in sorted(dated, key=lambda row: row[:2]):
        yield session, prompt
