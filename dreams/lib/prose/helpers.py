"""The helper verbs of English, by what they make of the verb behind them. Pure data, the one place where they stand."""

from __future__ import annotations

IS = frozenset({"is", "are", "am"})
WAS = frozenset({"was", "were"})
BE = IS | WAS | {"be", "been", "being"}
HAVE = frozenset({"have", "has", "had", "having"})
GET = frozenset({"get", "gets", "got", "getting"})
DO = frozenset({"do", "does", "did"})
MODALS = frozenset({"must", "should", "shall", "will", "would", "can", "cannot", "could", "may", "might"})
# What stands behind one of these is no past: "was moved", "has moved", "got moved".
PERFECT_OR_PASSIVE = BE | HAVE | GET
FINITE = IS | WAS | HAVE - {"having"} | DO | MODALS  # one of these begins what is said of a thing
