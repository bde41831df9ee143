"""What a session changed is changed where it surely stands, and nowhere else."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from dreams import findings
from dreams.findings.directories import between
from tests.world.cases import each
from tests.world.rules import NOON, Dreamt, dream, memory, session, unaccounted

INDEX = "- [Notes](notes.md) — notes\n"


def told(folder: Path, line: str, *prompts: str, more: str = "", index: str = INDEX) -> Dreamt:
    """One statement in memory, and one session after it."""
    files = {"notes.md": memory(f"- {line}\n- The docs are built with Sphinx.\n{more}"), "MEMORY.md": index}
    return dream(folder, files, [session(1, *prompts)])


@each(
    ("line", "said", "now"),
    [
        ("The API runs on PostgreSQL 15.", "we upgraded the API from PostgreSQL 15 to PostgreSQL 16", "The API runs on PostgreSQL 16."),
        ("The API listens on port 8080.", "the API is on port 9090 now", "The API listens on port 9090."),
        ("CI runs on CircleCI.", "CI runs on GitHub Actions now, not CircleCI", "CI runs on GitHub Actions."),
        ("**Database:** PostgreSQL 15", "the database is PostgreSQL 16 now", "**Database:** PostgreSQL 16"),
        ("PRs are merged with squash.", "PRs are merged with rebase now, not squash", "PRs are merged with rebase."),
        ("Flags are managed in LaunchDarkly.", "we moved the flags from LaunchDarkly to Unleash last month, can you fix the client?", "Flags are managed in Unleash."),
        ("The cache TTL is 60 seconds.", "cache TTL: 300 seconds now (was 60)", "The cache TTL is 300 seconds."),
        ("We sign builds with GPG.", "builds are signed with cosign now, not GPG", "We sign builds with cosign."),
        ("The support mail is help@orbit.io.", "the support mail changed, now it is support@orbit.io", "The support mail is support@orbit.io."),
        ("Docker setup targeting Node 24", "docker setup is targeting Node 26 now", "Docker setup targeting Node 26"),
        ("Stand-up is at 09:30, retro every second Friday.", "stand-up is at 10:00 now", "Stand-up is at 10:00, retro every second Friday."),
        ("The backup runs at 02:30 UTC and goes to s3://acme.", "the backup runs at 03:15 UTC now", "The backup runs at 03:15 UTC and goes to s3://acme."),
        ("Logs are kept for 30 days.", "Remember that logs are kept for 90 days.", "Logs are kept for 90 days."),
        ("The loader is at 0x8000 in flash.", "we moved the loader from 0x8000 to 0x1f000", "The loader is at 0x1f000 in flash."),
        ("Ask 3a1b@orbit.io about the relay.", "ask 9c2d@quay.io about the relay now, not 3a1b@orbit.io", "Ask 9c2d@quay.io about the relay."),
        ("The relay log is 2024q3.md.", "the relay log is notes.md now, not 2024q3.md", "The relay log is notes.md."),
        ("larch-shipper splits at `;`", "we changed larch-shipper from `;` to ` `", "larch-shipper splits at ` `"),
        ("The importer has a timeout of 20 seconds.", "we raised the timeout of the importer to 45 seconds", "The importer has a timeout of 45 seconds."),
    ],
)  # fmt: skip
def test_a_value_that_a_person_told_anew_stands_in_the_place_of_the_old_one(
    tmp_path: Path, line: str, said: str, now: str
) -> None:
    made = told(tmp_path, line, said)
    assert f"- {now}\n" in made.text("notes.md")
    assert line not in made.text("notes.md")
    assert list(made.after) == ["MEMORY.md", "notes.md"], "and nothing is learnt beside it"
    (edits,) = made.operations("update").values()
    assert edits[0].citations[0].source == "transcript" and edits[0].citations[0].role == "user"
    assert not unaccounted(edits[0])


API = "The API listens on port 8080."
RETRIES = "Retry 3 times."


@each(
    ("line", "said"),
    [
        (RETRIES, "it retried 5 times instead of 3 times"),
        (RETRIES, "the job retried 5 times, not 3 times"),
        (RETRIES, "I saw it retry 5 times instead of 3 times"),
        (RETRIES, "it took 5 times instead of 3 times"),
        (RETRIES, "it retries 5 times now"),
        (RETRIES, "now it retried 5 times instead of 3"),
        ("Retries failed uploads 3 times.", "uploads retried 5 times instead of 3"),
        ("The tests run in 3 minutes.", "the tests ran in 5 minutes now"),
        ("The header is blue.", "the header is red, not blue"),
        (API, "the API listened on port 9090 instead of 8080"),
        (API, "the API listened on port 9090 now"),
        (API, "the API had port 9090 instead of 8080"),
        (API, "the API got port 9090 instead of 8080"),
        (API, "the API never listened on port 9090 instead of 8080"),
        (API, "today the API listens on 9090 instead of 8080"),
        (API, "right now the API listens on port 9090"),
        (API, "the API listens on port 9090 now and then"),
        (API, "it listens on port 9090 now"),
        (API, "I see the API listens on port 9090 now"),
        (API, "they moved the API from 8080 to 9090"),
        (API, "nobody moved the API from 8080 to 9090"),
        (API, "none of us moved the API from 8080 to 9090"),
        (API, "not all of us moved the API from 8080 to 9090"),
        (API, "without having moved the API from 8080 to 9090"),
        (API, "we had moved the API from 8080 to 9090"),
        (API, "back then we moved the API from 8080 to 9090"),
        ("Flags are managed in LaunchDarkly.", "it is gone because we moved the flags from LaunchDarkly to Unleash last month"),
    ],
)  # fmt: skip
def test_a_report_of_an_event_changes_nothing_and_is_at_most_asked_about(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, said)
    assert made.after == made.before
    assert {each.kind for each in made.outcome.questions} <= {"changed"}


POOL = "The worker pool has 8 threads and a queue of 200 jobs."


@each(
    ("line", "said"),
    [
        (API, "the API listens on port 9090"),
        (API, "the API listened on port 9090"),
        (API, "API listens on port 9090 in docker"),
        (API, "the API listens on port 8080 and 9090"),
        (POOL, "the worker pool had 0 threads and a queue of 200 jobs"),
        (POOL, "the worker pool of the mixer has 12 threads and a queue of 200 jobs"),
        (POOL, "the worker pool has 12 threads and a queue of 200 jobs here"),
    ],
)
def test_a_plain_sentence_that_reads_like_a_memory_is_asked_about(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, said)
    assert made.after == made.before
    assert [each.kind for each in made.outcome.questions] == ["changed"]


@each(
    "said",
    [
        "No, that's wrong. The port is 8081, not 8080.",
        "The shop listens on 8081 instead of 8080.",
        "no, the port of the shop is 8081, and not 8080",
    ],
)
def test_a_contrast_without_another_word_of_change_is_asked_about(tmp_path: Path, said: str) -> None:
    made = told(tmp_path, "The shop listens on port 8080.", said)
    assert made.after == made.before
    assert [each.kind for each in made.outcome.questions] == ["changed"]


def test_a_value_that_two_things_have_is_not_changed_for_both_unasked(tmp_path: Path) -> None:
    more = "- Timeout of the worker is 30s.\n"
    made = told(
        tmp_path, "Timeout of the gateway is 30s.", "we raised the timeout from 30s to 60s", more=more
    )
    assert made.after == made.before and [each.kind for each in made.outcome.questions] == ["changed"]


def test_of_two_things_the_one_that_says_no_more_than_the_sentence_is_meant(tmp_path: Path) -> None:
    index = "- [API](api.md)\n- [Admin](admin.md)\n"
    admin, said = (
        memory("The admin API listens on port 8081.\n"),
        session(1, "the API listens on port 9090 now"),
    )
    files = {"MEMORY.md": index, "admin.md": admin, "api.md": memory("The API listens on port 8080.\n")}
    made = dream(tmp_path / "one", files, [said])
    assert "The API listens on port 9090.\n" in made.text("api.md") and made.text("admin.md") == admin
    made = dream(
        tmp_path / "none", {**files, "api.md": memory("The shop API listens on port 8080.\n")}, [said]
    )
    assert made.after == made.before and made.outcome.questions


@each(
    ("line", "said"),
    [
        ("Timeout: 30s", "the timeout is 60s now"),
        ("timeout 30s", "the timeout is 60s now, not 30s"),
        ("relay-api: 8080", "relay-api is on 9090 now"),
    ],
)
def test_a_statement_of_two_words_may_be_meant_and_not_the_one_of_uploads(
    tmp_path: Path, line: str, said: str
) -> None:
    name, value = line.split()
    made = told(tmp_path, line, said, more=f"- {name} of uploads: {value}\n")
    assert f"uploads: {value}" in made.text("notes.md") and (made.edits or made.outcome.questions)


def test_a_statement_of_two_words_alone_changes(tmp_path: Path) -> None:
    made = told(tmp_path, "Timeout: 30s", "the timeout is 60s now")
    assert "- Timeout: 60s\n" in made.text("notes.md")


@each("after", ["Just this week.", "At least in staging.", "Only until Friday.", "But only on my laptop."])
def test_what_the_next_sentence_restricts_is_not_changed(tmp_path: Path, after: str) -> None:
    made = told(tmp_path, API, f"the API listens on port 9090 now. {after}")
    assert made.after == made.before


def test_a_statement_without_a_word_of_change_is_not_carried_by_another_sentence(tmp_path: Path) -> None:
    made = told(
        tmp_path, API, "in the log the port of the API is 9090, not 8080", "we moved the wiki to Notion"
    )
    assert API in made.text("notes.md")


NAMED_BY_A_NOUN = [
    ("feature flag for checkout: DELTA_SORTER", "renamed the checkout flag to LILAC_FORWARDER"),
    ("Default branch is master.", "renamed the master branch to main"),
    ("Database host for reports: db-7.internal", "we renamed the reports host to db-9.internal"),
    ("The Atlas flag for checkout is NEW_UI.", "renamed the checkout flag to LILAC_FORWARDER"),
    ("The release branch for mobile is rel-9.", "renamed branch to rel-10"),
    ("The scheduler worker reads QUEUE_A.", "renamed the scheduler worker to PLANNER"),
    ("The importer service listens on 8080.", "we renamed the importer service to INGEST_SVC"),
    ("The Phoenix project uses Redis.", "we renamed the Phoenix project to Atlas"),
    ("The staging bucket lives in eu-west-1.", "we changed the staging bucket to acme-stage-2"),
    ("The staging bucket is acme-stage-1.", "we moved the staging bucket to eu-west-2"),
]


@each(("line", "said"), NAMED_BY_A_NOUN)
def test_the_noun_that_says_what_a_thing_is_and_a_value_of_another_kind_stay(
    tmp_path: Path, line: str, said: str
) -> None:
    assert line in told(tmp_path, line, said).text("notes.md")


def test_what_was_renamed_for_a_thing_is_asked_about_where_it_is_not_sure(tmp_path: Path) -> None:
    line = "Feature flag for checkout-api: DELTA_SORTER"
    made = told(tmp_path, line, "renamed the checkout-api flag to LILAC_FORWARDER")
    (asked,) = made.outcome.questions
    assert asked.kind == "changed" and "LILAC_FORWARDER" in asked.why and "DELTA_SORTER" in asked.why
    assert line in made.text("notes.md")


@each(
    ("line", "said", "now"),
    [
        ("The flag for checkout is DELTA_SORTER.", "renamed the checkout flag to LILAC_FORWARDER", "The flag for checkout is LILAC_FORWARDER."),
        ("The billing queue is called `jobs-a`.", "we renamed the billing queue to `jobs-b`", "The billing queue is called `jobs-b`."),
        ("The staging bucket lives in eu-west-1.", "we moved the staging bucket to eu-west-2", "The staging bucket lives in eu-west-2."),
        ("Default branch is master.", "renamed master to main", "Default branch is main."),
        ("Anna Berg owns the importer.", "btw, Tom Lind owns the importer now", "Tom Lind owns the importer."),
        ("Jonas Weber owns the mobile app.", "Jonas left, the mobile app is owned by Priya Nair now", "Priya Nair owns the mobile app."),
        ("Deploys go through Jenkins.", "deploys go through GitHub Actions now", "Deploys go through GitHub Actions."),
        ("Use yarn for installs.", "we switched from yarn to pnpm", "Use pnpm for installs."),
        ("Our cloud provider is AWS.", "heads up, our cloud provider is GCP now", "Our cloud provider is GCP."),
        ("Deploys go out on Tuesdays.", "deploys go out on Thursdays now", "Deploys go out on Thursdays."),
        ("Package manager: yarn", "we use pnpm now instead of yarn", "Package manager: pnpm"),
        ("The office is in Lyon.", "we moved offices, the office is in Nantes now", "The office is in Nantes."),
        ("Queue 3 is drained by hand.", "queue 4 is drained by hand now", "Queue 4 is drained by hand."),
        ("Builds are slow because CI runs on Jenkins.", "CI runs on Argo now, not Jenkins", "Builds are slow because CI runs on Argo."),
        ("The upload limit is 500 MB.", "the upload limit is 2 GB now, not 500 MB", "the upload limit is 2 GB"),
        ("The audit is on 12 May.", "the audit is on 14 May now, not 12 May", "the audit is on 14 May"),
        ("Stand-up is at 9:30 on Mondays.", "stand-up is at 10:00 now", "Stand-up is at 10:00 on Mondays."),
    ],
)  # fmt: skip
def test_what_may_have_taken_the_place_of_what_memory_says_is_asked(
    tmp_path: Path, line: str, said: str, now: str
) -> None:
    made = told(tmp_path, line, said)
    assert made.edits == []
    (asked,) = [each for each in made.outcome.questions if each.kind == "changed"]
    (edit,) = asked.options[0].edits
    assert f"- {now}\n" in (edit.after or "") and line not in (edit.after or "")


@each(
    ("line", "said"),
    [
        ("Deploys need two approvals.", "Remember that deploys need two approvals."),
        (
            "The release runs on Fridays at 14:00.",
            "the release runs on Fridays at 14:00, keep that in memory",
        ),
    ],
)
def test_what_memory_says_already_is_neither_asked_about_nor_put_anew(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, said)
    assert (made.edits, made.outcome.questions) == ([], [])


def test_what_denies_what_memory_says_is_written_as_it_was_typed(tmp_path: Path) -> None:
    made = told(tmp_path, "Deploys need two approvals.", "Remember that deploys no longer need two approvals")
    new = {text for edit in made.edits if edit.path != "MEMORY.md" for text in (edit.after or "").split("\n")}
    assert "- deploys no longer need two approvals" in new and "- Deploys deploys two approvals." not in new


def test_what_denies_a_statement_of_named_things_is_asked_about(tmp_path: Path) -> None:
    line, said = "`relay` sends to `mixer` on `db-3`.", "`relay` never sends to `mixer` on `db-3`"
    made = told(tmp_path, line, f"Remember that {said}")
    [asked] = made.outcome.questions
    assert (made.edits, asked.kind, asked.places[0].text) == ([], "changed", line)
    [replaced] = asked.options[0].edits
    assert said in (replaced.after or "") and line not in (replaced.after or "")


LEFT = [
    ("Queue 3 is drained by hand.", "queue 4 is drained by hand now"),
    ("Firewall rule 12 opens 5300.", "firewall rule 13 opens 5300 now"),
    ("Ticket 31 is done.", "ticket 32 is done now"),
    ("The API is on port 80, the admin UI on port 81.", "the API is on port 82 now"),
    ("See ticket 12 for details.", "ticket 31 is now done"),
    ("See larch:12 for details.", "larch:31 is now done"),
    ("The API runs on PostgreSQL 15.", "the importer runs on PostgreSQL 16 now"),
    ("Staging uses PostgreSQL 15.", "production uses PostgreSQL 16 now"),
    ("Billing uses Redis.", "search uses Redis now"),
    ("The owner of Kelp Balancer is unknown.", "the owner of Teal Stitcher is unknown now"),
    ("`foo.py` reads the config.", "`bar.py` reads the config now"),
    ("`make up` starts the importer.", "`make up` starts the exporter now"),
    ("`npm run dev` starts Heron Sampler.", "`npm run dev` starts pewter-verifier now"),
    ("The worker keeps logs for 30 days.", "the worker keeps backups for 14 days now"),
    ("The API sends at most 240 requests per minute to Stripe.", "the API accepts at most 500 requests per minute now"),
    ("The API listens on port 8080 in staging.", "the API listens on port 9090 now"),
    ("Tests run on Python 3.11 and 3.12.", "tests run on Python 3.13 now"),
    ("The relay needs Node 20.", "the relay uses PostgreSQL 16 now"),
    ("Calls to the larch poller time out after 15 seconds.", "calls to the maple invoicer time out after 3 seconds now, not 15"),
    ("The cache TTL is 60 seconds.", "the cache size is 60 MB now"),
    ("The olive migrator uses CockroachDB.", "we switched the database of Olive Importer to PostgreSQL 15"),
    ("The API runs on PostgreSQL 15.", "we should move the API from PostgreSQL 15 to PostgreSQL 16"),
    ("The API runs on PostgreSQL 15.", "if the API runs on PostgreSQL 16 now, does it break?"),
    ("The API runs on PostgreSQL 15.", 'the vendor says "the API runs on PostgreSQL 16 now"'),
    ("The API runs on PostgreSQL 15.", "the ticket says the API runs on PostgreSQL 16 now"),
    ("The API runs on PostgreSQL 15.", "> the API runs on PostgreSQL 16 now"),
    ("The API runs on PostgreSQL 15.", "I think the API runs on PostgreSQL 16 now"),
    ("The API runs on PostgreSQL 15.", "the API runs on PostgreSQL 16 now and fails with an error"),
]  # fmt: skip


@each(("line", "said"), LEFT)
def test_what_is_another_thing_or_not_told_as_done_changes_nothing(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, said)
    assert f"- {line}\n" in made.text("notes.md")
    assert not made.operations("update")


@each(
    "prompts",
    [
        ("the API is on port 9090 now", "we moved the API back from port 9090 to port 8080"),
        ("the API is on port 9090 now", "we reverted that change: the API is on port 8080 again"),
        ("the API is on port 9090 now", "no wait, I was wrong: the API is on port 8080"),
        ("the API is on port 9090 now", "sorry, scrap that"),
        ("btw, your notes are wrong, the API listens on port 9090", "we moved the API to port 8080"),
        ("the API is on port 9090 now", "hm, after the rollback we have the API running at 8080 as ever"),
    ],
)
def test_what_was_changed_back_taken_back_or_spoken_of_as_it_was_leaves_no_change(
    tmp_path: Path, prompts: tuple[str, ...]
) -> None:
    assert told(tmp_path, "The API listens on port 8080.", *prompts).edits == []


def test_a_thing_that_was_changed_twice_has_its_last_value(tmp_path: Path) -> None:
    made = told(tmp_path, "The API is on port 80.", "the API is on port 81 now", "the API is on port 82 now")
    assert "- The API is on port 82.\n" in made.text("notes.md")
    assert len(made.operations("update")) == 1


def test_the_index_row_and_the_description_that_say_the_same_change_with_it(tmp_path: Path) -> None:
    files = {
        "notes.md": memory("The API listens on port 8080.\n", description="The API listens on port 8080"),
        "MEMORY.md": "- [Notes](notes.md) — The API listens on port 8080\n",
    }
    made = dream(tmp_path, files, [session(1, "the API listens on port 9090 now")])
    assert made.text("MEMORY.md") == "- [Notes](notes.md) — The API listens on port 9090\n"
    assert "description: The API listens on port 9090\n" in made.text("notes.md")
    assert "8080" not in made.text("notes.md")
    assert len(made.operations("update")) == 1


def test_a_file_that_sums_up_what_changed_changes_with_it_in_its_description_and_row(tmp_path: Path) -> None:
    files = {
        "stack.md": memory(
            "- Frontend: Next.js 14\n- Backend: FastAPI\n", description="FastAPI and Next.js 14"
        ),
        "other.md": memory("The old site ran Next.js 14 too.\n"),
        "MEMORY.md": "- [Stack](stack.md) — FastAPI, Next.js 14\n- [Other](other.md) — Next.js 14 then\n",
    }
    made = dream(tmp_path, files, [session(1, "we upgraded the frontend to Next.js 15")])
    assert "description: FastAPI and Next.js 15\n" in made.text("stack.md")
    assert made.text("MEMORY.md").split("\n")[0] == "- [Stack](stack.md) — FastAPI, Next.js 15"
    assert made.text("MEMORY.md").split("\n")[1] == "- [Other](other.md) — Next.js 14 then"
    assert made.after["other.md"] == made.before["other.md"]


def test_a_summary_does_not_change_where_what_it_sums_up_does_not(tmp_path: Path) -> None:
    files = {
        "testing.md": memory(
            "Use pytest with PostgreSQL 15, never SQLite.\n", description="tests run on PostgreSQL 15"
        ),
        "MEMORY.md": "- [Testing](testing.md) — tests run on PostgreSQL 15\n",
    }
    made = dream(tmp_path, files, [session(1, "the tests run on SQLite now, not PostgreSQL 15")])
    assert made.edits == []


def test_what_stands_below_an_environment_is_about_it_alone(tmp_path: Path) -> None:
    body = "- Database: PostgreSQL 15\n\n## Staging\n\n- Database: PostgreSQL 14\n"
    files = {"stack.md": memory(body), "MEMORY.md": "- [Stack](stack.md) — stack\n"}
    made = dream(tmp_path / "all", files, [session(1, "the database is PostgreSQL 17 now")])
    assert made.text("stack.md").endswith(
        "- Database: PostgreSQL 17\n\n## Staging\n\n- Database: PostgreSQL 14\n"
    )
    made = dream(tmp_path / "staging", files, [session(1, "the staging database is PostgreSQL 17 now")])
    assert made.text("stack.md").endswith(
        "- Database: PostgreSQL 15\n\n## Staging\n\n- Database: PostgreSQL 17\n"
    )


@each(
    "body",
    [
        "## Staging\n\n- The gateway listens on port 8443.\n",
        "- As of 2026-03 the gateway listens on port 8443.\n",
    ],
)
def test_few_words_change_nothing_that_holds_only_there_or_is_of_a_day(tmp_path: Path, body: str) -> None:
    files = {"ports.md": memory(body), "MEMORY.md": "- [Ports](ports.md) — ports\n"}
    assert dream(tmp_path, files, [session(1, "gateway on 9443 now")]).edits == []


@each(
    ("said", "wanted"),
    [
        ("gateway on 9443 now", "The gateway listens on port 9443."),
        ("the ledger is on 7000 now", "The ledger is on port 7000."),
        ("admin gateway on 9443 now", ""),
    ],
)
def test_few_words_change_the_one_value_that_can_be_meant(tmp_path: Path, said: str, wanted: str) -> None:
    lines = [
        "The gateway listens on port 8443.",
        "Deploys happen on Thursdays.",
        "The docs live in `docs/api`.",
        "The ledger is on port 6000.",
        "The ledger of the shop is on port 6100.",
    ]
    made = told(tmp_path, lines[0], said, more="".join(f"- {line}\n" for line in lines[1:]))
    now = [line[2:] for line in made.text("notes.md").split("\n") if line.startswith("- ")]
    assert [line for line in now if line not in lines and "Sphinx" not in line] == (
        [wanted] if wanted else []
    )


@each(
    ("line", "said"),
    [
        ("**Addons:** the modules of Odoo (`search_leads`, `crm_fields`) are in one folder.", "in the module search_leads allow another field of X for addresses that are no employee's"),
        ("Never run git commands in PowerShell or Bash.", "all fine, only an issue with -> Setting up the PowerShell profile"),
        ("The web host is https://shop.local:8443 behind the proxy.", "it stops at https://shop.local:8443/assets/web.min.js:77"),
    ],
)  # fmt: skip
def test_a_task_that_shares_a_name_with_memory_gives_it_no_new_value(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, said)
    assert [question.why for question in made.outcome.questions] == []
    assert made.edits == []


def test_what_is_put_anew_is_written_as_it_was_typed(tmp_path: Path) -> None:
    line = "The importer is a service that reads CSV files from the shared bucket."
    now = "the importer is a service that reads CSV and XML files from the shared bucket"
    assert now in told(tmp_path, line, f"Correction: {now}").text("notes.md")


@each(
    ("line", "now"),
    [
        ("Error recovery skips to the next semicolon.", "Error recovery skips to the next semicolon or closing brace"),
        ("Drafts are saved by the editor on blur.", "Drafts are now saved by the editor on every key and on blur"),
        ("Vue shop with Pinia and a query cache showing prices.", "Vue shop with Pinia and a query cache — prices come from the feed, not the cache"),
    ],
)  # fmt: skip
def test_a_correction_may_say_now_or_not_and_speak_of_errors_that_memory_speaks_of(
    tmp_path: Path, line: str, now: str
) -> None:
    assert now in told(tmp_path, line, f"Correction: {now}").text("notes.md")


@each("now", ["reads CSV and XML files each night, I think", "fails to read CSV and XML files each night"])
def test_a_correction_with_a_word_of_doubt_that_memory_lacks_changes_nothing_unasked(
    tmp_path: Path, now: str
) -> None:
    made = told(tmp_path, "The importer reads CSV files each night.", f"Correction: the importer {now}")
    assert made.after == made.before


def test_a_number_whose_unit_would_no_longer_fit_is_asked_about(tmp_path: Path) -> None:
    made = told(tmp_path, "The logs are kept for 1 year.", "the logs are kept for 3 years now")
    assert made.after == made.before and [each.kind for each in made.outcome.questions] == ["changed"]


@each(
    ("line", "said"),
    [
        ("Timeout of uploads: 30s", "the timeout is 60s now"),
        ("The upload timeout is 30s.", "the timeout is 60s now"),
        ("The timeout is 30s for uploads.", "the timeout is 60s now"),
        ("The API of the shop listens on port 8080.", "the API listens on port 9090 now"),
        (RETRIES, "Retry 5 times now."),
        (RETRIES, "please retry up to 5 times now"),
        ("We format the code with biome.", "we switched from biome to ruff format"),
    ],
)
def test_what_is_said_of_more_than_memory_says_or_may_be_an_order_for_the_task_is_asked_about(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, said)
    assert made.after == made.before and [each.kind for each in made.outcome.questions] == ["changed"]


@each("name", ["uploads", "notes"])
def test_what_is_said_of_more_than_the_place_of_a_bare_number_is_about_is_asked_about(
    tmp_path: Path, name: str
) -> None:
    files = {f"{name}.md": memory("# Uploads\n\n- Timeout: 30s\n"), "MEMORY.md": f"- [It]({name}.md)\n"}
    made = dream(tmp_path / "wider", files, [session(1, "the timeout is 60s now")])
    assert made.edits == [] and [each.kind for each in made.outcome.questions] == ["changed"]
    made = dream(tmp_path / "named", files, [session(1, "the timeout of uploads is 60s now")])
    assert "- Timeout: 60s\n" in made.text(f"{name}.md")


def test_a_value_is_exchanged_with_all_the_words_of_the_new_one(tmp_path: Path) -> None:
    made = told(tmp_path, "We format the code with biome.", "we switched from biome to ruff format last week")
    [asked] = made.outcome.questions
    assert "- We format the code with ruff format.\n" in (asked.options[0].edits[0].after or "")


def test_a_statement_is_not_removed_as_the_older_one_of_itself(tmp_path: Path) -> None:
    files = {
        "a.md": memory("Deploys run from Jenkins and need a tag.\n"),
        "MEMORY.md": "- [A](a.md) — how we deploy\n",
    }
    made = dream(tmp_path, files, [session(1, "deploys run from Argo now")])
    [asked] = made.outcome.questions
    [edit] = asked.options[0].edits
    assert (asked.options[0].label, edit.after) == (
        "Replace it",
        memory("Deploys run from Argo and need a tag.\n"),
    )


def test_what_a_remark_follows_is_asked_about_and_what_is_taken_back_is_not(tmp_path: Path) -> None:
    said = "The relay now listens on port 9090, not 8080."
    for number, (after, asks) in enumerate({"the tests fail": True, "oops wrong project": False}.items()):
        made = told(tmp_path / str(number), "The relay listens on port 8080.", said, after)
        assert made.edits == [] and [each.kind for each in made.outcome.questions] == ["changed"] * asks


@each(
    "line",
    [
        "The relay used to listen on port 8080.",
        "The relay no longer listens on port 8080.",
        "Never put the relay on port 8080.",
        "The old relay listens on port 8080.",
        "The relay will listen on port 8080.",
        "The relay may listen on 8080.",
        "The relay should listen on port 8080.",
        "If the relay listens on port 8080, stop it.",
        "The relay and the gate listen on port 8080.",
        "Is the relay on port 8080?",
        "~~The relay listens on port 8080.~~",
        "> The relay listens on port 8080.",
        "[x] The relay listens on port 8080.",
    ],
)
def test_what_memory_does_not_say_to_be_so_gets_no_new_value_unasked(tmp_path: Path, line: str) -> None:
    made = told(tmp_path, line, "the relay listens on port 9090 now, not 8080")
    assert line in made.text("notes.md") and made.edits == []


@each(
    ("line", "said"),
    [
        ("The relay listens on port 8080.", "the relay does not listen on 9090 now"),
        ("The relay listens on port 8080.", "the relay doesn't listen on port 9090 any more"),
        ("Posts are in British English.", "posts are published on Tuesdays now"),
    ],
)
def test_what_is_denied_or_of_another_kind_takes_the_place_of_nothing(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, said)
    assert (made.after, made.outcome.questions) == (made.before, [])


@each(
    ("line", "said", "now"),
    [
        ("The relay no longer listens on 8080.", "the relay listens on port 9090 now, not 8080", "the relay listens on port 9090"),
        ("Never put the relay on port 8080.", "the relay listens on port 9090 now, not 8080", "the relay listens on port 9090"),
        ("Never deploy on port 8080.", "never deploy on port 9090 now", "Never deploy on port 9090."),
        ("We do not use TLS and listen on port 8080.", "we listen on port 9090 now, not 8080", "We do not use TLS and listen on port 9090."),
        ("The relay listens on port 8080.", "the relay does not listen on 8080 but on 9090 now", "The relay listens on port 9090."),
        ("Ask Ana about billing.", "ask Tom about billing now", "Ask Tom about billing."),
        ("Contact Ana Ruiz about billing.", "contact Tom Berg about billing now", "contact Tom Berg about billing."),
        ("Never send more than 30 records to hazel-hub.", "batches in hazel-hub are 45 records now", "Never send more than 45 records to hazel-hub."),
    ],
)  # fmt: skip
def test_a_question_drafts_no_denial_of_the_new_value_and_no_half_of_a_sentence(
    tmp_path: Path, line: str, said: str, now: str
) -> None:
    [asked] = told(tmp_path, line, said).outcome.questions
    assert f"- {now}\n" in (asked.options[0].edits[0].after or "")


def test_a_rule_for_more_than_something_takes_the_place_of_no_other_rule(tmp_path: Path) -> None:
    said = "always run `make lint` before you push, not only the tests"
    made = told(tmp_path, "Run `make check` before you push.", said)
    assert made.outcome.questions == [] and "make check" in made.text("notes.md")


def test_what_the_team_does_now_is_no_order(tmp_path: Path) -> None:
    assert "- Retry 5 times.\n" in told(tmp_path, RETRIES, "we retry 5 times now").text("notes.md")


@each(
    ("line", "said"),
    [
        ("Der Port ist 8080.", "Der Port ist jetzt 8081"),
        ("El puerto de la API es 8080.", "el puerto de la API ahora es 8081"),
        ("Le port est 8080.", "le port est maintenant 8081"),
        ("a porta é 8080", "a porta agora é 8081"),
        ("APIのポートは8080です。", "APIのポートは今8081です"),
        ("API 포트는 8080입니다.", "API 포트는 이제 8081입니다"),
        ("端口是 8080。", "端口现在是 8081"),
    ],
)
def test_a_statement_of_any_language_that_is_repeated_with_another_number_is_asked_about(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, said)
    [asked] = made.outcome.questions
    assert (made.after, asked.kind) == (made.before, "changed")
    assert f"- {line.replace('8080', '8081')}\n" in (asked.options[0].edits[0].after or "")


@each("said", ["le port est bloqué par 8081 clients", "Der Port von Berlin ist 8081", "open port 8081"])
def test_a_sentence_with_more_than_a_word_or_two_besides_repeats_no_statement(
    tmp_path: Path, said: str
) -> None:
    made = told(tmp_path, "Le port est 8080.", said)
    assert (made.after, made.outcome.questions) == (made.before, [])


def test_a_question_about_something_else_does_not_doubt_what_was_told_before_it(tmp_path: Path) -> None:
    asks = "the API listens on port 9090 now. Why does the build fail?"
    assert "port 9090" in told(tmp_path / "other", API, asks).text("notes.md")
    for number, asks in enumerate(("Is that right?", "Right?", "Does the API use TLS?")):
        made = told(tmp_path / str(number), API, f"the API listens on port 9090 now. {asks}")
        assert made.after == made.before


def test_a_denial_that_only_names_the_old_value_leaves_no_change(tmp_path: Path) -> None:
    said = ("the API is on port 9090 now", "run the tests", "no, I was wrong, it is still 8080")
    made = told(tmp_path, API, *said)
    assert made.after == made.before and [each.kind for each in made.outcome.questions] == ["changed"]


def test_the_clause_of_a_rule_that_names_the_old_value_is_asked_about(tmp_path: Path) -> None:
    line = "Use pnpm and run the linter before pushing."
    made = told(tmp_path, line, "use yarn now instead of pnpm")
    [asked] = made.outcome.questions
    assert made.after == made.before
    assert f"- {line.replace('pnpm', 'yarn')}\n" in (asked.options[0].edits[0].after or "")


def test_what_fails_at_the_moment_takes_the_place_of_nothing(tmp_path: Path) -> None:
    line = "The gateway listens on port 9400."
    assert not told(tmp_path, line, "no, the gateway is broken on port 9400").edits


def test_of_two_statements_that_could_be_meant_neither_changes(
    tmp_path: Path,
) -> None:
    more = "- The API of Oslo runs on PostgreSQL 15.\n"
    made = told(
        tmp_path,
        "The API in Bergen runs on PostgreSQL 15.",
        "we upgraded from PostgreSQL 15 to 16",
        more=more,
    )
    assert not made.operations("update")
    assert made.text("notes.md").count("PostgreSQL 15") == 2


def test_a_statement_that_leans_on_the_old_value_is_asked_about_and_stays(tmp_path: Path) -> None:
    more = "- Firewall rule 12 opens 8080 for billing-api.\n- Firewall rule 13 opens 8080 for search-api.\n"
    made = told(
        tmp_path, "`billing-api` listens on port 8080.", "billing-api listens on port 9090 now", more=more
    )
    assert "`billing-api` listens on port 9090." in made.text("notes.md")
    assert "Firewall rule 12 opens 8080 for billing-api." in made.text("notes.md")
    (asked,) = [each for each in made.outcome.questions if each.kind == "leans"]
    assert [place.text for place in asked.places] == ["Firewall rule 12 opens 8080 for billing-api."]
    assert "Firewall rule 12 opens 9090 for billing-api." in (asked.options[0].edits[-1].after or "")


def test_pinned_and_shared_memories_keep_the_old_value(tmp_path: Path) -> None:
    files = {
        "notes.md": memory("The API listens on port 8080.\n", more="pinned: true\n"),
        "team/notes.md": memory("The API listens on port 8080.\n"),
        "MEMORY.md": INDEX,
        "team/MEMORY.md": "- [Notes](notes.md) — notes\n",
    }
    made = dream(tmp_path, files, [session(1, "the API listens on port 9090 now")])
    assert made.after["notes.md"] == made.before["notes.md"]
    assert made.after["team/notes.md"] == made.before["team/notes.md"]


def test_sessions_count_in_the_order_of_time_however_they_are_listed(tmp_path: Path) -> None:
    files = {"notes.md": memory("- The API is on port 80.\n- Lint runs first.\n"), "MEMORY.md": INDEX}
    later = session(1, "the API is on port 82 now", at=NOON)
    earlier = session(2, "the API is on port 81 now", at=NOON - dt.timedelta(days=2))
    assert "port 82" in dream(tmp_path, files, [later, earlier]).text("notes.md")


@each(
    ("line", "said"),
    [
        ("Docker setup targeting Node 24", "Docker setup targeting Node 24 with native build tools for better-sqlite3"),
        ("Session-based auth: httpOnly cookies, scrypt hashing", "Session-based auth: httpOnly cookies, scrypt hashing, validated SESSION_DAYS"),
    ],
)  # fmt: skip
@each("lead", ["Remember: ", ""])
def test_a_statement_put_anew_in_more_words_takes_the_place_of_the_old_one(
    tmp_path: Path, line: str, said: str, lead: str
) -> None:
    made = told(tmp_path, line, f"{lead}{said}")
    assert f"- {said}\n" in made.text("notes.md")
    assert f"- {line}\n" not in made.text("notes.md")


@each(
    ("line", "said"),
    [
        (
            "**What's next:** Redesign phases B2 to B7. Nothing in flight at the moment.",
            "**What's next:** Open the B2 pull request, then move on to B3.",
        ),
        (
            "`docs/BACKLOG.md` holds the redesign B2 to B7 with chat, card, history, tokens, picker and filters",
            "`docs/BACKLOG.md` holds the redesign B3 to B7 with card, history, tokens, picker and filters",
        ),
        (
            "`grid-attempt` holds the grid optimisation (not on main yet)",
            "`grid-attempt` holds the older grid optimisation",
        ),
    ],
)
def test_a_line_with_its_label_or_nearly_all_its_words_is_put_anew_as_a_whole(
    tmp_path: Path, line: str, said: str
) -> None:
    made = told(tmp_path, line, f"Remember: {said}")
    assert f"- {said}\n" in made.text("notes.md")
    assert f"- {line}\n" not in made.text("notes.md")


def test_a_correction_of_a_labelled_line_or_of_its_day_takes_the_place_of_the_whole(tmp_path: Path) -> None:
    lines = (
        "**Next:** The export. Nothing is in flight.\n\nAs of 2026-03-16, the project has:\n\n- a backend\n"
    )
    said = (
        "Correction: **Next:** The import. Ana has begun.",
        "update your notes: As of 2026-03-18, the project has:",
    )
    made = dream(tmp_path, {"notes.md": memory(lines), "MEMORY.md": INDEX}, [session(1, *said)])
    assert made.text("notes.md").endswith(
        "**Next:** The import. Ana has begun.\n\nAs of 2026-03-18, the project has:\n\n- a backend\n"
    )


def test_a_line_of_a_list_is_put_anew_where_what_introduces_the_list_says_nothing_of_it(
    tmp_path: Path,
) -> None:
    said = "Docker setup targeting Node 24 with native build tools"
    for lead, changed in (("As of 2026-03-16, the project has:", True), ("In staging:", False)):
        files = {"notes.md": memory(f"{lead}\n\n- Docker setup targeting Node 24\n"), "MEMORY.md": INDEX}
        made = dream(tmp_path / lead[:3].strip(), files, [session(1, f"Remember: {said}")])
        assert (f"- {said}\n" in made.text("notes.md")) is changed


@each(
    "said",
    [
        "“{old}” is outdated, it is now: {new}",
        'Your memory says "{old}", that\'s wrong. {new}',
        'Please replace "{old}" with "{new}" in your memory.',
        'It\'s no longer "{old}". It is "{new}" now.',
        '"{old}" is outdated, should be "{new}".',
    ],
)
def test_a_statement_that_is_cited_makes_way_for_what_was_said_instead(tmp_path: Path, said: str) -> None:
    old, new = "Billing page is a stub; keys are missing", "Billing page is live with keys of our own"
    made = told(tmp_path, old, said.format(old=old, new=new))
    assert f"- {new}\n" in made.text("notes.md") and old not in made.text("notes.md")
    assert told(tmp_path / "other", "Nothing of it", said.format(old=old, new=new)).edits == []


@each("then", [". Please run the tests again.", ", check the staging port", ", it is now: unknown"])
def test_a_task_does_not_take_the_place_of_a_statement_that_is_cited(tmp_path: Path, then: str) -> None:
    made = told(tmp_path, "The staging port is 8080.", f'"The staging port is 8080" is outdated{then}')
    assert made.edits == []


@each("then", [", it is now: 8081", ". 8081.", ", should be 8081."])
def test_a_value_takes_the_place_of_the_only_one_of_its_kind_in_a_statement_that_is_cited(
    tmp_path: Path, then: str
) -> None:
    line = "The staging port is 8080"
    assert "- The staging port is 8081\n" in told(tmp_path, line, f'"{line}" is outdated{then}').text(
        "notes.md"
    )
    two = "The staging port is 8080, the other one 8090"
    assert told(tmp_path / "two", two, f'"{two}" is outdated{then}').edits == []


def test_a_description_and_the_row_that_repeats_it_are_put_anew_together(tmp_path: Path) -> None:
    old, new = (
        "Deployment: one box, compose, by hand",
        "Deployment: one box, compose, on release",
    )
    files = {
        "notes.md": memory("- The docs are built with Sphinx.\n", name="notes", description=old),
        "MEMORY.md": f"- [Notes](notes.md) — {old}\n",
    }
    for place, said in enumerate((f"Remember: {new}", f"Correction: [Notes](notes.md) — {new}")):
        made = dream(tmp_path / str(place), files, [session(1, said)])
        assert f"- [Notes](notes.md) — {new}\n" == made.text("MEMORY.md")
        assert (new in made.text("notes.md")) is (place == 0)


def test_a_value_in_a_wrapped_paragraph_changes_on_its_line_alone(tmp_path: Path) -> None:
    wrapped = "The API listens on port 8080 and\n  is behind the gateway of the\n  north region."
    made = told(tmp_path, wrapped, "the API listens on port 9090 now, not 8080")
    assert f"- {wrapped.replace('8080', '9090')}\n" in made.text("notes.md")


def test_several_sentences_are_put_anew_as_one_line_and_never_by_one_of_them(tmp_path: Path) -> None:
    line = "**In the works:** B1 is merged. The history says the rest."
    said = "**In the works:** B1 is merged. B2 is ready for review."
    made = told(tmp_path, line, said)
    assert f"- {said}\n" in made.text("notes.md") and "The history" not in made.text("notes.md")


def test_a_label_that_only_says_what_kind_of_remark_follows_finds_no_line(tmp_path: Path) -> None:
    made = told(
        tmp_path, "**Why:** the audit asked for it", "Remember: **Why:** the mailer was too slow for us"
    )
    assert "- **Why:** the audit asked for it\n" in made.text("notes.md")


@each(
    "said",
    [
        "Add a dark mode toggle to the settings page and write tests for it",
        "now add a dark mode toggle to the settings page of the admin",
        "I want you to add a dark mode toggle to the settings page today",
    ],
)
def test_a_task_is_not_put_in_the_place_of_a_note_that_reads_like_it(tmp_path: Path, said: str) -> None:
    assert told(tmp_path, "Add a dark mode toggle to the settings page", said).edits == []


def test_a_statement_about_a_part_is_not_put_in_the_place_of_the_whole(tmp_path: Path) -> None:
    line = "The API runs on PostgreSQL 15 in eu-west-1."
    made = told(tmp_path, line, "Remember that the API of the importer runs on PostgreSQL 16 in eu-west-1.")
    assert f"- {line}\n" in made.text("notes.md")


def test_of_two_wishes_that_differ_in_a_value_the_last_one_is_learnt(tmp_path: Path) -> None:
    made = dream(
        tmp_path,
        {},
        [session(1, "Remember that the API is on port 80.", "Remember that the API is on port 81.")],
    )
    text = "".join(made.text(path) for path in made.after)
    assert "port 81" in text and "port 80" not in text


def test_the_checks_hold_nothing_against_an_update_beside_doubled_lines(tmp_path: Path) -> None:
    lines = "The API listens on port 8080.\n- The jasper archiver is owned by Jo Berg.\n- The jasper archiver is owned by Jo Berg (she wrote it)."
    row = "- [Notes](notes.md) — The API listens on port 8080\n"
    made = told(tmp_path, lines, "the API is on port 9090 now", index=row)
    assert made.operations("update")
    report = findings.examine(_with_edits(made))
    assert [f.message for f in report.findings if f.severity in {"block", "refuse"}] == []
    assert {row.fate for row in report.ledger} <= {"superseded-by", "kept-in", "merged-into"}


def test_what_is_told_and_asked_to_be_remembered_is_brought_up_to_date_and_not_learnt_beside_it(
    tmp_path: Path,
) -> None:
    files = {"jobs.md": memory("The nightly export runs at 03:00 UTC.\n", name="jobs")}
    asked = session(1, "Please remember: the nightly export now runs at 04:30 UTC, not 03:00.")
    made = dream(tmp_path, files, [asked])
    assert "The nightly export runs at 04:30 UTC." in made.text("jobs.md")
    assert {path for path in made.after if path != "MEMORY.md"} == {"jobs.md"}


def test_a_line_that_is_dated_and_then_forgotten_says_only_that_it_was_forgotten(tmp_path: Path) -> None:
    files = {
        "plans.md": memory("The shop is in Oslo.\n\nWe will move to Postgres 16 next month.\n", name="plans")
    }
    made = dream(tmp_path, files, [session(1, "Forget that we will move to Postgres 16.")])
    assert "Postgres" not in made.text("plans.md")
    assert "could be taken out for sure" not in made.summary


def _with_edits(made: Dreamt) -> findings.Subject:
    """The change as the proposal would show it, with what the engine says of it."""
    import dataclasses

    subject = between(made.before, made.after)
    hunks = []
    for hunk in subject.hunks:
        own = [edit for edit in made.edits if edit.path == hunk.path]
        removed = {line.strip() for line in hunk.removed}
        fates = tuple(f for edit in own for f in edit.fates if f.text.strip() in removed)
        citations = tuple(c for edit in own for c in edit.citations)
        hunks.append(dataclasses.replace(hunk, fates=fates, citations=citations))
    return dataclasses.replace(subject, hunks=hunks)


@each("title", ["the staging server is heron-4", "The staging server is heron-4"])
def test_a_memory_that_is_named_by_its_statement_has_the_new_value_in_its_name_and_row(
    tmp_path: Path, title: str
) -> None:
    def files(number: int) -> dict[str, str]:
        said = f"the staging server is heron-{number}"
        learnt = memory(f"- {said}.\n", name=said, description=f"{said}.")
        return {"MEMORY.md": f"- [{title[:-1]}{number}](staging.md)\n", "staging.md": learnt}

    made = dream(tmp_path, files(4), [session(1, "the staging server is heron-5 now, not heron-4.")])
    assert {path: made.text(path) for path in made.after} == files(5)
