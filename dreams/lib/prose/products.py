"""Names of tools and services as people write them, by what one of them is taken in place of another for. Pure data.

They are names in small letters too ("we use pnpm now"), and one that takes another's place is of its class: who tells that a
project is on Fly.io now speaks of its hosting. Words that mean something else in plain English are names with a capital only.
"""

from __future__ import annotations

from functools import lru_cache

_CLASSES: dict[str, str] = {
    "ci": "circleci|github actions|gitlab ci|jenkins|travis ci|buildkite|teamcity|drone ci|azure pipelines|bitbucket pipelines|"
    "Bamboo|woodpecker ci",
    "packages": "npm|yarn|pnpm|Bun",
    "python packages": "pip|pipenv|Poetry|uv|conda|pip-tools|hatch|pdm",
    "unit tests": "Jest|vitest|mocha|jasmine|Karma|Ava|tap",
    "python tests": "pytest|unittest|nose|nose2",
    "browser tests": "cypress|playwright|selenium|puppeteer|testcafe|webdriverio|nightwatch",
    "lint": "eslint|Biome|tslint|jshint|oxlint|standardjs",
    "python lint": "flake8|pylint|ruff|pycodestyle",
    "types": "mypy|pyright|pytype",
    "bundler": "webpack|Vite|rollup|esbuild|turbopack|Parcel|rspack|browserify|Grunt|Gulp",
    "monorepo": "lerna|turborepo|Nx|rush|bazel|moonrepo",
    "state": "redux|zustand|mobx|Recoil|Jotai|vuex|pinia|ngrx",
    "styles": "tailwind|tailwind css|Bootstrap|bulma|styled components|emotion css|sass|scss",
    "frontend": "react|react native|vue|angular|svelte|sveltekit|solidjs|nextjs|next.js|nuxt|Remix|gatsby|Astro|Flutter|Ember|preact",
    "docs": "docusaurus|mkdocs|Sphinx|vitepress|gitbook|vuepress|Hugo|Jekyll|readthedocs",
    "backend": "django|flask|fastapi|Express|fastify|koa|nestjs|laravel|symfony|spring boot|ruby on rails|Rails|Phoenix|Gin|hono",
    "orm": "sequelize|prisma|typeorm|Drizzle|sqlalchemy|Objection|mikroorm|hibernate|knex",
    "hosting": "heroku|fly.io|vercel|netlify|Render|Railway|digitalocean|hetzner|cloudflare pages|aws|gcp|azure|google cloud|"
    "amazon web services|linode|scaleway|ovh",
    "infrastructure": "terraform|pulumi|cloudformation|opentofu|aws cdk",
    "configuration": "ansible|Puppet|Chef|saltstack",
    "orchestration": "kubernetes|k8s|docker swarm|nomad|amazon ecs|docker compose",
    "secrets": "hashicorp vault|Vault|aws secrets manager|1password|doppler|infisical|bitwarden",
    "logs": "datadog|grafana loki|Loki|splunk|elk|papertrail|logtail|Graylog|new relic|cloudwatch",
    "metrics": "prometheus|grafana|influxdb|statsd",
    "errors": "sentry|bugsnag|rollbar|honeybadger|airbrake|glitchtip",
    "tickets": "jira|Linear|trello|asana|youtrack|github issues|clickup|shortcut|redmine|basecamp",
    "wiki": "confluence|Notion|slite|gitbook",
    "chat": "slack|microsoft teams|ms teams|discord|mattermost|zulip|rocket.chat",
    "payments": "stripe|adyen|paypal|braintree|mollie|paddle|lemon squeezy",
    "login": "auth0|okta|Clerk|keycloak|cognito|firebase auth|nextauth|workos|supabase auth",
    "flags": "launchdarkly|unleash|flagsmith|configcat|growthbook|split.io",
    "database": "postgres|postgresql|mysql|mariadb|sqlite|mongodb|mongo|cockroachdb|dynamodb|clickhouse|cassandra|couchdb|firestore|"
    "planetscale|supabase|neon postgres|sql server|mssql|oracle db",
    "cache": "redis|memcached|valkey|keydb|dragonfly",
    "search": "elasticsearch|opensearch|algolia|meilisearch|typesense|solr",
    "warehouse": "snowflake|bigquery|redshift|databricks|synapse",
    "broker": "rabbitmq|kafka|nats|pulsar|activemq|zeromq|amazon sqs|sqs|redis streams|google pub/sub|beanstalkd|redpanda",
    "jobs": "celery|sidekiq|resque|rq|dramatiq|bullmq|Temporal",
    "pipelines": "airflow|dagster|prefect|luigi",
    "proxy": "nginx|caddy|traefik|haproxy|kong|envoy|apache httpd",
    "build": "gradle|maven|cmake|meson|sbt",
    "containers": "docker|podman|containerd",
    "mail": "sendgrid|mailgun|postmark|amazon ses|resend|mailchimp",
    "editor": "vscode|vs code|neovim|vim|emacs|intellij|pycharm|webstorm|zed editor",
    "forge": "github|gitlab|bitbucket|gitea|codeberg",
    "node": "node|node.js|nodejs|deno", "python": "python", "ruby": "Ruby", "go": "golang", "java": "Java|openjdk", "php": "php", "kotlin": "kotlin", "rust": "Rust",
    "elixir": "elixir", "script": "typescript|javascript",
    "design": "figma|Sketch|penpot|adobe xd",
    "cdn": "cloudflare|fastly|cloudfront|akamai|bunny.net",
    "formats": "parquet|avro|csv|orc|ndjson|xlsx|json|yaml|toml|xml|protobuf|msgpack",
    "wire": "graphql|grpc|trpc|rest api",
}  # fmt: skip

