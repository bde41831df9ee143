"""A command that answers JSON lines and nothing else. It needs no database and no settings to fit together."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from django.core.management.base import CommandParser

from dreams.management import base, batch


class BatchCommand(base.Command):
    """Base of `resolve_dates`, `similar` and `check_claims`. Subclasses give `reply`, or `replying` where there is much to open."""

    needs_database = False
    has_json = False  # the answers are JSON lines, asked for or not

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--batch", action="store_true", required=True, help="read JSON lines from standard input"
        )
        parser.add_argument(
            "--json", action="store_true", help="same as without; the output is always JSON lines"
        )

    def run(self, options: Mapping[str, Any]) -> None:
        answer(self.replying(options))

    def replying(self, options: Mapping[str, Any]) -> Callable[[batch.Row], batch.Row]:
        """What answers one line."""
        return self.reply

    def reply(self, row: batch.Row) -> batch.Row:
        """The answer to one line. ValueError refuses the line and says why."""
        raise NotImplementedError


def answer(reply: Callable[[batch.Row], batch.Row]) -> None:
    """Standard input to standard output. Raises BadUsage where there is nothing to read from."""
    if sys.stdin is None:
        raise base.BadUsage("Standard input is closed. Give JSON lines on it.")
    batch.answer(sys.stdin.buffer, sys.stdout, reply)
