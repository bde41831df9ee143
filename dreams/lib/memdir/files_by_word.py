"""Which files of a directory have the words of a statement, without splitting the files into statements. PURE."""

import functools
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from dreams.lib.files import text

WORD = re.compile(r"\w+")
FEW = 16  # files whose words are looked up when asked for
# Texts whose words are kept, those of two large directories: 4 to 20 MB; and the most bytes of one.
MOST_KEPT, LONGEST_KEPT = 2_048, 32_768
_KEY = re.compile(r"^[^\S\n]*[a-z_][\w.-]*\s*:", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,300}\)|\[\[(?:[^\]|]{0,200}\|)?([^\]]{0,200})\]\]")
_MARKS = r"(?:[`*\"'“”‘’«»]|~~|\\(?=[\"']))+"
_JOINED = re.compile(rf"\b\w++(?:{_MARKS}\w++)+")
_BETWEEN = re.compile(rf"{_MARKS}|_")


@functools.lru_cache(maxsize=50_000)
def words_of_key(key: str) -> frozenset[str]:
    return frozenset(WORD.findall(key))


def folded(said: str) -> str:
    """For looking words up, in any spelling of their case."""
    return said.casefold().replace("_", "")


def words_in(data: bytes) -> Mapping[str, int]:
    """At least the folded words that the statements of a file have without their marks, and about how often.

    0 for what is in the text alone: keys, addresses of links, and words that quotes or emphasis divide.
    """
    return _counted(data) if len(data) > LONGEST_KEPT else kept_words(data)


def _counted(data: bytes) -> Mapping[str, int]:
    said, others = text.decode(data).casefold(), list[str]()
    if said.startswith("---"):
        head, fence, body = said.partition("\n---")
        said, others = _KEY.sub("", head) + fence + body, _KEY.findall(head)
    said = " ".join(said.split())
    if "](" in said or "[[" in said:
        others += said, said.replace("_", " ")  # a table divides [[some_page|words]]
        said = _LINK.sub(lambda link: link[1] or (link[2] or "").replace("_", " "), said)
    joined = " ".join(_JOINED.findall(said))
    left_out = f"{' '.join([*others, joined]).replace('_', '')} {_BETWEEN.sub('', joined)}"
    bare = text.decode(text.encode(said).translate(None, b"`*_\"'"))
    bare = bare if bare.isascii() else _BETWEEN.sub("", bare)
    found = {**dict.fromkeys(WORD.findall(left_out), 0), **Counter(WORD.findall(bare))}
    return {sys.intern(word): times for word, times in found.items()}  # files share most words


kept_words = functools.lru_cache(maxsize=MOST_KEPT)(_counted)


@functools.lru_cache(maxsize=16)  # a large index is asked for again and again
def numbers_by_word(keys: tuple[str, ...]) -> Mapping[str, Sequence[int]]:
    """The numbers of the texts that have each word."""
    found = defaultdict[str, list[int]](list)
    for number, key in enumerate(keys):
        for word in words_of_key(key):
            found[word].append(number)
    return found


class FilesByWord:
    """Files by the folded words that each has, and how often."""

    def __init__(self, words: Mapping[str, Mapping[str, int]]) -> None:
        self._words = words
        self._having: dict[str, list[str]] = {}
        self._times: dict[str, int] = {}
        self._are_few = len(words) <= FEW
        for path, here in () if self._are_few else words.items():
            for word in here:
                self._having.setdefault(word, []).append(path)

    def _paths(self, word: str) -> list[str]:
        if self._are_few and word not in self._having:
            self._having[word] = [path for path, here in self._words.items() if word in here]
        return self._having.get(word, [])

    def having(self, word: str) -> Sequence[str]:
        return self._paths(folded(word))

    def having_all(self, key: str) -> Sequence[str]:
        """The files with all words of a text, in order."""
        words = words_of_key(folded(key))
        fewest = min(map(self._paths, words), key=len, default=list(self._words))
        return [path for path in fewest if words <= self._words[path].keys()]

    def often(self, word: str) -> int:
        """How often all files have a word."""
        word = folded(word)
        if word not in self._times:
            paths = self._paths(word)
            self._times[word] = max(sum(self._words[path][word] for path in paths), len(paths) > 0)
        return self._times[word]
