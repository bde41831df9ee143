"""Text that speaks to an agent instead of telling it something, and what smuggles things in. PURE.

These are warnings: a memory may well say "never ask before formatting". A person decides, knowing it is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import re2

from dreams.findings import facts
from dreams.findings.added import Line, added_lines, new_lines, standing_lines
from dreams.findings.base import Found, Subject
from dreams.text import decode

CHECK = "injection"
LONG_LINE = 1000
_MAX = 20_000  # characters of one line that are looked at


@dataclass(frozen=True, slots=True)
class _Rule:
    code: str
    pattern: object
    says: str
    remedy: str


def _rule(code: str, pattern: str, says: str, remedy: str) -> _Rule:
    return _Rule(code, re2.compile(pattern), says, remedy)


_READ = "Read the line as an agent would, and leave it out if it gives orders that you did not give."
_RULES = (
    _rule("role-tag", r"(?i)</?(?:system|assistant|user|human|instructions?|admin|developer|tool_(?:use|result|call)|function_calls?|antml:[a-z_]+|system[-_]reminder|important|command-name)\b[^>\n]{0,200}>|\[/?INST\]|<\|[a-z_]{2,30}\|>|^\s*#{0,6}\s*(?:system|assistant|human)\s*:", "uses a role or XML tag, as prompts do", _READ),
    _rule("ignore-previous", r"(?i)\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:previous|prior|earlier|above|preceding|all|other|your|any|system|safety)\b[^.\n]{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|messages?|context|restrictions?|training|guardrails?)\b|\byou are now\b|\bnew instructions?:|\bfrom now on,? you\b", "tells an agent to ignore its instructions", _READ),
    _rule("permission", r"(?i)\b(?:never ask|don['’]t ask|do not ask|without asking|no need to ask|without (?:confirmation|approval|permission)|skip (?:the )?(?:confirmation|approval|permission)s?|always (?:allow|approve|accept)|auto[- ]?(?:approve|accept)s? (?:all|any|every|everything|tools?|commands?|permissions?|changes|edits)|pre-?approved|(?:don['’]t|do not|never) (?:tell|inform|mention|notify|warn|reveal|show)[^.\n]{0,20}\b(?:user|human|person|anyone|anybody)|keep (?:this|it) (?:secret|hidden|from the user)|silently (?:run|execute|send|post|upload|fetch|delete|write|add|push|commit|install|allow|approve|accept))\b|--no-verify\b|--dangerously[a-z-]*|--yolo\b|--force-yes\b|bypassPermissions|skip[-_]?permissions|chmod (?:-R )?777", "gives an agent leave to do things unasked or unseen", "Make sure that you want this of every future session, or reject the hunk."),
    _rule("delayed-trigger", r"(?i)\b(?:when(?:ever)?|if|once|after|next time|as soon as|every time)\b[^.\n]{0,80}\b(?:user|human|person|someone|anyone|session|conversation|you)\b[^.\n]{0,40}\b(?:says?|asks?|types?|mentions?|starts?|begins?|opens?|logs? in|replies|responds|thanks|confirms?|see|read)\b[^.\n]{0,100}[\s,:;](?:run|execute|send|post|upload|fetch|curl|download|delete|write|save|store|add|call|email|e-mail|forward|commit|push|install)\b", "waits for a moment to act on", _READ),
    _rule("markdown-image", r"!\[[^\]\n]{0,300}\]\s?[(\[]", "shows an image: loading it can carry data away", "Leave the image out, or name the file in words."),
    _rule("raw-html", r"(?i)<!--|<(?:script|iframe|img|style|link|meta|object|embed|form|input|svg|base|video|audio|a|div|span|details|button|table|body|html|br|p|font|marquee|math|template|noscript)\b[^>\n]{0,300}/?>|\bon(?:load|error|click|mouseover)\s?=|javascript:", "holds raw HTML or a comment, which the rendered view does not show", "Write it as plain Markdown."),
    _rule("credential-path", r"(?i)(?:~|\$HOME|/home/[\w.-]+|/Users/[\w.-]+|/root)?/?\.(?:ssh|aws|gnupg|kube|docker/config\.json|netrc|pgpass|npmrc|pypirc|git-credentials|config/gcloud|config/gh|azure|terraform\.d)\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:passwd|shadow|sudoers)\b|\bcredentials\.json\b|\bservice[-_]account[\w-]*\.json\b|(?:^|[\s`\"'/(])\.env(?:\.[a-z]+)?(?:$|[\s`\"',;:)])|\bkeychain\b|\bLogin Data\b", "names a place where credentials are kept", "Make sure that a session needs to know this path."),
    _rule("pipe-to-shell", r"(?i)\b(?:curl|wget|iwr|irm)\b[^\n]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da|fi)?sh\b|\b(?:eval|exec)\b\s*[\"'(]?\$\(|\bbase64\s+(?:-d|--decode|-D)\b|\b(?:nc|ncat|netcat)\s+-[a-z]*e|/dev/tcp/|\brm\s+-[a-z]*r[a-z]*f?\s+[/~]|\bpowershell\b[^\n]{0,80}-enc", "runs something that cannot be read first", "Leave the command out, or name the script's place in words."),
    _rule("encoded-blob", r"\b(?:[A-Za-z0-9+/]{4}){16,}[A-Za-z0-9+/]{0,3}={0,2}|\b(?:[0-9a-fA-F]{2}){33,}\b|(?:\\x[0-9a-fA-F]{2}){8,}|(?:&#x?[0-9a-fA-F]{2,6};){4,}|(?:%[0-9A-Fa-f]{2}){10,}", "holds an encoded block that nobody can read", "Leave the block out, or say in words what it is."),
)  # fmt: skip
_COMMAND = re2.compile(
    r"(?i)\b(?:sudo|curl|wget|pip3?|pipx|uv|npm|npx|pnpm|yarn|bun|brew|apt(?:-get)?|dnf|yum|apk|pacman|cargo|go|gem|composer|choco|winget|scoop|docker)\s+"
    r"(?:install|add|i|get|exec|dlx|run|pull|tap|global add|-[a-zA-Z-]+|https?://)\s*(?P<what>[^\s`\"']{0,200})"
)
_MIXED = re.compile(r"[^\W\d_]{2,}")
_NEVER, _ALWAYS = (
    re.compile(r"\b(?:never|do not|don['’]t|must not)\b", re.I),
    re.compile(r"\b(?:always|must(?! not))\b", re.I),
)


def check(subject: Subject) -> Iterator[Found]:
    for line in new_lines(subject):
        yield from _in_line(line)
    yield from _new_hosts(subject)
    yield from _new_commands(subject)
    for hunk in subject.hunks:
        if not hunk.by_hand:
            yield from _flips(hunk.path, hunk.hunk_id, hunk.new_start, hunk.removed, hunk.added)


def standing(subject: Subject) -> Iterator[Found]:
    for line in standing_lines(subject):
        yield from _in_line(line)


def _in_line(line: Line) -> Iterator[Found]:
    text = _clean(line.text)
    for rule in _RULES:
        match = rule.pattern.search(text)  # type: ignore[attr-defined]  # re2 has no types
        if match and not (rule.code == "raw-html" and _is_plain_comment(text)):
            yield _found(line, rule.code, f"{rule.says}: “{_short(match[0])}”", rule.remedy)
    yield from _shape(line, text)


def _is_plain_comment(text: str) -> bool:
    """Placeholders such as `<a>` in code are told by the rule already; an index may keep its section marks."""
    return bool(re.fullmatch(r"\s*<!--\s*/?[\w:-]{1,40}\s*-->\s*", text))


def _shape(line: Line, text: str) -> Iterator[Found]:
    if len(line.text) > LONG_LINE:
        yield _found(
            line, "long-line", f"is {len(line.text):,} characters long", "Cut it into shorter statements."
        )
    mixed = next((word for word in _MIXED.findall(text) if _mixed(word)), None)
    if mixed:
        yield _found(
            line,
            "mixed-script",
            f"has a word with letters of two scripts: “{_short(mixed)}”",
            "Type the word anew, or reject the hunk.",
        )


def _mixed(word: str) -> bool:
    """Latin beside Cyrillic or Greek letters that look alike; one Greek letter in front of a unit is none."""
    latin = any(char.isascii() and char.isalpha() for char in word)
    other = sum("\u0370" <= char <= "\u052f" and char not in "µμΩΔπλαβγδεσφ" for char in word)
    return latin and other > 0


def _found(line: Line, code: str, says: str, remedy: str) -> Found:
    about = " ".join(line.text.split())[:300]
    return Found(
        CHECK,
        code,
        "warn",
        f"{line.path}, line {line.number} {says}.",
        remedy,
        line.path,
        line.hunk_id,
        line.number,
        about,
    )


def _new_hosts(subject: Subject) -> Iterator[Found]:
    """Hosts that stood in no memory before and that no user typed."""
    known = _hosts(decode(data) for data in subject.before.values()) | _hosts(_user_quotes(subject))
    for line in added_lines(subject):
        for url in sorted(facts.urls(line.text)):
            host = _host(url)
            if host and host not in known:
                yield _found(
                    line,
                    "new-host",
                    f"brings in a host that no memory named before: {_short(host)}",
                    "Make sure that you know this address.",
                )


def _user_quotes(subject: Subject) -> list[str]:
    return [
        citation.quote + "\n" + citation.context
        for hunk in subject.hunks
        for citation in hunk.citations
        if citation.found and citation.role == "user"
    ]


def _hosts(texts: Iterable[str]) -> set[str]:
    return {_host(url) for text in texts for url in _urls(text)}


def _urls(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if "://" in line:
            yield from facts.urls(line)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return url[:100]


def _new_commands(subject: Subject) -> Iterator[Found]:
    """Install lines and downloads that nobody typed and no memory had."""
    known = " ".join([*(decode(data) for data in subject.before.values()), *_user_quotes(subject)])
    for line in added_lines(subject):
        for match in _COMMAND.finditer(_clean(line.text)):
            what = match["what"].strip(".,;:)")
            if match[0].strip() not in known and (not what or what not in known):
                yield _found(
                    line,
                    "unasked-command",
                    f"has a command that no user turn mentions: “{_short(match[0])}”",
                    "Make sure that you want it run, or reject the hunk.",
                )


def _flips(
    path: str, hunk_id: str, start: int, removed: tuple[str, ...], added: tuple[str, ...]
) -> Iterator[Found]:
    """A rule that was turned into its opposite, the rest of the line alike."""
    for offset, new in enumerate(added):
        for old in removed[:200]:
            if _polarity(old) * _polarity(new) == -1 and facts.coverage(_bare(old), _bare(new)) >= 0.6:
                line = Line(path, start + offset + 1, new)
                yield Found(
                    CHECK, "rule-flipped", "warn", f"{path}, line {line.number} turns a rule round: “{_short(old.strip())}” is now “{_short(new.strip())}”.",
                    "Make sure that the rule changed indeed.", path, hunk_id, line.number, " ".join(new.split())[:300],
                )  # fmt: skip
                break


def _polarity(text: str) -> int:
    return bool(_ALWAYS.search(text)) - bool(_NEVER.search(text))


def _bare(text: str) -> str:
    return _ALWAYS.sub("", _NEVER.sub("", text))


def _clean(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text[:_MAX])


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"
