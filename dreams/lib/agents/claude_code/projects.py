"""Finds the memory directories, the transcript folders of each, and the git repository of a working directory, worktrees
included. Pure: no Django, and no git binary."""

import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from dreams.lib.agents.base import (
    FoundProject,
    FoundTranscript,
    FoundUnchanged,
    Mark,
    ProjectKind,
    Scope,
    Skipped,
    printable,
    why,
)
from dreams.lib.agents.claude_code.listing import entries, holds_memories, odd, open_folder, read_small
from dreams.lib.agents.claude_code.sessions import Listed, cwd_of, transcripts_in
from dreams.lib.agents.claude_code.settings import Settings

MAX_SLUG = 200  # the agent's own constant: it cuts a longer path here and adds a hash
_OTHER = re.compile(r"[^A-Za-z0-9]")


def slug_of(path: str) -> str:
    """The slug of a path: NFC, every character outside A-Z, a-z, 0-9 as `-`. Not cut at 200 characters.

    Characters beyond U+FFFF become two dashes, since the agent counts UTF-16 units.
    """
    normal = unicodedata.normalize("NFC", path)
    return _OTHER.sub(lambda m: "--" if ord(m[0]) > 0xFFFF else "-", normal)


def is_slug_of(name: str, path: str) -> bool:
    """Whether a folder of this name may belong to `path`.

    Over 200 characters the agent cuts and adds a hash that differs between its versions: only the first 200 count.
    """
    slug = slug_of(path)
    if len(slug) <= MAX_SLUG:
        return name == slug
    return name.startswith(slug[:MAX_SLUG] + "-")


def folder_name(path: str, existing: Iterable[str]) -> str:
    """The folder name for `path`: one that exists, else its slug (cut at 200 characters)."""
    slug = slug_of(path)
    if len(slug) <= MAX_SLUG:
        return slug
    return min((name for name in existing if is_slug_of(name, path)), default=slug[:MAX_SLUG])


# --- Repositories ----------------------------------------------------------------------------------------------------

_MAX_DEPTH = 64  # folders up to a repository; chosen
_GIT_FILE_BYTES = 4096  # a `.git` file is one line with a path; PATH_MAX
_AGENTS_WORKTREES = (
    "/.claude/worktrees/"  # in a repository: made by the agent for one session, and often removed after it
)


def repository_of(cwd: str) -> str | None:
    """The main folder of the repository that contains `cwd`; for a linked worktree, that of its repository.

    A submodule is a separate repository. None if there is none or `cwd` does not exist.
    """
    try:
        here = os.path.realpath(cwd)
    except OSError:
        return None
    upwards = [here, *map(str, PurePosixPath(here).parents)]
    return next(filter(None, map(_repository_at, upwards[:_MAX_DEPTH])), None)


def made_from(worktree: str) -> str | None:
    """The repository of a worktree that the agent made in it and that is no longer there, from its path."""
    repo, inside, _ = worktree.partition(_AGENTS_WORKTREES)
    return _repository_at(os.path.realpath(repo or "/")) if inside else None


def _repository_at(folder: str) -> str | None:
    dot_git = os.path.join(folder, ".git")
    try:
        mode = os.stat(dot_git, follow_symlinks=False).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode):
        return folder
    if stat.S_ISREG(mode):
        return _main_folder(folder, dot_git) or folder
    return None


def _main_folder(folder: str, dot_git: str) -> str | None:
    """The repository's main folder, from a worktree's `.git` file; None if it is no linked worktree."""
    text = _first_line(dot_git)
    if not text.startswith("gitdir:"):
        return None
    git_dir = os.path.join(folder, text.removeprefix("gitdir:").strip())
    common = _first_line(os.path.join(git_dir, "commondir"))
    if not common:
        return None
    shared = os.path.realpath(os.path.join(git_dir, common))
    return os.path.dirname(shared) if os.path.basename(shared) == ".git" else shared


def _first_line(path: str) -> str:
    try:
        return os.fsdecode(read_small(path, _GIT_FILE_BYTES)).partition("\n")[0].strip()
    except (OSError, ValueError):
        return ""


