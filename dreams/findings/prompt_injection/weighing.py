"""What of all the ways to steer an agent holds in one line: signs that tell by themselves, and weaker ones where enough of them meet. PURE.

Also behind a disguise: letters spread, turned round or encoded.
"""

import codecs
import functools
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from dreams.findings.prompt_injection import signs as s
from dreams.findings.prompt_injection.exfiltration import ABROAD, SENDING
from dreams.findings.prompt_injection.hiding import HIDING, MARKUP
from dreams.findings.prompt_injection.instructions import AUTHORITY_CLAIMED, INSTRUCTIONS, LEAVE, PROTECTION
from dreams.findings.prompt_injection.orders import ACCESS, MACHINE, ORDERS
from dreams.findings.prompt_injection.signs import Sign, bears
from dreams.findings.prompt_injection.text import PatternIndex, Text, words

_READ = "Remove it unless you gave this instruction yourself."
_COMMAND = "Remove the command; a session can ask you when it needs it."
# What a page shows or a machine runs; the rest is said to an agent, and is told behind a disguise too.
SILENT = frozenset({
    "agent-settings", "credential-path", "destructive-command", "disguised", "encoded-blob", "markdown-image",
    "raw-html",
})  # fmt: skip
# Each code: what is said behind "user_a.md, line 3", and what to do.
ADVICE: dict[str, tuple[str, str]] = {
    "access-granted": ("gives someone access, or an agent more rights", "Remove it. Give access yourself, where you can see who has it."),
    "agent-order": ("gives orders to any agent that reads it", _READ),
    "agent-settings": ("changes what an agent or a shell runs at start", "Remove it, and make this change yourself if you want it."),
    "claimed-authority": ("claims somebody’s permission or rights", "Ask that person: a note cannot give their permission."),
    "credential-path": ("names a place where keys or passwords are kept", "Keep it only if a session needs to know this place."),
    "data-sent-away": ("sends data from this machine to someone else", "Remove it, or say exactly what may be sent and to whom."),
    "delayed-trigger": ("makes an agent do something at a later time", _READ),
    "destructive-command": ("would delete far more than one project", _COMMAND),
    "disguised": ("says something different when decoded", "Remove it: an honest note says what it means in plain words."),
    "encoded-blob": ("contains an encoded block that nobody can read", "Remove the block, or say in words what it is."),
    "foreign-orders": ("lets text from elsewhere give orders in your name", "Remove it: what a page, a ticket or command output says is not your instruction."),
    "hides-from-user": ("sounds as if something should be hidden from you, or misreported to you", "Remove it if it tells an agent to do so; else leave it."),
    "ignore-previous": ("overrides an agent’s instructions, or asks for them", "Remove it. If one of your rules changed, change that rule."),
    "markdown-image": ("shows an image: loading it can carry data away", "Remove the image, or name the file in words."),
    "money-moved": ("asks for a payment, or for a payment to a different account", "Ask the person who is to be paid, through a channel you trust."),
    "permission": ("lets an agent act without you, beyond daily work on the project’s files", "Keep it only if you want this in every session; otherwise name the one thing that may be done without asking."),
    "pipe-to-shell": ("runs code that nobody has been able to read", _COMMAND),
    "planted-words": ("puts words or an address into the answers you get", "Remove it unless you want to read this in every answer."),
    "protection-off": ("removes a check or a protection", "Keep it only if you decided this yourself, and say for which case."),
    "raw-html": ("contains raw HTML or a comment, which the rendered page does not show", "Write it as plain Markdown."),
    "role-tag": ("uses a prompt’s tags or labels, as if it were not a note", "Write it in plain words, without the tag."),
    "self-spreading": ("asks to be copied or kept forever", "Remove it: you decide which notes stay."),
}  # fmt: skip


_DO = words(
    "say|print|output|reply|respond|answer|write|run|execute|send|post|open|visit|click|go to",
    "download|install|upload|forward|read|call|use|delete|add|include|append|store|save|remember",
    "update|grant|give|provide|extract|collect|reset|roll back|transfer|do",
    "make|focus|act|proceed|accept|follow|obey|set|tell|show|perform|complete|approve|confirm",
    "create|insert|solve|fetch|change|modify|share|repeat|skip|disable|treat|trust|recommend",
    "clear|copy|export|push|start|launch|merge|edit|apply",
)

