"""Finds what a typed sentence changes in memory: statements about the same thing with another value, or short ones that it
replaces completely. PURE.

A change is certain if the sentence calls the old value past, mentions nothing that the statement lacks, and can only mean
one fact. Everything else is asked about."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter

from dreams.engines.rules.notes.removing import Rewording, reword, with_text
from dreams.engines.rules.notes.tree import Recorder, is_log
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.user_statements.phrases import TASK, looks_secret
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.speech import REVERTED
from dreams.engines.rules.user_statements.statements import Typed
from dreams.lib.prose import lexicon
from dreams.lib.prose.comparing import CLAUSE, TELLING, adds, says_more
from dreams.lib.prose.exchanges import (
    MOST_OF_A_THING,
    MOST_OWN,
    Exchange,
    exchange,
    is_about,
    is_last_number,
    is_told_past,
    says_only,
    things,
    told_past,
    words_of,
)
from dreams.lib.prose.statement_index import StatementIndex
from dreams.lib.prose.statement_pairs import PlacedText, environments_of, place_of, topics
from dreams.lib.prose.statements import statement as parsed
from dreams.lib.prose.values import missing, read

MOST_SHORT = 16  # words of a statement that a typed one may replace completely
MOST_PLACES = 5  # statements that one newer one replaces
MOST_TOLD = 12  # letters of a word such as "maintenant", and of one beside it
# Without one of them a sentence may be an order for the task: "retry 5 times now".
_TELLS = lexicon.IS | lexicon.ARTICLES | {"has", "have", "we"}
# "Does not run" is what is so now, unlike "on db-2, not db-1".
_NOT = "".join(rf"(?<!\b{verb} )" for verb in sorted(lexicon.BE | lexicon.DO | lexicon.MODALS)) + "not"
_NOW = re.compile(
    r",?\s*\b(?:instead of `[^`]+`|(?:(?:from )?now(?: on)?|these days|from today(?: on)?|as of (?:now|today|this \w+)|"
    rf"(?:(?:and )?{_NOT}|instead of) \S+(?: any ?more| [^\W\d]+$)?)\b)|\s*\([^()]*\)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Update:
    """A typed sentence and the statements in which it changes `old` (a value or the full text) into `new`.

    `about` are all statements of the thing, `known` those that have the new values already. `sure`: values of this kind are rare.
    """

    heard: Heard
    typed: Typed
    thing: str
    about: tuple[PlacedText, ...]
    known: tuple[PlacedText, ...] = ()
    statements: tuple[PlacedText, ...] = ()
    old: str = ""
    new: str = ""
    sure: bool = False
    wordings: tuple[Rewording, ...] = ()

    @property
    def is_value(self) -> bool:
        return self.old != self.statements[0].text


def updates(
    index: StatementIndex,
    heard: Sequence[Heard],
    is_settled: Callable[[PlacedText], bool] = lambda _: False,
    doubted: bool = False,
) -> Iterator[Update]:
    """At most one update per typed sentence, latest first; earlier sentences do not change what later ones mention.

    `doubted`: of the sentences with words of doubt, those that name both values, or mark a change between values of a rare kind.
    """
    spoken: set[PlacedText] = set()
    for each in reversed(heard):
        if any(wish.handling == "forget" for wish in each.wishes):
            continue
        for typed in each.doubted if doubted else each.typed:
            found = next(_of_sentence(index, each, typed, spoken, is_settled), None)
            if found is not None:
                spoken.update((*found.known, *found.statements))
                is_named = found.old.strip("`").lower() in typed.text.lower()
                is_clear = is_named or (typed.may_change and found.sure)
                if not doubted or (found.wordings and found.is_value and is_clear):
                    yield found


def _of_sentence(
    index: StatementIndex,
    heard: Heard,
    typed: Typed,
    spoken: set[PlacedText],
    is_settled: Callable[[PlacedText], bool],
) -> Iterator[Update]:
    past, here = told_past(typed.text), read(typed.text).environments
    spoken_of: list[tuple[tuple[bool, int], Update, _Meant]] = []
    for thing, known in _things(index, typed, past):
        near = (each for each in known if not here or not (own := environments_of(each)) or own & here)
        about = tuple(each for each in near if each not in spoken)
        if having := _known(typed, thing, past, about):
            told = Update(heard, typed, thing, about, having)
            # An older value beside a statement that has the sentence word for word, such as that of a card.
            others = [each for each in about if each not in has] if (has := saying(told)) else []
            yield _changing(index, told, _exchanged(typed, thing, others))
            return
        meant = _exchanged(typed, thing, about) or _whole(index, typed, thing, about) if about else None
        if meant and any(map(is_settled, meant[0])):
            break  # then the others depend on it
        if meant:
            (first, *_), old, *_ = meant
            rank = old == first.text, len(missing(first.reading, read(f"{typed.text} {old}")))
            spoken_of.append((rank, Update(heard, typed, thing, about), meant))
    # A whole statement changes only if no value does, and first what names least that the sentence does not.
    for _, told, meant in sorted(spoken_of, key=itemgetter(0)):
        yield _changing(index, told, meant)


def _changing(index: StatementIndex, update: Update, meant: "_Meant | None") -> Update:
    if not meant:
        return update
    statements, old, new, sure = meant
    made = _wordings(index, statements, old, new)
    return replace(update, statements=statements, old=old, new=new, sure=sure, wordings=made)


def _present(statement: PlacedText) -> frozenset[str]:
    return frozenset(statement.reading.anchors - told_past(statement.text))


def _things(index: StatementIndex, typed: Typed, past: set[str]) -> Iterator[tuple[str, list[PlacedText]]]:
    """What a sentence may be about: named things, those in memory first; then things with a past value; and for unnamed things the
    statements that share most words."""
    found = [*things(index, typed.text, told=True)]
    found.sort(key=lambda each: not any(is_about(known, each[0]) for known in each[1]))
    is_past = {thing: any(key == thing or key.startswith(f"{thing}.") for key in past) for thing, _ in found}
    yield from ((thing, known) for thing, known in found if not is_past[thing])
    yield from (("", known) for thing, known in found if is_past[thing])
    if not found and (typed.may_change or read(typed.text).values):
        near = _nearest(index, typed)
        yield "", [each for each in near if typed.may_change or _is_retold(each.text, typed.text)]


def _nearest(index: StatementIndex, typed: Typed) -> list[PlacedText]:
    shared: Counter[PlacedText] = Counter()
    for word in words_of(typed.text):
        found = index.with_words([word])
        shared.update(found if len(found) <= MOST_OF_A_THING else ())
    most = max(shared.values(), default=0)
    return sorted((each for each, count in shared.items() if count == most), key=place_of)


def _known(typed: Typed, thing: str, past: set[str], about: Sequence[PlacedText]) -> tuple[PlacedText, ...]:
    """The statements that have all its values, if they say it."""
    new = read(typed.text).anchors - past
    having = tuple(each for each in about if new and new <= _present(each))
    is_said = thing not in new and any(_denies_as(each, typed.text) for each in having)
    return having if len(new) > 1 or is_said else ()


def saying(update: Update) -> list[PlacedText]:
    """The statements that have all of the sentence word for word, such as those of a card."""
    text, past = update.typed.text, told_past(update.typed.text)
    return [each for each in update.about if past.isdisjoint(_present(each)) and _says(each, text, past)]


def _says(statement: PlacedText, text: str, past: Set[str] = frozenset()) -> bool:
    """Whether a statement has all words of a text, but for the values that are past, and denies as much."""
    reading = read(text)
    # "Not db-1" does not negate db-2; "do not run" negates everything.
    denies = past or told_past(statement.text)
    return (
        reading.anchors - past <= _present(statement)
        and words_of(text) - past <= words_of(statement.text)
        and (_denies_as(statement, text) if denies else statement.reading.denials == reading.denials)
    )


def _denies_as(statement: PlacedText, text: str) -> bool:
    mine, theirs = (read(_NOW.sub("", each)).denials for each in (statement.text, text))
    return mine == theirs


#: The statements, the old value or wording, the new one, whether it is of a rare kind.
_Meant = tuple[tuple[PlacedText, ...], str, str, bool]


def _exchanged(typed: Typed, thing: str, about: Sequence[PlacedText]) -> _Meant | None:
    """The statement whose value the sentence changes (certainly, or with words or a named thing in common), and those that say
    the same."""
    fit: list[tuple[tuple[bool, bool, int, bool], PlacedText, Exchange]] = []
    here = read(typed.text).environments
    for each in about:
        made = exchange(each.text, typed.text, thing, [other.text for other in about])
        words = _shared(each, typed, thing)
        if (
            made
            and _is_denied(each.text, made.old.text) == _is_denied(typed.text, made.new.text)
            and _is_meant(each, typed, thing, made)
            and (made.sure or words or (thing and typed.may_change))
            and (made.named or not _is_framed(typed, thing, each))
        ):
            own = words_of(each.text) - words_of(f"{typed.text} {made.old.text}")
            # "The API" is rather the API than the admin API.
            fit.append(((environments_of(each) == here, made.sure, words, not own), each, made))
    if not fit:
        return None
    _, best, told = max(fit, key=lambda each: each[0])
    keys = _last_words(told)
    same = [
        each
        for _, each, made in fit
        if _last_words(made) == keys and (each == best or not says_more(each.text, best.text))
    ]
    return tuple(same[:MOST_PLACES]), told.old.text, told.new.text, told.sure


def _is_denied(text: str, value: str) -> bool:
    """Whether the words before the value deny it: "no longer listens on 8080", not "never more than 30"."""
    return bool(parsed(re.split(rf"{CLAUSE.pattern}|\b(?:but|than)\b", text.partition(value)[0])[-1]).denied)


def _last_words(made: Exchange) -> tuple[str, str]:
    """Both values without a program before them, which one text may have in backticks: "make reed-12"."""
    return made.old.key.rpartition(" ")[2], made.new.key.rpartition(" ")[2]


def _is_meant(statement: PlacedText, typed: Typed, thing: str, made: Exchange) -> bool:
    """Whether the values are of the thing, as both say little else, or the old one is called past. The sentence may say more if it
    names the old value of the statement's subject, the statement if a change is told. Without a thing, most common words do."""
    values = words_of(f"{thing} {made.old.text} {made.new.text}".replace("_", " "))
    said = _up_to(statement.text, made.old.text) if made.named else statement.text
    mine, theirs = (words_of(text) - values for text in (said, typed.text))
    is_past = is_told_past(made.old.text, typed.text)
    titles = words_of(" ".join((statement.path, *statement.headings)))
    of_it, of_mine = len(theirs - mine - titles) <= MOST_OWN, len(mine - theirs) <= MOST_OWN
    if thing:
        of_it |= made.named and is_about(statement, thing)
        return is_past or (of_it and (of_mine or typed.may_change))
    return (
        (is_past and of_it and of_mine) or share_most(mine, theirs) or _is_retold(statement.text, typed.text)
    )


