"""Secrets that stand in a memory are proposed for redaction: the line stays, without them. Pure but for the recorder."""

from __future__ import annotations

from dreams.engines.rules.notes.tree import Change, Recorder, from_memory, is_log
from dreams.lib.files.text import plural
from dreams.lib.secrets import redact as redaction
from dreams.lib.secrets.finding import spans


def redact(rec: Recorder) -> None:
    """One operation for each file. Pinned and hand-edited memories, logs and what may not be written stay as they are."""
    tree = rec.tree
    for path in sorted(tree.texts):
        if is_log(path) or not tree.writable(path) or tree.settled(path):
            continue
        rec.report.checkpoint()
        text = tree.texts[path]
        found = spans(text)
        if not found:
            continue
        after = redaction.without(text, redaction.values(text))
        line_no = text.count("\n", 0, found[0].start) + 1
        quote = redaction.redact(text.splitlines()[line_no - 1]) if text.splitlines() else ""
        kinds = ", ".join(sorted({span.rule.replace("-", " ") for span in found}))
        reason = (
            f"A secret does not belong in memory ({kinds}). If it is live, revoke it: agents have read it."
        )
        cited = (from_memory(path, line_no, quote, "shown without the secret"),)
        if rec.operation("edit", [Change(path, after, reason, citations=cited)]):
            rec.count("redacted", len(found))
            rec.note(f"Proposed to remove {plural(len(found), 'secret')} from {path}.")
