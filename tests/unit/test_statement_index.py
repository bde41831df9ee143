"""Which statements of a directory tell one fact, where a value is said, and which rule keeps two apart."""

from __future__ import annotations

from unittest import mock

from hypothesis import given, strategies as st

from dreams.lib.prose.comparing import compare, says_more
from dreams.lib.prose.exchanges import is_told_past, things
from dreams.lib.prose.statement_index import StatementIndex, statements_of
from dreams.lib.prose.statement_pairs import PlacedText, places_of
from dreams.lib.prose.statements import statement
from dreams.lib.prose.values import read
from tests.world.cases import each
from tests.world.strategies import tries


def note(text: str, description: str = "") -> str:
    head = f"description: {description}\n" if description else ""
    return f"---\nname: a note\n{head}type: project\n---\n\n{text}\n"


PARAPHRASES = [
    ("ledger-worker listens on port 41873.", "Use port 41873 when you curl ledger-worker."),
    ("ledger-worker listens on port 41873.", "To reach ledger-worker, connect to localhost:41873."),
    ("Timeouts of the search API are 45 seconds.", "search API: timeout 45s"),
    ("Carla Castellanos owns the import gateway.", "Reviews of the import gateway go to Carla Castellanos."),
    (
        "Run `make verify-xenon` before a change of cache-indexer.",
        "cache-indexer needs a green make verify-xenon first.",
    ),
]
APART = [
    (
        "The worker listens on port 41873 in staging.",
        "The worker listens on port 41873.",
        "environments differ",
    ),
    (
        "Never squash commits of the relay branch.",
        "Squash commits of the relay branch.",
        "one denies what the other says",
    ),
    (
        "Carla Castellanos owns the import gateway.",
        "Carla Castellanos owns the export gateway.",
        "they have opposite words",
    ),
    (
        "ledger-worker keeps backups for 30 days.",
        "ledger-worker keeps backups for 30 weeks.",
        "one number counts two things",
    ),
    (
        "The bus service number 2 starts at the harbour with crew 14.",
        "Number 14 starts at the harbour with crew 98.",
        "one number counts two things",
    ),
    (
        "Tag every release of the billing client by hand.",
        "Tag every release of the search client by hand.",
        "one word stands for another",
    ),
    (
        "The lantern service keeps its rows in the lantern table.",
        "The basalt service keeps its rows in the basalt table.",
        "one word stands for another",
    ),
    ("MailSorter runs on Node 22.", "`ledger-worker` runs on Node 22.", "each says it of another thing"),
    (
        "`ledger-worker` writes to `s3://acme/logs` at 02:00 UTC.",
        "`ledger-mailer` writes to `s3://acme/logs` at 02:00 UTC.",
        "they name two things",
    ),
]


@each(("one", "other"), PARAPHRASES)
def test_one_fact_in_other_words_is_the_same(one: str, other: str) -> None:
    assert compare(one, other).relation == "same"


@each(("one", "other", "rule"), APART)
def test_a_veto_keeps_two_apart_and_says_which_it_was(one: str, other: str, rule: str) -> None:
    found = compare(one, other)
    assert (found.relation, found.rule) == ("none", rule)


def test_one_thing_with_two_values_names_both() -> None:
    found = compare("ledger-worker listens on port 41873.", "Use port 50020 when you curl ledger-worker.")
    assert found.relation == "other value"
    assert (found.old and found.old.key, found.new and found.new.key) == ("41873", "50020")


def test_two_things_with_a_value_each_are_no_pair() -> None:
    assert (
        compare("ledger-worker listens on port 41873.", "audit-worker listens on port 41874.").relation
        == "none"
    )


def test_a_name_with_a_capital_inside_is_a_name_at_the_beginning_too() -> None:
    first, second = (
        "graniteMixer gives up on a webhook after 5 tries.",
        "5 tries of a webhook, then graniteMixer gives up.",
    )
    assert read(first).anchors == read(second).anchors == {"granitemixer", "5"}


def test_a_fact_in_five_files_is_one_group() -> None:
    told = [
        "ledger-worker listens on port 41873.",
        "Use port 41873 when you curl ledger-worker.",
        "The port of ledger-worker is 41873.",
        "Connect to ledger-worker at localhost:41873.",
        "Port 41873 belongs to ledger-worker.",
    ]
    index = StatementIndex({f"note{at}.md": note(text) for at, text in enumerate(told)})
    groups = index.possible_duplicates()
    assert [[each.text for each in places_of(group)] for group in groups] == [told]


