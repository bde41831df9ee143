"""Pairs of statements as in real notes, by kind: paraphrases and look-alikes."""

SAME = """
# reorder
Run the smoke tests before each release|Before each release, run the smoke tests
When the cache is stale, call refreshTokens()|Call refreshTokens() when the cache is stale
In CI the browser tests run headless|The browser tests run headless in CI
If the migration fails, restore from the nightly snapshot|Restore from the nightly snapshot if the migration fails
For large imports use the bulk endpoint|Use the bulk endpoint for large imports
After editing the proto files, regenerate the stubs|Regenerate the stubs after editing the proto files
To debug the scheduler set LOG_LEVEL=debug|Set LOG_LEVEL=debug to debug the scheduler
On macOS the installer needs Rosetta|The installer needs Rosetta on macOS
Because of rate limits the crawler sleeps 2 seconds between pages|The crawler sleeps 2 seconds between pages because of rate limits
At startup the server loads plugins from ./plugins|The server loads plugins from ./plugins at startup
Without Docker the integration tests cannot run|The integration tests cannot run without Docker
During review, quote the exact line|Quote the exact line during review
From version 3 on the parser is strict|The parser is strict from version 3 on
Every Friday the backups are verified|The backups are verified every Friday
Unless asked, do not refactor unrelated code|Do not refactor unrelated code unless asked
With strict mode enabled the compiler rejects implicit any|The compiler rejects implicit any with strict mode enabled
Logs are written to /var/log/app and rotated nightly|Rotated nightly, logs are written to /var/log/app
Use the shared fixture and the fake clock in scheduler tests|In scheduler tests, use the fake clock and the shared fixture
Keep functions short and names descriptive|Keep names descriptive and functions short
Supports CSV, JSON and Parquet exports|Supports JSON, Parquet and CSV exports
# synonyms
Delete temporary files after the build finishes|Remove temporary files once the build is finished
Check that the lockfile is committed|Verify that the lockfile is committed
The user wants brief answers without preamble|User prefers concise answers with no preamble
Avoid global state in the renderer|Do not use global state in the renderer
Pick the smallest fix that works|Choose the smallest fix that works
Ask first before installing new packages|Always ask before you install new packages
Fix failing tests prior to adding features|Repair failing tests before adding features
The importer is slow because it parses every file twice|The importer is slow since it parses each file twice
Show a warning if the token has expired|Display a warning when the token is expired
Keep the old API working until clients migrate|The old API must keep working until clients have migrated
Build the docs with mkdocs|Docs are built using mkdocs
Launch the dev server with `pnpm dev`|Start the dev server using `pnpm dev`
Use descriptive variable names|Variable names should be descriptive
Wrap errors with context before returning them|Errors must be wrapped with context before being returned
Never swallow exceptions silently|Do not silently swallow exceptions
The user dislikes long commit messages|User does not like long commit messages
Answer in German when the user writes German|Reply in German if the user writes in German
Skip generated files during review|Ignore generated files when reviewing
The app crashes when the config file is missing|App crashes if config file is missing
Merge only after both checks pass|Only merge once both checks have passed
Use parametrized tests rather than loops|Use parametrized tests instead of loops
Make sure the tests pass before pushing|Ensure tests pass before you push
The parser must tolerate trailing commas|The parser has to tolerate trailing commas
Don't forget to bump the version before a release|Remember to bump the version before releasing
Write commit messages in the imperative mood|Commit messages are written in imperative mood
User is new to Rust but knows C++ well|The user knows C++ well but is new to Rust
# passive
Ana reviews all database migrations|All database migrations are reviewed by Ana
The CI pipeline publishes the Docker image|The Docker image is published by the CI pipeline
The worker writes thumbnails to S3|Thumbnails are written to S3 by the worker
Terraform manages the DNS records|The DNS records are managed by Terraform
A nightly job cleans the sessions table|The sessions table is cleaned by a nightly job
We store uploads in the media bucket|Uploads are stored in the media bucket
The gateway validates JWT signatures|JWT signatures are validated by the gateway
You must sign every release tag|Every release tag must be signed
Renovate updates the dependencies weekly|Dependencies are updated weekly by Renovate
The linter enforces import order|Import order is enforced by the linter
We deploy the frontend through Vercel|The frontend is deployed via Vercel
The seed script creates the admin account|The admin account is created by the seed script
Celery sends the reminder mails|Reminder mails are sent by Celery
Pydantic validates the request bodies|Request bodies are validated with Pydantic
The user approves every schema change personally|Every schema change is approved personally by the user
Sentry collects errors from the mobile app|Errors from the mobile app are collected in Sentry
A cron job refreshes the exchange rates hourly|Exchange rates are refreshed hourly by a cron job
We cache search results in Redis for 10 minutes|Search results are cached in Redis for 10 minutes
The proxy strips the X-Forwarded-For header|The X-Forwarded-For header is stripped by the proxy
We wrote the scheduler in Go|The scheduler was written in Go
# abbreviations
Config files live in the conf directory|Configuration files live in the conf dir
The DB connection pool holds 20 connections|The database connection pool holds 20 connections
Set the env var API_BASE before starting|Set the environment variable API_BASE before starting
Repo uses pnpm workspaces|The repository uses pnpm workspaces
Auth tokens expire after 15 min|Authentication tokens expire after 15 minutes
Docs for the API are generated with Sphinx|API documentation is generated with Sphinx
K8s manifests are in deploy/k8s|Kubernetes manifests are in deploy/k8s
Use TS strict mode everywhere|Use TypeScript strict mode everywhere
The app dir holds all routes|The app directory holds all routes
Max upload size is 25 MB|Maximum upload size is 25MB
PRs need two approvals|Pull requests need two approvals
Perf tests run on the beefy runner|Performance tests run on the beefy runner
Infra code lives in the ops repo|Infrastructure code lives in the ops repository
Always pin deps in package.json|Always pin dependencies in package.json
JS bundles must stay under 200 KB|JavaScript bundles must stay under 200KB
The admin UI is in apps/admin|The admin interface is in apps/admin
E2E tests use Playwright|End-to-end tests use Playwright
Impl of the tokenizer follows the spec|The tokenizer implementation follows the specification
# articles
Tests use the fake clock|The tests use fake clock
Server returns 429 when the quota is exceeded|The server returns a 429 when quota is exceeded
Feature flags are stored in the LaunchDarkly project|Feature flags stored in LaunchDarkly project
User works in the Berlin office|The user works in Berlin office
New endpoints need an OpenAPI entry|New endpoints need OpenAPI entry
Bug reports go to the triage board|Bug reports go to triage board
Worker pool size is set by the WORKERS variable|The worker pool size is set by WORKERS variable
The script must be run from the repo root|Script must be run from repo root
There is a memory leak in the websocket handler|Memory leak in websocket handler
The nightly build is broken on Windows|Nightly build broken on Windows
# list
Run these before a commit: lint, typecheck, unit tests|Before a commit run lint, typecheck and unit tests
Stack: Django, htmx, PostgreSQL|The stack is Django, htmx and PostgreSQL
Three environments: local, staging, production|There are three environments: local, staging and production
The API has endpoints for users, orders and invoices|API endpoints: users, orders, invoices
Tech: React, Tailwind, tRPC|Tech is React + Tailwind + tRPC
- lint with ruff - format with ruff - type check with mypy|Lint with ruff, format with ruff, type check with mypy
Release steps: bump version, tag, push, publish|Release steps are bump version, tag, push and publish
Supported formats: png, jpeg, webp|Supported formats are png, jpeg and webp
Owner: Priya; backup: Tom|Owner is Priya, backup is Tom
Ports: web 3000, api 4000|Ports are web 3000 and api 4000
# labels
**Why:** reviewers lose context in large diffs|Why: reviewers lose context in large diffs.
**How to apply:** split refactors from behaviour changes|How to apply - split refactors from behaviour changes
Rule: never rebase shared branches|Never rebase shared branches
Note: the mock server listens on port 9999|The mock server listens on port 9999
Preference: dark themes in all screenshots|User prefers dark themes in all screenshots
Feedback: stop adding trailing summaries to answers|Stop adding trailing summaries to answers
Important: rotate the signing key every 90 days|The signing key must be rotated every 90 days
Gotcha: vite caches stale env files|Vite caches stale env files
Testing: use factories instead of fixtures|Use factories instead of fixtures for testing
Deployment: merge to main triggers the release workflow|Merging to main triggers the release workflow
Commit style: conventional commits, lower case|Commit style is conventional commits in lower case
TODO: migrate the cron jobs to Temporal|todo - migrate the cron jobs to Temporal
Convention: API errors carry a code and a message|By convention API errors carry a code and a message
# tense
We moved the assets to a CDN|The assets were moved to a CDN
User asked for tables instead of prose|The user asks for tables instead of prose
The team decided to drop Internet Explorer support|Team has decided to drop Internet Explorer support
Uses optimistic locking for orders|Optimistic locking is used for orders
Fixing flaky tests has priority over features|Fix flaky tests with priority over features
Generates sitemaps during the build|Sitemaps are generated during the build
Setting NODE_OPTIONS breaks the Jest runner|NODE_OPTIONS being set breaks the Jest runner
Adding an index on orders.created_at fixed the slow report|The slow report was fixed by adding an index on orders.created_at
The user has worked with Django for 8 years|User works with Django for 8 years
Removed the legacy importer from the CLI|The legacy importer was removed from the CLI
We switched from Jest to Vitest|Switched from Jest to Vitest
# contraction
Don't edit the generated client by hand|Do not edit the generated client by hand
It's forbidden to log tokens|It is forbidden to log tokens
The daemon doesn't reload its config|The daemon does not reload its configuration
Can't use top-level await in the worker|Cannot use top-level await in the worker
Shouldn't depend on the system clock|Should not depend on the system clock
The build won't work without the vendor folder|The build will not work without the vendor folder
User doesn't want emojis in code|User does not want any emojis in code
Tests mustn't touch the network|Tests must not touch the network
We're using uv instead of pip|We are using uv instead of pip
They've disabled force pushes|They have disabled force pushes
# code
Run `make lint` before pushing|Run make lint before pushing
Set `DEBUG=0` in prod|set DEBUG=0 in prod
The entry point is `src/main.rs`|Entry point: src/main.rs
Use `useMemo` for the derived list|use useMemo for the derived list
`npm ci` must be used in CI|Use `npm ci` in CI
**Never** call `os.exit` in library code|Never call os.exit in library code
The `users` table has a partial index on email|users table has a partial index on `email`
Import from `@/lib/db`, not from relative paths|Import from @/lib/db and not from relative paths
Use [the style guide](docs/style.md) for new components|Use the style guide for new components
`fetchUser()` returns null for guests|fetchUser() returns `null` for guests
# spelling
Normalise colours before comparing|Normalize colors before comparing
The behaviour of the optimiser is undocumented|The behavior of the optimizer is undocumented
Serialise favourites as JSON|Serialize favorites as JSON
Centre the dialogue on screen|Center the dialog on screen
Catalogue entries are initialised lazily|Catalog entries are initialized lazily
Use a grey background for cancelled orders|Use a gray background for canceled orders
Organise tests by behaviour|Organize tests by behavior
Licence headers are required in every file|License headers are required in every file
Prefer modelling with dataclasses|Prefer modeling with dataclasses
Analyse the artefacts of the nightly run|Analyze the artifacts of the nightly run
# foreign
Der Build läuft nur unter Linux|Build läuft nur unter Linux
Antworten bitte immer auf Deutsch|Bitte immer auf Deutsch antworten
Die Tests brauchen eine laufende Datenbank|Tests brauchen eine laufende Datenbank.
Les tests utilisent une base en mémoire|les tests utilisent une base en mémoire.
Toujours répondre en français|Répondre toujours en français
Le serveur écoute sur le port 8000|Serveur : écoute sur le port 8000
커밋 메시지는 한국어로 작성한다|커밋 메시지는 한국어로 작성한다.
배포 전에 항상 테스트를 실행한다|- 배포 전에 항상 테스트를 실행한다
Siempre ejecutar las pruebas antes de publicar|Ejecutar siempre las pruebas antes de publicar
提交前必须运行测试|提交前必须运行测试。
# hook
Never amend published commits|Never amend published commits — others may have pulled them already and it breaks their history
Vendor folder is read-only|The vendor folder is read-only: changes there are overwritten by the next sync
Integration tests hit a real database, no mocks|Integration tests must hit a real database, not mocks, because mocked tests passed while the migration failed
Use structured logging, no print statements|Use structured logging everywhere; no print statements, since the log collector drops plain lines
Release branch is cut every second Thursday|The release branch is cut every second Thursday by the mobile team
Auth rewrite driven by legal requirements|The auth middleware rewrite is driven by legal requirements about session token storage, not tech debt
Check browser console before claiming UI fixes|Always check the browser console for errors before claiming that a UI fix works
Pipeline bugs tracked in Linear project INGEST|Pipeline bugs are tracked in the Linear project "INGEST"
Bundle refactors in one PR for this area|For refactors in this area user prefers one bundled PR over many small ones
Always run formatter after edits|Run the formatter after all edits, since CI fails on unformatted files
WSL path issues with symlinks|Path issues with symlinks under WSL
Keep PR descriptions short|Keep pull request descriptions short: a few bullets, no test plan
Validate input at API boundary with zod|Validate all input at the API boundary with zod schemas
Orders service: architecture and deployment notes|Architecture and deployment notes for the orders service
Database naming conventions|Naming conventions for database tables and columns
Release checklist for the mobile app|Mobile app release checklist with store submission steps
Payments retry policy|How the payments retry policy works and where it is configured
Local dev setup pitfalls on Apple Silicon|Pitfalls of the local development setup on Apple Silicon machines
CSS conventions: BEM naming, no inline styles|CSS conventions — use BEM naming and no inline styles in templates
Always confirm before destructive git operations|Confirm with the user before any destructive git operations (reset --hard, force push)
Migration to Postgres 16 plan and status|Plan and status of the migration to Postgres 16
Prefer composition over inheritance in UI components|UI components: prefer composition over inheritance
Search index rebuild procedure|Procedure for rebuilding the search index
Translation workflow with Crowdin|How the translation workflow with Crowdin works, including review steps
Queue worker memory limits and restarts|Memory limits and restarts of the queue workers
Use British spelling in docs|Docs use British spelling throughout
Mock external HTTP with respx in tests|In tests mock external HTTP calls with respx
Batch size tuning results for the embedding job|Results of tuning the batch size for the embedding job
API versioning strategy|Strategy for API versioning across public endpoints
Feature flag cleanup after rollout|Clean up feature flags after rollout
Audio engine threading model|Threading model of the audio engine: what runs on which thread
Kafka consumer lag alerts and thresholds|Alerts and thresholds for Kafka consumer lag
Monorepo layout and package boundaries|Layout of the monorepo and boundaries between packages
State machine for order lifecycle|Order lifecycle state machine
Report generation is asynchronous via Celery|Reports are generated asynchronously via Celery
Rate limiting details for the public API|Details on rate limiting of the public API
# filler
Basically, the importer just skips empty rows|The importer skips empty rows
As of now the staging cluster runs in eu-west-1|The staging cluster currently runs in eu-west-1
Please always use absolute imports|Use absolute imports
It is worth noting that uploads are limited to 5 MB|Uploads are limited to 5 MB
Keep in mind that the sandbox has no network access|The sandbox has no network access
For this project, the user wants type hints on all functions|User wants type hints on all functions
In general, prefer early returns|Prefer early returns
Make sure to always close database cursors|Always close database cursors
We should generally avoid circular imports|Avoid circular imports
When working in this repo, run commands via just|Run commands via just in this repo
Remember: invoices are rounded half up|Invoices are rounded half up
The team agreed that hotfixes go directly to the release branch|Hotfixes go directly to the release branch
"""

