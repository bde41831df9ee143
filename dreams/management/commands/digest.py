"""`digest [--send]`: what waits for a person, as in the mail and the webhook."""

from typing import Any

from django.utils import timezone

from dreams.management import base, named
from dreams.services import notify


class Command(base.Command):
    help = "Print what is waiting for you. --send also sends it to the addresses in the settings."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("--send", action="store_true", help="also send it now, by mail and webhook")

    def run(self, options: base.Options) -> base.Result:
        now = timezone.now()
        digest = notify.collect(now)
        result: dict[str, Any] = {**digest.as_json(), "text": digest.as_text(), "sent": []}
        if not options["send"]:
            return result
        outcome = notify.send(now, actor=named.me().name)
        if not outcome:
            raise base.Refused(
                "No address is set for a digest. Set MEMORYWEB_DIGEST_EMAIL or MEMORYWEB_DIGEST_WEBHOOK."
            )
        result["sent"] = [name for name, problem in outcome.items() if not problem]
        problems = [f"{name}: {problem}" for name, problem in outcome.items() if problem]
        if problems:
            raise base.Refused(" ".join(problems), result)
        return result

    def words(self, result: base.Result) -> base.Words:
        yield result["subject"]
        yield ""
        yield str(result["text"]).rstrip("\n")
        if result["sent"]:
            yield f"Sent by {' and '.join(result['sent'])}."
