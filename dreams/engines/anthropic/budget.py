"""The limits of one dream, checked before every request. PURE: no Django.

A limit is never exceeded and noticed afterwards: the next prompt is estimated, and the output is capped at what is
left. Each limit has its own message, because each has its own remedy.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from dreams.conf import Config
from dreams.engines.tokens import MILLION, ModelUsage, PriceTable, Rate, Tokens, rate_for
from dreams.engines.types import Allowance, LimitReached, Usage
from dreams.lib.amounts import money

# Tokens and cost of a dream's requests, by model.


class Ledger:
    """What a dream has used so far, by model. Every request is priced separately: tiers depend on its prompt."""

    def __init__(self, prices: PriceTable) -> None:
        self.prices = prices
        self.by_model: dict[str, ModelUsage] = {}
        # Dollars of the requests that have a price; the limits apply to this sum.
        self.dollars = Decimal(0)

    def add(self, model: str, tokens: Tokens) -> Usage:
        """Adds one request and returns its usage."""
        rate = rate_for(self.prices, model, tokens.prompt)
        booked = ModelUsage(model, 1, tokens, rate.dollars(tokens) if rate else None)
        before = self.by_model.get(model)
        self.by_model[model] = before + booked if before else booked
        self.dollars += booked.dollars.total if booked.dollars else 0
        return as_usage([booked])

    @property
    def tokens(self) -> Tokens:
        return sum((used.tokens for used in self.by_model.values()), Tokens())

    def usage(self) -> Usage:
        return as_usage(self.by_model.values())


def as_usage(by_model: Iterable[ModelUsage]) -> Usage:
    """The sum over models; the cost is None if one of them has none."""
    rows = tuple(by_model)
    tokens = sum((row.tokens for row in rows), Tokens())
    dollars = [row.dollars.total for row in rows if row.dollars is not None]
    return Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_creation_tokens=tokens.cache_write,
        cost_usd=sum(dollars, Decimal(0)) if len(dollars) == len(rows) else None,
        requests=sum(row.requests for row in rows),
        by_model=rows,
    )


def joined(usages: Iterable[Usage]) -> Usage:
    """The sum, one row per model. Priced and unpriced requests of a model stay separate, so that neither hides
    the other."""
    rows: dict[tuple[str, bool], ModelUsage] = {}
    for row in (row for usage in usages for row in usage.by_model):
        key = row.model, row.dollars is None
        rows[key] = rows[key] + row if key in rows else row
    return as_usage(rows.values())


LEAST_OUTPUT = 500  # tokens: with less output a turn cannot write a memory
TRIES = 3  # to reserve dollars while other dreams reserve some
# From this share of a limit, the model is asked to finish, so that its work is not lost.
WARN_FROM = 0.8
# Finished work is sent back for fixes only below this share of every limit, and with so many turns left.
MEND_UP_TO = 0.9
TURNS_TO_MEND = 3
NOTHING = "Nothing was proposed."


@dataclass(frozen=True, slots=True)
class Words:
    """Words to report a limit: what it limits, the setting of its time, and what happens to the work."""

    what: str = "dream"
    time_setting: str = "Time limit per dream"
    ending: str = NOTHING


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """0 dollars is no limit, as in the settings. `allowed`: all that the budgets of day, month and project allow this dream."""

    turns: int
    tokens: int
    seconds: float
    dollars: Decimal = Decimal(0)
    allowed: Allowance | None = None

    @classmethod
    def of(cls, config: Config) -> "BudgetLimits":
        return cls(
            config.max_turns,
            config.max_tokens,
            config.max_seconds,
            Decimal(str(config.max_cost_dream)),
        )


@dataclass(slots=True)
class Budget:
    limits: BudgetLimits
    ledger: Ledger
    clock: Callable[[], float] = time.monotonic
    # What the budgets of day, month and project allow now: other dreams spend from them too.
    dollars_left: Callable[[], Allowance | None] | None = None
    # Reserves dollars in those budgets for the next request; returns what is left if that is too little.
    reserve: Callable[[Decimal], Allowance | None] | None = None
    words: Words = Words()
    turns: int = 0
    started: float = field(init=False)
    _counted: Decimal = field(
        default=Decimal(0), init=False
    )  # dollars of the ledger that day and month already include

    def __post_init__(self) -> None:
        self.started = self.clock()

    def check_time(self) -> None:
        """Cheap enough to call at every check. Raises LimitReached."""
        if self.clock() - self.started > self.limits.seconds:
            raise LimitReached(
                f"The {self.words.what} took longer than its {self.limits.seconds:g} seconds "
                f"({self.words.time_setting}). {self.words.ending}"
            )

    def start_turn(self) -> None:
        self.check_time()
        if self.turns >= self.limits.turns:
            raise LimitReached(
                f"The model used all its {self.limits.turns} turns (Turns per dream) and was not done. {self.words.ending}"
            )
        self.turns += 1
        # Called between two turns, when the ledger and the budgets include everything that this dream spent.
        self._counted = self.ledger.dollars
        left = self.dollars_left() if self.dollars_left else None
        if left is not None:
            in_all = Allowance(max(left.dollars, Decimal(0)) + self.ledger.dollars, left.of)
            self.limits = replace(self.limits, allowed=in_all)

    def allow(self, model: str, expected: Tokens, cap: int) -> int:
        """The output tokens that the next request may ask for, at most `cap`. Raises LimitReached."""
        self.check_time()
        room = min(cap, self.limits.tokens - self.ledger.tokens.total - expected.prompt)
        if room < min(cap, LEAST_OUTPUT):
            raise LimitReached(
                f"The next request would pass the {self.limits.tokens:,} tokens of this {self.words.what} "
                f"(Tokens per dream); {self.ledger.tokens.total:,} are used. {self.words.ending}"
            )
        rate = rate_for(self.ledger.prices, model, expected.prompt)
        return (
            room if rate is None else self._set_aside(rate, expected, self._affordable(rate, expected, room))
        )

    def _set_aside(self, rate: Rate, expected: Tokens, room: int) -> int:
        """The output tokens whose cost could be reserved: two concurrent dreams must not both spend the last dollars."""
        pending = self.ledger.dollars - self._counted
        for _ in range(TRIES if self.reserve else 0):
            cost = pending + rate.cost(expected) + rate.output * room / MILLION
            left = self.reserve(cost) if self.reserve else None
            if left is None:
                return room
            spare = left.dollars - pending - rate.cost(expected)
            room = min(room, int(spare * MILLION / rate.output) if rate.output else 0)
            if room < LEAST_OUTPUT:
                raise LimitReached(
                    f"The next request could pass {left.of}, of which other requests under way have set some aside; "
                    f"this {self.words.what} has spent {money(self.ledger.dollars)}. {self.words.ending}"
                )
        if self.reserve:
            raise LimitReached(
                f"Other requests took what was left of the budget meanwhile. {self.words.ending}"
            )
        return room

    def _affordable(self, rate: Rate, expected: Tokens, room: int) -> int:
        for limit, name in self._dollar_limits():
            left = limit - self.ledger.dollars - rate.cost(expected)
            room = min(room, int(left * MILLION / rate.output) if rate.output else room)
            if room < LEAST_OUTPUT:
                raise LimitReached(
                    f"The next request could pass {name}; this {self.words.what} has spent "
                    f"{money(self.ledger.dollars)}. {self.words.ending}"
                )
        return room

    def _dollar_limits(self) -> list[tuple[Decimal, str]]:
        found = []
        if self.limits.dollars > 0:
            found.append(
                (
                    self.limits.dollars,
                    f"the {money(self.limits.dollars)} of this {self.words.what} (Cost limit per dream)",
                )
            )
        if self.limits.allowed is not None:
            found.append((self.limits.allowed.dollars, self.limits.allowed.of))
        return found

    def warning(self) -> str:
        """A message for the model near a limit; empty before that."""
        turns = self.limits.turns - self.turns
        if turns <= max(2, self.limits.turns // 10):
            return (
                f"{turns} turns are left. Finish what you began, check the index, and end with your summary."
            )
        if self._used_share() < WARN_FROM:
            return ""
        return "The budget of this dream is nearly used up. Finish what you began, and end with your summary."

    def has_room(self) -> bool:
        """Whether enough is left to fix what the checks find, without risking the finished work."""
        return self.limits.turns - self.turns >= TURNS_TO_MEND and self._used_share() < MEND_UP_TO

    def _used_share(self) -> float:
        shares = [
            self.ledger.tokens.total / self.limits.tokens,
            (self.clock() - self.started) / self.limits.seconds,
        ]
        shares += [float(self.ledger.dollars / limit) for limit, _ in self._dollar_limits() if limit > 0]
        return max(shares)


# An estimate of what a dream will use, shown before it starts.


# Chosen.
CHARS_PER_TOKEN = 3.5
FEWEST_TURNS = 3
EXPECTED_TURNS = 12
MOST_TURNS = 40
# Tokens that one turn adds: the tool results and the model's answer.
RESULTS = {"low": 300, "likely": 2_000, "high": 4_000}
OUTPUT = {"low": 150, "likely": 500, "high": 1_000}
# Nothing is read much more often than this, even with little to read.
READ_OVER = 3


@dataclass(frozen=True, slots=True)
class Size:
    """A dream's input: characters of the first prompt, bytes of notes and new transcripts, sessions."""

    prompt_chars: int
    material_bytes: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Guess:
    tokens: int
    dollars: Decimal | None


