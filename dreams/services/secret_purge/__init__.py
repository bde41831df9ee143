"""Removes secrets: by a proposal from the files, and by a purge from everything stored, requested by a person and audited.
`locating` finds them.

Each stored text with the secret is replaced by one with `[redacted: rule]`: versions, proposals, edits, quotes, the search
index, journals and the project's git history; copies of the database made before updates are removed. The recorded intention
has only sha256s, so that `resume` can finish after a crash at any step.

Not reached, as the page says: the agent’s transcripts, earlier exports, older backups, and damaged histories that were set aside.
"""

import datetime as dt
import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dreams.findings import secrets
from dreams.lib.files import flush, text, workspace
from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.lib.secrets.redact import values, without
from dreams.lib.secrets.spotting import spans
from dreams.lib.storage import history, journal
from dreams.models import AuditEntry, DreamRun, FileChange, Project, Proposal, Purge
from dreams.services import auditlog, blobs, database, hosts, verifying
from dreams.services.apply import writing
from dreams.services.memories import hand_edits, said_again, syncing, time_travel
from dreams.services.review import Actor
from dreams.services.secret_purge import carried, locating
from dreams.services.secret_purge.locating import Leak, find_secrets

# A proposal that removes the secrets from current memories. Nothing is written before a person submits it.


def propose(project: Project, reviewer: Actor) -> Proposal | None:
    """An open proposal for all memories with a secret; an equal one is used again, as a second one would block every purge.

    None where there is no secret. Raises hand_edits.Stale.
    """
    syncing.refresh(project)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    taken: set[str] = set()
    for memory, data in locating.current_texts(project):
        path, content = memory.path, text.decode(data)
        found = values(content)
        if not found:
            continue
        taken |= found.keys()
        before[path], after[path] = data, text.encode(without(content, found))
    if not after:
        return None
    reason = f"Takes {plural(len(taken), 'secret')} out of {plural(len(after), 'memory', 'memories')}."
    change = hand_edits.HandEdit(Proposal.Origin.REDACTION, "edit", reason, after, before, apart=True)
    return hand_edits.propose(project, change, reviewer)


log = logging.getLogger(__name__)


