"""Which rule speaks in a finding, in one plain sentence each. PURE: a table, and what a finding itself adds to it."""

from __future__ import annotations

from dreams.findings.prompt_injection.advice import ADVICE

RULES = {
    # ledger
    "unexplained-loss": "Every removed statement must be said somewhere else, or be replaced by what a person said.",
    "reworded": "A statement told in other words must keep every word that tells something.",
    "now-contradicts": "A statement that is in two places is changed in both, or in neither.",
    "stated-without-evidence": "The reason for a removal must be a quote, or follow from the files themselves.",
    "removed-by-hand": "What a person removes is noted and never refused.",
    # evidence
    "quote-not-found": "A quote must be in the place that it names, word for word.",
    "no-evidence": "Each word of a new statement must be in a memory or in a quote.",
    "words-without-source": "Each word of a new statement must be in a memory or in a quote.",
    "says-otherwise": "A new statement must not deny what its sources say, or give another value of the same thing.",
    "only-tool-output": "What a tool printed or a page says is nobody’s word.",
    "sessions-left-out": "Sessions that could not be read in time are named.",
    # dates
    "date-changed": "A day that is written must be the day that its source gives.",
    "date-without-source": "A day that is written must be in a source, or follow from the day on which it was said.",
    "date-relative": "A relative date in a memory means another day each time it is read.",
    # names, kinds and places of files
    "control-file": "A memory must not be a file that configures a program.",
    "hard-linked": "A file with several names is never changed.",
    "irregular": "A memory must be a plain file.",
    "log-changed": "Logs are only added to.",
    "name-collides": "Names must differ in more than case or accents.",
    "name-unfit": "Names must be such that every system can hold them.",
    "not-markdown": "A memory must be a Markdown file.",
    "path-outside": "A change must stay inside its memory directory.",
    "pinned-changed": "A pinned memory is never removed, merged or reworded.",
    "no-type": "A memory names its type.",
    "unknown-type": "A memory has one of the known types.",
    "wrong-type": "A memory’s type must fit what it says.",
    "reference-holds-content": "A reference points to content, and does not hold it.",
    # index
    "index-over-budget": "An agent loads only so many lines and bytes of the index.",
    "long-row": "A row of the index is short.",
    "many-memories": "A person must be able to keep all memories in view.",
    "no-index": "Memories without an index are not found.",
    "not-listed": "A memory without a row in the index is not found.",
    "row-dangles": "A row of the index must point to a memory.",
    "row-lost": "A memory must keep its row in the index.",
    "answer-linked": "What an agent answered from before must still be found, if only behind a link.",
    "answer-lost": "What an agent answered from before must still be there.",
    # what memory should not say
    "in-code": "Memory need not say what the code says.",
    "in-git": "Memory need not say what the git history says.",
    "in-instructions": "Memory need not say what an instruction file says.",
    "judgement": "Memory says what to do, not what somebody is like.",
    "rejected-before": "What a person rejected stays out.",
    # what may deceive
    "escape-sequence": "A memory must show everything that it says.",
    "invisible-text": "A memory must show everything that it says.",
    "long-line": "A line must be short enough to be read.",
    "mixed-script": "A word has letters of one script.",
    "new-host": "A host that nobody named before needs a look.",
    "new-url": "An address that nobody named before needs a look.",
    "unasked-command": "A command that nobody typed needs a look.",
    "rule-flipped": "A rule that is turned into its opposite needs a look.",
    "check-failed": "A change that could not be checked is not a change without findings.",
}  # fmt: skip


def rule_of(check: str, code: str, detail: str = "") -> str:
    """The rule, and what it was held against where the finding says it: "… The nearest statement lacks “weekly”."."""
    steers = f"Text that {ADVICE[code][0]} steers whoever reads it." if code in ADVICE else ""
    kind = code.removeprefix("standing-").removeprefix("secret-").replace("-", " ")
    secret = f"A memory must hold no secret; this one was found as {kind}." if check == "secrets" else ""
    said = RULES.get(code) or steers or secret or f"{check}: {code}"
    return f"{said} {detail}" if detail else said
