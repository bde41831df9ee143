"""A Django API whose notes grew for weeks and were never tidied."""

import datetime as dt

from dreams.services.demo.writing import Agent, DemoProject, Helper, Note, Talk, You, days

INDEX = """# Memory

- [Who I work with](user_role.md) — backend lead, wants the reason first and short answers
- [Test database](feedback_test_database.md) — integration tests use a real PostgreSQL, never mocks
- [Deploys](project_deploys.md) — staging deploys itself from main; production is deployed by hand from a tag, only before 15:00, because the support team goes home at 17:00 and wants two hours to watch the payment dashboard after each release
- [Commit messages](feedback_commits.md) — imperative mood, ticket number at the end
- [Test database](feedback_test_database.md) — integration tests use a real PostgreSQL, never mocks
- [Payment sandbox](reference_payment_sandbox.md) — where its account is kept and who renews it
- [Payment webhook](reference_payment_webhook.md) — how the provider tells us what happened
- [Pager](project_pager.md) — Ines has the pager in even weeks, Marek in odd ones
- [Commit style](feedback_commit_style.md) — imperative mood, ticket number at the end
"""

USER = """---
name: Who I work with
description: Backend lead of the orders team
type: user
---

Backend lead of the orders team, eleven years of Django.
Wants the reason first, then the change; no summaries of what the diff shows.
"""

DATABASE = """---
name: Test database
description: Integration tests use a real PostgreSQL
type: feedback
---

Integration tests run against a real PostgreSQL, never a mock.

**Why:** a mocked transaction once hid a double refund.
**How to apply:** start it with `docker compose up db` before the tests.
"""

DEPLOYS = """---
name: Deploys
description: How orders-api gets to staging and production
metadata:
  type: project
  modified: {modified}
---

Staging deploys itself from main.
Yesterday staging moved to the new cluster, so old kubeconfig files no longer work.
Production is deployed by hand from a tag, only before 15:00.

Until {thawed} nothing is deployed, because of the sale of the shops.
"""

COMMITS = """---
name: {name}
description: How commit messages are written here
type: feedback
---

Commit messages are in the imperative mood, at most 70 characters.
The ticket number stands at the end, as in `Refuse negative amounts (ORD-412)`.
"""

SANDBOX = """---
name: Payment sandbox
description: Where the sandbox account of the payment provider is kept
type: reference
---

The sandbox account of the payment provider is in the team vault under `payments/sandbox`.
Ines renews it every January.

The payment webhook listens on port 8443.
"""

WEBHOOK = """---
name: Payment webhook
description: How the payment provider tells us what happened
type: reference
---

The payment webhook listens on port 9443.

It answers before it stores anything, because the provider waits two seconds at most.
"""

DASHBOARDS = """---
name: Dashboards
description: Which dashboard shows what after a release
metadata:
  node_type: memory
  type: reference
---

Refund latency is on the board `orders-refunds`, everything else on `orders-overview`.
"""


def project(now: dt.datetime) -> DemoProject:
    return DemoProject(
        "orders-api",
        notes=(
            Note("MEMORY.md", INDEX, days(3)),
            Note("user_role.md", USER, days(40)),
            Note("feedback_test_database.md", DATABASE, days(33)),
            Note("project_deploys.md", _deploys(now), days(12)),
            Note("feedback_commits.md", COMMITS.format(name="Commit messages"), days(26)),
            Note("feedback_commit_style.md", COMMITS.format(name="Commit style"), days(9)),
            Note("reference_payment_sandbox.md", SANDBOX, days(21)),
            Note("reference_payment_webhook.md", WEBHOOK, days(8)),
            Note("reference_dashboards.md", DASHBOARDS, days(3)),
        ),
        talks=_talks(),
        files={
            "README.md": "# orders-api\n\nOrders, payments and refunds.\n",
            "Makefile": "test:\n\tpytest\n\ntest-db:\n\tdocker compose up -d db && pytest -m integration\n",
            "orders/refunds.py": "def refund(order, amount):\n    return order.refunds.create(amount=amount)\n",
        },
    )


def _deploys(now: dt.datetime) -> str:
    moved = (now - days(12)).replace(microsecond=0)
    return DEPLOYS.format(modified=moved.isoformat(), thawed=(now - days(5)).date())


