"""Checks over a change: what it loses, whether its evidence holds, what looks unsafe. PURE.

`examine` looks at a change, `health` at a directory as it stands. The checks are imported when one of the two is asked
for: their patterns take half a second to build, which every command would pay that only cuts a secret out of a text.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dreams.findings.base import FindingsReport, NewFinding, RemovedLine, Repeated, Subject

if TYPE_CHECKING:
    from dreams.conf import Config


def examine(subject: Subject) -> FindingsReport:
    """Findings, worst first, and a ledger row for each removed line that says something. Never raises."""
    from dreams.findings import examining  # noqa: PLC0415 - see the module's words

    return examining.examine(subject)


def examine_undo(subject: Subject) -> FindingsReport:
    """What is said of an undo: of each removed line that it is undone, and what the texts bring that come back."""
    from dreams.findings import examining  # noqa: PLC0415 - as above

    return examining.examine_undo(subject)


def health(
    files: Mapping[str, bytes],
    config: "Config | None" = None,
    instructions: Mapping[str, str] | None = None,
    repeated: Sequence[Repeated] = (),
    scope: str = "",
) -> FindingsReport:
    """Findings on a directory as it stands, with no change; `examining` lists the checks."""
    from dreams.findings import examining  # noqa: PLC0415 - as above

    return examining.health(files, config, instructions, repeated, scope)
