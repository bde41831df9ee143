"""Runs a plan: check, write ahead, stage, swap, commit, finish; undoes it on any failure before the commit."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dreams.lib import progress
from dreams.lib.files import flush
from dreams.lib.files.safefs import SafeFsError
from dreams.lib.storage.journal.plan import End, Outcome, ResolvedPlan
from dreams.lib.storage.journal.swap import Work, make_dirs, stage

from .plan import Applied, Conflict, JournalBusy, JournalDamaged, Plan, Result, Status
from .resolving import CheckedPlan, PlanBase, check
from .store import Journal, attempts, begin, locked, unfinished
from .swap import Raced, finish, swap_all, verify_still, wait_for_writers
from .system import System
from .undo import undo


def run(
    plan: Plan, journal_dir: str | os.PathLike[str], system: System | None = None, wait_seconds: float = 10
) -> Result:
    """Writes all files of the plan, or none.

    `status` "applied": all are written and on disk. "conflict": something was not as expected; nothing was
    written, or it was undone. "failed": a system error (`error`); what was written has been undone,
    or `said` tells that `recover` must be run. Running an applied id again writes nothing and is `repeated`.

    Raises BadPlan; JournalBusy if another process writes, or an interrupted plan on this directory is waiting;
    OSError if the directory, or the journal's, cannot be opened.
    """
    system = system or System()
    with locked(journal_dir, wait_seconds) as where:
        earlier = _applied_before(system, where, plan.id)
        if earlier is not None:
            return replace(earlier, repeated=True)
        waiting = unfinished(system, where, plan.target_dir)
        if waiting:
            raise JournalBusy(f"an interrupted change ({', '.join(waiting)}) waits here; run recover first")
        with check(system, plan) as checked:
            if checked.conflicts:
                return result_of(checked.resolved, "conflict", checked.conflicts)
            return _write(system, where, plan, checked)


def _applied_before(system: System, journal_dir: Path, plan_id: str) -> Result | None:
    for path in reversed(attempts(journal_dir, plan_id)):
        with suppress(JournalDamaged, OSError), Journal(system, path) as journal:
            end = journal.get("end", End)
            if end is not None and end.outcome == "applied":
                return end.result
    return None


def _write(system: System, journal_dir: Path, plan: Plan, checked: CheckedPlan) -> Result:
    resolved = checked.resolved
    if not (resolved.tasks or resolved.make_dirs or resolved.remove_dirs or resolved.dir_states):
        return result_of(resolved, "applied")
    try:
        journal = begin(system, journal_dir, plan.id)
    except OSError as error:
        return result_of(resolved, "failed", error=flush.refusal(error, journal_dir))
    with journal:
        try:
            journal.put_blobs([*(op.data for op in plan.ops if op.data is not None), *checked.old_texts])
            journal.put("record", checked.resolved)
        except OSError as error:
            return _close_failed(journal, result_of(resolved, "failed", error=_words(error, resolved)), [])
        except BaseException:
            _close_failed(journal, result_of(resolved, "failed", error="interrupted"), [])
            raise
        return _carry_out(Work(system, checked.root, journal, resolved))


def _carry_out(work: Work) -> Result:
    resolved = work.resolved
    try:
        make_dirs(work)
        stage(work)
        wait_for_writers(work)
        swap_all(work)
        verify_still(work)
    except Raced as race:
        return _take_back(work, result_of(resolved, "conflict", (race.conflict,)))
    except (OSError, SafeFsError, JournalDamaged) as error:
        return _take_back(work, result_of(resolved, "failed", error=_words(error, resolved)))
    except BaseException:
        _take_back(work, result_of(resolved, "failed", error="interrupted"))
        raise
    with progress.finishing("Keeping what was written"):
        return _commit(work)


def _words(error: Exception, resolved: ResolvedPlan) -> str:
    return flush.refusal(error, resolved.target_dir) if isinstance(error, OSError) else str(error)


def _commit(work: Work) -> Result:
    try:
        work.journal.put("commit", End("applied"))
    except OSError as error:
        failed = result_of(work.resolved, "failed", error=_words(error, work.resolved))
        try:
            # The record may exist without being durable. We may undo only once it certainly does not exist.
            work.journal.drop("commit")
        except OSError:
            return replace(failed, said=("whether the change is complete is decided by recover; run it",))
        return _take_back(work, failed)
    return complete(work)


def complete(work: Work) -> Result:
    """The steps from the commit record to the end record; also used by recovery."""
    troubles = finish(work)
    result = replace(result_of(work.resolved, "applied"), said=tuple(work.said))
    if not troubles:
        try:
            work.journal.put("end", End("applied", result, result.said))
            return result
        except OSError as error:
            troubles = [str(error)]
    return replace(result, said=(*result.said, "all files are written; recover has to tidy up", *troubles))


def _take_back(work: Work, result: Result) -> Result:
    troubles = undo(work)
    return _close_failed(work.journal, replace(result, said=tuple(work.said)), troubles)


def _close_failed(journal: Journal, result: Result, troubles: list[str]) -> Result:
    outcome: Outcome = "conflict" if result.status == "conflict" else "failed"
    if not troubles:
        try:
            journal.put("end", End(outcome, result, result.said))
            return result
        except OSError as error:
            troubles = [str(error)]
    return replace(result, said=(*result.said, "undoing is not complete; run recover", *troubles))


def result_of(
    resolved: ResolvedPlan, status: Status, conflicts: tuple[Conflict, ...] = (), error: str = ""
) -> Result:
    """The result of a resolved plan, with the plan's paths."""
    outer = PlanBase(resolved.base, resolved.prefix).outer
    return Result(
        plan_id=resolved.plan_id,
        target_dir=resolved.target_dir,
        status=status,
        applied=tuple(Applied(t.path, t.before, t.after.sha256 if t.after else None) for t in resolved.tasks)
        if status == "applied"
        else (),
        untouched=resolved.untouched,
        conflicts=conflicts,
        dirs_made=tuple(outer(rel) for rel in resolved.make_dirs),
        dirs_removed=tuple(outer(rel) for rel in resolved.remove_dirs if rel in resolved.dirs_before),
        dirs_before={outer(rel): state for rel, state in resolved.dirs_before.items()},
        error=error,
    )
