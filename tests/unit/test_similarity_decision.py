"""Surely the same, or not: a merge on a wrong "same" loses a fact."""

from hypothesis import given, strategies as st

from dreams.lib.prose.comparing import compare, normalised, same
from tests.world import similarity_pairs as table
from tests.world.cases import each
from tests.world.strategies import tries

# Each line holds two statements that differ in one thing that matters.
DIFFERENT = """
Use PostgreSQL 15 in production|Use PostgreSQL 16 in production
The API listens on port 8080|The API listens on port 8081
Retry failed requests 3 times|Retry failed requests 5 times
Timeout is 30 seconds|Timeout is 30 minutes
Cache entries expire after 5 minutes|Cache entries expire after 5 hours
Deploy to staging before merging|Deploy to production before merging
Always run the linter before committing|Never run the linter before committing
Always run the linter before committing|Always run the linter after committing
User prefers tabs over spaces|User prefers spaces over tabs
User prefers tabs for indentation|User prefers spaces for indentation
Use npm, not yarn|Use yarn, not npm
Migrated the queue from Redis to RabbitMQ|Migrated the queue from RabbitMQ to Redis
The feature flag new_checkout is enabled|The feature flag new_checkout is disabled
The feature flag new_checkout is enabled|The feature flag old_checkout is enabled
Tests live in tests/unit|Tests live in tests/integration
Config is read from config/app.yaml|Config is read from config/web.yaml
Ana owns the billing service|Bob owns the billing service
The build uses Webpack|The build uses Vite
Do not commit generated files|Commit generated files
The user does not want emojis in commit messages|The user wants emojis in commit messages
Run the migrations manually|Run the migrations automatically
Only admins can delete projects|Admins can delete projects
Backups run daily at 02:00|Backups run weekly at 02:00
Backups run daily at 02:00|Backups run daily at 03:00
Release on Tuesday|Release on Thursday
The client retries on 500 errors|The server retries on 500 errors
Use uv for Python packages|Use pip for Python packages
Use `make test` to run the tests|Use `make check` to run the tests
The main branch is protected|The develop branch is protected
Max upload size is 10 MB|Max upload size is 10 GB
Max upload size is 10 MB|Min upload size is 10 MB
API keys are stored in Vault|API keys are stored in AWS Secrets Manager
API keys must be rotated every 90 days|API keys may be rotated every 90 days
Linux at work, Windows at home|Windows at work, Linux at home
min pool size 5, max pool size 20|min pool size 20, max pool size 5
The worker depends on the scheduler|The scheduler depends on the worker
Error logs go to stderr|Error logs go to stdout
The dashboard is deprecated, use the report page|The dashboard is supported, use the report page
Login is required for the preview page|Login is optional for the preview page
Integration tests hit a real database|Unit tests hit a real database
Integration tests must hit a real database, not mocks|Integration tests must hit mocks, not a real database
Node 20 is required, Node 18 fails|Node 18 is required, Node 20 fails
Skip the e2e tests unless the UI changed|Skip the e2e tests
We will migrate to Kubernetes|We migrated to Kubernetes
The bug in the parser is fixed|The bug in the parser is not fixed yet
Deploys run from the release branch|Deploys run from the release-2 branch
Sort results by created_at ascending|Sort results by created_at descending
Version v1.2.3 has the memory leak|Version v1.2.4 has the memory leak
The user likes short answers|The user likes long answers
Frontend calls the backend over gRPC|Frontend calls the backend over REST
Dates are stored in UTC|Dates are stored in local time
Fastify backend with /ping and /health routes|Fastify backend with /ping, /health, and /api/settings routes
Docker setup targeting Node 24|Docker setup targeting Node
The tests need Docker running|The tests need Redis running
Redis is used for sessions|Redis is used for caching
Use snake_case for database columns|Use camelCase for database columns
Ask before deleting files|Ask before creating files
PR #41 fixed the login bug|PR #42 fixed the login bug
Feature work goes on branch feat/login|Feature work goes on branch feat/logout
All endpoints require authentication|Some endpoints require authentication
All endpoints require authentication|All endpoints require authorization
User is a senior backend engineer|User is a senior frontend engineer
The CI job takes 10 minutes on main|The CI job takes 10 minutes on PRs
Use the staging database for load tests|Use the staging cache for load tests
Don't mock the database in integration tests|Don't mock the network in integration tests
Run black on every file before commit|Run ruff on every file before commit
The user works from Berlin|The user works from Paris
Prices are in EUR|Prices are in USD
The script is safe to run twice|The script is safe to run once
Call the payments API synchronously|Call the payments API asynchronously
Logs are kept for 30 days in production|Logs are kept for 30 days in staging
Logs are kept for 30 days|Logs are kept for 30 days in staging
Uses OAuth for login|Uses SAML for login
Prefers rebase over merge|Prefers merge over rebase
Alice reviews Bob's pull requests|Bob reviews Alice's pull requests
Do X first, then run the migration script|Run the migration script first, then do X
The mobile app supports iOS|The mobile app supports Android
The mobile app supports iOS|The mobile app supports iOS and Android
Keep the changelog in English|Keep the changelog in German
Images are resized on upload to 800 px|Images are resized on download to 800 px
Set DEBUG=1 for verbose output|Set TRACE=1 for verbose output
The endpoint returns 404 when missing|The endpoint returns 410 when missing
The importer drops empty rows|The importer keeps empty rows
The importer ignores empty rows|The importer ignores empty columns
Memory limit raised to 2 GB|Memory limit lowered to 2 GB
tests are slow because of the database|tests are fast because of the database
File uploads go through S3|File uploads bypass S3
Users can edit their own comments|Users cannot edit their own comments
Users can edit their own comments|Users can edit other users' comments
The cron job runs before midnight|The cron job runs after midnight
Use pnpm workspaces for the monorepo|Use pnpm for the monorepo without workspaces
Linting is done by CI|Linting is done by a pre-commit hook
Fetch the schema from the server at start|Fetch the schema from the server at build time
First install dependencies, then build|First build, then install dependencies
Prefer composition over inheritance|Prefer inheritance over composition
The retry queue is drained by the worker|The dead-letter queue is drained by the worker
Error budget is 0.1%|Error budget is 1%
The team meets on Mondays at 10|The team meets on Mondays at 11
""".strip().splitlines()