def _up_to(text: str, value: str) -> str:
    """The text up to the end of the clause with a value."""
    before, _, behind = text.partition(value)
    return f"{before}{value}{CLAUSE.split(behind, maxsplit=1)[0]}"


def _is_retold(text: str, said: str) -> bool:
    """Whether a sentence of any language repeats all of a statement but its numbers, with hardly a word more."""
    mine, theirs = ("".join(filter(str.isalpha, each.lower())) for each in (text, said))
    letters = iter(theirs)
    return 1 < len(mine) >= len(theirs) - MOST_TOLD and all(letter in letters for letter in mine)


def share_most(mine: set[str], theirs: set[str]) -> bool:
    return 2 * len(mine & theirs) >= max(1, len(mine), len(theirs))


def _is_framed(typed: Typed, thing: str, statement: PlacedText) -> bool:
    """Whether words before a colon that the statement lacks qualify the rest: "an idea for later: …"."""
    head, colon, _ = typed.text.partition(": ")
    mine = statement.reading.terms
    names = head.lower().replace("_", "-")
    return bool(colon) and thing not in names and not any(word in mine for word in read(head).terms)


def _shared(statement: PlacedText, typed: Typed, thing: str) -> int:
    """How many words both share besides the thing."""
    mine, theirs = statement.reading.terms, read(typed.text).terms
    both = (word for word, weight in mine.items() if weight >= TELLING / 2 and word in theirs)
    return sum(word not in thing for word in both)


