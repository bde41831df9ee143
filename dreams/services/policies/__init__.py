"""What may be applied without a person.

`rules` are the policies that a person set, `earned` those that memoryweb offered after many like decisions, `routine`
says which changes such an offer can ever be about.
"""

from dreams.services.policies.earned import POLICY_ACTOR, corrected, undone, would_apply
from dreams.services.policies.routine import is_shared
from dreams.services.policies.rules import (
    Automatic,
    accepted,
    action_for,
    automatic,
    operation_of,
    refused,
    table,
)

__all__ = [
    "POLICY_ACTOR",
    "Automatic",
    "accepted",
    "action_for",
    "automatic",
    "corrected",
    "is_shared",
    "operation_of",
    "refused",
    "table",
    "undone",
    "would_apply",
]
