"""What leaves a memory for certain: a secret. Pure but for the recorder."""

from __future__ import annotations

from dreams.engines.rules.notes.tree import NewText, Recorder, from_memory, is_log
from dreams.lib.secrets import redact as redaction
from dreams.lib.secrets.spotting import is_certain, is_for_apps, spans


def redact(rec: Recorder) -> None:
    """One operation for each secret that is certain.

    The checkup names the others and what an app shows to everybody: of ten that were taken out of public directories six
    were none, and most of these were known by a name alone (docs/real-directories.md). Pinned and hand-edited memories, logs
    and what may not be written stay too.
    """
    tree = rec.tree
    for path in sorted(tree.texts):
        if is_log(path) or not tree.writable(path) or tree.settled(path):
            continue
        rec.report.checkpoint()
        text = tree.texts[path]
        found = [span for span in spans(text) if is_certain(text, span) and not is_for_apps(text, span)]
        for span in sorted(found, key=lambda span: span.start - span.end):  # one may be a part of another
            taken = {text[span.start : span.end]: span.rule}
            line_no = text.count("\n", 0, span.start) + 1
            quote = redaction.redact(text.split("\n")[line_no - 1].rstrip("\r"))
            kind = span.rule.replace("-", " ")
            reason = (
                f"A secret does not belong in memory ({kind}). If it is live, revoke it: agents have read it."
            )
            cited = (from_memory(path, line_no, quote, "shown without the secret"),)
            after = redaction.without(tree.texts[path], taken)
            rec.count("redacted", rec.operation("edit", [NewText(path, after, reason, citations=cited)]))
