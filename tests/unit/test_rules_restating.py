"""When a statement is put anew, and when another one only looks like it."""

from __future__ import annotations

from dreams.engines.rules.steps.restating import is_later, restated
from tests.world.cases import each


@each(
    ("one", "other"),
    [
        ("Nightly backups of the shop database run at 2:00.", "Nightly backups of the blog database run at 3:00."),
        ("Nightly backups of Atlas are kept in S3 for 30 days.", "Nightly backups of Borealis are kept in S3 for 30 days."),
        ("Pages of the portal are rendered by the edge worker.", "Pages of the checkout are rendered by the edge worker."),
        ("Flags for beta users are toggled by the support team weekly.", "Flags for internal users are toggled by the support team weekly."),
        ("The importer retries 3 times on timeouts and logs to S3.", "The importer retries 5 times on bad gateways and logs to S3."),
        ("Release notes are written by the product owner.", "Release notes are reviewed by the product owner."),
        ("`build.sh` compiles the server and copies assets into dist.", "`build.sh` compiles the worker and copies fixtures into dist."),
        ("Read replicas of the orders database lag up to 5 seconds.", "Read replicas of the users database lag up to 9 seconds."),
        ("Firewall rule 12 opens 5300 for the build hosts", "Firewall rule 13 opens 5400 for the build hosts"),
        ("Mission 2 (documentation): half done", "Mission 3 (documentation): half done"),
        ("Board 1 of 3 carries the radio", "Board 2 of 3 carries the radio"),
        ("Runtime (Copper Importer): Node 20", "Runtime (Copper Indexer): Node 22"),
        ("Batch size (customer Borealis): 12", "batch size of customer Acme: from 12 to 17"),
        ("Between the web tier and the US cluster sits `orders`.", "Between the web tier and the EU cluster sits `bills`."),
        ("The internal address of the API is box-1.acme.dev.", "The internal address of the admin API is box-2.acme.dev."),
    ],
)  # fmt: skip
def test_a_plain_word_in_the_place_of_another_makes_it_another_statement(one: str, other: str) -> None:
    assert not restated(one, other) and not restated(other, one)


@each(
    ("old", "new"),
    [
        ("Fastify backend with /ping and /health routes", "Fastify backend with /ping, /health, and /api/settings routes"),
        ("SQLite via better-sqlite3 with WAL mode and a settings table", "SQLite via better-sqlite3 and Drizzle ORM 1, with WAL mode and a settings table"),
        ("`grid-attempt` holds the grid optimisation (not on main yet)", "`grid-attempt` holds the older grid optimisation"),
        ("Ask before adding a package", "Ask before adding a package; tools for tests only are fine"),
        ("Unicode identifiers are not supported yet", "Unicode identifiers are supported since v0.9"),
        ("319 tests across 26 files; all pass offline", "1078 tests across 69 files; all pass offline"),
        ("118 unit tests, 12 e2e tests, all green", "164 unit tests, 19 e2e tests, all green"),
        ("Ideas for the onboarding flow written down in May", "Ideas for the onboarding flow: two built in May, the rest is on hold"),
        ("Auth: JWT in localStorage, 24 h expiry", "Auth: JWT in a cookie, 15 min expiry and a refresh token"),
    ],
)  # fmt: skip
def test_values_additions_and_cuts_leave_it_the_same_statement(old: str, new: str) -> None:
    assert restated(old, new)


@each(
    ("old", "new"),
    [
        ("The search box doesn't read the URL; results are kept in SQLite", "The search box reads the URL"),
        ("The shader cache is not warmed up, so it stutters", "The shader cache is warmed up in the benchmark build"),
        ("Guide v1.3 of the team — install, first run", "Guide v1.3 of the team: published"),
        ("The key rotates every 90 days", "The key rotates every 30 days for contractors"),
        ("The worker pool has 4 threads", "The worker pool of the mailer has 16 threads"),
        ("The importer has 12 checks in all", "The importer has 14 checks in all of the EU shops"),
        ("Ideas for the onboarding flow written down in May", "Ideas for the checkout flow: two built in May"),
        ("Tests must hit a real database, not mocks.", "Tests must hit the real database, not mocks. Do it again for the importer."),
        ("Ideas for the onboarding flow are kept in the wiki of the design team in Oslo", "Ideas for the onboarding flow: two built, one left"),
    ],
)  # fmt: skip
def test_what_is_said_besides_of_another_thing_or_of_a_part_is_not_put_anew(old: str, new: str) -> None:
    assert not restated(old, new)


def test_the_same_of_a_later_day_is_the_same_statement() -> None:
    assert is_later("As of 2026-03-16, the project has:", "As of 2026-03-18, the project has:")
    assert not is_later("As of 2026-03-18, the project has:", "As of 2026-03-16, the project has:")
    assert not is_later("As of 2026-03-16, the project has:", "As of 2026-03-18, the project lacks:")


@each(
    ("old", "new"),
    [
        (
            "The importer reads files from the shared bucket each night at 02:00.",
            "the importer reads files from the shared bucket each night and each morning",
        ),
        (
            "Backups of the shop go to the cellar every night at 02:00 and 14:00.",
            "Backups of the shop go to the cellar every night and every noon",
        ),
    ],
)
def test_a_wording_that_loses_a_value_without_giving_one_does_not_replace_the_statement(
    old: str, new: str
) -> None:
    assert not restated(old, new)
