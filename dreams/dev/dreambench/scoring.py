"""The score of a world: a rate per kind, facts kept, and forbidden results; and tables of scores. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from dreams.dev.dreambench.builder import KINDS, BuiltDirectory, Case, World
from dreams.dev.dreambench.passages import DirectoryPassages, Passage, plain
from dreams.lib.files.text import columns, is_utf8

_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_MARK = re.compile(r"\[[^\]\n]{0,40}redact[^\]\n]{0,40}\]", re.IGNORECASE)  # what replaces a secret
_WORD = re.compile(r"[^\W_]+(?:[.:/#][^\W_]+)*")
# Keys and types of a memory's frontmatter, and the title of an index: no statements.
_FORM = frozenset(
    "name description type metadata node type pinned modified user feedback project reference memory md notes".split()  # noqa: SIM905 - a word list
)


@dataclass(frozen=True, slots=True)
class Ran:
    """One directory, and its files from a system."""

    made: BuiltDirectory
    after: Mapping[str, bytes]


@dataclass
class Cost:
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: str = "0"
    blocking: list[str] = field(default_factory=list)  # findings that a person has to confirm
    again: list[str] | None = None  # changes of a second dream: path and reason


@dataclass
class Score:
    """Rates are from 0 to 1, None if there was nothing to count."""

    kinds: dict[str, Counter[str]] = field(default_factory=dict)
    kept: int = 0
    to_keep: int = 0
    wrong_merges: int = 0
    invented_dates: list[str] = field(default_factory=list)
    invented_words: list[str] = field(default_factory=list)
    loaded_whole: int = 0
    directories: int = 0
    broken_links: int = 0
    new_dangling: int = 0
    secrets: int = 0
    misses: "list[JudgedCase]" = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)  # questions by kind
    useful: Counter[str] = field(default_factory=Counter)  # those whose best answer changed something
    asked_for_nothing: list[str] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)

    def count_asked(self, told: Mapping[str, Any]) -> None:
        """Adds the questions of one directory: `{asked: {kind: number}, useful: …, kept: [text]}`."""
        self.asked.update(told.get("asked", {}))
        self.useful.update(told.get("useful", {}))
        self.asked_for_nothing += told.get("kept", [])

    @property
    def useful_share(self) -> float | None:
        return self.useful.total() / self.asked.total() if self.asked else None

    @property
    def facts_kept(self) -> float | None:
        return self.kept / self.to_keep if self.to_keep else None

    @property
    def right(self) -> float | None:
        """The mean of the kinds' rates: kinds count equally, however many cases they have."""
        rates = [counts["right"] / sum(counts.values()) for counts in self.kinds.values()]
        return sum(rates) / len(rates) if rates else None

    @property
    def wrong(self) -> int:
        return sum(c["wrong"] for c in self.kinds.values())

    def as_json(self, *, cases: bool = True) -> dict[str, Any]:
        """All figures; without `cases` they contain no text of a case or a memory."""

        def listed(texts: list[str] | None) -> list[str] | int | None:
            return texts if cases or texts is None else len(texts)

        found: dict[str, Any] = {
            "kinds": {name: _counts(self.kinds[name]) for name in KINDS if name in self.kinds},
            "right": self.right,
            "wrong": self.wrong,
            "facts_kept": self.facts_kept,
            "facts_to_keep": self.to_keep,
            "wrong_merges": self.wrong_merges,
            "invented_dates": listed(self.invented_dates),
            "invented_words": listed(self.invented_words),
            "index_loaded_whole": self.loaded_whole,
            "directories": self.directories,
            "broken_links": self.broken_links,
            "new_dangling_rows": self.new_dangling,
            "secrets_left": self.secrets,
            "questions": dict(self.asked),
            "useful_questions": dict(self.useful),
            "useful_share": self.useful_share,
            "asked_for_nothing": listed(self.asked_for_nothing),
            "seconds": round(self.cost.seconds, 2),
            "input_tokens": self.cost.input_tokens,
            "output_tokens": self.cost.output_tokens,
            "cost_usd": self.cost.cost_usd,
            "blocking_findings": listed(self.cost.blocking),
            "changes_when_dreamt_again": listed(self.cost.again),
        }
        if cases:
            found["misses"] = [
                {"case": m.case.name, "verdict": m.verdict, "why": m.why, "about": m.case.about}
                for m in self.misses
            ]
        return found


def _counts(counter: Counter[str]) -> dict[str, Any]:
    total = sum(counter.values())
    return {
        "rate": counter["right"] / total if total else None,
        **{v: counter[v] for v in ("right", "left", "wrong")},
    }


def score(cases: Iterable[Case], runs: Iterable[Ran], cost: Cost | None = None) -> Score:
    """Judges every case of every directory that was run."""
    made = Score(cost=cost or Cost())
    by_directory: dict[str, list[Case]] = {}
    for case in cases:
        by_directory.setdefault(case.directory, []).append(case)
    for ran in runs:
        states = States(DirectoryPassages(ran.made.files), DirectoryPassages(ran.after))
        own = by_directory.get(ran.made.name, [])
        for case in own:
            _count(made, case, states)
        _look(made, ran, states, {case.day for case in own})
    return made


