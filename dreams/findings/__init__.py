"""Checks of a change: what it loses, whether its evidence holds, what looks unsafe. PURE.

`examine` checks a change, `health` a directory as it is. Both import the checks only when called, as building their patterns
takes half a second.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dreams.findings.base import FindingsReport, NewFinding, RemovedLine, Repeated, Subject

if TYPE_CHECKING:
    from dreams.conf import Config


def examine(subject: Subject) -> FindingsReport:
    """Findings, worst first, and a ledger row for each removed line with content. Never raises."""
    from dreams.findings import examining  # noqa: PLC0415 - see the module's words

    return examining.examine(subject)


def examine_undo(subject: Subject) -> FindingsReport:
    """Findings on an undo, which marks each removed line as undone."""
    from dreams.findings import examining  # noqa: PLC0415 - as above

    return examining.examine_undo(subject)


def health(
    files: Mapping[str, bytes],
    config: "Config | None" = None,
    instructions: Mapping[str, str] | None = None,
    repeated: Sequence[Repeated] = (),
    scope: str = "",
) -> FindingsReport:
    """Findings on a directory as it is, without a change; `examining` lists the checks."""
    from dreams.findings import examining  # noqa: PLC0415 - as above

    return examining.health(files, config, instructions, repeated, scope)
