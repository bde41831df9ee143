"""All that was typed, in the order of time, with what each prompt asks for, tells, or agrees to of what the agent summed
up; what was taken back is left out. Pure but for the transcript, where the words stand that an answer was said to.

An answer that adds nothing counts only for what was held out to be agreed to. A question whether to do something is
answered by an order, and what else is in the turn was only reported."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.user_statements.phrases import TASK, UNSURE, is_own_word
from dreams.engines.rules.user_statements.requests import Wish, wishes
from dreams.engines.rules.user_statements.speech import (
    LIST_ITEM,
    is_remark,
    narrows,
    opened,
    standing_from,
    takes_back,
)
from dreams.engines.rules.user_statements.statements import Stated, Typed, typed_sentences, whole_statements
from dreams.engines.types import Citation, Job, LogBrief, PromptBrief, Reporter, SessionBrief
from dreams.lib.agents import transcripts
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files.text import quoted
from dreams.lib.memdir import mask_code
from dreams.lib.prose.exchanges import is_told_past
from dreams.lib.prose.pieces import keys_of
from dreams.lib.prose.values import read

MOST_ANSWER = 300  # characters
MOST_TURN = 20_000  # characters of an agent's answer; a longer one is a report
MOST_SENTENCE = 400  # characters, as above
MOST_SUMMED_UP = 8  # sentences; a longer list is a report that nobody weighed line by line
_GAP = r"[\s,;:.!—–-]"

# --- The answer ---------------------------------------------------------------------------------------------------

_YES = (
    r"(?:yes|yeah|yep|yup|yah|y|ja|jep|oui|s[ií]|right|correct|exactly|precisely|indeed|absolutely|definitely|affirmative|confirmed|true|100 ?%|"
    r"(?:that|this|it)(?:['’]?s| is) (?:it|(?:all |exactly )?(?:right|correct|true))|you(?:['’]re| are| did| got it)(?: right| correct)?|"
    r"(?:it|they|we|i|he|she|that) (?:is|are|am|do|does|did|has|have|was|were))"
)
_SO_BE_IT = r"(?:do (?:that|it|so)|go (?:ahead|on)|thanks|thank you|thx|cheers|great|perfect|both|all of (?:it|them|that))"
_KEEP = r"(?:(?:and )?(?:please )?(?:remember|note|save|memori[sz]e|keep)(?: down)? (?:that|it|this|them)(?: (?:down|in mind|in (?:your )?memory))?(?: please)?)"
_AGREED = re.compile(
    rf"{_YES}(?:{_GAP}+(?:{_YES}|{_SO_BE_IT}|{_KEEP}))*(?P<rest>{_GAP}.*)?$", re.IGNORECASE | re.DOTALL
)
_KEPT = re.compile(_KEEP, re.IGNORECASE)
_AND = re.compile(
    rf"{_GAP}*(?:(?:and|also|then|now|next|please|(?:can|could) you(?: please)?|let['’]?s)\b{_GAP}*)*",
    re.IGNORECASE,
)
# From when on it is so, which must not be still to come.
_SINCE_WHEN = re.compile(
    r"(?:since|as of) (?:today|now|yesterday|(?:this|last|the last) \w+|\w+day|\d{4}-\d\d(?:-\d\d)?)",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(r"\.\.|…|\?!|!\?")
# What takes a part of it away again, wherever it stands in the rest.
_RESERVED = re.compile(
    r"\b(?:but|though|although|however|except|only|just|unless|until|till|while|not|never|no|isn['’]?t|don['’]?t|doesn['’]?t|instead|still|first|least|most\w*|partly|depends)\b|\?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Assent:
    """`repeats` are the words of what was summed up that a person said again: "yes, Argo". `keep`: it was to be remembered."""

    repeats: frozenset[str] = frozenset()
    keep: bool = False


def assent(answer: str) -> Assent | None:
    """The assent that an answer is, with nothing kept back; None for any other."""
    text = answer.strip()
    found = _AGREED.match(text) if len(text) <= MOST_ANSWER else None
    if found is None or takes_back(text) or _LEFT_OPEN.search(text):
        return None
    kept = bool(_KEPT.search(text[: found.start("rest")] if found["rest"] else text))
    rest = (found["rest"] or "").strip(" \t\n,;:.!—–-👍✅")
    if not rest or _SINCE_WHEN.fullmatch(rest):
        return Assent(keep=kept)
    task = _AND.sub("", rest, count=1)
    if _RESERVED.search(task.rstrip("?")) or narrows(task):
        return None
    if TASK.match(task):
        return Assent(keep=kept)
    return None if UNSURE.search(rest) else Assent(keys_of(rest), kept)


# --- What it was said to ------------------------------------------------------------------------------------------

# What says that the agent repeats what it understood, not what it found or did.
_SUMMING = re.compile(
    rf"(?:(?:so|ok(?:ay)?|right|then|alright|all right|great|thanks|understood|noted|got it|i see|in short|in other words|(?:which|that) means(?: that)?|meaning(?: that)?|"
    r"(?:just )?(?:to|let me) (?:confirm|be sure|make sure|double[- ]check|recap|sum up|summari[sz]e)(?: (?:that )?i understand(?: (?:you|this|it))?(?: correctly| right)?)?(?: that)?|"
    r"(?:if|do|did) i (?:understand|understood|get|got)(?: (?:you|this|it|that))? (?:correctly|right)|(?:if )?i(?:['’]m| am) (?:not mistaken|right)|am i right(?: (?:that|in thinking that))?|"
    r"(?:recap|summary|to recap|in summary|confirming)(?: of (?:what changed|the changes))?|(?:it|that) (?:looks like|seems(?: that)?|sounds like)|i (?:take it|gather|understand)(?: that)?)\b"
    rf"{_GAP}*)+",
    re.IGNORECASE,
)  # fmt: skip
_TAG = (
    r"(?:(?:is|was) (?:that|this|it|all(?: of)? (?:that|this))(?: all)? (?:right|correct|so|accurate|true)|(?:did|do|have) i (?:get|got|understand|understood) (?:that|this|it|you|everything|all of (?:it|this|that))"
    r"(?: all)?(?: (?:right|correctly))?|have i got (?:that|this|it|everything) right|(?:all )?(?:right|correct|yes|agreed)|(?:isn['’]t|doesn['’]t|don['’]t) (?:it|that|they|we|you)|(?:can|could) you confirm(?: (?:that|this))?|am i right)"
)
_TAGGED = re.compile(rf"[\s,;—–-]*(?<![\w'’]){_TAG}\s*\?+$", re.IGNORECASE)
_ASKS_FOR_IT = re.compile(rf"{_TAG}\s*\?+$", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?:i(?:['’]ll| will) (?:remember|keep|note|bear)\b[^.]{0,40}|(?:noted|thanks|thank you|understood|got it))[.!]*$",
    re.IGNORECASE,
)
_ITSELF = re.compile(r"\b(?:I|I['’](?:m|ve|d|ll)|[Mm]y|[Mm]e)\b")
_NOBODYS = "…"  # code, a quotation or a table: whatever it touches cannot be agreed to
_CHOICE = re.compile(r"\b(?:or|either)\b", re.IGNORECASE)
_YOURS = tuple(
    (re.compile(rf"\b{said}\b", re.IGNORECASE), meant)
    for said, meant in (("your", "our"), ("yours", "ours"), ("you", "we"))
)


def summed_up(turn: str) -> list[str]:
    """The sentences that a turn holds out to be agreed to, word for word; none where a "yes" would answer something else."""
    blocks = _blocks(turn) if len(turn) <= MOST_TURN else []
    questions = [one for block in blocks for one in block if one.endswith("?")]
    asking = [one for one in questions if not _ASKS_FOR_IT.match(one)]
    if not blocks or len(asking) > 1:
        return []
    *above, last = blocks
    while len(last) > 1 and _CLOSING.match(last[-1]):
        last = last[:-1]
    if not last[-1].endswith("?"):
        return _understood(above, last) if not questions else []
    if _ASKS_FOR_IT.match(last[-1]):
        held = last[:-1] or (above[-1] if above else [])
        return _fit(held) if not asking else []
    return _fit(last[-1:])


def _understood(above: Sequence[Sequence[str]], last: Sequence[str]) -> list[str]:
    """Without a question: what a sentence, or the line above a list, says to be understood."""
    if _SUMMING.match(last[-1]) and not last[-1].endswith(":"):
        return _fit(last[-1:])
    lead = above[-1][-1] if above else ""
    return _fit(last) if lead.endswith(":") and _SUMMING.match(lead) else []


def _fit(held: Sequence[str]) -> list[str]:
    """All of them, if each is plainly told: beside a supposition or another's word the rest is that too."""
    if len(held) > MOST_SUMMED_UP:
        return []
    told = [one for one in held if not one.endswith(":") and not _SUMMING.fullmatch(one)]
    return told if all(as_told(one) for one in told) else []


