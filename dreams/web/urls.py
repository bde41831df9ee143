"""All URLs of the pages, grouped by prefix. One address per action; changes are POSTs.

Names that other pages may rely on, with their arguments: projects · project (pk) · memory (pk) · memory-edit (pk) ·
memory-forget (pk) · memory-move (pk) · session (pk) · dreams · dream (public_id) · review (a proposal's public_id) ·
conflict (a proposal's public_id) · account · questions · question (public_id) · audit · usage.
"""

import importlib
from collections.abc import Callable

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

_modules: dict[str, None] = {}
LARGEST_KEY = 2**63 - 1  # the largest row id, in every database


def view(name: str) -> Callable[..., HttpResponseBase]:
    """The view `module.function`; its module is imported by the first request for it.

    Importing all of them takes half a second, for which the first page would have to wait.
    """
    module, _, function = name.partition(".")
    _modules[module] = None

    def found(request: HttpRequest, *given: object, **named: object) -> HttpResponseBase:
        if any(isinstance(key, int) and key > LARGEST_KEY for key in named.values()):
            raise Http404("No row has such a number.")
        answer: Callable[..., HttpResponseBase] = getattr(_load(module), function)
        return answer(request, *given, **named)

    found.__name__ = found.__qualname__ = function
    return found


def _load(module: str) -> object:
    return importlib.import_module(f"dreams.web.views.{module}")


def load_views() -> None:
    """Imports all views, so that no request waits for them."""
    for module in _modules:
        _load(module)


