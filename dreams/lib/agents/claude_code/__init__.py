"""Reads the config folder of Claude Code; the modules of this package have the details. Pure: no Django."""

import os
from collections.abc import Callable, Iterator, Mapping, Set

from dreams.lib.agents.base import (
    AgentSettings,
    FoundMemory,
    FoundProject,
    FoundRoot,
    InstructionFile,
    LiveSession,
    Mark,
    Skipped,
)
from dreams.lib.agents.claude_code.instructions import MANAGED, Folder, instruction_files
from dreams.lib.agents.claude_code.listing import memories_in
from dreams.lib.agents.claude_code.projects import Projects, folder_name, is_slug_of, slug_of
from dreams.lib.agents.claude_code.sessions import Listed, live_sessions, transcripts_in
from dreams.lib.agents.claude_code.settings import MANAGED_FILES, Settings
from dreams.lib.process import is_alive


class ClaudeCode:
    """One config folder of Claude Code.

    `trusted` tells whether the person trusts a project folder's own settings; `cwds` maps a transcript folder to the cwd
    the caller knows, so that it is not read again; `alive` tells whether a process runs. Settings are read
    once, at the start: make a new object for each discovery.
    """

    name = "claude-code"

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        env: Mapping[str, str] | None = None,
        home: str | None = None,
        managed_files: tuple[str, ...] = MANAGED_FILES,
        managed_instructions: tuple[str, ...] = MANAGED,
        trusted: Callable[[str], bool] = lambda _folder: False,
        cwds: Callable[[str], str | None] = lambda _folder: None,
        alive: Callable[[int], bool] = is_alive,
    ) -> None:
        path = os.path.abspath(os.fspath(root))
        # A configured root may be a link, resolved here, once; below it no link is followed.
        self.root = FoundRoot(self.name, path, os.path.realpath(path))
        self._real = self.root.real_path
        self._managed_instructions = managed_instructions
        self._trusted, self._cwds, self._alive = trusted, cwds, alive
        env = os.environ if env is None else env
        self._home = home or os.path.expanduser("~")
        self._settings = Settings(self._real, env, self._home, managed_files)
        # The listings made while finding projects, reused when their transcripts are read.
        self._listed: dict[str, list[Listed]] = {}

    def projects(self, known: Set[Mark] = frozenset()) -> Iterator[FoundProject | Skipped]:
        projects = Projects(self._real, self._settings, self._trusted, self._cwds, self._listed)
        return projects.find(known)

    def transcripts(self, folder: str) -> Iterator[Listed]:
        listed = self._listed.pop(folder, None)
        return transcripts_in(folder) if listed is None else iter(listed)

    def memories(self, memory_dir: str) -> Iterator[FoundMemory | Skipped]:
        return memories_in(memory_dir)

    def live_sessions(self) -> Iterator[LiveSession | Skipped]:
        return live_sessions(self._real, self._alive)

    def settings(self, project_dir: str | None = None) -> AgentSettings:
        return self._settings.effective(project_dir)

    def instruction_files(
        self, cwd: str, *, repo: str = "", trusted: bool = False, conditional: bool = True
    ) -> list[InstructionFile]:
        folder = Folder(
            cwd,
            self._real,
            self._managed_instructions,
            boundary=repo,
            home=self._home,
            trusted=trusted,
        )
        return instruction_files(folder, conditional=conditional)
