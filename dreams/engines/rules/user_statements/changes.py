"""The ways in which a clause tells that one value took another's place: "moved X from A to B", "A is gone, we use B". Pure.

Each gives what changed, the value before (where it is named) and the value now, as phrases of the clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADVERBS = r"(?: (?:just|recently|finally|already|also|now|all|officially|completely|fully))*"
_WE = rf"(?:we|i|they|the team|our team|somebody|\w+ and i)(?:['’]ve| have|['’]d| had| has)?{_ADVERBS}"
# "set" and "put" are also what somebody is told to do; they need somebody who did it.
_MOVED = (
    r"(?:moved|migrated|switched|changed|upgraded|downgraded|bumped|raised|lowered|increased|reduced|decreased|renamed|extended|shortened|doubled|halved|relocated|"
    r"converted|transitioned|ported|cut|tightened|relaxed|updated|transferred|rebranded|shifted|scaled)"
)
_DONE = rf"(?:{_MOVED}|set|put|brought|taken|took)"
# As people write it to whom English is another language: "we have upgrade".
_HAVE_DO = r"(?:we|i|they) (?:have|had to) (?:move|migrate|switch|change|upgrade|downgrade|bump|raise|lower|increase|reduce|rename|replace)"
_GOT = r"(?:has been|have been|had been|was|were|is|are|got|gets|has|have)"
_DOER = rf"(?:(?:{_WE} (?:{_DONE}|went|came|gone)|{_HAVE_DO}|{_MOVED}|went) )"
_OF = r"(?:over |up |down |back )?"
_PUT_FOR = r"(?: (?:for|in|on|as) (?P<s>.+))?"
_JOINT = r"\s*(?:[,;:—–-]+|\bbut\b|\band\b)\s*"
_IT_IS = r"(?:(?:but|and|now|rather|so) )*(?:(?:it(?:['’]s| is)|they(?:['’]re| are)) )?(?:now )?"
_USE = r"(?:(?:now|so) )?(?:we(?:['’]re| are)? (?:all )?(?:now )?(?:use|using|on|have|run|running|with)|i(?:['’]m)? (?:use|using|on)|we (?:moved|switched) to|everything(?:['’]s| is)(?: now)? on|it(?:['’]s| is)|use|using|hello|all) "
_SO_NOW = r"(?: now| instead| it is| is in)*"
_GONE = r"(?:['’]s| is| was| are| has been| were| got) (?:now )?(?:gone|dead|out|retired|history|archived|deprecated|decommissioned|dropped|replaced|removed|shut down|no more)"


_HOW = re.compile(
    r"\b(?:(?P<moved>moved|relocated|transferred)|(?P<renamed>renamed|rebranded))\b", re.IGNORECASE
)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|runs?|uses?|lives?)\b", re.IGNORECASE)


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


# What two clauses tell together: what was, and what is.
_JOINED = _compiled(
    # A is gone, B is there.
    rf"^no more (?P<o>[^,;]+?)(?: for (?P<s>[^,;]+?))?{_JOINT}(?:{_USE})?(?P<n>[^,;]+?){_SO_NOW}$",
    r"^(?:(?:we|i|they)(?:['’]ve| have)? )?(?:dropped|ditched|removed|retired|killed|left|abandoned|got rid of|said goodbye to|goodbye|bye|ciao) (?P<o>[^,;]+?)"
    rf"(?: for (?P<s>[^,;]+?))?{_JOINT}(?:{_USE})?(?P<n>[^,;]+?){_SO_NOW}$",
    rf"^(?P<o>[^,;]+?){_GONE}(?: for (?P<s>[^,;]+?))?{_JOINT}(?:{_USE})?(?P<n>[^,;]+?)(?:['’]s in| is in| it is| now| instead)*(?: for (?P<s2>[^,;]+))?$",
    rf"^(?P<s>[^,;]+?) (?:via|through|with|on|in|by|to|at|from) (?P<n>[^,;]+?){_SO_NOW}, (?:and )?(?:(?:we|i|they)(?:['’]ve| have)? )?(?:dropped|ditched|removed|retired|killed|left|"
    r"abandoned|got rid of|no longer use|don['’]t use) (?P<o>[^,;]+?)(?: any ?more)?$",
    # It is A no longer, it is B.
    rf"^(?P<s>[^,;]+?) (?:isn['’]t|is not|is no longer|are no longer|aren['’]t|are not) (?P<o>[^,;]+?)(?: any ?more)?{_JOINT}{_IT_IS}(?P<n>[^,;]+?){_SO_NOW}$",
    r"^(?:we|i) (?:don['’]t|do not|no longer|stopped) (?:use|using|have|run|running) (?P<o>[^,;]+?)(?: for (?P<s>[^,;]+?))?(?: any ?more)?"
    rf"{_JOINT}(?:(?:but|and) )?{_USE}(?P<n>[^,;]+?)(?: for (?P<s2>[^,;]+?))?{_SO_NOW}$",
    r"^(?:we|i) (?:don['’]t|do not|no longer) \w+ (?P<s>[^,;]+?) (?:from|on|in|to|with|via|through|at|over) (?P<o>[^,;]+?)(?: any ?more)?"
    rf"{_JOINT}{_IT_IS}(?:(?:from|on|in|to|with|via|through|at|over) )?(?P<n>[^,;]+?){_SO_NOW}$",
    # It changed, it is B.
    r"^(?P<s>[^,;]+?) (?:(?:has|have|was|were|got) )?(?:changed|moved|switched|is different|is new|is a new one|has a new (?:one|home|name|address|value|owner|number))"
    rf"{_JOINT}(?:(?:now|and) )*(?:it(?:['’]s| is)|they(?:['’]re| are)|to|the new one is)(?: now)? (?P<n>[^,;]+?){_SO_NOW}$",
)  # fmt: skip
_CHANGES = _compiled(
    # From A to B.
    rf"^{_DOER}{_OF}(?P<s>.*?)\s*\bfrom (?P<o>.+?) {_OF}to (?P<n>.+)$",
    rf"^(?P<s>[^,;]+?) (?:{_GOT} )?(?:just |recently |now )?(?:{_DONE}|went|gone|goes|moves) {_OF}from (?P<o>.+?) {_OF}to (?P<n>.+)$",
    r"^the (?P<s>.*?) ?(?:migration|move|switch|upgrade|change|transition) (?:of (?P<s2>.+?) )?from (?P<o>.+?) to (?P<n>.+?) (?:is|was|got|has been) "
    r"(?:done|complete|completed|finished|over|through|live|merged)$",
    # Another name.
    rf"^(?:{_WE} )?(?:renamed|rebranded) (?:(?P<s>(?:the |our )?[\w -]+?) )??(?P<o>\S+|(?-i:[A-Z]\w+ [A-Z]\w+)) (?:in)?to (?P<n>\S+|(?-i:[A-Z]\w+ [A-Z]\w+))$",
    rf"^(?P<o>\S+|(?-i:[A-Z]\w+ [A-Z]\w+)) {_GOT} (?:now )?(?:renamed|rebranded) (?:in)?to (?P<n>\S+|(?-i:[A-Z]\w+ [A-Z]\w+))$",
    # B in place of A.
    rf"^(?:{_WE} )?(?:replaced|swapped(?: out)?|exchanged|traded|ditched|dropped|abandoned|left|retired|scrapped|ripped out) (?P<o>.+?) "
    rf"(?:with|by|for|in favou?r of) (?P<n>.+?){_PUT_FOR}$",
    rf"^(?P<o>[^,;]+?) {_GOT} (?:now |just )?(?:replaced|swapped(?: out)?|superseded) (?:with|by|for) (?P<n>.+?){_PUT_FOR}$",
    rf"^(?P<n>[^,;]+?) (?:has |have )?(?:just |recently |now )?(?:replaced|replaces|superseded|supersedes|took the place of|takes the place of) (?P<o>.+?){_PUT_FOR}$",
    r"^(?P<n>[^,;]+?) (?:took|has taken) over (?P<s>.+?) from (?P<o>.+)$",
    r"^(?P<o>[^,;]+?) (?:has )?(?:handed|gave|passed) (?P<s>.+?) (?:over |on )?to (?P<n>.+)$",
    rf"^{_WE} (?:went|gone|go|decided to go|are going|settled) (?:with|for|on) (?P<n>.+?) (?:instead of|over|rather than) (?P<o>.+?)(?: (?:for|as|in) (?P<s>.+))?$",
    rf"^{_WE} (?:use|using|run|running|have|are on|are using)(?: now)? (?P<n>.+?)(?: now)? (?:instead of|rather than|not) (?P<o>.+?)(?: any ?more)?(?: (?:for|as|in) (?P<s>.+))?$",
    # A -> B.
    rf"^(?P<s>[^,;:]+?):?(?: (?:{_GOT} )?(?:{_DONE}|went))?:? (?P<o>\S+(?: \S+)??) ?(?:-+>|=+>|→) ?(?P<n>\S+(?: \S+)?)$",
    r"^(?P<o>\S+(?: \S+)?) ?(?:-+>|=+>|→) ?(?P<n>\S+(?: \S+)??) for (?P<s>.+)$",
    # To B.
    rf"^{_DOER}{_OF}(?P<s>.*?)\s*\b{_OF}to (?P<n>.+)$",
    rf"^(?P<s>[^,;]+?) (?:{_GOT} )?(?:just |recently |now )?(?:{_DONE}|went|gone|goes|moves|jumped|grew|grown|shrank|dropped|came) {_OF}to (?P<n>.+)$",
    r"^(?:the |our )?new (?P<s>[^,;]+?) is (?P<n>[^,;]+)$",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangeTold:
    """`old` is empty where only what holds now was told. `moved`: to another place; `renamed`: called by another name."""

    subject: str
    old: str
    new: str
    moved: bool = False
    renamed: bool = False


def changes_in(clause: str, *, joined: bool = False) -> list[ChangeTold]:
    """Each way to read it as a change, the most telling first; nothing where it is none. `joined`: two clauses as they stand."""
    found = []
    for pattern in _JOINED if joined else _CHANGES:
        match = pattern.match(clause)
        if match is None or (joined and _VERB.search(match["n"])):
            continue
        told = {name: value for name, value in match.groupdict().items() if value}
        subject = " ".join(told[name] for name in ("s", "s2") if name in told)
        old, how = told.get("o", "").strip(), _HOW.search(clause)
        moved, renamed = (bool(how and how[word]) for word in ("moved", "renamed"))
        found.append(ChangeTold(subject.strip(), old, told["n"].strip(), moved, renamed))
    return found
