"""What one transcript line holds, as far as it is wanted. Pure: no Django.

The fields are those of the Claude Code envelope (`docs`: uuid, parentUuid, sessionId, …). Everything not named here
is skipped by the decoder without building Python objects, which is where the speed comes from.
"""

from __future__ import annotations

from msgspec import Raw, Struct

NOTHING = Raw()


class CacheCreation(Struct, gc=False):
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class ServerToolUse(Struct, gc=False):
    web_search_requests: int | None = None


class Usage(Struct, gc=False):
    """Tokens as the API counted them. `cache_creation` splits `cache_creation_input_tokens` by lifetime."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerToolUse | None = None
    speed: str | None = None


class Message(Struct, gc=False):
    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: Raw = NOTHING
    usage: Usage | None = None


class ToolResult(Struct, gc=False, rename="camel"):
    """A tool's result. One that wrote a file has both: `originalFile` is the text before it, null for a new file."""

    file_path: Raw = NOTHING
    original_file: Raw = NOTHING


class Line(Struct, gc=False, rename="camel"):
    """One record. `Raw` fields point into the reader's buffer: use them before the next record is asked for."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    agent_id: str | None = None
    request_id: str | None = None
    message: Message | str | None = None
    # Of any shape; decoded in the same pass, because it is often the largest part of a line.
    tool_use_result: ToolResult | str | list[Raw] | int | float | bool | None = None
    # Rare, or of more than one shape: kept raw, so that an odd one costs nothing and fails nothing.
    attachment: Raw = NOTHING
    data: Raw = NOTHING
    plan_content: Raw = NOTHING
    custom_title: Raw = NOTHING
    ai_title: Raw = NOTHING
    last_prompt: Raw = NOTHING
    summary: Raw = NOTHING
    mode: Raw = NOTHING


class Progress(Struct, gc=False):
    """The `data` of a progress line: versions without sub-agent files report a sub-agent's lines in it."""

    message: Line | None = None


class Block(Struct, gc=False):
    """A content block of a user message, as far as typed text is concerned."""

    type: str = ""
    text: str = ""


class Queued(Struct, gc=False, rename="camel"):
    """An attachment that carries what was typed while the agent was busy (`type` queued_command)."""

    type: str = ""
    prompt: str | list[Block] | None = None
    command_mode: str | None = None


def present(raw: Raw) -> bool:
    """Whether a raw field was there and not null."""
    size = len(raw)
    return size > 4 or (size > 0 and bytes(raw) != b"null")
