"""What a plain statement says of a thing: one property, one value, and what else it names. Pure.

"X is built for Node 22" and "X only runs on Node 22" say the same, though no word of the middle is common; "X listens on
port 80" and "the port of X is 81" give two values of one property. Only whole statements are read so: every word must be the
value, of a known way to put the property, or shared by both; so one more word ("in staging", "for guests") keeps them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dreams.lib.prose.pieces import Piece, pieces
from dreams.lib.prose.statements import statement

Sort = Literal[
    "number", "time", "region", "channel", "url", "path", "code", "command", "name", "runtime", "database", "broker", "format",
    "licence",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Property:
    """`frames` are parted by `|`; an empty one is what the value's own sort says ("needs Node 20")."""

    sort: Sort
    frames: str
    also: str = ""
    needs: str = ""  # one of these words must be among what both statements share


PROPERTIES = (
    Property("number", "port", "listen listening reach reachable bind bound serve served expose exposed answer run live "
             "use connect available accessible start come up accept sit http tcp"),
    Property("number", "keep|kept|retention|retain|store|hold|remove after|delete after|purge after|drop after|expire after|discard after|"
             "thrown away after|go after|rotate after", "period", "day week month year hour"),
    Property("number", "timeout|time out|give up|abort|cancel", "call request after wait at most", "second minute millisecond ms s"),
    Property("number", "limit|rate limit|cap|accept most|allow most|take most|handle most|refuse more than|reject more than|"
             "turn away more than|drop more than|let through most|maximum|no more than|serve most", "rate limit", "request call job message user connection"),
    Property("number", "|run|have|count|number|scale", "run have instance of up with", "replica worker instance pod copy node shard thread process"),
    Property("number", "version", "at use run on"),
    Property("time", "start|run|launch|kick off|fire|trigger|schedule|go off|set off", "start run schedule job at", ""),
    Property("region", "region|run|host|live|deploy|locate|sit|place|data centre|zone|reside", "instance run host server machine cluster deploy region live"),
    Property("database", "database|store data|data sit|keep data|data live|persist|data in|keep|store|save data|backed|data base",
             "use behind store data database keep back sit live hold primary"),
    Property("broker", "read|come|take out|queue|consume|fetch|pull|get|receive|pick up|arrive", "queue read come take out consume from through via",
             "job task work message event"),
    Property("format", "|write|format|file|produce|output|save|generate|come|deliver|emit", "file write format as", "export report dump output"),
    Property("runtime", "|build|runtime|run|target|require|written|base", "only run build version runtime use need"),
    Property("code", "cut|branch|make|publish|tag|come|ship|go out|", "branch cut from off", "release"),
    Property("channel", "|go|send|channel|post|land|arrive|deliver|route|get|receive|notify|report|announce|raise", "channel go send post get",
             "alert alarm warning notification incident page error"),
    Property("command", "start|launch|boot|bring up|spin up", "run start up command by with use locally"),
    Property("name", "own|maintain|in charge|look after|responsible|take care|belong|contact|ask|run by", "own person of"),
    Property("url", "|url|reach|live|address|endpoint|available|serve|host|find|accessible|run|at", "url at under reach find live"),
    Property("path", "live|path|locate|store|sit|find|reside|keep|in|stand", "live in path file directory find store keep"),
    Property("licence", "licence|license|licensed|under", "licence license under of"),
)  # fmt: skip

# Values that say by themselves what they are; written small.
_VALUES: dict[Sort, str] = {
    "runtime": "node node.js nodejs python java go golang ruby php rust deno bun elixir erlang perl scala kotlin swift jdk openjdk .net dotnet",
    "database": "postgresql postgres mysql mariadb sqlite mongodb mongo cockroachdb dynamodb clickhouse redis cassandra oracle couchdb "
    "elasticsearch opensearch firestore spanner bigquery snowflake duckdb neo4j timescaledb influxdb valkey scylladb planetscale supabase",
    "broker": "rabbitmq kafka nats pulsar activemq zeromq beanstalkd sqs kinesis pubsub celery sidekiq redpanda mqtt mosquitto",
    "format": "parquet avro csv orc ndjson xlsx arrow json jsonl xml yaml tsv protobuf pdf",
    "licence": "mit apache-2.0 apache gpl gplv3 gpl-3.0 lgpl agpl agpl-3.0 bsd bsd-3-clause mpl mpl-2.0 isc unlicense",
}  # fmt: skip
SORTS: dict[str, Sort] = {value: sort for sort, values in _VALUES.items() for value in values.split()}
# Of two sorts: which one is meant only the words beside it say.
MANY_SIDED = frozenset({"redis", "valkey"})

