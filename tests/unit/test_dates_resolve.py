"""Phrases that surely name a date become one; all others stay. The reference is Wednesday 2026-03-04 unless said."""

import datetime as dt
import itertools
import zoneinfo

from hypothesis import given, strategies as st

from dreams.lib.prose.dates import resolve, rewrite, writable_spans
from tests.world.cases import each
from tests.world.strategies import tries

WEDNESDAY = dt.date(2026, 3, 4)

RESOLVED = [
    # text, iso, rewritten
    ("deployed yesterday", "2026-03-03", "deployed on 2026-03-03"),
    ("Yesterday we deployed the API.", "2026-03-03", "On 2026-03-03 we deployed the API."),
    ("**Yesterday**: renamed it", "2026-03-03", "**2026-03-03**: renamed it"),
    ("Since yesterday the build is red", "2026-03-03", "Since 2026-03-03 the build is red"),
    ("before yesterday's fix", "2026-03-03", "before 2026-03-03's fix"),
    ("As of today the branch is green", "2026-03-04", "As of 2026-03-04 the branch is green"),
    ("it broke this morning", "2026-03-04", "it broke on the morning of 2026-03-04"),
    ("last night the disk filled up", "2026-03-03", "on the night of 2026-03-03 the disk filled up"),
    ("it broke last Friday morning", "2026-02-27", "it broke on the morning of 2026-02-27"),
    ("Deadline is tomorrow evening", "2026-03-05", "Deadline is on the evening of 2026-03-05"),
    ("rewrote it the day before yesterday.", "2026-03-02", "rewrote it on 2026-03-02."),
    ("`onyx-renderer` is retired tomorrow", "2026-03-05", "`onyx-renderer` is retired on 2026-03-05"),
    ("leaves the day after tomorrow", "2026-03-06", "leaves on 2026-03-06"),
    ("fixed three days ago", "2026-03-01", "fixed on 2026-03-01"),
    ("Support ends this year", "2026", "Support ends in 2026"),
    ("the 3rd of March was a Tuesday", "2026-03-03", "2026-03-03 was a Tuesday"),
    ("fixed 2 weeks ago", "2026-02-18", "fixed on 2026-02-18"),
    ("reported three months ago", "2025-12-04", "reported in 2025-12"),
    ("left 1 year and 2 months ago", "2025-01-04", "left in 2025-01"),
    ("two days before yesterday it worked", "2026-03-01", "on 2026-03-01 it worked"),
    ("10 days from now we freeze", "2026-03-14", "On 2026-03-14 we freeze"),
    ("We will need slides in 3 days", "2026-03-07", "We will need slides on 2026-03-07"),
    ("the week before last we changed it", "2026-W08", "in the week of 2026-02-16 we changed it"),
    ("shipped last week", "2026-W09", "shipped in the week of 2026-02-23"),
    ("last week's outage", "2026-W09", "2026-W09's outage"),
    ("switched last month.", "2026-02", "switched in 2026-02."),
    ("moved last quarter", "2025-Q4", "moved in 2025-Q4"),
    ("budget doubles next year", "2027", "budget doubles in 2027"),
    ("last weekend we upgraded", "2026-02-28/2026-03-02", "on the weekend of 2026-02-28 we upgraded"),
    ("in the last 3 days it failed", "2026-03-01/2026-03-04", "in the 3 days before 2026-03-04 it failed"),
    ("over the next 5 days", "2026-03-05/2026-03-10", "over the 5 days after 2026-03-04"),
    ("sales of the last 2 quarters", "2025-07-01/2026-01-01", "sales of the 2 quarters before 2026-01-01"),
    ("due at the end of this month", "2026-03-21/2026-04-01", "due at the end of 2026-03"),
    ("Early last month we dropped it", "2026-02-01/2026-02-11", "Early in 2026-02 we dropped it"),
    ("late last year", "2025-10-01/2026-01-01", "late in 2025"),
    ("met earlier this week", "2026-03-02/2026-03-04", "met earlier in the week of 2026-03-02"),
    ("last Thursday we merged", "2026-02-26", "on 2026-02-26 we merged"),
    ("This past Friday it was cut", "2026-02-27", "On 2026-02-27 it was cut"),
    ("expires next Monday", "2026-03-09", "expires on 2026-03-09"),
    ("The migration ran on Monday and failed", "2026-03-02", "The migration ran on 2026-03-02 and failed"),
    ("We will deploy on Friday.", "2026-03-06", "We will deploy on 2026-03-06."),
    ("the third Monday of last month", "2026-02-16", "2026-02-16"),
    ("last Monday of March", "2026-03-30", "2026-03-30"),
    ("Released on Feb 20", "2026-02-20", "Released on 2026-02-20"),
    ("We met on 3 January", "2026-01-03", "We met on 2026-01-03"),
    ("Friday the 6th", "2026-03-06", "2026-03-06"),
    ("User started the job in January", "2026-01", "User started the job in 2026-01"),
    ("Mid-January we migrated", "2026-01-11/2026-01-21", "In mid-2026-01 we migrated"),
    ("It shipped in Q3", "2025-Q3", "It shipped in 2025-Q3"),
    ("We changed the default yesterday", "2026-03-03", None),
    ("We moved it in February. Then we left.", "2026-02", "We moved it in 2026-02. Then we left."),
    ("It moved in Jan. It was fine.", "2026-01", "It moved in 2026-01. It was fine."),
    ("It moved in Jan. and stayed", "2026-01", "It moved in 2026-01 and stayed"),
    ("It broke last Thurs.", "2026-02-26", "It broke on 2026-02-26."),
    ("Releases were cut on Monday.", "2026-03-02", "Releases were cut on 2026-03-02."),
    ("She cut the release on Monday.", "2026-03-02", "She cut the release on 2026-03-02."),
    ("The nightly run failed yesterday", "2026-03-03", None),
    ("It has been set on Monday.", "2026-03-02", "It has been set on 2026-03-02."),
    ("Wir haben gestern umgestellt", "2026-03-03", "Wir haben 2026-03-03 umgestellt"),
    ("어제 배포했다", "2026-03-03", "2026-03-03 배포했다"),
    ("due by EOD tomorrow", "2026-03-05", None),
    ("it will ship by end of this quarter", "2026-03-01/2026-04-01", None),
    ("cut three wks ago", "2026-02-11", None),
    ("fixed yesturday", "2026-03-03", "fixed on 2026-03-03"),
    ("after last month's incident we pinned it", "2026-02", None),
    ("It is expected to land in Q3", "2026-Q3", None),
    ("The system will be down this coming weekend", "2026-03-07/2026-03-09", None),
    ("signed it at the start of the quarter", "2026-01-01/2026-02-01", None),
    ("back in November we planned it", "2025-11", None),
    ("Counsel is on leave until March 24", "2026-03-24", None),
    ("1.5.1 came out three days ago, 1.5.2 followed", "2026-03-01", None),
    ("moved to S3 earlier this year by Kim", "2026-01-01/2026-03-04", None),
    ("It was renewed in January and will expire next January", "2026-01", None),
    ("Since January mails are sent by hand", "2026-01", None),
    ("It is slow since Monday", "2026-03-02", None),
    ("DB was moved on Sunday", "2026-03-01", None),
    ("The dashboard shows that the disk filled up last night", "2026-03-03", None),
    ("Tomorrow's meeting is cancelled", "2026-03-05", None),
    ("The manager approves it next week", "2026-W11", None),
    ("The API gets a new version next month", "2026-04", None),
    ("Since last Thursday the nightly build is green", "2026-02-26", None),
    ("The policy takes effect next month", "2026-04", None),
    ("In two days the licence ends.", "2026-03-06", None),
    ("The launch is in three weeks", "2026-03-25", None),
    ("I'm flying out on Friday.", "2026-03-06", None),
    ("It was last tested in December.", "2025-12", None),
    ("User asked on Monday to stop", "2026-03-02", None),
    ("Kim said on Friday the 27th that it changed", "2026-02-27", None),
    ("the client called this morning", "2026-03-04", None),
    ("Worked on it all last week", "2026-W09", None),
    ("When did we deploy last week?", "2026-W09", None),
    ("due this upcoming Friday", "2026-03-06", None),
    ("In the past 5 days three nodes died", "2026-02-27/2026-03-04", None),
    ("The German customers onboarded this morning got nothing", "2026-03-04", None),
    ("The failure reporting that shipped yesterday prints a line on every stop", "2026-03-03", None),
    ("Removed the endpoints that were deprecated last year", "2025", None),
    ("There is a gate that appeared this morning", "2026-03-04", None),
    ("No, that is the bug that I told you about yesterday", "2026-03-03", None),
    ("He cannot sign it until tomorrow, he is on a flight", "2026-03-05", None),
    ("// Workaround for the kernel bug that we hit last year", "2025", None),
    ("Blocked since the outage last weekend", "2026-02-28/2026-03-02", None),
    ("Release 3.0 ships in three weeks", "2026-03-25", None),
    ("Code freeze until Friday, only fixes go in", "2026-03-06", None),
    ("6 failed attempts last night (the same error)", "2026-03-03", None),
    ("Lee stays away; we talked about it yesterday", "2026-03-03", None),
    ("What we agreed on last week is the other way round", "2026-W09", None),
    ("The table has no new entries since this morning's scan", "2026-03-04", None),
    ("Two boxes are out of stock. Will ship next week or offer credit.", "2026-W11", None),
    ("For example, my driver was merged yesterday.", "2026-03-03", None),
    ("One review a day (which itself failed last night) is not enough", "2026-03-03", None),
    ("I need a new scanner because mine is broken since yesterday", "2026-03-03", None),
    ("Is it still on at the end of year?", "2026-10-01/2027-01-01", None),
    ("Does Friday at 4pm work?", "2026-03-06", None),
    ("July 4", "2026-07-04", "2026-07-04"),
    ("It will be there by EOD tomorrow", "2026-03-05", None),
    ("Is Kim free next Thursday?", "2026-03-12", None),  # tomorrow would have been called so
    ("Where was it on previous Tuesday?", "2026-02-24", None),
    ("We will circle back after the board meeting on Thursday.", "2026-03-05", None),
]

