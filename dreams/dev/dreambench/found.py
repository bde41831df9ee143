"""Wordings found in public files, for the same facts: none is of our own make. Pure.

They were collected after the engine's table of words was written, as they stood but for the name and the value, and the
table was not changed after them. So what an engine does with these says more than what it does with `phrasings`.
"""

from __future__ import annotations

from dreams.dev.dreambench.phrasings import ATTRIBUTES, Attribute

_SAID_AND_TOLD: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "port": (
        ("{s} runs by default on port {v}.", "{s} is made publicly available on port {v}.", "We launch {s} on port {v}.",
         "{s} (port {v})"),
        ("{s} runs by default on port {v} now", "we made {s} available on port {v} instead of {o}", "we now launch {s} on port {v}"),
    ),
    "region": (
        ("{s} answers in {v} for every region's events.", "The servers of {s} are in {v}.", "{s}: deploy in {v}",
         "The certificates of {s} live in {v}."),
        ("{s} answers in {v} now", "the servers of {s} are in {v} now, not in {o}", "we deploy {s} in {v} now"),
    ),
    "store": (
        ("Primary database of {s}: {v}", "{s}: Database {v}", "Tests of {s} use native {v}.", "{s} runs on a managed {v}."),
        ("the primary database of {s} is {v} now", "{s} runs on a managed {v} now instead of {o}", "we upgraded {s} from {o} to {v}"),
    ),
    "person": (
        ("{s} is maintained by {v}.", "Contact for {s}: {v}", "Core member for {s} is {v}.", "For questions about {s}, contact {v}."),
        ("{s} is maintained by {v} now", "the contact for {s} is {v} now, no longer {o}", "for questions about {s} contact {v} now"),
    ),
    "time": (
        ("{s} will automatically execute every night at {v} UTC.", "{s} runs every night at {v} UTC.",
         "Every night at {v} UTC a scheduler automatically runs {s}.", "{s}: scheduled every night at {v} UTC"),
        ("{s} runs every night at {v} UTC now", "we rescheduled {s} from {o} to {v} UTC", "{s} is scheduled at {v} UTC now, not at {o} UTC"),
    ),
    "days": (
        ("{s} sets its cookie for {v} days.", "Cookies of {s} are set for {v} days.", "{s} remembers a login for {v} days.",
         "Logins are remembered by {s} for {v} days."),
        ("{s} sets its cookie for {v} days now", "{s} remembers a login for {v} days now, it was {o}", "we changed the cookies of {s} to {v} days"),
    ),
    "seconds": (
        ("{s} closes connections after {v} seconds.", "{s} shows a timeout error after {v} seconds.",
         "Connections to {s} are closed after {v} seconds of inactivity.", "Give up queries to {s} after {v} seconds."),
        ("{s} closes connections after {v} seconds now", "{s} shows a timeout error after {v} seconds now, not {o}",
         "we set the timeout of {s} to {v} seconds"),
    ),
    "count": (
        ("Requests to {s} are limited to {v} requests per minute.", "The free tier of {s} caps requests at {v} per minute.",
         "Rate limiting of {s} is enforced at {v} requests per minute.", "Rate limit of {s}: {v} requests per minute"),
        ("rate limiting of {s} is enforced at {v} requests per minute now", "requests to {s} are limited to {v} requests per minute now, it was {o}",
         "we raised the cap of {s} to {v} requests per minute"),
    ),
    "queue": (
        ("{s} uses {v} as its message queue.", "Message queue of {s}: {v}", "{s} blocks on messages of {v}.", "Jobs reach {s} through {v}."),
        ("{s} uses {v} as its message queue now", "the message queue of {s} is {v} now, no longer {o}", "we replaced {o} with {v} in {s}"),
    ),
    "format": (
        ("{s} saves its results as {v}.", "{s} outputs ready-to-use datasets as {v} files.", "The results of {s} are stored as {v}.",
         "{s} writes any new records as {v}."),
        ("{s} saves its results as {v} now", "the results of {s} are stored as {v} now, no longer as {o}", "we switched the results of {s} to {v}"),
    ),
    "runtime": (
        ("{s} requires {v} or newer.", "Common install issue of {s}: requires {v}", "The dev server of {s} requires {v}.", "{s}: local setup requires {v}"),
        ("{s} requires {v} or newer now", "the dev server of {s} requires {v} now, not {o}", "we moved {s} to {v}"),
    ),
    "branch": (
        ("`{v}` - stable releases of {s}", "Stable releases of {s} are on `{v}`.", "Pull requests of {s} are merged into `{v}`.",
         "{s} merges its releases back into `{v}`."),
        ("stable releases of {s} are on `{v}` now", "pull requests of {s} are merged into `{v}` now instead of `{o}`"),
    ),
    "channel": (
        ("On-call engineer for {s}: see Slack channel {v}", "Questions about {s} go through the Slack channel {v}.",
         "Look in Slack channel {v} before restarting {s}.", "Support for {s} is in {v}."),
        ("support for {s} is in {v} now", "questions about {s} go through {v} now, no longer through {o}"),
    ),
    "tool": (
        ("Start all services of {s} with `{v}`.", "Run {s} with `{v}`.", "`{v}` starts all services of {s}.", "{s}: `{v}`"),
        ("run {s} with `{v}` now", "we start all services of {s} with `{v}` now, not with `{o}`"),
    ),
}  # fmt: skip

FOUND = tuple(Attribute(own.sort, *_SAID_AND_TOLD[own.sort], leaning=own.leaning) for own in ATTRIBUTES)
