"""A written session of a made-up project, as lines of a transcript; and what the requests of many come to."""

import json
from collections.abc import Iterable
from pathlib import Path

from dreams.lib.agents.transcripts import UsageRow, keep_best

_READER = """package reader

// openJournal opens the journal file and takes its lock for 45 seconds.
func openJournal(path string) (*Journal, error) {
	return lockFile(path, 45*time.Second)
}

// mergeEntries sorts the entries by their sequence number and drops doubled ones.
func mergeEntries(entries []Entry) []Entry {
	sort.Slice(entries, bySequence)
	return dropDoubled(entries)
}

// flushPending writes every pending record to the backup volume.
func flushPending(records []Record) error {
	return backupVolume.Write(records)
}
"""
_LINT = """reader.go:14: exported constant retryLimit should have a comment (revive)
server.go:71: string "heartbeat" has 4 occurrences, make it a constant (goconst)
store.go:9: Error return value is not checked (errcheck)
"""


def tool_call(name: str, **values: str) -> dict[str, object]:
    return {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "tool_use", "id": values.get("id", name), "name": name, "input": values}]},
    }  # fmt: skip


def tool_result(call: str, text: str) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": text}]}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def said(role: str, text: str) -> dict[str, object]:
    return {"type": role, "message": {"role": role, "content": text}}


LINES = [
    said("user", "Please look at the journal reader. The staging server listens on port 8125, production on port 9310."),
    tool_call("Read", file_path="/repo/internal/reader.go", id="r1"),
    tool_result("r1", _READER),
    tool_call("Bash", command="golangci-lint run ./internal/...", id="b1"),
    tool_result("b1", _LINT),
    said(
        "assistant",
        "The cache is always flushed before the snapshot is taken. The importer does not retry failed uploads. "
        "Sessions are encrypted at rest. The audit trail is never flushed on shutdown. Archives cannot be split across buckets. I raised the retry limit from 3 to 7 because the upstream gateway drops bursts.",
    ),
    tool_call("Edit", file_path="/repo/internal/server.go", old_string='send("heartbeat")', new_string="send(kindHeartbeat)\n// kindHeartbeat replaces the heartbeat string\n", id="e1"),
    tool_result("e1", "The file /repo/internal/server.go has been updated."),
    said("user", "Good. The nightly export runs at 02:40 and keeps 14 archives in the `cold-store` bucket."),
]  # fmt: skip


def write(path: Path, lines: list[dict[str, object]] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    chosen = LINES if lines is None else lines
    path.write_text("".join(json.dumps(line) + "\n" for line in chosen), encoding="utf-8")
    return path


def without_replays(rows: Iterable[UsageRow]) -> list[UsageRow]:
    """Rows of many files, each request once, for the totals of a root.

    Besides the key, a sub-agent's copy of a message under a **new** request id is removed: a sidechain row whose
    `message_key` another row has (one of the main conversation, else the one with the smallest key).
    """
    best: dict[int, UsageRow] = {}
    for row in rows:
        keep_best(best, row)
    keeper: dict[int, UsageRow] = {}
    for row in sorted(best.values(), key=lambda r: (r.sidechain, r.key)):
        if row.message_key:
            keeper.setdefault(row.message_key, row)
    return [
        r for r in best.values() if not (r.sidechain and r.message_key and keeper[r.message_key] is not r)
    ]