# Read, and not told: (text, iso), from the same Wednesday.
ASKED = [
    ("Should we do it tomorrow instead?", "2026-03-05"),
    ("tomorrow 14:00 - 15:30", "2026-03-05"),
    ("day after tomorrow 5pm", "2026-03-06"),
]

# Larger phrases, and no piece of them.
LARGER = [
    ("We'll be away May 9 through 17", "2026-05-09/2026-05-17", "away 2026-05-09 through 2026-05-17"),
    ("We'll be away between the 9th and 17th of May", "2026-05-09/2026-05-17", "2026-05-09 and 2026-05-17"),
    ("It was down from Feb. 2 to Feb. 9", "2026-02-02/2026-02-09", "from 2026-02-02 to 2026-02-09"),
    ("We moved it in the third week of this year", "2026-W03", None),
    ("It failed in the first ten days of last year", "2025-01-01/2025-01-11", None),
    ("It will be blocked for the last 3 weeks of this year", "2026-12-14/2027-01-04", None),
    ("It fell in the last two weeks", "2026-02-18/2026-03-02", "the two weeks before 2026-03-04"),
    ("It will grow over the next 3 months", "2026-04-01/2026-06-04", "the 3 months after 2026-03-04"),
    ("She left twenty-one days ago", "2026-02-11", None),
    ("She left seventy five days ago", "2025-12-19", None),
    ("She left eighty days ago", "2025-12-14", None),
    ("We saw it earlier last week", "2026-W09", "earlier in the week of 2026-02-23"),
    ("It grew in the third quarter", "2025-Q3", None),
]

