"""Word classes for comparing statements: filler, abbreviations, synonyms, opposites. General English of software.

All keys are stems (`words.stem`). Groups are small on purpose: two words are together only if one can replace the other
without changing what a reader does.
"""

from dreams.lib.prose.words import CARDINALS, MONTHS, WEEKDAYS, stem

IS = frozenset({"is", "are", "am"})
WAS = frozenset({"was", "were"})
BE = IS | WAS | {"be", "been", "being"}
HAVE = frozenset({"have", "has", "had", "having"})
GET = frozenset({"get", "gets", "got", "getting"})
DO = frozenset({"do", "does", "did"})
MODALS = frozenset({"must", "should", "shall", "will", "would", "can", "cannot", "could", "may", "might"})
# After these a participle is not a simple past: "was moved", "has moved", "got moved".
PERFECT_OR_PASSIVE = BE | HAVE | GET


_FILLER = """
a an the this that these those among it its itself they them their there here he she his her we us our you your i me my
doing done
and or but so then also too as of to in on at by for with into onto from about via per within
which who whom whose what how why where when while whether because since during
please just everywhere throughout really very quite simply basically actually currently now already still any some all both each
always ever need needs want wants let lets make sure ensure
"""
_GENERIC = """
project code codebase work task thing stuff way part case item relevant current existing new general various several other
user users note fact info detail context overview description status rule preference prefer use style pattern key important specific
"""
_ABBREVIATIONS = """
dir=directory dirs=directory folder=directory folders=directory repo=repository repos=repository config=configuration
configs=configuration configure=configuration configured=configuration settings=configuration setting=configuration
db=database dbs=database env=environment envs=environment dev=development prod=production doc=documentation
docs=documentation document=documentation auth=authentication arg=argument args=argument param=parameter params=parameter dep=dependency
deps=dependency impl=implementation implement=implementation msg=message msgs=message app=application apps=application
fn=function func=function funcs=function var=variable vars=variable pkg=package pkgs=package js=javascript ts=typescript
py=python k8s=kubernetes postgres=postgresql pg=postgresql info=information lib=library libs=library cmd=command
cmds=command err=error creds=credential prefs=preference perf=performance spec=specification specs=specification
min=minimum max=maximum temp=temporary tmp=temporary ref=reference refs=reference id=identifier ids=identifier
mins=minute sec=second secs=second hr=hour hrs=hour num=number img=image btn=button nav=navigation infra=infrastructure
org=organization orgs=organization gh=github ui=interface
storage=store vs=versus os=operating-system init=initialization sync=synchronization tz=timezone prs=pr
"""
_SYNONYMS = """
use utilize employ
run execute invoke
check verify confirm validate
remove delete erase
exclude omit skip ignore
store save persist
task job
finish complete done
start begin launch
fix repair
fail break
large big
fast quick rapid
show display
build compile
choose select pick
require need
avoid never
picture image
error exception
comment remark
bug defect
instead rather
reply answer respond response
ask inquire
concise short brief terse
"""
# If one side has one of a pair and the other side the other, the meaning is reversed.
_OPPOSITES = """
before after|enable disable|enabled disabled|on off|always never|allow deny|allow forbid|allow block|allowed forbidden|
include exclude|add remove|create delete|start stop|open close|opened closed|increase decrease|
raise lower|up down|left right|first last|min max|minimum maximum|sync async|synchronous asynchronous|upgrade downgrade|
encrypt decrypt|lock unlock|show hide|true false|yes no|success failure|pass fail|passed failed|more less|most least|many few|above below|
with without|during before|during after|while before|while after|required optional|must may|mutable immutable|online offline|
old new|older newer|oldest newest|earlier later|lock release|manual automatic|manually automatically|ascending descending|
asc desc|accept reject|approve reject|slow fast|large small|big small|long short|early late|cheap expensive|high low|
over under|install uninstall|mount unmount|inside outside|keep drop|prefer avoid|like dislike|likes dislikes|
works fails|working broken|all none|all some|any some|always sometimes|never sometimes|any none|every some|each some|
each none|this each|this all|this any|strict lenient|faster slower|higher lower|greater smaller|larger smaller|
temporary permanent|eager lazy|horizontally vertically|encode decode|serialize deserialize|
subscribe unsubscribe|active inactive|deprecated supported|concise detailed|concise verbose|concise long|brief long|
terse long|brief detailed|terse detailed|short detailed|short verbose|brief verbose|single multiple|single several|
known unknown|safe unsafe|valid invalid|direct indirect|directly indirectly
"""
# Members of a class: a statement about the client may be true for the server too.
_COUNTERPARTS = """
push pull|upload download|read write|import export|client server|frontend backend|public private|internal external|
input output|request response|merge rebase|tabs spaces|light dark|top bottom|local remote|local global|local production|
even odd|upper lower|horizontal vertical|row column|source target|source destination|sender receiver|parent child|
daily weekly|weekly monthly|daily monthly|hourly daily|inline external|dynamic static|ephemeral persistent|
stateful stateless|serial parallel|sequential parallel|unit integration|unittest integration|e2e unittest|
singular plural|prefix suffix|begin end|beginning end|start end|morning evening|am pm|existing new|current previous|
current former|null undefined|get set|get post|post put|https http|stdout stderr|user agent|user assistant
"""
ENVIRONMENTS = {
    "prod": "production", "production": "production", "staging": "staging", "stage": "staging", "sandbox": "sandbox",
    "canary": "canary", "qa": "qa", "uat": "uat", "preview": "preview", "preprod": "preprod", "demo": "demo", "dev": "dev",
}  # fmt: skip
DAYS = frozenset({*WEEKDAYS, *MONTHS, "today", "yesterday", "tomorrow"})
ONLY = frozenset({"only", "exclusively", "solely"})
# An addition with these changes the statement before it.
LIMITS = ONLY | {"unless", "except", "until"}
CONDITIONS = LIMITS | {"if"}
UNSETTLED = frozenset(
    "deprecated obsolete superseded outdated abandoned planned planning pending todo wip blocked beta experimental yet "  # noqa: SIM905 - a word list
    "deferred postponed paused cancelled proposed formerly previously anymore former legacy maybe perhaps probably unclear possibly "
    "presumably might".split()
)
# Words of time and validity: not yet, no longer.
STATUSES = UNSETTLED | frozenset(
    "plan older old will going soon upcoming was were partially partly rarely seldom almost likely unlikely apparently supposedly".split()  # noqa: SIM905 - a word list
)
# Last words of labels that only name the kind of note ("OS and tooling context: ...").
NOTE_KINDS = frozenset(
    "context note notes rule preference preferences feedback why how convention gotcha decision reminder todo important "  # noqa: SIM905 - a word list
    "warning tip fix feat docs chore refactor perf ci gotcha remember feedback status overview summary background guideline policy lesson pitfall apply style".split()
)
# Topic words: "for tables and columns" does not restrict a fact.
TOPICS = frozenset(
    "strategy conventions convention notes checklist instructions architecture layout overview guide procedure workflow "  # noqa: SIM905 - a word list
    "pitfalls structure roadmap backlog inventory lessons guidelines summary history internals walkthrough quirks "
    "gotchas troubleshooting glossary runbook background".split()
)
# Very common words of notes, which mean little when shared.
EVERYDAY = frozenset(
    stem(word)
    for word in "run test commit change file before after git check add make write code create build update read push branch main "  # noqa: SIM905 - a word list
    "message first only always new explicit data name claude agent session memory if not file directory repository request feature".split()
)
# A word after these restricts the statement: "for guests", "of the parser".
NARROWING = frozenset([
    "for", "of", "in", "on", "at", "to", "from", "with", "within", "during", "per", "via", "by", "about", "under",
    "through", "among", "as",
])  # fmt: skip
ARTICLES = frozenset({"the", "a", "an", "this", "that", "our", "its", "any", "all"})
PHRASE_STARTS = NARROWING | {
    "if", "when", "whenever", "while", "because", "since", "before", "befor", "after", "as", "unless", "until", "without",
    "into", "onto", "against", "once", "where", "and", "each",
}  # fmt: skip
STATE_PASTS = frozenset("worked lived studied belonged depended relied".split())  # noqa: SIM905 - a word list
CONTRAST = "insteadof"
# Phrases of more words, as one.
PHRASES = {
    "every": "each", "likes": "prefers",
    "filter out": "exclude", "filtered out": "exclude", "leave out": "exclude", "left out": "exclude",
    "get rid of": "remove", "turn off": "disable", "turned off": "disabled", "switched off": "disabled", "turned on": "enabled", "switched on": "enabled",
    "no more than": "at most", "no longer than": "at most", "not longer than": "at most", "not larger than": "at most", "no larger than": "at most", "not more than": "at most", "no less than": "at least", "no fewer than": "at least",
     "turn on": "enable", "switch off": "disable", "switch on": "enable",
    "with no": "without", "prior to": "before", "due to": "because", "because of": "because",
    "in case": "if", "pull request": "pr", "pull requests": "prs", "work in progress": "wip", "command line": "cli", "set up": "setup",
    "log in": "login", "clean up": "cleanup", "unit test": "unittest", "rather than": "insteadof", "preferred to": "preferred over", "matters more than": "over", "matter more than": "over", "more important than": "over", "instead of": "insteadof",
    "as well as": "and", "do not forget to": "ensure", "not forget to": "ensure", "remember to": "ensure", "keep in mind that": "",
    "it is worth noting that": "", "dislikes": "does not like", "dislike": "not like", "end to end": "e2e", "end-to-end": "e2e",
    "front end": "frontend", "front-end": "frontend", "back end": "backend", "back-end": "backend",
    "environment variable": "env-var", "environment variables": "env-var", "env var": "env-var", "env vars": "env-var",
    "the team agreed that": "", "we agreed that": "", "we decided that": "", "it was decided that": "", "the user said that": "",
    "note that": "", "as a reminder": "", "for the record": "", "as a side note": "", "fyi": "", "by the way": "", "remember that": "", "first before": "before", "at all times": "always",
    "zero": "no", "or newer": "or later", "or higher": "or later", "or above": "or later", "and above": "or later", "and up": "or later",
    "and later": "or later", "and newer": "or later", "or greater": "or later", "or older": "or earlier", "a single": "one",
    "single": "one", "e.g.": "", "i.e.": "", "each time": "always", "under no circumstances": "never", "in order to": "to",
    "by hand": "manually", "a fortnight": "2 weeks", "at once": "immediately", "right away": "immediately", "free of": "without", "free from": "without", "look at": "check", "make sure": "ensure", "data base": "database", "time zone": "timezone",
}  # fmt: skip
STEPS = frozenset({"first", "then", "afterwards", "finally", "next"})
PROHIBITIONS = frozenset({"avoid", "avoided", "forbid", "forbidden"})
NEGATIONS = PROHIBITIONS | frozenset(
    "no non not never none cannot without neither nor nothing nobody".split()  # noqa: SIM905 - a word list
)
NUMBER_WORDS = (
    {name: str(number) for name, number in CARDINALS.items() if number > 1}
    | {
        name: str(number)
        for number, name in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), start=3)  # noqa: SIM905 - a word list
    }
    | {"twice": "2", "thrice": "3", "dozen": "12", "half": "0.5", "hundred": "100", "thousand": "1000"}
)
UNITS = {
    "ms": "millisecond", "s": "second", "sec": "second", "secs": "second", "m": "minute", "min": "minute", "mins": "minute",
    "h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "w": "week", "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte",
    "tb": "terabyte", "px": "pixel", "%": "percent",
}  # fmt: skip


