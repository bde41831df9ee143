"""`cluster`: only the queue. `serve` runs it as a child process; other hosts on the same database can run it alone."""

import os
import sys
from argparse import SUPPRESS

from dreams.management import base


class Command(base.Command):
    help = "Run the queue and the scheduler without the pages (`serve` runs all three)."
    has_json = False

    def arguments(self, parser: base.CommandParser) -> None:
        # Used by `serve`: stop when standard input closes.
        parser.add_argument("--parent-on-stdin", action="store_true", help=SUPPRESS)

    def run(self, options: base.Options) -> None:
        from dreams.services.serving import cluster  # noqa: PLC0415 - the queue's modules want the settings checked

        with_parent = bool(options["parent_on_stdin"])
        if not with_parent and os.getpgid(0) != os.getpid():
            # It kills its process group, which must contain only the queue.
            os.setpgid(0, 0)
        try:
            code = cluster.run(parent=sys.stdin.fileno() if with_parent else None)
        except cluster.AlreadyRuns as error:
            if not with_parent:
                raise
            self.stderr.write(str(error))
            sys.exit(cluster.REFUSED)
        if code:
            sys.exit(code)