SAME = """
Use PostgreSQL 15 in production|In prod we use Postgres 15
Run tests before every commit|Always run the tests before committing
The API listens on port 8080|API server listens on port 8080
Never commit directly to main|Do not commit directly to the main branch
User prefers tabs over spaces|Prefers tabs over spaces
Always use uv for Python packages|Use `uv` for python packages
**Deploy** with `make deploy`|- deploy with make deploy.
Tests live in tests/unit|Unit tests live in the `tests/unit` directory
Timeout is 30s|Timeout is 30 seconds
The config directory is ~/.app/config|Config dir: `~/.app/config`
Database migrations must be reviewed by Ana before merging|Ana must review DB migrations before merging
Do not mock the database in integration tests|Integration tests: don't mock the database
User wants short, direct answers|User prefers short and direct answers
Prefers rebase over merge for feature branches|Feature branches: prefers rebase over merge
Delete stale branches after merging|Remove stale branches after merge
Documentation is written in English|Docs are written in English
The staging server is reset every night|Staging server gets reset every night
Keep commit messages concise, no emojis|Concise commit messages without emojis
Run `npm run lint` before pushing changes|Before pushing changes, run npm run lint
Secrets are stored in Vault, never in the repo|Never store secrets in the repository; they are stored in Vault
API requests are rate limited to 100 per minute|Rate limit for API requests: 100 per minute
Check the changelog before upgrading dependencies|Verify the changelog before upgrading deps
Use feature flags for risky changes|Risky changes should use feature flags
The worker restarts automatically when it crashes|When it crashes, the worker restarts automatically
Error messages must name the file and the line|Error messages should name the file and line
Ask the user before deleting any file|Ask user before deleting files
Wrap multi-step DB writes in a transaction|Multi-step database writes must be wrapped in transactions
Frontend is React with TypeScript and Vite|React + TypeScript + Vite frontend
Don't add comments that restate the code|Avoid comments which restate the code
""".strip().splitlines()


@each("line", DIFFERENT)
def test_look_alikes_are_two_statements_either_way_round(line: str) -> None:
    a, b = line.split("|")
    assert not same(a, b)
    assert not same(b, a)


def test_every_look_alike_of_the_table_is_two_statements():
    wrong = [(a, b) for a, b in table.pairs(table.DIFFERENT) if same(a, b) or same(b, a)]
    assert wrong == []


def _is_likely(one: str, other: str) -> bool:
    return same(one, other) or compare(one, other).relation == "same"


def test_the_same_in_other_words_is_likely_whichever_comes_first() -> None:
    pairs = [*(tuple(line.split("|")) for line in SAME), *table.pairs(table.SAME)]
    missed = [(a, b) for a, b in pairs if not (_is_likely(a, b) and _is_likely(b, a))]
    assert len(missed) <= 0.1 * len(pairs), missed


