"""Public ids: one letter for the kind and eight random characters of 0-9a-z from a secure source."""

import re
import secrets

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
QUESTION = "q"
PATTERN = re.compile(r"[a-z][0-9a-z]{8}")


def new_id(kind: str) -> str:
    """`kind` is one letter: d for a dream, p for a proposal, c for a card."""
    return kind + "".join(secrets.choice(ALPHABET) for _ in range(8))


def dream_id() -> str:
    return new_id("d")


def proposal_id() -> str:
    return new_id("p")


def question_id() -> str:
    return new_id(QUESTION)


def card_id() -> str:
    return new_id("c")


def job_id() -> str:
    return new_id("j")


def request_id() -> str:
    return new_id("r")