@each("copies", [6, 16, 30])
def test_one_sentence_in_many_files_is_one_group(copies: int) -> None:
    told = "Run `make check` before every push, because CI runs the same target."
    index = StatementIndex({f"note{at:02}.md": note(told) for at in range(copies)})
    (group,) = index.possible_duplicates()
    assert len(places_of(group)) == copies


@each("copies", [2, 9, 16, 30])
def test_one_sentence_in_many_long_files_is_one_group_without_a_rare_word(copies: int) -> None:
    told = "Read the whole change aloud before you ask anybody for a review."
    others = "- The box q{0} is on floor {0}.\n- Ask q{0} about crate {0}.\n- Lamp q{0} needs bulb {0}.\n"
    files = {f"note{at:02}.md": note(f"- {told}\n{others.format(at)}") for at in range(copies)}
    groups = StatementIndex(files).possible_duplicates()
    assert [{each.text for each in places_of(group)} for group in groups] == [{told}]
    assert len(places_of(groups[0])) == copies


def test_copies_for_two_environments_are_not_in_one_group_however_many_there_are() -> None:
    told = "Run `make check` before every push, because CI runs the same target."
    names = [f"{name}{at:02}.md" for at in range(8) for name in ("staging_", "production_", "note_")]
    for group in StatementIndex({name: note(told) for name in names}).possible_duplicates():
        assert len({each.path.partition("_")[0] for each in places_of(group)}) == 1


def test_a_body_that_names_a_value_leans_on_the_one_that_says_it_and_rows_and_descriptions_do_not() -> None:
    index = StatementIndex(
        {
            "MEMORY.md": "- [Port](port.md) - ledger-worker on 41873\n",
            "port.md": note("ledger-worker listens on port 41873.", "The port 41873 of ledger-worker"),
            "run.md": note("Run curl localhost:41873 after each deploy."),
        }
    )
    said = next(each for each in index.statements if (each.path, each.source) == ("port.md", "body"))
    assert [each.path for each in index.with_words(["41873"]) if each != said] == ["run.md"]


def test_lines_of_one_list_are_members_of_it() -> None:
    body = "- `npm run build-web` builds the web client\n- `npm run build-api` builds the API client"
    assert StatementIndex({"a.md": note(body)}).pairs == []


@each(
    "name",
    [
        "2026-03-01.md",
        "checkpoint-20260301.md",
        "DONE-APRIL-11.md",
        "plan-BQ-003.md",
        "retros/port_arc.md",
        "archive/port.md",
        "years/1976.md",
        "PORT_03-14-26.md",
    ],
)
def test_the_record_of_a_day_or_a_task_is_asked_about_by_nobody(name: str) -> None:
    files = {
        name: note("ledger-worker listens on port 41873."),
        "port.md": note("The port of ledger-worker is 41873."),
    }
    assert StatementIndex(files).pairs == []


def test_three_values_of_one_form_are_three_things() -> None:
    files = {f"n{at}.md": note(f"The retention of {at} logs is {at} days.") for at in (30, 40, 50)}
    assert StatementIndex(files).two_values() == []


@each(
    ("one", "other"),
    [
        (
            "- Height: 32px | Padding: `8px 16px` | Radius: 64px (pill)",
            "- Height: 32px | Padding: `8px 16px` | Radius: 100px (pill)",
        ),
        ("- **OS:** `Ubuntu` 24.04.3 LTS", "- **OS**: `Ubuntu` 24.04.2 LTS"),
    ],
)
def test_fields_of_two_things_are_no_two_values(one: str, other: str) -> None:
    index = StatementIndex({"reference_chips.md": note(one), "reference_tabs.md": note(other)})
    assert index.pairs == []
    alike = StatementIndex({"chips.md": note(one), "more_chips.md": note(other)})
    assert len(alike.pairs) == 1


def test_related_statements_come_closest_first() -> None:
    index = StatementIndex(
        {
            "a.md": note("ledger-worker listens on port 41873."),
            "b.md": note("ledger-worker writes its logs to /var/log/ledger."),
            "c.md": note("Lunch is at noon."),
        }
    )
    said = "Which port does ledger-worker listen on?"
    assert [each.path for each, _ in index.related(PlacedText("", "body", 1, 1, said, said))] == [
        "a.md",
        "b.md",
    ]


@given(st.text(max_size=400))
@tries(60, 200)
def test_any_text_can_be_read(text: str) -> None:
    reading = read(text)
    assert all(0 <= value.start < value.end <= len(text) for value in reading.values)
    assert all(weight > 0 for weight in reading.terms.values())