# From this, no part is read, and nothing at all.
PIECES = """
We froze from the 2nd to the 4th of this month
We will meet next week between Tuesday and Friday
Monday last week we cut it
We ran it from November to February
Aug 8 - Aug 12, 2014
since 2025-08-01 to today
He was born on 13 Sept nineteen seventy two, she in April of 87
It ran for two weeks since 2011; it happened in two years since 2011
the following Easter; 3 and 12 May were fine
A large model today needs less memory
the third week of this month
from the end of March to the middle of September
end of day Friday
In a second it is there; his last day, the next day
We shipped it a hundred and five days ago; one hundred five days ago we moved
the coming week; the ides of march
We did it 1 week ago today; she started a week ago yesterday
half a year ago we used Redux; a year and a half ago we left it; hired two and a half years ago
We shipped it in the second month of last quarter
""".strip().splitlines()

LEFT = """
die letzte Woche des Sprints
etwa vor drei Wochen
il y a environ deux jours
hace dos días que falla
오늘날 우리는 그렇게 한다
약 3일 전에 고쳤다
The dashboard covers the last 30 days
recently, currently, soon, this session, the other day, a while ago, lately, nowadays
a couple of days ago and a few weeks ago
the 30-day window is enforced; it took 3 days; it ran for two weeks
Every Monday we run the backup
Deploy window: every other Friday morning
release on Mondays and Thursdays
Monday-Friday 9 to 5
standup is on Tuesday
The Friday deploy script is broken
Black Friday sale traffic doubles
Good Friday agreement
Thanksgiving and Christmas are code freezes
- [Daily log](last_week.csv) is read by `yesterday()`
`deployed yesterday` is what the label says
"Today" tab shows current tasks
The user said "I deployed it last week"
Never say 'done by tomorrow'
today's date is injected by the harness
If today is a holiday, skip
path/today/logs, today.md, today-1, last_week, next-day, day-of-week
version 3.5 may break; we sat with march orders in a second
v2.3.0 in May be broken
this doc may march on in august company
The last week of the sprint is for testing
On the last day of each month run the report
the next day it worked again
3 days later it failed again
two days after the launch
sessions older than 3 days ago are dropped
more than two weeks ago is stale
about 3 months ago
within 7 days
tokens will expire in 30 days
timeout of 5 minutes and retry after 2 days
fixed it in 3 days
logs from May 5, 2024 and 3 March 2023
in March 2025 we moved, in Q3 2024 we froze
June 10 - 31, 2022
second Friday of the month is patch day
half of last year was spent on it
the last 3 weeks of this year are blocked
this time last year
2026-02-20: fixed it yesterday
yesterday (2026-03-03) we shipped
Sun Microsystems, Mar component, Apr rate, Dec VT100
last Monday we cut it
next Friday is free
the night before last
Release the version next week or so
31st of last month
15 hours 29 min
## This week
Moltbot (27 jan. 2026) and Date: February 8, 2026 (6 days ago)
aucune version aujourd'hui (17/02)
deployed 2 hours ago
See https://example.org/last week/today
We meet every second Thursday.
The build is cut (never on Friday).
We deployed only on Mondays.
Each last Friday of the month we patched it.
Always on Friday, we released.
Deploys were refused, not on Fridays
The report is sent on Monday.
The branch gets cut on Monday.
Reports are read on Friday and archived later.
We cut releases on Monday; users put it on Friday; we set it on Monday
Deploys are not allowed on Friday.
It was decided that deploys happen on Friday.
We decided to deploy on Friday.
User wanted the report on Friday.
If the build failed on Friday, rerun it.
Anyone who deployed on Friday was told to stop.
The team used to deploy on Friday.
We will always deploy on Friday.
Normally it was sent on Monday.
Biweekly on Monday, moved it
It broke twice a week on Friday.
We shipped on some Friday.
Rule: released on Monday. Policy: PRs merged by Friday.
The retro was moved from Monday to Friday.
Taxes are filed in March.
Contracts are renewed on March 1.
We always moved it in March.
The job runs at the end of the month.
A 'yesterday' bug; the yesterday view
the week before two weeks ago, the day after March 10, the Friday before last Monday
the last day of March was quiet; the week before last year ended
she started a week ago Monday
left it last year in March; tomorrow week; last Thursday or so
yesterday's-news and {{ yesterday }} and ${tomorrow}
Filters: Today, Yesterday, Last 7 days
| Today | Yesterday |
today / yesterday
the previous month button
The label reads yesterday, the words today and tomorrow, the song Yesterday
If it was changed last week, skip it
Dated 2026-02-01: we switched yesterday
yesterday, 3 March 2026, we switched
files within the last 7 days are shown
Sales peak in March
The job imports yesterday's orders and fetches today's teams
users see yesterday's data
compare this week with last week; this month vs last month
start_date defaults to today; default: last 30 days; the date must not be before today
range picker (this week, last week, this month)
introduced 6 months ago or more; it was fine a minute ago; an hour and a quarter of an hour ago
npm run today
Users who signed up last month get a mail; that is all
Rows older than yesterday are hidden
addDays(today, 7) and today + 7
BETWEEN yesterday AND today
The cursor jumps to today
Do not write yesterday, write the date
a sentence such as I shipped it last week
March 1, 2026: started yesterday
traffic doubles in March; traffic drops over Easter
DST ends on the last Sunday of March
It runs if due today.
The lambda forwards whatever came in last night.
Nobody uses it today; few people today remember it
What was true yesterday may be wrong today.
A run started today ends tomorrow.
let yesterday = now - 1
Tomorrow Ltd. is a customer.
Why not postpone it to next month?
The string next week is not translated.
It would open the comparison of last week.
what was the last night on which it ran
a package delivered a week ago, is noise
the timestamp from two weeks ago is looked up
the number of steps done today
Retrieve the values for this week from it
wait(); // expires next week
Days left until next week
It cannot bury what the user said yesterday.
at tomorrow -f script
Maybe next week we look again; perhaps tomorrow
Should we do it tomorrow instead?
What if we shipped it next week?
How can I list files changed since yesterday?
It is unclear whether it ships next week.
Suppose the certificate expired yesterday: what breaks?
Assuming it ships next week, docs follow
Unless something breaks, it lands next month.
When a user signs up today, the trial starts tomorrow.
A streak breaks if nothing was done yesterday.
Calls with a date before today are rejected.
Whatever was logged yesterday is shipped elsewhere.
Everything uploaded this week gets a green dot.
Any key that was created before last month must go.
Data from yesterday is in S3.
The digest covers what happened yesterday.
The bot posts what is planned for tomorrow.
The chart must include yesterday and today.
Deletes everything that changed since yesterday.
delete everything older than last month
give me all orders from last week as SQL
the current week is highlighted
The way it works today is confusing; even today most do it.
Browsers today support it.
Pay today, read tomorrow.
The Day After Tomorrow is a film, Last Week Tonight a show
The default range is last week.
Due dates default to tomorrow.
Snooze until tomorrow is an option.
The helper prints 3 days ago.
Yesterday by the Beatles plays on hold
The key `today` maps to today.
Type tomorrow into the box; pick next Monday in the widget
freeze time to yesterday
The tooltip explains what next week means.
He wrote 'we moved last week' there
**Last week** | 12 | 14
Chapter 3 March to the sea
Fix 1 may break fix 2; version 9 may need it
May 5 users share a seat?
Friday the 13th is the codename.
In January 2025 we had three, in March two.
User's birthday is on March 12.
12.11.2025: moved it yesterday
last week (W09) it was down
Tomorrow week Kim is away.
Last Tuesday or Wednesday it broke; this or next week
Recall what was decided last week
The agent forgets what you decided last week.
Each engineer tells what they shipped yesterday, what they do today
An integrator who copies a sample that broke yesterday opens a ticket.
So a database migrated last month and one migrated today end up the same
Rome was not built in a day.
It would be nice to have search by next month
Could you show me what changed last week?
Hold the board that would otherwise show yesterday's paper
Timeline with events: task created today, note added yesterday, mail sent last week
// Last month and next month
// Both habits broke yesterday, the tests pick one
docker.io/nginx         latest              3f8a4339aadd        2 weeks ago         108 MB
Calls with a date before today are refused.
It was merged yesterday or 2 days before, sometime this week
Ask for the invoice of last month if it is missing
"We moved it last week and that was that
What the story calls last night is its last night
""".strip().splitlines()