# --- Projects --------------------------------------------------------------------------------------------------------

MAX_FOLDERS = 100_000  # of projects; chosen
_AGENT_FOLDERS: tuple[tuple[str, Scope], ...] = (("agent-memory", "project"), ("agent-memory-local", "local"))


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder below `projects/`, with facts from its records."""

    path: str
    name: str
    cwd: str | None
    cwd_exists: bool
    repo: str | None
    has_sessions: bool
    has_memories: bool


@dataclass(slots=True)
class _Draft:
    """A project while its folders are gathered."""

    memory_dir: str
    slug: str
    folders: list[_Folder] = field(default_factory=list)


class Projects:
    """Finds the projects of one root. `cwds` maps transcript folders to the cwd the caller knows."""

    def __init__(
        self,
        root: str,
        settings: Settings,
        trusted: Callable[[str], bool],
        cwds: Callable[[str], str | None],
        listed: dict[str, list[Listed]],
    ) -> None:
        """`listed` is filled with the listing of each transcript folder, so that it need not be listed again."""
        self._root, self._settings, self._trusted, self._cwds = root, settings, trusted, cwds
        self._listed = listed
        self._known: Set[Mark] = frozenset()
        self._base = os.path.join(root, "projects")
        self._repos: dict[str, str | None] = {}
        self._skipped: list[Skipped] = []

    def find(self, known: Set[Mark] = frozenset()) -> Iterator[FoundProject | Skipped]:
        self._known = known
        folders = sorted(self._folders(), key=lambda folder: folder.name)
        drafts = self._drafts(folders)
        yield from (_finished(draft) for draft in drafts.values())
        yield from self._agent_memories(folders)
        yield from dict.fromkeys([*self._settings.skipped, *self._skipped])

    def _folders(self) -> Iterator[_Folder]:
        try:
            with open_folder(self._base) as fd:
                for count, entry in enumerate(entries(fd, self._base)):
                    if count >= MAX_FOLDERS:
                        self._skip(self._base, f"more than {MAX_FOLDERS} entries; the rest was not read")
                        return
                    if isinstance(entry, Skipped):
                        self._skipped.append(entry)
                    elif found := self._folder(*entry):
                        yield found
        except FileNotFoundError:
            return
        except OSError as error:
            self._skip(self._base, why(error))

    def _skip(self, path: str, reason: str) -> None:
        self._skipped.append(Skipped(printable(path), reason))

    def _folder(self, name: str, found: os.stat_result) -> _Folder | None:
        path = f"{self._base}/{name}"
        if reason := odd(name, found):
            self._skip(path, reason)
            return None
        if not stat.S_ISDIR(found.st_mode):
            return None
        cwd = self._cwds(path)
        # While the working directory is unknown, the newest transcripts are needed, known or not.
        sessions = self._transcripts(path, self._known if cwd else frozenset())
        memory = f"{path}/memory"
        has_dir = os.path.isdir(memory)
        if not sessions and not has_dir:
            return None
        cwd = cwd or cwd_of(_newest_first(sessions))
        exists = cwd is not None and os.path.isdir(cwd)
        repo = (self._repository(cwd) if exists else made_from(cwd)) if cwd else None
        used = has_dir and holds_memories(memory)
        return _Folder(path, name, cwd, exists, repo, bool(sessions), used)

    def _transcripts(self, path: str, known: Set[Mark]) -> list[FoundTranscript | FoundUnchanged]:
        found = self._listed[path] = list(transcripts_in(path, known))
        # The folder itself; its files are reported with the transcripts.
        here = printable(path)
        self._skipped += [entry for entry in found if isinstance(entry, Skipped) and entry.path == here]
        return [entry for entry in found if isinstance(entry, FoundTranscript | FoundUnchanged)]

    def _repository(self, cwd: str) -> str | None:
        if cwd not in self._repos:
            self._repos[cwd] = repository_of(cwd)
        return self._repos[cwd]

    def _drafts(self, folders: list[_Folder]) -> dict[str, _Draft]:
        names = {folder.name.lower(): folder.name for folder in folders}
        drafts: dict[str, _Draft] = {}
        for folder in folders:
            memory_dir, source = self._memory_dir(folder, names)
            slug = (
                os.path.basename(os.path.dirname(memory_dir)) if source == "default" else slug_of(memory_dir)
            )
            draft = drafts.setdefault(memory_dir, _Draft(memory_dir, slug))
            draft.folders.append(folder)
            if folder.has_memories and source != "default":
                left = f"{folder.path}/memory"
                drafts.setdefault(left, _Draft(left, folder.name))
        return drafts

    def _memory_dir(self, folder: _Folder, names: Mapping[str, str]) -> tuple[str, str]:
        home = folder.repo or (folder.cwd if folder.cwd_exists else None)
        trusted = home is not None and self._trusted(home)
        named, refused = self._settings.memory_directory(home, trusted=trusted)
        self._skipped.extend(refused)
        if named is not None:
            return named.value, named.source
        own = f"{folder.path}/memory"
        if folder.repo is None or folder.has_memories:
            return own, "default"
        return (
            f"{self._base}/{self._spelt(folder_name(folder.repo, names.values()), names)}/memory",
            "default",
        )

    def _spelt(self, name: str, names: Mapping[str, str]) -> str:
        """A folder's name as it is on disk: one that ignores case also finds it by another spelling of the repository."""
        spelt = names.get(name.lower(), name)
        with suppress(OSError):
            if spelt != name and os.path.samefile(f"{self._base}/{spelt}", f"{self._base}/{name}"):
                return spelt
        return name

    def _agent_memories(self, folders: list[_Folder]) -> Iterator[FoundProject | Skipped]:
        yield from _agents_in(os.path.join(self._root, "agent-memory"), "user", None, ())
        homes: dict[str, list[str]] = {}
        for folder in folders:
            home = folder.repo or (folder.cwd if folder.cwd_exists else None)
            if home:
                homes.setdefault(home, []).append(folder.path)
        for home, paths in homes.items():
            for name, scope in _AGENT_FOLDERS:
                base = os.path.join(home, ".claude", name)
                if self._trusted(home):
                    yield from _agents_in(base, scope, home, tuple(paths))
                elif os.path.isdir(base):
                    yield Skipped(
                        printable(base), "agents’ memories in a repository are read once it is trusted"
                    )


