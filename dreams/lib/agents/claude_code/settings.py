"""The settings of Claude Code that concern memory, with the source of each value. Pure: no Django.

Precedence: environment, managed file, the person's own file, then a project's. A person's explicit value thus wins over
a repository's. The memory *directory* is taken from a project's files only if that project is trusted: a hostile
repository could point it at somebody's keys.
"""

import codecs
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from dreams.lib.agents.transcripts.records import DECODE_ERRORS
from dreams.lib.files.safefs import Root, SafeFsError
from dreams.lib.files.text import is_below

from ..base import AgentSettings, Setting, Skipped, printable, why
from .listing import read_small

DISABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
REMOTE = "CLAUDE_CODE_REMOTE"
OVERRIDE = "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"
CLEANUP_DAYS = 30  # the agent's own default for `cleanupPeriodDays`
LOCAL = "settings.local.json"
_TOO_WIDE = "a memory directory cannot be “/”, your home folder or one above it; it is not used"
MANAGED_FILES = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One settings file's content; `trusted` is true if the person wrote it, not a repository."""

    path: str
    values: Mapping[str, object]
    trusted: bool


def load(path: str, *, trusted: bool) -> SettingsFile | Skipped | None:
    """A settings file; None if it does not exist, Skipped if it cannot be used."""
    try:
        # A person's own file is often a link into their dotfiles; a repository's may lead anywhere.
        values = msgspec.json.decode(read_small(path, follow=trusted).removeprefix(codecs.BOM_UTF8))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Skipped(printable(path), why(error))
    except DECODE_ERRORS:
        return Skipped(printable(path), "not valid JSON; its settings are not used")
    if not isinstance(values, dict):
        return Skipped(printable(path), "not a JSON object; its settings are not used")
    return SettingsFile(path, values, trusted)


