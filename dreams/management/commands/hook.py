"""`hook session-end`: called by the agent after a session; `hook remove`: removes our entry from the agent's settings."""

import sys
from pathlib import Path

from dreams.management import base, named
from dreams.services import agent_settings, discovery


class Command(base.Command):
    help = "The agent's hook: tell a running memoryweb that a session ended, or remove the hook."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "action",
            choices=("session-end", "remove"),
            help="session-end: for the agent, ids on stdin (manage.py answers it itself); remove: take the hook out",
        )

    def run(self, options: base.Options) -> base.Result:
        if options["action"] == "session-end":
            from memoryweb import session_hook  # noqa: PLC0415 - ends the process

            session_hook.run(sys.argv[3:])
        return {"removed": [str(root) for root in map(Path, discovery.configured_roots()) if _remove(root)]}

    def words(self, result: base.Result) -> base.Words:
        if not result["removed"]:
            yield "The hook is in no settings."
        for root in result["removed"]:
            yield f"Removed from {root}/{agent_settings.NAME}."


def _remove(root: Path) -> bool:
    change = agent_settings.without_hook(root)
    return not change.is_empty and agent_settings.remove_hook(root, change.shown, named.me().name)
