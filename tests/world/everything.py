"""One directory with everything that an agent writes to disk; each part contains a unique word.

    python -m tests.world.everything DIR      # DIR/home/.claude, and repositories in DIR/work; without Django

Ages are relative to now, so that it is equally fresh whenever it is made.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.world.agent_folder import Record, Root, answer, append, lines, typed, write

HOUR = 3_600
#: The inline paste and the one stored by its hash.
PASTED, KEPT_PASTE = "line of a short paste about cranes\n" * 3, "a long paste about ospreys\n" * 200
HASH = hashlib.sha256(KEPT_PASTE.encode()).hexdigest()[:16]
SHARED = "Releases are signed with the heron key and kept for ninety days in the cold store."
MEMORIES: Mapping[str, str] = {
    "MEMORY.md": (
        "# Memory\n\n- [Deploys](project_deploys.md) — where the shop runs\n- [Testing](feedback_testing.md) — how tests run\n"
        "- [Lost](lost.md) — the staging gateway is called bittern\n"
    ),
    "project_deploys.md": (
        "---\nname: Deploys\ndescription: where the shop runs\ntype: project\n---\n\nThe shop listens on port 8080.\n\n"
        "The cluster moved to avocet yesterday. See [[feedback_testing]].\n"
    ),
    "feedback_testing.md": (
        "---\nname: feedback_testing\ndescription: how tests run\nmetadata: \n  node_type: memory\n  type: feedback\n"
        "  originSessionId: 5b1c\n---\n\nTests run against a real database.\n\n**Why:** mocks hid a bunting bug.\n"
    ),
    "user_role.md": "---\nmetadata:\n  pinned: true\n---\n\nMira keeps the shop; she reads curlew diffs first.\n",
    "reference_dashboards.md": (
        "---\r\nname: Dashboards\r\ndescription: where figures are\r\ntype: reference\r\n---\r\n\r\nGrafana: dunlin board.\r\n"
    ),
    "signing.md": f"---\nname: Signing\ndescription: keys\ntype: project\n---\n\n{SHARED}\n",
    "signing_again.md": f"---\nname: Signing again\ndescription: keys\ntype: project\n---\n\n{SHARED}\n",
    "bare.md": "# No frontmatter at all\n\nThe egret job is stopped by hand.\n",
    "team/MEMORY.md": "- [Releases](releases.md) — how the team releases\n",
    "team/releases.md": (
        "---\nname: Releases\ndescription: how the team releases\ntype: project\n---\n\nThe team tags on fulmar days.\n"
    ),
}
INSTRUCTIONS: Mapping[str, str | bytes] = {
    "CLAUDE.md": "# Shop\n\nThe shop listens on port 9090.\n\nReviews go to gannet.\n\n@docs/style.md @docs/gone.md @logo.bin\n",
    "docs/style.md": "Indent with tabs, says the godwit.\n\n@../CLAUDE.md\n",
    "logo.bin": b"\x89PNG\0\0\0",
    "CLAUDE.local.md": "My own: goshawk first.\n",
    "src/CLAUDE.md": "Only below src: hobby.\n",
    ".claude/rules/api.md": "---\npaths: src/api/**\n---\n\nHandlers return jacanas.\n",
    "src/api/handler.py": "def handler(): ...\n",
}
NOTES = "# Session Title\n_A short title_\n\nMove the queue\n\n# Learnings\n\nThe kestrel worker needs two cores.\n"


@dataclass(frozen=True, slots=True)
class Everything:
    """The paths. `managed` is the administrator's file, which an agent expects in a fixed place."""

    root: Root
    shop: Path
    journal: Path
    managed: Path

    def agents(self) -> dict[str, Path]:
        """The memories of the agent `reviewer`, by scope."""
        return {
            "user": self.root.path / "agent-memory" / "reviewer",
            "project": self.shop / ".claude" / "agent-memory" / "reviewer",
            "local": self.shop / ".claude" / "agent-memory-local" / "reviewer",
        }


def make(base: Path, now: dt.datetime | None = None) -> Everything:
    """Makes everything below `base`, which is empty or new."""
    at = (now or dt.datetime.now(dt.UTC)).timestamp()
    root = Root(base)
    shop = root.repository("shop")
    made = Everything(root, shop, root.repository("journal"), base / "managed" / "CLAUDE.md")
    _memories(made, at)
    _sessions(made, at)
    _odd_session(made, at - 40 * HOUR)
    _history(made, at)
    _instructions(made)
    return made


# --- Memories -----------------------------------------------------------------------------------------------------


