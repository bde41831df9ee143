"""`people`: the accounts, their roles and their logins."""

from django.contrib.auth.models import User
from django.utils import timezone

from dreams.lib import amounts
from dreams.management import base, named
from dreams.models import LoginSession
from dreams.services import login, people
from dreams.services.people import Role
from memoryweb import typed


class Command(base.Command):
    help = (
        "List the accounts; add NAME: a new one; role NAME --role ROLE: what it may do; remove NAME: it can no longer log in; "
        "logins: who is logged in where; end NAME: end all logins of an account. "
        "A viewer reads, a reviewer decides and undoes, an admin also changes settings and people."
    )

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "action", nargs="?", choices=["list", "add", "role", "remove", "logins", "end"], default="list"
        )
        parser.add_argument("name", nargs="?", default="", metavar="NAME")
        parser.add_argument("--role", choices=[role.label for role in Role])

    def run(self, options: base.Options) -> base.Result:
        action, name, role = options["action"], options["name"], options["role"]
        if (action not in ("list", "logins")) != bool(name):
            raise base.BadUsage(
                "`people list` and `people logins` take no NAME; add, role, remove and end need one."
            )
        if (action in ("add", "role")) != bool(role):
            raise base.BadUsage("add and role need --role; nothing else takes it.")
        login.ensure_owner()
        self._do(action, name, role)
        if action == "logins":
            return {"logins": [_login(row) for row in login.sessions()]}
        return {"people": [_person(user) for user in people.everybody()]}

    def _do(self, action: str, name: str, role: str | None) -> None:
        if action == "add" and role:
            people.add(name, Role.named(role), named.me())
            self.say(f"Added. Give the account a password: {typed('password')} {name}")
        elif action == "role" and role:
            people.set_role(name, Role.named(role), named.me())
        elif action == "remove":
            people.remove(name, named.me())
        elif action == "end":
            rows = login.sessions().filter(user=people.find(name))
            self.say(f"Ended: {login.end(rows, named.me().name, by_command=True)}.")

    def words(self, result: base.Result) -> base.Words:
        if "logins" in result:
            rows = [
                (one["name"], one["device"], one["address"], amounts.ago(one["seen_at"], timezone.now()))
                for one in result["logins"]
            ]
            return base.table(("Name", "Device", "Address", "Last used"), rows)
        rows = [
            (one["name"], one["role"], "yes" if one["password"] else "no", one["may"])
            for one in result["people"]
        ]
        return base.table(("Name", "Role", "Password", "May"), rows)


def _person(user: User) -> base.Result:
    role = people.role_of(user)
    return {
        "name": user.username,
        "role": role.label if role else "",
        "password": user.has_usable_password(),
        "may": role.may if role else "",
    }


def _login(row: LoginSession) -> base.Result:
    return {"name": row.user.get_username(), **base.fields(row, "device", "address", "made_at", "seen_at")}
