"""What each kind of steering is called in a finding, and what to do about it. PURE."""

from __future__ import annotations

_READ = "Leave it out unless you gave this order yourself."
_COMMAND = "Leave the command out; a session can ask you for it when it needs it."
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
        "Leave it out. Give access yourself, where you can see who has it.",
    ),
    "agent-order": ("gives an order to any agent that reads it", _READ),
    "agent-settings": (
        "changes what an agent or a shell starts with",
        "Leave it out, and make this change yourself if you want it.",
    ),
    "claimed-authority": (
        "claims somebody's leave or rights",
        "Ask that person: a note cannot give their leave.",
    ),
    "credential-path": (
        "names a place where keys or passwords are kept",
        "Keep it only if a session needs to know this place.",
    ),
    "data-sent-away": (
        "hands data from this machine to somebody else",
        "Leave it out, or name the one thing that may be sent and to whom.",
    ),
    "delayed-trigger": ("has something done later, once a moment comes", _READ),
    "destructive-command": ("would delete far more than one project", _COMMAND),
    "disguised": (
        "says something else once it is decoded",
        "Leave it out: an honest note says in plain words what it means.",
    ),
    "encoded-blob": (
        "holds an encoded block that nobody can read",
        "Leave the block out, or say in words what it is.",
    ),
    "foreign-orders": (
        "lets text from elsewhere give orders in your name",
        "Leave it out: what a page, a ticket or a command's output says is no order of yours.",
    ),
    "hides-from-user": (
        "keeps something from you, or has you told what is not so",
        "Leave it out: no honest note needs you not to know.",
    ),
    "ignore-previous": (
        "sets aside, or wants to see, the instructions that an agent works by",
        "Leave it out. If one of your rules changed, change that rule.",
    ),
    "markdown-image": (
        "shows an image: loading it can carry data away",
        "Leave the image out, or name the file in words.",
    ),
    "money-moved": (
        "has money paid, or paid to another account",
        "Ask the person who is to be paid, by a way that you know.",
    ),
    "permission": (
        "lets an agent act without you, beyond the daily work on the project's files",
        "Keep it only if you want it of every session; else name the one thing that may be done unasked.",
    ),
    "pipe-to-shell": ("runs what nobody could read before", _COMMAND),
    "planted-words": (
        "puts words or an address into what you are told",
        "Leave it out unless you want to read this in every answer.",
    ),
    "protection-off": (
        "takes a check or a protection away",
        "Keep it only if you decided so yourself, and say for which case.",
    ),
    "raw-html": (
        "holds raw HTML or a comment, which the rendered page does not show",
        "Write it as plain Markdown.",
    ),
    "role-tag": (
        "uses a tag or label of a prompt, as if it were no note",
        "Write it in plain words, without the tag.",
    ),
    "self-spreading": (
        "wants to be copied, or kept for ever",
        "Leave it out: which notes stay is for you to decide.",
    ),
}
