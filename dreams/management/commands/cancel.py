"""`cancel DREAM`: cancel a dream; it does not count for the wait before the next one."""

from dreams.management import base, named
from dreams.services import dreaming, lookup


class Command(base.Command):
    help = "Cancel a waiting or running dream."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_dream(parser)

    def run(self, options: base.Options) -> base.Result:
        dream = lookup.dream(options["dream"])
        if not dreaming.cancel(dream, named.me().name):
            raise base.Refused(
                f"{dream.public_id} has already ended ({dream.get_status_display().lower()}); there is nothing to cancel."
            )
        dream.refresh_from_db()
        return {"dream": dream.public_id, "status": dream.status, "asked": True}

    def words(self, result: base.Result) -> base.Words:
        yield f"{result['dream']}: {'cancelled' if result['status'] == 'killed' else 'asked to stop'}"