def pairs(table: str) -> frozenset[tuple[str, str]]:
    """Both words of each entry of a table, and their stems, both ways round."""
    found = set()
    for entry in table.replace("\n", "").split("|"):
        one, other = entry.split()
        found |= {(one, other), (other, one), (stem(one), stem(other)), (stem(other), stem(one))}
    return frozenset(found)


def _synonyms() -> dict[str, str]:
    table: dict[str, str] = {}
    for entry in _ABBREVIATIONS.split():
        short, long = entry.split("=")
        table[short] = table[stem(short)] = stem(long)
    for line in _SYNONYMS.strip().splitlines():
        group = [stem(word) for word in line.split()]
        table.update({word: table.get(group[0], group[0]) for word in group})
    return table


FILLER = frozenset(_FILLER.split()) | BE | HAVE | GET | DO | MODALS
GENERIC = frozenset(stem(word) for word in _GENERIC.split())
SYNONYMS = _synonyms()
COUNTERPARTS = pairs(_COUNTERPARTS)
OPPOSITES = pairs(_OPPOSITES) | COUNTERPARTS
# Similar words that are not misspellings of each other.
KNOWN = frozenset(
    {*FILLER, *GENERIC, *SYNONYMS, *SYNONYMS.values(), *(word for pair in OPPOSITES for word in pair)}
)