def _whole(index: StatementIndex, typed: Typed, thing: str, about: Sequence[PlacedText]) -> _Meant | None:
    """The short statements of one fact that a sentence about a change replaces completely."""
    if not typed.may_change or len(typed.text.split()) > MOST_SHORT:
        return None
    short = [
        each
        for each in about
        if share_most(words_of(each.text), words_of(typed.text))
        and not _is_framed(typed, thing, each)
        and not _only_denies(typed.text, each)
        and not adds(typed.text, each.text)
        and len(each.text.split()) <= MOST_SHORT
        and len(sentences(each.text)) == 1
    ]
    alike = [each for each in short if _shared(each, typed, thing)] or short
    new = _NOW.sub("", typed.text).strip(" ,")
    one_fact = all(index.pair(alike[0], each).found.relation == "same" for each in alike[1:])
    return (tuple(alike), alike[0].text, new, False) if alike and one_fact else None


def _only_denies(text: str, statement: PlacedText) -> bool:
    """Whether the values that memory lacks are those that a text says not to be so: "it does not listen on 9090"."""
    new = parsed(" ".join(read(text).anchors - statement.reading.anchors - told_past(text))).weights.keys()
    return bool(new) and new <= {word for _, words in parsed(text).denied for word in words}


def _wordings(
    index: StatementIndex, meant: Sequence[PlacedText], old: str, new: str
) -> tuple[Rewording, ...]:
    if old != meant[0].text:
        return tuple(everywhere(index, meant, old, new))
    if any(_says(each, new) for each in meant):
        return ()  # memory says it already
    told, paths = {each.text for each in meant}, {each.path for each in meant}
    sums = [each for each in index.statements if each.target in paths and each.text in told]
    return tuple(Rewording(each, new) for each in (*meant, *sums))


