"""Every setting, once: its default, what it means and its bounds.

The defaults are those of the reference behaviour (24 h, 10 min, 5 sessions, 60 min, 200 lines, 25,000 bytes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def setting(  # noqa: PLR0913 - one keyword per thing that a page shows
    default: Any,
    group: str,
    label: str,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Mapping[str, str] | None = None,
    unit: str = "",
    per_project: bool = True,
    advanced: bool = False,
) -> Any:
    metadata = {
        "group": group,
        "label": label,
        "help": help,
        "minimum": minimum,
        "maximum": maximum,
        "choices": choices,
        "unit": unit,
        "per_project": per_project,
        "advanced": advanced,
    }
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Config:
    """One consistent set of values. Units are in `metadata["unit"]` and in the names."""

    # When to dream
    paused: bool = setting(
        False,
        "When",
        "Pause all dreaming",
        "No dream starts anywhere until this is switched off.",
        per_project=False,
    )
    dreaming: bool = setting(True, "When", "Dream here", "Off: no dream is made, not even when forced.")
    min_hours: float = setting(
        24.0,
        "When",
        "Hours between dreams",
        "Time since the last consolidation, by anyone.",
        minimum=0.01,
        maximum=8760,
        unit="h",
    )
    min_sessions: int = setting(
        5,
        "When",
        "Sessions needed",
        "Sessions touched since the last consolidation.",
        minimum=1,
        maximum=1000,
        unit="sessions",
    )
    scan_minutes: float = setting(
        10.0,
        "When",
        "Minutes between looks",
        "How often the sessions of a project are counted again.",
        minimum=0.01,
        maximum=1440,
        unit="min",
    )
    correction_weight: float = setting(
        1.0,
        "When",
        "Weight of a corrected session",
        "A session in which you corrected the agent counts this much. 1 is plain counting.",
        minimum=1,
        maximum=10,
        advanced=True,
    )
    live_minutes: float = setting(
        10.0,
        "When",
        "Minutes until a session is over",
        "A session whose process is not known is taken as live this long after its last byte.",
        minimum=0,
        maximum=1440,
        unit="min",
        advanced=True,
    )
    lock_stale_minutes: float = setting(
        60.0,
        "When",
        "Minutes until a lock is stale",
        "A consolidation lock older than this may be taken even if its process lives.",
        minimum=1,
        maximum=1440,
        unit="min",
        advanced=True,
    )
    max_dreams_at_once: int = setting(
        1,
        "When",
        "Dreams at once",
        "How many dreams may run at the same time.",
        minimum=1,
        maximum=16,
        per_project=False,
    )
    retry_minutes: float = setting(
        15.0,
        "When",
        "Minutes until a failed dream is tried again",
        "Doubles with every failure in a row, up to a day.",
        minimum=1,
        maximum=1440,
        unit="min",
        advanced=True,
    )
    max_attempts: int = setting(
        3,
        "When",
        "Tries of one dream",
        "After this many failures in a row a project waits a day.",
        minimum=1,
        maximum=20,
        advanced=True,
    )

    # Who dreams
    engine: str = setting(
        "rules",
        "Engine",
        "Engine",
        "Rules work with no key and no network. A model reads more between the lines, and costs money.",
        choices={"rules": "Rules (offline)", "anthropic": "Model (Anthropic API or compatible)"},
    )
    model: str = setting("claude-sonnet-5-5", "Engine", "Model", "The model’s id, as its server knows it.")
    fallback_model: str = setting(
        "claude-haiku-5-5",
        "Engine",
        "Fallback model",
        "Used after three overloads in a row. Empty: none.",
        advanced=True,
    )
    effort: str = setting(
        "medium",
        "Engine",
        "Effort",
        "How hard the model thinks, where its server knows the option.",
        choices={"low": "Low", "medium": "Medium", "high": "High"},
        advanced=True,
    )
    max_turns: int = setting(
        60, "Engine", "Turns of one dream", "A dream ends after this many.", minimum=1, maximum=1000
    )
    max_tokens: int = setting(
        2_000_000,
        "Engine",
        "Tokens of one dream",
        "Input and output together.",
        minimum=1000,
        maximum=100_000_000,
        unit="tokens",
    )
    max_seconds: int = setting(
        1800,
        "Engine",
        "Seconds of one dream",
        "A dream is ended after this time.",
        minimum=10,
        maximum=3000,
        unit="s",
    )
    max_cost_dream: float = setting(
        1.0, "Budget", "Dollars of one dream", "0 is no limit.", minimum=0, maximum=10_000, unit="$"
    )
    max_cost_day: float = setting(
        5.0,
        "Budget",
        "Dollars of one day",
        "0 is no limit.",
        minimum=0,
        maximum=10_000,
        unit="$",
        per_project=False,
    )
    max_cost_month: float = setting(
        50.0,
        "Budget",
        "Dollars of one month",
        "0 is no limit.",
        minimum=0,
        maximum=100_000,
        unit="$",
        per_project=False,
    )
    max_cost_project: float = setting(
        20.0,
        "Budget",
        "Dollars of one project in a month",
        "0 is no limit.",
        minimum=0,
        maximum=100_000,
        unit="$",
    )
    require_os_sandbox: bool = setting(
        False,
        "Engine",
        "Refuse to dream without an OS sandbox",
        "On: a model dreams only where Landlock or bubblewrap fences its tools in.",
        per_project=False,
        advanced=True,
    )

    # What needs no person
    policy_findings: str = setting(
        "info",
        "Review",
        "Findings a policy accepts",
        "A change with a worse finding always waits for you, whatever a policy says.",
        choices={"none": "None at all", "info": "Notes", "warn": "Notes and warnings"},
    )

    questions_per_dream: int = setting(
        7,
        "Review",
        "Questions per dream",
        "How many questions a dream asks at most. The rest waits behind “show more”. 0 asks none.",
        minimum=0,
        maximum=20,
    )

    # What an agent loads
    index_max_lines: int = setting(
        200,
        "Index",
        "Lines of the index",
        "An agent loads this many lines of MEMORY.md.",
        minimum=10,
        maximum=10_000,
        unit="lines",
    )
    index_max_bytes: int = setting(
        25_000,
        "Index",
        "Bytes of the index",
        "An agent loads this many bytes of MEMORY.md.",
        minimum=1000,
        maximum=10_000_000,
        unit="bytes",
    )
    row_aim: int = setting(
        150,
        "Index",
        "Characters of an index row",
        "What a row aims at.",
        minimum=40,
        maximum=2000,
        unit="characters",
        advanced=True,
    )
    row_max: int = setting(
        200,
        "Index",
        "Longest index row",
        "The checkup lists longer rows. A row is only shortened when the index is too long and you choose it.",
        minimum=40,
        maximum=4000,
        unit="characters",
        advanced=True,
    )
    many_memories: int = setting(
        30,
        "Index",
        "Many memories",
        "Above this a page advises to merge. It never drops anything.",
        minimum=1,
        maximum=10_000,
        advanced=True,
    )

    # Where things are
    roots: str = setting(
        "",
        "Places",
        "Config folders of your agents",
        "One folder a line. Empty: MEMORYWEB_ROOTS, else CLAUDE_CONFIG_DIR, else ~/.claude.",
        per_project=False,
    )
    time_zone: str = setting(
        "",
        "Places",
        "Time zone",
        "For times on the pages and days in notes. Empty: the system’s.",
        per_project=False,
    )

    # Telling you
    digest_email: str = setting(
        "",
        "Digest",
        "Mail a digest to",
        "Addresses, separated by commas. Empty: no mail. It tells names and counts, never contents.",
        per_project=False,
    )
    digest_webhook: str = setting(
        "",
        "Digest",
        "Post a digest to",
        "An https address that gets signed JSON. Empty: none.",
        per_project=False,
    )
    digest_hours: float = setting(
        24.0,
        "Digest",
        "Hours between digests",
        "Only when something waits. Without news, reminders come at longer and longer intervals.",
        minimum=1,
        maximum=744,
        unit="h",
        per_project=False,
    )
    public_url: str = setting(
        "",
        "Digest",
        "Address in links",
        "How you reach these pages from where you read mail. Empty: where this server runs.",
        per_project=False,
        advanced=True,
    )
