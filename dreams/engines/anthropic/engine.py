"""The engine that asks a model: connection, conversation and tools. PURE."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from dreams.conf import Config
from dreams.engines.anthropic import keys, prompt, schemas
from dreams.engines.anthropic.budget import Budget, BudgetLimits, Ledger
from dreams.engines.anthropic.conversation import Conversation
from dreams.engines.anthropic.loop import Loop, Teller
from dreams.engines.anthropic.retrying import Asker, Patience
from dreams.engines.anthropic.tools import ReadTools, Toolbox, open_tools
from dreams.engines.anthropic.watched import watched
from dreams.engines.tokens import PriceTable, rate_for
from dreams.engines.types import Allowance, EngineError, EngineTurn, Job, Outcome, Reporter
from dreams.lib.files.text import plural
from dreams.lib.memdir import INDEX_NAME

if TYPE_CHECKING:
    from dreams.engines.anthropic.client import Client
    from dreams.engines.anthropic.stream import Json


@dataclass(frozen=True, slots=True)
class ModelConnection:
    config: Config
    endpoint: keys.Endpoint
    client: "Client"
    patience: Patience

    def begun(self, first: str, budget: Budget, watch: Callable[[], None]) -> tuple[Conversation, Asker]:
        """A conversation that begins with `first`, and the asker for its turns."""
        conversation = Conversation.begun(first)
        asker = Asker(
            caller=self.client,
            host=self.endpoint.host,
            model=self.config.model,
            fallback=self.config.usable_fallback,
            options=self._options(),
            patience=self.patience,
            budget=budget,
            watch=watch,
            on_switch=conversation.forget_thinking,
            news=self.client.news,
            unfinished=self.client.unfinished,
        )
        return conversation, asker

    def _options(self) -> "Json":
        """Options that only Anthropic's own API is sure to know."""
        if not self.endpoint.is_anthropic:
            return {}
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": self.config.effort}}


@contextmanager
def connected(
    config: Config, patience: Patience, environ: Mapping[str, str] | None, watch: Callable[[], None]
) -> Iterator[ModelConnection]:
    """Raises EngineError with the remedy, and what `watch` raises."""
    from dreams.engines.anthropic.client import Client  # noqa: PLC0415 - its library takes a second to import

    endpoint = keys.endpoint(environ)
    if not config.model.strip():
        raise EngineError("No model is chosen. Name one in the settings (Model).")
    with Client(endpoint, patience) as client:
        client.open(watch)
        yield ModelConnection(config, endpoint, client, patience)


class AnthropicEngine:
    """`prices` and `patience` are set by tests; otherwise the prices of the job and the defaults are used."""

    name = "anthropic"

    def __init__(
        self,
        *,
        prices: PriceTable | None = None,
        patience: Patience | None = None,
        environ: Mapping[str, str] | None = None,
        open_tools: Callable[[Job], ReadTools] = open_tools,
    ) -> None:
        self._prices = prices
        self._patience = patience or Patience()
        self._environ = environ
        self._open_tools = open_tools

    def run(self, job: Job, report: Reporter) -> Outcome:
        """Raises EngineError with the remedy, or Cancelled. Then nothing is proposed."""
        with connected(job.config, self._patience, self._environ, report.checkpoint) as line:
            reads = watched(
                partial(self._open_tools, job), report.checkpoint, too_late=lambda late: late.close()
            )
            try:
                return self._dream(job, report, line, reads)
            finally:
                reads.close()

    def _dream(self, job: Job, report: Reporter, line: ModelConnection, reads: ReadTools) -> Outcome:
        loop = self._loop(job, report, line, reads)
        report.turn(EngineTurn("orient", _opening(job, line.endpoint, loop)))
        try:
            summary = loop.run()
        except BaseException:
            # Also for Ctrl-C and the queue's timeout: usage is recorded. Nothing may hide the error that ends the dream.
            with suppress(Exception):
                loop.teller.rest()
            raise
        edits, asked = loop.toolbox.writer.edits, loop.toolbox.questions.standing()
        told = summary or (
            f"Proposed {plural(len(edits), 'change')}." if edits else "Found nothing to change."
        )
        return Outcome(edits, told, questions=asked, usage=loop.budget.ledger.usage())

    def _loop(self, job: Job, report: Reporter, line: ModelConnection, reads: ReadTools) -> Loop:
        ledger = Ledger(job.prices if self._prices is None else self._prices)
        budget = Budget(
            BudgetLimits.of(job.config),
            ledger,
            dollars_left=partial(_dollars_left, report),
            reserve=getattr(report, "reserve", None),
        )

        def watch() -> None:
            report.checkpoint()
            budget.check_time()

        conversation, asker = line.begun(prompt.briefing(job, watch), budget, watch)
        toolbox = Toolbox(job, reads, watch)
        index = job.workspace.read(INDEX_NAME)
        if index is not None and len(index) <= prompt.INDEX_CHARS:
            toolbox.writer.saw(INDEX_NAME)  # the briefing shows all of it
        tools = schemas.offered(reads.names, asking=bool(toolbox.questions.most))
        system = prompt.system(job.config, index is not None)
        teller = Teller(report, asker, toolbox)
        asker.waits = teller.turn
        return Loop(conversation, toolbox, asker, budget, teller, system, tools)


def _dollars_left(report: Reporter) -> Allowance | None:
    """What the budgets beyond this dream allow now, if the reporter knows."""
    ask = getattr(report, "dollars_left", None)
    left = ask() if callable(ask) else None
    return left if isinstance(left, Allowance) else None


def _opening(job: Job, endpoint: keys.Endpoint, loop: Loop) -> str:
    """The first line on the dream's page: model and prompt version. The estimated use is shown before the start."""
    effort = f", effort {job.config.effort}" if endpoint.is_anthropic else ""
    known = rate_for(loop.budget.ledger.prices, job.config.model, 0)
    price = "" if known else " No price is known for this model: limits in dollars cannot hold."
    return (
        f"Asking {job.config.model} at {endpoint.host}{effort}, by the instructions of version "
        f"{prompt.version()}.{price}"
    )