def everywhere(index: StatementIndex, meant: Sequence[PlacedText], old: str, new: str) -> list[Rewording]:
    """The statements, and the descriptions and rows of their files, with the new value or wording."""
    paths = {each.path for each in meant}
    sums = [each for each in index.statements if each.source != "body" and each.target in paths]
    made = [with_text(each, old, new) for each in (*meant, *sums)]
    return [each for each in made if each]


# --- What is certain ----------------------------------------------------------------------------------------------


def is_certain(update: Update, heard: Sequence[Heard]) -> bool:
    """Whether no question is needed: the sentence calls the old value past, or a number at the end of equal words differs."""
    text = update.typed.text
    if not update.wordings or not update.is_value or looks_secret(text) or TASK.match(text) or saying(update):
        return False
    is_past = is_told_past(update.old, text)
    sure = update.sure and (is_past or all(_is_last_number(each, update) for each in update.statements))
    return (
        sure
        and "1" not in {update.old, update.new}  # "1 year" and "3 years"
        and update.typed.changes
        and _is_alone(update)
        and all(_is_surely_meant(each, update) for each in update.statements)
        and _stands(update, heard)
    )


def _is_last_number(statement: PlacedText, update: Update) -> bool:
    """Whether the sentence gives the last number of a statement another value, and speaks of the same and of no wider thing: not of
    "the timeout" for "the timeout of uploads", or for one in a file or below a heading about uploads. One word may be the verb of a
    statement without "is"."""
    text, said = statement.text, update.typed.text
    told, head = (each.lower().split() for each in (said, _up_to(text, update.old)))
    known = words_of(f"{said} {update.old}")
    before_own = [before for before, word in pairwise(("the", *head)) if words_of(word) - known]
    is_verb = ":" not in text and lexicon.IS.isdisjoint(head) and {*before_own} <= {*told} - lexicon.FILLER
    is_order = not update.thing and _TELLS.isdisjoint((*told, *head))
    is_named = update.thing or statement.reading.anchors & read(said).anchors  # "PostgreSQL 15"
    is_wider = len(before_own) > is_verb or not (is_named or topics(statement) <= words_of(f"{said} {text}"))
    return is_last_number(text, update.old, said, update.new) and not is_wider and not is_order