def _talks() -> tuple[Talk, ...]:
    return (
        Talk(
            "Speed up the order list",
            days(16),
            (
                You("the order list takes four seconds for shops with many orders, find out why"),
                Agent(
                    "I will look at the view and count its queries.",
                    "Grep",
                    {"pattern": "class OrderList", "path": "orders"},
                    "orders/views.py:41:class OrderList(ListAPIView):",
                ),
                Agent(
                    "Each row loads its customer and its lines: 2 queries a row.",
                    "Edit",
                    {"file_path": "orders/views.py", "old_string": "Order.objects.all()"},
                    "The file orders/views.py has been updated.",
                ),
                You("good. how many queries is it now?"),
                Agent("Three, whatever the number of rows."),
            ),
        ),
        Talk(
            "Install pytest-xdist",
            days(11),
            (
                You("install pytest-xdist so that the suite runs on all cores"),
                Agent(
                    "I will add it with pip.",
                    "Bash",
                    {"command": "pip install pytest-xdist"},
                    "error: externally-managed-environment",
                    failed=True,
                ),
                You("no, use uv instead of pip in this repository"),
                Agent(
                    "Understood, uv it is.",
                    "Bash",
                    {"command": "uv add --dev pytest-xdist"},
                    "Resolved 84 packages in 212ms",
                ),
            ),
        ),
        Talk(
            "Refunds round to the wrong cent",
            days(7),
            (
                You("a refund of 10.005 became 10.01 in the export and 10.00 in the ledger. why?"),
                Agent(
                    "Both round, each in its own way.",
                    "Read",
                    {"file_path": "orders/refunds.py"},
                    "def refund(order, amount):\n    return order.refunds.create(amount=amount)",
                ),
                Agent(
                    "The export rounds half up, the ledger half to even. I would round once, when it is stored."
                ),
                You("do that. and remember that amounts are rounded half to even, finance signed that off"),
                Agent(
                    "Done.",
                    "Bash",
                    {"command": "make test"},
                    "212 passed in 31.40s",
                ),
            ),
            branch="fix/refund-rounding",
        ),
        Talk(
            "Write a test for partial refunds",
            days(4),
            (
                You("write an integration test for a partial refund"),
                Agent(
                    "I will run it with pytest.",
                    "Bash",
                    {"command": "pytest tests/test_refunds.py"},
                    "OperationalError: could not connect to server",
                    failed=True,
                ),
                You(
                    "from now on run the integration tests with `make test-db`, it starts the database itself"
                ),
                Agent("It passes.", "Bash", {"command": "make test-db"}, "18 passed in 9.02s"),
            ),
            helper=Helper(
                "Find every place that creates a refund, and say which of them have a test.",
                "Three places create refunds: the API, the admin action and the import. Only the API has a test.",
                (
                    Agent(
                        "",
                        "Grep",
                        {"pattern": "refunds.create", "path": "."},
                        "orders/refunds.py:2\norders/admin.py:88\norders/importer.py:130",
                    ),
                ),
            ),
        ),
        Talk(
            "Nightly import stopped",
            days(2.2),
            (
                You("the nightly import wrote nothing for two days and no error was logged. look into it"),
                Agent(
                    "The job ran, and read an empty list.",
                    "Bash",
                    {"command": "tail -3 logs/import.log"},
                    "import started\n0 orders\nimport finished",
                ),
                You(
                    "remember that the nightly import needs the VPN; without that it finds no orders and logs no error"
                ),
                Agent("I added a check that fails when the supplier's host cannot be reached."),
            ),
        ),
        Talk(
            "Add an index on orders",
            days(1.1),
            (
                You("add an index on orders.created_at"),
                Agent(
                    "I wrote a migration.",
                    "Write",
                    {"file_path": "orders/migrations/0043_order_created.py"},
                    "File created successfully at: orders/migrations/0043_order_created.py",
                ),
                You("always create indexes concurrently, the orders table is too big to lock"),
                Agent("Changed to AddIndexConcurrently, with `atomic = False`."),
            ),
            branch="ord-431-created-index",
        ),
        Talk(
            "Explain the webhook retry",
            days(0.2),
            (
                You("how often does the payment webhook retry?"),
                Agent(
                    "",
                    "Grep",
                    {"pattern": "max_retries", "path": "orders/webhooks.py"},
                    "orders/webhooks.py:19:    max_retries = 5",
                ),
                Agent("Five times, doubling from one minute."),
            ),
        ),
    )
