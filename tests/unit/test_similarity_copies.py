"""An edited copy of a statement is another one, whatever was edited; moving a phrase or adding a reason is no edit."""

from hypothesis import given, strategies as st

from dreams.lib.prose.comparing import compare, same
from tests.world.cases import each
from tests.world.strategies import tries

LINES = [
    "The exporter writes one file per customer and compresses it before the upload to the bucket",
    "Reviewers look at the database changes first, the layout is checked by the design team afterwards",
    "Feature branches are rebased on the release branch every morning so that conflicts stay small",
    "When the sensor sends no reading for 40 seconds the controller closes the valve and raises an alarm",
    "The glossary is kept in `docs/terms.md` and translated by the partners, not by the build",
    "Invoices must be rounded half up and are stored in cents, the page shows them in euros",
]
# Each line: what stands there | what a look-alike makes of it.
EDITS = """
one file|one archive
per customer|per order
before the upload|after the upload
the upload to the bucket|the download to the bucket
the upload to the bucket|the nightly upload to the bucket
writes|may write
database changes|layout changes
by the design team|by the backend team
every morning|every second morning
every morning|most mornings
rebased on|merged with
stay small|stay small in the mobile app
40 seconds|40 minutes
no reading|a reading
closes|opens
closes the valve|closes the outer valve
the controller|the technician
raises an alarm|raises an alarm unless it is muted
raises an alarm|raises an alarm on weekdays
`docs/terms.md`|`docs/words.md`
is kept|was kept
the glossary|the legacy glossary
not by the build|and by the build
must be|may be
half up|half down
in cents|in euros
in euros|in euros for resellers
in euros|in euros and Petra checks them
""".strip().splitlines()


@each("edit", EDITS)
def test_one_thing_changed_makes_a_copy_another_statement(edit: str) -> None:
    old, new = edit.split("|")
    for line in LINES:
        copy = line.replace(old, new) if old in line else line.replace(old.capitalize(), new.capitalize())
        if copy != line:
            assert not same(line, copy)
            return
    raise AssertionError(f"no line has {old!r}")


PHRASES = [
    " for resellers",
    " on Thursdays",
    " in the mobile app",
    " within the archive module",
    " until the audit is over",
    " and Petra watches the queue",
    " and the port is 7411",
    " if the cache is warm",
    " except for guests",
    ", but only on Thursdays",
    " since 2024-11-05",
]


@each("phrase", PHRASES)
@each("line", LINES)
def test_a_phrase_put_in_at_the_end_or_before_a_comma_makes_another_statement(line: str, phrase: str) -> None:
    copies = [line + phrase, line.replace(",", phrase + ",", 1)]
    assert not any(same(line, copy) for copy in copies if copy != line)


@tries(20, 60)
@given(st.sampled_from(LINES), st.data())
def test_two_words_that_change_places_make_another_statement(line: str, data: st.DataObject) -> None:
    words = line.split()
    places = [
        n
        for n, word in enumerate(words)
        if len(word) > 4 and word.isalpha() and word not in {"before", "every"}
    ]
    one, other = sorted(data.draw(st.lists(st.sampled_from(places), min_size=2, max_size=2, unique=True)))
    between = words[one + 1 : other]
    listed = "and" in between or any(word.endswith(",") for word in between)
    if not between or listed or words[one][:5].lower() == words[other][:5].lower():
        return  # members of a list may change places
    words[one], words[other] = words[other], words[one]
    assert not same(line, " ".join(words))


MOVED = """
In the sandbox the mailer drops every message|The mailer drops every message in the sandbox
Restart the broker after changing its certificates|After changing its certificates, restart the broker
The gateway strips cookies from static files|Cookies are stripped from static files by the gateway
The player silently drops late frames|The player drops late frames silently
On 4 May 2026 the old login was switched off for partners|The old login was switched off for partners on 2026-05-04
The probe waits 1500 ms between two attempts|Between two attempts the probe waits 1.5 seconds
Needs Ruby 3.2 or later for the asset build|For the asset build Ruby 3.2 or newer is needed
Normalise the catalogue colours before they are serialised|Before they are serialized, normalize the catalog colors
fix: release the semaphore when the worker dies|Release the semaphore when the worker dies
As a reminder, the kiosk build has no keyboard|The kiosk build has no keyboard
The tower logs alarms|Alarms are logged by the tower
Which berth do the tugs use? The `north` berth.|The tugs use the `north` berth
Harbour stack: Zonda, Querva, Mailpit|The harbour stack consists of Zonda, Querva and Mailpit
""".strip().splitlines()


def test_a_phrase_that_moved_or_is_spelt_otherwise_is_likely_the_same() -> None:
    pairs = [pair.split("|") for pair in MOVED]
    likely = [pair for pair in pairs if compare(*pair).relation == "same"]
    assert len(likely) >= 0.8 * len(pairs)


TURNED = """
We used Querva for sessions|We use Querva for sessions
The kiosk app supported offline mode|The kiosk app supports offline mode
Write German for harbour mails, English for code|Harbour mails are written in English; code and comments in German
Pilots report wrecks and clerks file reports|Clerks report wrecks and pilots file reports
Git LFS hooks block push on the build host; git-lfs not installed|Zeva LFS hooks block push on the build host since git-lfs is not installed, so install or bypass it
Karim reviews the drafts of Ingrid|The drafts of Karim are reviewed by Ingrid
Bea trains Otto on the new console|Bea is trained by Otto on the new console
Copy the fixtures from the archive into the sandbox first|Copy the fixtures from the sandbox into the archive first
Before pushing a tag, check the notes and wait a day|After pushing a tag, check the notes and wait a day
Show a banner above the list of open orders|Show a banner below the list of open orders
Tide engine: avoid globals|In the tide engine you need not avoid globals any longer
The crew breaks a wooden crate against a hull|The crew breaks wooden hulls with a crate
Skip files matching mask|Skip files matching mask in file
Close and lock the gate|Closes the gate and locks it as a flood gate
""".strip().splitlines()


@each("pair", TURNED)
def test_who_does_it_which_way_it_goes_and_whether_it_still_does_makes_two(pair: str) -> None:
    a, b = pair.split("|")
    assert not same(a, b)
    assert not same(b, a)


def test_a_text_beyond_what_is_read_is_the_same_only_letter_for_letter() -> None:
    long = "The ledger of the depot lists each pallet once. " * 500
    assert same(long, long)
    assert not same(long, long + "And nobody signs it.")
    assert not same("word " * 1500 + "a", "word " * 1500 + "b")


def test_the_same_few_words_in_any_order_are_not_sure() -> None:
    assert not same("alpha beta gamma delta " * 20, "delta gamma alpha beta " * 20)
