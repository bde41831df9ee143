"""Finds what does not belong in shared memory (version control, `team/`): folders of one machine, personal facts, accounts; and in
`team/`, corrections without evidence. PURE."""

import re
from collections.abc import Iterable, Iterator

from dreams.findings.base import ChangedHunk, NewFinding, Subject
from dreams.findings.lines import CheckedLine, found_at, new_lines, standing_lines
from dreams.lib import memdir

CHECK = "committed"
#: The scope of an agent's memory that is in version control.
COMMITTED = "project"
_HOME = re.compile(
    r"(?:/home|/Users)/[\w.-]+|\b[A-Za-z]:\\+Users\\+[\w.-]+|/root(?=[/\s`'\"),.]|$)|(?<![\w/])~/[\w.-]+"
)
_PERSONAL = re.compile(
    r"\b(?:I|the user|he|she) (?:really |always |usually )?(?:prefers?|likes?|loves?|hates?|dislikes?|wants?|cannot stand)\b|"
    r"\bmy (?:own |personal )?(?:preference|editor|machine|laptop|name|e-?mail|phone|address|desk|home)\b",
    re.IGNORECASE,
)
_OWNER = r"(?:my|his|her|the user['’]s)"
# A person's own account or login name; an account without an owner may be a customer's or a service's.
_ACCOUNT = re.compile(
    rf"\b{_OWNER} (?:[\w-]+ ){{0,2}}(?:account|login|user ?name|handle|user ?id)\b|\b(?:logged|signed) in as\b(?! (?:an?|the|one)\b)|"
    r"\b[\w.+-]+@(?:gmail|googlemail|outlook|hotmail|yahoo|icloud|gmx|proton(?:mail)?)\.\w+",
    re.IGNORECASE,
)
_SOURCES = frozenset({"transcript", "repository", "memory", "history"})


def check(subject: Subject) -> Iterator[NewFinding]:
    yield from _of(subject, new_lines(subject))
    for hunk in subject.hunks:
        if _is_bare_correction(hunk):
            says = f"{hunk.path} is shared with your team, and this changes it without evidence."
            remedy = "Reject the change, or make sure that it is right for everyone before you confirm it."
            yield NewFinding(CHECK, "team-without-evidence", "block", says, remedy, hunk.path, hunk.hunk_id)


def standing(subject: Subject) -> Iterator[NewFinding]:
    yield from _of(subject, standing_lines(subject))


def _of(subject: Subject, lines: Iterable[CheckedLine]) -> Iterator[NewFinding]:
    for line in lines:
        is_team = memdir.is_team(line.path)
        if not is_team and subject.scope != COMMITTED:
            continue
        read = "is shared with your team" if is_team else "would be committed"
        own = "outside of team/" if is_team else "or in the agent’s memory of the scope user or local"
        home = _HOME.search(line.text)
        if home:
            says = f"names a folder on one machine, {home[0]}, and {read}"
            remedy = "Write the path relative to the top of the repository."
            yield found_at(line, CHECK, "home-path", "warn", says, remedy)
        if _is_personal(subject, line):
            says = f"is about one person, and {read}"
            yield found_at(line, CHECK, "personal", "warn", says, f"Keep it in your own memory, {own}.")
        if _ACCOUNT.search(line.text):
            says = f"names someone’s account, and {read}"
            yield found_at(line, CHECK, "account", "warn", says, f"Keep it in your own memory, {own}.")


def _is_personal(subject: Subject, line: CheckedLine) -> bool:
    """Whether a line is about a person; a memory about the user is also reported at its line `type: user`."""
    if _PERSONAL.search(line.text):
        return True
    if line.text.strip() != "type: user":
        return False
    return memdir.memory_type(memdir.parse(subject.after.get(line.path, b"")), line.path) == "user"


def _is_bare_correction(hunk: ChangedHunk) -> bool:
    """Whether an engine changes or removes a line of team memory without any evidence.

    Not the ledger's `_is_evidence`: there a quote of the same words in another memory counts, and one of a part of the
    removed line does not. Either in place of the other would change what is found.
    """
    kept = {fate.text.strip() for fate in hunk.fates if fate.kind in {"kept-in", "merged-into"}}
    gone = {line.strip() for line in hunk.removed} - kept - {""}
    if hunk.by_hand or not gone or not memdir.is_team(hunk.path):
        return False
    # A quote of the removed line itself is no evidence against it.
    return not any(
        cited.found and cited.source in _SOURCES and cited.quote.strip() not in gone
        for cited in hunk.citations
    )
