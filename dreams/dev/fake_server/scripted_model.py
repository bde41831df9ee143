"""A request, and a model that reads it and answers. PURE."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dreams.dev.fake_server.messages import Block, ScriptedReply, Text, Use, as_blocks
from dreams.lib.memdir import INDEX_NAME
from dreams.lib.secrets.redact import MARK


@dataclass(frozen=True, slots=True)
class Request:
    """One request to /v1/messages. `headers` have lower-case names."""

    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        return list(self.body.get("messages") or ())

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(str(tool.get("name")) for tool in self.body.get("tools") or ())

    @property
    def turns(self) -> int:
        """The number of the model's answers so far."""
        return sum(1 for message in self.messages if message.get("role") == "assistant")

    def results(self) -> list[str]:
        """The texts of the tool results in the last message."""
        last = as_blocks(self.messages[-1].get("content")) if self.messages else []
        return [_text(block.get("content")) for block in last if block.get("type") == "tool_result"]

    def text(self) -> str:
        """All text of the last message."""
        last = as_blocks(self.messages[-1].get("content")) if self.messages else []
        return "\n".join(str(block.get("text", "")) for block in last if block.get("type") == "text")


def _text(content: object) -> str:
    return "\n".join(str(block.get("text", "")) for block in as_blocks(content))


class ScriptedModel(Protocol):
    """Chooses the answer to a request. Called from several threads."""

    def step(self, request: Request) -> ScriptedReply: ...


# A model that plays a plausible dream by rules: it reads, searches, writes a few wishes, and reports what
# it did.


MOST_WISHES = 3  # written in one answer; chosen
MOST_READS = 10  # memories that are read; chosen
MOST_TITLE = 60  # characters of a memory's title; chosen
FINDINGS = "<dream-findings>"
ALIKE = 0.6  # share of a wish's words that makes a line say it already; chosen
PATTERN = r'"type":"user".*(remember|from now on|always|never|next time|prefer)'
_TYPED = re.compile(r"^- (?P<session>\S+) line (?P<line>\d+): (?P<text>.+)$", re.MULTILINE)
_LISTED = re.compile(r"^ *\d+ (?P<path>[^\s(]+\.md)$", re.MULTILINE)
_INDEX = re.compile(r"<dream-index>\n(?P<text>.*?)\n</dream-index>", re.DOTALL)
_ROW = re.compile(r"^[-*] \[.+\]\(.+\).*$", re.MULTILINE)
_ASKED = re.compile(r"\b(?:remember|from now on|always|never|next time|i prefer)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:(?:no|and|also|so|ok|okay|please)\b[,.!: ]*)*(?:remember\b(?: that\b| to\b)?[,:]?|from now on\b[,:]?)?\s*",
    re.IGNORECASE,
)
# A title must not end in one of these.
_JOINTS = frozenset("a an the to of in on at with for and or half is are not we it add before after".split())  # noqa: SIM905 - a word list
_IS_SO = re.compile(r"\bremember that\b.*\b(?:is|are|was|were|has|have|needs?|runs?|lives?)\b", re.IGNORECASE)
_HOW_TO = re.compile(r"\b(?:always|never|from now on|do not|don'?t|must|next time)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[A-Za-z0-9]{3,}")


@dataclass(frozen=True, slots=True)
class Wish:
    """Something that a person asked to be remembered, in their own words."""

    session: str
    line: int
    quote: str

    @property
    def text(self) -> str:
        bare = _OPENING.sub("", self.quote).strip()
        bare = bare[:1].upper() + bare[1:]
        return bare if bare.endswith((".", "!", "?")) else bare + "."

    @property
    def kind(self) -> str:
        """The memory type, by a few simple words: about the person, how to work, or a fact of the project."""
        if re.search(r"\bi (?:prefer|like|am)\b", self.quote, re.IGNORECASE):
            return "user"
        return "project" if _IS_SO.search(self.quote) and not _HOW_TO.search(self.quote) else "feedback"

    @property
    def title(self) -> str:
        """The first clause, cut only if long: half a rule may state its opposite."""
        clause = re.split(r"[,;:](?=\s)|\.(?=\s|$)|[!?]", self.text.replace("`", ""))[0].strip()
        if len(clause) <= MOST_TITLE:
            return clause
        words = clause[:MOST_TITLE].split()[:-1]
        while len(words) > 2 and words[-1].lower() in _JOINTS:
            words.pop()
        return " ".join(words) + " …"

    @property
    def path(self) -> str:
        slug = "_".join(re.findall(r"[a-z0-9]+", self.title.lower()))
        return f"{self.kind}_{slug or 'wish'}.md"