def test_a_new_line_begins_a_new_sentence() -> None:
    told = resolve("Every week we look at it\nThe fix was released on Tuesday", WEDNESDAY)
    assert [span.iso for span in told] == ["2026-03-03"]


@each(("text", "iso", "rewritten"), RESOLVED)
def test_a_phrase_with_one_reading_becomes_its_date(text: str, iso: str, rewritten: str | None) -> None:
    spans = resolve(text, WEDNESDAY)
    assert iso in [span.iso for span in spans]
    assert rewritten is None or rewrite(text, spans) == rewritten


@each(("text", "iso"), ASKED)
def test_what_is_asked_has_a_date_and_tells_none(text: str, iso: str) -> None:
    assert [(span.iso, span.told) for span in resolve(text, WEDNESDAY)] == [(iso, False)]


@each(("text", "iso", "part"), LARGER)
def test_a_larger_phrase_is_read_as_a_whole(text: str, iso: str, part: str | None) -> None:
    [span] = resolve(text, WEDNESDAY)
    assert span.iso == iso
    assert part is None or part in rewrite(text, [span])


@each("text", PIECES)
def test_no_piece_of_a_phrase_that_is_not_understood_is_read(text: str) -> None:
    assert resolve(text, WEDNESDAY) == []


@each("text", LEFT)
def test_a_vague_ambiguous_or_quoted_phrase_is_left(text: str) -> None:
    assert writable_spans(text, WEDNESDAY) == []


