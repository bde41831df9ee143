"""`proposal DREAM`: what it wants to change, with evidence, findings and ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import CommandParser

from dreams.management import named, shown
from dreams.management.base import Command as BaseCommand


class Command(BaseCommand):
    help = "Show a proposal."

    def arguments(self, parser: CommandParser) -> None:
        named.add_dream(parser)
        parser.add_argument("--diff", action="store_true", help="the lines too")

    def run(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return shown.proposal(named.proposal(options["dream"]), diff=options["diff"] or not options["json"])

    def words(self, result: Mapping[str, Any]) -> Iterable[str]:
        return shown.diff_words(result)
