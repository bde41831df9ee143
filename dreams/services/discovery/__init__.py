"""Reads the agents' folders into the database, idempotently: projects, transcripts, sessions, tokens, prompts, memories.

`discover` looks at whole config folders, `refresh` at one project, `watching` has changes looked at early,
`live_session_ids` looks at the agent's registry of
running sessions. What did not change is not read again: a listing and its numbers decide.
"""

from dreams.services.discovery.places import live_session_ids
from dreams.services.discovery.rows import DiscoveryReport, ReadingProgress, totals
from dreams.services.discovery.run import LAST_LOOK, DiscoveryBusy, configured_roots, discover, refresh
