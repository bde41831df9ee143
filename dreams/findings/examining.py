"""Runs all checks; one that fails is reported and does not stop the others. PURE."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from dreams.conf import Config
from dreams.findings import (
    committed,
    dates,
    evidence,
    index_limits,
    invisible,
    prompt_injection,
    regression,
    scope,
    secrets,
    taxonomy,
)
from dreams.findings.base import (
    SEVERITIES,
    Check,
    FindingsReport,
    MessageParts,
    NewFinding,
    RemovedLine,
    Repeated,
    Subject,
)
from dreams.findings.ledger import accounting
from dreams.findings.ledger.units import has_content
from dreams.findings.prompt_injection.weighing import ADVICE
from dreams.lib import progress
from dreams.lib.files.text import decode
from dreams.lib.process import without_collecting
from dreams.lib.secrets.forms import spoken
from dreams.lib.secrets.redact import key_blocks, redact_all, secrets_in, without_keys

Result = TypeVar("Result")
MAX_FINDINGS = 2000  # of one report; blocking findings beyond it are combined, never left out
CHECKS: tuple[tuple[str, Check], ...] = (
    ("scope", scope.check),
    ("secrets", secrets.check),
    ("invisible", invisible.check),
    ("evidence", evidence.check),
    ("dates", dates.check),
    ("injection", prompt_injection.check),
    ("budget", index_limits.check),
    ("taxonomy", taxonomy.check),
    ("committed", committed.check),
    ("regression", regression.check),
)
STANDING: tuple[tuple[str, Check], ...] = (
    ("scope", scope.standing),
    ("secrets", secrets.standing),
    ("invisible", invisible.standing),
    ("dates", dates.standing),
    ("injection", prompt_injection.standing),
    ("budget", index_limits.standing),
    ("taxonomy", taxonomy.standing),
    ("committed", committed.standing),
)


@without_collecting(much_stays=False)
def examine(subject: Subject) -> FindingsReport:
    """Findings, worst first, and a ledger row for each removed line with content. Never raises."""
    traced, unfollowed = _tried("ledger", accounting.account, subject)
    (lost, rows), (judged, unheard) = traced or ([], []), _tried("sessions", evidence.judge, subject)
    found = evidence.weighed(_run(CHECKS, subject), judged or [], subject)
    every = [*lost, *unfollowed, *found, *unheard]
    return FindingsReport(_ordered(every, subject), tuple(rows), tuple(judged or ()))


UNDONE = "This change was undone."


def examine_undo(subject: Subject) -> FindingsReport:
    """As `examine`, for an undo: it removes what was applied and restores what was there before, so losses and evidence are not
    checked. Secrets, hidden text and the like are."""
    rows = [
        RemovedLine(hunk.path, hunk.hunk_id, line, "stated", note=UNDONE)
        for hunk in subject.hunks
        for line in hunk.removed
        if has_content(line)
    ]
    checks = [(name, check) for name, check in CHECKS if check not in (evidence.check, regression.check)]
    return FindingsReport(_ordered(_run(checks, subject), subject), tuple(rows))


def health(
    files: Mapping[str, bytes],
    config: Config | None = None,
    instructions: Mapping[str, str] | None = None,
    repeated: Sequence[Repeated] = (),
    scope: str = "",
) -> FindingsReport:
    """Findings on a directory as it is, without a change."""
    subject = Subject(files, files, (), config or Config(), instructions or {}, scope, repeated)
    return FindingsReport(_ordered(_run(STANDING, subject), subject))


def _tried(
    name: str, check: Callable[[Subject], Result], subject: Subject
) -> tuple[Result | None, list[NewFinding]]:
    """The result of a check; None and a finding if it failed."""
    try:
        return check(subject), []
    except Exception as error:
        return None, [_failed(name, error)]


def _run(checks: Iterable[tuple[str, Check]], subject: Subject) -> list[NewFinding]:
    found: list[NewFinding] = []
    for name, check in checks:
        progress.step("Checking changes")
        try:
            found += check(subject)
        except Exception as error:
            found.append(_failed(name, error))
    return found


def _failed(name: str, error: Exception) -> NewFinding:
    """A finding that says that this check failed."""
    why = type(error).__name__
    remedy = "Check the change carefully before you confirm it, and report this error."
    return NewFinding(name, "check-failed", "block", f"Could not check {name}: {why}.", remedy, about=why)


def _ordered(found: list[NewFinding], subject: Subject) -> tuple[NewFinding, ...]:
    """Findings without repetition and with secrets masked, worst first."""
    keys = keys_in(subject)
    bare = redact_all([each.message for each in found])
    found = [_without_secrets(each, told, keys) for each, told in zip(found, bare, strict=True)]
    once = {each.key: each for each in reversed(found)}
    kept = [each for each in found if once.get(each.key) is each]
    kept.sort(key=lambda each: SEVERITIES.index(each.severity))
    if len(kept) <= MAX_FINDINGS:
        return tuple(kept)
    binding, times = [each for each in kept if each.blocks], Counter(each.code for each in kept)
    if len(binding) > MAX_FINDINGS:
        return tuple(_together(binding))
    # What is rare is not left out for what is found everywhere.
    rest = sorted(
        _together(kept[len(binding) :]), key=lambda each: (SEVERITIES.index(each.severity), times[each.code])
    )
    return (*binding, *rest)[:MAX_FINDINGS]


def keys_in(subject: Subject) -> str:
    """The private key blocks of both states, and all secrets of the files that change, or without a change of all: other lines need
    not call them so."""
    states = subject.before, subject.after
    every = {data for files in states for data in files.values()}
    changed = {files.get(hunk.path, b"") for hunk in subject.hunks for files in states}
    told = (value for data in changed or every for value in secrets_in(data))
    return "\n".join([key_blocks(map(decode, every)), *told])


def _without_secrets(found: NewFinding, bare: str, keys: str) -> NewFinding:
    """A finding without secrets: it is stored, printed and sent, and checks quote lines. `bare` is its redacted message."""
    if (message := without_keys(bare, keys) if keys else bare) == found.message:
        return found
    told = found.message_parts
    parts = (without_keys(each, keys) for each in (told.statement, told.remark, told.detail))
    return replace(found, message=message, message_parts=MessageParts(*parts))


def _together(found: Sequence[NewFinding]) -> Iterator[NewFinding]:
    """One finding for all of a kind in one change, so that no loss beyond the limit is missed."""
    groups: dict[tuple[str, ...], list[NewFinding]] = {}
    for each in found:
        groups.setdefault((each.severity, each.check, each.code, each.path, each.hunk_id), []).append(each)
    for first, *more in groups.values():
        message = f"{first.message} This also applies to {len(more):,} more here." if more else first.message
        # A confirmation is only valid for exactly these.
        about = " ".join(each.key for each in (first, *more)) if more else first.about
        yield replace(
            first, message=message, about=about, message_parts=MessageParts() if more else first.message_parts
        )


RULES = {
    # ledger
    "unexplained-loss": "Every removed statement must appear somewhere else, or be replaced by what a person said.",
    "superseded": "A line may be replaced if a quote of the code, another memory or a person has what is new.",
    "reworded": "A reworded statement must keep every meaningful word.",
    "another-heading": "A statement is said of what its heading names.",
    "another-order": "The numbers of a list say what comes first.",
    "now-contradicts": "A statement that is in two places is changed in both, or in neither.",
    "stated-without-evidence": "The reason for a removal must be a quote, or follow from the files.",
    "removed-by-hand": "What a person removes is recorded and never refused.",
    # evidence
    "quote-not-found": "A quote must appear word for word in the place it cites.",
    "no-evidence": "Every word of a new statement must be in a memory or in a quote.",
    "words-without-source": "Every word of a new statement must be in a memory or in a quote.",
    "says-otherwise": "A new statement must not contradict its sources, or give a different value for the same thing.",
    "only-tool-output": "Tool output and web pages are not a person’s statement.",
    "only-log": "An agent’s log is not a person’s statement.",
    "sessions-left-out": "Sessions that could not be read in time are named.",
    # dates
    "date-changed": "A date must be the date in its source.",
    "date-without-source": "A date must be in a source, or follow from the day it was said.",
    "date-relative": "A relative date in a memory changes its meaning over time.",
    # names, kinds and places of files
    "control-file": "A memory must not be a file that configures a program.",
    "hard-linked": "A file with several hard links is never changed.",
    "irregular": "A memory must be a plain file.",
    "log-changed": "Logs are append-only.",
    "name-collides": "Names must differ in more than case or accents.",
    "name-unfit": "Names must work on every system.",
    "not-markdown": "A memory must be a Markdown file.",
    "path-outside": "A change must stay inside its memory directory.",
    "pinned-changed": "A pinned memory is never removed, merged or reworded.",
    "pinned-unasked": "Only a person pins a memory.",
    "no-type": "A memory must have a type.",
    "unknown-type": "A memory must have a known type.",
    "wrong-type": "A memory’s type must fit what it says.",
    "reference-holds-content": "A reference should point to content, not contain it.",
    # index
    "index-over-budget": "An agent loads only so many lines and bytes of the index.",
    "long-row": "An index row should be short.",
    "many-memories": "There should not be more memories than a person can keep in view.",
    "never-dreamt": "Many memories should be tidied once in a while.",
    "no-index": "An agent does not find memories without an index.",
    "not-listed": "An agent may not find a memory without an index row.",
    "row-dangles": "An index row must point to a memory.",
    "row-lost": "A memory must keep its row in the index.",
    "answer-linked": "What an agent used for an answer must still be easy to find.",
    "answer-lost": "What an agent used for an answer must still exist.",
    # what memory should not say
    "home-path": "A memory that others read must not name a folder on one machine.",
    "account": "A memory that others read must not name someone’s account.",
    "personal": "A memory that others read must not be about one person.",
    "team-without-evidence": "A memory that others read is only corrected with evidence.",
    "in-code": "Memory should not repeat the code.",
    "in-git": "Memory should not repeat the git history.",
    "in-instructions": "Memory should not repeat an instruction file.",
    "judgement": "Memory should say what to do, not judge people.",
    "task-state": "Memory should not record the progress of a task.",
    "rejected-before": "A change that a person rejected should not return.",
    # what may deceive
    "escape-sequence": "A memory must not have hidden text.",
    "invisible-text": "A memory must not have hidden text.",
    "long-line": "A line must be short enough to be read.",
    "mixed-script": "The letters of a word must be of one script.",
    "new-host": "A new host needs your attention.",
    "new-url": "A new address needs your attention.",
    "unasked-command": "A command that nobody typed needs your attention.",
    "rule-flipped": "A reversed rule needs your attention.",
    "check-failed": "A change that could not be checked may still have problems.",
}  # fmt: skip


def rule_of(check: str, code: str, detail: str = "") -> str:
    """The rule and, if known, what it compared: "… The nearest statement lacks “weekly”."."""
    steers = f"Text that {ADVICE[code][0]} steers whoever reads it." if code in ADVICE else ""
    kind = spoken(code.removeprefix("standing-").removeprefix("secret-"))
    secret = (
        f"A memory must not contain a secret; this one was found by the rule {kind}."
        if check == "secrets"
        else ""
    )
    said = RULES.get(code) or steers or secret or f"{check}: {code}"
    return f"{said} {detail}" if detail else said
