"""Checks over a change: what it loses, whether its evidence holds, what looks unsafe. PURE.

`examine` looks at a change, `health` at a directory as it stands.
"""

from dreams.findings.base import ChangedHunk, Found, Heard, Judged, Report, Row, Subject
from dreams.findings.examining import examine, health

__all__ = ["ChangedHunk", "Found", "Heard", "Judged", "Report", "Row", "Subject", "examine", "health"]
