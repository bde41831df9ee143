"""What leaves a memory for certain: a secret. Pure but for the recorder."""

from dreams.engines.drafts import MOST_EVIDENCE
from dreams.engines.rules.notes.tree import NewText, Recorder, from_memory, is_log
from dreams.engines.types import Citation
from dreams.lib.secrets import redact as redaction
from dreams.lib.secrets.spotting import is_certain, is_for_apps, spans

MOST_APART = 5  # secrets of one file; chosen


def redact(rec: Recorder) -> None:
    """One operation for each secret that is certain; one for all of a file that lists many, as a person may keep it on purpose.

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
        found.sort(key=lambda span: span.start - span.end)  # one may be a part of another
        for part in [found] if len(found) > MOST_APART else [[span] for span in found]:
            taken = {text[span.start : span.end]: span.rule for span in part}
            rules = ", ".join(dict.fromkeys(span.rule.replace("-", " ") for span in part))
            reason = f"A secret does not belong in memory ({rules}). If it is live, revoke it: agents have read it."
            cited = tuple(_cited(path, text, span.start) for span in part[:MOST_EVIDENCE])
            after = redaction.without(tree.texts[path], taken)
            done = rec.operation("edit", [NewText(path, after, reason, citations=cited)])
            rec.count("redacted", done and len(taken))


def _cited(path: str, text: str, at: int) -> Citation:
    line_no = text.count("\n", 0, at) + 1
    quote = redaction.redact(text.split("\n")[line_no - 1].rstrip("\r"))
    return from_memory(path, line_no, quote, "shown without the secret")
