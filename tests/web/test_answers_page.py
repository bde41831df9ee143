"""The project's answers are a proposal like others: its page, the lists that name it, and what an apply of it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from dreams.models import Question
from dreams.services.apply import applying
from dreams.services.questions import answering
from tests.world import asking, directory as world
from tests.world.asking import ALPHA

pytestmark = pytest.mark.django_db(transaction=True)

ASK = asking.asks("project_deploy.md", ALPHA, "The API runs on host beta.")


@pytest.mark.more
def test_every_page_that_names_the_projects_answers_shows_them(
    tmp_path: Path, monkeypatch, browser: Client
) -> None:
    project = world.make_project(tmp_path)
    run = asking.dream(project, monkeypatch, ASK)
    question = Question.objects.get()
    made = answering.answer(question, "replace", world.ME).proposal
    assert made is not None
    pages = [
        reverse("review", args=[made.public_id]),
        reverse("inbox"),
        reverse("project", args=[project.pk]),
        reverse("dream", args=[run.public_id]),
        reverse("admin:dreams_question_changelist"),
        reverse("admin:dreams_question_change", args=[question.pk]),
    ]
    shown = {page: browser.get(page) for page in pages}
    assert {page: found.status_code for page, found in shown.items()} == dict.fromkeys(pages, 200)
    assert "Answers" in shown[pages[1]].content.decode(), "the inbox says what it is"
    assert "Answered: Replace it" in shown[pages[0]].content.decode()
    applying.apply(made, world.ME)
    after = {page: browser.get(page) for page in pages}
    assert {page: found.status_code for page, found in after.items()} == dict.fromkeys(pages, 200)
    assert "Wrote 1 answer: “Deploy”" in after[pages[2]].content.decode(), "the timeline knows it"
