"""Sessions that run now."""

from __future__ import annotations

from dreams.lib.agents.base import LiveSession
from dreams.lib.agents.claude_code import ClaudeCode
from dreams.models import Project


def live_session_ids(project: Project) -> set[str]:
    """Session ids whose process is alive, by the registry of the config folder the project was found below.

    Empty where the agent keeps no registry: then only the age of a transcript tells.
    """
    if not project.root:
        return set()
    found = ClaudeCode(project.root).live_sessions()
    return {entry.session_id for entry in found if isinstance(entry, LiveSession)}
