"""No database is sent a NUL, which PostgreSQL refuses in any text; so it is asked there, too."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.world import rows

pytestmark = pytest.mark.django_db


def test_a_nul_in_an_address_or_a_form_reaches_no_database(browser: Client) -> None:
    project = rows.make_project()
    for address in (f"/projects/{project.pk}/at/?path=a%00b.md", "/search/?q=turbine%00", "/audit/?q=%00"):
        page = browser.get(address)
        assert page.status_code == 200 and "U+0000" not in page.content.decode()
    refused = browser.post("/login/password/", {"name": "own\0er", "password": "wrong\0"})
    assert refused.status_code == 422
