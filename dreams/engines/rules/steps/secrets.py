"""Removes certain secrets. Pure but for the recorder."""

from dreams.engines.drafts import MOST_EVIDENCE
from dreams.engines.rules.notes.tree import NewText, Recorder, from_memory, is_log
from dreams.engines.types import Citation
from dreams.lib.secrets import redact as redaction
from dreams.lib.secrets.spotting import is_certain, is_for_apps, spans

MOST_APART = 5  # secrets of one file; chosen


def redact(rec: Recorder) -> None:
    """Redact each certain secret as one operation; all of a file that lists many as one, as it may be kept on purpose.

    The checkup names uncertain ones and keys that apps show publicly: of ten that were removed from public directories six
    were not secrets, most of them recognized only by a name (docs/real-directories.md). Pinned and hand-edited memories, logs
    and read-only files are not changed.
    """
    tree = rec.tree
    for path in sorted(tree.texts):
        if is_log(path) or not tree.writable(path) or tree.settled(path):
            continue
        rec.report.checkpoint()
        text = tree.texts[path]
        found = [span for span in spans(text) if is_certain(text, span) and not is_for_apps(text, span)]
        found.sort(key=lambda span: span.start - span.end)  # one may contain another
        for part in [found] if len(found) > MOST_APART else [[span] for span in found]:
            taken = {text[span.start : span.end]: span.rule for span in part}
            what, it = ("A secret does", "it") if len(taken) == 1 else ("Secrets do", "them")
            reason = f"{what} not belong in memory. If still valid, revoke {it}: agents have read {it}."
            cited = tuple(_cited(path, text, span.start) for span in part[:MOST_EVIDENCE])
            after = redaction.without(tree.texts[path], taken)
            done = rec.operation("edit", [NewText(path, after, reason, citations=cited)])
            rec.count("redacted", done and len(taken))


def _cited(path: str, text: str, at: int) -> Citation:
    line_no = text.count("\n", 0, at) + 1
    quote = redaction.redact(text.split("\n")[line_no - 1].rstrip("\r"))
    return from_memory(path, line_no, quote, "shown without the secret")
