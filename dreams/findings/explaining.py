"""Which rule speaks in a finding, in one plain sentence each. PURE: a table, and what a finding itself adds to it."""

from __future__ import annotations

from dreams.findings.prompt_injection.advice import ADVICE

RULES = {
    # ledger
    "unexplained-loss": "Every removed statement must be said somewhere else, or be replaced by what a person said.",
    "reworded": "A reworded statement must keep every word that carries meaning.",
    "now-contradicts": "A statement that is in two places is changed in both, or in neither.",
    "stated-without-evidence": "The reason for a removal must be a quote, or follow from the files themselves.",
    "removed-by-hand": "What a person removes is noted and never refused.",
    # evidence
    "quote-not-found": "A quote must be in the place that it names, word for word.",
    "no-evidence": "Every word of a new statement must be in a memory or in a quote.",
    "words-without-source": "Every word of a new statement must be in a memory or in a quote.",
    "says-otherwise": "A new statement must not deny what its sources say, or give another value of the same thing.",
    "only-tool-output": "Tool output and web pages are not a person’s statement.",
    "sessions-left-out": "Sessions that could not be read in time are named.",
    # dates
    "date-changed": "A date must be the date in its source.",
    "date-without-source": "A date must be in a source, or follow from the day on which it was said.",
    "date-relative": "A relative date in a memory changes its meaning over time.",
    # names, kinds and places of files
    "control-file": "A memory must not be a file that configures a program.",
    "hard-linked": "A file with several hard links is never changed.",
    "irregular": "A memory must be a plain file.",
    "log-changed": "Logs are only added to.",
    "name-collides": "Names must differ in more than case or accents.",
    "name-unfit": "Names must work on every system.",
    "not-markdown": "A memory must be a Markdown file.",
    "path-outside": "A change must stay inside its memory directory.",
    "pinned-changed": "A pinned memory is never removed, merged or reworded.",
    "no-type": "A memory must have a type.",
    "unknown-type": "A memory must have a known type.",
    "wrong-type": "A memory’s type must fit what it says.",
    "reference-holds-content": "A reference should point to content, not contain it.",
    # index
    "index-over-budget": "An agent loads only so many lines and bytes of the index.",
    "long-row": "An index row should be short.",
    "many-memories": "People should be able to keep all memories in view.",
    "no-index": "An agent does not find memories without an index.",
    "not-listed": "An agent may not find a memory without an index row.",
    "row-dangles": "An index row must point to a memory.",
    "row-lost": "A memory must keep its row in the index.",
    "answer-linked": "What an agent used for an answer must still be easy to find.",
    "answer-lost": "What an agent used for an answer must still be there.",
    # what memory should not say
    "in-code": "Memory should not repeat the code.",
    "in-git": "Memory should not repeat the git history.",
    "in-instructions": "Memory should not repeat an instruction file.",
    "judgement": "Memory should say what to do, not judge people.",
    "rejected-before": "A change that a person rejected should not return.",
    # what may deceive
    "escape-sequence": "A memory must not have hidden text.",
    "invisible-text": "A memory must not have hidden text.",
    "long-line": "A line must be short enough to be read.",
    "mixed-script": "The letters of a word must be of one script.",
    "new-host": "A new host needs your attention.",
    "new-url": "A new address needs your attention.",
    "unasked-command": "A command that nobody typed needs your attention.",
    "rule-flipped": "A reversed rule needs your attention.",
    "check-failed": "A change that could not be checked may still have problems.",
}  # fmt: skip


def rule_of(check: str, code: str, detail: str = "") -> str:
    """The rule, and what it was held against where the finding says it: "… The nearest statement lacks “weekly”."."""
    steers = f"Text that {ADVICE[code][0]} steers whoever reads it." if code in ADVICE else ""
    kind = code.removeprefix("standing-").removeprefix("secret-").replace("-", " ")
    secret = (
        f"A memory must not contain a secret; this one was found by the rule {kind}."
        if check == "secrets"
        else ""
    )
    said = RULES.get(code) or steers or secret or f"{check}: {code}"
    return f"{said} {detail}" if detail else said
