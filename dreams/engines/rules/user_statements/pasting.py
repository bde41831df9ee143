"""Where the person's own words end in a prompt: the shapes of letters, terminals, logs and diffs, and the lines that lead to one.
Pure.

What is typed to an agent greets nobody else, is signed by nobody and carries no prompt of a shell. From such a line on nothing
counts as the person's own word, whatever it says.
"""

from __future__ import annotations

import re

from dreams.engines.rules.user_statements.phrases import TASK


def _line(*shapes: str) -> re.Pattern[str]:
    """A whole line of one of the shapes."""
    return re.compile(rf"(?:{'|'.join(shapes)})$", re.IGNORECASE)


_FOREIGN = _line(
    # A letter: its greeting of others, its head, and what marks one as handed on.
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)) (?!claude\b|there\b|again\b)[\w .'’-]{2,30}[,!]",
    r"(?:from|to|cc|bcc|subject|date|sent|reply-to|author): \S.*",
    r"[-=_*> ]*(?:begin )?(?:forwarded|original) message\b.*|on .{6,60} wrote:?",
    # A terminal: "$ npm test", "PS C:\>", "ana@box:~$ ls".
    r"(?:[\w.-]+@[\w.-]+[:~ ][^$#]{0,40})?[$%❯»] \S.*|>>> \S.*|PS [A-Z]:\\.*",
    # A log, a chat with its times, a report of a test.
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|\[?\d\d:\d\d(?::\d\d)?\]? +[\w.-]+ ?[:>].*",
    r"\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|FAIL|PASS)\]?[: ].*|(?:expected|actual|received|steps to reproduce|acceptance criteria)\b.*",
    # A diff.
    r"diff --git .*|index [0-9a-f]{6,}.*|@@ .*|(?:\+\+\+|---) \S.*|[+-](?!\d)\S.* \S.*",
)  # fmt: skip
# A row of a table, a comment in code, a heading, what is tagged as a draft: none of them is said to anybody.
_MARKED = re.compile(r"\||\[[^\]]{1,20}\]\s|//|/\*|\*/|#{1,6}\s|--\s|<!--|[;%]\s")
_SIGNED = _line(
    r"(?:best|kind|warm|many)(?: (?:regards|wishes|greetings))?,?",
    r"(?:kind |best |warm )?(?:regards|greetings|sincerely|yours)\b,?(?: [\w.-]+){0,2}",
)
# Leads to what stands below it, with a colon or without: "the ticket reads like this", "see mail below".
_NAMED = re.compile(
    r"\b(?:output|logs?|e?-?mails?|messages?|tickets?|issues?|comments?|threads?|posts?|docs?|readme|page|text|snippet|excerpt|quote|response|reply|answer|report|trace|"
    r"errors?|diff|article|draft|template|transcript|spec|changelog|chat|wiki)\b",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"\b(?:was|were|is|says?|said|wrote|reads?|like this|as follows|following|below|verbatim|attached|pasted|here|in full)\s*[:…]?$",
    re.IGNORECASE,
)
# A last line that asks of all that stands above it: "what does that mean", "can you estimate it".
_ASKS_OF_IT = re.compile(
    r"(?:\w+\W+){0,6}?(?:it|this|that|these|those|them|there|above|say|says|mean|means)\b[^.!]*$|(?:why|what|how|who|summari[sz]e|translate|explain|review|anything|thoughts|tl;?dr)\W*$",
    re.IGNORECASE,
)
MOST_ABOVE = 2  # lines


def own_lines(lines: list[str]) -> list[str]:
    """The lines up to the first that was written elsewhere; none of what is signed like a letter."""
    if any(map(_SIGNED.match, lines)):
        return []
    end = next((place for place, line in enumerate(lines) if _FOREIGN.match(line)), len(lines))
    return ["" if _MARKED.match(line) else line for line in lines[:end]]


def leads_to_a_paste(line: str) -> bool:
    """Whether a line only names or announces what stands below it."""
    return bool(_NAMED.search(line) and _LEADS.search(line) and not TASK.match(line))


def asks_of_what_is_above(lines: list[str]) -> bool:
    """Whether the last line asks of a text of several lines above it, from which an empty line parts it."""
    told = [line for line in lines if line]
    return len(told) > MOST_ABOVE and "" in lines and bool(_ASKS_OF_IT.match(told[-1]))
