"""`mcp`: an MCP server with one project's memories for an agent, on stdin and stdout."""

import os

from dreams.management import base, named
from dreams.models import Project
from dreams.services import lookup


class Command(base.Command):
    help = "Serve the memories of one project to an agent, over MCP on stdin and stdout. Agents start it themselves."
    has_json = False

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "--project",
            metavar="PROJECT",
            help=f"{named.PROJECT_HELP} (default: the project of the current folder)",
        )

    def run(self, options: base.Options) -> None:
        project = named.any_project(options["project"]) or _here()
        from dreams.management import mcp_server  # noqa: PLC0415 - takes a second to load, and only this command needs it

        mcp_server.server(project).run("stdio")


def _here() -> Project:
    try:
        return lookup.project_at(os.getcwd())  # noqa: PTH109 - as lookup compares paths
    except lookup.Unknown as error:
        raise base.Refused(f"{error} Or name it with --project.") from error