def test_fenced_code_is_left() -> None:
    assert resolve("```\ngit log --since yesterday\n```", WEDNESDAY) == []


@each(
    ("reference", "text", "iso"),
    [
        (dt.date(2026, 1, 1), "yesterday", "2025-12-31"),
        (dt.date(2026, 1, 1), "last week", "2025-W52"),
        (dt.date(2021, 1, 3), "this week", "2020-W53"),
        (dt.date(2026, 3, 31), "a month ago", "2026-02-28"),
        (dt.date(2024, 2, 29), "a year ago", "2023-02-28"),
        (dt.date(2026, 1, 15), "last month", "2025-12"),
        (dt.date(2026, 12, 31), "next quarter", "2027-Q1"),
        (dt.date(2026, 12, 31), "tomorrow", "2027-01-01"),
    ],
)
def test_month_and_year_ends_are_counted_right(reference: dt.date, text: str, iso: str) -> None:
    assert [span.iso for span in resolve(text, reference)] == [iso]


def test_hours_count_only_where_the_time_of_day_is_known() -> None:
    assert [s.iso for s in resolve("failed 6 hours ago", dt.datetime(2026, 3, 4, 5, 0))] == ["2026-03-03"]  # noqa: DTZ001 - a local reference
    assert resolve("failed 6 hours ago", dt.date(2026, 3, 4)) == []


