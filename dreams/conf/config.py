"""All settings: their defaults, meanings and bounds.

The defaults are those of the reference behaviour (24 h, 10 min, 5 sessions, 60 min, 200 lines, 25,000 bytes).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack


class More(TypedDict, total=False):
    """The attributes of a `Spec` besides its group and texts."""

    minimum: float
    maximum: float
    choices: Mapping[str, str]
    unit: str
    per_project: bool
    advanced: bool


def setting(default: Any, group: str, label: str, help: str, **more: Unpack[More]) -> Any:
    return field(default=default, metadata={"group": group, "label": label, "help": help, **more})


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
    dreaming: bool = setting(True, "When", "Dreaming", "Off: no dream runs, not even a forced one.")
    min_hours: float = setting(
        24.0,
        "When",
        "Hours between dreams",
        "Time since memoryweb or the agent last tidied this memory.",
        minimum=0.01,
        maximum=8760,
        unit="h",
    )
    min_sessions: int = setting(
        5,
        "When",
        "Sessions needed",
        "Sessions with new content since then.",
        minimum=1,
        maximum=1000,
        unit="sessions",
    )
    scan_minutes: float = setting(
        10.0,
        "When",
        "Check for new sessions every",
        "How often memoryweb looks for new sessions.",
        minimum=0.01,
        maximum=1440,
        unit="min",
    )
    watch: bool = setting(
        True,
        "When",
        "Watch folders for changes",
        "A changed session or memory is read within a minute or two, where the system reports changes. Off: at the next check.",
        per_project=False,
        advanced=True,
    )
    correction_weight: float = setting(
        2.0,
        "When",
        "Weight of a corrected session",
        "A session in which you corrected the agent, or said what the fix was, counts as this many. 1: like any other.",
        minimum=1,
        maximum=10,
        advanced=True,
    )
    max_dreams_at_once: int = setting(
        1,
        "When",
        "Dreams at once",
        "No dream starts automatically while this many run. A dream that you ask for starts immediately.",
        minimum=1,
        maximum=16,
        per_project=False,
    )
    quiet_hours: str = setting(
        "",
        "When",
        "Quiet hours",
        "No scheduled job starts in these hours, such as 22:00-07:00. Jobs that were due start when they end. Empty: none.",
        per_project=False,
    )
    retry_minutes: float = setting(
        15.0,
        "When",
        "Minutes until a failed dream is retried",
        "Doubles with each failure in a row, up to a day.",
        minimum=1,
        maximum=1440,
        unit="min",
        advanced=True,
    )
    max_attempts: int = setting(
        3,
        "When",
        "Attempts per dream",
        "After this many failures in a row a project waits a day.",
        minimum=1,
        maximum=20,
        advanced=True,
    )

    # Engines and budgets
    engine: str = setting(
        "rules",
        "Engine",
        "Engine",
        "Rules need no key and no network. A model understands more, and costs money.",
        choices={"rules": "Rules (offline)", "anthropic": "Model (Anthropic API or compatible)"},
    )
    model: str = setting("claude-sonnet-5-5", "Engine", "Model", "The model’s name on its server.")
    fallback_model: str = setting(
        "claude-haiku-5-5",
        "Engine",
        "Fallback model",
        "Used after the server was overloaded three times in a row. Empty: no fallback.",
        advanced=True,
    )
    effort: str = setting(
        "medium",
        "Engine",
        "Effort",
        "How hard the model thinks, if its server supports this option.",
        choices={"low": "Low", "medium": "Medium", "high": "High"},
        advanced=True,
    )
    max_turns: int = setting(
        60, "Engine", "Turns per dream", "A dream ends after this many turns.", minimum=1, maximum=1000
    )
    max_tokens: int = setting(
        2_000_000,
        "Engine",
        "Tokens per dream",
        "Input and output together.",
        minimum=1000,
        maximum=100_000_000,
        unit="tokens",
    )
    max_seconds: int = setting(
        1800,
        "Engine",
        "Time limit per dream",
        "A dream is stopped after this time.",
        minimum=10,
        maximum=3000,
        unit="s",
    )
    require_os_sandbox: bool = setting(
        False,
        "Engine",
        "Refuse to dream without an OS sandbox",
        "On: a model may dream only where Landlock or bubblewrap isolates its tools.",
        per_project=False,
        advanced=True,
    )
    max_cost_dream: float = setting(
        1.0, "Budget", "Cost limit per dream", "0: no limit.", minimum=0, maximum=10_000, unit="$"
    )
    max_cost_day: float = setting(
        5.0,
        "Budget",
        "Cost limit per day",
        "0: no limit.",
        minimum=0,
        maximum=10_000,
        unit="$",
        per_project=False,
    )
    max_cost_month: float = setting(
        50.0,
        "Budget",
        "Cost limit per month",
        "0: no limit.",
        minimum=0,
        maximum=100_000,
        unit="$",
        per_project=False,
    )
    max_cost_project: float = setting(
        20.0,
        "Budget",
        "Cost limit per project and month",
        "0: no limit.",
        minimum=0,
        maximum=100_000,
        unit="$",
    )

    # Cards from sessions
    catching: bool = setting(
        True,
        "Catching",
        "Catch what you say",
        "When a session goes quiet, what you plainly asked to be remembered is proposed the same day.",
    )
    catch_minutes: float = setting(
        3.0,
        "Catching",
        "Minutes until a session is quiet",
        "A session is read this long after its last line, or as soon as the agent’s hook reports its end.",
        minimum=0,
        maximum=1440,
        unit="min",
        advanced=True,
    )
    catch_engine: str = setting(
        "rules",
        "Catching",
        "Engine for catching",
        "Rules need no key and no network. A model also finds what you decided in passing, and costs money.",
        choices={"rules": "Rules (offline)", "anthropic": "Model (Anthropic API or compatible)"},
    )

    # Recall
    recall_engine: str = setting(
        "rules",
        "Recall",
        "Choosing for recall",
        "Rules compare words. A model is given the question and the names and descriptions of memories, and costs money.",
        choices={"rules": "Rules (offline)", "anthropic": "Model (Anthropic API or compatible)"},
    )
    recall_seconds: float = setting(
        10.0,
        "Recall",
        "Time limit of a model’s choice",
        "After this time the rules choose instead.",
        minimum=1,
        maximum=120,
        unit="s",
        advanced=True,
    )

    # Reviews and policies
    policy_findings: str = setting(
        "info",
        "Review",
        "Findings a policy accepts",
        "A change with a more serious finding always waits for your review.",
        choices={"none": "No findings", "info": "Notes", "warn": "Notes and warnings"},
    )

    team_second_person: bool = setting(
        False,
        "Review",
        "Team memory needs a second person",
        "A change in a folder “team” is written only after a second person has approved it too. An undo needs one person, unless they reworded it.",
    )

    questions_per_dream: int = setting(
        7,
        "Review",
        "Questions per dream",
        "The most questions a dream shows. The others appear with “show more”. 0: no questions.",
        minimum=0,
        maximum=20,
    )

    suggestions: bool = setting(
        True,
        "Review",
        "Suggestions from your agents",
        "Off: an agent can still read memories over MCP, but cannot suggest any.",
    )

    # The index
    index_max_lines: int = setting(
        200,
        "Index",
        "Index lines loaded",
        "An agent loads this many lines of MEMORY.md.",
        minimum=10,
        maximum=10_000,
        unit="lines",
    )
    index_max_bytes: int = setting(
        25_000,
        "Index",
        "Index bytes loaded",
        "An agent loads this many bytes of MEMORY.md.",
        minimum=1000,
        maximum=10_000_000,
        unit="bytes",
    )
    row_aim: int = setting(
        150,
        "Index",
        "Target length of an index row",
        "New rows are written to this length.",
        minimum=40,
        maximum=2000,
        unit="characters",
        advanced=True,
    )
    row_max: int = setting(
        200,
        "Index",
        "Long index rows",
        "The checkup lists longer rows. A row is shortened only if the index is too long and you choose that row.",
        minimum=40,
        maximum=4000,
        unit="characters",
        advanced=True,
    )
    many_memories: int = setting(
        30,
        "Index",
        "Many memories",
        "With more memories than this, pages suggest merging some. Nothing is removed.",
        minimum=1,
        maximum=10_000,
        advanced=True,
    )

    # Places
    roots: str = setting(
        "",
        "Places",
        "Config folders of your agents",
        "One folder per line. Empty: MEMORYWEB_ROOTS, then CLAUDE_CONFIG_DIR, then ~/.claude. "
        "Projects of a folder that you remove are no longer watched; their history is kept.",
        per_project=False,
    )
    time_zone: str = setting(
        "",
        "Places",
        "Time zone",
        "Used for times on pages and for days in notes. Empty: the system’s time zone.",
        per_project=False,
    )

    # Digests
    digest_email: str = setting(
        "",
        "Digest",
        "Send the digest by mail to",
        "Addresses, separated by commas. Empty: no mail. It contains names and counts, never contents.",
        per_project=False,
    )
    digest_webhook: str = setting(
        "",
        "Digest",
        "Send the digest to a webhook",
        "An https address (on this machine http too) that receives signed JSON. Empty: none.",
        per_project=False,
    )
    public_url: str = setting(
        "",
        "Digest",
        "Address in links",
        "The address at which you open memoryweb from your mail. Empty: this server’s own address.",
        per_project=False,
        advanced=True,
    )

    @property
    def usable_fallback(self) -> str:
        """The fallback model for a dream; "" if it is one of Anthropic's, like the default, and the model is not."""
        is_ours = self.fallback_model.startswith("claude-") and not self.model.startswith("claude-")
        return "" if is_ours else self.fallback_model