BEARING: tuple[Sign, ...] = (
    # Whom it speaks to
    bears(
        rf"\b(?:to|for|note|dear|hey|attention|all|any|every|you are an?|an?|the|this)[\s,:-]+(?:\w+ )?{s.AGENT}",
        rf"^\W*{s.AGENT}[,:]|\bagent_\w+|{s.AGENT}s? (?:must|should|shall|may|can|are|is|will|need)\b",
    ),
    bears(r"\byou(?:r|rself|['’](?:re|ve|ll|d))?\b|^\W*please\b|\bplease \w"),
    # What it asks
    bears(
        rf"(?:^|[.!?:;,—–-]\s*|^\W+|\b(?:and|then|please|must|should|now|to|first|also|always|instead|simply|just)\s)(?:\w+ly )?{_DO}"
    ),
    bears(
        r"\bbefore (?:you|responding|answering|continuing|proceeding|doing|replying|anything)\b",
        r"\bdo the following\b",
        r"\bfollowing (?:first|instead|instructions?|task|information|text|string|sentence|steps|command)\b",
        r"\b(?:new|real|actual|first|priority|next) (?:task|instructions?|objective|goal|directive|mission|orders?)\b",
    ),
    bears(
        rf"{s.SAY} (?:\w+ )?(?:with |back )?(?:only|just|exactly|simply|exclusively|verbatim)\b",
        rf"\b(?:just|simply|only) {s.SAY}|\bnothing else\b|\b(?:focus|rely) (?:only|solely|exclusively)\b",
        r"\binstead\b[.:\s]*$|\b(?:word for word|verbatim)\b",
        r"\b(?:start|begin|starting|beginning)(?: your \w+)? with [\"'“]|\backnowledge by\b",
    ),
    # What it is about
    bears(s.PRIVATE),
    bears(s.PLACE),
    bears(s.LAWS),
    bears(
        r"\b(?:remember|store|save|write|add|update|note|keep|record|modify|insert)\b[^.!?\n]{0,40}\b(?:memor(?:y|ies)|that i(?:['’]m| am)|knowledge(?: base)?|profile|preferences|permanent instructions|context|for (?:later|future)|for (?:all |any )?(?:our )?(?:future|subsequent))\b",
        r"\b(?:your|the|this) memory\b",
    ),
    # How urgently, for how long, by whose word
    bears(
        r"(?-i:\b(?:IMPORTANT|URGENT|CRITICAL|MANDATORY|ATTENTION|WARNING|PRIORITY|EMERGENCY|IMMEDIATELY|STOP|NOTICE|OVERRIDE)\b)",
        r"\b(?:extremely|really|absolutely|very|utmost) (?:important|urgent|critical|crucial)",
        r"\b(?:immediately|straight away)\b|\bit is (?:crucial|critical|imperative|vital|essential)",
        r"\bhighest (?:priority|law)|\bat all costs\b|\bno exceptions\b|!!",
        r"\b(?:emergenc(?:y|ies)|crisis|urgent)\b",
    ),
    bears(
        r"\bfrom (?:now|this point|here) on\b",
        r"\b(?:future|subsequent|later|all|every|each|next|any) (?:\w+ )?(?:conversations?|sessions?|interactions?|requests?|chats?|responses?|repl(?:y|ies)|messages?|answers?|turns?|tasks?|commits?)\b",
        r"\bpermanent\w*\b|\balways\b|\bfor later\b|\bwhen(?:ever)?\b|\b(?:any|every|each) time\b",
        r"\bnever\b",
    ),
    bears(
        r"\b(?:security|IT|compliance|platform|legal|senior|management|executive|vendor)(?:['’]s)?(?: \w+)? (?:team|department|management|policy|officer|research\w*|protocol|administrator)\b",
        r"\b(?:approved|verified|authori[sz]ed|confirmed|pre-verified|permitted|sanctioned) by\b",
        r"\bcompany policy\b",
        r"\b(?:i am|i['’]m) (?:your |an? |the )?(?:\w+ )?(?:admin\w*|developer|owner|creator|engineer|manager|user)\b",
        r"\bfor (?:testing|debugging|quality assurance|security|audit|troubleshooting|maintenance)(?: purposes| reasons)?\b",
        r"\b(?:security|safety|compliance) (?:audit|check|review|reasons|verification)\b",
    ),
    # How lightly
    bears(
        r"\b(?:while|when) you(?:['’]re| are) (?:at it|there|here|done|reviewing|fixing)\b",
        r"\bby the way\b|\bp\.?s\.",
        r"\b(?:please also|also,? please|(?:can|could|would) you(?: please)?(?: also)?)\b",
        r"\bit(?:['’]d| would) (?:be|help|really)\b|\bjust fyi\b|\bwould you mind\b",
        r"\bi['’]?d (?:love|rather|prefer|really)\b",
    ),
    bears(s.EASE),
)

