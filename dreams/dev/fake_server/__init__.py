"""A local server that speaks the Messages API: for tests over real HTTP, and for a demo without a key.

    with ModelServer(Script([Step(say("Done."))])) as server:
        server.url, server.seen

PURE: no Django. The wire format is that of the public API reference: JSON and server-sent events.
"""

from dreams.dev.fake_server.messages import FakeLimits, PromptCache
from dreams.dev.fake_server.scripted_model import DemoModel, Request, Script, ScriptedModel, ScriptedStep

from .dialects import NAMED, Dialect
from .faults import Fault, closed, ended, error_event, garbage, reset, stalled, status
from .messages import ScriptedReply, Text, Think, Use, say, use
from .server import ModelServer