def _count(made: Score, case: Case, states: "States") -> None:
    judged = judge(case, states)
    made.kinds.setdefault(case.kind, Counter())[judged.verdict] += 1
    if judged.verdict != "right":
        made.misses.append(judged)
    standing = [claim for claim in case.stands if states.before.says(claim)]
    kept = [claim for claim in standing if states.after.says(claim)]
    made.to_keep += len(standing)
    made.kept += len(kept)
    if case.kind in {"look-alike", "environment", "not derived"} and len(kept) < len(standing):
        made.wrong_merges += 1


def _look(made: Score, ran: Ran, states: "States", computed: set[str]) -> None:
    """Scores a directory without its cases."""
    made.directories += 1
    made.loaded_whole += states.after.fits
    before, after = states.before, states.after
    made.broken_links += sum(
        max(0, len(after.broken_links(p)) - len(before.broken_links(p))) for p in after.files
    )
    made.new_dangling += len(after.dangling() - before.dangling())
    after_text = _text(ran.after)
    made.secrets += sum(secret in after_text for secret in ran.made.secrets)
    given = f"{_text(ran.made.files)}\n{ran.made.sources}\n{' '.join(ran.made.files)}"
    made.invented_dates += sorted(
        day for day in set(_DATE.findall(after_text)) if day not in given and day not in computed
    )
    known = set(_WORD.findall(plain(given))) | _FORM
    made.invented_words += sorted(
        word
        for word in set(_WORD.findall(plain(_MARK.sub(" ", f"{after_text} {' '.join(ran.after)}"))))
        if not {word, word.removesuffix(".md")} & known and not _DATE.fullmatch(word) and not word.isdecimal()
    )


def _text(files: Mapping[str, bytes]) -> str:
    return "\n".join(data.decode("utf-8", "replace") for data in files.values())


def lines(world: World, scores: Mapping[str, Score]) -> Iterator[str]:
    """A table of right / left / wrong per kind, followed by figures for all directories."""
    yield f"seed {world.seed}, {world.facts} facts, {world.given or 'own'} wordings, {len(world.directories)} directories, {len(world.cases)} cases"
    yield "right / left / wrong"
    names = list(scores)
    yield from columns([["kind", *names], *_kinds(scores)])
    yield ""
    yield from columns([["over all", *names], *_totals(scores)])


def _kinds(scores: Mapping[str, Score]) -> Iterator[list[str]]:
    for kind in KINDS:
        if any(kind in score.kinds for score in scores.values()):
            yield [kind, *(_cell(score.kinds.get(kind, Counter())) for score in scores.values())]


def _cell(counts: Counter[str]) -> str:
    return " / ".join(str(counts[verdict]) for verdict in ("right", "left", "wrong"))


def _totals(scores: Mapping[str, Score]) -> Iterator[list[str]]:
    each = list(scores.values())
    yield ["done right", *(_share(s.right) for s in each)]
    yield ["facts kept", *(_share(s.facts_kept, 4) for s in each)]
    yield ["wrong merges", *(str(s.wrong_merges) for s in each)]
    yield ["invented dates", *(str(len(s.invented_dates)) for s in each)]
    yield ["invented words", *(str(len(s.invented_words)) for s in each)]
    yield ["index loaded whole", *(f"{s.loaded_whole} of {s.directories}" for s in each)]
    yield ["broken links", *(str(s.broken_links) for s in each)]
    yield ["new dangling rows", *(str(s.new_dangling) for s in each)]
    yield ["secrets left", *(str(s.secrets) for s in each)]
    yield ["questions", *(str(s.asked.total()) if s.asked else "–" for s in each)]
    yield ["useful questions", *(_share(s.useful_share, 2) for s in each)]
    yield ["blocking findings", *(str(len(s.cost.blocking)) for s in each)]
    yield [
        "changes when dreamt again",
        *("–" if s.cost.again is None else str(len(s.cost.again)) for s in each),
    ]
    yield ["seconds", *(f"{s.cost.seconds:.1f}" for s in each)]
    yield ["tokens in / out", *(f"{s.cost.input_tokens:,} / {s.cost.output_tokens:,}" for s in each)]
    yield ["cost", *(f"${float(s.cost.cost_usd):.2f}" for s in each)]


