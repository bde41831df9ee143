"""A local server that speaks the Messages API: for a demo without a key, and for tests over real HTTP.

    with ModelServer(DemoModel()) as server:
        server.url, server.seen

PURE: no Django. The wire format is that of the public API reference: JSON and server-sent events. Tests have scripts and
network faults for it in `tests/world/model_server.py`.
"""

from .dialects import NAMED, Dialect
from .messages import (
    FakeLimits,
    Fault,
    PromptCache,
    ScriptedReply,
    Text,
    Think,
    Use,
    say,
    status,
    use,
)
from .scripted_model import DemoModel, Request, ScriptedModel
from .server import ModelServer
