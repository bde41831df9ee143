"""Runs the checks on a project's current memories, with or without a dream."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Max
from django.utils import timezone

from dreams import conf, findings
from dreams.engines.versions import source_digest
from dreams.findings import index_limits
from dreams.findings.base import FindingsReport, NewFinding
from dreams.lib.files import safefs, text, workspace
from dreams.lib.secrets.redact import redact
from dreams.models import DreamRun, Project
from dreams.services import database, hosts, project_lock
from dreams.services.memories import derivable, instructions, syncing

#: The cache key includes everything that a report depends on, so an old one is never shown for a new state.
KEPT_SECONDS = 24 * 3600
REACH = "Let the user of the server read the folder, or connect its disk again."


@dataclass(frozen=True, slots=True)
class Checkup:
    """The findings, and how many files were checked, including the index."""

    found: tuple[NewFinding, ...]
    files: int

    @property
    def warnings(self) -> int:
        return sum(one.severity != "info" for one in self.found)

    @property
    def sentence(self) -> str:
        """ "1 problem and 39 hints in 110 files.", on the pages and in what a job reports."""
        if not self.files:
            return "No memories to check."
        hints = len(self.found) - self.warnings
        parts = [text.plural(self.warnings, "problem")] if self.warnings else []
        parts += [text.plural(hints, "hint")] if hints else []
        return f"{' and '.join(parts) or 'No problems found'} in {text.plural(self.files, 'file')}."


def check(project: Project) -> Checkup:
    """Check every memory as last seen. The report on the same texts is cached."""
    hosts.name_secrets()
    files = syncing.contents(project)
    config, told = conf.current(project), instructions.texts(project)
    # Another host's repository is not the folder at its path here.
    repo = project.repo_dir if project.host == hosts.host() else ""
    key = _key(project, files, config, f"{told}{project.scope}{derivable.state(repo)}")
    report: FindingsReport | None = cache.get(key)
    if report is None:
        report = findings.health(files, config, told, derivable.by_code(files, repo), project.scope)
        with database.unless_full():
            cache.set(key, report, KEPT_SECONDS)
    dreams = project.dreams.filter(status=DreamRun.Status.COMPLETED).count()
    tidied = dreams + (project.last_consolidated_at is not None)
    found = (*_not_read(project), *report.findings, *index_limits.never_dreamt(files, tidied))
    return Checkup(found, len(files))


def _not_read(project: Project) -> Iterator[NewFinding]:
    """A finding for each file in the directory that is not read, such as one that is too large."""
    seen = list(_on_disk(project))
    yield from seen
    named = {one.path for one in seen}
    for name, why in project.left_alone or ():
        if name not in named:
            message = f"Not read and left as it is: {why}."
            yield NewFinding(
                "reading",
                "left-alone",
                "info",
                message,
                "Replace it by a plain file if it is a memory.",
                name,
            )


def _out_of_reach(project: Project, error: OSError) -> Iterator[NewFinding]:
    """That the folder cannot be read, so that its memories are checked as last seen; nothing if none were."""
    present = project.memories.filter(gone_at__isnull=True)
    if last := present.aggregate(at=Max("versions__at"))["at"]:
        at = f"{timezone.localtime(last):%Y-%m-%d at %H:%M}"
        message = f"Cannot be read now ({error.strerror}), so its memories are checked as last seen, changed last on {at}."
        yield NewFinding("reading", "out-of-reach", "warn", message, REACH)


def _on_disk(project: Project) -> Iterator[NewFinding]:
    """What rows do not say, as it has none: that the folder cannot be read, or memories over the size limit, which have no
    versions."""
    with suppress(project_lock.ProjectElsewhere):
        try:
            with safefs.Root.open(syncing.memory_dir(project)) as root:
                entries = [
                    one for one in root.walk(limit=workspace.MAX_FILES) if isinstance(one, safefs.WalkedFile)
                ]
        except OSError as error:
            yield from _out_of_reach(project, error)
            return
        limit = f"{workspace.MAX_FILE_BYTES >> 20} MB"
        for one in sorted(entries, key=lambda one: one.rel):
            if one.stat.st_size > workspace.MAX_FILE_BYTES and syncing.is_memory(one.rel):
                message = f"Is larger than {limit}, so it is not read and its versions are not kept."
                yield NewFinding(
                    "reading",
                    "too-large",
                    "warn",
                    message,
                    "Split it into smaller memories.",
                    redact(text.storable(one.rel)),
                )


def _key(project: Project, files: Mapping[str, bytes], config: conf.Config, told: str) -> str:
    digest = hashlib.sha256(
        f"{source_digest()}\0{project.pk}\0{config}\0{told}".encode("utf-8", "surrogatepass")
    )
    for path, data in sorted(files.items()):
        digest.update(path.encode("utf-8", "surrogatepass") + hashlib.sha256(data).digest())
    return f"memoryweb:checkup:{digest.hexdigest()}"
