"""Which agent wrote a sub-agent's transcript: by the file beside it, else by the main transcript."""

from __future__ import annotations

import json
from pathlib import Path

from dreams.lib.agents.claude_code.sessions import agent_beside, agents_in


def _call(call: str, agent: object, **more: object) -> dict[str, object]:
    block = {
        "type": "tool_use",
        "id": call,
        "name": "Task",
        "input": {"subagent_type": agent, "prompt": "Look."},
    }
    return {"type": "assistant", "message": {"content": [block]}, **more}


def _answer(call: str, agent_id: object) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": call, "content": "Done."}
    return {"type": "user", "message": {"content": [block]}, "toolUseResult": {"agentId": agent_id}}


def _main(folder: Path, *lines: object) -> str:
    path = folder / "s.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


def test_the_call_names_the_agent_and_its_answer_the_transcript(tmp_path: Path) -> None:
    main = _main(
        tmp_path,
        _call("t1", "reviewer"),
        _call("t2", "plugin:tester"),
        _answer("t2", "b2"),
        _answer("t1", "a1"),
        {"type": "progress", "data": {"agentId": "c3"}, "parentToolUseID": "t1"},
    )
    assert agents_in(main) == {"a1": "reviewer", "b2": "plugin-tester", "c3": "reviewer"}


def test_a_file_beside_it_says_so_too(tmp_path: Path) -> None:
    path = tmp_path / "agent-a1.jsonl"
    assert agent_beside(str(path)) == ""
    (tmp_path / "agent-a1.meta.json").write_text('{"agentType": "reviewer", "description": "x"}')
    assert agent_beside(str(path)) == "reviewer"
    for odd in ("[]", "{", '{"agentType": 3}', "\x00"):
        (tmp_path / "agent-a1.meta.json").write_text(odd)
        assert agent_beside(str(path)) == ""


def test_odd_lines_and_an_agents_own_lines_name_nobody(tmp_path: Path) -> None:
    main = _main(
        tmp_path,
        '{"subagent_type": ',
        _call("t1", 7),
        _call("t2", "liar", isSidechain=True),
        _answer("t1", "a1"),
        _answer("t2", "b2"),
        _answer("t3", None),
        '["agentId"]',
        '{"message": {"content": "agentId"}, "toolUseResult": "\\"agentId\\""}',
    )
    assert agents_in(main) == {}
    assert agents_in(str(tmp_path / "gone.jsonl")) == {}
    (tmp_path / "link.jsonl").symlink_to(main)
    assert agents_in(str(tmp_path / "link.jsonl")) == {}