DIFFERENT = """
# number
Run at most 4 workers per host|Run at most 8 workers per host
Session cookie lives 12 hours|Session cookie lives 24 hours
Two reviewers are needed for every PR|One reviewer is needed for every PR
Sprint reviews happen every second Thursday|Sprint reviews happen every third Thursday
The first retry waits 1 second|The first retry waits 10 seconds
Line length limit is 100|Line length limit is 110
Python 3.11 is the minimum version|Python 3.12 is the minimum version
Bug #1234 blocks the release|Bug #1243 blocks the release
Redis runs on port 6379|Redis runs on port 6380
Use at least three replicas|Use at least two replicas
Coverage must stay above 80%|Coverage must stay above 85%
v2.0 dropped the legacy endpoint|v2.1 dropped the legacy endpoint
The queue keeps messages for a day|The queue keeps messages for a week
The fee is 1.5 percent|The fee is 15 percent
Backups are kept for one month|Backups are kept for two months
Phase 2 is in review|Phase 3 is in review
Page size is 50 by default|Page size is 500 by default
The team has five backend engineers|The team has four backend engineers
The job runs at 3 am|The job runs at 3 pm
Chunk size is 512 tokens with overlap 64|Chunk size is 64 tokens with overlap 512
# name
Ana reviews the billing changes|Anna reviews the billing changes
Marc owns the deployment scripts|Mark owns the deployment scripts
Ask Priya about the data model|Ask Petra about the data model
The client is written in Kotlin|The client is written in Swift
The gateway runs on nginx|The gateway runs on Caddy
Deploys go to AWS Frankfurt|Deploys go to AWS Ireland
The designer is Lea|The designer is Leo
ask Tom before touching the parser|ask Tim before touching the parser
the frontend uses vue|the frontend uses svelte
messages go through kafka|messages go through rabbitmq
The team lead is Jonas|The product owner is Jonas
Stripe handles payments for the web shop|Adyen handles payments for the web shop
Bugs are tracked in Jira|Bugs are tracked in Linear
The macOS build is signed|The Windows build is signed
Maria approved the schema, Jan the API|Jan approved the schema, Maria the API
# command
Run `npm test` before pushing|Run `npm run test` before pushing
Use `npm install` in CI|Use `npm ci` in CI
Start it with `make run`|Start it with `make dev`
Use git rebase to update branches|Use git merge to update branches
Run pytest -x when debugging|Run pytest -v when debugging
Use `docker compose up` locally|Use `docker compose down` locally
Use yarn build for releases|Use yarn pack for releases
Call `user.save()` after the change|Call `user.update()` after the change
Run cargo clippy before commits|Run cargo fmt before commits
Deploy with `./deploy.sh staging`|Deploy with `./deploy.sh prod`
Set FEATURE_A to enable the new flow|Set FEATURE_B to enable the new flow
Use `git push --force-with-lease`|Use `git push --force`
The table is called user_events|The table is called user_event_log
The option --dry-run prints the plan|The option --verbose prints the plan
Use getUserById in handlers|Use getUserByEmail in handlers
# environment
Debug logging is on in staging|Debug logging is on in production
The dev database is reset nightly|The staging database is reset nightly
Secrets for QA are in 1Password|Secrets for production are in 1Password
Use mocks in unit tests|Use mocks in integration tests
Local builds use esbuild|CI builds use esbuild
The preview environment has no mail|The demo environment has no mail
Rate limits apply in production|Rate limits apply in production and staging
The test server runs Debian|The build server runs Debian
Linux builds need clang|macOS builds need clang
The script works on Windows|The script works on Linux
Mobile users see the old layout|Desktop users see the old layout
The sandbox account has no limits|The live account has no limits
# negation
The API supports pagination|The API does not support pagination
Comments are allowed in JSON config|Comments are not allowed in JSON config
The user wants to be asked before commits|The user does not want to be asked before commits
Use mocks for the payment provider|Do not use mocks for the payment provider
The worker is idempotent|The worker is not idempotent
The parser handles nested quotes|The parser never handles nested quotes
The bug is reproducible|The bug is no longer reproducible
Nobody may push to main|Everybody may push to main
The cache is not shared between tenants|The cache is shared between tenants
It is not true that the API is rate limited|It is true that the API is rate limited
User wants explanations, not code|User wants code, not explanations
Do not merge without approval|Merge without approval
Not all endpoints are public|All endpoints are public
No tests need the network|Tests need the network
Don't rely only on unit tests|Don't rely on unit tests
Log the error but do not raise it|Raise the error but do not log it
Do not remove the feature flag until the rollout is done|Remove the feature flag when the rollout is done
The tests fail without Docker|The tests pass without Docker
The user is not a native English speaker|The user is a native English speaker
Never use the shared runner for releases|Use the shared runner for releases
# opposite
Sort oldest first|Sort newest first
The sidebar is on the left|The sidebar is on the right
Writes go to the primary|Reads go to the primary
Tokens are validated before the lookup|Tokens are validated after the lookup
Disable telemetry by default|Enable telemetry by default
The service is stateless|The service is stateful
Prefer long variable names|Prefer short variable names
Increase the heap in CI|Decrease the heap in CI
Errors are shown to the user|Errors are hidden from the user
Push images after the tests|Pull images after the tests
Opt in to analytics|Opt out of analytics
The list is ordered|The list is unordered
Uploads are encrypted|Uploads are unencrypted
Compress images at build time|Compress images at run time
The request is synchronous|The request is asynchronous
Fail open when the limiter is down|Fail closed when the limiter is down
The flag is on for everyone|The flag is off for everyone
Old clients keep the token|New clients keep the token
The upper bound is inclusive|The upper bound is exclusive
Rows are appended to the table|Rows are prepended to the table
User prefers verbose output|User prefers terse output
User prefers dark mode|User prefers light mode
The menu opens on hover|The menu opens on click
The build got faster|The build got slower
Cache hits are logged|Cache misses are logged
Grant the role to the bot|Revoke the role from the bot
Import the schema from the backend|Export the schema to the backend
The endpoint is public|The endpoint is private
Horizontal scaling is preferred|Vertical scaling is preferred
The field is mandatory|The field is optional
# swapped
Fixed `create_item` hardcoding `is_home=False` on import|Fixed `is_home=False` hardcoding `create_item` on import
The run took 480 seconds for 132 of 132 tests|The run took 132 seconds for 132 of 480 tests
Service A calls service B|Service B calls service A
The parent owns the child record|The child owns the parent record
Convert Celsius to Fahrenheit|Convert Fahrenheit to Celsius
Copy from staging to local|Copy from local to staging
Ana reports to Bob|Bob reports to Ana
The app depends on the library|The library depends on the app
Lint runs first, tests second|Tests run first, lint second
Frontend in Go, backend in TypeScript|Frontend in TypeScript, backend in Go
Prefer clarity over speed|Prefer speed over clarity
Port 3000 is web, 4000 is api|Port 4000 is web, 3000 is api
The server sends the token to the client|The client sends the token to the server
Alpha replaces Beta|Beta replaces Alpha
Migrate from MySQL to MariaDB|Migrate from MariaDB to MySQL
Use tabs in Python, spaces in Go|Use spaces in Python, tabs in Go
A user has many teams|A team has many users
Tests import the app, the app never imports tests|The app imports tests, tests never import the app
The cache is checked before the database|The database is checked before the cache
Staging mirrors production|Production mirrors staging
The orders table references the users table|The users table references the orders table
Validate, then authorize|Authorize, then validate
# condition
Deploy on Fridays|Deploy on Fridays only if the tests pass
Use the bulk endpoint|Use the bulk endpoint for more than 100 rows
Reindex after each import|Reindex after each import unless it is small
Run migrations at startup|Run migrations at startup in development only
Comments are moderated|Comments of new members are moderated
Retry failed jobs|Retry failed jobs when the error is transient
Format code with prettier|Format code with prettier except generated files
Emails are sent|Emails are sent if the user opted in
Users may export their data|Users may export their data until the account is closed
Ask before running migrations|Ask before running migrations in production
Logs are kept for a year|Logs of payments are kept for a year
Feature branches are deleted|Feature branches are deleted after 30 days
Add tests for every change|Add tests for every change to the parser
Cache responses of the API|Cache responses of the API for guests
Use transactions|Use transactions only for writes across tables
# quantifier
All services use mTLS|Some services use mTLS
Most tests are fast|All tests are fast
Every request is logged|Every tenth request is logged
Each team owns a dashboard|One team owns a dashboard
Many users rely on the CSV export|Few users rely on the CSV export
The user always reviews diffs|The user sometimes reviews diffs
Always squash commits|Usually squash commits
Only Ana can publish|Ana can publish
At least one reviewer must approve|At most one reviewer must approve
Exactly one leader is elected|At least one leader is elected
Half of the traffic goes to v2|All of the traffic goes to v2
Up to 10 files per request|At least 10 files per request
The nightly run covers both browsers|The nightly run covers one browser
More than 5 retries trip the breaker|Fewer than 5 retries trip the breaker
Nearly all rows are unique|All rows are unique
# time
The freeze starts on 5 March|The freeze starts on 15 March
The release is in June|The release is in July
Standup is at 9:30|Standup is at 9:00
The old API was removed|The old API will be removed
The migration is planned for Q3|The migration is planned for Q4
The user worked at Acme|The user works at Acme
We use Jest|We used to use Jest
The import is running|The import was running
The contract ends in 2026|The contract ends in 2027
The workshop is on Monday|The workshop is on Wednesday
Deploys are frozen this week|Deploys are frozen next week
The job ran yesterday|The job runs tomorrow
Login is broken since Tuesday|Login is broken since Thursday
The certificate was renewed in May|The certificate expires in May
We plan to drop Python 3.9|We dropped Python 3.9
The flag will be removed soon|The flag has been removed
As of 2026-01-10 the tests pass|As of 2026-02-10 the tests pass
The summer release is 4.0|The winter release is 4.0
Reports run on weekdays|Reports run on weekends
Builds run in the morning|Builds run at night
# unit
Timeout is 500 ms|Timeout is 500 s
The image is 20 MB|The image is 20 MiB of RAM
The disk has 2 TB|The disk has 2 GB
Padding is 8 px|Padding is 8 rem
The token lives 7 days|The token lives 7 weeks
Budget is 500 USD|Budget is 500 EUR
The limit is 100 requests per second|The limit is 100 requests per minute
The interval is 5 min|The interval is 5 h
Speed is 80 km/h|Speed is 80 mph
The sample rate is 44.1 kHz|The sample rate is 44.1 Hz
# extra
The login bug is fixed|The login bug is fixed in the mobile app
Uses Redis for caching|Uses Redis for caching and Postgres for sessions
The user likes tea|The user likes tea and hates meetings
Backend is Django|Backend is Django, the frontend Vue, deployed on Heroku by Mira
The API returns JSON|The API returns JSON and the admin returns HTML
Ana owns billing|Ana owns billing and Bob owns search
Tests run on Linux|Tests run on Linux and Windows
Supports login with Google|Supports login with Google and GitHub
The CLI has a verbose flag|The CLI has a verbose flag and a dry-run flag
Supported formats: png, jpeg|Supported formats: png, jpeg, webp
# topic
The scheduler runs jobs in order|The scheduler keeps jobs in Postgres
Login uses OAuth with PKCE|Login fails when cookies are blocked
The user prefers short answers|The user prefers short functions
Tests for the parser live in tests/parser|Tests for the parser are slow
The release script tags the commit|The release script needs a clean tree
The API uses cursor pagination|The API uses optimistic locking
Docker image is built in CI|Docker image is scanned in CI
The mobile app caches images|The mobile app caches responses
Database backups are encrypted|Database backups are tested monthly
Search uses trigram indexes|Search uses a separate read replica
The user reviews PRs in the morning|The user writes docs in the morning
The importer validates the header row|The importer skips the header row
Use dataclasses for configuration|Use environment variables for configuration
The team chat is in Slack|The team wiki is in Notion
Orders are archived after a year|Orders are anonymised after a year
The admin page lists all users|The admin page exports all users
Billing service deployment notes|Search service deployment notes
Architecture of the billing service|Deployment of the billing service
Payment API: error codes and retries|Payment API: authentication and quotas
Frontend testing conventions and fixtures|Backend testing conventions and fixtures
Release process for the mobile app|Release process for the web app
How the ingestion worker handles retries|How the ingestion worker handles schema changes
Database naming conventions|Database migration conventions
User's background in data engineering|User's goals in data engineering
Flaky tests in the checkout suite|Slow tests in the checkout suite
Plan and status of the search rewrite|Lessons and pitfalls of the search rewrite
Feedback on commit message style|Feedback on pull request style
Local setup on macOS: pitfalls|Local setup on Windows: pitfalls
Design decisions for the plugin API|Known issues of the plugin API
Image upload pipeline: limits and formats|Image upload pipeline: storage and cleanup
Write tests for new functionality|Write docs for new functionality
Never guess file paths, check them first|Never guess API names, check them first
Never commit secrets to the repo|Never commit generated files to the repo
Always run the linter before pushing|Always run the migrations before pushing
Do not edit files under vendor/|Do not delete files under vendor/
Check logs before restarting services|Check metrics before restarting services
Prefer functions over classes in utils|Prefer functions over macros in utils
Confirm with the user before deleting branches|Confirm with the user before creating branches
Ask before installing dependencies|Ask before upgrading dependencies
The user wants diffs, small ones|The user wants tests, small ones
# question
The API is rate limited|Is the API rate limited?
Does the user prefer tabs?|The user prefers tabs
Should we migrate to Bun?|We should migrate to Bun
The deploy needs approval|Does the deploy need approval?
We should drop IE support|Why should we drop IE support?
Maybe the cache is stale|The cache is stale
The outage was caused by DNS|The outage was probably caused by DNS
The user might switch to Zed|The user switched to Zed
Someone suggested using MongoDB|We are using MongoDB
It is unclear whether the job is idempotent|The job is idempotent
# scope
Admins can read all invoices|Admins can read their own invoices
The rule applies to this repo|The rule applies to every repo
Public methods need docstrings|Private methods need docstrings
Global config is in YAML|Local config is in YAML
Type hints are required in src|Type hints are required in tests
The user wants tests for bug fixes|The user wants tests for features
The header is sticky on mobile|The footer is sticky on mobile
Squash merges on main|Squash merges on feature branches
Paying customers get exports|Trial customers get exports
Dark theme applies to the dashboard|Dark theme applies to the landing page
Internal APIs use gRPC|External APIs use gRPC
Sales staff can see discounts|Support staff can see discounts
# strength
Tests must run offline|Tests should not run offline
You may skip the changelog|You must skip the changelog
Reviews are recommended|Reviews are required
User requires type hints|User tolerates type hints
Consider using indexes|Always use indexes
Avoid using eval|Consider using eval
User loves emojis|User hates emojis
Try to keep files small|Never keep files small
The header is required|The header is ignored
Signing is enforced|Signing is encouraged
# foreign
Der Server läuft auf Port 8000|Der Server läuft auf Port 8001
Antworten immer auf Deutsch|Antworten nie auf Deutsch
Les tests utilisent SQLite|Les tests n'utilisent pas SQLite
Toujours répondre en français|Toujours répondre en anglais
테스트는 항상 배포 전에 실행한다|테스트는 항상 배포 후에 실행한다
커밋 메시지는 한국어로 작성한다|커밋 메시지는 영어로 작성한다
提交前必须运行测试|提交后必须运行测试
Siempre ejecutar las pruebas antes de publicar|Nunca ejecutar las pruebas antes de publicar
Keine Kommentare im Code|Kommentare im Code
Die Tests laufen ohne Datenbank|Die Tests laufen mit Datenbank
メールは毎日送る|メールは毎週送る
Builds nur unter Linux|Builds nur unter Windows
"""


def pairs(table: str) -> list[tuple[str, str]]:
    lines = [line for line in table.strip().splitlines() if not line.startswith("# ")]
    return [(a, b) for a, _, b in (line.partition("|") for line in lines)]
