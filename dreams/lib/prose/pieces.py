"""Splits a statement into numbers, code, names, words and filler, each with its position and its comparison key. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import statement
from dreams.lib.prose.words import CARDINALS

# Tools and services. Names with a capital here are ordinary words in lower case.
_PRODUCTS = (
    "circleci|jenkins|buildkite|teamcity|Bamboo|npm|yarn|pnpm|Bun|pip|pipenv|Poetry|uv|conda|pip-tools|hatch|pdm|"
    "Jest|vitest|mocha|jasmine|Karma|Ava|tap|pytest|unittest|nose|nose2|cypress|playwright|selenium|puppeteer|"
    "testcafe|webdriverio|nightwatch|eslint|Biome|tslint|jshint|oxlint|standardjs|flake8|pylint|ruff|pycodestyle|"
    "mypy|pyright|pytype|webpack|Vite|rollup|esbuild|turbopack|Parcel|rspack|browserify|Grunt|Gulp|lerna|turborepo|"
    "Nx|rush|bazel|moonrepo|redux|zustand|mobx|Recoil|Jotai|vuex|pinia|ngrx|tailwind|Bootstrap|bulma|sass|scss|"
    "react|vue|angular|svelte|sveltekit|solidjs|nextjs|next.js|nuxt|Remix|gatsby|Astro|Flutter|Ember|preact|"
    "docusaurus|mkdocs|Sphinx|vitepress|gitbook|vuepress|Hugo|Jekyll|readthedocs|django|flask|fastapi|Express|"
    "fastify|koa|nestjs|laravel|symfony|Rails|Phoenix|Gin|hono|sequelize|prisma|typeorm|Drizzle|sqlalchemy|"
    "Objection|mikroorm|hibernate|knex|heroku|fly.io|vercel|netlify|Render|Railway|digitalocean|hetzner|aws|gcp|"
    "azure|linode|scaleway|ovh|terraform|pulumi|cloudformation|opentofu|ansible|Puppet|Chef|saltstack|kubernetes|"
    "k8s|nomad|Vault|1password|doppler|infisical|bitwarden|datadog|Loki|splunk|elk|papertrail|logtail|Graylog|"
    "cloudwatch|prometheus|grafana|influxdb|statsd|sentry|bugsnag|rollbar|honeybadger|airbrake|glitchtip|jira|"
    "Linear|trello|asana|youtrack|clickup|shortcut|redmine|basecamp|confluence|Notion|slite|slack|discord|"
    "mattermost|zulip|rocket.chat|stripe|adyen|paypal|braintree|mollie|paddle|auth0|okta|Clerk|keycloak|cognito|"
    "nextauth|workos|launchdarkly|unleash|flagsmith|configcat|growthbook|split.io|postgres|postgresql|mysql|mariadb|"
    "sqlite|mongodb|mongo|cockroachdb|dynamodb|clickhouse|cassandra|couchdb|firestore|planetscale|supabase|mssql|"
    "redis|memcached|valkey|keydb|dragonfly|elasticsearch|opensearch|algolia|meilisearch|typesense|solr|snowflake|"
    "bigquery|redshift|databricks|synapse|rabbitmq|kafka|nats|pulsar|activemq|zeromq|sqs|beanstalkd|redpanda|celery|"
    "sidekiq|resque|rq|dramatiq|bullmq|Temporal|airflow|dagster|prefect|luigi|nginx|caddy|traefik|haproxy|kong|"
    "envoy|gradle|maven|cmake|meson|sbt|docker|podman|containerd|sendgrid|mailgun|postmark|resend|mailchimp|vscode|"
    "neovim|vim|emacs|intellij|pycharm|webstorm|github|gitlab|bitbucket|gitea|codeberg|node|node.js|nodejs|deno|"
    "python|Ruby|golang|Java|openjdk|php|kotlin|Rust|elixir|typescript|javascript|figma|Sketch|penpot|cloudflare|"
    "fastly|cloudfront|akamai|bunny.net|parquet|avro|csv|orc|ndjson|xlsx|json|yaml|toml|xml|protobuf|msgpack|"
    "graphql|grpc|trpc"
)


@lru_cache(maxsize=1)
def _table() -> dict[str, bool]:
    """Lower-case name → whether it is a name in lower case too."""
    return {name.lower(): not name[0].isupper() for name in _PRODUCTS.split("|")}


def is_product(name: str) -> bool:
    """Whether it names a tool or service, in this spelling."""
    known = _table().get(name.lower())
    return known is not None and (known or name[:1].isupper())


Shape = Literal["number", "code", "name", "word", "filler"]
_PIECE = re.compile(r"`[^`\n]+`|[^\s`]+")
# "Team lead: Anna Berg": after a label comes a value, not the beginning of a sentence.
_VALUE = re.compile(
    r"^(?!\W*(?:note|remember|reminder|fyi|important|hint|tip|warning|example|update)\b)[^:.!?\n]{2,60}:(?:\*\*|__)?(?:\s+[^\s.!?:]\S*){1,3}$",
    re.IGNORECASE,
)
_EDGES = "\"'“”‘’«»*_()[]{}.,;:!?—–"
_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_NUMBER = re.compile(r"[#$€£v]?\d[\d.,:_]*(?:%|[a-zA-Z]{0,3})")
_CARDINALS = CARDINALS.keys() - {"one"}
_CODE = re.compile(r"[#@/~.]\w|\w[-_/.@:]\w|[a-z\d][A-Z]|[^\W\d]\d|\w/$")
# Verbs that do not show which property is meant: "runs Node 20", "runs in Lisbon".
WEAK = frozenset(
    "use run execute go come take live sit set host be keep save store need require".split()  # noqa: SIM905 - a word list
)
# Forms that the light stemmer misses.
_FORMS = {
    "owner": "own", "maintainer": "maintain", "reviewer": "review", "approver": "approve", "leader": "lead", "kept": "keep",
    "built": "build", "sent": "send", "ran": "run", "wrote": "write", "written": "write", "begins": "start", "took": "take",
    "responsible": "own",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ComparedWord:
    """A word of a statement; `key` is its form for comparison, "" for filler words."""

    text: str
    start: int
    end: int
    key: str
    shape: Shape

    @property
    def is_value(self) -> bool:
        return self.shape in {"number", "code", "name"}


@lru_cache(maxsize=20_000)
def pieces(text: str) -> tuple[ComparedWord, ...]:
    found: list[ComparedWord] = []
    opening = True
    gives_value = bool(_VALUE.match(text.rstrip(" .!")[:200]))
    for match in _PIECE.finditer(text[:2_000]):
        raw = match[0]
        coded = raw.startswith("`") and raw.endswith("`") and len(raw) > 2
        bare = raw if coded else raw.strip(_EDGES + "`")
        if bare:
            start = match.start() + raw.index(bare)
            found.append(_piece(bare, start, coded, opening))
        opening = raw[-1:] in ".!?" or ((raw[-1:] == ":" or raw[-3:] in {":**", ":__"}) and not gives_value)
    return tuple(found)


def _piece(bare: str, start: int, coded: bool, opening: bool) -> ComparedWord:
    shape: Shape = "word"
    if coded or (len(bare) > 4 and _COLOUR.fullmatch(bare)):
        shape = "code"
    elif _NUMBER.fullmatch(bare) or bare.lower() in _CARDINALS:
        shape = "number"
    elif _CODE.search(bare):
        shape = "code"
    elif (bare[:1].isupper() and not opening) or is_product(bare):
        shape = "name"
    low = bare.strip("`").lower().removesuffix("'s").removesuffix("’s")
    if shape == "number" and bare.isalpha():
        return ComparedWord(bare, start, start + len(bare), lexicon.NUMBER_WORDS[low], shape)
    if shape in {"number", "code"}:
        return ComparedWord(bare, start, start + len(bare), " ".join(low.split()), shape)
    keys = list(statement(_FORMS.get(low, low)).weights)
    if shape == "word" and (len(keys) != 1 or low in lexicon.FILLER):
        return ComparedWord(bare, start, start + len(bare), "", "filler")
    return ComparedWord(bare, start, start + len(bare), keys[0] if len(keys) == 1 else low, shape)


def keys_of(text: str) -> frozenset[str]:
    return frozenset(piece.key for piece in pieces(text) if piece.key)
