"""How people type that something has changed: tersely, politely, in the middle of other work, in a language that is not theirs. Pure.

The facts stand in memory in our own wordings; what was told of them is what these tellings make harder. Some name the value
before, some say why, some ask for something else in the same breath.
"""

from __future__ import annotations

from dreams.dev.dreambench.phrasings import ATTRIBUTES, Attribute

# For any value that moves from one to another.
_MOVED = (
    "{s} isn't on {o} any more, it's on {v}", "we've migrated {s} from {o} to {v}, everything else stays", "{s} went from {o} to {v} last week",
    "the config looks wrong because we moved {s} from {o} to {v} last month, can you fix it?",
)  # fmt: skip
_TOLD: dict[str, tuple[str, ...]] = {
    "port": ("{s} port changed {o} -> {v}", "please note that {s} listens on port {v} now", "we changed {s} from port {o} to port {v} because {o} was taken",
             "since monday {s} listens on port {v}"),
    "region": ("{s} runs in {v} these days", "actually, {s} is hosted in {v} now", *_MOVED),
    "store": ("that's outdated: {s} stores its data in {v}", "we dropped {o} for {s}, it's {v} now", "{s} uses {v} now instead of {o}. Please fix the failing test.", *_MOVED),
    "person": ("{v} owns {s} from now on", "please be aware that {s} is owned by {v} now, {o} has left", "correction: the owner of {s} is {v}",
               "{o} handed over, so {s} is owned by {v} now"),
    "time": ("{s} starts every night at {v} UTC as of this sprint", "nightly run of {s} was moved from {o} to {v} UTC",
             "fix the alert please, the nightly run of {s} begins at {v} UTC now"),
    "days": ("the log retention of {s} went up to {v} days", "no, {s} keeps its logs for {v} days, not {o}", "we have change the log retention of {s} from {o} to {v} days",
             "logs of {s} are kept for {v} days going forward"),
    "seconds": ("the timeout of {s} has been raised to {v} seconds", "your notes are wrong, the timeout of {s} is {v} seconds", "I set the timeout of {s} to {v} seconds in the last PR",
                "{s} timeout: {o} -> {v} seconds"),
    "count": ("the rate limit of {s} was lowered from {o} to {v} requests per minute", "one more thing: {s} is limited to {v} requests per minute now",
              "the rate limit of {s} isn't {o} requests per minute any more, it's {v}"),
    "queue": ("{s} reads its jobs from {v} now rather than {o}", "we swapped {o} for {v} in {s}", "{o} is gone, {s} reads its jobs from {v} now", *_MOVED[1:]),
    "format": ("{s} writes its exports as {v} now, {o} is gone", "the export format of {s} has been changed from {o} to {v}", "by the way the export format of {s} is {v} these days"),
    "runtime": ("we bumped {s} from {o} to {v}", "{s} is built for {v} as of the last release", "{s} needs {v} now, so please update the image", *_MOVED[1:]),
    "branch": ("{s} is released from `{v}` from now on", "the release branch of {s} was changed from `{o}` to `{v}`", "we don't cut releases of {s} from `{o}` any more, it's `{v}` now"),
    "channel": ("alerts of {s} go to {v} now, {o} was archived", "the alert channel of {s} was switched from {o} to {v}", "hey, {s} sends its alerts to {v} now. can you look at the flaky test?"),
    "tool": ("`{v}` starts {s} now, `{o}` is gone", "{s} is started by `{v}` as of today", "for the record: we start {s} with `{v}` now"),
}  # fmt: skip

TYPED = tuple(Attribute(own.sort, own.said, _TOLD[own.sort], leaning=own.leaning) for own in ATTRIBUTES)