urlpatterns = [
    path("", view("inbox.inbox"), name="inbox"),
    path("pulse/", view("pulse.pulse"), name="pulse"),
    path("next/", view("inbox.next_up"), name="next"),
    path("seen/", view("inbox.seen"), name="news-seen"),
    path("snooze/", view("inbox.put_off"), name="snooze"),
    path("snooze/bring-back/", view("inbox.bring_back"), name="bring-back"),
    path("several/", view("bulk.preview"), name="bulk"),
    path("several/decide/", view("bulk.decide"), name="bulk-decide"),
    path("by-kind/", view("bulk.of_kind"), name="by-kind"),
    path("by-kind/decide/", view("bulk.decide_kind"), name="by-kind-decide"),
    # --- login ---
    path("login/", view("account.login"), name="login"),
    path("login/password/", view("account.with_password"), name="login-password"),
    path("logout/", view("account.logout"), name="logout"),
    # --- account, people ---
    path("account/", view("account.account"), name="account"),
    path("account/logins/<int:pk>/end/", view("account.end_login"), name="login-end"),
    path("account/logins/end-others/", view("account.end_others"), name="logins-end-others"),
    path("account/password/", view("account.password"), name="account-password"),
    path("people/add/", view("account.add"), name="person-add"),
    path("people/<int:pk>/role/", view("account.role"), name="person-role"),
    path("people/<int:pk>/password/", view("account.reset_password"), name="person-password"),
    path("people/<int:pk>/remove/", view("account.remove"), name="person-remove"),
    # --- projects, memories, sessions ---
    path("projects/", view("project.projects"), name="projects"),
    path("projects/several/", view("project.several"), name="projects-several"),
    path("projects/<int:pk>/", view("project.project"), name="project"),
    path("projects/<int:pk>/dream/", view("project.dream"), name="project-dream"),
    path("projects/<int:pk>/checkup/", view("project.checkup"), name="project-checkup"),
    path("projects/<int:pk>/questions/", view("questions.of_project"), name="project-questions"),
    path("projects/<int:pk>/questions/more/", view("questions.more"), name="project-questions-more"),
    path("projects/<int:pk>/caught/", view("caught.of_project"), name="project-caught"),
    path("projects/<int:pk>/caught/read/", view("caught.read"), name="project-caught-read"),
    path("projects/<int:pk>/caught/submit/", view("caught.submit"), name="project-caught-submit"),
    path("cards/<slug:public_id>/decide/", view("caught.decide"), name="card-decide"),
    path("cards/<slug:public_id>/edit/", view("caught.edit"), name="card-edit"),
    path("cards/<slug:public_id>/take-back/", view("caught.take_back"), name="card-take-back"),
    path("projects/<int:pk>/statements/", view("memory.statements"), name="project-statements"),
    path("projects/<int:pk>/recall/", view("search.tester"), name="project-recall"),
    path("projects/<int:pk>/recall/model/", view("search.by_model"), name="project-recall-model"),
    path("projects/<int:pk>/instructions/", view("project.instructions"), name="project-instructions"),
    path("projects/<int:pk>/open-ends/", view("session.open_ends"), name="project-open-ends"),
    path("projects/<int:pk>/logs/", view("project.daily_logs"), name="project-logs"),
    path("evidence/<int:pk>/", view("project.log_of_evidence"), name="evidence"),
    path("projects/<int:pk>/prompts/", view("project.prompts"), name="project-prompts"),
    path("projects/<int:pk>/prompts/hide/", view("project.hide_prompt"), name="prompt-hide"),
    path("projects/<int:pk>/secrets/", view("project.secrets"), name="project-secrets"),
    path("projects/<int:pk>/secrets/redact/", view("project.redact"), name="project-redact"),
    path("projects/<int:pk>/secrets/purge/", view("project.purge"), name="project-purge"),
    path("projects/<int:pk>/copy/", view("project.copy_memories"), name="project-copy"),
    path("projects/<int:pk>/history/set-aside/", view("project.set_aside"), name="project-set-aside"),
    path("projects/<int:pk>/trust/", view("project.set_trust"), name="project-trust"),
    path("projects/<int:pk>/at/", view("time_travel.at"), name="project-at"),
    path("projects/<int:pk>/between/", view("time_travel.between"), name="project-between"),
    path("projects/<int:pk>/at/restore/", view("time_travel.restore"), name="project-restore"),
    path("projects/<int:pk>/at/propose/", view("time_travel.propose"), name="project-propose"),
    path("memories/<int:pk>/", view("memory.memory"), name="memory"),
    path("memories/<int:pk>/blame/", view("memory.blame"), name="memory-blame"),
    path("memories/<int:pk>/related/", view("memory.related"), name="memory-related"),
    path("memories/<int:pk>/compare/", view("memory.compare"), name="memory-compare"),
    path("memories/<int:pk>/secrets/", view("memory.secrets"), name="memory-secrets"),
    path("memories/<int:pk>/restore/", view("memory.restore"), name="memory-restore"),
    path("memories/<int:pk>/edit/", view("memory.edit"), name="memory-edit"),
    path("memories/<int:pk>/forget/", view("memory.forget"), name="memory-forget"),
    path("memories/<int:pk>/move/", view("memory.move"), name="memory-move"),
    path("memories/<int:pk>/skill/", view("memory.skill"), name="memory-skill"),
    path("memories/<int:pk>/index-row/", view("memory.index_row"), name="memory-index-row"),
    path("sessions/<int:pk>/", view("session.session"), name="session"),
    path("sessions/<int:pk>/prompt/<int:line>/", view("project.prompt_of_session"), name="session-prompt"),
    path("sessions/<int:pk>/notes/", view("session.write_notes"), name="session-write-notes"),
    path("sessions/<int:pk>/notes/ask/", view("session.ask_for_notes"), name="session-ask-notes"),
    path("sessions/<int:pk>/notes/cancel/", view("session.cancel_notes"), name="session-cancel-notes"),
    path("sessions/<int:pk>/notes/now/", view("session.notes_now"), name="session-notes-now"),
    path("sessions/<int:pk>/notes/<slug:origin>.md", view("session.download_notes"), name="session-notes"),
    # --- questions ---
    path("questions/", view("questions.questions"), name="questions"),
    path("questions/<slug:public_id>/", view("questions.question"), name="question"),
    path("questions/<slug:public_id>/answer/", view("questions.answer"), name="question-answer"),
    path("questions/<slug:public_id>/take-back/", view("questions.take_back"), name="question-take-back"),
    # --- search ---
    path("search/", view("search.search"), name="search"),
    path("search/rebuild/", view("search.rebuild"), name="search-rebuild"),
    # --- dreams ---
    path("dreams/", view("dreams.dreams"), name="dreams"),
    path("dreams/<slug:public_id>/", view("dreams.dream"), name="dream"),
    path("dreams/<slug:public_id>/cancel/", view("dreams.cancel"), name="dream-cancel"),
    path(
        "dreams/<slug:public_id>/propose-partial/",
        view("dreams.propose_partial"),
        name="dream-propose-partial",
    ),
    path("requests/<slug:public_id>/withdraw/", view("host_requests.withdraw"), name="request-withdraw"),
    # --- schedule ---
    path("schedules/", view("schedules.schedules"), name="schedules"),
    path("schedules/<slug:public_id>/run/", view("schedules.run"), name="schedule-run"),
    path("schedules/<slug:public_id>/remove/", view("schedules.remove"), name="schedule-remove"),
    # --- review, conflict ---
    path("review/<slug:public_id>/", view("review.desk"), name="review"),
    path("review/<slug:public_id>/decide/", view("review.decide"), name="review-decide"),
    path("review/<slug:public_id>/take-back/", view("review.take_back"), name="review-take-back"),
    path("review/<slug:public_id>/edit/", view("review_edit.edit"), name="review-edit"),
    path("review/<slug:public_id>/mend/", view("review_edit.mend"), name="review-mend"),
    path("review/<slug:public_id>/preview/", view("review_edit.preview"), name="review-preview"),
    path("review/<slug:public_id>/confirm/", view("review_edit.confirm"), name="review-confirm"),
    path("review/<slug:public_id>/viewed/", view("review_edit.viewed"), name="review-viewed"),
    path("review/<slug:public_id>/secrets/", view("review_edit.secrets"), name="review-secrets"),
    path("review/<slug:public_id>/bring-up/", view("review_submit.bring_up_to_date"), name="review-bring-up"),
    path("review/<slug:public_id>/submit/", view("review_submit.submit"), name="review-submit"),
    path("review/<slug:public_id>/apply/", view("review_submit.apply"), name="review-apply"),
    path("review/<slug:public_id>/second/", view("review_submit.second"), name="review-second"),
    path("review/<slug:public_id>/under-way/", view("review_submit.under_way"), name="review-under-way"),
    path("review/<slug:public_id>/stop/", view("review_submit.stop"), name="review-stop"),
    path("review/<slug:public_id>/conflict/<int:file_pk>/", view("conflict.conflict"), name="conflict"),
    path("review/<slug:public_id>/undo/", view("undo.undo"), name="undo"),
    # --- usage, audit ---
    path("usage/", view("usage.usage"), name="usage"),
    path("audit/", view("audit.audit"), name="audit"),
    path("audit/export/", view("audit.export"), name="audit-export"),
    # --- settings ---
    path("settings/", view("settings.everywhere"), name="settings"),
    path("settings/policies/answer/", view("settings.answer_offer"), name="policy-answer"),
    path("settings/policies/<int:pk>/end/", view("settings.end_policy"), name="policy-end"),
    path("settings/digest/", view("settings.send_digest"), name="settings-digest"),
    path("settings/feed/make/", view("inbox.make_feed"), name="feed-make"),
    path("settings/feed/revoke/", view("inbox.revoke_feed"), name="feed-revoke"),
    path("feed/<str:token>/", view("inbox.read_feed"), name="feed"),
    path("settings/hook/", view("settings.hook"), name="hook"),
    path("settings/hook/write/", view("settings.write_hook"), name="hook-write"),
    # Authenticated by a token, not by a cookie; no page of another site has it.
    path("hooks/session-end/", csrf_exempt(view("settings.session_end")), name="hook-session-end"),
    path("settings/pause/", view("settings.pause"), name="settings-pause"),
    path("settings/resume/", view("settings.pause"), {"paused": False}, name="settings-resume"),
    path("settings/reset/<slug:key>/", view("settings.reset"), name="settings-reset"),
    path("projects/<int:pk>/settings/", view("settings.of_project"), name="project-settings"),
    path(
        "projects/<int:pk>/settings/reset/<slug:key>/", view("settings.reset"), name="project-settings-reset"
    ),
    # --- engines, health ---
    path("engines/", view("usage.engines"), name="engines"),
    path("engines/test/", view("usage.test_engine"), name="engines-test"),
    path("health/", view("pulse.health"), name="health"),
]
