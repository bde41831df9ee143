"""The prompt is built so that nearly all of it is read from the cache."""

from __future__ import annotations

import itertools
from pathlib import Path

from tests.world import model as kit
from tests.world.model_server import ScriptedReply, Text, Use, say


def test_a_dream_of_twenty_turns_reads_nine_tenths_of_its_input_from_the_cache(tmp_path: Path) -> None:
    files = {
        **kit.FILES,
        **{f"project_{n}.md": f"---\nname: P{n}\n---\n\n{'A fact. ' * 150}\n" for n in range(10)},
    }
    reads = [
        ScriptedReply((Text(f"Step {n}. " * 20), Use("Read", {"file_path": f"/memory/project_{n % 10}.md"})))
        for n in range(19)
    ]
    run = kit.dream(tmp_path, [*reads, say("Done.")], files=files)
    assert run.error == "" and run.outcome is not None and run.calls == 20
    usage = run.outcome.usage
    read = usage.cache_read_tokens
    assert read / (read + usage.input_tokens + usage.cache_creation_tokens) >= 0.9


def test_many_calls_in_one_turn_do_not_lose_the_cache(tmp_path: Path) -> None:
    many = ScriptedReply(tuple(Use("Read", {"file_path": "/memory/MEMORY.md"}) for _ in range(30)))
    run = kit.dream(tmp_path, [many, many, many, say("Done.")])
    counted = [call.counted for call in run.server.calls]
    for before, after in itertools.pairwise(counted):
        assert after.cache_read == before.cache_read + before.cache_creation


def test_two_dreams_share_tools_and_rules(tmp_path: Path) -> None:
    from tests.world.model_server import PromptCache

    cache = PromptCache()
    kit.dream(tmp_path / "a", [say("Done.")], server={"cache": cache})
    run = kit.dream(
        tmp_path / "b", [say("Done.")], server={"cache": cache}, files={"MEMORY.md": "# Memory\n"}
    )
    (call,) = run.server.calls
    assert call.counted.cache_read > 5 * call.counted.cache_creation
