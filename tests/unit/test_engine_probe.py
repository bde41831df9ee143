"""Testing the connection says what it found, and what to do."""

from __future__ import annotations

from dreams.engines.anthropic.probe import probe
from dreams.engines.wire import Limits, Script, WireServer


def test_a_server_that_knows_the_model_is_fine() -> None:
    with WireServer(Script([])) as server:
        found = probe("claude-sonnet-5-5", {"ANTHROPIC_BASE_URL": server.url})
    assert found.ok and "knows “claude-sonnet-5-5”" in found.said
    assert [seen.path for seen in server.seen] == ["/v1/models"], "nothing was spent"


def test_a_model_that_is_not_listed_a_key_that_is_not_taken_and_nobody_there_are_told() -> None:
    with WireServer(Script([]), limits=Limits(models=("own",))) as server:
        environ = {"ANTHROPIC_BASE_URL": server.url}
        unlisted = probe("claude-sonnet-5-5", environ)
        server.keys = frozenset({"x"})
        refused = probe("own", environ)
    nobody = probe("own", environ)
    assert not unlisted.ok and "It lists: own." in unlisted.said
    assert not refused.ok and "ANTHROPIC_API_KEY" in refused.said
    assert not nobody.ok and "cannot be reached" in nobody.said
    assert not probe("own", {}).ok
