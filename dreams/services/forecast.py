"""Estimates what the next dream of a project, or one window of catching, will use: from the size of its inputs and from earlier
dreams of the project with this model.

A range, because a model decides how much it reads; the limits are the maximum.
"""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Length

from dreams import conf
from dreams.engines.anthropic import catching, prompt
from dreams.engines.anthropic.budget import Estimate, Guess, Size, estimate, words
from dreams.engines.handover import model as handover
from dreams.lib import amounts
from dreams.lib.files.text import plural
from dreams.lib.memdir import INDEX_NAME
from dreams.models import DreamRun, DreamUsage, Memory, Project, Prompt, Session
from dreams.models.prepared import prepared
from dreams.services import pricing
from dreams.services.dreaming import dream_inputs

LAST_DREAMS = 8  # past dreams that are averaged; chosen
# Fewer say little about the next one.
ENOUGH_DREAMS = 3
# The next dream may be a little cheaper or more expensive than all before.
BELOW, ABOVE = Decimal("0.7"), Decimal("1.4")
PROMPTS = 2_000  # a bound of time; chosen
# Characters of each line of a listing in a first prompt.
LINE_CHARS = 60
SESSION_LINE_CHARS = 160


@dataclass(frozen=True, slots=True)
class Forecast:
    """The estimate for a dream with `model`. `dreams`: the number of past ones used; 0: only sizes.

    `most_dollars` and `most_tokens` are the limits of one dream (None: no limit).
    """

    model: str
    estimate: Estimate
    dreams: int
    size: Size
    most_tokens: int
    most_dollars: Decimal | None

    @property
    def likely(self) -> Decimal | None:
        """The estimate for the budget gate; None if the model has no price."""
        return self.estimate.likely.dollars

    @property
    def is_too_dear(self) -> bool:
        """Whether the budget gate refuses it, as it would probably cost more than allowed."""
        return self.likely is not None and self.most_dollars is not None and self.likely > self.most_dollars

    @property
    def tokens(self) -> tuple[int, int]:
        """Fewest and most."""
        low, high = self.estimate.low.tokens, self.estimate.high.tokens
        return min(low, self.most_tokens), min(high, self.most_tokens)

    @property
    def cost(self) -> str:
        """The cost in words, or that there is no price."""
        low, high = self.estimate.low.dollars, self.estimate.high.dollars
        if low is None or high is None:
            return "no price is known for it"
        most = None if self.is_too_dear else self.most_dollars
        return (
            f"about {words(low, high)}" if most is None else f"about {words(min(low, most), min(high, most))}"
        )

    @property
    def basis(self) -> str:
        """What the estimate is based on."""
        size = self.size
        read = "nothing yet"
        if size.material_bytes:
            read = f"{plural(size.sessions, 'session')} and its notes, {amounts.bytes_(size.material_bytes)}"
        if self.dreams:
            return f"from the last {self.dreams} dreams of this project; it would read {read}"
        return f"from what it would read: {read}"

    @property
    def sentence(self) -> str:
        """For a terminal."""
        low, high = self.tokens
        return f"A dream with {self.model}: {self.cost}, {low:,} to {high:,} tokens ({self.basis})."


def forecast(project: Project, config: conf.Config) -> Forecast:
    """The estimate for a dream with the model of `config`, without calling it. A few queries, no disk."""
    size = size_of(project)
    guessed = estimate(pricing.table(), config.model, size, config.max_turns)
    # (tokens, dollars) of the project's last completed dreams with this model.
    recent = _whole(project.pk, config.model)
    past = _used(recent) if recent else []
    learnt = len(past) >= ENOUGH_DREAMS
    return Forecast(
        model=config.model,
        estimate=_learnt(guessed, past) if learnt else guessed,
        dreams=len(past) if learnt else 0,
        size=size,
        most_tokens=config.max_tokens,
        most_dollars=Decimal(str(config.max_cost_dream)) if config.max_cost_dream > 0 else None,
    )