def _is_alone(update: Update) -> bool:
    """Whether no other statement could be meant, and those that are say it of one thing: "the timeout" may be of two. One that says
    no more than the sentence is meant before others."""
    text, said = update.typed.text, words_of(f"{update.typed.text} {update.old}")
    own = {frozenset(words_of(each.text) - said) for each in update.statements if each.source == "body"}
    return len(own) < 2 and not any(
        (with_text(each, update.old, update.new) or (any(own) and exchange(each.text, text, update.thing)))
        and _is_surely_meant(each, update)
        for each in update.about
        if each not in update.statements
    )


def _is_surely_meant(statement: PlacedText, update: Update) -> bool:
    """Whether the sentence names no other thing, environment or day, both have more in common than values, and the statement says
    hardly anything else before the value: not "builds are slow because CI runs on CircleCI", "A and B listen on 8080"."""
    text, values = update.typed.text, words_of(f"{update.old} {update.new}")
    place = " . ".join((statement.path, *statement.headings, statement.text))
    around = read(place)
    dated = any(value.kind == "date" for value in around.values)
    shared = (words_of(statement.text) & words_of(text)) - values
    environments = environments_of(statement) == read(text).environments
    head = _up_to(statement.text, update.old)
    own = words_of(head) - words_of(f"{text} {update.old}")
    is_of_it = bool(shared) and len(own) < MOST_OWN - (" and " in head) and _says_it_is_so(statement, text)
    return is_of_it and says_only(text, update.old, update.new, place) and environments and not dated


def _says_it_is_so(statement: PlacedText, text: str) -> bool:
    """Whether a statement says something like the sentence: not "it used to listen on 8080", "never use 8080", "is it 8080?"."""
    mine, theirs = parsed(statement.text), parsed(text)
    states = {word for _, word in mine.marked} - {word for _, word in theirs.marked}
    states |= (mine.raw - theirs.raw) & lexicon.MODALS
    is_apart = statement.raw.lstrip("-*+ ").startswith((">", "~~", "[x]", "[X]"))
    return not (states or mine.asks or is_apart) and _denies_as(statement, text.replace("no longer", ""))


def _stands(update: Update, heard: Sequence[Heard]) -> bool:
    """Whether nothing typed later takes it back."""
    words = words_of(f"{update.typed.text} {update.old}")
    later = heard[heard.index(update.heard) + 1 :]
    return not any(REVERTED.search(each.prompt.text) and words & words_of(each.prompt.text) for each in later)


# --- Updating -------------------------------------------------------------------------------------------------------


def update(rec: Recorder, heard: Sequence[Heard], *, learns: bool) -> tuple[set[str], set[str]]:
    """Write certain new values into memory. Returns the sentences that it now has, so that other steps do not use them again,
    and, if something is to be learnt, those that the person is asked about."""
    changes = any(typed.may_change for each in heard for typed in each.typed)
    done, unsure = set[str](), set[str]()
    if not changes and not learns:
        return done, unsure
    index = StatementIndex({path: text for path, text in rec.tree.texts.items() if not is_log(path)})
    wanted = "\n".join(wish.quote for each in heard for wish in each.wishes if wish.fact)
    for typed in (typed for each in heard for typed in each.typed if typed.changes):
        told = read(typed.text)
        numbers = {each.key for each in told.values if each.is_measured} if told.denials else set()
        known = (each.reading.terms.keys() for number in numbers for each in index.with_words([number]))
        if typed.quote not in wanted and any((told.terms.keys() & words) - numbers for words in known):
            unsure |= {typed.text, typed.quote}  # "we don't use port 9090 any more"
    for each in list(updates(index, heard)):
        rec.report.checkpoint()
        said = {each.typed.text, each.typed.quote}
        is_said = not each.wordings and saying(each)  # word for word, so that it is not learnt either
        if changes and (is_said or (is_certain(each, heard) and _write(rec, each))):
            done |= said
        elif each.wordings:
            unsure |= said
    return done, unsure


def _write(rec: Recorder, each: Update) -> bool:
    if not all(rec.tree.rewordable(wording.statement.path) for wording in each.wordings):
        return False
    quote, note = each.typed.quote, "You said that it has changed."
    made = reword(rec, each.wordings, each.heard.reason(quote), note, (each.heard.citation(quote),))
    rec.count("updated", made)
    return made