class PurgeRefused(Refusal):
    """A purge is not possible now; the message says why and what to do first. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Purged:
    """The number of replaced texts; `waits` says why the histories or the journal could not be rewritten yet."""

    texts: int
    waits: tuple[str, ...]


def purge(project: Project, wanted: Collection[str], reviewer: Actor, *, reason: str = "") -> Purged:
    """Remove the secrets with these ids (`Leak.id`) from everything stored for `project`.

    Raises PurgeRefused while one is still in a memory or an open proposal.
    """
    hosts.name_secrets()
    workspace.remove_abandoned(settings.DATA_DIR)
    # Else a damaged text would take the place of the whole one in the history.
    with time_travel.history_if_there(project) or nullcontext() as store:
        if store:
            time_travel.bring_back_texts(project, store)
    texts = _texts(project)
    values = _values(texts.values(), set(wanted))
    if not values:
        raise PurgeRefused("No stored text has that secret any more; there is nothing to purge.")
    return _purge(project, texts, values, reviewer, reason)


def purge_also_here(project: Project, values: Mapping[str, str], reviewer: Actor | None, reason: str) -> int:
    """Remove secrets (value → rule) that were purged elsewhere; returns from how many stored texts of `project`. Raises as
    `purge`, and without a reviewer where there are any."""
    texts = _texts(project) if values else {}
    held = sum(_holds(content, values) for content in texts.values())
    if held and reviewer is None:
        _refuse_if_it_stands(project, values)
        have = f"{plural(held, 'stored text')} {'has' if held == 1 else 'have'} it"
        raise PurgeRefused(f"{have}. Add --purge to remove it for good.")
    return _purge(project, texts, values, reviewer, reason).texts if held and reviewer else 0


def _texts(project: Project) -> dict[str, str]:
    """Also what only the journal has: a text written during an apply becomes a version, another one was never in a file."""
    names = set(project.proposals.values_list("public_id", flat=True))
    plans = {plan for plan in journal.plan_ids(writing.journal_dir()) if plan.rpartition("-")[0] in names}
    try:
        writing.place_late_texts()
        found = {sha: text.decode(data) for sha, data in journal.texts(writing.journal_dir(), plans)}
    except journal.JournalBusy as busy:
        raise PurgeRefused("Another process is writing memory files. Purge once it is done.") from busy
    except OSError as error:
        raise PurgeRefused(flush.refusal(error, writing.journal_dir())) from error
    return found | dict(locating.contents_of(project))


def _purge(
    project: Project, texts: Mapping[str, str], values: Mapping[str, str], reviewer: Actor, reason: str
) -> Purged:
    _refuse_if_it_stands(project, values)
    new = {sha: without(content, values) for sha, content in texts.items() if _holds(content, values)}
    _refuse_if_it_waits(project, new)
    replaced = {sha: text.sha256(text.encode(content)) for sha, content in new.items()}
    said = said_again.with_secrets(project, (texts[sha] for sha in new), values)
    _keep_replacements(project, new)
    database.overwrite_deleted()
    with transaction.atomic():
        made = Purge.objects.create(
            at=timezone.now(),
            actor=reviewer.name,
            by_command=reviewer.by_command,
            reason=without(reason, values),
            replaced=replaced,
            histories=[project.history_key],
        )
        locating.forget_digests(project, replaced, said, values)
        locating.rename(project, replaced)
        locating.drop(sha for sha, content in locating.unnamed() if _holds(content, values))
        locating.scrub(project, values)
        auditlog.record(
            "history.purged",
            actor=reviewer,
            project=project,
            object_id=str(made.pk),
            reason=without(reason, values),
            replaced=replaced,
            host=hosts.host(),
        )
    waits = _finish(made)
    return Purged(len(replaced), waits)


def places_of(project: Project, wanted: Collection[str]) -> list[list[str | int]]:
    """A place of each secret with one of these ids, for other hosts: sha256 of a stored text, start, end."""
    hosts.name_secrets()
    found: dict[str, list[str | int]] = {}
    for sha, content in locating.contents_of(project):
        for span in spans(content):
            name = secrets.fingerprint(content[span.start : span.end])
            if name in wanted and name not in found:
                found[name] = [sha, span.start, span.end]
    return list(found.values())


def ids_at(project: Project, places: Collection[Sequence[str | int]]) -> set[str]:
    """This host's ids of the secrets at these places in stored texts of `project`."""
    hosts.name_secrets()
    asked = {tuple(place) for place in places}
    return {
        secrets.fingerprint(content[span.start : span.end])
        for sha, content in locating.contents_of(project)
        if any(sha == place[0] for place in asked)
        for span in spans(content)
        if (sha, span.start, span.end) in asked
    }


def resume() -> list[str]:
    """Finish interrupted purges; returns a line for each purge."""
    said = []
    for made in Purge.objects.filter(done_at__isnull=True):
        if not _is_ours(made):
            continue
        waits = _finish(made)
        what = plural(len(made.replaced), "text")
        said.append(
            f"A purge of {what} is not finished: {'; '.join(waits)}"
            if waits
            else f"Finished a purge of {what}.{_not_seen(made)}"
        )
    return said


AGAIN = dt.timedelta(minutes=10)  # between two tries of an unfinished purge; chosen


def finish_later(now: dt.datetime | None = None) -> None:
    """In a separate task, as a large history takes long: what a killed process or another one's work has left unfinished. A purge
    of this moment is under way."""
    now = now or timezone.now()
    left = Purge.objects.filter(done_at__isnull=True).exclude(at__range=(now - AGAIN, now))
    if any(map(_is_ours, left)) and cache.add("memoryweb:purges", 1, AGAIN.total_seconds()):
        hosts.enqueue("finish_purges", name="purges")


def _is_ours(made: Purge) -> bool:
    """Whether this host has the history, and so the journal and the log. The audit log names the project of a purge whose
    histories are rewritten; that of a project which adopting a host deleted is left to the host that began it, and to any once
    that one is gone. An older purge does not say which: then the history is where the file is."""
    entries = AuditEntry.objects.filter(action="history.purged", object_id=str(made.pk))
    rows = Project.objects.filter(
        Q(history_key__in=made.histories) | Q(pk__in=entries.values("project_id_was"))
    )
    if owners := set(rows.values_list("host", flat=True)):
        return owners == {hosts.host()}
    known, data = hosts.names().keys(), entries.values_list("data", flat=True).first() or {}
    if begun_on := data.get("host"):
        return begun_on == hosts.host() or begun_on not in known
    return known <= {hosts.host()} or all(_path(key).exists() for key in made.histories)