def test_hours_over_a_change_of_the_clocks_are_hours_that_passed() -> None:
    half_past_one = dt.datetime(2026, 3, 30, 0, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    [span] = resolve("failed 24 hours ago", half_past_one)
    assert span.iso == "2026-03-28"  # the night of the 29th lacked an hour


def test_a_weekday_is_left_where_the_sentence_does_not_tell_which() -> None:
    assert resolve("build on Monday", WEDNESDAY) == []
    assert [s.iso for s in resolve("it was built on Monday", WEDNESDAY)] == ["2026-03-02"]
    assert [s.iso for s in resolve("we will build it on Monday", WEDNESDAY)] == ["2026-03-09"]


def test_offsets_count_code_points() -> None:
    [span] = resolve("🎉 déployé: we shipped yesterday 🎉", WEDNESDAY)
    assert "🎉 déployé: we shipped yesterday 🎉"[span.start : span.end] == span.text == "yesterday"


_VOCABULARY = (
    "yesterday today tomorrow last next this the week month year Friday Monday of in on 3 two days ago from now end "
    "early March May 5th Q3 we shipped will `code` \" ' ( ) , . : - Christmas weekend 9999 first third since été 어제"
)
WORDS = st.sampled_from([*_VOCABULARY.split(), "\n"])


@tries(50, 150)
@given(
    st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60),
    st.dates(min_value=dt.date(1, 1, 1), max_value=dt.date(9999, 12, 31)),
)
def test_any_text_and_day_give_ordered_spans_of_the_text(text: str, reference: dt.date) -> None:
    spans = resolve(text, reference)
    assert all(text[s.start : s.end] == s.text for s in spans)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    rewritten = rewrite(text, spans)
    assert len(rewritten) == len(text) + sum(len(s.written) - len(s.text) for s in spans)


@tries(20, 60)
@given(st.sampled_from([row[0] for row in (*RESOLVED, *LARGER)]))
def test_a_rewritten_text_gives_nothing_more_to_resolve(text: str) -> None:
    once = rewrite(text, resolve(text, WEDNESDAY))
    assert resolve(once, WEDNESDAY) == []
