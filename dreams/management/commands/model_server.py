"""`model_server`: a simulated model on the loopback address, to try the model engine without a key."""

import signal
import threading
from types import FrameType

from dreams.dev.fake_server import NAMED, DemoModel, ModelServer
from dreams.management import base
from memoryweb import typed

DEFAULT_PORT = 8766  # the web server's plus one
LOOK_SECONDS = 0.2  # between two checks whether to stop; chosen


class Command(base.Command):
    help = "Serve a local stand-in for the Messages API that plays a dream from a script, until Ctrl-C."
    needs_database = False
    has_json = False

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("--port", type=base.port, default=DEFAULT_PORT, help="0: any free port")
        parser.add_argument("--like", choices=NAMED, default="anthropic", help="imitate this server")

    def run(self, options: base.Options) -> None:
        try:
            server = ModelServer(DemoModel(), port=options["port"], dialect=NAMED[options["like"]])
        except OSError as error:
            raise base.BadUsage(
                f"Port {options['port']} cannot be used: {error.strerror}. Choose another with --port."
            ) from error
        self._serve(server)

    def _serve(self, server: ModelServer) -> None:
        stop = threading.Event()

        def ask_to_stop(signum: int, frame: FrameType | None) -> None:
            stop.set()

        signal.signal(signal.SIGTERM, ask_to_stop)
        signal.signal(signal.SIGINT, ask_to_stop)
        with server:
            self.stdout.write(server.url)
            self.stdout.flush()
            self.say(
                f"In another terminal: ANTHROPIC_BASE_URL={server.url} {typed('dream')} PROJECT --engine anthropic"
            )
            told = 0
            while not stop.wait(LOOK_SECONDS):
                for seen in server.seen[told:]:
                    self.say(f"{seen.path} {seen.status or 'no answer yet'}")
                told = len(server.seen)
