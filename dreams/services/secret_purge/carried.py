"""What was purged, as exports carry it, so that no import brings a purged secret back, whichever file is imported first.

An export lists the text that took the place of each purged one, and a digest that identifies the purged one. The digest is
slow to compute: the text in its place shows all but the secret, and by a sha256 a short password could be guessed. From a text
that is still here, and the text in its place, an import learns which secrets were purged.
"""

import hashlib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress

from dreams.lib.files import text
from dreams.lib.secrets.redact import MARKED, values, without
from dreams.lib.secrets.spotting import may_hold_any
from dreams.lib.storage.history import HistoryDamaged, HistoryStore
from dreams.models import Project, Purge
from dreams.services import blobs
from dreams.services.secret_purge import locating

#: Of scrypt: about 20 ms and 8 MB for a digest.
COST = 2**13


def digest(sha256: str, masked: str) -> str:
    """Identifies a text by its sha256 and by what `_masked` makes of it, which is also that of the text in its place."""
    salt = hashlib.sha256(text.encode(masked)).digest()
    return hashlib.scrypt(bytes.fromhex(sha256), salt=salt, n=COST, r=8, p=1, dklen=32).hex()


def _masked(content: str) -> str:
    """Without any secret: the same for a text and what purges made of it."""
    return MARKED.sub("[redacted]", without(content, values(content)))


def note(project: Project, store: HistoryStore) -> Mapping[str, bytes]:
    """Add what was purged in `project` to the list of its history, and return it. Once there is a list, each purge adds to it when
    it is finished."""
    known = own = blobs.instead_of_purged(project, own=True)
    if store.purged():
        waiting = Purge.objects.filter(done_at__isnull=True)
        unfinished = {
            sha for made in waiting if project.history_key in made.histories for sha in made.replaced
        }
        known = {sha: data for sha, data in own.items() if sha in unfinished}
    add(store, known)
    return own


def add(store: HistoryStore, instead: Mapping[str, bytes]) -> None:
    """Add purged texts to the list: sha256 → the text in its place."""
    if instead:
        new = store.put_many(list(instead.values()))
        names = (digest(old, _masked(text.decode(data))) for old, data in instead.items())
        store.note_purged(dict(zip(names, new, strict=True)))


def secrets_purged(
    project: Project, ours: HistoryStore, brought: HistoryStore, instead: Mapping[str, bytes]
) -> dict[str, str]:
    """The secrets, with their rules, that were purged according to the lists of both histories, or as `instead` says (sha256 →
    the text in its place), of which a text is still here or in `brought`."""
    forms: defaultdict[str, set[str]] = defaultdict(set)
    wanted = set()
    for store in (ours, brought):
        for name, sha in store.purged().items():
            if store.has(sha):
                forms[name].add(content := text.decode(store.read(sha)))
                wanted.add(_masked(content))
    for sha, content in _with_secrets(project, ours, brought) if forms or instead else ():
        if sha in instead:
            forms[sha] = {content, text.decode(instead[sha])}
        if (masked := _masked(content)) in wanted and (name := digest(sha, masked)) in forms:
            forms[name].add(content)
    found: dict[str, str] = {}
    for same in forms.values():
        for content in same:
            gone = {value: rule for value, rule in values(content).items() if _lacks(same, value)}
            found |= locating.with_lines(gone)
    return found


def _lacks(contents: Iterable[str], value: str) -> bool:
    return any(value not in content for content in contents)


def _with_secrets(project: Project, *stores: HistoryStore) -> Iterator[tuple[str, str]]:
    seen = set[str]()
    for sha, content in _texts(project, stores, seen):
        if sha not in seen and may_hold_any(content):
            yield sha, content
        seen.add(sha)


def _texts(
    project: Project, stores: Iterable[HistoryStore], seen: Container[str]
) -> Iterator[tuple[str, str]]:
    yield from locating.contents_of(project)
    for store in stores:
        for sha in store.texts():
            if sha not in seen:
                with suppress(HistoryDamaged):  # the other history may have it whole
                    yield sha, text.decode(store.read(sha))


def holding(store: HistoryStore, secrets: Mapping[str, str]) -> dict[str, bytes]:
    """sha256 of each text of a history with one of the secrets (value → rule) → the text without them."""
    found = {}
    for sha in store.texts() if secrets else ():
        content = text.decode(store.read(sha))
        if (clean := without(content, secrets)) != content:
            found[sha] = text.encode(clean)
    return found