MOST = 4_000  # characters of a line that are looked at
MOST_CODED = 6  # encoded words of a line
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}[^%\s]{0,20}){3}")
_ENTITY = re.compile(r"(?:&#x?[0-9a-fA-F]{2,6};){3}")
_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}){3}")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_SPREAD = re.compile(r"(?<!\w)(?:\w[ .·_-]){5,}\w(?!\w)")
_JOINED = re.compile(r"(?<![\w/])[A-Za-z]{2,}(?:[_.·*~|-][A-Za-z]{2,}){3,}")
# In a sentence, not in code or a link.
_IN_PROSE = re.compile(rf"(?<!\S){_JOINED.pattern}(?![^\s.,;!?])")
_LEET = re.compile(r"[A-Za-z][0-9@$!|]+[A-Za-z]|[0-9@$!|][A-Za-z]+[0-9@$!|]")
_DIGITS = str.maketrans("0134578@$!|", "oieastbasii")
_DIGITS_L = str.maketrans("0134578@$!|", "oleastbasll")
_CODED = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BITS = re.compile(r"(?:[01]{8}[ ]?){4,}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){12,}")
_COMMON = re.compile(
    r"\b(?:the|and|all|you|not|user|run|this|ignore|previous|rules|instructions)\b", re.IGNORECASE
)
LEAST_COMMON = 2  # everyday words that a line read backwards must have: one comes by chance


def uncovered(text: str) -> Iterator[str]:
    """Other readings of `text`, each only where something hints at it; most lines have none."""
    text = text[:MOST]
    if _PERCENT.search(text):
        yield unquote(text, errors="replace")
    if _ENTITY.search(text):
        yield html.unescape(text)
    if _ESCAPE.search(text):
        yield _ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), text)
    if _SPREAD.search(text):
        yield _close_up(text)
    if _IN_PROSE.search(text):
        yield _IN_PROSE.sub(_apart, text)
    if len(_LEET.findall(text)) >= 2:
        yield text.translate(_DIGITS)
        yield text.translate(_DIGITS_L)
    if not _COMMON.search(text):
        yield from _turned(text)
    yield from filter(None, _decoded(text))


def _apart(name: re.Match[str]) -> str:
    return re.sub("[^A-Za-z]", " ", name[0])


def _close_up(text: str) -> str:
    """ "i g n o r e   a l l" and "i.g.n.o.r.e a.l.l" as words: wider gaps, or the gaps of another sign, part them."""
    if re.search(r"\b\w[.·_-]\w[.·_-]\w", text):
        return re.sub(r"(?<=\b\w)[.·_-](?=\w\b)|(?<=_\w)_(?=\w)|(?<=\b\w)_(?=\w_)", "", text)
    return re.sub(r"(?<=\b\w) (?=\w\b)", "", re.sub(r" {2,}", "\t", text)).replace("\t", " ")


def _turned(text: str) -> Iterator[str]:
    """Backwards, or each letter thirteen on; read so only where that gives everyday words."""
    for other in (text[::-1], codecs.encode(text, "rot13")):
        if len(_COMMON.findall(other)) >= LEAST_COMMON:
            yield other


