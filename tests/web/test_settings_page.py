"""Settings and policies: what is in force and why, changed one by one, checked, and audited."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client
from django.utils.html import escape

from dreams import conf
from dreams.models import AuditEntry, Override, Policy
from dreams.services import auditlog, settings_changes
from tests.world.rows import World

pytestmark = pytest.mark.django_db


def test_every_setting_is_on_the_page_with_label_and_sentence(browser: Client) -> None:
    text = browser.get("/settings/").content.decode()
    for key, spec in conf.specs().items():
        if key == "paused":
            assert "Pause all dreaming" in text
            continue
        assert f'for="s-{key}"' in text
        assert f'id="s-{key}"' in text
        assert escape(spec.help) in text


def test_every_control_has_one_label(browser: Client, world: World) -> None:
    for address in ("/settings/", f"/projects/{world.project.pk}/settings/"):
        text = browser.get(address).content.decode()
        for control in re.findall(r"<(?:input|select|textarea)(?![^>]*type=\"hidden\")[^>]*>", text):
            found = re.search(r'\bid="([^"]+)"', control)
            assert (
                "aria-label" in control
                or "data-keys-switch" in control
                or (found and text.count(f'for="{found[1]}"') == 1)
            ), control


def test_only_what_changed_is_kept(browser: Client) -> None:
    form = {
        "group": "When",
        "dreaming": "on",
        "watch": "on",
        "min_hours": "12",
        "min_sessions": "5",
        "scan_minutes": "10",
    }
    assert browser.post("/settings/", form).status_code == 303
    assert list(Override.objects.values_list("key", "value", "changed_by")) == [("min_hours", 12.0, "owner")]
    entry = AuditEntry.objects.get(action="setting.changed")
    assert (entry.object_id, entry.data, entry.actor) == ("min_hours", {"was": None, "now": 12.0}, "owner")
    assert auditlog.verify_chain() == []


def _shown(browser: Client) -> dict[str, object]:
    """Every field of the open page as a browser sends it."""
    text = browser.get("/settings/").content.decode()
    fields = re.findall(r'name="was-([^"]+)" value="([^"]*)"', text)
    was = {name: html.unescape(value) for name, value in fields}
    groups = re.findall(r'name="group" value="([^"]+)"', text)
    return {"group": groups, **was, **{f"was-{name}": value for name, value in was.items()}}


def test_a_page_that_was_open_while_somebody_else_changed_settings_changes_only_what_was_typed(
    browser: Client,
) -> None:
    opened = _shown(browser)
    assert browser.post("/settings/", opened).status_code == 303 and not Override.objects.exists()
    settings_changes.set_override("dreaming", False, actor="bea")
    settings_changes.set_policy("remove", "review", actor="bea")
    browser.post("/settings/", {**opened, "min_hours": "48", "min_sessions": "many"})
    assert set(Override.objects.values_list("key", flat=True)) == {"dreaming"}
    again = _shown(browser)
    assert again["was-dreaming"] == "off" and again["was-any-remove"] == "review"
    browser.post("/settings/", {**opened, "min_hours": "48", "any-add": "auto"})
    assert dict(Override.objects.values_list("key", "value")) == {"dreaming": False, "min_hours": 48.0}
    assert set(Policy.objects.values_list("operation", "action")) == {("remove", "review"), ("add", "auto")}


def test_with_one_wrong_value_nothing_is_kept_and_all_is_still_there(browser: Client) -> None:
    form = {"group": "When", "dreaming": "on", "min_hours": "7", "min_sessions": "many"}
    response = browser.post("/settings/", form)
    text = response.content.decode()
    assert response.status_code == 422
    assert "is not a whole number" in text
    assert 'value="many"' in text
    assert 'value="7"' in text
    assert 'aria-invalid="true"' in text
    assert 'Nothing was saved.</b> Please look at <a href="#s-min_sessions">' in text
    assert not Override.objects.exists()


def test_new_rows_are_not_aimed_above_what_counts_as_long(browser: Client) -> None:
    refused = browser.post("/settings/", {"group": "Index", "row_aim": "500", "row_max": "200"})
    assert refused.status_code == 422 and not Override.objects.exists()
    assert "500 is above “Long index rows”, 200: each new row would be a long one" in refused.content.decode()
    refused = browser.post("/settings/", {"group": "Index", "row_aim": "150", "row_max": "100"})
    assert "100 is below “Target length of an index row”, 150" in refused.content.decode()
    # Both together fit, in either direction.
    for aim, most in ((500, 600), (60, 80)):
        browser.post("/settings/", {"group": "Index", "row_aim": str(aim), "row_max": str(most)})
        assert (conf.current().row_aim, conf.current().row_max) == (aim, most)


def test_a_reset_that_leaves_two_settings_at_odds_is_told_on_the_page(browser: Client) -> None:
    browser.post("/settings/", {"group": "Index", "row_aim": "500", "row_max": "600"})
    browser.post("/settings/reset/row_max/")
    assert "500 is above “Long index rows”, 200" in browser.get("/settings/").content.decode()
    # What has nothing to do with it is saved all the same.
    form = {"group": "Index", "row_aim": "500", "row_max": "200", "many_memories": "40"}
    assert browser.post("/settings/", form).status_code == 303
    assert conf.current().many_memories == 40


def test_a_config_folder_is_a_whole_path_and_one_that_is_missing_is_told(browser: Client) -> None:
    refused = browser.post("/settings/", {"group": "Places", "roots": "my/notes"})
    assert refused.status_code == 422 and "“my/notes” does not start with / or ~" in refused.content.decode()
    saved = browser.post("/settings/", {"group": "Places", "roots": "/\n/no/such"}, follow=True)
    text = saved.content.decode()
    assert "/no/such is a folder that does not exist. Nothing is read there." in text
    assert text.count("does not exist") == 1


def test_a_switch_left_out_is_off(browser: Client) -> None:
    browser.post("/settings/", {"group": "When", "min_hours": "24"})
    assert conf.current().dreaming is False


def test_a_form_of_one_group_leaves_the_others_alone(browser: Client) -> None:
    browser.post("/settings/", {"group": "Budget", "max_cost_day": "9", "min_hours": "1"})
    assert list(Override.objects.values_list("key", flat=True)) == ["max_cost_day"]


def test_reset_brings_the_default_back(browser: Client) -> None:
    settings_changes.set_override("min_hours", 12, actor="owner")
    assert b"/settings/reset/min_hours/" in browser.get("/settings/").content
    assert browser.get("/settings/reset/min_hours/").status_code == 405
    assert browser.post("/settings/reset/min_hours/").status_code == 303
    assert conf.current().min_hours == 24
    assert b"/settings/reset/min_hours/" not in browser.get("/settings/").content
    assert browser.post("/settings/reset/no_such/").status_code == 404


def test_the_source_of_a_value_is_shown(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYWEB_MIN_HOURS", "36")
    text = browser.get("/settings/").content.decode()
    assert "From the environment" in text
    assert "MEMORYWEB_MIN_HOURS" in text
    assert 'value="36"' in text


def test_a_project_has_its_own_and_falls_back(browser: Client, world: World) -> None:
    address = f"/projects/{world.project.pk}/settings/"
    settings_changes.set_override("min_hours", 12, actor="owner")
    browser.post(address, {"group": "When", "dreaming": "on", "min_hours": "48"})
    assert conf.current(world.project).min_hours == 48
    assert conf.current(world.other).min_hours == 12
    browser.post(f"{address}reset/min_hours/")
    assert conf.current(world.project).min_hours == 12


def test_what_is_set_for_all_together_is_not_offered_to_a_project(browser: Client, world: World) -> None:
    text = browser.get(f"/projects/{world.project.pk}/settings/").content.decode()
    assert 's-max_cost_day"' not in text
    assert "Danger zone" not in text
    with pytest.raises(conf.BadValue):
        settings_changes.set_override("paused", True, actor="owner", project=world.project)


def test_pausing_stops_everything_and_says_so_on_each_page(browser: Client) -> None:
    assert browser.get("/settings/pause/").status_code == 405
    browser.post("/settings/pause/")
    assert conf.current().paused is True
    assert b"All dreaming is paused" in browser.get("/health/").content
    browser.post("/settings/resume/")
    assert b"All dreaming is paused" not in browser.get("/health/").content


def test_a_policy_is_set_taken_away_and_audited(browser: Client) -> None:
    browser.post("/settings/", {"user-add": "auto", "any-change": ""})
    row = Policy.objects.get()
    assert (row.project, row.memory_type, row.operation, row.action) == (None, "user", "add", "auto")
    browser.post("/settings/", {"user-add": ""})
    assert not Policy.objects.exists()
    entries = AuditEntry.objects.filter(action="policy.changed").order_by("number")
    assert [entry.data for entry in entries] == [{"was": None, "now": "auto"}, {"was": "auto", "now": None}]


def test_removing_without_asking_is_warned_about(browser: Client, world: World) -> None:
    warning = b"Memories can be removed without asking you"
    assert warning not in browser.get("/settings/").content
    settings_changes.set_policy("remove", "auto", actor="owner", memory_type="user")
    of_one = f"/projects/{world.project.pk}/settings/"
    for page in ("/settings/", of_one):
        assert warning in browser.get(page).content
    settings_changes.set_policy("remove", "review", actor="owner", memory_type="user", project=world.project)
    assert warning not in browser.get(of_one).content


def test_a_policy_left_alone_says_what_holds(browser: Client, world: World) -> None:
    settings_changes.set_policy("add", "auto", actor="owner")
    text = browser.get(f"/projects/{world.project.pk}/settings/").content.decode()
    assert text.count("Not set: applied") == len(settings_changes.MEMORY_TYPES)


@pytest.mark.parametrize(
    ("operation", "action", "kind"), [("wipe", "auto", ""), ("add", "maybe", ""), ("add", "auto", "weird")]
)
def test_an_unknown_policy_is_refused(operation: str, action: str, kind: str) -> None:
    with pytest.raises(settings_changes.BadPolicy):
        settings_changes.set_policy(operation, action, actor="owner", memory_type=kind)


def test_a_policy_about_nothing_is_refused_with_the_remedy() -> None:
    with pytest.raises(settings_changes.BadPolicy, match="Choose an operation or a kind of change"):
        settings_changes.set_policy("", "auto", actor="owner")


def test_setting_the_same_again_writes_nothing() -> None:
    settings_changes.set_override("min_hours", "12", actor="owner")
    settings_changes.set_override("min_hours", 12, actor="owner")
    settings_changes.reset_override("max_turns", actor="owner")
    assert AuditEntry.objects.count() == 1


def test_a_stored_value_that_is_none_any_more_is_passed_over_and_stops_no_page(
    browser: Client, world: World
) -> None:
    Override.objects.create(project=world.project, key="max_seconds", value=10**9)
    Override.objects.create(project=None, key="max_turns", value="many")
    for page in ("/settings/", f"/projects/{world.project.pk}/settings/", "/engines/"):
        assert browser.get(page).status_code == 200
    found = conf.current(world.project)
    assert (found.max_seconds, found.max_turns) == (conf.Config().max_seconds, conf.Config().max_turns)


def test_what_is_typed_in_one_section_is_saved_with_another(browser: Client) -> None:
    text = browser.get("/settings/").content.decode()
    form = {
        "group": ["When", "Budget"],
        "dreaming": "on",
        "watch": "on",
        "min_hours": "7",
        "max_cost_day": "9",
        "user-add": "auto",
    }
    # One form has all of it, and one button saves it.
    assert text.count(">Save<") == 2 and text.count('form="settings"') > len(conf.specs())
    page = browser.post("/settings/", form, follow=True).content.decode()
    assert "2 settings and 1 policy changed." in page
    assert (conf.current().min_hours, conf.current().max_cost_day) == (7, 9)
    assert Policy.objects.get().action == "auto"


def test_with_a_wrong_value_what_was_typed_in_other_sections_stays(browser: Client) -> None:
    form = {
        "group": ["When", "Budget"],
        "dreaming": "on",
        "min_hours": "soon",
        "max_cost_day": "9",
        "user-add": "auto",
    }
    response = browser.post("/settings/", form)
    text = response.content.decode()
    assert response.status_code == 422 and 'value="soon"' in text and 'value="9"' in text
    row = text[text.index('name="user-add"') :].partition("</select>")[0]
    assert '<option value="auto" selected>' in row
    # So that leaving asks, as it does with what was typed and not sent.
    assert "data-refused" in text and "data-refused" not in browser.get("/settings/").content.decode()
    assert not Override.objects.exists() and not Policy.objects.exists()


def test_a_reset_leaves_what_is_typed_elsewhere(browser: Client) -> None:
    settings_changes.set_override("min_hours", 12, actor="owner")
    form = {"group": ["When", "Budget"], "dreaming": "on", "min_hours": "13", "max_cost_day": "9"}
    text = browser.post("/settings/reset/min_hours/", form).content.decode()
    assert "What else you typed is not saved yet." in text and 'value="9"' in text and 'value="24"' in text
    assert not Override.objects.exists()
