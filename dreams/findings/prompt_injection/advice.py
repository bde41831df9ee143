"""What each kind of steering is called in a finding, and what to do about it. PURE."""

from __future__ import annotations

_READ = "Remove it unless you gave this instruction yourself."
_COMMAND = "Remove the command; a session can ask you when it needs it."
# What a page shows or a machine runs; the rest is said to an agent, and is told behind a disguise too.
SILENT = frozenset(
    {
        "agent-settings",
        "credential-path",
        "destructive-command",
        "disguised",
        "encoded-blob",
        "markdown-image",
        "raw-html",
    }
)
# Each code: what is said behind "user_a.md, line 3", and what to do.
ADVICE: dict[str, tuple[str, str]] = {
    "access-granted": (
        "gives somebody access, or an agent more rights",
        "Remove it. Give access yourself, where you can see who has it.",
    ),
    "agent-order": ("gives orders to any agent that reads it", _READ),
    "agent-settings": (
        "changes what an agent or a shell runs at start",
        "Remove it, and make this change yourself if you want it.",
    ),
    "claimed-authority": (
        "claims somebody's permission or rights",
        "Ask that person: a note cannot give their permission.",
    ),
    "credential-path": (
        "names a place where keys or passwords are kept",
        "Keep it only if a session needs to know this place.",
    ),
    "data-sent-away": (
        "sends data from this machine to somebody else",
        "Remove it, or say exactly what may be sent and to whom.",
    ),
    "delayed-trigger": ("makes an agent do something at a later time", _READ),
    "destructive-command": ("would delete far more than one project", _COMMAND),
    "disguised": (
        "says something else when it is decoded",
        "Remove it: an honest note says what it means in plain words.",
    ),
    "encoded-blob": (
        "contains an encoded block that nobody can read",
        "Remove the block, or say in words what it is.",
    ),
    "foreign-orders": (
        "lets text from elsewhere give orders in your name",
        "Remove it: what a page, a ticket or command output says is not your instruction.",
    ),
    "hides-from-user": (
        "hides something from you, or makes an agent tell you something false",
        "Remove it: an honest note has nothing to hide from you.",
    ),
    "ignore-previous": (
        "overrides an agent's instructions, or asks for them",
        "Remove it. If one of your rules changed, change that rule.",
    ),
    "markdown-image": (
        "shows an image: loading it can carry data away",
        "Remove the image, or name the file in words.",
    ),
    "money-moved": (
        "asks for a payment, or for one to another account",
        "Ask the person who is to be paid, through a channel you trust.",
    ),
    "permission": (
        "lets an agent act without you, beyond daily work on the project's files",
        "Keep it only if you want this in every session; otherwise name the one thing that may be done without asking.",
    ),
    "pipe-to-shell": ("runs code that nobody could read first", _COMMAND),
    "planted-words": (
        "puts words or an address into the answers you get",
        "Remove it unless you want to read this in every answer.",
    ),
    "protection-off": (
        "removes a check or a protection",
        "Keep it only if you decided this yourself, and say for which case.",
    ),
    "raw-html": (
        "contains raw HTML or a comment, which the rendered page does not show",
        "Write it as plain Markdown.",
    ),
    "role-tag": (
        "uses a prompt's tags or labels, as if it were not a note",
        "Write it in plain words, without the tag.",
    ),
    "self-spreading": (
        "asks to be copied or kept forever",
        "Remove it: you decide which notes stay.",
    ),
}