@given(st.text(max_size=200), st.text(max_size=200))
@tries(60, 200)
def test_comparing_does_not_depend_on_the_order(one: str, other: str) -> None:
    assert compare(one, other).relation == compare(other, one).relation


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}\.md", fullmatch=True), st.text(max_size=300), max_size=5))
@tries(30, 100)
def test_every_statement_is_on_the_lines_that_it_names(files: dict[str, str]) -> None:
    for one in statements_of(files):
        lines = files[one.path].splitlines()
        assert 1 <= one.first_line <= one.last_line <= max(1, len(lines))


def test_a_title_of_a_list_in_bold_is_no_statement() -> None:
    text = "**What was measured (2026-05-29):**\n\n- The pump holds at 40 bar for an hour.\n"
    assert [each.text for each in statements_of({"pump.md": text})] == [
        "The pump holds at 40 bar for an hour."
    ]


@each(
    "text",
    [
        "Noted Apr 20, 2026. Not yet built.",
        "**Results of tier 2 (2022-01-03 to 2026-05-29, bear-inclusive):**",
        "**Date:** 2026-02-15 **Skill:** citizen v1.0.0 **Auditor:** Ralph",
        "Baseline of job 224: +112.8 % (16.3 % a year), Sharpe 0.83, drawdown -17.9 %",
    ],
)
def test_what_tells_nothing_by_itself_is_no_double(text: str) -> None:
    files = {f"{name}.md": f"---\nname: {name}\ntype: project\n---\n\n{text}\n" for name in ("one", "two")}
    assert not StatementIndex(files).possible_duplicates()


FILLERS = "\n".join(
    f"- The {word} of the shop is painted {word}-{word} by hand.\n"
    for word in ["roof", "gate", "fence", "door", "wall"]
)


def grouped(*told: str, names: tuple[str, ...] = ("harbour_rules.md", "loading_dock.md")) -> list[list[str]]:
    """What is taken for one fact, of statements in files that say much else."""
    index = StatementIndex(
        {
            name: note(f"{FILLERS.replace('shop', name[:-3])}\n{text}")
            for name, text in zip(names, told, strict=True)
        }
    )
    return [[each.text for each in places_of(group)] for group in index.possible_duplicates()]


def test_two_long_files_tell_one_fact_where_most_of_what_is_rare_in_both_is_common() -> None:
    first = "- **Inheritance** is off for `pump-reader`: a pump has its own valve, ladder and pressure plate"
    second = "`pump-reader` has no inheritance, since each pump has its own valve, its ladder and a pressure plate."
    assert grouped(first, second) == [[first.removeprefix("- "), second]]


def test_a_fact_that_three_long_files_tell_is_one_group() -> None:
    told = (
        "- **Inheritance** is off for `pump-reader`: a pump has its own valve, ladder and pressure plate",
        "`pump-reader` has no inheritance, since each pump has its own valve, its ladder and a pressure plate.",
        "No inheritance for `pump-reader`: every pump has a valve of its own, a ladder and a pressure plate",
    )
    assert grouped(*told, names=("harbour_rules.md", "loading_dock.md", "night_shift.md")) == [
        [each.removeprefix("- ") for each in told]
    ]


def test_a_short_memory_and_a_long_one_tell_one_fact() -> None:
    one, other = "Questions about `pump-reader` go to Odette Nakagawa", "Odette Nakagawa owns `pump-reader`"
    index = StatementIndex({"harbour.md": note(f"{FILLERS}\n- {one}"), "pump_reader.md": note(other)})
    assert [[each.text for each in places_of(group)] for group in index.possible_duplicates()] == [
        [one, other]
    ]


def test_a_short_memory_that_names_the_same_and_nothing_else_tells_one_fact_in_other_words() -> None:
    one = "`pump-reader` persists everything in CockroachDB; there is no second copy anywhere."
    other = "The system of record behind `pump-reader` is CockroachDB."
    third = "The backups of `pump-reader` in CockroachDB are kept for 14 days."
    files = {"harbour.md": note(f"{FILLERS}\n- {one}"), "pump_reader.md": note(other)}
    (group,) = StatementIndex(files).possible_duplicates()
    assert [each.text for each in places_of(group)] == [one, other]
    assert StatementIndex({**files, "harbour.md": note(f"{FILLERS}\n- {third}")}).possible_duplicates() == []