@dataclass(frozen=True, slots=True)
class Estimate:
    low: Guess
    likely: Guess
    high: Guess


def estimate(prices: PriceTable, model: str, size: Size, max_turns: int) -> Estimate:
    turns = {
        "low": FEWEST_TURNS,
        "likely": EXPECTED_TURNS,
        "high": min(MOST_TURNS, EXPECTED_TURNS + 4 + 2 * size.sessions),
    }
    found = {
        case: guess(prices, model, size, min(count, max_turns), RESULTS[case], OUTPUT[case])
        for case, count in turns.items()
    }
    # With next to nothing to read, twelve turns are more than can be needed.
    likely = min(found["likely"], found["high"], key=lambda guess: guess.tokens)
    return Estimate(found["low"], likely, found["high"])


def guess(
    prices: PriceTable, model: str, size: Size, turns: int, results_per_turn: int, output_per_turn: int
) -> Guess:
    """The estimated use of a conversation of so many turns, with prompts cached between turns."""
    first = int(size.prompt_chars / CHARS_PER_TOKEN)
    there_is = int(READ_OVER * size.material_bytes / CHARS_PER_TOKEN)
    later = max(0, turns - 1)
    results = min(results_per_turn * later, there_is + 100 * later)
    grown = output_per_turn + (results // later if later else 0)
    tokens = Tokens(
        output=output_per_turn * turns,
        cache_read=sum(first + grown * turn for turn in range(later)),
        cache_write_5m=first + grown * later,
    )
    rate = rate_for(prices, model, first + grown * turns // 2)
    return Guess(tokens.total, rate.cost(tokens) if rate else None)


def words(low: Decimal, high: Decimal) -> str:
    """A range of dollars in words: "$0.04 to $0.31", "under $0.01"."""
    if high < Decimal("0.01"):
        return "under $0.01"
    if low < Decimal("0.01"):
        return f"up to ${high:.2f}"
    return f"${low:.2f} to ${high:.2f}" if f"{low:.2f}" != f"{high:.2f}" else f"${high:.2f}"