# What such a thing is called: a statement that says no more than this speaks of no part of the project alone.
_WORDS: dict[str, str] = {
    "ci": "ci cd pipeline build builds continuous integration",
    "packages": "package packages manager dependency dependencies install installs javascript frontend",
    "python packages": "package packages manager dependency dependencies install installs python",
    "unit tests": "unit test tests testing runner framework", "python tests": "unit test tests testing runner framework python",
    "browser tests": "browser e2e end-to-end test tests testing suite", "lint": "lint linter linting", "python lint": "lint linter linting python",
    "types": "type types checker checking", "bundler": "bundler bundle build tool", "monorepo": "monorepo tool", "state": "state management store",
    "styles": "style styles css styling framework", "frontend": "frontend framework ui", "docs": "docs documentation site generator",
    "backend": "backend server api framework", "orm": "orm database layer", "hosting": "hosting host deploy deploys deployment target provider cloud platform",
    "infrastructure": "infrastructure iac code", "configuration": "configuration management", "orchestration": "orchestration orchestrator container containers",
    "secrets": "secret secrets store manager", "logs": "log logs logging", "metrics": "metrics monitoring", "errors": "error errors tracking tracker",
    "tickets": "ticket tickets issue issues tracker tracking task tasks", "wiki": "wiki docs documentation", "chat": "chat team messages",
    "payments": "payment payments provider processor", "login": "auth authentication login provider identity", "flags": "feature flag flags",
    "database": "database db main primary data store", "cache": "cache caching", "search": "search engine index", "warehouse": "data warehouse analytics",
    "broker": "message broker queue messages", "jobs": "job jobs background queue worker", "pipelines": "pipeline pipelines orchestration data",
    "proxy": "reverse proxy load balancer gateway", "build": "build tool", "containers": "container containers runtime", "mail": "mail email provider",
    "editor": "editor ide", "forge": "code repository git hosting", **dict.fromkeys(("node", "python", "ruby", "go", "java", "php", "kotlin", "rust", "elixir", "script"), "version runtime language"), "design": "design tool",
    "cdn": "cdn provider", "formats": "format", "wire": "api protocol",
}  # fmt: skip


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[str, bool]]:
    """Name in small letters → (class, whether it is one in small letters too)."""
    return {
        name.lower(): (kind, not name[0].isupper())
        for kind, names in _CLASSES.items()
        for name in names.split("|")
    }


def class_of(name: str) -> str:
    """What a name is taken for; empty for one that is not known, or that is a plain word as it is written here."""
    found = _table().get(name.lower())
    return found[0] if found and (found[1] or name[:1].isupper()) else ""


@lru_cache(maxsize=1)
def continued() -> frozenset[str]:
    """The words that go on with a name in small letters: "actions" of "github actions", as "github actions"."""
    return frozenset(name for name in _table() if " " in name)


def words_for(kind: str) -> str:
    """What things of a class are called, as people write it."""
    return _WORDS.get(kind, "")