def as_told(sentence: str) -> str:
    """The sentence as the person would have said it; nothing where it is no plain statement of theirs."""
    text = _TAGGED.sub("", sentence[: MOST_SENTENCE + 1]).rstrip(" ?.!")
    text = text[found.end() :] if (found := _SUMMING.match(text)) else text
    if (
        not text
        or len(sentence) > MOST_SENTENCE
        or _ITSELF.search(text)
        or _CHOICE.search(text)
        or not is_own_word(text)
    ):
        return ""
    for said, meant in _YOURS:
        text = said.sub(meant, text)
    return text


def _blocks(turn: str) -> list[list[str]]:
    """Sentences by paragraph, a list being one; a sentence that is broken over lines is one."""
    blocks: list[list[str]] = [[]]
    listing = False
    for line, seen in zip(turn.split("\n"), mask_code(turn).split("\n"), strict=True):
        said, item = line.strip(), LIST_ITEM.match(line)
        if not said or (item and not listing):
            blocks.append([])
        if said and (not seen.strip("\0 \t\r") or said.startswith((">", "|", "#"))):
            said = _NOBODYS
        if item or not blocks[-1]:
            blocks[-1].append(item["rest"].strip() if item and said != _NOBODYS else said)
        elif listing and said == line.rstrip():
            blocks.append([said])
        else:
            blocks[-1][-1] = f"{blocks[-1][-1]} {said}"
        listing = bool(item) or (listing and bool(said) and said != line.rstrip())
    found = ([one for text in block for one in sentences(text)] for block in blocks)
    return [block for block in found if block]