class Settings:
    """All settings files that apply to one root, and those a project adds."""

    def __init__(
        self, root: str, env: Mapping[str, str], home: str, managed: tuple[str, ...] = MANAGED_FILES
    ) -> None:
        self._env, self._home = env, home
        self.skipped: list[Skipped] = []
        self.own = [f for path in managed if (f := self._load(path, trusted=True))]
        user = self._load(os.path.join(root, "settings.json"), trusted=True)
        if user:
            self.own.append(user)

    def _load(self, path: str, *, trusted: bool) -> SettingsFile | None:
        found = load(path, trusted=trusted)
        if isinstance(found, Skipped):
            self.skipped.append(found)
            return None
        return found

    def of_project(self, folder: str | None, *, trusted: bool = False) -> list[SettingsFile]:
        """A project's own settings files, the local one first."""
        if not folder:
            return []
        names = (LOCAL, "settings.json")
        found = (self._load(os.path.join(folder, ".claude", name), trusted=trusted) for name in names)
        return [f for f in found if f]

    def effective(self, folder: str | None = None) -> AgentSettings:
        """The settings in effect in a project's folder (None: outside of projects)."""
        files = [*self.own, *self.of_project(folder)]
        return AgentSettings(
            auto_memory=self._auto_memory(files),
            auto_dream=_switch(files, "autoDreamEnabled") or Setting(None),
            cleanup_days=_days(files),
            remote=Setting(_true(self._env.get(REMOTE)), REMOTE) if REMOTE in self._env else Setting(False),
        )

    def _auto_memory(self, files: list[SettingsFile]) -> Setting[bool]:
        for value, source in self._environment(DISABLE):
            if _true(value) or _false(value):
                return Setting(_false(value), source)
        found = _switch(files, "autoMemoryEnabled")
        return Setting(found.value is not False, found.source) if found else Setting(True)

    def _environment(self, name: str) -> Iterator[tuple[str, str]]:
        """A variable's values: from our environment, then from trusted settings."""
        if name in self._env:
            yield self._env[name], name
        for file in self.own:
            block = file.values.get("env")
            value = block.get(name) if isinstance(block, dict) else None
            if isinstance(value, str):
                yield value, f"{name} in {file.path}"

    def memory_directory(
        self, folder: str | None, *, trusted: bool
    ) -> tuple[Setting[str] | None, list[Skipped]]:
        """The directory that the environment or settings choose for a project, and the rejected ones."""
        refused: list[Skipped] = []
        for value, source in self._environment(OVERRIDE):
            if os.path.isabs(value) and "\0" not in value:
                if not self._holds_everything(os.path.normpath(value)):
                    return Setting(os.path.normpath(value), source), refused
                refused.append(Skipped(source, _TOO_WIDE))
        for file in [*self.own, *self.of_project(folder, trusted=trusted)]:
            named = file.values.get("autoMemoryDirectory")
            if named is None:
                continue
            path = self._absolute(named)
            if path is None:
                reason = "autoMemoryDirectory must be an absolute path or begin with ~/; it is not used"
                refused.append(Skipped(printable(file.path), reason))
            elif self._holds_everything(path):
                refused.append(Skipped(printable(file.path), _TOO_WIDE))
            elif file.trusted and not self._is_own(file.path, folder):
                reason = "settings.local.json is trusted only where git ignores it; its autoMemoryDirectory is not used"
                refused.append(Skipped(printable(file.path), reason))
            elif not file.trusted:
                reason = "autoMemoryDirectory is set by the project itself; trust the project to use it"
                refused.append(Skipped(printable(file.path), reason))
            else:
                return Setting(path, file.path), refused
        return None, refused

    def _holds_everything(self, path: str) -> bool:
        """Whether it is "/", the home folder or one above it, or a link there; these are never used for memories."""
        return is_below(os.path.normpath(self._home), path) or is_below(
            os.path.realpath(self._home), os.path.realpath(path)
        )

    def _is_own(self, path: str, folder: str | None) -> bool:
        """Whether the person wrote this file: a project's local file that git does not ignore may be from the repository."""
        if not folder or os.path.basename(path) != LOCAL or not path.startswith(folder):
            return True
        return self._is_ignored(folder, f".claude/{LOCAL}")

    def _is_ignored(self, folder: str, rel: str) -> bool:
        """Whether git ignores it by the repository's rules or by the person's global ones."""
        from dreams.lib.sandbox.ignore import Ignored, Rules  # noqa: PLC0415 - a tenth of every command's start

        try:
            with Root.open(folder) as root:
                if not root.exists(".git"):
                    return False
                ignored = Ignored(root)
                if ignored(rel, False):
                    return True
                if rel in ignored.tracked:
                    return False
        except (OSError, SafeFsError):
            return False
        config = self._env.get("XDG_CONFIG_HOME") or os.path.join(self._home, ".config")
        try:
            rules = Rules(read_small(os.path.join(config, "git", "ignore"), follow=True))
        except OSError:
            return False
        return bool(rules.verdict(rel))

    def _absolute(self, named: object) -> str | None:
        if not isinstance(named, str) or "\0" in named:
            return None
        path = os.path.join(self._home, named[2:]) if named.startswith("~/") else named
        return os.path.normpath(path) if os.path.isabs(path) else None


def _switch(files: list[SettingsFile], name: str) -> Setting[bool | None] | None:
    for file in files:
        value = file.values.get(name)
        if isinstance(value, bool):
            return Setting(value, file.path)
    return None


def _days(files: list[SettingsFile]) -> Setting[int]:
    for file in files:
        value = file.values.get("cleanupPeriodDays")
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return Setting(value, file.path)
    return Setting(CLEANUP_DAYS)


def _true(value: str | None) -> bool:
    return value is not None and value.strip().lower() in ("1", "true", "yes", "on")


def _false(value: str | None) -> bool:
    return value is not None and value.strip().lower() in ("0", "false", "no", "off")
