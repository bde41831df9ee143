"""`serve`: the pages and the scheduler in one command."""

from dreams.management import base


class Command(base.Command):
    help = "Start the pages and the scheduler, and print a login link. Ctrl-C stops both."
    has_json = False
    is_watched = True

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "--host", default="127.0.0.1", help="where to listen (default: this machine only)"
        )
        parser.add_argument("--port", type=base.port, help="default: 8765, or the next free one")
        parser.add_argument(
            "--root",
            type=base.some_path,
            action="append",
            default=[],
            metavar="DIR",
            help="an agent's config folder, such as ~/.claude; may be given more than once",
        )
        parser.add_argument("--no-browser", action="store_true", help="do not open a browser")

    def run(self, options: base.Options) -> None:
        from dreams.services.serving import lifecycle  # noqa: PLC0415 - the queue's modules want the database settings checked

        chosen = lifecycle.ServeOptions(
            host=options["host"],
            port=options["port"],
            roots=[base.config_folder(root) for root in options["root"]],
            browser=not options["no_browser"],
        )
        lifecycle.serve(chosen, self._line)

    def _line(self, text: str) -> None:
        # Flushed: the reader of a log file or a pipe waits for the link.
        self.stdout.write(text)
        self.stdout.flush()
