"""A server of our own that speaks the Messages API on loopback: for tests of real HTTP, and for a demo without a key.

    with WireServer(Script([Step(say("Done."))])) as server:
        server.url, server.seen

PURE: no Django. The wire format is that of the public API reference: JSON and server-sent events.
"""

from .brain import DemoBrain
from .cache import PromptCache, count_tokens
from .dialects import NAMED, Dialect
from .faults import Fault, closed, ended, error_event, garbage, reset, stalled, status
from .messages import Block, Raw, Reply, Text, Think, Use, say, use
from .protocol import Limits
from .script import Brain, Request, Script, Step
from .seen import Seen
from .server import WireServer

__all__ = [
    "NAMED",
    "Block",
    "Brain",
    "DemoBrain",
    "Dialect",
    "Fault",
    "Limits",
    "PromptCache",
    "Raw",
    "Reply",
    "Request",
    "Script",
    "Seen",
    "Step",
    "Text",
    "Think",
    "Use",
    "WireServer",
    "closed",
    "count_tokens",
    "ended",
    "error_event",
    "garbage",
    "reset",
    "say",
    "stalled",
    "status",
    "use",
]
