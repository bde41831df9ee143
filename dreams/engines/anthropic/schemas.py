"""The tool descriptions for the model. PURE. The order is fixed: they are the beginning of the cached prompt."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dreams.engines.anthropic.stream import Json
from dreams.engines.types import QUESTIONS

READING = ("Bash", "Read", "Grep", "Glob")
WRITING = ("Edit", "Write", "Delete")
ASK = "Ask"

_REASON: Json = {
    "type": "string",
    "description": "Why, in one plain sentence, for the person who reviews it.",
}


def _quoted(session: str, quote: str) -> Json:
    line = {"type": "integer", "description": "The line number there, from 1, if you know it."}
    texts = {
        name: {"type": "string", "description": said}
        for name, said in (("session", session), ("quote", quote))
    }
    return {"type": "object", "properties": {**texts, "line": line}, "required": ["session", "quote"]}


_CITATIONS: Json = {
    "type": "array",
    "description": (
        "The evidence for the change. Each quote is checked at once: it must appear there word for word. "
        "May be empty only for MEMORY.md."
    ),
    "items": _quoted(
        "The id of a session or commit, or a memory such as feedback_x.md, or a file such as /repo/README.md.",
        "The exact words, unescaped, from one line, at most a few sentences.",
    ),
}
_OPERATION: Json = {
    "type": "string",
    "description": (
        "A short label. Changes with the same label are decided together: a new memory and its index row, or the two "
        "halves of a merge. Leave it out for a change that makes sense alone."
    ),
}
KINDS = ["learn", "merge", "date", "index", "demote", "update", "prune"]
_KIND: Json = {
    "type": "string",
    "enum": KINDS,
    "description": "What kind of change it is, if the tool does not already say it.",
}
_FATES: Json = {
    "type": "array",
    "description": "Where each removed line went. A removed fact that no longer appears anywhere blocks the proposal.",
    "items": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "The removed line or sentence as it was."},
            "fate": {"type": "string", "enum": ["kept-in", "merged-into", "superseded-by", "stated"]},
            "target": {"type": "string", "description": "The memory that holds it now, if not this one."},
            "target_text": {
                "type": "string",
                "description": "The line there, if not the Edit's only new one.",
            },
            "note": {"type": "string", "description": "For “stated”: why it can go. Cite what shows it."},
        },
        "required": ["text", "fate"],
    },
}
_PATH: Json = {"type": "string", "description": "Below /memory, for example /memory/feedback_tests.md."}

_QUOTED = _quoted(
    "A memory such as project_deploy.md, or a session's id.", "The whole statement, word for word."
)
_DRAFT: Json = {
    "type": "object",
    "description": (
        "One change: `old_string` and `new_string` replace a passage, `content` creates or replaces a memory, `delete` removes "
        "it."
    ),
    "properties": {
        "path": _PATH,
        "old_string": {
            "type": "string",
            "description": "A passage that appears exactly once in the memory as it was when the dream began.",
        },
        "new_string": {"type": "string"},
        "content": {"type": "string"},
        "delete": {"type": "boolean"},
    },
    "required": ["path"],
}
_ANSWERS = "; ".join(f"{kind}: {', '.join(answers)}" for kind, answers in QUESTIONS.items())
_OPTION: Json = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": f"By kind. {_ANSWERS}."},
        "label": {"type": "string", "description": "The text of the button, in two to five words."},
        "edits": {
            "type": "array",
            "items": _DRAFT,
            "description": "The changes this answer makes. None for `keep`, which is added if you leave it out.",
        },
        "removed": _FATES,
    },
    "required": ["id", "label"],
}


def _tool(name: str, description: str, required: list[str], /, **properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": description, "input_schema": schema}


def _changing(name: str, description: str, /, *required: str, **properties: Json) -> Json:
    common = {
        "reason": _REASON,
        "citations": _CITATIONS,
        "operation": _OPERATION,
        "kind": _KIND,
        "removed": _FATES,
    }
    return _tool(
        name, description, ["path", *required, "reason", "citations"], path=_PATH, **properties, **common
    )


ALL: tuple[Json, ...] = (
    _tool(
        "Bash",
        "Runs a read-only command line: ls, find, grep, rg, cat, head, tail, wc, sort, uniq, cut, tr, sed (s, p, d, q), jq, "
        "diff, stat and du, joined by pipes, &&, || and ;. It cannot write or start anything: no xargs, -exec or "
        "scripts, no variables, no redirections except < FILE and 2>/dev/null.",
        ["command"],
        command={"type": "string"},
    ),
    _tool(
        "Read",
        "Shows a file with line numbers.",
        ["file_path"],
        file_path={"type": "string"},
        offset={"type": "integer", "description": "First line to show, from 1."},
        limit={"type": "integer", "description": "Number of lines."},
    ),
    _tool(
        "Grep",
        "Searches files for a regular expression (RE2). Give narrow patterns: long lines are cut around the match.",
        ["pattern"],
        pattern={"type": "string"},
        path={"type": "string", "description": "A file or folder; everything if omitted."},
        glob={"type": "string", "description": "Only files whose names match, for example *.md."},
        output_mode={"type": "string", "enum": ["content", "files_with_matches", "count"]},
        **{
            "-i": {"type": "boolean"},
            "-n": {"type": "boolean"},
            "-A": {"type": "integer"},
            "-B": {"type": "integer"},
            "-C": {"type": "integer"},
        },
        head_limit={"type": "integer", "description": "The most lines to show; 50 if omitted."},
    ),
    _tool(
        "Glob",
        "Lists files whose path matches a pattern such as /memory/**/*.md.",
        ["pattern"],
        pattern={"type": "string"},
        path={"type": "string"},
    ),
    _changing(
        "Edit",
        "Replaces one passage of a memory. `old_string` must appear there exactly once, without the line numbers that Read shows.",
        "old_string",
        "new_string",
        old_string={"type": "string"},
        new_string={"type": "string"},
    ),
    _changing(
        "Write",
        "Creates a memory, or replaces a whole one that you have read.",
        "content",
        content={"type": "string"},
    ),
    _changing("Delete", "Removes a memory that you have read."),
    _tool(
        ASK,
        "Asks the person who reviews the dream about something you cannot prove, with each answer drafted. The dream does not wait "
        "for the answer.",
        ["kind", "why", "places", "options"],
        kind={"type": "string", "enum": list(QUESTIONS)},
        why={"type": "string", "description": "Why you are asking, in one plain sentence."},
        places={
            "type": "array",
            "items": _QUOTED,
            "description": "The statements in question: the older first, or `first` and then `second`. Quotes are checked.",
        },
        options={"type": "array", "items": _OPTION},
        citations={
            **_CITATIONS,
            "description": "Other evidence, such as a file in /repo. May be omitted.",
        },
        usefulness={
            "type": "number",
            "description": "0 to 1: how sure you are, and how misleading the memory is now.",
        },
    ),
    _tool(
        "Phase",
        "Says which phase you are in. Call it together with the first tool of that phase, never alone.",
        ["name"],
        name={"type": "string", "enum": ["orient", "gather", "consolidate", "prune"]},
    ),
)


def offered(reading: frozenset[str], *, asking: bool = True) -> list[Json]:
    """The tools to offer: the available reading tools, Ask if questions are wanted, and all others."""
    missing = {name for name in READING if name not in reading} | (set() if asking else {ASK})
    return [tool for tool in ALL if tool["name"] not in missing]


_TYPES: Mapping[str, type] = {"integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


def fitted(name: str, given: Json) -> Json:
    """The input of a call, read as its schema says: small models write lists, objects and numbers as text."""
    with suppress(RecursionError):  # a call nested too deeply is refused as it is
        return {**_fitted(given, next((tool["input_schema"] for tool in ALL if tool["name"] == name), {}))}
    return given


def _fitted(value: Any, schema: Json) -> Any:
    wanted = _TYPES.get(schema.get("type", ""))
    if isinstance(value, str) and wanted is not None:
        with suppress(ValueError):
            read = json.loads(value)
            value = read if isinstance(read, wanted) else value
    if wanted is list and isinstance(value, dict):
        value = [value]
    if isinstance(value, dict):
        inside = schema.get("properties", {})
        return {key: _fitted(entry, inside.get(key, {})) for key, entry in value.items()}
    return [_fitted(entry, schema.get("items", {})) for entry in value] if isinstance(value, list) else value
