"""The MCP server, driven by the SDK's own client over stdio, as an agent would."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dreams.models import Project
from tests.world import directory as world
from tests.world.agent_folder import Root
from tests.world.processes import commands as forked
from tests.world.processes.servers import with_database

if TYPE_CHECKING:
    from mcp import Client

PASSWORD = "".join(["xK9", "vQ2mPz", "L7wRt"])
DEPLOY = f"---\nname: Deploying the shop\ndescription: how releases go out\ntype: project\n---\n\nPort 8443.\npassword = {PASSWORD}\n"
LONG = "---\nname: Invoices\ndescription: rounding of invoices\n---\n\n" + "".join(
    f"- Rule {n}: “round” half to even, \\ and \x01 too\n" for n in range(1200)
)


class Desk:
    """Two projects on disk and in a database, and the process of an agent's session in one of them."""

    def __init__(self, base: Path) -> None:
        self.root = Root(base)
        self.shop, self.other = self.root.repository("shop"), self.root.repository("other")
        (self.shop / "src").mkdir()
        self.root.session(self.shop, "s1")
        self.root.session(self.other, "s2")
        for name, text in (
            ("deploy.md", DEPLOY),
            ("invoices.md", LONG),
            ("MEMORY.md", "- [Deploy](deploy.md)\n"),
        ):
            self.root.memory(self.shop, name, text)
        self.root.memory(
            self.other, "secret_plans.md", "---\nname: Secret plans of the shop\n---\n\nNobody knows.\n"
        )
        self.environment = forked.environment(with_database(base / "data"))
        self.manage("discover", "--root", str(self.root.path))

    def manage(self, *arguments: str) -> Any:
        done = forked.run(*arguments, "--json", environment=self.environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def session(
        self, ask: Callable[[Client], Awaitable[None]], *arguments: str, cwd: Path | None = None
    ) -> None:
        # A second of imports: not for each worker that only collects this file.
        from mcp import Client
        from mcp.client.stdio import StdioServerParameters, stdio_client

        started = StdioServerParameters(
            command=sys.executable,
            args=[str(forked.PROJECT / "manage.py"), "mcp", *arguments],
            env=self.environment,
            cwd=cwd or self.shop / "src",
        )

        async def talk() -> None:
            with anyio.fail_after(60):
                # By default the module's stderr at its first import: that of any test, perhaps none with a file.
                async with Client(stdio_client(started, errlog=sys.__stderr__)) as client:
                    await ask(client)

        # In a thread of its own: where a browser ran before in this process, this one has a loop that runs already.
        with ThreadPoolExecutor(1) as alone:
            alone.submit(anyio.run, talk).result()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("mcp"))