# --- Prompts --------------------------------------------------------------------------------------------------------

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
    """One prompt of one session; or one line of a log, in which the agent says what was said.

    `doubted` are sentences that are no plain word of one's own: they change nothing unasked.
    """

    source: SessionBrief | LogBrief
    prompt: PromptBrief
    wishes: list[Wish] = field(default_factory=list)
    typed: list[Typed] = field(default_factory=list)
    stated: list[Stated] = field(default_factory=list)
    agreed: Agreed | None = None
    doubted: list[Typed] = field(default_factory=list)

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

    @property
    def is_logged(self) -> bool:
        return isinstance(self.source, LogBrief)

    def reason(self, quote: str) -> str:
        if self.is_logged:
            return f"Your agent’s log says so: {quoted(quote)}."
        agreed = self.agreed is not None and quote in self.agreed.sentences
        return f"{'You agreed to this' if agreed else 'You said so'}: {quoted(quote)}."

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
        told = [
            replace(each, changes=each.changes or each.quote in wanted)
            for each in typed_sentences(prompt.text)
            if _stands(prompt.text, each.quote, start)
        ]
        typed = [each for each in told if not each.doubted]
        stated = [each for each in whole_statements(prompt.text) if _stands(prompt.text, each.quote, start)]
        doubted = [each for each in told if each.doubted]
        heard = Heard(session, prompt, asked, typed, stated, _agreed(session, prompt), doubted)
        if heard.agreed is not None:
            heard.typed += heard.agreed.typed()
            heard.wishes += heard.agreed.wishes()
        if before is not None and _is_about(before.prompt.text, heard):
            before.wishes, before.typed, before.stated, before.doubted = [], [], [], []
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
    if any(wish.handling == "forget" for wish in heard.wishes):
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