def _memories(made: Everything, at: float) -> None:
    for number, (name, text) in enumerate(MEMORIES.items()):
        _aged(made.root.memory(made.shop, name, text), at - (60 + number) * HOUR)
    for days, said in (
        (1, "Remember: invoices are sent by the lapwing job"),
        (3, "Looked at the merlin logs."),
    ):
        day = dt.datetime.fromtimestamp(at, dt.UTC) - dt.timedelta(days=days)
        for cwd in (made.shop, made.journal):
            log = made.root.memory(
                cwd, f"logs/{day:%Y/%m/%Y-%m-%d}.md", f"# {day:%Y-%m-%d}\n\n- 10:00 {said}\n"
            )
            _aged(log, at - days * 24 * HOUR)
    for scope, folder in made.agents().items():
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text(f"- [Habits](habits.md) — of the {scope} scope\n")
        body = f"The reviewer of the {scope} scope watches nightjar-{scope} first."
        (folder / "habits.md").write_text(
            f"---\nname: Habits\ndescription: habits\ntype: feedback\n---\n\n{body}\n"
        )


# --- Sessions -----------------------------------------------------------------------------------------------------

#: Session → hours ago, and its messages, the person first. Each has a different kind of statement.
TALKS: Mapping[str, tuple[float, Sequence[str]]] = {
    "asks": (30, ("Remember that the staging database is heron-2.", "Noted.")),
    "places": (29, ("Bugs are tracked in Linear, project OSPREY.", "Thanks.")),
    "corrects": (28, ("add the endpoint", "On port 8080.", "No, that's wrong. The port is 8081, not 8080.", "Right.")),
    "decides": (27, ("We decided on PostgreSQL 16 for the plover service.", "Good.")),
    "wishes": (26, ("From now on, always squash quail commits.", "I will.")),
    "confirms": (25, ("how do we deploy?", "So deploys go through Argo now?", "Yes, exactly.", "Good.")),
}  # fmt: skip


def _sessions(made: Everything, at: float) -> None:
    for name, (ago, texts) in TALKS.items():
        session(made, name, at - ago * HOUR, talk(made.shop, name, at - ago * HOUR, texts))
    asks = talk(made.shop, "asks", at - 30 * HOUR, TALKS["asks"][1])
    for name, ago, said in (
        ("resumed", 20, "Remember that the build box is redshank-4."),
        ("forked", 19, "ruff sees to it?"),
    ):
        own = talk(made.shop, name, at - ago * HOUR, (said, "Yes."))
        session(made, name, at - ago * HOUR, [{**row, "sessionId": name} for row in (*asks, *own)])
    session(made, "tasks", at - 18 * HOUR, _tasks(made, at - 18 * HOUR))
    session(made, "searches", at - 17 * HOUR, _searches(made, at - 17 * HOUR))
    noted = session(
        made, "noted", at - 16 * HOUR, talk(made.shop, "noted", at - 16 * HOUR, ("move the queue", "Moved."))
    )
    write_text(noted.with_suffix("") / "session-memory" / "summary.md", NOTES)
    _with_agents(made, at - 15 * HOUR)
    diary = talk(made.journal, "diary", at - 13 * HOUR, ("write the day up", "Written."))
    session(made, "diary", at - 13 * HOUR, diary, made.journal)
    tree = made.root.worktree(made.shop, "shop-feature")
    session(
        made, "tree", at - 14 * HOUR, talk(tree, "tree", at - 14 * HOUR, ("in a snipe tree", "Yes.")), tree
    )


def talk(cwd: Path, name: str, at: float, texts: Sequence[str]) -> list[Record]:
    """Messages of person and agent in turn, a minute apart, ending at `at`."""
    found: list[Record] = []
    for number, text in enumerate(texts):
        fields: Record = {
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name} {number}")),
            "sessionId": name,
            "cwd": str(cwd),
            "gitBranch": "main",
            "timestamp": _stamp(at - 60 * (len(texts) - number)),
        }
        if number % 2:
            said = answer(f"{name}-{number}", f"{name}-{number}", (1_000, 200), **fields)
            said["message"]["content"] = [{"type": "text", "text": text}]  # type: ignore[index]  # a dict
            found.append(said)
        else:
            found.append(typed(text, **fields))
    return found


def _tasks(made: Everything, at: float) -> list[Record]:
    todos = [
        {"content": "Mend the sanderling test", "status": "in_progress"},
        {"content": "Read", "status": "completed"},
    ]
    made_one = _result(at, "c2", "ok", toolUseResult={"task": {"id": "1"}})
    return [
        *talk(made.shop, "tasks", at, ("go on with the list",)),
        _called(at, "TodoWrite", "c1", todos=todos),
        _called(at, "TaskCreate", "c2", subject="Ship the siskin release", description="today"),
        made_one,
        _called(at, "TaskUpdate", "c3", taskId="1", status="in_progress"),
    ]


def _searches(made: Everything, at: float) -> list[Record]:
    found = talk(made.shop, "searches", at, ("what is new in stint 3?", "I looked it up."))
    found[1]["message"]["usage"]["server_tool_use"] = {"web_search_requests": 4}  # type: ignore[index]  # a dict
    return found


