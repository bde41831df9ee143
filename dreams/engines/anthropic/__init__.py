"""The engine that asks a model, over the Messages API.

Reading order: `engine` (the entry point), `loop` (turns and stop reasons), `retrying` (retries of one turn, and what
a failure means), `client` (one request, cancellable), `stream` (events → a complete reply). The client library is
imported only while a dream runs, and the engine itself by its name in `engines`: a price needs neither.
"""

from dreams.engines.anthropic.retrying import Patience
from dreams.engines.tokens import Rate

from .keys import Endpoint, endpoint
