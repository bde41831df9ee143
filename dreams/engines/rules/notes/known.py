"""Finds out whether memory certainly has a statement already. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from dreams.engines.rules.notes.wording import sentences
from dreams.findings.ledger.facts import negation_changes
from dreams.lib.prose.comparing import compare, normalised, says_more
from dreams.lib.prose.statements import statement

COMMON = 2_000  # words in more lines than this are not searched
COMPARED = 60  # lines compared, those that share most words; chosen to bound time
MOST_NEW = 0.1  # at most this share of a text's weight may be missing in the known line


class KnownStatements:
    """Known statements, searchable by words."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts: list[str] = []
        self._plain: dict[str, int] = {}
        self._having: dict[str, list[int]] = defaultdict(list)
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        plain = normalised(text)
        if not plain or plain in self._plain:
            return
        place = len(self._texts)
        self._plain[plain] = place
        self._texts.append(text)
        for word in statement(text).weights:
            self._having[word].append(place)

    def find(self, text: str) -> str | None:
        """A known statement that certainly says the same."""
        plain = normalised(text)
        if plain in self._plain:
            return self._texts[self._plain[plain]]
        for place in self._near(text):
            known = self._texts[place]
            same = compare(text, known).relation == "same" and not says_more(text, known, MOST_NEW)
            if same and not negation_changes(known, text):
                return known
        return None

    def says(self, text: str) -> bool:
        """Whether the text, or each sentence of it, is known."""
        return bool(self.sources(text))

    def sources(self, text: str) -> list[str]:
        """The known statement that says the text, or those that say its sentences; none if a part of it is new."""
        if (known := self.find(text)) is not None:
            return [known]
        parts = sentences(text)
        found = [known for part in parts if (known := self.find(part)) is not None]
        return found if 1 < len(parts) == len(found) else []

    def _near(self, text: str) -> list[int]:
        shared: Counter[int] = Counter()
        words = statement(text).weights
        for word in words:
            places = self._having.get(word, ())
            if len(places) <= COMMON:
                shared.update(places)
        ranked = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))
        return [place for place, count in ranked[:COMPARED] if count * 3 >= len(words)]
