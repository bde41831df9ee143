"""`login_url`: a new one-time login link."""

from django.conf import settings
from django.utils import timezone

from dreams.management import base
from dreams.services import login, server_registry
from dreams.services.serving import web_server
from memoryweb import typed


class Command(base.Command):
    help = "Print a new one-time login link and its code."

    def run(self, options: base.Options) -> base.Result:
        server = server_registry.running()
        if server is None:
            self.say(f"No server runs on this data directory. Start one with: {typed('serve')}")
        address = server.address if server else web_server.address("127.0.0.1", settings.PORT)
        now = timezone.now()
        login.ensure_owner()
        link = login.make_link(now)
        return {"url": address + link.path, "code": link.code, "expires_at": now + login.LIFETIME}

    def words(self, result: base.Result) -> base.Words:
        until = timezone.localtime(result["expires_at"])
        yield f"{result['url']}"
        yield f"Code: {result['code']} (once, until {until:%H:%M})"