async def call(client: Client, tool: str, **arguments: object) -> Any:
    """The answer, whose size is looked at each time."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    (part,) = found.content
    assert part.type == "text" and len(part.text.encode()) <= 20_000
    return json.loads(part.text)


async def refused(client: Client, tool: str, **arguments: object) -> str:
    found = await client.call_tool(tool, arguments)
    assert found.is_error
    (part,) = found.content
    assert part.type == "text"
    return part.text


def test_an_agent_recalls_reads_and_suggests(desk: Desk) -> None:
    async def ask(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == ["propose_memory", "read_memory", "recall"]
        assert not any("project" in tool.input_schema["properties"] for tool in tools.values())
        kinds = tools["propose_memory"].input_schema["properties"]["type"]["enum"]
        assert kinds == ["user", "feedback", "project", "reference"]
        assert [
            bool(tools[name].annotations and tools[name].annotations.read_only_hint) for name in sorted(tools)
        ] == [
            False,
            True,
            True,
        ]

        found = await call(client, "recall", question="how do we deploy the shop?")
        (deploy,) = found["chosen"]
        assert deploy["path"] == "deploy.md" and "Port 8443." in deploy["text"] and "%" in deploy["why"]
        assert PASSWORD not in json.dumps(found) and "[redacted: " in deploy["text"]
        assert [one["path"] for one in found["left_out"]] == ["invoices.md"]

        again = await call(client, "recall", question="how do we deploy the shop?")
        assert again["chosen"] == []
        assert {"path": "deploy.md", "why": "already shown in this session"} in again["left_out"]

        os.utime(desk.root.folder(desk.shop) / "memory" / "deploy.md", (1_600_000_000, 1_600_000_000))
        whole = await call(client, "read_memory", path="deploy.md")
        assert whole["age"] == deploy["age"], "an age stays as it was first told"
        assert "Port 8443." in whole["text"] and PASSWORD not in whole["text"] and whole["next_line"] is None

        made = await call(
            client,
            "propose_memory",
            name="Canary first",
            description="how a release starts",
            type="project",
            text="A release goes to the canary first.",
        )
        (new,) = [
            file for file in desk.manage("proposal", made["proposal"])["files"] if file["kind"] == "add"
        ]
        assert new["path"] == "project_canary_first.md"

    desk.session(ask)
    assert not (desk.root.folder(desk.shop) / "memory" / "project_canary_first.md").exists()


@pytest.mark.more
def test_only_what_recall_named_can_be_read_and_no_other_project_can_be_named(desk: Desk) -> None:
    async def ask(client: Client) -> None:
        assert "Call it first" in await refused(client, "read_memory", path="deploy.md")
        found = await call(client, "recall", question="secret plans of the shop")
        assert "secret_plans" not in json.dumps(found)
        for path in ("secret_plans.md", "../memory/deploy.md", "/etc/passwd", "MEMORY.md", ""):
            assert await refused(client, "read_memory", path=path)
        told = await client.call_tool("recall", {"question": "secret plans", "project": str(desk.other)})
        assert "secret_plans" not in str(told.content)

    desk.session(ask)


@pytest.mark.sweep
def test_a_long_memory_is_read_in_parts_until_the_session_had_its_share(desk: Desk) -> None:
    async def ask(client: Client) -> None:
        (one,) = (await call(client, "recall", question="rounding of invoices"))["chosen"]
        assert one["cut"] and LONG.startswith(one["text"].replace("\ufffd", "\x01"))
        read, line = "", 1
        for _ in range(9):
            found = await client.call_tool("read_memory", {"path": "invoices.md", "from_line": line})
            (part,) = found.content
            assert part.type == "text" and len(part.text.encode()) <= 20_000
            if found.is_error:
                assert "60,000 bytes" in part.text
                break
            answer = json.loads(part.text)
            read += answer["text"]
            if answer["next_line"] is None:
                break
            line = answer["next_line"]
        assert (
            LONG.startswith(read)
            and len(one["text"].encode()) + len(read.encode()) <= 60_000
            and len(read) > 30_000
        )
        told = await call(client, "recall", question="how do we deploy the shop?")
        assert told["chosen"] == [] or len(read) + len(told["chosen"][0]["text"]) <= 60_000

    desk.session(ask)


@pytest.mark.sweep
def test_the_project_is_that_of_the_folder(desk: Desk) -> None:
    async def ask(client: Client) -> None:
        found = await call(client, "recall", question="secret plans of the shop")
        assert [one["path"] for one in found["chosen"]] == ["secret_plans.md"]

    desk.session(ask, cwd=desk.other)


@pytest.mark.more
def test_a_folder_that_no_project_is_known_for_is_refused_in_one_line(desk: Desk) -> None:
    done = forked.run("mcp", "--project", "-nowhere", environment=desk.environment)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    done = forked.run("mcp", environment=desk.environment)  # the folder of the tests
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (
        1,
        "",
        1,
    ) and "--project" in done.stderr


@pytest.mark.sweep
def test_suggestions_are_bounded_and_can_be_switched_off_while_reading_still_works(desk: Desk) -> None:
    async def five(client: Client) -> None:
        for number in range(9):
            found = await client.call_tool(
                "propose_memory",
                {
                    "name": f"Fact {number}",
                    "description": "a fact",
                    "type": "project",
                    "text": f"Fact {number} holds.",
                },
            )
            (part,) = found.content
            if found.is_error:
                assert part.type == "text" and "5 suggestions are already waiting" in part.text
                break
        else:
            raise AssertionError("nine suggestions were taken")

    async def off(client: Client) -> None:
        wanted = {"name": "Off", "description": "a fact", "type": "project", "text": "It is off."}
        assert "switched off" in await refused(client, "propose_memory", **wanted)
        assert (await call(client, "recall", question="how do we deploy the shop?"))["chosen"]

    desk.session(five)
    desk.environment["MEMORYWEB_SUGGESTIONS"] = "0"
    try:
        desk.session(off, "--project", str(desk.root.folder(desk.shop) / "memory"), cwd=desk.other)
    finally:
        del desk.environment["MEMORYWEB_SUGGESTIONS"]


@pytest.mark.django_db(transaction=True)
def test_a_line_that_is_too_long_for_an_answer_is_said_to_be_cut(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dreams.management import mcp_server  # loads for a second: not in every process

    monkeypatch.setattr(mcp_server, "close_old_connections", lambda: None)  # the test's own database
    world.put(world.folder(project) / "wide.md", f"# Wide\n{'a ' * 20_000}\nThe end.\n")
    desk = mcp_server.Desk(project.pk)
    desk._named.add("wide.md")
    answers = [json.loads(desk.read_memory("wide.md", line)) for line in (1, 2, 3)]
    assert [(one["next_line"], one["cut"]) for one in answers] == [(2, False), (3, True), (None, False)]


@pytest.mark.more
def test_the_command_answers_what_the_server_answers(desk: Desk) -> None:
    directory = str(desk.root.folder(desk.shop) / "memory")
    found = desk.manage("recall", directory, "how do we deploy the shop?")
    (one,) = found["chosen"]
    assert (one["path"], one["cut"]) == ("deploy.md", False) and PASSWORD not in json.dumps(found)
    assert found["bytes"] == len(DEPLOY.encode()) and found["index_bytes"] > 0
    assert {one["path"]: one["why"] for one in found["left_out"]} == {
        "invoices.md": "shares no distinctive word with the question"
    }
    shown = desk.manage(
        "recall", directory, "how do we deploy the shop?", "--shown", "deploy.md", "--tools", "psql,Bash"
    )
    assert shown["chosen"] == [] and "already shown" in shown["left_out"][-1]["why"]
    words = forked.run("recall", directory, "deploy the shop", environment=desk.environment)
    assert words.returncode == 0 and words.stdout.startswith("deploy.md: ")
    assert forked.run("recall", directory, " ", environment=desk.environment).returncode == 2
