"""What people say of a thing in a note, and in which words: a port, an owner, a limit. General English of software; pure data.

A frame is a set of words that, together, say one property and nothing more: "is limited to" and "refuses more than" do,
"limit" and "refuse" in one statement are something else. `also` may stand beside any frame of the property. Words are
written as people write them; what they are compared by is worked out when the table is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