def _with_agents(made: Everything, at: float) -> None:
    calls = {"a1": "reviewer", "a2": "reviewer"}
    records = talk(made.shop, "agents", at, ("have it looked at",))
    for run, name in calls.items():
        records.append(_called(at, "Task", f"call-{run}", subagent_type=name, prompt="Look."))
        records.append(_result(at, f"call-{run}", "Done.", toolUseResult={"agentId": run}))
    main = session(made, "agents", at, records)
    for run in calls:
        side = {
            "isSidechain": True,
            "agentId": run,
            "sessionId": "agents",
            "cwd": str(made.shop),
            "timestamp": _stamp(at),
        }
        told = [
            typed(f"Look at the {run} tern", **side),
            answer(f"side-{run}", f"side-{run}", (300, 40), **side),
        ]
        path = main.with_suffix("") / "subagents" / f"agent-{run}.jsonl"
        write(path, told)
        _aged(path, at)


def _odd_session(made: Everything, at: float) -> None:
    """A session with joined and unknown lines, a summary, a hook's text, text without a record, a half-written last line."""
    plain = talk(made.shop, "odd", at, ("the turnstone odd session", "Yes."))
    path = made.root.session(made.shop, "odd", plain)
    summary = {"isCompactSummary": True, "sessionId": "odd", "cwd": str(made.shop), "timestamp": _stamp(at)}
    append(path, lines([typed("Remember that summaries are whimbrels.", **summary)]))
    append(
        path,
        lines(
            [
                typed(
                    "Remember that reminders are whinchats.",
                    isMeta=True,
                    sessionId="odd",
                    timestamp=_stamp(at),
                )
            ]
        ),
    )
    append(path, lines([{"type": "a-type-of-tomorrow", "payload": [1]}]))
    append(
        path,
        lines([typed("glued one", sessionId="odd", timestamp=_stamp(at))])[:-1]
        + lines([typed("glued two", sessionId="odd", timestamp=_stamp(at))]),
    )
    append(path, b'not json\n{"type": "user", "toolUseResult": "a string"}\n[]\n\n{"type": "user", "mess')
    _aged(path, at)


def _called(at: float, name: str, call: str, **given: object) -> Record:
    made = answer(f"m-{call}", f"r-{call}", timestamp=_stamp(at))
    made["message"]["content"] = [{"type": "tool_use", "id": call, "name": name, "input": given}]  # type: ignore[index]  # a dict
    return made


def _result(at: float, call: str, text: str, **more: object) -> Record:
    content = [{"type": "tool_result", "tool_use_id": call, "content": text}]
    return {**typed("", timestamp=_stamp(at)), "message": {"role": "user", "content": content}, **more}


def session(made: Everything, name: str, at: float, records: list[Record], cwd: Path | None = None) -> Path:
    """A transcript whose last byte was written at `at`; of the project shop by default."""
    path = made.root.session(cwd or made.shop, name, records)
    _aged(path, at)
    return path


# --- The prompt history -------------------------------------------------------------------------------------------


def _history(made: Everything, at: float) -> None:
    pasted = {
        "1": {"id": 1, "type": "text", "content": PASTED},
        "2": {"id": 2, "type": "text", "contentHash": HASH},
        "3": {"id": 3, "type": "image", "content": "AAAA"},
    }
    rows = [
        prompt(made.shop, TALKS["asks"][1][0], "asks", at - 30 * HOUR),
        prompt(made.shop, "Remember that invoices follow the wigeon calendar.", "gone", at - 90 * HOUR),
        prompt(made.shop, "See [Pasted text #1 +3 lines] and [Pasted text #2 +200 lines]", "gone", at - 89 * HOUR, pasted),
        b"not json\n",
        b'{"display": 5}\n',
        prompt(Path("/nowhere/known"), "of a folder that nobody knows", "elsewhere", at - 88 * HOUR),
        prompt(made.shop, "/clear", "gone", at - 87 * HOUR),
        prompt(made.shop, "half", "gone", at)[:-9],
    ]  # fmt: skip
    write_text(made.root.path / "history.jsonl", b"".join(rows))
    write_text(made.root.path / "paste-cache" / f"{HASH}.txt", KEPT_PASTE)


def prompt(cwd: Path, text: str, name: str, at: float, pasted: Mapping[str, object] | None = None) -> bytes:
    line = {"display": text, "pastedContents": pasted or {}, "timestamp": int(at * 1000), "project": str(cwd)}
    return json.dumps({**line, "sessionId": name}).encode() + b"\n"


# --- Instructions -------------------------------------------------------------------------------------------------


def _instructions(made: Everything) -> None:
    for name, text in INSTRUCTIONS.items():
        write_text(made.shop / name, text)
    write_text(made.root.path / "CLAUDE.md", "For all projects: answer like a wren.\n")
    write_text(made.managed, "From the administrator: no yellowhammers.\n")
    write_text(made.root.path / "settings.json", json.dumps({"autoMemoryEnabled": True}))


def write_text(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _aged(path: Path, at: float) -> None:
    os.utime(path, (at, at))


def _stamp(at: float) -> str:
    return dt.datetime.fromtimestamp(at, dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty.")
    sys.stdout.write(f"{make(folder).root.path}\n")
