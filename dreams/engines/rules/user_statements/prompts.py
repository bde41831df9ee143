"""All prompts in order of time, with their requests and statements, without retracted ones. Pure."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dreams.engines.rules.user_statements.requests import Wish, wishes
from dreams.engines.rules.user_statements.speech import is_remark, narrows, standing_from, takes_back
from dreams.engines.rules.user_statements.statements import Stated, Typed, typed_sentences, whole_statements
from dreams.engines.types import Citation, Job, LogBrief, PromptBrief, Reporter, SessionBrief
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files.text import quoted
from dreams.lib.prose.pieces import keys_of
from dreams.lib.prose.values import read

_LONG_AGO = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(eq=False)
class Heard:
    """One prompt of a session, or one line of a log.

    `doubted` are uncertain or reported sentences, which change nothing without asking.
    """

    source: SessionBrief | LogBrief
    prompt: PromptBrief
    wishes: list[Wish] = field(default_factory=list)
    typed: list[Typed] = field(default_factory=list)
    stated: list[Stated] = field(default_factory=list)
    doubted: list[Typed] = field(default_factory=list)

    @property
    def is_logged(self) -> bool:
        return isinstance(self.source, LogBrief)

    def reason(self, quote: str) -> str:
        if self.is_logged:
            return f"Your agent’s log says so: {quoted(quote)}."
        return f"You said so: {quoted(quote)}."

    def citation(self, quote: str) -> Citation:
        if isinstance(self.source, LogBrief):
            place, line = self.source.path, self.prompt.line_no
            return Citation("memory", quote[:1000], place, line_no=line, role="log", at=self.prompt.at)
        return Citation(
            "transcript",
            quote[:1000],
            place=str(self.source.path),
            session_pk=self.source.pk,
            line_no=self.prompt.line_no,
            offset=self.prompt.offset,
            role="user",
            at=self.prompt.at,
            note=NO_ANSWER if self.source.no_answer else "",
        )


def read_prompts(job: Job, report: Reporter) -> list[Heard]:
    """All prompts, oldest first. A prompt that retracts, restricts or remarks on the one before empties that one."""
    found: list[Heard] = []
    last: dict[int, Heard] = {}
    for session, prompt in _in_time(job):
        report.checkpoint()
        before = last.get(session.pk)
        start = standing_from(prompt.text)
        asked = [
            wish
            for wish in wishes(prompt.text)
            if _is_asked(prompt.text, wish, start) and (wish.handling == "forget" or not prompt.noted)
        ]
        wanted = "\n".join(wish.quote for wish in asked if wish.fact)
        told = [
            replace(each, changes=each.changes or each.quote in wanted)
            for each in typed_sentences(prompt.text)
            if _stands(prompt.text, each.quote, start)
        ]
        typed = [each for each in told if not each.doubted]
        stated = [each for each in whole_statements(prompt.text) if _stands(prompt.text, each.quote, start)]
        doubted = [each for each in told if each.doubted]
        heard = Heard(session, prompt, asked, typed, stated, doubted)
        if before is not None and _is_about(before, heard):
            before.wishes = _of_other_things(before.wishes, prompt.text)
            doubted = [] if takes_back(prompt.text) else [*before.typed, *before.doubted]
            before.typed, before.stated, before.doubted = [], [], doubted
        last[session.pk] = heard
        found.append(heard)
    return found


def _of_other_things(wishes: Sequence[Wish], prompt: str) -> list[Wish]:
    """The requests that a prompt does not take back: it is about those with most of its words, or about all if it has no word of
    any."""
    words = keys_of(prompt)
    shared = [len(words & keys_of(wish.quote)) for wish in wishes]
    return [wish for wish, number in zip(wishes, shared, strict=True) if number < max(shared)]


def _is_about(before: Heard, heard: Heard) -> bool:
    """Whether a prompt retracts the previous one, or restricts or remarks on it and reports no change itself.

    A remark does not retract what the person asked to remember: "remember that …", then "tests are not green".
    """
    prompt = heard.prompt.text
    if any(wish.handling == "forget" for wish in heard.wishes):
        return False
    if takes_back(prompt, before.prompt.text if before.wishes else ""):
        return True
    told_anew = heard.wishes or any(each.changes for each in heard.typed)
    stated = any(not each.unsure for each in heard.stated)
    of_it = narrows(prompt) and read(prompt).anchors <= read(before.prompt.text).anchors
    remark = not before.wishes and not stated and is_remark(prompt, before.prompt.text)
    return not told_anew and (of_it or remark)


def _stands(prompt: str, quote: str, start: int) -> bool:
    """Whether it comes after everything that the same prompt retracts. Joined quotes are found by their beginning."""
    return not start or prompt.find(quote[:30]) >= start


def _is_asked(prompt: str, wish: Wish, start: int) -> bool:
    """Whether a request stands, or is itself what seems to retract: "X is no more. Forget it."."""
    retracts = wish.handling == "forget" and wish.text and prompt.find(wish.quote) + len(wish.quote) > start
    return bool(retracts) or _stands(prompt, wish.quote, start)


def _in_time(job: Job) -> Iterator[tuple[SessionBrief, PromptBrief]]:
    """Prompts sorted by their own times, as sessions may run in parallel."""
    last = _LONG_AGO
    dated = []
    for session in job.sessions:
        for prompt in session.prompts:
            last = prompt.at or last
            dated.append((last, session, prompt))
    yield from (row[1:] for row in sorted(dated, key=lambda row: row[0]))
