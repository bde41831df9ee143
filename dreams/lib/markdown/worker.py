"""The process that turns Markdown into HTML: one JSON line in, lines out until one has `html`. Run by `process`.

For some texts the library needs far more than linear time (9,000 times `[` took 21 s). A timer of processor time stops
it here; if that fails, the parent ends the process.
"""

import json
import resource
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

from dreams.lib.markdown.converter import Resolver, converter

SECONDS = 1.0  # of processor time for one text; a note of 25 KB takes about 0.05
MOST_BYTES = 512 * 1024 * 1024  # of memory; chosen


class _TooLong(BaseException):
    """Not an Exception, so that the library does not catch it."""


def _stop(signum: int, frame: FrameType | None) -> None:
    raise _TooLong


def _send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _ask(name: str) -> str | None:
    """Asks the parent, which knows the addresses."""
    _send({"resolve": name})
    address = json.loads(sys.stdin.readline())["address"]
    return None if address is None else str(address)


def _converted(text: str, resolve: Resolver | None) -> str | None:
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        return converter(resolve).convert(text)
    except (_TooLong, RecursionError, MemoryError):
        return None
    except Exception:
        # A bug of the library with this text, which is then shown as plain text.
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    signal.signal(signal.SIGPROF, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes our input
    # macOS refuses this limit: more is mapped at each start; the time limit remains
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    _send({"ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        html = _converted(asked["text"], _ask if asked["resolves"] else None)
        _send({"html": html})


if __name__ == "__main__":
    main()