def _not_seen(made: Purge) -> str:
    """Of a purge that may have been begun on a host that is gone."""
    later = AuditEntry.objects.filter(action="host.adopted", at__gte=made.at)
    former = ", ".join(sorted(set(later.values_list("object_id", flat=True))))
    where = "its data directory was not read, and may still have them"
    return f" If it was begun on {former}, which this host took over: {where}." if former else ""


def _path(key: str) -> Path:
    return syncing.history_folder() / f"{key}.git"


def _values(contents: Collection[str], wanted: Collection[str]) -> dict[str, str]:
    """Secret → rule, for the wanted ids."""
    found: dict[str, str] = {}
    for content in contents:
        for span in spans(content):
            value = content[span.start : span.end]
            if value not in found and secrets.fingerprint(value) in wanted:
                found |= locating.with_lines({value: span.rule})
    return found


def _holds(content: str, values: Collection[str]) -> bool:
    return any(value in content for value in values)


def _refuse_if_it_stands(project: Project, values: Collection[str]) -> None:
    syncing.refresh(project)
    texts = locating.current_texts(project)
    standing = [memory.path for memory, data in texts if _holds(text.decode(data), values)]
    if standing:
        raise PurgeRefused(
            f"It is still in {', '.join(standing[:5])}. Remove it there first (redact), then purge."
        )


def _refuse_if_it_waits(project: Project, texts: Collection[str]) -> None:
    if project.dreams.filter(status=DreamRun.Status.RUNNING).exists():
        raise PurgeRefused(
            "A dream is running, which may have read it and would propose it again. Wait for it, or cancel it."
        )
    waiting = FileChange.objects.filter(proposal__project=project, proposal__state__in=Proposal.UNFINISHED)
    named = waiting.filter(base_sha__in=texts) | waiting.filter(new_sha__in=texts)
    first = named.select_related("proposal").first()
    if first is not None:
        raise PurgeRefused(
            f"The open proposal {first.proposal.public_id} still contains it. Decide on it and submit it first."
        )


def _keep_replacements(project: Project, new: Mapping[str, str]) -> None:
    data = [text.encode(content) for content in new.values()]
    blobs.put_many(data)
    with time_travel.history_if_there(project) or nullcontext() as store:
        if store:
            store.put_many(data)


def _finish(made: Purge) -> tuple[str, ...]:
    """The steps outside the database; returns what still waits, with the reason."""
    waits = []
    for key in list(made.histories):
        try:
            _rewrite(made, key)
        except (history.HistoryError, OSError) as error:
            log.warning("purge %s of history %s: %s", made.pk, key, error)
            waits.append(str(error))
            continue
        made.histories.remove(key)
        made.save(update_fields=["histories"])
    try:
        _rewrite_those_of_none(made)
    except (history.HistoryError, OSError) as error:
        log.warning("purge %s of histories of no project: %s", made.pk, error)
        waits.append(str(error))
    try:
        journal.forget_texts(writing.journal_dir(), list(made.replaced))
    except (journal.JournalBusy, OSError) as error:
        waits.append(flush.refusal(error, "") if isinstance(error, OSError) else f"{error}.")
    if not database.empty_log():
        waits.append("Another process reads the database, whose log still has the texts.")
    if not waits:
        database.forget_copies()
        Purge.objects.filter(pk=made.pk).update(done_at=timezone.now())
    return tuple(waits)


def _rewrite(made: Purge, key: str) -> None:
    project = Project.objects.filter(history_key=key).first()
    if project is None:
        return
    if verifying.is_missing(project):
        raise history.HistoryError(f"{_path(key)} is missing. It may have the texts where it is now")
    kept = blobs.instead_of_purged(project)
    with syncing.open_history(project) as store:
        _replace(made, store, kept)
        carried.note(project, store)


def _rewrite_those_of_none(made: Purge) -> None:
    """Those of rows that adopting a host deleted, whose versions another project may have now."""
    owned = set(Project.objects.values_list("history_key", flat=True))
    left = [path for path in syncing.history_paths() if path.stem not in owned]
    kept = blobs.instead_of_purged() if left else {}
    for path in left:
        with history.HistoryStore(path) as store:
            _replace(made, store, kept)


def _replace(made: Purge, store: history.HistoryStore, kept: Mapping[str, bytes]) -> None:
    store.recover()
    if gone := [old for old in made.replaced if store.has(old)]:
        instead = {old: kept[old] for old in gone if old in kept}
        store.purge(gone, made.reason or "A secret", made.actor or "owner", made.at, instead)
