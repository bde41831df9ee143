"""A password for an account: typed twice or from stdin, refused when weak, in the audit log without a word of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth import authenticate

from dreams.models import AuditEntry
from dreams.services import auditlog, login
from tests.world.processes import commands as forked
from tests.world.processes.servers import Home

GOOD = "seven brown kettles"


@pytest.mark.more
def test_a_first_command_of_a_new_machine_may_be_this_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    refused = forked.run("password", environment=home.environment, stdin="short\n")
    assert refused.returncode == 1
    assert "at least 10 characters" in refused.stderr
    assert "Traceback" not in refused.stderr
    done = forked.run("password", environment=home.environment, stdin=f"{GOOD}\n")
    assert (done.returncode, done.stdout) == (0, "The password is set.\n")
    assert GOOD not in str(home.rows("SELECT * FROM dreams_auditentry"))


@pytest.mark.django_db
def test_the_account_can_then_log_in_and_the_log_says_so() -> None:
    login.set_password("", GOOD)
    assert authenticate(username=login.OWNER, password=GOOD)
    assert AuditEntry.objects.filter(action="login.password", object_id=login.OWNER).exists()
    assert auditlog.ACTIONS["login.password"][0] == "Password set"


@pytest.mark.django_db
def test_an_account_that_is_not_there_is_named() -> None:
    with pytest.raises(login.PasswordRefused, match="No account is called ann"):
        login.set_password("ann", GOOD)
