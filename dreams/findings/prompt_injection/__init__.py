"""Text that speaks to an agent instead of telling it something, and what smuggles things in. PURE.

These are warnings: a memory may well say "never ask before formatting". A person decides, knowing it is there. Of lines
that stand already they are notes: on forty published directories nearly all of more than a hundred were rules that an agent
had written down for its own person. Only what hides from a reader is a warning there, too.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from urllib.parse import urlsplit

import re2

from dreams.findings.base import ChangedHunk, NewFinding, Subject
from dreams.findings.invisible import without_hidden
from dreams.findings.ledger import facts
from dreams.findings.lines import CheckedLine, added_lines, found_at, lines_in, new_lines, standing_lines
from dreams.findings.prompt_injection.weighing import SPOKEN, told
from dreams.lib.files.text import decode, shortened
from dreams.lib.secrets import redact

CHECK = "injection"
LONG_LINE = 1000  # characters: what hides is far to the right; chosen
_MAX = 20_000  # characters of one line that are looked at


_COMMAND = re2.compile(
    r"(?i)\b(?:sudo|curl|wget|pip3?|pipx|uv|npm|npx|pnpm|yarn|bun|brew|apt(?:-get)?|dnf|yum|apk|pacman|cargo|go|gem|composer|choco|winget|scoop|docker)\s+"
    r"(?:install|add|i|get|exec|dlx|run|pull|tap|global add|-[a-zA-Z-]+|https?://)\s*(?P<what>[^\s`\"']{0,200})"
)
COULD = "could steer an agent; by its words it "
_OWN = "Leave it if you or your agent wrote it on purpose; remove it if you do not know where it comes from."
_HIDDEN = {"disguised", "mixed-script"}  # from a reader, not only from a careless one
COULD_STEER = SPOKEN - _HIDDEN  # the codes of lines that say something to an agent
_EMPHASIS = re.compile(r"(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")  # an underscore is a letter to a pattern
_MIXED = re.compile(r"[^\W\d_]{2,}")
# Letters of Greek, and those of Cyrillic, Armenian and Cherokee; "Δt", "oθ" and "ρh" are formulas.
_FORMULA = re.compile("[A-Za-z][ικνρυχ]|[ικνρυχ][A-Za-z]")
_LIKE_LATIN = re.compile("[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧικνορυχ\u0400-\u058f\u13a0-\u13ff\uab70-\uabbf]")
_ENDED = re.compile(r"[.!?:;|]\W*$|^\s*(?:#|---|```)")
_GOES_ON = re.compile(r"\s*[a-z(“\"'`][^:|]*$|\s*[a-z]+ [a-z]+")
_NEVER, _ALWAYS = (
    re.compile(r"\b(?:never|do not|don['’]t|must not)\b", re.I),
    re.compile(r"\b(?:always|must(?! not))\b", re.I),
)


def check(subject: Subject) -> Iterator[NewFinding]:
    yield from _in_lines(new_lines(subject))
    yield from _new_hosts(subject)
    yield from _new_commands(subject)
    for hunk in subject.hunks:
        if not hunk.by_hand:
            yield from _flips(hunk)


def standing(subject: Subject) -> Iterator[NewFinding]:
    blocks = lines_in(subject, lambda item: item.kind == "code")
    for found in _in_lines(standing_lines(subject), stands=True):
        if found.code != "raw-html" or (found.path, found.line_no) not in blocks:  # code is shown as it is
            yield found if found.code in _HIDDEN else replace(found, severity="info")


def _in_lines(lines: Iterable[CheckedLine], *, stands: bool = False) -> Iterator[NewFinding]:
    """What each line says alone, and what a sentence says that is wrapped onto the next. `stands`: nobody proposes them now."""
    before, heard = None, frozenset[str]()
    for line in lines:
        text = _clean(line.text)
        here = frozenset(each.code for each in told(text))
        if before and _runs_on(before, line):
            yield from _told(before, f"{_clean(before.text)} {text.strip()}", stands, but=heard | here)
        yield from _told(line, text, stands)
        yield from _shape(line, text)
        before, heard = line, here


def _runs_on(line: CheckedLine, after: CheckedLine) -> bool:
    """Whether a sentence goes on in the next line; a list's next point or a heading starts anew."""
    if (line.path, line.number + 1) != (after.path, after.number) or max(
        map(len, (line.text, after.text))
    ) > 400:
        return False
    return bool(line.text.strip() and not _ENDED.search(line.text) and _GOES_ON.match(after.text))


def _told(line: CheckedLine, text: str, stands: bool, but: Set[str] = frozenset()) -> Iterator[NewFinding]:
    # What is said quotes the line, and no rule knows half a key again: it is taken out before.
    quotable = redact.redact(text) if told(text) else ""
    for each in told(quotable):
        if each.code not in but and not (each.code == "raw-html" and _is_plain_comment(text)):
            could = stands and each.code in COULD_STEER
            says, remedy = (f"{COULD}{each.says}", _OWN) if could else (each.says, each.remedy)
            yield _found(line, each.code, f"{says}: “{_short(each.words)}”", remedy)