FORMS = """
**Deploy** with `make deploy`|- deploy with make deploy.
The config directory is ~/.app/config|Config dir is `~/.app/config`
Don't edit the generated client by hand|Do not edit the generated client by hand
Note: the mock server listens on port 9999|The mock server listens on port 9999
Delete stale branches before a release|Remove stale branches before a release
""".strip().splitlines()


@each("line", FORMS)
def test_spelling_short_forms_and_a_label_are_likely_to_make_no_other_statement(line: str) -> None:
    a, b = line.split("|")
    assert _is_likely(a, b)
    assert _is_likely(b, a)


@each(
    "added",
    [" for guests", " in the importer", " and Mira owns it", " unless the user objects", " only in CI"],
)
def test_what_narrows_a_short_statement_makes_another_one(added: str) -> None:
    for line in ("Run commands via just", "Cache responses of the API", "We moved the assets to a CDN"):
        assert not same(line, line + added), line + added


REAL = [
    "Never write generated research or output files into .claude/, it is for config only",
    "The encryption key is cached at module level, so tests must call resetKeyCache() after stubbing variables",
    "When a function signature changes, grep for all consumers and update them before marking the task done",
    "Skill audit runs weekly at 09:00 and writes its report to reports/audit.md for the reviewers",
    "The import job reads 500 rows per batch from S3 and does not retry failed batches",
]


@each("line", REAL)
def test_no_word_of_meaning_can_be_exchanged_unseen(line: str) -> None:
    words = line.split()
    for place, word in enumerate(words):
        if len(word) > 3:
            changed = " ".join([*words[:place], "zebra", *words[place + 1 :]])
            assert not same(line, changed), changed


@each("line", REAL)
def test_no_denial_can_come_or_go_unseen(line: str) -> None:
    for verb in (" is ", " must ", " runs ", " does ", " it "):
        if verb in line:
            assert not same(line, line.replace(verb, f"{verb}never ", 1))
    bare = line.replace("Never ", "").replace(" not ", " ")
    assert bare == line or not same(line, bare)


def test_what_only_the_shorter_one_says_is_never_merged_away() -> None:
    full = "Bash tool rejects quoted strings in flag names and arguments, remove unnecessary quotes"
    assert not same("Bash tool rejects quoted strings in flag names and arguments today", full)


@each(
    ("a", "b"),
    [
        ("- [x] Importer reads compressed archives", "- [ ] Importer reads compressed archives"),
        ("✅ All importer tests passed", "❌ All importer tests passed"),
        ("Does NOT have: a dark mode toggle in settings", "Does have: a dark mode toggle in settings"),
        ("Not supported: nested lists in the parser", "Supported: nested lists in the parser"),
        (
            "**Expected queue workers** (not yet deployed):",
            "**Deployment blockers:** Queue workers not yet created (queue est development phase).",
        ),
        ("Logs go to the audit trail", "Audit trail integrity: verify that daily logs exist"),
        ("Zero external dependencies", "Code review found zero external dependencies and no injection risk"),
    ],
)
def test_done_and_open_or_topic_and_statement_are_two(a: str, b: str) -> None:
    assert not same(a, b)


def test_marks_case_and_space_do_not_count_for_exact_duplicates() -> None:
    assert normalised("- **Use** [the linter](lint.md)  always.") == normalised("use the linter always")
    assert normalised("Use v1.2") != normalised("Use v1.3")


def test_nothing_is_the_same_as_nothing() -> None:
    assert not same("", "")
    assert not same("---", "- ")


_VOCABULARY = (
    "use never not always the run tests before after `make` 15 16 v1.2 PostgreSQL .claude/ src/app.py user_id , . - ( ) "
    "— [x](y) ** only unless production staging été 설정 don't"
)
STATEMENTS = st.lists(st.sampled_from(_VOCABULARY.split()), max_size=12).map(" ".join) | st.text(max_size=60)


@tries(60, 200)
@given(STATEMENTS, STATEMENTS)
def test_any_two_texts_get_one_answer_whichever_comes_first(a: str, b: str) -> None:
    assert same(a, b) == same(b, a)
    assert compare(a, b).relation == compare(b, a).relation
    assert 0.0 <= compare(a, b).score <= 1.0


@tries(30, 100)
@given(STATEMENTS)
def test_a_text_with_words_is_the_same_as_itself(text: str) -> None:
    assert same(text, text.upper() if text.isascii() else text) == bool(normalised(text))
