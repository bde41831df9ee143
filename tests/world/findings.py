"""A small directory to change, and the findings on the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dreams.engines.types import Citation, Fate
from dreams.findings import FindingsReport, NewFinding, examine
from dreams.findings.directories import between

USER = """---
name: user_role
description: What Ana does and likes
type: user
---

# Ana

- Prefers tabs over spaces in Go code
- Reviews pull requests every Friday
- Never deploys to production after 16:00
"""
DEPLOY = """---
name: deploy
description: How the shop is deployed
metadata:
  type: project
---

The shop runs on PostgreSQL 15. Deploys go through `make ship`.

**Why:** a manual deploy lost orders in 2025-11.
"""
INDEX = """# Memory

- [Ana](user_role.md) — what Ana does and likes
- [Deploy](deploy.md) — how the shop is deployed
- [Gone](gone.md) — the staging server listens on port 8443
"""
FILES = {"MEMORY.md": INDEX.encode(), "user_role.md": USER.encode(), "deploy.md": DEPLOY.encode()}


def changed(path: str, old: str, new: str, files: Mapping[str, bytes] = FILES) -> dict[str, bytes]:
    """`files` with `old` replaced by `new` in one of them; fails if nothing changes."""
    text = files[path].decode()
    assert old in text
    return {**files, path: text.replace(old, new).encode()}


def report(
    after: Mapping[str, bytes],
    before: Mapping[str, bytes] = FILES,
    *,
    citations: tuple[Citation, ...] = (),
    fates: tuple[Fate, ...] = (),
    by_hand: bool = False,
) -> FindingsReport:
    """The findings on a change, each hunk with these citations and claims."""
    subject = between(before, after)
    hunks = [replace(h, citations=citations, fates=fates, by_hand=by_hand) for h in subject.hunks]
    return examine(replace(subject, hunks=hunks))


def codes(found: FindingsReport) -> set[str]:
    return {each.code for each in found.findings}


def one(found: FindingsReport, code: str) -> NewFinding:
    """The only finding with this code."""
    (each,) = [each for each in found.findings if each.code == code]
    return each
