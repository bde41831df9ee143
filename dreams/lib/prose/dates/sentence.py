"""The sentence around a date phrase: its words as a string of letters, its clause, and what begins the clause. Pure.

A pattern over the letters can speak of subjects and verbs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dreams.lib.prose import lexicon

_VOCABULARY = """
d maybe perhaps possibly presumably might guess unsure unclear uncertain undecided
P i we he she they everyone everybody
Y you
J it there mine ours theirs
D the this that these our my his her their its your both
A a an any every each some another either most many few
e anything everything nothing something anyone none all those someone somebody
n no
N two three four five six seven eight nine ten several first second third
F please will
M can could may would couldn't wouldn't
u must should shouldn't mustn't shall
U need needs want wants plan plans hope hopes expect expects intend aim planned scheduled expected slated due supposed booked targeted asks requested
B cannot can't is are am isn't aren't be being gets getting stays stay remains remain
H has have haven't hasn't having
O do does don't doesn't
I if unless whether whenever suppose supposing imagine provided how assume assuming pretend consider whatever whoever whichever
Z than vs versus
h when once
W what who whom whose which why where wherever
S because although though while after before until till since as
C and or but so then yet nor
Q in on at by with over under about around during within through throughout between without against per via across despite
a for of to
& into onto
f from
R not never also just only already still even now again twice always ago later earlier late too very quite almost soon
X was were wasn't weren't did didn't had hadn't went came became began saw ran broke wrote took gave chose drove fell flew forgot grew knew rose
X spoke threw woke wore ate blew drew froze hid shook swore tore got failed passed happened died crashed expired arrived occurred complained doubled
X halved tripled joined stalled leaked vanished appeared disappeared worked
V met left said told made built found sent spent lost won paid bought sold felt kept held brought thought taught caught led meant slept stood stuck
V understood broken written given taken done gone seen chosen frozen shown grown drawn begun known been cut put set hit shut split spread hurt quit let read run
L starts start begins begin ends end expires expire leaves leave arrives arrive launches launch ships ship opens open closes close moves move lands
L land joins join returns return takes take goes go stops stop switches switch freezes freeze resumes resume continues continue retires retire
L lapses lapse happens happen comes come flies fly meets meet renews renew
"""
_CLASS = {word: line[0] for line in _VOCABULARY.strip().splitlines() for word in line.split()[1:]}
_NO_ED = frozenset([
    "need", "speed", "feed", "seed", "embed", "indeed", "exceed", "proceed", "succeed", "shed", "bed", "red",
    "weed", "breed", "hundred", "shared",
])  # fmt: skip
# In the present and the past alike.
_SAME = frozenset("cut put set hit shut split spread hurt quit let read run".split())  # noqa: SIM905 - a word list
_BOUNDING = frozenset({"since", "until", "till", "by", "before", "after"})
_SOMETHING_BEFORE = frozenset("weEKN),(@G")  # what "that" and "who" may tell of
_SUBJECT_BEFORE = frozenset("wEKNPJ@R,C'")  # what may start, end or leave
_OPENING = frozenset(".!?:;(-")
_TOKEN = re.compile(r"@(?:['’]s)?|[^\W\d_][\w]*(?:[-'’./:][\w]+)*|\d[\w.,:%/-]*\w|\d|→|--?|[–—]|[^\w\s]")
_JOINED = re.compile(r"\w[-./:]\w")
_IS = frozenset({"is", "was", "will", "gets", "got", "has", "goes", "went"})
_PLURAL = re.compile(r"[a-z-]+[a-hj-rtv-z]s")  # not "status", "analysis", "access"
# Long for short, and one for several that mean the same here.
_PLAIN = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (r"\b(?:as of|starting|beginning|effective|no later than|not before)\s+(?=@)", "by "),
        (r"\b(?:in case|let['’]s (?:say|assume|suppose))\b", "if"),
        (r"^[\s>*-]*(?:say|given|had(?!\s+(?:an?|to|no|some|\d)\b)|were(?=\s+(?:it|we|he|she|they)\b))\b", "if"),
        (r"\bas (?:usual|always|ever|planned|expected|agreed|discussed)\b", "now"),
        (r"\b(?:because of|due to|thanks to)\b", "with"),
        (r"\bthe\s+(?=@)", ""),
        (r"\bwon['’]t\b|['’]ll\b|\blet(?:['’]s| us)\b|\b(?:going\s+to|gonna)\b(?!\s+(?:the|a|my|our)\b)", " will "),
        (r"\b(it|he|she|that|there|what|who|where|this)['’]s\b", r"\1 is"),
        (r"['’](?:re|m)\b", " are"),
        (r"['’]ve\b", " have"),
        (r"['’]d\b", " would"),
        (r"^[\s>*_#+-]+|[*_`%]+", " "),
    )
)  # fmt: skip


@lru_cache(maxsize=512)
def letters(text: str) -> str:
    """One letter for each word and sign of `text`, in which `@` stands for the date phrase."""
    for pattern, plain in _PLAIN:
        text = pattern.sub(plain, text)
    row: list[str] = []
    found = _TOKEN.findall(text)
    for place, piece in enumerate(found):
        following = found[place + 1] if place + 1 < len(found) else ""
        row.extend(_letter(piece, row[-1] if row else "", following))
    return "".join(row)


def _letter(piece: str, before: str, following: str) -> str:
    first, word = piece[0], piece.lower()
    if first == "@":
        return "@'" if len(piece) > 1 else "@"
    if not first.isalnum():
        return "-" if first in "–—-→" else "," if first == "+" else piece if first.isascii() else ""
    if first.isdigit():
        return "N"
    if piece == "AM" or word.endswith(("'s", "’s")):
        return "w" if piece == "AM" else "D"
    # "onyx-renderer is": a name of its own.
    if not before and _JOINED.search(piece) and following.lower() in _IS:
        return "K"
    return _joining(word, before, following) or _known(word, before) or _shaped(piece, before)


def _joining(word: str, before: str, following: str) -> str:
    """Words that are another thing beside the phrase, or behind a noun."""
    if following.startswith("@"):
        if word in {"this", "that", "these"}:
            return "J"
        if word in _BOUNDING:
            return "q"
    if word == "which" and before:
        return "T"
    if word in {"that", "who", "whose"} and before in _SOMETHING_BEFORE:
        return "T"
    if word == "that" and before and before in "VXLP":
        return "T"
    if word == "since" and following[:1].isdigit():
        return "Q"
    return "W" if word == "when" and following.lower() in lexicon.FINITE else ""


def _known(word: str, before: str) -> str:
    letter = _CLASS.get(word, "")
    if not letter and word.startswith("re"):  # "rewrote"
        letter = _CLASS.get(word[2:], "")
    if letter == "L" and before and before not in _SUBJECT_BEFORE:
        return "w"
    if letter == "V" and word in _SAME and (not before or before in ".:;,-CaF"):
        return "w"
    if word in {"do", "read", "run"} and before and before in "aUuFM":
        return "w"
    if letter and letter in "VUX" and before and before in "DA":  # "the plan", "a run"
        return _plain(word)
    return letter


def _shaped(piece: str, before: str) -> str:
    word, noun = piece.lower(), bool(before) and before in "DA"
    if word.endswith("ed") and len(word) > 3 and word not in _NO_ED:
        return "w" if noun else "V"
    if word.endswith("ing") and len(word) > 4:
        return "w" if noun or before in {"K", "w"} else "G"
    if word.endswith("ly") and len(word) > 4:
        return "R"
    opens = not before or before in _OPENING
    if piece[0].isupper() and not (opens and word.endswith("s")):
        return "K"
    return _plain(word)


def _plain(word: str) -> str:
    return "E" if _PLURAL.fullmatch(word) else "w"


Known = Literal["known", "any", "bare", "none"]

_STOPS = ";:().!?-|WIShTZ"
_VERBAL = frozenset("XBHFMUuOLVG")
_GROUP = re.compile(r"[XBHFMUuOL](?:R*[VXBHGU])*|V")
_FRONTED = "QqafRC,"  # "in the end, @": what may stand before a phrase that opens its clause
_LEADING = re.compile(r"^(?:[RC,'\"-]|[Qaf][^,]*,)*")
_NOUN = re.compile(r"[DAenNKPJY@][wEKGN']*$")
_OBJECT = re.compile(r"[wK]E(?=[EwKDAe])")  # "the plugin marks files touched @": behind a verb in -s
# "the bug we hit @", "a question the user asked @".
CONTACT = re.compile(r"[wEKN][PYJ]$|[AeDNK][wEKN]*[wEKN]D[wKGN]*$")
_KNOWN_HEAD = re.compile(r"(?:[DN@][wKGN]*|N[wEKGN]*|K|P[wE]?)(?:[PYJ]|D[wKGN]*)$|D[wEKGN]*P$")

_BACK = re.compile(r"\b(?:yester\w*|last|ago|previous|past|earlier|this morning)\b", re.IGNORECASE)
_AHEAD = re.compile(r"\b(?:to?m+or+ow?|tmrw|next|coming|later|tonight|from now|hence)\b|^in\b", re.IGNORECASE)
_LONE = re.compile(r"^(?:today|tonight|yesterday|tomorrow)\b|\bago$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """`ahead` is -1 for yesterday, 1 for tomorrow, 0 where the words do not say."""

    text: str
    ahead: int
    lone: bool  # a word like "today", or "two days ago": never behind "in" or "on"


def phrase_of(text: str) -> Phrase:
    ahead = -1 if _BACK.search(text) else int(bool(_AHEAD.search(text)))
    return Phrase(text, ahead, bool(_LONE.search(text)))


@dataclass(frozen=True, slots=True)
class Clause:
    """Rows of letters: `left` and `right` of the phrase, `before` and `after` the clause, which begins with `opener`.

    `verb` begins with the letter of what the phrase goes with, or with `v` for a participle ("an order placed @ is"), followed
    by the verb of the sentence; empty where there is none. `subject` is what stands before it.
    """

    opener: str
    subject: str
    verb: str
    left: str
    right: str
    before: str
    after: str

    @property
    def fronted(self) -> bool:
        return not self.left.strip(_FRONTED)

    @property
    def in_subject(self) -> bool:
        """ "the release of last week is": the phrase belongs to a noun, and the verb comes after it."""
        return bool(self.verb) and not self.fronted and not has_verb(self.left)

    @property
    def who(self) -> Known:
        """Of whom it is said: this one, one of many or whichever, a plain "orders", or nobody."""
        row = _LEADING.sub("", self.subject)
        if len(row) > 1:
            row = re.sub(r"[qafQ]?R*@$", "", row) or row
        if not row:
            return "none"
        objects = list(_OBJECT.finditer(row))
        row = row[objects[-1].end() :] if objects else row
        if CONTACT.search(row):
            return "known" if _KNOWN_HEAD.search(row) else "any"
        if "V" in row and row[0] not in "DK":  # "tokens issued today"
            return "any"
        noun = _NOUN.search(row)
        first = (noun[0] if noun else row)[0]
        if first in "AeY":
            return "any"
        if first == "K" and row.endswith("E"):  # "Large models"
            return "bare"
        return "known" if noun or first in "DKNnPJ@" else "bare"


def clause_of(row: str) -> Clause:
    """The clause in which `@` stands; `row` is what `letters` gave."""
    at = row.index("@")
    begin = _begin(row, at)
    stop = _stop(row, at, row[begin:at])
    opener = row[begin - 1] if begin else ""
    left, right = row[begin:at], row[at + 1 : stop]
    subject, verb = _verb(left, right, opener)
    return Clause(opener, subject, verb, left, right, row[: max(begin - 1, 0)], row[stop:])


def has_verb(row: str) -> bool:
    return not _VERBAL.isdisjoint(row)


def _begin(row: str, at: int) -> int:
    place = at
    if row[at - 1 : at] in {",", "C"} and re.match("[PDKJNAYwEe]", row[at + 1 :]) and has_verb(row[at + 1 :]):
        return at  # "and today I will ..."
    while place and row[place - 1] not in _STOPS:
        if row[place - 1] in ",C" and has_verb(row[place:at]):
            break
        place -= 1
    return place


def _stop(row: str, at: int, left: str) -> int:
    place = at + 1
    fronted = not left.strip(_FRONTED)
    if row[place : place + 1] == "," and fronted:
        place += 1
    while place < len(row) and row[place] not in _STOPS:
        if row[place] in ",C" and (not fronted or has_verb(row[at + 1 : place])):
            break
        place += 1
    return place


def _verb(left: str, right: str, opener: str) -> tuple[str, str]:
    groups = list(_GROUP.finditer(left))
    later = _GROUP.search(right)
    if (
        not groups and not left.strip(_FRONTED) and re.match(",?P[wE]", right)
    ):  # "next week we build what you can use"
        return "P", ""
    if not groups:
        return (left + "@" + right[: later.start()], later[0]) if later else (left, "")
    last = groups[-1]
    others = [group.end() for group in groups[:-1] if group[0] != "V"]
    subject = left[others[-1] if others else 0 : last.start()]
    if opener != "T" and later and not re.match("R*[QafG]", right) and _participle(last[0], later[0]):
        return subject, "v" + later[0]
    return subject, last[0]


def _participle(verb: str, later: str) -> bool:
    if verb == "X":
        return later[0] not in "VX"
    return verb[0] in "VU" and later[0] != "V"


_TOLD = re.compile("X|F|[PKJ]V|^[-RC]*V")
# "Should we ...", "would it ...", "why not ...", "had we ...", "when a user signs up, ...": only thought of, or each time.
# "Lists what ...", "Resolves one ...": what something does.
_THOUGHT = re.compile(r"[-RC, ]*(?:u[PJDKA]|M(?![YP])|WR|WI|I|h[^,XV]*,|E[NADew])")


def in_doubt(row: str, clause: Clause) -> bool:
    """A thought, a condition, a comparison, or what is not sure."""
    within = clause.before + clause.left + clause.verb
    unsure = "d" in within and "Xd" not in within
    on_condition = clause.fronted and clause.right in {"", ","} and clause.after.startswith("I")
    return bool(_THOUGHT.match(row)) or clause.opener in {"I", "Z"} or unsure or on_condition


def witnessed(clause: Clause) -> bool:
    """ "the bug we hit last year": in code, only what somebody did is told."""
    return clause.subject.endswith("P") and clause.verb[:1] in {"X", "V"}


def asked(row: str, clause: Clause) -> bool:
    """A question about what was or will be; "what" and "who" elsewhere stand for whatever there is."""
    if _TOLD.search(row[: row.index("W")]) or re.match("[BXOHF].*[?]", row):
        return True
    if clause.before.strip(" ,-CR"):
        return False
    if re.match("P.*[XV]", clause.left) and clause.right[:1] in {"B", "X"}:  # "what we agreed on @ is ..."
        return True
    if re.match("[BXOHFM]", clause.left):
        return "?" in row or not re.search("[XBHFMUuO]", clause.left[1:] + clause.right)
    return row.endswith("?") and bool(re.search("[XV]", clause.left))


def _relative(clause: Clause, phrase: Phrase) -> bool:
    """ "the bug that we fixed @" tells of one, "pages that changed @" of whichever; what was told of any is told."""
    before = clause.before
    if clause.verb.startswith("F") or re.search("[VXH]R*$", before):  # "he said that it ships @"
        return True
    if before.endswith((",", "(")) and clause.verb[:1] in {"X", "V"}:  # ", which broke @": an afterthought
        return True
    if re.search("[WIhZ]", before):
        return False
    if _TOLD.search(before) or re.match("[^.;,hSI]*X", clause.after) or re.search("JBA[wEKN]*$", before):
        return True
    if clause.left[:1] in {"D", "K"} and re.search(
        "[wK]E$", before
    ):  # "the graph shows that the disk filled up @"
        return True
    if clause.left.startswith("P") and not re.search("[AenE][wEKN]*$", before):
        return True
    return bool(re.search("(?:[DN]'?[wKGN]*|N[wEKGN]*|K)[,(]?$", before))


def _whenever(clause: Clause, phrase: Phrase) -> bool:
    return bool(re.search("[XF]", clause.before + clause.after)) and clause.verb[:1] in {"X", "V"}


def _reason(clause: Clause, phrase: Phrase) -> bool:
    if not clause.verb:  # "since the outage last night"
        return clause.left[:1] in set("DK")
    past = re.search("[XV]", clause.before + clause.after)
    since = clause.left.endswith("q") and clause.verb[:1] in {"B", "H"}
    return bool(past) or since or clause.who == "known" or phrase.ahead > 0


def _label(clause: Clause, phrase: Phrase) -> bool:
    """Not a setting or a quotation behind its label: "Default range: last month", "the error says: try again tomorrow"."""
    if re.search("[wK][EB]$", clause.before):
        return False
    alone = not clause.left and re.match("[.,]?$|,[wK]", clause.right + clause.after)
    return not alone or phrase.text.endswith("ago")


_OPENERS: dict[str, Callable[[Clause, Phrase], bool]] = {
    "T": _relative,
    "h": _whenever,
    "S": _reason,
    ":": _label,
}


def can_tell(clause: Clause, phrase: Phrase) -> bool:
    """Whether the clause, by what begins it, may tell of one thing that is or was."""
    judge = _OPENERS.get(clause.opener)
    return judge is None or judge(clause, phrase)