def _share(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


# The verdict on each case: done right, left unchanged, or done wrong. Pure.


Verdict = Literal["right", "left", "wrong"]
SAID_TWICE = 0.1  # a repeated fact is no fault if no case asks for one copy, but once is better
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\b(?:19|20)\d\d\b")


@dataclass(frozen=True)
class JudgedCase:
    case: Case
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class States:
    """A directory before and after a dream."""

    before: DirectoryPassages
    after: DirectoryPassages

    @cached_property
    def fresh(self) -> list[Passage]:
        """What is said now and was not."""
        return [p for p in self.after.passages if (p.plain, p.place) not in self.before.known]


def judge(case: Case, states: States) -> JudgedCase:
    """The verdict: the first wrong check, else the first left one, else right."""
    checks = (_standing, _true, _files, _gone, _once, _dated, _index)
    found = [judged for check in checks for judged in check(case, states)]
    for verdict in ("wrong", "left"):
        for judged in found:
            if judged.verdict == verdict:
                return judged
    return JudgedCase(case, "right")


def distance(cases: Iterable[Case], states: States) -> float:
    """How far a directory is from the truth: 0 if all is right; a lost fact weighs more than all work left undone."""
    return states.after.over / 100 + sum(_distance(case, states) for case in cases)


def _distance(case: Case, states: States) -> float:
    judged = judge(case, states)
    double = sum(max(0, states.after.times(claim) - 1) for claim in case.stands)
    if judged.verdict == "right":
        return SAID_TWICE * double
    lost = sum(states.before.says(claim) and not states.after.says(claim) for claim in case.stands)
    old = sum(len(states.after.holding(claim)) for claim in case.gone)
    fewer = old < sum(len(states.before.holding(claim)) for claim in case.gone)
    if fewer and not all(states.after.says(claim) for claim in case.stands):
        lost += 1  # an old value was removed, and the new one was not added
    wrong = 50 if judged.verdict == "wrong" else 0
    return 1 + old + (1 if case.once else SAID_TWICE) * double + 20 * lost + wrong


def _standing(case: Case, states: States) -> Iterable[JudgedCase]:
    for claim in case.stands:
        if states.after.says(claim):
            continue
        if states.before.says(claim):
            yield JudgedCase(case, "wrong", f"lost: {' '.join(claim)}")
        elif any(states.before.says(old) and not states.after.says(old) for old in case.gone):
            yield JudgedCase(case, "wrong", f"the old one went, the new one never came: {' '.join(claim)}")
        else:
            yield JudgedCase(case, "left", f"not there: {' '.join(claim)}")


def _true(case: Case, states: States) -> Iterable[JudgedCase]:
    """A statement of the case whose value became another one is false, also while a second copy is right."""
    claims = [claim for claim in (*case.stands, *case.gone) if len(claim) > 1]
    for claim in claims:
        forms = [form for old in states.before.holding(claim) for form in old.around(claim[-1])]
        for new in states.fresh:
            if (
                new.names(claim)
                and any(form.fullmatch(new.plain) for form in forms)
                and not any(new.says(each) for each in claims)
            ):
                yield JudgedCase(case, "wrong", f"false: {new.text[:120]}")


def _gone(case: Case, states: States) -> Iterable[JudgedCase]:
    for claim in case.gone:
        still = [p for p in states.after.holding(claim) if not (p.is_past and p in states.fresh)]
        if not still:
            continue
        fresh = not states.before.says(claim)
        yield JudgedCase(case, "wrong" if fresh else "left", f"stands: {still[0].text[:120]}")


def _once(case: Case, states: States) -> Iterable[JudgedCase]:
    if case.once and any(states.after.times(claim) > 1 for claim in case.stands):
        yield JudgedCase(case, "left", "stands twice")


def _dated(case: Case, states: States) -> Iterable[JudgedCase]:
    if not case.day and not case.undated:
        return
    named = {
        day for claim in case.stands for p in states.after.holding(claim) for day in _DAY.findall(p.text)
    }
    named -= {
        day for claim in case.stands for p in states.before.holding(claim) for day in _DAY.findall(p.text)
    }
    wrong = sorted(day for day in named if day != case.day)
    if wrong:
        yield JudgedCase(case, "wrong", f"invented: {wrong[0]}")
    elif case.day and case.day not in named:
        yield JudgedCase(case, "left", "not written out")


def _files(case: Case, states: States) -> Iterable[JudgedCase]:
    for path in case.same:
        if states.after.files.get(path) != states.before.files.get(path):
            yield JudgedCase(case, "wrong", f"{path} was changed")
    for path in case.marks:
        old, new = states.before.files[path], states.after.files.get(path)
        if new is None or _marks(old) != _marks(new):
            yield JudgedCase(case, "wrong", f"{path}: line ends or odd bytes were changed")
    if case.link and (broken := states.after.broken_links(case.link)):
        yield JudgedCase(case, "wrong", f"broken: {broken[0]}")


def _marks(data: bytes) -> tuple[object, ...]:
    odd = frozenset(word for word in data.split() if not is_utf8(word))
    crlf = data.count(b"\r\n")
    ends = "crlf" if crlf and crlf == data.count(b"\n") else "mixed" if crlf else "lf"
    return ends, data.startswith(b"\xef\xbb\xbf"), data.endswith(b"\n"), odd


def _index(case: Case, states: States) -> Iterable[JudgedCase]:
    if case.row and len(rows := states.after.rows(case.row)) != 1:
        was = len(states.before.rows(case.row))
        yield JudgedCase(
            case, "left" if len(rows) == was else "wrong", f"{len(rows)} rows point to {case.row}"
        )
    if case.long and states.after.rows(case.long) != states.before.rows(case.long):
        yield JudgedCase(case, "wrong", "the row was changed")
    if case.fits and not states.after.fits:
        yield JudgedCase(case, "left", "the index is over its budget")