def test_few_words_that_name_the_same_tell_one_fact_in_long_files_as_well() -> None:
    one, other = "Questions about `pump-reader` go to Odette Nakagawa", "Odette Nakagawa owns `pump-reader`"
    rows = "".join(f"- [{name}]({name}.md) — the {name}\n" for name in ("roof", "gate", "fence", "wall"))
    files = {"harbour.md": note(f"{FILLERS}\n- {one}"), "MEMORY.md": f"# Memory\n\n{other}.\n\n{rows}"}
    [[found]] = StatementIndex(files).possible_duplicates()
    assert {found.one.text, found.other.text} == {f"{other}.", one}


def test_a_copy_about_another_thing_joins_no_group_and_keeps_nothing_out() -> None:
    told = (
        "The job history of `pump-reader` lives in ClickHouse, which the team operates anyway.",
        "We chose ClickHouse for the job history of `pump-reader`, since we were running it already.",
        "The job history of gate/keeper lives in ClickHouse, which the team operates anyway.",
    )
    files = {f"{name}.md": note(text) for name, text in zip(("pump", "reader", "gate"), told, strict=True)}
    groups = StatementIndex(files).possible_duplicates()
    assert ["pump.md", "reader.md"] in [[each.path for each in places_of(group)] for group in groups]


def test_a_line_that_names_the_file_of_the_other_is_its_summary() -> None:
    told = "Always schedule the deploys of `pump-reader` as entries of the list of tasks"
    index = StatementIndex(
        {
            "rules.md": note(f"{FILLERS}\n- {told}. See `schedule_deploys.md`"),
            "schedule_deploys.md": note(f"{told}."),
        }
    )
    assert index.possible_duplicates() == []


@each("link", ["`schema.md`", "`data-a.md`", "[[architecture]]"])
def test_a_longer_name_that_has_the_name_of_the_other_file_in_it_does_not_lead_to_it(link: str) -> None:
    told = "Always schedule the deploys of `pump-reader` as entries of the list of tasks"
    files = {"rules.md": note(f"{FILLERS}\n- {told}. See {link}"), "a.md": note(f"{told}.")}
    assert len(StatementIndex(files).possible_duplicates()) == 1


def test_the_kind_in_a_file_s_name_is_not_its_topic() -> None:
    one, other = "We hold the quartz pump at 13.2.2", "The quartz pump is pinned to 13.2.2"
    files = {"builds_alerts.md": note(f"{FILLERS}\n- {one}"), "reference_the_quartz_pump.md": note(other)}
    (group,) = StatementIndex(files).possible_duplicates()
    assert [each.text for each in places_of(group)] == [one, other]


def test_another_word_in_another_order_does_not_tell_two_statements_apart() -> None:
    one = "**Inheritance** is off for `pump-reader`: a pump has its own valve, ladder and pressure plate"
    other = (
        "No inheritance for `pump-reader`: every pump has a valve of its own, a ladder and a pressure plate"
    )
    assert compare(one, other).relation == "same"


@each(
    ("first", "second", "is_one"),
    [
        (
            "港口的起重机在大风时必须停机，由值班员登记时间",
            "大风时港口起重机必须停机，值班员要登记时间",
            True,
        ),
        ("港口的起重机在大风时必须停机，由值班员登记时间", "港口的拖船每年春天由船厂重新油漆一次", False),
        ("大风时必须停机", "大风时必须关门", False),  # few words
        (
            "強風のときは港のクレーンを必ず停止し、当番が時刻を記録する",
            "港のクレーンは強風のとき必ず停止し、当番が時刻を記録すること",
            True,
        ),
    ],
)
def test_words_that_no_space_divides_tell_one_fact_as_well(first: str, second: str, is_one: bool) -> None:
    assert grouped(first, second) == ([[first, second]] if is_one else [])


@each(
    "second",
    [
        "Inheritance of a `pump-reader` went away with the ladder, the valve and the pressure plate, which the harbour master "
        "sold in spring to a museum on the other bank, whose keeper paints boats.",  # much else
        "Inheritance is off for `pump-reader`, as a pump has its own valve, ladder and pressure plate of 40 bar.",
    ],
)
def test_much_else_or_a_value_of_its_own_is_another_fact_of_a_long_file(second: str) -> None:
    first = "Inheritance is off for `pump-reader`, as a pump has its own valve, ladder and pressure plate of 30 bar."
    assert grouped(first, second) == []


