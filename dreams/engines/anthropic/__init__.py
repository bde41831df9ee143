"""The engine that asks a model, over the Messages API.

Reading order: `engine` (all put together), `loop` (turns and stop reasons), `retrying` (one turn until it is whole,
and what a failure means), `client` (one request, cancellable), `stream` (events → a whole reply). The client
library is imported only while a dream runs, and the engine itself by its name in `engines`: a price needs neither.
"""

from dreams.engines.anthropic.retrying import Patience
from dreams.engines.tokens import Rate

from .keys import Endpoint, endpoint
