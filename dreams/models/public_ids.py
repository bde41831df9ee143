"""Public ids: one letter for the kind and eight random characters of 0-9a-z from a secure source."""

import re
import secrets
from functools import partial

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
QUESTION = "q"
PATTERN = re.compile(r"[a-z][0-9a-z]{8}")


def new_id(kind: str) -> str:
    """`kind` is one letter: d for a dream, p for a proposal, c for a card."""
    return kind + "".join(secrets.choice(ALPHABET) for _ in range(8))


dream_id = partial(new_id, "d")
proposal_id = partial(new_id, "p")
question_id = partial(new_id, QUESTION)
card_id = partial(new_id, "c")
job_id = partial(new_id, "j")
request_id = partial(new_id, "r")
