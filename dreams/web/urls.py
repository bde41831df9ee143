"""Every address of the pages, grouped by prefix. One address per verb; changes are POSTs.

Names other pages may rely on, with what they take: projects · project (pk) · memory (pk) · memory-edit (pk) ·
memory-forget (pk) · session (pk) · dreams · dream (public_id) · review (a proposal's public_id) ·
conflict (a proposal's public_id) · questions · question (public_id) · audit · usage.
"""

from __future__ import annotations

from django.urls import path

from dreams.web.views import (
    audit,
    blame,
    bulk,
    checkup,
    conflict,
    dreams,
    engines,
    health,
    inbox,
    leaks,
    login,
    memory,
    moments,
    policies,
    project,
    projects,
    pulse,
    questions,
    recall,
    review,
    review_submit,
    search,
    session,
    settings,
    statements,
    undo,
    usage,
)

urlpatterns = [
    path("", inbox.inbox, name="inbox"),
    path("pulse/", pulse.pulse, name="pulse"),
    path("next/", inbox.next_up, name="next"),
    path("snooze/", inbox.put_off, name="snooze"),
    path("snooze/bring-back/", inbox.bring_back, name="bring-back"),
    path("several/", bulk.look, name="bulk"),
    path("several/decide/", bulk.decide, name="bulk-decide"),
    # --- login ---
    path("login/", login.login, name="login"),
    path("login/password/", login.with_password, name="login-password"),
    path("logout/", login.logout, name="logout"),
    # --- projects, memories, sessions ---
    path("projects/", projects.projects, name="projects"),
    path("projects/<int:pk>/", project.project, name="project"),
    path("projects/<int:pk>/dream/", project.dream, name="project-dream"),
    path("projects/<int:pk>/checkup/", checkup.checkup, name="project-checkup"),
    path("projects/<int:pk>/questions/", questions.of_project, name="project-questions"),
    path("projects/<int:pk>/questions/more/", questions.more, name="project-questions-more"),
    path("projects/<int:pk>/statements/", statements.of_project, name="project-statements"),
    path("projects/<int:pk>/recall/", recall.tester, name="project-recall"),
    path("projects/<int:pk>/secrets/", leaks.secrets, name="project-secrets"),
    path("projects/<int:pk>/secrets/redact/", leaks.redact, name="project-redact"),
    path("projects/<int:pk>/secrets/purge/", leaks.purge, name="project-purge"),
    path("projects/<int:pk>/trust/", project.set_trust, name="project-trust"),
    path("projects/<int:pk>/at/", moments.at, name="project-at"),
    path("projects/<int:pk>/between/", moments.between, name="project-between"),
    path("projects/<int:pk>/at/restore/", moments.restore, name="project-restore"),
    path("projects/<int:pk>/at/propose/", moments.propose, name="project-propose"),
    path("memories/<int:pk>/", memory.memory, name="memory"),
    path("memories/<int:pk>/blame/", blame.blame, name="memory-blame"),
    path("memories/<int:pk>/related/", statements.related, name="memory-related"),
    path("memories/<int:pk>/compare/", memory.compare, name="memory-compare"),
    path("memories/<int:pk>/secrets/", memory.secrets, name="memory-secrets"),
    path("memories/<int:pk>/restore/", memory.restore, name="memory-restore"),
    path("memories/<int:pk>/edit/", memory.edit, name="memory-edit"),
    path("memories/<int:pk>/forget/", memory.forget, name="memory-forget"),
    path("sessions/<int:pk>/", session.session, name="session"),
    # --- questions ---
    path("questions/", questions.questions, name="questions"),
    path("questions/<slug:public_id>/", questions.question, name="question"),
    path("questions/<slug:public_id>/answer/", questions.answer, name="question-answer"),
    path("questions/<slug:public_id>/take-back/", questions.take_back, name="question-take-back"),
    # --- search ---
    path("search/", search.search, name="search"),
    # --- dreams ---
    path("dreams/", dreams.dreams, name="dreams"),
    path("dreams/<slug:public_id>/", dreams.dream, name="dream"),
    path("dreams/<slug:public_id>/cancel/", dreams.cancel, name="dream-cancel"),
    path("dreams/<slug:public_id>/propose-partial/", dreams.propose_partial, name="dream-propose-partial"),
    # --- review, conflict ---
    path("review/<slug:public_id>/", review.desk, name="review"),
    path("review/<slug:public_id>/decide/", review.decide, name="review-decide"),
    path("review/<slug:public_id>/take-back/", review.take_back, name="review-take-back"),
    path("review/<slug:public_id>/edit/", review.edit, name="review-edit"),
    path("review/<slug:public_id>/mend/", review.mend, name="review-mend"),
    path("review/<slug:public_id>/preview/", review.preview, name="review-preview"),
    path("review/<slug:public_id>/confirm/", review.confirm, name="review-confirm"),
    path("review/<slug:public_id>/viewed/", review.viewed, name="review-viewed"),
    path("review/<slug:public_id>/secrets/", review.secrets, name="review-secrets"),
    path("review/<slug:public_id>/bring-up/", review_submit.bring_up, name="review-bring-up"),
    path("review/<slug:public_id>/submit/", review_submit.submit, name="review-submit"),
    path("review/<slug:public_id>/apply/", review_submit.apply, name="review-apply"),
    path("review/<slug:public_id>/conflict/<int:file_pk>/", conflict.conflict, name="conflict"),
    path("review/<slug:public_id>/undo/", undo.undo, name="undo"),
    # --- usage, audit ---
    path("usage/", usage.usage, name="usage"),
    path("audit/", audit.audit, name="audit"),
    path("audit/export/", audit.export, name="audit-export"),
    # --- settings ---
    path("settings/", settings.everywhere, name="settings"),
    path("settings/policies/", policies.save, name="settings-policies"),
    path("settings/policies/answer/", policies.answer, name="policy-answer"),
    path("settings/policies/<int:pk>/end/", policies.end, name="policy-end"),
    path("settings/digest/", settings.send_digest, name="settings-digest"),
    path("settings/pause/", settings.pause, name="settings-pause"),
    path("settings/resume/", settings.resume, name="settings-resume"),
    path("settings/reset/<slug:key>/", settings.reset, name="settings-reset"),
    path("projects/<int:pk>/settings/", settings.of_project, name="project-settings"),
    path("projects/<int:pk>/settings/policies/", policies.save, name="project-settings-policies"),
    path("projects/<int:pk>/settings/reset/<slug:key>/", settings.reset, name="project-settings-reset"),
    # --- engines, health ---
    path("engines/", engines.engines, name="engines"),
    path("engines/test/", engines.test, name="engines-test"),
    path("health/", health.health, name="health"),
]
