"""Every address of the pages, grouped by prefix. One address per verb; changes are POSTs.

Names other pages may rely on, with what they take: projects · project (pk) · memory (pk) · memory-edit (pk) ·
memory-forget (pk) · session (pk) · dreams · dream (public_id) · review (a proposal's public_id) ·
conflict (a proposal's public_id) · account · questions · question (public_id) · audit · usage.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import ClassVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.csrf import csrf_exempt


class _Later:
    """A module of views that is read in by the first request for one of them.

    All of them together take half a second, which whoever opens the first page would wait for.
    """

    all: ClassVar[list[_Later]] = []

    def __init__(self, name: str) -> None:
        self._module = f"dreams.web.views.{name}"
        self.all.append(self)

    def __getattr__(self, name: str) -> Callable[..., HttpResponseBase]:
        def view(request: HttpRequest, *given: object, **named: object) -> HttpResponseBase:
            found: Callable[..., HttpResponseBase] = getattr(self.load(), name)
            return found(request, *given, **named)

        view.__name__ = view.__qualname__ = name
        return view

    def load(self) -> object:
        return importlib.import_module(self._module)


account = _Later("account")
audit = _Later("audit")
bulk = _Later("bulk")
caught = _Later("caught")
conflict = _Later("conflict")
dreams = _Later("dreams")
hook = _Later("hook")
host_requests = _Later("host_requests")
inbox = _Later("inbox")
memory = _Later("memory")
project = _Later("project")
pulse = _Later("pulse")
questions = _Later("questions")
review = _Later("review")
review_edit = _Later("review_edit")
review_submit = _Later("review_submit")
schedules = _Later("schedules")
search = _Later("search")
secrets = _Later("secrets")
session = _Later("session")
settings = _Later("settings")
time_travel = _Later("time_travel")
undo = _Later("undo")
usage = _Later("usage")


def load_views() -> None:
    """Read in all views, so that nobody waits for them."""
    for module in _Later.all:
        module.load()


urlpatterns = [
    path("", inbox.inbox, name="inbox"),
    path("pulse/", pulse.pulse, name="pulse"),
    path("next/", inbox.next_up, name="next"),
    path("seen/", inbox.seen, name="news-seen"),
    path("snooze/", inbox.put_off, name="snooze"),
    path("snooze/bring-back/", inbox.bring_back, name="bring-back"),
    path("several/", bulk.look, name="bulk"),
    path("several/decide/", bulk.decide, name="bulk-decide"),
    path("by-kind/", bulk.of_kind, name="by-kind"),
    path("by-kind/decide/", bulk.decide_kind, name="by-kind-decide"),
    # --- login ---
    path("login/", account.login, name="login"),
    path("login/password/", account.with_password, name="login-password"),
    path("logout/", account.logout, name="logout"),
    # --- account, people ---
    path("account/", account.account, name="account"),
    path("account/logins/<int:pk>/end/", account.end_login, name="login-end"),
    path("account/logins/end-others/", account.end_others, name="logins-end-others"),
    path("account/password/", account.password, name="account-password"),
    path("people/add/", account.add, name="person-add"),
    path("people/<int:pk>/role/", account.role, name="person-role"),
    path("people/<int:pk>/password/", account.reset_password, name="person-password"),
    path("people/<int:pk>/remove/", account.remove, name="person-remove"),
    # --- projects, memories, sessions ---
    path("projects/", project.projects, name="projects"),
    path("projects/<int:pk>/", project.project, name="project"),
    path("projects/<int:pk>/dream/", project.dream, name="project-dream"),
    path("projects/<int:pk>/checkup/", project.checkup, name="project-checkup"),
    path("projects/<int:pk>/questions/", questions.of_project, name="project-questions"),
    path("projects/<int:pk>/questions/more/", questions.more, name="project-questions-more"),
    path("projects/<int:pk>/caught/", caught.of_project, name="project-caught"),
    path("projects/<int:pk>/caught/read/", caught.read, name="project-caught-read"),
    path("projects/<int:pk>/caught/submit/", caught.submit, name="project-caught-submit"),
    path("cards/<slug:public_id>/decide/", caught.decide, name="card-decide"),
    path("cards/<slug:public_id>/edit/", caught.edit, name="card-edit"),
    path("cards/<slug:public_id>/take-back/", caught.take_back, name="card-take-back"),
    path("projects/<int:pk>/statements/", memory.statements, name="project-statements"),
    path("projects/<int:pk>/recall/", search.tester, name="project-recall"),
    path("projects/<int:pk>/recall/model/", search.by_model, name="project-recall-model"),
    path("projects/<int:pk>/instructions/", project.instructions, name="project-instructions"),
    path("projects/<int:pk>/open-ends/", session.open_ends, name="project-open-ends"),
    path("projects/<int:pk>/logs/", project.daily_logs, name="project-logs"),
    path("evidence/<int:pk>/", project.log_of_evidence, name="evidence"),
    path("projects/<int:pk>/prompts/", project.prompts, name="project-prompts"),
    path("projects/<int:pk>/prompts/hide/", project.hide_prompt, name="prompt-hide"),
    path("projects/<int:pk>/secrets/", secrets.show, name="project-secrets"),
    path("projects/<int:pk>/secrets/redact/", secrets.redact, name="project-redact"),
    path("projects/<int:pk>/secrets/purge/", secrets.purge, name="project-purge"),
    path("projects/<int:pk>/trust/", project.set_trust, name="project-trust"),
    path("projects/<int:pk>/at/", time_travel.at, name="project-at"),
    path("projects/<int:pk>/between/", time_travel.between, name="project-between"),
    path("projects/<int:pk>/at/restore/", time_travel.restore, name="project-restore"),
    path("projects/<int:pk>/at/propose/", time_travel.propose, name="project-propose"),
    path("memories/<int:pk>/", memory.memory, name="memory"),
    path("memories/<int:pk>/blame/", memory.blame, name="memory-blame"),
    path("memories/<int:pk>/related/", memory.related, name="memory-related"),
    path("memories/<int:pk>/compare/", memory.compare, name="memory-compare"),
    path("memories/<int:pk>/secrets/", memory.secrets, name="memory-secrets"),
    path("memories/<int:pk>/restore/", memory.restore, name="memory-restore"),
    path("memories/<int:pk>/edit/", memory.edit, name="memory-edit"),
    path("memories/<int:pk>/forget/", memory.forget, name="memory-forget"),
    path("sessions/<int:pk>/", session.session, name="session"),
    path("sessions/<int:pk>/prompt/<int:line>/", project.prompt_of_session, name="session-prompt"),
    path("sessions/<int:pk>/notes/", session.write_notes, name="session-write-notes"),
    path("sessions/<int:pk>/notes/ask/", session.ask_for_notes, name="session-ask-notes"),
    path("sessions/<int:pk>/notes/cancel/", session.cancel_notes, name="session-cancel-notes"),
    path("sessions/<int:pk>/notes/now/", session.notes_now, name="session-notes-now"),
    path("sessions/<int:pk>/notes/<slug:origin>.md", session.download_notes, name="session-notes"),
    # --- questions ---
    path("questions/", questions.questions, name="questions"),
    path("questions/<slug:public_id>/", questions.question, name="question"),
    path("questions/<slug:public_id>/answer/", questions.answer, name="question-answer"),
    path("questions/<slug:public_id>/take-back/", questions.take_back, name="question-take-back"),
    # --- search ---
    path("search/", search.search, name="search"),
    path("search/rebuild/", search.rebuild, name="search-rebuild"),
    # --- dreams ---
    path("dreams/", dreams.dreams, name="dreams"),
    path("dreams/<slug:public_id>/", dreams.dream, name="dream"),
    path("dreams/<slug:public_id>/cancel/", dreams.cancel, name="dream-cancel"),
    path("dreams/<slug:public_id>/propose-partial/", dreams.propose_partial, name="dream-propose-partial"),
    path("requests/<slug:public_id>/withdraw/", host_requests.withdraw, name="request-withdraw"),
    # --- schedule ---
    path("schedules/", schedules.schedules, name="schedules"),
    path("schedules/<slug:public_id>/run/", schedules.run, name="schedule-run"),
    path("schedules/<slug:public_id>/remove/", schedules.remove, name="schedule-remove"),
    # --- review, conflict ---
    path("review/<slug:public_id>/", review.desk, name="review"),
    path("review/<slug:public_id>/decide/", review.decide, name="review-decide"),
    path("review/<slug:public_id>/take-back/", review.take_back, name="review-take-back"),
    path("review/<slug:public_id>/edit/", review_edit.edit, name="review-edit"),
    path("review/<slug:public_id>/mend/", review_edit.mend, name="review-mend"),
    path("review/<slug:public_id>/preview/", review_edit.preview, name="review-preview"),
    path("review/<slug:public_id>/confirm/", review_edit.confirm, name="review-confirm"),
    path("review/<slug:public_id>/viewed/", review_edit.viewed, name="review-viewed"),
    path("review/<slug:public_id>/secrets/", review_edit.secrets, name="review-secrets"),
    path("review/<slug:public_id>/bring-up/", review_submit.bring_up, name="review-bring-up"),
    path("review/<slug:public_id>/submit/", review_submit.submit, name="review-submit"),
    path("review/<slug:public_id>/apply/", review_submit.apply, name="review-apply"),
    path("review/<slug:public_id>/second/", review_submit.second, name="review-second"),
    path("review/<slug:public_id>/under-way/", review_submit.under_way, name="review-under-way"),
    path("review/<slug:public_id>/stop/", review_submit.stop, name="review-stop"),
    path("review/<slug:public_id>/conflict/<int:file_pk>/", conflict.conflict, name="conflict"),
    path("review/<slug:public_id>/undo/", undo.undo, name="undo"),
    # --- usage, audit ---
    path("usage/", usage.usage, name="usage"),
    path("audit/", audit.audit, name="audit"),
    path("audit/export/", audit.export, name="audit-export"),
    # --- settings ---
    path("settings/", settings.everywhere, name="settings"),
    path("settings/policies/answer/", settings.answer_offer, name="policy-answer"),
    path("settings/policies/<int:pk>/end/", settings.end_policy, name="policy-end"),
    path("settings/digest/", settings.send_digest, name="settings-digest"),
    path("settings/feed/make/", inbox.make_feed, name="feed-make"),
    path("settings/feed/revoke/", inbox.revoke_feed, name="feed-revoke"),
    path("feed/<str:token>/", inbox.read_feed, name="feed"),
    path("settings/hook/", hook.show, name="hook"),
    path("settings/hook/write/", hook.write, name="hook-write"),
    # No cookie lets anybody in here: a token does, which no page of another site has.
    path("hooks/session-end/", csrf_exempt(hook.session_end), name="hook-session-end"),
    path("settings/pause/", settings.pause, name="settings-pause"),
    path("settings/resume/", settings.resume, name="settings-resume"),
    path("settings/reset/<slug:key>/", settings.reset, name="settings-reset"),
    path("projects/<int:pk>/settings/", settings.of_project, name="project-settings"),
    path("projects/<int:pk>/settings/reset/<slug:key>/", settings.reset, name="project-settings-reset"),
    # --- engines, health ---
    path("engines/", usage.engines, name="engines"),
    path("engines/test/", usage.test_engine, name="engines-test"),
    path("health/", pulse.health, name="health"),
]
