"""The vocabulary of generated directories: names that no real project has, and values of each sort. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

_FIRST = (  # noqa: SIM905 - a word list
    "amber basalt birch cedar chalk clover cobalt copper coral cotton delta ember fennel flint garnet ginger granite harbour "
    "hazel heron indigo ivory jasper juniper kelp lagoon larch lilac linen maple marble marlow meadow mistral nettle nutmeg "
    "oaken ochre olive onyx opal orchid pebble pepper pewter plover quartz raven reed rowan saffron sorrel sparrow tansy "
    "teal thistle topaz umber velvet walnut willow yarrow zephyr"
).split()
_SECOND = (  # noqa: SIM905 - a word list
    "archiver auditor balancer broker cataloguer collector courier crawler digester dispatcher exporter fetcher forwarder "
    "gateway importer indexer invoicer ledger mailer matcher migrator mixer notifier parser planner poller portal pricer "
    "printer proxy publisher ranker recorder relay renderer resizer router sampler scanner scorer sender shipper sorter "
    "splitter stitcher sweeper tagger tracker uploader vault verifier watcher"
).split()
PEOPLE = (  # noqa: SIM905 - a word list
    "Anneke Bastian Carolin Dimitri Eleni Farid Gudrun Hamza Ingrid Jovana Kasimir Leonie Mirela Nuno Odette Pavel Quirin "
    "Rosalind Stefano Tamsin Ulrike Valentin Wiebke Xenia Yannick Zoltan"
).split()
SURNAMES = (  # noqa: SIM905 - a word list
    "Abendroth Brzezicki Castellano Demirel Eriksson Falkenberg Grigorescu Hollander Ivanova Jorgensen Kowalczyk Lindqvist "
    "Marchetti Nakagawa Okonkwo Petridis Quintana Rasmussen Santangelo Takahashi"
).split()
REGIONS = (
    "eu-west-1",
    "eu-north-1",
    "us-east-2",
    "us-west-1",
    "ap-south-1",
    "sa-east-1",
    "ca-central-1",
    "af-south-1",
)
STORES = (
    "PostgreSQL 15",
    "PostgreSQL 16",
    "MariaDB 11",
    "SQLite",
    "MongoDB 7",
    "CockroachDB",
    "DynamoDB",
    "ClickHouse",
    "Redis 7",
    "Cassandra",
)
QUEUES = ("RabbitMQ", "Kafka", "NATS", "Pulsar", "ActiveMQ", "Redis Streams", "ZeroMQ", "Beanstalkd")
FORMATS = ("Parquet", "Avro", "CSV", "ORC", "NDJSON", "XLSX", "Arrow")
RUNTIMES = ("Node 20", "Node 22", "Python 3.11", "Python 3.12", "Java 17", "Java 21", "Go 1.22", "Ruby 3.3")
BRANCHES = ("main", "trunk", "stable", "develop", "integration", "mainline")
CHANNELS = ("#ops-night", "#alerts", "#firehose", "#duty-desk", "#on-call", "#war-room", "#platform-help")
TOOLS = (
    "make up",
    "just serve",
    "task start",
    "npm run dev",
    "cargo run",
    "poetry run serve",
    "docker compose up",
)


class Words:
    """Draws from the vocabulary with one random source; subjects are never drawn twice."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._subjects = self._shuffled()

    def _shuffled(self) -> Iterator[tuple[str, str]]:
        pairs = [(one, two) for one in _FIRST for two in _SECOND]
        self.rng.shuffle(pairs)
        return iter(pairs)

    def pair(self) -> tuple[str, str]:
        """The two words of a name that was not drawn before."""
        return next(self._subjects)

    def theme(self) -> str:
        """What a memory of several statements is about."""
        return " ".join(self.rng.sample(_THEMES, 2))

    def subject(self) -> str:
        """A name of a service as people write it: copper-indexer, `copper-indexer`, Copper Indexer, the copper indexer."""
        one, two = next(self._subjects)
        return self.rng.choice(
            (f"{one}-{two}", f"`{one}-{two}`", f"{one.title()} {two.title()}", f"the {one} {two}")
        )

    def other_subject(self, subject: str) -> str:
        """Another service, written as this one is."""
        one, two = next(self._subjects)
        if subject.startswith("`"):
            return f"`{one}-{two}`"
        if subject.startswith("the "):
            return f"the {one} {two}"
        return f"{one}-{two}" if "-" in subject else f"{one.title()} {two.title()}"

    def person(self) -> str:
        return f"{self.rng.choice(PEOPLE)} {self.rng.choice(SURNAMES)}"

    def value(self, sort: str) -> str:
        if sort in _MADE:
            return _MADE[sort](self)
        if sort in _VALUES:
            return str(self.rng.choice(_VALUES[sort]))
        digits = int(sort.removeprefix("digits")) if sort.startswith("digits") else 4
        return str(self.rng.randrange(10 ** (digits - 1) + 1, 10**digits))

    def joined(self, mark: str) -> str:
        return f"{self.rng.choice(_FIRST)}{mark}{self.rng.choice(_SECOND)}"

    def two_values(self, sort: str) -> tuple[str, str]:
        """Two different values of one sort."""
        one = self.value(sort)
        other = self.value(sort)
        while other == one:
            other = self.value(sort)
        return one, other


