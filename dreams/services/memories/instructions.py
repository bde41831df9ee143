"""Reads a project's instruction files (CLAUDE.md and similar), which agents always load. Read-only and bounded."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dreams.findings.ledger.units import units_of
from dreams.lib.agents import registry
from dreams.lib.agents.base import InstructionFile
from dreams.lib.prose import claims
from dreams.lib.refusal import Refusal
from dreams.lib.secrets.masking import masked
from dreams.models import Memory, Project
from dreams.services import hosts
from dreams.services.memories import syncing

CHARS_A_TOKEN = 4  # a common estimate for English
#: How many statements of memories are compared with the instruction files, and for how long.
MOST_COMPARED, SECONDS = 400, 2.0
_PARAGRAPH = re.compile(r"(?:.*\S.*(?:\n|\Z))+")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A statement of a memory that contradicts a line of an instruction file."""

    file: str
    line: int
    quote: str
    memory: str
    memory_line: int
    statement: str


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """One instruction file with its problems. `name` is the path that is shown."""

    file: InstructionFile
    name: str
    included_by: str
    tokens: int
    contradictions: tuple[Contradiction, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        own = (self.file.problem,) if self.file.problem else ()
        return own + tuple(
            f"line {each.line} contradicted by {each.memory}, line {each.memory_line}"
            for each in self.contradictions
        )


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """The files that an agent loads in a folder. The sums count only those that every session there loads."""

    files: tuple[CheckedFile, ...]

    @property
    def always(self) -> list[CheckedFile]:
        return [one for one in self.files if not one.file.when and not one.file.problem]

    @property
    def bytes(self) -> int:
        return sum(one.file.size for one in self.always)

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.always)


class NoFolder(Refusal):
    """The folder does not exist or is not in the project; the message says so."""


def files(project: Project, folder: str = "", *, conditional: bool = True) -> list[InstructionFile]:
    """The files that an agent loads in `folder` (default: the repository), in loading order. Raises NoFolder.

    Empty if the project has no repository or is on another host. Includes unreadable files, with the problem.
    """
    if not project.repo_dir or not project.root or project.host != hosts.host():
        return []
    cwd = _folder(project, folder)
    try:
        agent = registry.read(project.root)
        return agent.instruction_files(
            str(cwd), repo=project.repo_dir, trusted=_is_trusted(project), conditional=conditional
        )
    except (OSError, ValueError):
        return []


def _is_trusted(project: Project) -> bool:
    """Whether the repository is trusted. This is set on its own project's page and shared by its agents' projects."""
    if project.kind == Project.Kind.AUTO:
        return project.trusted
    return Project.objects.filter(host=project.host, repo_dir=project.repo_dir, trusted=True).exists()


def _folder(project: Project, folder: str) -> Path:
    repo = Path(project.repo_dir)
    if not folder:
        return repo
    cwd = Path(repo, folder)
    try:
        inside = cwd.is_dir() and cwd.resolve().is_relative_to(repo.resolve())
    except (OSError, ValueError):
        inside = False
    if not inside:
        raise NoFolder(f"{folder} is no folder of {project.repo_dir}.")
    return cwd


def report(project: Project, folder: str = "") -> LoadedFiles:
    """The loaded files with sizes and problems. Raises NoFolder."""
    found = files(project, folder)
    against: dict[str, list[Contradiction]] = {}
    for one in contradictions(project, found):
        against.setdefault(one.file, []).append(one)
    return LoadedFiles(
        tuple(
            CheckedFile(
                file,
                # Masked here, as other masks do not know the name of a missing included file.
                masked(shown(project, file.path)),
                masked(shown(project, file.included_by)) if file.included_by else "",
                tokens(file.text),
                tuple(against.get(file.path, ())) if not file.problem else (),
            )
            for file in found
        )
    )


def texts(project: Project) -> dict[str, str]:
    """Shown path → text of the files that every session loads, in loading order."""
    found = files(project, conditional=False)
    return {shown(project, file.path): file.text for file in found if file.text.strip()}


def shown(project: Project, path: str) -> str:
    """`path` relative to the repository or the home directory, else unchanged."""
    home = str(Path(project.root).parent)
    for base, prefix in ((project.repo_dir, ""), (home, "~/")):
        if base and path.startswith(base.rstrip("/") + "/"):
            return prefix + path[len(base.rstrip("/")) + 1 :]
    return path


def tokens(text: str) -> int:
    """The approximate number of tokens."""
    return -(-len(text) // CHARS_A_TOKEN)


def contradictions(project: Project, found: Sequence[InstructionFile]) -> list[Contradiction]:
    """The statements of memories that contradict an instruction file; bounded, newest memories first."""
    told = [(file, _evidence(file.text)) for file in found if file.text.strip()]
    compared, until = 0, time.monotonic() + SECONDS
    made: list[Contradiction] = []
    for memory, data in _topics(project) if told else ():
        for unit in units_of(memory, data):
            if unit.kind not in ("sentence", "row", "table"):
                continue
            compared += 1
            if compared > MOST_COMPARED or time.monotonic() > until:
                return made
            for file, evidence in told:
                said = claims.check(evidence, unit.text)
                if said.answer == "contradicted" and said.evidence:
                    quote = said.evidence[0].quote
                    line = _line_of(file.text, quote, said.evidence[0].line)
                    made.append(Contradiction(file.path, line, quote, memory, unit.first_line, unit.text))
    return made


def _evidence(text: str) -> claims.SessionText:
    made = claims.SessionText()
    for paragraph in _PARAGRAPH.finditer(text):
        made.add(paragraph[0], text.count("\n", 0, paragraph.start()) + 1, "user", prose=True)
    return made


def _line_of(text: str, quote: str, paragraph: int) -> int:
    """The first line from `paragraph` on that contains the start of the quote; `paragraph` if none does."""
    begins = quote.splitlines()[0][:60]
    lines = text.splitlines()[paragraph - 1 :]
    return next((paragraph + at for at, line in enumerate(lines) if begins in line), paragraph)


def _topics(project: Project) -> list[tuple[str, bytes]]:
    rows = project.memories.filter(gone_at__isnull=True, kind=Memory.Kind.TOPIC).order_by("-mtime_ns")
    data: Mapping[str, bytes] = syncing.contents(project)
    return [(path, data[path]) for path in rows.values_list("path", flat=True) if path in data]
