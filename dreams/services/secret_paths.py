"""Masks secrets in file and folder names in all output, and resolves masks in input.

A name must be stored with its secret, because it is needed to open the file. So all output (pages, commands, answers over
MCP) is masked here last, and names in input are resolved here first.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.db import DatabaseError
from django.db.models import QuerySet
from django.db.models.functions import Length

from dreams.lib.agents.claude_code.projects import slug_of
from dreams.lib.secrets.masking import HIDDEN, Mask
from dreams.lib.secrets.redact import values
from dreams.models import InstructionText, Memory, Project, Session, TranscriptFolder
from dreams.models.prepared import prepared
from dreams.services import database

#: Length of a session id made by an agent; a file that a person named may have a secret in its name.
PLAIN_ID = 36


@dataclass(frozen=True, slots=True)
class SecretPaths:
    """`mask` hides the secrets of all file names; `meant` restores them. No two secrets share a mask."""

    mask: Mask
    _secrets: dict[str, str]

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def meant(self, given: object) -> object:
        """Input with masks replaced by the names on disk, also inside lists and dicts."""
        return Mask(self._secrets).deep(given) if self else given


NONE = SecretPaths(Mask(), {})


@prepared
def _paths() -> QuerySet[Memory, tuple[Any, ...]]:
    projects = Project.objects.filter(secret_in_path=True).order_by()
    # Joined, SQLite would go through all folders on each page.
    folders = TranscriptFolder.objects.filter(project__in=projects).order_by()
    sessions = Session.objects.filter(project__in=projects).order_by()
    sessions = sessions.annotate(letters=Length("session_id")).exclude(letters=PLAIN_ID)
    told = InstructionText.objects.filter(projects__secret_in_path=True).order_by()
    columns = [
        told.values_list("path"),
        sessions.values_list("session_id"),
        *(projects.values_list(name) for name in ("memory_dir", "slug", "root", "repo_dir")),
        *(folders.values_list(name) for name in ("path", "cwd")),
    ]
    return Memory.objects.filter(secret_in_path=True).order_by().values_list("path").union(*columns)


def known() -> SecretPaths:
    """Secrets in names of all memories and folders, even deleted ones, as the audit log has them. NONE without a database."""
    try:
        return _of([path for (path,) in _paths()])
    except DatabaseError:
        return NONE


def mark_folders(found: Iterable[tuple[int, str]]) -> None:
    """Marks the projects whose folders have a secret in their names; `found` are (project id, path) pairs."""
    rows = list(found)
    # Checking all at once takes a tenth of the time, and most machines have no such names.
    texts = ("\n".join(path for _, path in some) for some in database.in_parts(rows, 500))
    secrets = [value for text in texts for value in values(text)]
    marked = {pk for pk, path in rows if any(value in path for value in secrets) and values(path)}
    if marked:
        Project.objects.filter(pk__in=marked).update(secret_in_path=True)


def _of(paths: list[str]) -> SecretPaths:
    # The agent names its folders after the person's, with dashes for everything except letters and digits.
    secrets = {form for path in paths for value in values(path) for form in (value, slug_of(value))}
    found = dict[str, str]()
    for value, short in Mask.hiding(secrets).shown.items():
        hidden = short + HIDDEN[0] * sum(one.startswith(short) for one in found)
        found[hidden] = value
    return SecretPaths(
        Mask({form: hidden for hidden, value in found.items() for form in _forms(value)}), found
    )


def _forms(value: str) -> set[str]:
    """Its forms: plain, in HTML, in HTML with break points, and in a URL."""
    wrapped = "<wbr>".join(map(html.escape, parts(value)))
    return {value, html.escape(value), wrapped, quote(value), quote(value, safe="")}


def parts(name: str) -> list[str]:
    """The parts of a name or path between which a page may wrap it."""
    return re.split(r"(?<=[/_-])(?=[^/_-])", name)
