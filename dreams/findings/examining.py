"""All checks, one after the other; one that fails says so instead of stopping the others. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dreams.conf import Config
from dreams.findings import (
    budget,
    dates,
    evidence,
    injection,
    invisible,
    ledger,
    regression,
    scope,
    secrets,
    taxonomy,
)
from dreams.findings.base import SEVERITIES, Check, Found, Judged, Repeated, Report, Row, Subject, Told
from dreams.lib.secrets.redact import redact

MAX_FINDINGS = 2000  # of one report; what must be confirmed is put together above it, and never left out
_CHECKS: tuple[tuple[str, Check], ...] = (
    ("scope", scope.check),
    ("secrets", secrets.check),
    ("invisible", invisible.check),
    ("evidence", evidence.check),
    ("dates", dates.check),
    ("injection", injection.check),
    ("budget", budget.check),
    ("taxonomy", taxonomy.check),
    ("regression", regression.check),
)
_STANDING: tuple[tuple[str, Check], ...] = (
    ("scope", scope.standing),
    ("secrets", secrets.standing),
    ("invisible", invisible.standing),
    ("dates", dates.standing),
    ("injection", injection.standing),
    ("budget", budget.standing),
    ("taxonomy", taxonomy.standing),
)


def examine(subject: Subject) -> Report:
    """Findings, worst first, and a ledger row for each removed line that says something. Never raises."""
    lost, rows = _accounted(subject)
    judged, failed = _judged(subject)
    found = evidence.weighed(_run(_CHECKS, subject), judged, subject)
    return Report(_ordered([*lost, *found, *failed]), tuple(rows), tuple(judged))


def health(
    files: Mapping[str, bytes],
    config: Config | None = None,
    instructions: str = "",
    repeated: Sequence[Repeated] = (),
) -> Report:
    """Findings on a directory as it stands, with no change: names, secrets, invisible text, injection, dates, budget,
    taxonomy."""
    subject = Subject(files, files, (), config or Config(), instructions, repeated)
    return Report(_ordered(_run(_STANDING, subject)))


def _accounted(subject: Subject) -> tuple[list[Found], list[Row]]:
    try:
        return ledger.account(subject)
    except Exception as error:
        return [_failed("ledger", error)], []


def _judged(subject: Subject) -> tuple[list[Judged], list[Found]]:
    try:
        return evidence.judge(subject), []
    except Exception as error:
        return [], [_failed("sessions", error)]


def _run(checks: Iterable[tuple[str, Check]], subject: Subject) -> list[Found]:
    found: list[Found] = []
    for name, check in checks:
        try:
            found += check(subject)
        except Exception as error:
            found.append(_failed(name, error))
    return found


def _failed(name: str, error: Exception) -> Found:
    """A change that could not be looked at is not a change without findings."""
    return Found(
        name,
        "check-failed",
        "block",
        f"Could not check {name}: {type(error).__name__}.",
        "Check the change carefully before you confirm it, and report this error.",
        about=type(error).__name__,
    )


def _ordered(found: list[Found]) -> tuple[Found, ...]:
    """Worst first, each thing said once, and no secret quoted."""
    found = [_without_secrets(each) for each in found]
    once = {each.key: each for each in reversed(found)}
    kept = [each for each in found if once.get(each.key) is each]
    kept.sort(key=lambda each: SEVERITIES.index(each.severity))
    binding = [each for each in kept if each.blocks]
    if len(binding) <= MAX_FINDINGS:
        return tuple(kept[:MAX_FINDINGS])
    return tuple(_together(binding))


def _without_secrets(found: Found) -> Found:
    """Checks quote lines; what is told is kept, printed and sent, the line itself is not."""
    if (message := redact(found.message)) == found.message:
        return found
    told = Told(*map(redact, (found.told.statement, found.told.remark, found.told.detail)))
    return replace(found, message=message, told=told)


def _together(found: Sequence[Found]) -> Iterator[Found]:
    """One finding for all of a kind in one change: a loss beyond the limit would pass unseen if it were left out."""
    groups: dict[tuple[str, ...], list[Found]] = {}
    for each in found:
        groups.setdefault((each.severity, each.check, each.code, each.path, each.hunk_id), []).append(each)
    for first, *more in groups.values():
        message = f"{first.message} This also applies to {len(more):,} more here." if more else first.message
        # What was confirmed of fewer, or of others, is not confirmed of these.
        about = " ".join(each.key for each in (first, *more)) if more else first.about
        yield replace(first, message=message, about=about, told=Told() if more else first.told)
