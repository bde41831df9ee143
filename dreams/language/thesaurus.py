"""Words that tell of one thing where two notes are compared for being one memory. General English of software; pure data.

Wider than `lexicon.SYNONYMS`: a word of a group may stand for another where all else agrees, but not in a merge, as "drop" is not
quite "wipe". No group holds opposites, nor two values of one thing ("morning", "evening"): those are what a look-alike exchanges.
"""

from __future__ import annotations

import functools

from dreams.language.statements import canonical

_GROUPS = """
delete remove drop purge wipe erase discard clear flush clean cleanup prune trash throw eliminate strip
reject refuse decline deny block
forbid forbidden disallow prohibit ban
add append insert attach include
create generate produce make build emit write
change modify edit alter adjust update touch tweak mutate revise
move relocate migrate transfer shift
copy duplicate clone mirror replicate
replace swap substitute switch supersede
fix repair resolve correct mend solve cure patch
break crash fail failure failing die
corrupt damage
stop halt abort quit cease end terminate
start begin launch boot startup bootstrap kick
continue resume proceed
wait pause delay sleep hold
finish complete done end conclude close
unfinish incomplete wip partial draft undone
provider vendor supplier
check verify validate confirm ensure inspect examine assert review audit
look see view watch observe monitor read inspect
search find locate lookup discover grep detect
ask request query prompt question
ask approval permission consent agree
answer reply respond response responses
tell inform notify alert report announce warn notification
say state claim mention declare assert
explain describe document clarify explanation
show display render present visible appear reveal surface expose
hide conceal mask invisible hidden
log record
store save persist keep hold hosted live reside sit stay located contain
load fetch pull retrieve read download get obtain
send push transmit deliver deliveries dispatch post submit upload publish
receive accept take
release ship deploy deployment rollout publish launch
run execute invoke call trigger fire perform launch
test testing suite
build compile bundle
install setup
dependency package library
configure setup configuration option setting
use utilize employ adopt apply usage rely
need require must want demand expect necessary mandatory requirement
allow permit let may enable possible supported support
avoid prevent
skip ignore exclude omit bypass
prefer like favour favor want wish preference preferred choose
dislike hate annoyed
choose pick select settle decide opt chosen decision
agree approve sign signoff accept approval consent
own maintain owner ownership maintainer
responsible responsibility accountable
manage handle
split divide separate
merge join combine integrate bundle unite mix blend
group cluster
batch bulk bundle
count number amount total quantity
limit cap maximum bound ceiling budget restrict
grow increase rise raise expand bump increment
shrink reduce decrease lower cut minimize less
often frequently frequent regularly mostly usually
rotate renew refresh regenerate reissue
expire expiry expiration timeout lapse
schedule cron scheduler
retry reattempt attempt try again
repeat rerun redo recurring
cache cached caching memoize
lock mutex
pin lock freeze
slow sluggish lag latency
fast quick speed rapid performance performant
big large huge bulky
small little tiny minimal compact
empty blank
missing absent lack without
old legacy outdated stale obsolete former
new fresh recent latest
real actual live genuine true
fake mock stub dummy mocking mocked simulated
wrong incorrect false invalid bad mistaken
right correct valid proper
same identical equal
different differ differently distinct
separate separately own independent
broken faulty defective buggy
error exception failure fault
bug defect issue problem glitch symptom
warning caution caveat gotcha pitfall trap
reason cause why because rationale
result outcome output
goal aim target objective purpose
purpose intention intent deliberate intentional
plan roadmap planned strategy
step procedure process workflow
rule convention guideline policy standard practice habit principle
task job work chore ticket
worker daemon
person people human someone somebody
customer client buyer
consumer caller client
employee staff hire hires colleague
beginner new novice newcomer junior inexperienced
expert senior experienced fluent proficient advanced strong skilled
fluent comfortable familiar
developer engineer programmer dev
team group crew
boss manager lead
message email mail
message text notice
picture image photo figure screenshot
page screen view
dashboard board
dialog modal popup
text string wording
word term vocabulary terminology jargon
translate localise localize translation
folder directory
path location place
list enumeration enumerate
table grid
row line entry record
trailer footer signature
column field attribute
name title label
headline title heading
credential secret
login signin authentication authenticate auth logged
logout signout
permission access right privilege
role persona profile
session conversation chat
release version
diff change patch
repository repo codebase
pipeline ci
server backend host machine box
laptop machine computer pc workstation
frontend ui interface
endpoint api route
website site portal
overview summary
summary recap summarise summarize
money currency monetary
price pricing cost spend
pay payment bill billing
invoice bill
refund reimbursement
cheap inexpensive
expensive costly
day daily
week weekly
month monthly
year yearly annually
hour hourly
duration period
deadline due
always every each all whole entire everything full complete
immediately instantly directly straight once
manually hand manual
automatically automatic automated auto
silent quietly silently
early soon
late afterwards later
temporary temp scratch
permanent forever
shared common joint
reuse share
duplicate redundant repeated
unused dead unreferenced
generated derived
simple easy plain trivial straightforward basic
complex complicated complexity intricate
concise succinct
detail detailed thorough exhaustive
verbose wordy chatty lengthy
clear explicit obvious
vague unclear ambiguous
unknown unclear unsure
random arbitrary
safe secure security
danger dangerous risk risky hazard
important critical crucial essential key
style format layout formatting
structure layout architecture organization
colour color palette
font typeface
indent indentation
comment remark annotation note
example sample instance
template boilerplate skeleton
pattern idiom convention
function method routine procedure
class struct
variable var
argument parameter param
package module crate
loop iterate iteration
sprint iteration cycle
parallel concurrent simultaneously
serial sequential serially
order sequence sort
first initial
last final trailing
convert transform
encode serialize marshal
hash digest checksum
compress zip gzip
backup snapshot dump checkpoint
restore recover rollback revert undo
isolate sandbox
import load ingest importer
export dump
draw paint plot
chart graph plot diagram
train training fit teach
evaluate evaluation eval
score metric
guess speculate speculation speculative assume assumption
prove proof evidence
investigate diagnose debug analyse analyze diagnosis analysis investigation
learn study understand
remember recall memory knowledge
propose suggest recommend recommendation suggestion offer
promise guarantee
reach access connect
leave exit depart
lose loss lost
win gain
buy purchase
sell sale
redact anonymise anonymize anonymous anonymised
leak expose disclose
spawn fork launch
idle inactive inactivity silence
toggle switch
preserve retain keep
survive persist remain stay
focus priority
pointer reference link
fe frontend
fw firmware
hw hardware
svc service
i18n internationalization
cfg configuration
mem memory
single only sole alone exclusive
calculate calculation compute computation
tidy neat clean organised organized
state status condition
guard protect shield
default standard preset
override overrule
wrapper helper utility
contributor author committer
attribution credit
milestone phase stage
commercial paid
"""
# Said of nearly everything: in common, they tell next to nothing, and missing, nothing at all.
LIGHT = frozenset(
    "be have do go come get put take give make use keep live stay sit need want let try run set work happen occur consist "  # noqa: SIM905 - a word list
    "contain say tell call mean remain become look see know think way place thing time kind sort lot bit long much create re pre co non".split()
)


# Names that half of all notes of a coding agent have.
COMMON_NAMES = frozenset(
    "claude claude.md memory.md readme readme.md bash pr prs api cli ui ci github git python typescript javascript json url "  # noqa: SIM905 - a word list
    "id readme sql html css http node npm docker linux macos windows".split()
)


def _table() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for group, line in enumerate(_GROUPS.strip().splitlines()):
        for word in line.split():
            found.setdefault(canonical(word), set()).add(group)
    return {word: frozenset(groups) for word, groups in found.items()}


@functools.lru_cache(maxsize=1)
def table() -> dict[str, frozenset[int]]:
    """A word as `canonical` gives it → the groups that it stands in."""
    return _table()