MOST_PIECES = 18
_LABEL = re.compile(
    r"^\s*(?:(?:please\s+)?(?:note|remember|reminder|fyi|important|hint|tip)\b(?:\s+that)?|as a reminder)\s*[:,—–-]?\s*",
    re.IGNORECASE,
)
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+){1,2}-?\d[a-z]?")
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_PATH = re.compile(r"[~./\w-]*/[\w./-]+")
# One of these sorts may be told of without a word of the property: "we moved X to Node 22".
_SPEAKS_FOR_ITSELF = frozenset({"region", "runtime", "database"})
# What was, what may be, what somebody should do: no plain statement of what is.
_NOT_PLAIN = re.compile(
    r"\b(?:was|were|had|used to|if|unless|until|except|may|might|could|would|should|will|going to|plan(?:s|ned|ning)?|want(?:s|ed)?|or|instead|formerly|"
    r"previously|about|around|roughly|approximately|nearly|almost|least)\b|[?~≈]|\.\.\.|…",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stated:
    """`of` is what it is said of with all else that is named; `start` to `end` is the value's place in the text."""

    place: int  # of the property in the table
    sort: Sort
    of: frozenset[str]
    value: tuple[str, ...]
    start: int
    end: int
    bare: bool  # only the value's sort tells the property

    def text(self, whole: str) -> str:
        return whole[self.start : self.end]


def changed(old: str, new: str) -> tuple[Stated, Stated] | None:
    """The two values, where both speak of one property of one thing and give it another value each."""
    for a in read(old):
        for b in read(new):
            if a.value != b.value and _agree(a, b) and _one_form(a.text(old), b.text(new)):
                return a, b
    return None


def _agree(one: Stated, other: Stated) -> bool:
    return one.of == other.of and (
        one.place == other.place or (one.sort == other.sort and (one.bare or other.bare))
    )


def _one_form(one: str, other: str) -> bool:
    """ "11:25", "40s" and "#12" are values of different sorts; so are code and a name."""
    return re.sub(r"\d+(?:[.,_]\d+)*", "0", one)[:1].isdigit() == other[:1].isdigit() and one[:1].startswith(
        "`"
    ) == (other[:1].startswith("`"))


@lru_cache(maxsize=20_000)
def read(text: str) -> tuple[Stated, ...]:
    """Each way in which the whole text is a plain statement of a property; nothing for all other texts."""
    skipped = len(text) - len(unlabelled(text))
    bare = text[skipped:].rstrip(" .!")
    found = pieces(bare)
    if not 2 < len(found) + 1 <= MOST_PIECES or _NOT_PLAIN.search(bare) or not _is_plain(bare):
        return ()
    return tuple(_read(found, skipped))


def unlabelled(text: str) -> str:
    """Without a "Note:" or "Remember:" in front."""
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def _is_plain(text: str) -> bool:
    said = statement(text)
    return (
        not said.negations
        and not said.contrasts
        and not said.signs
        and {w for _, w in said.marked} <= {"only"}
    )


def _read(found: Sequence[Piece], skipped: int) -> Iterator[Stated]:
    keys = frozenset(piece.key for piece in found if piece.key)
    for place, prop in enumerate(PROPERTIES):
        span = _chosen(found, list(_values(found, prop.sort)), prop.sort)
        if span is None:
            continue
        first, last = span
        value = tuple(piece.key or piece.text.lower() for piece in found[first : last + 1])
        said = _said(place, keys - set(value)) or (_bare(prop, place, keys - set(value), found[first].text))
        if said is not None:
            of, bare = said
            yield Stated(
                place, prop.sort, of, value, found[first].start + skipped, found[last].end + skipped, bare
            )


def _chosen(found: Sequence[Piece], spans: Sequence[tuple[int, int]], sort: Sort) -> tuple[int, int] | None:
    """The value where one other of its sort is what it is said of: who stands behind "by", else what is not "of" something."""
    before = [_before(found, first) for first, _ in spans]
    if sort not in {"name", "code", "command"}:
        return spans[0] if len(spans) == 1 else None
    if not 0 < len(spans) < 3 or {"and", "or"} & set(before):
        return None
    if "by" in (piece.text.lower() for piece in found):
        return spans[before.index("by")] if "by" in before else None
    if len(spans) == 1:
        return None if before[0] in {"of", "for", "behind"} else spans[0]
    of = [word in {"of", "for", "behind"} for word in before]
    if any(of):
        return spans[1 - of.index(True)]
    # "Ana Weber owns Copper Indexer", "`copper-indexer` is released from `main`"
    return spans[1] if before[1] in {"from", "in", "on", "with", "under", "to"} else spans[0]


def _before(found: Sequence[Piece], place: int) -> str:
    words = [
        piece.text.lower() for piece in found[:place] if piece.text.lower() not in {"the", "a", "an", "our"}
    ]
    return words[-1] if words else ""


def _said(place: int, keys: frozenset[str]) -> tuple[frozenset[str], bool] | None:
    """What is left beside the words of the property, where those say it; and whether they were none."""
    frames, also, needs = _tables()[place]
    left = keys - also
    for frame in frames:
        if frame and not frame <= keys:
            continue
        of = left - frame
        if of and (not needs or needs & keys):
            return of, not frame and not (keys & also) and not needs
    return None


def _bare(prop: Property, place: int, keys: frozenset[str], value: str) -> tuple[frozenset[str], bool] | None:
    """ "X uses PostgreSQL 15", "X to Node 22"."""
    of = keys - _tables()[place][1]
    told = prop.sort in _SPEAKS_FOR_ITSELF and value.lower() not in MANY_SIDED
    return (of, True) if of and told else None


@lru_cache(maxsize=1)
def _tables() -> list[tuple[list[frozenset[str]], frozenset[str], frozenset[str]]]:
    """Frames (the longest first), words that may stand beside them, and words of which one is needed: as they are compared."""
    return [
        (
            sorted(
                (keys for frame in prop.frames.split("|") if (keys := _keys(frame)) or not frame),
                key=len,
                reverse=True,
            ),
            _keys(prop.also),
            _keys(prop.needs),
        )
        for prop in PROPERTIES
    ]


def _keys(words: str) -> frozenset[str]:
    return frozenset(piece.key for word in words.split() for piece in pieces(word) if piece.key)


def _values(found: Sequence[Piece], sort: Sort) -> Iterator[tuple[int, int]]:
    """First and last place of each value of a sort."""
    place = 0
    while place < len(found):
        last = _value_at(found, place, sort)
        if last is not None:
            yield place, last
            place = last
        place += 1


def _value_at(found: Sequence[Piece], place: int, sort: Sort) -> int | None:
    piece = found[place]
    text = piece.text.strip("`")
    if sort == "number":
        return place if piece.shape == "number" and text.isdigit() else None
    if sort == "name":
        return _name_from(found, place)
    if sort in {"code", "command"}:
        is_code = piece.text.startswith("`") and "/" not in text
        return place if is_code and (" " in text) == (sort == "command") else None
    shapes = {"time": _CLOCK, "region": _REGION, "path": _PATH}
    if sort in shapes:
        return place if shapes[sort].fullmatch(text) else None
    if sort == "channel":
        return place if re.fullmatch(r"#[a-z][\w-]*", text) else None
    if sort == "url":
        return place if re.match(r"https?://", text) else None
    if SORTS.get(text.lower()) != sort or not (text[:1].isupper() or piece.shape != "word"):
        return None
    follows = (
        place + 1 < len(found)
        and found[place + 1].shape == "number"
        and found[place + 1].start <= piece.end + 1
    )
    return place + 1 if follows else place


def _name_from(found: Sequence[Piece], place: int) -> int | None:
    """A person: two words with capitals side by side, no more, and no code among them."""
    if place and _capital(found, place - 1):
        return None
    if not (_capital(found, place) and place + 1 < len(found) and _capital(found, place + 1)):
        return None
    beyond = (
        place + 2 < len(found)
        and _capital(found, place + 2)
        and found[place + 2].start == found[place + 1].end + 1
    )
    return None if beyond or found[place + 1].start != found[place].end + 1 else place + 1


def _capital(found: Sequence[Piece], place: int) -> bool:
    text = found[place].text
    return text[:1].isupper() and text.isalpha() and not text.isupper() and bool(found[place].key)
