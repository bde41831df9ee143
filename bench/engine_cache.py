"""Cache share, tokens and requests of a dream of twenty turns, over real HTTP against the fake server: it reads,
writes a memory and its row, finishes, gets the checks' findings, fixes them, and ends.

The server counts as the API's documentation says (prefixes, breakpoints, a look-back of 20 blocks); its tokens are
four bytes each, so the shares are meaningful and the sums are not.

Run: python bench/engine_cache.py [turns]
"""

import dataclasses
import datetime as dt
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dreams.conf import Config
from dreams.engines.anthropic import Rate
from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.engines.types import Edit, EngineTurn, Job, Problem
from dreams.lib.files import workspace
from tests.world.model_server import ModelServer, Script, ScriptedReply, Text, Use, say

PRICES = {"claude-sonnet-5-5": [Rate.of("2", "10")]}
FACT = "The export runs at night and writes one file for each customer of the list.\n"


class Quiet:
    """A reporter that keeps nothing."""

    def turn(self, turn: EngineTurn) -> None: ...

    def checkpoint(self) -> None: ...


def memories(folder: Path, count: int) -> None:
    names = [f"project_{number}.md" for number in range(count)]
    for number, name in enumerate(names):
        (folder / name).write_text(
            f"---\nname: Export {number}\ntype: project\n---\n\n{FACT * (5 + number % 20)}"
        )
    rows = "".join(f"- [Export {number}]({name}) — when it runs\n" for number, name in enumerate(names))
    (folder / "MEMORY.md").write_text(f"# Memory\n\n{rows}")


def turns(count: int, files: int) -> list[ScriptedReply]:
    """All but the last four read; those write, finish, fix, and end."""
    asked = [
        tuple(Use("Read", {"file_path": f"/memory/project_{(3 * turn + k) % files}.md"}) for k in range(3))
        for turn in range(count - 4)
    ]
    return [
        *(ScriptedReply((Text("I look at the next ones. " * 8), *uses)) for uses in asked),
        ScriptedReply((Text("One thing changed."), change("each customer", "every customer"))),
        say("Exports write one file for every customer."),
        ScriptedReply((Text("I give the words back."), change("every customer", "each customer"))),
        say("Nothing had to change."),
    ]


def change(old: str, new: str) -> Use:
    passage = "type: project\n---\n\nThe export runs at night and writes one file for {} of the list."
    given = {
        "path": "/memory/project_0.md",
        "old_string": passage.format(old),
        "new_string": passage.format(new),
        "reason": "It is the same for all.",
        "citations": [{"session": "project_1.md", "quote": "one file for each customer"}],
    }
    return Use("Edit", given)


def found(edits: Sequence[Edit]) -> list[Problem]:
    """As many findings as the checks report at once."""
    said = "“The export runs at night and writes one file for each customer of the list.” stands nowhere any more."
    return [Problem("unexplained-loss", said, "Put it back, or say where it went.", "project_0.md", 7)] * 40


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "memory"
        folder.mkdir()
        memories(folder, 30)
        config = dataclasses.replace(Config(), max_turns=count + 1, max_cost_dream=0.0)
        with (
            workspace.Workspace.create(Path(base) / "scratch", workspace.take(folder)) as scratch,
            ModelServer(Script(turns(count, 30))) as server,
        ):
            job = Job("bench", None, scratch, [], {}, config, dt.datetime.now(dt.UTC), dt.UTC, found)
            engine = AnthropicEngine(prices=PRICES, environ={"ANTHROPIC_BASE_URL": server.url})
            started = time.perf_counter()
            usage = engine.run(job, Quiet()).usage
            took = time.perf_counter() - started
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_creation_tokens
    print(f"turns {count}, requests {usage.requests}, {took * 1000 / count:.0f} ms a turn of our own")
    print(
        f"input {prompt:,}: read from the cache {usage.cache_read_tokens:,} ({usage.cache_read_tokens / prompt:.1%})"
    )
    print(f"  written to it {usage.cache_creation_tokens:,}, neither {usage.input_tokens:,}")
    print(f"output {usage.output_tokens:,}; ${usage.cost_usd:.4f} at $2 in and $10 out")
    uncached = (prompt * 2 + usage.output_tokens * 10) / 1_000_000
    print(f"without the cache it would be ${uncached:.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