_THEMES = "infra deploys limits access data jobs alerts builds partners storage releases traffic accounts tooling ops setup".split()  # noqa: SIM905 - a word list
# Values that are put together: each is drawn by one function.
_MADE: Mapping[str, Callable[[Words], str]] = {
    "person": lambda w: w.person(),
    "port": lambda w: str(w.rng.randrange(3001, 9990)),
    "days": lambda w: str(w.rng.choice((7, 14, 21, 28, 30, 45, 60, 90, 120, 180))),
    "seconds": lambda w: str(w.rng.choice((3, 5, 8, 12, 15, 20, 25, 40, 75, 100))),
    "count": lambda w: str(w.rng.randrange(11, 95) * 10),
    "time": lambda w: f"{w.rng.randrange(0, 24):02}:{w.rng.choice((5, 10, 15, 20, 25, 35, 40, 45, 50)):02}",
    "ident": lambda w: f"{w.joined('-')}-{w.rng.randrange(11, 99)}",
    "flag": lambda w: w.joined("_").upper(),
    "path": lambda w: (
        f"{w.rng.choice(('etc', 'ops', 'conf', 'src'))}/{w.joined('/')}.{w.rng.choice(('yaml', 'toml', 'sh', 'sql'))}"
    ),
    "host": lambda w: f"{w.joined('-')}.{w.rng.choice(('internal', 'corp', 'lan'))}",
    "version": lambda w: f"{w.rng.randrange(1, 20)}.{w.rng.randrange(0, 40)}.{w.rng.randrange(1, 60)}",
    "size": lambda w: f"{w.rng.choice((192, 256, 384, 512, 640, 768, 896))} MB",
    "percent": lambda w: f"{w.rng.randrange(11, 97)}%",
    "money": lambda w: f"${w.rng.randrange(11, 990)}",
    "command": lambda w: f"{w.rng.choice(('make', 'just', 'npm run', 'uv run'))} {w.joined('-')}",
    "ticket": lambda w: f"{w.rng.choice(('OPS', 'PLAT', 'ENG', 'DATA'))}-{w.rng.randrange(100, 9999)}",
    "table": lambda w: w.joined("_"),
}
_VALUES = {
    "region": REGIONS, "store": STORES, "queue": QUEUES, "format": FORMATS, "runtime": RUNTIMES, "branch": BRANCHES,
    "channel": CHANNELS, "tool": TOOLS,
}  # fmt: skip


def bare(subject: str) -> str:
    """The subject as claims name it."""
    return subject.strip("`").removeprefix("the ").replace("-", " ").lower()


def opening(text: str) -> str:
    """A sentence begins with a capital, unless it begins with a name in small letters."""
    return text[:1].upper() + text[1:] if text.startswith("the ") else text
