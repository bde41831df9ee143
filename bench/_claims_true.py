"""Takes true claims from transcripts: an assistant's statements on what it has read and done, for `claims_fit.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

SHORTEST, LONGEST = 24, 330  # code points of a line
# Plans, questions and offers have no evidence.
_PLAN = re.compile(
    r"(?i)\b(?:let me|let's|i'll|i will|we'll|shall|should|would you|could|want me|next step|going to|needs? to|todo|maybe|perhaps|"
    r"consider|recommend|suggest|option|proposed?|planned?|if you|want to|might)\b|\?$|^now\b|"
    r"^(?:add|create|update|remove|fix|write|implement|run|test|verify|use|check|make|replace|change|extract|move|keep|set|ensure|read)\b"
)
_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True)
class Claim:
    """The sources end before the 1-based line `before`; `was` is the true claim, `put` the replacement."""

    group: str
    transcript: Path
    before: int
    text: str
    kind: str = "true"
    was: str = ""
    put: str = ""


def claims_in(root: Path, without: Container[str] = ()) -> Iterator[Claim]:
    """The statements of compaction summaries and assistants in every transcript below a folder, without repeats."""
    for path in sorted(root.rglob("*.jsonl")):
        group, told = path.relative_to(root).parts[0], set[str]()
        for line, text in _texts(path):
            for claim in _statements(text):
                if claim not in told and claim not in without:
                    told.add(claim)
                    yield Claim(group, path, line, claim, was=claim)


def claims_of(file: Path, root: Path) -> Iterator[Claim]:
    """Hand-written claims: JSON lines {claim, transcript (below root), before_line, kind?, was?}."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        transcript, claim = str(row["transcript"]), str(row["claim"])
        yield Claim(transcript.split("/", maxsplit=1)[0], root / transcript, row["before_line"], claim, row.get("kind", "true"), row.get("was", claim))  # fmt: skip


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, raw in enumerate(file, start=1):
            try:
                found = json.loads(raw)
                message = found["message"]
                content, role = message["content"], message.get("role")
            except (ValueError, KeyError, TypeError):
                continue
            if isinstance(content, str) and (role == "assistant" or found.get("isCompactSummary")):
                yield number, content
            elif isinstance(content, list) and role == "assistant":
                yield from ((number, str(b.get("text", ""))) for b in content if isinstance(b, dict))


def _statements(text: str) -> Iterator[str]:
    fenced = False
    for raw in text.split("\n"):
        line = _MARK.sub("", raw).strip()
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and SHORTEST < len(line) < LONGEST and _tells(line):
            yield line


def _tells(line: str) -> bool:
    return (
        not line.startswith(("#", "|", "<")) and not line.rstrip("*").endswith(":") and not _PLAN.search(line)
    )
