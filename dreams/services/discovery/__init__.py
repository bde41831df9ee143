"""Reads the agents' folders into the database, idempotently: projects, transcripts, sessions, tokens, prompts, memories.

`discover` reads config folders, `refresh` one project, `watching` reads changes early, and `live_session_ids` reads the
agent's registry of running sessions. Unchanged files are not read again: a listing shows size and time.
"""

from dreams.services.discovery.places import live_session_ids
from dreams.services.discovery.rows import DiscoveryReport, ReadingProgress, Skip, totals
from dreams.services.discovery.run import LAST_LOOK, DiscoveryBusy, configured_roots, discover, refresh
