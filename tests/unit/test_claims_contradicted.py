"""Contradicted means contradicted: another value of the same measure of the same thing. Whatever else differs is not found."""

from dreams.lib.prose.claims import SessionText, check
from tests.world.cases import each


def answer(claim: str, *said: str) -> str:
    evidence = SessionText()
    for line, text in enumerate(said, start=1):
        evidence.add(text, line, "user", prose=True)
    return check(evidence, claim).answer


@each(
    ("claim", "said"),
    [
        ("The weekly report of the archive is sent on Tuesday", "On Monday the archive sends its report to the printer."),
        ("The rotation of the logs takes one minute", "The rotation of the logs happens every hour."),
        ("Rotated logs of the gateway are kept for a week", "The gateway rotates its logs every day."),
        ("Failed jobs are shown in red on the dashboard", "The dashboard shows failed jobs on a white page."),
        ("The archive closes its accounts in March", "The archive counts its accounts in January."),
        ("Uploads to the media bucket are limited in MB", "Uploads to the media bucket grew by a GB."),
        ("The installer of the agent runs on Linux", "The installer of the agent runs on macOS too."),
        ("The importer is deployed to staging by the release job", "The release job deploys the importer to production."),
        ("Unit tests of the importer run on every push", "Integration tests of the importer run on every push."),
        ("The client of the importer retries a failed upload", "The server of the importer retries a failed upload."),
        ("The importer has a queue of 500 rows", "The importer has a queue and 3 workers."),
        ("The importer writes its rows to `attic`", "The importer writes its rows with `pigeon`."),
        ("never use capitals in the newsletter, people found them loud", "remember that the test group is 40 people, there is no second group"),
    ],
)  # fmt: skip
def test_another_member_of_one_class_is_no_contradiction(claim: str, said: str) -> None:
    assert answer(claim, said) != "contradicted"


@each(
    ("claim", "said"),
    [
        ("Backups of the ledger are kept for 30 days", "Backups of the ledger are kept for 14 days."),
        ("The importer of the shop reads 500 rows per batch", "The importer of the shop reads 200 rows per batch."),
        ("The export of the ledger is enabled in the demo", "The export of the ledger is disabled in the demo."),
        ("The importer never retries a failed batch", "The importer always retries a failed batch."),
        ("The importer does not retry a failed batch", "The importer does retry a failed batch."),
        ("The reports of the shop are written to `reports/daily`", "The reports of the shop are written to `out/daily`."),
    ],
)  # fmt: skip
def test_another_value_of_the_same_measure_is_one(claim: str, said: str) -> None:
    assert answer(claim, said) == "contradicted"
