"""The worker process: JSON lines in, JSON lines out, until its input ends. Started by the caller, never by hand.

Its environment is empty, so it has no keys; it is restricted after everything is imported, before the first call is
read.
"""

import json
import os
import sys
from dataclasses import replace
from typing import Any, BinaryIO

from dreams.lib.files.safefs import Root, SafeFsError
from dreams.lib.sandbox import Ignored, Mount, Shell, Tree
from dreams.lib.sandbox.ignore import Rules
from dreams.lib.sandbox.tool_worker import fences
from dreams.lib.sandbox.tool_worker.tools import NAMES, ToolReply, Tools

LONGEST = 4 * 1024 * 1024  # the caller sends no more


def main(requests: BinaryIO, answers: BinaryIO) -> None:
    mounts = json.loads(requests.readline(LONGEST))
    tree = Tree([made for given in mounts if (made := _mount(given)) is not None])
    tools = Tools(tree)
    _warm(tools)
    fences.limit_resources()
    version = fences.landlock([str(given["folder"]) for given in mounts])
    _send(answers, {"landlock": version, "environment": sorted(os.environ)})
    while line := requests.readline(LONGEST):
        _send(answers, _answer(tools, line))


def _mount(given: dict[str, Any]) -> Mount | None:
    """A mount, or None if its folder no longer exists."""
    try:
        root = Root.open(given["folder"])
    except (OSError, SafeFsError):
        return None
    mount = Mount(given["name"], root, tuple(given["stands_for"]))
    if given["name"] == "repo":
        mount.hidden = ignored = Ignored(root)
        _ = ignored.tracked  # its reader cannot be imported later
    return mount


def _warm(tools: Tools) -> None:
    """Imports and compiles everything needed on first use, which is not possible once restricted."""
    tools.run("Bash", {"command": "ls -l /memory 2>/dev/null | sort | head -1; grep -c x /nowhere"})
    tools.run("Grep", {"pattern": "\\bé", "-i": True})
    Rules(b"*.pyc\n").verdict("a.pyc")
    b"\xff".decode("utf-8", "replace")


def _answer(tools: Tools, line: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(line)
        name, given = asked["name"], asked["input"]
        if name == "line":
            # A person's line: their own files, as they are.
            answer = Shell(tools.tree, given["cwd"], replace(tools.limits, masked_bytes=0)).run(given["line"])
            return {
                "output": answer.output,
                "exit_code": answer.exit_code,
                "refused": answer.refused,
                "ms": answer.ms,
            }
        if name not in NAMES or not isinstance(given, dict):
            reply = ToolReply(f"Not done: there is no tool {str(name)[:60]!r} here.", refused=True)
        else:
            reply = tools.run(name, given)
    except Exception as error:  # a bug of ours: the dream continues, and the page shows it
        reply = ToolReply(f"Not done: a fault in the tool ({type(error).__name__}).", refused=True)
    return {"text": reply.text, "refused": reply.refused}


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
