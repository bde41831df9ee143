"""`verify [PROJECT]`: read back everything that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from dreams import lookup, verifying
from dreams.management.base import BadUsage, Refused
from dreams.management.base import Command as BaseCommand
from dreams.models import Project
from dreams.text import plural


class Command(BaseCommand):
    help = "Read back every stored version, journal and audit entry, and name what is damaged. Exit 1 if anything is."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "project", nargs="?", metavar="PROJECT", help="a slug, a memory directory or an id"
        )

    def run(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        report = verifying.verify(_project(options["project"]))
        result = {
            "ok": not report.problems,
            "checked": report.checked,
            "problems": [asdict(damage) for damage in report.problems],
        }
        if report.problems:
            raise Refused(f"{plural(len(report.problems), 'thing is', 'things are')} damaged.", result)
        return result

    def words(self, result: Mapping[str, Any]) -> Iterable[str]:
        yield "Read: " + ", ".join(f"{count:,} {kind}" for kind, count in result["checked"].items()) + "."
        for damage in result["problems"]:
            yield f"{damage['what']} ({damage['where']})"
            yield f"  {damage['remedy']}"
        if result["ok"]:
            yield "All of it is as it was written."


def _project(name: str | None) -> Project | None:
    if name is None:
        return None
    try:
        return lookup.project(name)
    except lookup.Ambiguous as error:
        raise BadUsage(str(error)) from error
    except lookup.Unknown as error:
        raise Refused(str(error)) from error
