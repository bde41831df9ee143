"""One dream, step by step: claim, lock, read, engine in the workspace, proposal, policy, done.

Every exit leaves lock and clock correct: a completed dream moves the clock, a failed or killed one rewinds it.
"""

import datetime as dt
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from dreams import conf, engines
from dreams.engines import drafts
from dreams.engines.types import Cancelled, EngineError, Job, LimitReached, Outcome
from dreams.lib import locks, progress
from dreams.lib.files import workspace
from dreams.lib.refusal import Refusal
from dreams.models import DreamRun, Hunk, Project, Proposal, Session
from dreams.services import (
    daily_logs,
    database,
    discovery,
    policies,
    pricing,
    project_lock,
    proposals,
    review,
)
from dreams.services.apply import applying
from dreams.services.catching import card_states as catching
from dreams.services.dreaming import dream_inputs, self_review, unfinished
from dreams.services.dreaming.dream_inputs import hand_edited, line_dates, review_sessions
from dreams.services.dreaming.reporter import DirectoryTaken, DreamReporter
from dreams.services.dreaming.states import claim, end
from dreams.services.memories import instructions, said_again, syncing
from dreams.services.policies import earned
from dreams.services.questions import answering, asking
from dreams.services.review import Actor

log = logging.getLogger(__name__)


# A retry would spend as much and reach the same limit.
AFTER_A_LIMIT = dt.timedelta(days=1)
POLICY = Actor(policies.POLICY_ACTOR)


def run_dream(dream_pk: int) -> DreamRun | None:
    """Run a pending dream to its end. None if it is gone or claimed by somebody else. A failing dream does not raise; its row
    has the reason."""
    dream = claim(dream_pk)
    if dream is None:
        return None
    try:
        with (
            project_lock.hold(dream.project, "dream") as held,
            locks.Heartbeat(held) as beat,
            DreamReporter(dream, beat) as reporter,
        ):
            _dream_under_lock(dream, held, reporter)
    except Cancelled:
        end(
            dream,
            DreamRun.Status.KILLED,
            "Nothing was changed, and the wait before the next dream is as it was.",
        )
    except LimitReached as error:
        end(dream, DreamRun.Status.FAILED, str(error), failure=DreamRun.Failure.LIMIT, wait=AFTER_A_LIMIT)
    except (DirectoryTaken, project_lock.ProjectBusy) as error:
        end(dream, DreamRun.Status.FAILED, str(error), failure=DreamRun.Failure.LOCK)
    except EngineError as error:
        end(dream, DreamRun.Status.FAILED, str(error), failure=DreamRun.Failure.ENGINE)
    except Exception as error:
        log.exception("dream %s failed", dream.public_id)
        close_old_connections()  # reconnect after a short outage of the database server
        end(
            dream,
            DreamRun.Status.FAILED,
            _fault(error),
            failure=DreamRun.Failure.FAULT,
        )
    except BaseException:
        # Keep this short: the queue's timeout and Ctrl-C arrive as SystemExit and KeyboardInterrupt.
        end(
            dream,
            DreamRun.Status.KILLED,
            "Its worker was stopped. Nothing was changed, and the wait before the next dream is as it was.",
        )
        raise
    dream.refresh_from_db()
    return dream


def _dream_under_lock(dream: DreamRun, held: locks.Held, reporter: DreamReporter) -> None:
    project = dream.project
    config = conf.current(project)
    discovery.refresh(project)
    if syncing.is_away(project):
        raise DirectoryTaken(f"{project.memory_dir} is not on disk now, or you have no right to it.")
    snapshot = workspace.take(syncing.memory_dir(project))
    syncing.sync(project, snapshot)
    reporter.checkpoint()
    fingerprint = dream_inputs.fingerprint(project)
    if fingerprint == project.inputs_hash and not dream.forced:
        _complete(dream, held, fingerprint, "Nothing changed since the last dream.")
        return
    logs, sessions = daily_logs.mark_read(dream), review_sessions(dream)
    reporter.checkpoint()
    folder = workspace.scratch_folder(settings.DATA_DIR, dream.public_id)
    with workspace.Workspace.create(folder, snapshot) as scratch:
        checks = self_review.Checks(project, scratch, proposals.TranscriptVerdicts.of_dream(dream))
        job = Job(
            project_name=str(project),
            repo_dir=Path(project.repo_dir) if project.repo_dir else None,
            workspace=scratch,
            sessions=sessions,
            line_dates=line_dates(project, conf.zone(config)),
            config=config,
            now=timezone.now(),
            time_zone=conf.zone(config),
            examine=checks.examine,
            hand_edited=hand_edited(project),
            prices=pricing.table(),
            known=catching.known_to_a_dream(project),
            left_unlisted=asking.left_unlisted(project),
            instructions=instructions.texts(project),
            logs=logs,
            agent=project.agent_name,
            scope=project.scope,
            described_then=dream_inputs.described_then(project),
        )
        with progress.watched(lambda *_: reporter.checkpoint()):  # long checks can be cancelled, too
            outcome = engines.get(dream.engine).run(job, reporter)
        after = scratch.contents()
        self_review.save(dream, checks, outcome.edits)
    reporter.last_checkpoint()
    chosen_by = _propose(dream, snapshot.contents(), after, outcome, checks.verdicts)
    _ask(dream, outcome)
    _complete(dream, held, fingerprint, outcome.summary)
    _apply_by_policy(dream, chosen_by)