def of_a_window(project: Project, model: str) -> Decimal | None:
    """The maximum cost of reading ten messages; None if the model has no price."""
    known = project.memories.filter(gone_at__isnull=True).count() + project.cards.count()
    return catching.of_a_window(pricing.table(), model, known).dollars


def of_notes(session: Session, model: str) -> Decimal | None:
    """The approximate cost of hand-over notes; None if the model has no price."""
    return handover.estimated_use(pricing.table(), model, session.size).dollars


def size_of(project: Project) -> Size:
    """The size of a dream's inputs now."""
    files, noted, index = next(iter(_notes(project.pk)), (0, 0, 0))
    unused = _unused(project.pk)
    first = (
        prompt.static_size()
        + LINE_CHARS * min(files, prompt.MOST_FILES)
        + min(index, prompt.INDEX_CHARS)
        + SESSION_LINE_CHARS * min(len(unused), prompt.MOST_SESSIONS)
        + min(sum(_typed([pk for pk, _, _ in unused])), prompt.PROMPTS_CHARS)
    )
    material = noted + sum(max(0, size - used) for _, used, size in unused)
    return Size(first, material, len(unused))


@prepared
def _unused(project: int) -> QuerySet[Session, tuple[int, int, int]]:
    rows = dream_inputs.unused(Session.objects.filter(project_id=project))
    return rows.values_list("pk", "used_bytes", "size")[: dream_inputs.MAX_SESSIONS]


@prepared
def _notes(project: int) -> QuerySet[Memory, tuple[int, int, int]]:
    """The number of memories, their bytes, and the bytes of the index; no row without memories."""
    rows = Memory.objects.filter(project_id=project, gone_at__isnull=True).order_by().values("project")
    index = Coalesce(Sum("size", filter=Q(path=INDEX_NAME)), 0)
    found: QuerySet[Memory, tuple[int, int, int]] = rows.annotate(
        n=Count("pk"), bytes=Sum("size"), index=index
    ).values_list("n", "bytes", "index")
    return found


@prepared
def _typed(sessions: list[int]) -> QuerySet[Prompt, int]:
    """The characters of unused prompts in these sessions."""
    rows = Prompt.objects.filter(session__in=sessions, offset__gte=F("session__used_bytes"))
    return rows.annotate(chars=Length("text")).values_list("chars", flat=True)[:PROMPTS]


@prepared
def _whole(project: int, model: str) -> QuerySet[DreamRun, int]:
    done = DreamRun.objects.filter(
        project_id=project, model=model, status=DreamRun.Status.COMPLETED, usage__isnull=False
    )
    return done.distinct().order_by("-created_at").values_list("pk", flat=True)[:LAST_DREAMS]


@prepared
def _used(dreams: list[int]) -> QuerySet[DreamUsage, tuple[int, Decimal | None]]:
    tokens = F("input_tokens") + F("output_tokens") + F("cache_read_tokens")
    tokens += F("cache_write_5m_tokens") + F("cache_write_1h_tokens")
    rows = DreamUsage.objects.filter(dream__in=dreams).order_by().values("dream")
    return rows.annotate(tokens=Sum(tokens), dollars=Sum("cost_usd")).values_list("tokens", "dollars")


def _learnt(guessed: Estimate, past: list[tuple[int, Decimal | None]]) -> Estimate:
    """An estimate from past dreams: their range, a little wider, and their mean."""
    tokens = [used for used, _ in past]
    dollars = [cost for _, cost in past if cost is not None]
    mean = sum(tokens) // len(tokens)
    if guessed.likely.dollars is None or not dollars:
        low, likely, high = guessed.low.dollars, guessed.likely.dollars, guessed.high.dollars
    else:
        low, high = min(dollars) * BELOW, max(dollars) * ABOVE
        likely = sum(dollars, Decimal(0)) / len(dollars)
    return Estimate(
        Guess(int(min(tokens) * BELOW), low), Guess(mean, likely), Guess(int(max(tokens) * ABOVE), high)
    )