def _newest_first(found: list[FoundTranscript | FoundUnchanged]) -> list[str]:
    """Paths of the new or changed transcripts, newest first; those of sub-agents after all others."""
    told = [entry for entry in found if isinstance(entry, FoundTranscript)]
    return [t.path for t in sorted(told, key=lambda t: (t.kind != "main", -t.mtime_ns))]


def _finished(draft: _Draft) -> FoundProject:
    main = min(draft.folders, key=lambda f: (f.cwd != f.repo, not f.cwd_exists, f.name), default=None)
    return FoundProject(
        memory_dir=draft.memory_dir,
        slug=draft.slug,
        transcript_folders=tuple(f.path for f in draft.folders if f.has_sessions),
        repo=main.repo if main else None,
        cwd=main.cwd if main else None,
        cwd_exists=main.cwd_exists if main else False,
    )


def _agents_in(
    base: str, scope: Scope, home: str | None, folders: tuple[str, ...]
) -> Iterator[FoundProject | Skipped]:
    kind: ProjectKind = "agent"
    try:
        with open_folder(base) as fd:
            found = list(entries(fd, base))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield Skipped(printable(base), why(error))
        return
    for entry in found:
        if isinstance(entry, Skipped):
            yield entry
            continue
        name, st = entry
        path = f"{base}/{name}"
        if reason := odd(name, st):
            yield Skipped(printable(path), reason)
        elif stat.S_ISDIR(st.st_mode):
            yield FoundProject(
                memory_dir=path,
                slug=slug_of(path),
                transcript_folders=folders,
                repo=home,
                cwd=home,
                cwd_exists=home is not None,
                kind=kind,
                scope=scope,
                agent=name,
            )