def _propose(
    dream: DreamRun,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    outcome: Outcome,
    verdicts: proposals.TranscriptVerdicts,
) -> policies.Table:
    """Turn the engine's work into proposals: the part that a policy applies, and the part for a person, which replaces the
    waiting proposal. That one keeps its decisions until then. Returns the policies that chose the part."""
    project = dream.project
    whole = drafts.draft(before, after, outcome.edits, proposals.rejected_hunks(project))
    waiting = proposals.open_dream_proposal(project)
    if waiting is not None:
        answering.move_answers(waiting)
    left_out = [{"path": path, "hunk": hunk} for path, hunk in whole.left_out]
    DreamRun.objects.filter(pk=dream.pk).update(left_out=left_out)
    check = partial(proposals.check_draft, project, Proposal.Origin.DREAM, before=before, verdicts=verdicts)
    automatic = policies.automatic(dream, whole, outcome.edits, lambda judged: check(judged).report)
    if automatic.operations:
        halfway = drafts.only(whole, before, automatic.operations)
        part = policies.as_judged(dream, drafts.draft(before, halfway, outcome.edits))
        origin = _origin(dream, part, outcome, automatic.of(part, whole))
        proposals.create(project, replace(origin, by_policy=True), part, before, verdicts)
        whole = drafts.draft(halfway, drafts.only(whole, before, whole.operations), outcome.edits)
        before = halfway
    if not whole.is_empty:
        proposals.create(project, _origin(dream, whole, outcome), whole, before, verdicts, waiting)
    elif waiting is not None:
        proposals.supersede(waiting, dream.requested_by)
    return automatic.chosen_by


def _origin(
    dream: DreamRun, draft: drafts.Draft, outcome: Outcome, applied: Mapping[str, int] = MappingProxyType({})
) -> proposals.ProposalOrigin:
    """`applied` are the earned policies that apply operations of `draft`."""
    fit = earned.routine_of(dream, draft, outcome.edits)
    marks = {
        key: proposals.OperationMark(maker, key in fit, applied.get(key))
        for key, maker in earned.makers(dream, draft).items()
    }
    return proposals.ProposalOrigin(Proposal.Origin.DREAM, summary=outcome.summary, dream=dream, marks=marks)


def _ask(dream: DreamRun, outcome: Outcome) -> None:
    """Save its questions and what was said again. A fault here loses those, not the dream."""
    waiting = dream.proposals.filter(by_policy=False).first()
    try:
        asking.save(dream, waiting, outcome.questions)
        said_again.record(dream.project, outcome.repeated)
    except Exception:
        log.exception("dream %s: its questions or what was said again are not kept", dream.public_id)


def _fault(error: Exception) -> str:
    if database.is_full(error):
        return f"{database.why_full(error)} Make room on that disk."
    return f"An unexpected fault ended it ({type(error).__name__}). The log has more."


def _complete(dream: DreamRun, held: locks.Held, fingerprint: str, summary: str) -> None:
    """Complete the dream, then move the clock. Usage was recorded turn by turn."""
    now = timezone.now()
    ended = end(dream, DreamRun.Status.COMPLETED, summary=summary, inputs_hash=fingerprint)
    if not ended:
        raise Cancelled
    unfinished.forget(dream)
    released = held.release_completed(now)
    if not released.done:
        log.warning("dream %s: %s", dream.public_id, released.problem)
    if dream.proposals.exists():
        # Given back before, or by the proposal that this one takes the place of: it has read them, and waits.
        Session.objects.filter(reviewed_by__dream=dream, given_back_at__isnull=False).update(
            given_back_at=None
        )
    else:
        fingerprint = _learn_all(dream, fingerprint)
    Project.objects.filter(pk=dream.project_id).update(last_consolidated_at=now, inputs_hash=fingerprint)


def _learn_all(dream: DreamRun, fingerprint: str) -> str:
    """Mark what was read as learnt, as nothing is left to decide. Returns the fingerprint of what is left to read.

    If inputs changed during the dream, returns the earlier `fingerprint`, so that they count as new for the next one.
    """
    unchanged = dream_inputs.fingerprint(dream.project) == fingerprint
    daily_logs.use_up(dream)
    for reviewed in dream.reviewed.all():
        Session.objects.filter(pk=reviewed.session_id).update(used_bytes=reviewed.to_byte, given_back_at=None)
    return dream_inputs.fingerprint(dream.project) if unchanged else fingerprint


def _apply_by_policy(dream: DreamRun, chosen_by: policies.Table) -> None:
    """Write the part that a policy applies. Blocked changes wait for a person."""
    part = dream.proposals.filter(by_policy=True).first()
    if part is None:
        return
    dream.refresh_from_db(fields=["cancel_requested_at"])
    why = "it was cancelled" if dream.cancel_requested_at else policies.refused(part, chosen_by)
    try:
        if why:
            log.info("dream %s: left to a person: %s", dream.public_id, why)
            return
        review.decide(
            part, review.select_hunks(part), Hunk.Verdict.APPROVED, POLICY, reason="Allowed by policy."
        )
        applying.apply(part, POLICY)
    except Refusal as error:
        log.warning("dream %s: not applied by policy: %s", dream.public_id, error)
    finally:
        earned.not_applied(part)
