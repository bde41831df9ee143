"""`discover [--root DIR]…`: import the files of agents into the database."""

import dataclasses
import sys
import time

from dreams.lib.files.text import plural
from dreams.management import base
from dreams.services import discovery
from dreams.services.hosts import host

SKIPS_SHOWN = 20  # projects listed by name; chosen


class Command(base.Command):
    help = "Find projects, sessions and memories on disk and update the database."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "--root",
            type=base.some_path,
            action="append",
            metavar="DIR",
            help="an agent's config folder (default: the configured ones); may be given several times",
        )

    def run(self, options: base.Options) -> base.Result:
        roots = [base.config_folder(root) for root in options["root"]] if options["root"] else None
        quiet = options["json"] or not sys.stderr.isatty()
        report = dataclasses.asdict(discovery.discover(roots, progress=None if quiet else _Bar().show))
        return report | {"totals": discovery.totals(host())} if options["json"] else report

    def words(self, result: base.Result) -> base.Words:
        found = (
            plural(result["projects"], "project"),
            plural(result["sessions"], "session"),
            plural(result["memories"], "memory", "memories"),
        )
        read, seconds = result["bytes_read"] / 1e6, result["ms"] / 1000
        yield f"{', '.join(found)}; {read:,.1f} MB of transcripts read, {seconds:.1f} s."
        skipped = result["skipped"]
        if skipped:
            yield ""
            yield from base.table(
                ("Skipped", "Why"), [(s["path"], s["reason"]) for s in skipped[:SKIPS_SHOWN]]
            )
        if len(skipped) > SKIPS_SHOWN:
            yield f"and {len(skipped) - SKIPS_SHOWN:,} more; --json lists all."


class _Bar:
    """The progress on one line of a terminal, updated at most five times a second."""

    def __init__(self) -> None:
        self._last = 0.0

    def show(self, now: discovery.ReadingProgress) -> None:
        done = now.files >= now.files_total
        if not done and time.monotonic() - self._last < 0.2:
            return
        self._last = time.monotonic()
        size = f"{now.bytes / 1e6:,.0f} of {now.bytes_total / 1e6:,.0f} MB"
        sys.stderr.write(f"\r{now.files:,} of {now.files_total:,} files, {size:<30}" + ("\n" if done else ""))
        sys.stderr.flush()