class DemoModel:
    """Four turns: orient, gather, consolidate and the summary; one more if the checks found something."""

    def step(self, request: Request) -> ScriptedReply:
        if request.tools and "Phase" not in request.tools:
            # Not a dream but a connection test, which needs a tool call.
            return ScriptedReply((Use(min(request.tools), {"word": "yes"}),))
        if FINDINGS in request.text():
            # The answer to the checks' findings: rules cannot judge them; the person will.
            before = as_blocks(request.messages[-2].get("content"))
            said = "\n".join(str(block.get("text", "")) for block in before).strip()
            return ScriptedReply((Text(f"{said} I left what the checks found for you to weigh."),))
        acts = (self._orient, self._gather, self._consolidate, self._end)
        return acts[min(request.turns, 3)](request)

    def _orient(self, request: Request) -> ScriptedReply:
        paths = [found["path"] for found in _LISTED.finditer(_briefing(request))][:MOST_READS]
        reads = [Use("Read", {"file_path": f"/memory/{path}"}) for path in paths if path != INDEX_NAME]
        return _reply("I look at what is known already.", "orient", *reads)

    def _gather(self, request: Request) -> ScriptedReply:
        search = Use("Grep", {"pattern": PATTERN, "path": "/transcripts", "-i": True, "head_limit": 50})
        return _reply("Now I look for what the sessions teach.", "gather", search)

    def _consolidate(self, request: Request) -> ScriptedReply:
        chosen = wishes(request)
        if not chosen:
            return ScriptedReply(
                (Text("Nothing in these sessions is missing from the memories. I change nothing."),)
            )
        return _reply("These wishes are in no memory yet.", "consolidate", *_writes(request, chosen))

    def _end(self, request: Request) -> ScriptedReply:
        results = request.results()
        failed = sum(result.startswith("Not done") for result in results)
        made = sum(" is made." in result for result in results)
        more = f" {failed} steps could not be done." if failed else ""
        plural = "wish" if made == 1 else "wishes"
        return ScriptedReply(
            (
                Text(
                    f"I wrote down {made} {plural} from the last sessions, with their rows in the index.{more}"
                ),
            )
        )


def _reply(said: str, phase: str, *uses: Block) -> ScriptedReply:
    return ScriptedReply((Text(said), Use("Phase", {"name": phase}), *uses))


def _briefing(request: Request) -> str:
    blocks = as_blocks(request.messages[0].get("content"))
    return "\n".join(str(block.get("text", "")) for block in blocks)


def _known(request: Request) -> Iterator[str]:
    """Every line of the index and of the memories that were read."""
    found = _INDEX.search(_briefing(request))
    yield from found["text"].splitlines() if found else ()
    for message in request.messages[1:3]:
        for block in as_blocks(message.get("content")):
            yield from str(block.get("content", "")).splitlines()


def wishes(request: Request) -> list[Wish]:
    """The wishes in the briefing's typed lines that are in no memory yet; for the same path the newest."""
    known = [words for line in _known(request) if (words := _words(line))]
    found: dict[str, Wish] = {}
    for typed in _TYPED.finditer(_briefing(request)):
        for sentence in _SENTENCE.split(typed["text"]):
            wish = Wish(typed["session"], int(typed["line"]), sentence.strip())
            if _usable(wish) and not any(_alike(_words(wish.text), other) for other in known):
                found[wish.path] = wish
    return list(found.values())[:MOST_WISHES]


def _usable(wish: Wish) -> bool:
    masked = "…" in wish.quote or MARK in wish.quote or "⟨" in wish.quote
    return bool(_ASKED.search(wish.quote)) and not masked and 4 <= len(wish.text.split()) <= 40


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _alike(wish: frozenset[str], line: frozenset[str]) -> bool:
    return len(wish & line) >= ALIKE * len(wish)


def _writes(request: Request, chosen: list[Wish]) -> Iterator[Use]:
    """For each wish a memory and its index row, as one operation."""
    found = _INDEX.search(_briefing(request))
    index = found["text"] if found else ""
    rows = _ROW.findall(index)
    # An edit needs a unique passage; new rows are added after the last unique row.
    last = next((row for row in reversed(rows) if index.count(row) == 1), "")
    for wish in chosen:
        yield _learn(wish)
        row = f"- [{wish.title}]({wish.path}) — {wish.text[:100]}"
        if last:
            yield _change("Edit", wish, old_string=last, new_string=f"{last}\n{row}")
            last = row
        elif not index:
            index = last = row
            yield _change("Write", wish, content=f"# Memory\n\n{row}\n")


def _learn(wish: Wish) -> Use:
    content = (
        f"---\nname: {wish.title}\ndescription: {wish.text[:100]}\ntype: {wish.kind}\n---\n\n{wish.text}\n"
    )
    given = {
        "file_path": f"/memory/{wish.path}",
        "content": content,
        "reason": "The person asked for it.",
        "citations": [_cited(wish)],
        "operation": wish.path,
    }
    return Use("Write", given)


def _change(tool: str, wish: Wish, **given: str) -> Use:
    common = {
        "file_path": "/memory/MEMORY.md",
        "reason": "Its row in the index.",
        "citations": [_cited(wish)],
        "operation": wish.path,
    }
    return Use(tool, {**common, **given})


def _cited(wish: Wish) -> dict[str, object]:
    return {"session": wish.session, "line": wish.line, "quote": wish.quote}