@each(
    ("one", "other"),
    [
        (
            "- `src/registry.py` — dynamic domain loader via manifests",
            "`src/registry.py` dynamically discovers domains",
        ),
        ("**Market endpoints:** `docs/market-platform.md`.", "**Market schema:** `docs/market-platform.md`."),
        (
            "- [[retry_rule]] — the original 0ms-for-optional-elements rule",
            "- [[retry_rule]] — the 0ms-for-optional-elements rule these helpers break",
        ),
        (
            "The `pump-reader` reads `tools/trace.txt` for each stall (see [[loading_dock]]).",
            "The `pump-reader` reads `tools/trace.txt` for each stall that there is.",
        ),
        (
            "Sorting: BubbleSort, MergeSort, QuickSort, RadixSort",
            "Phase 1 (2026-03-30): the scaffold and 4 sorting pages (BubbleSort, MergeSort, QuickSort, RadixSort)",
        ),
    ],
)
def test_members_of_a_list_labelled_values_and_events_are_no_doubles(one: str, other: str) -> None:
    assert grouped(one, other) == []


def test_a_title_above_a_statement_is_none() -> None:
    told = "We are on 3.31.5 of `pump-reader` and stay there until somebody lifts the pin."
    assert [each.text for each in statements_of({"a.md": note(f"a note\n\n{told}")})] == [told]


def test_a_note_behind_an_angle_is_a_statement_and_a_quotation_is_none() -> None:
    told = "The pier gate closes at noon."
    assert [each.text for each in statements_of({"a.md": note(f"> {told}\n\n> “{told}”")})] == [told]


def test_two_notes_behind_angles_are_remarks_on_their_files_and_no_doubles() -> None:
    told = "Moved here from the `pier-gate` log to keep it under 25 KB."
    assert not StatementIndex({"a.md": note(f"> {told}"), "b.md": note(f"> {told}")}).possible_duplicates()
    assert StatementIndex({"a.md": note(f"> {told}"), "b.md": note(told)}).possible_duplicates()


def test_the_day_that_a_line_begins_with_is_no_value() -> None:
    told = "the relay was moved to db-7 by Ana"
    files = {"one.md": note(f"- 2026-03-01: {told}"), "two.md": note(f"- 2026-04-02: {told}")}
    assert StatementIndex(files).two_values() == []


def test_the_number_that_files_are_named_by_is_no_value() -> None:
    files = {
        "phase_3.md": note("**Status**: not started (after Phase 2)"),
        "phase_4.md": note("**Status**: not started (after Phase 3)"),
    }
    assert StatementIndex(files).two_values() == []


@each("mark", ["'", "’"])
def test_whose_a_thing_is_makes_no_other_word_of_it(mark: str) -> None:
    assert statement(f"The server{mark}s port is 80.").weights == statement("The server port is 80.").weights


def test_no_statement_of_a_thing_is_read_if_there_are_too_many_to_choose_from() -> None:
    lines = [f"ledger-worker of region {number} listens on {41_000 + number}." for number in range(300)]
    index = StatementIndex({"ports.md": note("\n\n".join(lines))})
    real = PlacedText.reading.fget
    read_again: list[str] = []

    def reading(placed: PlacedText) -> object:
        read_again.append(placed.text)
        return real(placed)  # type: ignore[misc]  # a property has a getter

    for line in lines[:2]:
        first = list(things(index, line))
        read_again.clear()
        with mock.patch.object(PlacedText, "reading", property(reading)):
            assert list(things(index, line)) == first
    assert ("ledger-worker", []) not in first and len(read_again) < 50


@each(
    ("value", "said", "past"),
    [
        ("4", "It has 8 stages, down from 4.", True),
        ("4", "It has 8 stages, down from 4.5 on average.", False),
        ("10", "It went from 10,000 to 12,000.", False),
        ("v1", "Moved from v1.2 to v2.", False),
        ("23", "There are 187, down from 238.", False),
        ("1.2", "Upgraded from `1.2`, which was slow.", True),
    ],
)
def test_a_part_of_a_past_number_is_not_told_past(value: str, said: str, past: bool) -> None:
    assert is_told_past(value, said) is past


def test_a_comma_in_code_ends_no_clause_so_that_marks_alone_say_no_more():
    told = "`Lens` / `Prism` takes two functions: `from_view(get, set)`, `.view(s)`, `.over(s, f)`"
    assert not says_more(told, told.replace("`Lens` / `Prism`", "**`Lens` / `Prism`**"))
    assert not says_more(
        "The queue is drained at night, `drainctl --all` empties it",
        "`drainctl --all` drains the queue at night",
    ), "the code is a part of its clause"