def _is_plain_comment(text: str) -> bool:
    """Placeholders such as `<a>` in code are told by the rule already; an index may keep its section marks."""
    return bool(re.fullmatch(r"\s*<!--\s*/?[\w:-]{1,40}\s*-->\s*", text))


def _shape(line: CheckedLine, text: str) -> Iterator[NewFinding]:
    if len(line.text) > LONG_LINE:
        yield _found(
            line, "long-line", f"is {len(line.text):,} characters long", "Cut it into shorter statements."
        )
    words = (w for w in _MIXED.findall(text) if re.search("[A-Za-z]", w) and not _FORMULA.fullmatch(w))
    if mixed := next(filter(_LIKE_LATIN.search, words), None):
        yield _found(
            line,
            "mixed-script",
            f"has a word with letters of two scripts: “{_short(mixed)}”, where {_foreign(mixed)}",
            "Retype the word in one script, or reject the change.",
        )


def _foreign(word: str) -> str:
    """Which of its letters only look Latin: nobody sees it."""
    letters = dict.fromkeys(_LIKE_LATIN.findall(word))
    script = unicodedata.name(next(iter(letters)), "unknown").split()[0].title()
    told = ", ".join(f"“{char}”" for char in list(letters)[:6])
    return f"{told} {'is' if len(letters) == 1 else 'are'} {script}"


def _found(line: CheckedLine, code: str, says: str, remedy: str) -> NewFinding:
    return found_at(line, CHECK, code, "warn", says, remedy)


def _new_hosts(subject: Subject) -> Iterator[NewFinding]:
    """Hosts and addresses that stood in no memory before and that no user typed."""
    urls = {_bare_url(url) for text in _known_texts(subject) for url in _urls(text)}
    known = {_host(url) for url in urls}
    for line in added_lines(subject):
        # The mark has a space, at which an address would end.
        for url in sorted(facts.urls(redact.MARKED.sub("", line.text))):
            host = _host(url)
            if host in known and _bare_url(url) not in urls:
                yield _found(
                    line,
                    "new-url",
                    f"mentions a new address: {_short(url)}",
                    "Check it yourself before a session opens it, or reject the change.",
                )
            if host and host not in known:
                yield _found(
                    line,
                    "new-host",
                    f"mentions a new host: {_short(host)}",
                    "Make sure that you know this address.",
                )


def _known_texts(subject: Subject) -> Iterator[str]:
    yield from (decode(data) for data in subject.before.values())
    cited = (citation for hunk in subject.hunks for citation in hunk.citations)
    yield from (f"{c.quote}\n{c.context}" for c in cited if c.found and c.role == "user")


_LOGIN = re.compile(r"(?<=://)[^/@\s]*@")


def _bare_url(url: str) -> str:
    """Whoever logs in to it, and with what: it leads to the same place."""
    return _LOGIN.sub("", url.rstrip("/.,;:)").lower())


def _urls(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if "://" in line:
            yield from facts.urls(line)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return url[:100]


def _new_commands(subject: Subject) -> Iterator[NewFinding]:
    """Install lines and downloads that nobody typed and no memory had."""
    known = " ".join(_known_texts(subject))
    for line in added_lines(subject):
        for match in _COMMAND.finditer(_clean(line.text)):
            what = match["what"].strip(".,;:)")
            if match[0].strip() not in known and (not what or what not in known):
                yield _found(
                    line,
                    "unasked-command",
                    f"has a command that you never typed: “{_short(match[0])}”",
                    "Make sure that you want agents to run it, or reject the change.",
                )


def _flips(hunk: ChangedHunk) -> Iterator[NewFinding]:
    """A rule that was turned into its opposite, the rest of the line alike."""
    for offset, new in enumerate(hunk.added):
        for old in hunk.removed[:200]:
            if _polarity(old) * _polarity(new) == -1 and facts.coverage(_bare(old), _bare(new)) >= 0.6:
                line = CheckedLine(hunk.path, hunk.new_start + offset + 1, new, hunk)
                says = f"reverses a rule: “{_short(old.strip())}” is now “{_short(new.strip())}”"
                yield _found(line, "rule-flipped", says, "Make sure that the rule really changed.")
                break


def _polarity(text: str) -> int:
    return bool(_ALWAYS.search(text)) - bool(_NEVER.search(text))


def _bare(text: str) -> str:
    return _ALWAYS.sub("", _NEVER.sub("", text))


def _clean(text: str) -> str:
    """What an agent reads: letters spread by characters nobody sees, or of another width, are the same words to it."""
    shown = without_hidden(re.sub(r"\s", " ", text[:_MAX]))
    return _EMPHASIS.sub("", unicodedata.normalize("NFKC", shown))


def _short(text: str) -> str:
    return shortened(redact.redact(text), 80)