def _decoded(text: str) -> Iterator[str]:
    for match in list(_CODED.finditer(text))[:MOST_CODED]:
        yield s.from_base64(match[0].replace("-", "+").replace("_", "/").rstrip("="))
    for match in list(_BITS.finditer(text))[:MOST_CODED]:
        yield s.printable(bytes(int(bits, 2) for bits in re.findall("[01]{8}", match[0])))
    for match in list(_HEX.finditer(text))[:MOST_CODED]:
        digits = re.sub(r"[^0-9a-fA-F]", "", match[0])
        yield s.printable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


SPOKEN = ADVICE.keys() - SILENT
WINDOW = 2  # sentences read together: "Always run it unasked. Remember this."
ILL = (
    *INSTRUCTIONS,
    *LEAVE,
    *PROTECTION,
    *ACCESS,
    *AUTHORITY_CLAIMED,
    *HIDING,
    *ORDERS,
    *SENDING,
    *MACHINE,
    *MARKUP,
    *ABROAD,
)
_CLEAR = tuple(sign for sign in ILL if sign.weight >= s.ENOUGH)
_WEAK = tuple(sign for sign in ILL if sign.weight < s.ENOUGH)
INDEX = PatternIndex(idea for sign in (*ILL, *BEARING) for idea in sign.ideas)
_END = re.compile(r"(?<=[.!?;])[\"')\]]*\s+")


def said(line: str) -> dict[str, str]:
    """The codes that hold in a line, each with its words; what is told clearly needs no weighing."""
    text = Text(line, INDEX)
    found: dict[str, str] = {}
    if not text.possible:  # as in four of five lines
        return found
    for sign in _CLEAR:
        place = None if sign.code in found else sign.found(text)
        if place:
            found[sign.code] = place.quote
    return found if SPOKEN & found.keys() else found | _weighed(text)


def _weighed(whole: Text) -> dict[str, str]:
    """The codes of the weak signs that steer in some window of a line; most lines have none."""
    weak = [sign for sign in _WEAK if sign.found(whole)]
    for text in _windows(whole) if weak else ():
        met = [(sign, place) for sign in weak if (place := sign.found(text))]
        weights: dict[str, int] = {}
        for sign, _ in met:  # two ways to say one thing are one sign
            weights[sign.code] = max(sign.weight, weights.get(sign.code, 0))
        borne = sum(sign.weight for sign in BEARING if sign.found(text)) if met else 0
        if met and sum(weights.values()) + borne >= s.ENOUGH:
            return {sign.code: place.quote for sign, place in met}
    return {}


def _windows(whole: Text) -> Iterator[Text]:
    """Each pair of sentences that follow each other; a line of one or two is one."""
    sentences = _END.split(whole.text)
    if len(sentences) <= WINDOW:
        yield whole
        return
    for at in range(len(sentences) - WINDOW + 1):
        yield Text(" ".join(sentences[at : at + WINDOW]), INDEX)


MOST_KEPT = 20_000  # lines remembered: the same ones stand before and after a change


@dataclass(frozen=True, slots=True)
class Steering:
    """One code of `ADVICE` that holds in a line, with the words that it is about."""

    code: str
    words: str

    @property
    def says(self) -> str:
        return ADVICE[self.code][0]

    @property
    def remedy(self) -> str:
        return ADVICE[self.code][1]


@functools.lru_cache(maxsize=MOST_KEPT)
def told(text: str) -> tuple[Steering, ...]:
    """What holds somewhere in one line, each code once, and what it says behind a disguise."""
    names = map(_apart, _JOINED.finditer(text[:MOST]))  # anybody can read them
    spelled = {code: words for each in names for code, words in said(each).items() if code in SPOKEN}
    found = spelled | said(text)
    # Another reading of the line may order what the line itself does not.
    hidden = next((other for other in uncovered(text) if SPOKEN & said(other).keys() - found.keys()), "")
    if hidden:
        found["disguised"] = hidden.strip()
    return tuple(Steering(code, words) for code, words in found.items())
