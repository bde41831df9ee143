"""What the rules engine asks: each family's questions, without those that its own changes answer or that change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from dreams.engines.rules import questions
from dreams.engines.rules.notes.tree import NewText, Recorder
from dreams.engines.rules.questions import Inputs
from dreams.engines.rules.steps import files
from dreams.engines.types import Place, Question
from tests.world.cases import each
from tests.world.rules import dream, memory

# In two parts, so that no file of the project has what looks like a token.
TOKEN = "glpat" + "-Zk3vQ9xT7mB2nL5wR8sd"
INDEX = "- [Ports](ports.md) — which port\n"


def family_about(line_no: int, text: str, weight: float = 0.5) -> questions.Family:
    """Asks whether to remove a line of ports.md."""

    def family(context: Inputs) -> Iterator[Question]:
        def work(rec: Recorder) -> object:
            old = rec.tree.texts["ports.md"]
            return rec.operation("prune", [NewText("ports.md", old.replace(f"{text}\n", ""), "Asked.")])

        option = context.draftsman.option("remove", "Remove it", work)
        place = Place("ports.md", line_no, text)
        yield Question("expired", text, "Why not?", (place,), (option,), weight=weight)

    return family


def asked_by(
    monkeypatch: pytest.MonkeyPatch, folder: Path, body: str, *families: questions.Family
) -> list[Question]:
    monkeypatch.setattr(questions, "FAMILIES", families)
    return dream(folder, {"MEMORY.md": INDEX, "ports.md": memory(body)}).outcome.questions


def test_a_question_comes_with_what_its_answer_would_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    body = "The API listens on 8080.\n\nThe web server listens on 3000.\n"
    (asked,) = asked_by(monkeypatch, tmp_path, body, family_about(7, "The web server listens on 3000."))
    (edit,) = asked.options[0].edits
    assert edit.before == memory(body)
    assert edit.after == memory(body).replace("The web server listens on 3000.\n", "")


def test_a_line_that_the_dream_changes_is_not_asked_about(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    line = f"We moved to port 8080 with {TOKEN}."
    body = f"{line}\n\nThe web server listens on 3000.\n"
    assert asked_by(monkeypatch, tmp_path, body, family_about(5, line)) == []


def test_what_changes_nothing_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    body = "The API listens on 8080.\n"
    assert asked_by(monkeypatch, tmp_path, body, family_about(5, "No such line.")) == []


def test_one_subject_is_asked_once_and_the_most_useful_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    body = "The API listens on 8080.\n\nThe web server listens on 3000.\n"
    found = asked_by(
        monkeypatch,
        tmp_path,
        body,
        family_about(5, "The API listens on 8080.", 0.2),
        family_about(7, "The web server listens on 3000.", 0.9),
        family_about(7, "The web server listens on 3000.", 0.8),
    )
    assert [asked.subject for asked in found] == [
        "The web server listens on 3000.",
        "The API listens on 8080.",
    ]


def test_one_value_of_one_thing_told_in_two_ways_is_asked_about(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory("team-otter maintains BirchVault\n"),
        "b.md": memory("- BirchVault belongs to team-otter\n- The docs are built with Sphinx.\n"),
    }
    (question,) = [each for each in dream(tmp_path, files).outcome.questions if each.kind == "same"]
    assert {place.path for place in question.places} == {"a.md", "b.md"}


READS = "The reader of `ledger-worker` is drafted by Ana"


@each(
    "body",
    [
        f"In order:\n\n1. The writer is done\n2. {READS}\n\n**What remains:**\n\n- {READS}\n",
        f"In May:\n- {READS}\n- The writer is done\n\nIn June:\n- {READS}\n",
        f"- In May it was begun\n  - {READS}\n- In June it is done\n  - {READS}\n",
    ],
)
def test_what_one_file_says_in_two_lists_is_no_double(tmp_path: Path, body: str) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(body)}
    assert of_kind(tmp_path, "same", files) == []


WORDS = ("Linting", "Packing", "Signing", "Mirroring", "Indexing", "Warming", "Sealing", "Sorting")
NOTED = [(word, thing) for thing in ("marlow importer", "otter exporter") for word in WORDS]
OWN = [f"- {word} of the {thing} took {n} minutes.\n" for n, (word, thing) in enumerate(NOTED, 31)]


def test_what_two_diaries_name_is_no_double(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](release_2026-02-12.md)\n- [B](release_2026-02-13.md)\n",
        "release_2026-02-12.md": memory("- **Harbour Scanner (v2026.2.6)**\n"),
        "release_2026-02-13.md": memory("- Harbour Scanner native v2026.2.6\n"),
    }
    assert not dream(tmp_path, files).outcome.questions


def test_a_form_that_was_filled_in_for_two_things_is_no_double(tmp_path: Path) -> None:
    form = (
        "## Source\n\n- [x] No usage of `eval()`\n- Output format is structured JSON with checksums\n\n"
        "## Errors\n\n- Any errors → Log to `memory/harbour-security.md`\n\n"
        "## Verdict\n\n**Decision:** **APPROVED FOR DEPLOYMENT**\n\n## Notes\n\n"
    )
    files = {
        "MEMORY.md": "- [A](marlow_audit.md)\n- [B](otter_audit.md)\n",
        "marlow_audit.md": memory(form + "".join(OWN[:8])),
        "otter_audit.md": memory(form + "".join(OWN[8:])),
    }
    assert not dream(tmp_path, files).outcome.questions


def test_what_an_index_that_fits_repeats_of_a_memory_is_no_double_and_in_a_full_one_it_is(
    tmp_path: Path,
) -> None:
    shared = "The toolbox of `ledger-worker` is `com.browar.editor` in `Packages/manifest.json`"
    files = {"toolbox.md": memory(f"- {shared}.\n- Its owner is Carla Castellanos.\n")}
    index = f"# Memory\n\n- [Toolbox](toolbox.md) — the toolbox\n\n## In short\n\n- {shared}\n"
    assert of_kind(tmp_path, "same", {"MEMORY.md": index, **files}) == []
    full = index + "".join(f"- Line {number} of a long index, about box-{number}.\n" for number in range(200))
    (question,) = of_kind(tmp_path / "full", "same", {"MEMORY.md": full, **files})
    assert {place.path for place in question.places} == {"MEMORY.md", "toolbox.md"}


def test_how_to_apply_a_memory_is_no_double_of_how_to_apply_another(tmp_path: Path) -> None:
    files = {
        "cache.md": memory(
            "All cache code was deleted.\n- `core/presence.py` has presence.\n- `db/cache.py` is gone.\n\n"
            "**How to apply:** Never introduce Redis. Use Supabase or Python in-memory for all state.\n"
        ),
        "stores.md": memory(
            "There is one store.\n- `sessions` are rows.\n- `themes` are rows.\n\n"
            "**How to apply:** Never introduce external dependencies. Use Supabase or Python in-memory for all state.\n"
        ),
    }
    index = "- [Cache](cache.md) — the cache\n- [Stores](stores.md) — the stores\n"
    assert of_kind(tmp_path, "same", {"MEMORY.md": index, **files}) == []


def test_two_names_beside_one_thing_are_no_conflict(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory(
            "- Server projects need both `MagicOnion.Server` and `MagicOnion.Client` (server-to-server calls)\n"
        ),
        "b.md": memory(
            "- Server projects that call others as gRPC clients need both `MagicOnion.Server` and `MagicOnion.Client`\n"
        ),
    }
    assert of_kind(tmp_path, "conflict", files) == []


def of_kind(folder: Path, kind: str, files: dict[str, str]) -> list[Question]:
    folder.mkdir(exist_ok=True)
    return [each for each in dream(folder, files).outcome.questions if each.kind == kind]


@each(
    ("row", "description", "is_asked"),
    [
        ("Sonden gebaut (2026-04-23)", "Sonden gebaut und verkabelt (2026-05-12)", True),
        ("built on 8 July 2026; a form leads to the table", "rebuilt on July 11, 2026, without a form", True),
        ("built on 2026-04-23", "built on 2026-04-23, wired on 2026-05-12", False),  # the same, and more
        ("rewired on 2026-05-12", "built on 2026-04-23", False),
        ("sold since April 2026", "built on 2026-05-12", False),  # a month is no day of writing
        ("researched, not built yet", "built on 2026-05-12", False),
    ],
)
def test_a_row_all_of_whose_days_are_before_its_files_description_may_take_it(
    tmp_path: Path, row: str, description: str, is_asked: bool
) -> None:
    files = {
        "MEMORY.md": f"- [Probe](probe.md) — {row}\n",
        "probe.md": memory("The sky probe feeds the shader.\n", description=description),
    }
    found = of_kind(tmp_path, "changed", files)
    assert [[option.id for option in one.options] for one in found] == [["replace", "keep"]] * is_asked
    for one in found:
        assert one.options[0].edits[0].after == f"- [Probe](probe.md) — {description}\n"
        assert [place.path for place in one.places] == ["MEMORY.md", "probe.md"]


@each(
    ("then", "now", "is_asked"),
    [
        ("Probe: planned, waits for cables", "Probe: wired and in service", True),
        (
            "Probe: planned, waits for cables",
            "Probe: planned, waits for cables and a mast",
            False,
        ),  # says more
        ("The sky probe", "Probe: wired and in service", False),  # the row never said that
        ("", "Probe: wired and in service", False),  # nobody saw it change
        # Its first sentence is not newer, and no sentence of the other one fits into a row.
        (
            "The sky probe. It is planned.",
            "The sky probe. " + "It is wired and in service, " * 9 + "too.",
            False,
        ),
        ("Probe: planned", "It is wired and in service, " * 9 + "too", False),
        ("探头：计划中，等电缆", "探头：已接线", True),
    ],
)
def test_a_row_that_says_what_a_description_no_longer_does_may_take_the_new_one(
    tmp_path: Path, then: str, now: str, is_asked: bool
) -> None:
    row = f"- [Probe](probe.md) — {'计划中，等电缆' if '探' in then else 'planned, waits for cables'}"
    files = {"MEMORY.md": f"{row}\n", "probe.md": memory("It feeds the shader.\n", description=now)}
    found = dream(tmp_path, files, described_then={row: then} if then else {}).outcome.questions
    assert [[option.id for option in one.options] for one in found] == [["replace", "keep"]] * is_asked
    for one in found:
        assert one.options[0].edits[0].after == f"- [Probe](probe.md) — {now}\n"


def test_what_a_row_would_lose_for_a_description_is_named(tmp_path: Path) -> None:
    row = "- [Probe](probe.md) — planned, never at night"
    now = memory("It feeds the shader.\n", description="Probe: wired and used at night")
    files = {"MEMORY.md": f"{row}\n", "probe.md": now}
    (question,) = dream(tmp_path, files, described_then={row: "Probe: planned"}).outcome.questions
    assert question.why.endswith(" The new row does not say “planned, never”.")
    row = "- [Probe](probe.md) — Stack, lenses, mirrors and cables (2026-02-03)"
    now = memory(
        "It feeds the shader.\n", description="In use: stack, lenses, mirrors and cables (2026-04-05)"
    )
    (question,) = dream(tmp_path / "2", {"MEMORY.md": f"{row}\n", "probe.md": now}).outcome.questions
    assert question.why.endswith(" The new row does not say “2026-02-03”."), "in whatever case and place"
    row = "- [Probe](probe.md) — ✅ Probe at night, planned"
    files = {"MEMORY.md": f"{row}\n", "probe.md": memory("x\n", description="❌ Probe at night, wired!")}
    (question,) = dream(tmp_path / "3", files, described_then={row: "Probe: planned"}).outcome.questions
    assert "does not say “✅” and “planned”." in question.why, "a sign is lost as easily as a word"


def test_a_rule_is_kept_where_the_rules_are(tmp_path: Path) -> None:
    rule = "- New prompts go into `backend/app/prompts/`, never into a router.\n"
    files = {
        "MEMORY.md": "- [Layout](layout.md) — the layout\n- [Prompts](prompts.md) — where prompts go\n",
        "layout.md": memory(rule + "- The store is in `backend/app/store/`.\n"),
        "prompts.md": memory(rule + "- Each prompt of `backend/app/flows/` has a test.\n", "feedback"),
    }
    (question,) = of_kind(tmp_path, "same", files)
    assert [option.label for option in question.options] == ["Merge into prompts.md", "Leave as it is"]


def test_of_two_wordings_of_one_fact_a_merge_leaves_the_fuller_one(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [Flash](flash.md) — the flash\n- [Frames](frames.md) — the frames\n",
        "flash.md": memory("- The OV2640 has a `flash_time` of 2000 ms\n", "feedback"),
        "frames.md": memory(
            "The camera:\n- **OV2640:** `flash_time` 2000 ms (steady in ~2 frames)\n\nIts owner is Carla Castellanos.\n"
        ),
    }
    (question,) = of_kind(tmp_path, "same", files)
    after = files | {edit.path: edit.after or "" for edit in question.options[0].edits}
    assert not after["flash.md"] and after["frames.md"] == files["frames.md"]


@each("fixed_in", ["pumps.md", "valves.md"])
def test_what_cannot_be_taken_out_of_its_place_is_the_one_that_stays(tmp_path: Path, fixed_in: str) -> None:
    told = "A `pump-reader` has its own valve, ladder and pressure plate"
    plain = ({"pumps.md", "valves.md"} - {fixed_in}).pop()
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        fixed_in: memory(f"**Why:** {told}.\n" + "".join(OWN[:4])),
        plain: memory(f"- {told}.\n" + "".join(OWN[4:8])),
    }
    (question,) = of_kind(tmp_path, "same", files)
    assert question.options[0].label == f"Merge into {fixed_in}"
    assert [edit.path for edit in question.options[0].edits] == [plain]


def test_the_only_statement_below_a_heading_is_the_one_that_stays(tmp_path: Path) -> None:
    told = "A `pump-reader` has its own valve, ladder and pressure plate"
    headed = f"## Harbour\n\n{{}}\n## The reader\n\n{told}.\n\n## Later\n\n{{}}"
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": memory(f"- {told}.\n" + "".join(OWN[:4])),
        "valves.md": memory(headed.format("".join(OWN[4:6]), "".join(OWN[6:8]))),
    }
    (question,) = of_kind(tmp_path / "one", "same", files)
    assert [edit.path for edit in question.options[0].edits] == ["pumps.md"]
    files["pumps.md"] = memory(headed.format("".join(OWN[:2]), "".join(OWN[2:4])))
    assert of_kind(tmp_path / "both", "same", files) == []


def test_a_statement_with_reasons_of_its_own_stays_where_they_are(tmp_path: Path) -> None:
    told = "The `pump-reader` is started by hand, with its own valve, ladder and pressure plate"
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": memory(f"- {told}.\n" + "".join(OWN[:4]), "feedback"),
        "valves.md": memory("".join(OWN[4:8]) + f"\n{told}.\n\n**Why:** The harbour master asked.\n"),
    }
    (question,) = of_kind(tmp_path, "same", files)
    assert [edit.path for edit in question.options[0].edits] == ["pumps.md"]


@each("number", [2, 3])
def test_what_two_files_both_say_is_one_question_where_it_is_much(tmp_path: Path, number: int) -> None:
    told = [
        "The `pump-reader` has its own valve, ladder and pressure plate",
        "Crates of `dock-seven` wait below the copper awning for Ferdinand",
        "Lanterns along `north-pier` burn rapeseed while Ottilie is ashore",
    ][:number]
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": memory("".join(f"- {each}\n" for each in told) + "".join(OWN[:4])),
        "valves.md": memory("".join(OWN[4:8]) + "".join(f"- {each}.\n" for each in told)),
    }
    found = of_kind(tmp_path, "same", files)
    assert len(found) == (number if number == 2 else 1)
    if number == 3:
        (question,) = found
        assert question.why == "pumps.md and valves.md seem to say 3 things alike."
        assert [place.path for place in question.places] == ["pumps.md", "valves.md"] * 3
        (edit,) = question.options[0].edits[-1:]
        assert not any(each in (edit.after or "") for each in told)


def test_a_place_that_is_like_two_is_told_once_in_the_question_about_its_file(tmp_path: Path) -> None:
    is_idle = (
        "Brass letters are dear in Bergen: a standalone timetable for `north-pier` is redundant — the timetable of the harbour tells"
        " it through bells, lamps and signals. A second one rivals the harbour and wastes a page"
    )
    it_has = (
        "For a ferry, `north-pier` belongs on the timetable of the harbour{} — not on a standalone timetable."
    )
    lit = "Lanterns along `north-pier` burn rapeseed while Ottilie is ashore"
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": memory(
            f"- {it_has.format(' (bells, lamps, signals)')}\n- {is_idle} of the harbour book.\n- {lit}\n"
        ),
        "valves.md": memory("".join(OWN[4:6]) + f"- {it_has.format('')}\n- {is_idle}.\n- {lit}.\n"),
    }
    (question,) = of_kind(tmp_path, "same", files)
    assert len(set(question.places)) == len(question.places) == 6


def test_what_two_files_both_say_is_one_question_though_one_of_it_would_merge_the_other_way(
    tmp_path: Path,
) -> None:
    told = [
        "The `pump-reader` has its own valve, ladder and pressure plate",
        "Crates of `dock-seven` wait below the copper awning for Ferdinand",
        "Lanterns along `north-pier` burn rapeseed while Ottilie is ashore",
        "Ropes in `loft-nine` are tarred before the frost by Balthasar",
    ]
    kept = f"\n{told[3]}.\n\n**Why:** The harbour master asked.\n"
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": memory("".join(f"- {each}\n" for each in told) + "".join(OWN[:4])),
        "valves.md": memory("".join(OWN[4:8]) + "".join(f"- {each}.\n" for each in told[:3]) + kept),
    }
    (question,) = of_kind(tmp_path, "same", files)
    assert question.why == "pumps.md and valves.md seem to say 3 things alike."


def test_few_things_of_many_that_two_files_both_say_are_asked_about_one_by_one(tmp_path: Path) -> None:
    told = [
        "The `pump-reader` has its own valve, ladder and pressure plate",
        "Crates of `dock-seven` wait below the copper awning for Ferdinand",
        "Lanterns along `north-pier` burn rapeseed while Ottilie is ashore",
    ]
    kept = "".join(f"\n{each}.\n\n**Why:** The harbour master asked.\n" for each in told[1:])
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": memory("".join(f"- {each}.\n" for each in told) + "".join(OWN[:4])),
        "valves.md": memory("".join(OWN[4:8]) + f"- {told[0]}.\n{kept}"),
    }
    found = of_kind(tmp_path, "same", files)
    assert len(found) == 3 and not any("things alike" in each.why for each in found)


@each(("end", "asks"), [(" on deck", False), (" on deck.", True), ("", True)])
def test_an_entry_is_not_taken_out_of_a_list_that_keeps_others_unless_it_is_a_sentence_or_told_alike(
    tmp_path: Path, end: str, asks: bool
) -> None:
    told = "The `pump-reader` has its own valve, ladder and pressure plate"
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": memory(f"- {told}\n" + "".join(OWN[:4])),
        "valves.md": memory("".join(OWN[4:8]) + f"- {told}{end}\n"),
    }
    assert len(of_kind(tmp_path, "same", files)) == asks


def test_a_labelled_entry_is_not_taken_out_of_a_list_for_a_memory_that_says_little_else(
    tmp_path: Path,
) -> None:
    told = "The `pump-reader` has its own valve, ladder and pressure plate"
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": memory(f"{told}.\n"),
        "valves.md": memory("".join(OWN[4:8]) + f"- On deck: {told}\n"),
    }
    assert of_kind(tmp_path, "same", files) == []


def test_a_product_that_two_memories_name_is_no_double(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [Overview](overview.md) — all of it\n- [Stack](stack.md) — what was chosen\n",
        "overview.md": memory(
            "- AWS Lambda (serverless compute)\n- Pages on `pages.example`\n" + "".join(OWN[:4])
        ),
        "stack.md": memory(
            "- **Compute:** AWS Lambda (serverless functions)\n- **Pages:** built by `vite`\n"
            + "".join(OWN[4:8])
        ),
    }
    assert of_kind(tmp_path, "same", files) == []


def test_an_index_is_read_once_for_all_questions_about_two_memories(tmp_path: Path) -> None:
    twice = {
        f"{name}_{number}.md": memory(f"The {word} worker {name} its backups for {number + 20} days.")
        for number, word in enumerate(("billing", "search", "relay", "export", "ledger", "mailer"))
        for name in ("keeps", "also_keeps")
    }
    twice = {path: text.replace("also_keeps", "keeps") for path, text in twice.items()}
    rows = "".join(f"- [{path}]({path}) — what it says\n" for path in twice)
    with mock.patch.object(files, "base_of", wraps=files.base_of) as asked:
        made = dream(tmp_path, {"MEMORY.md": f"# Memory\n\n{rows}", **twice})
    assert made.edits
    assert asked.call_count < len(twice)


def test_one_sentence_in_many_memories_is_one_question_that_names_five(tmp_path: Path) -> None:
    told = "Run `make check` before every push, because CI runs the same target."
    named = {
        f"import_{at:02}.md": memory(f"{told}\n\nThe box {at} is painted by hand.\n") for at in range(16)
    }
    (asked,) = (each for each in dream(tmp_path, named).outcome.questions if each.kind == "same")
    assert len(asked.places) == 16
    names = ", ".join(f"import_{at:02}.md" for at in range(5))
    assert asked.why == f"{names} and 11 more seem to say the same thing."


@each(
    ("one", "other", "asked"),
    [
        ("prompt-v6.2", "prompt-v6.3.1", False),
        ("phase_1_expansion", "phase_2_expansion", False),
        ("box-dev1", "box-dev2", True),  # machines
    ],
)
def test_what_two_versions_of_one_file_both_say_is_not_asked_about(
    tmp_path: Path, one: str, other: str, asked: bool
) -> None:
    told = "Run `make check` before every push, because CI runs the same target."
    named = {f"{name}.md": memory(f"{told}\n\nThe box is {name}.\n") for name in (one, other)}
    assert any(each.kind == "same" for each in dream(tmp_path, named).outcome.questions) == asked


NEEDS = "the northern crane needs lithium grease, copper brushes and a spare drum"
OTHERS = ("Berth nine is dry.", "The tide is high at noon.", "Ropes are red.", "Gulls are fed on Sundays.")


def merged(folder: Path, one: str, other: str) -> dict[str, str]:
    """What the merge of two statements of longer memories would leave."""
    files = {
        "MEMORY.md": "- [The berths](a.md) — what each needs\n",
        "a.md": memory("\n".join(f"- {each}" for each in (*OTHERS, one)) + "\n"),
        "b.md": memory("\n\n".join((*(f"{each} Again." for each in OTHERS), other)) + "\n"),
    }
    (asked,) = (each for each in dream(folder, files).outcome.questions if each.kind == "same")
    return files | {edit.path: edit.after or "" for edit in asked.options[0].edits}


@each("one", [f"**Missed:** {NEEDS}.", f"At berth six {NEEDS}, and a bucket from Ottilie."])
@each(
    "other",
    ["For a rebuild {}; `crane.ini` sets its speed.", "- **Rebuild:** {}; `crane.ini` sets its speed."],
)
def test_nothing_is_asked_where_the_merged_memory_would_have_both_wordings(
    tmp_path: Path, one: str, other: str
) -> None:
    with pytest.raises(ValueError, match="not enough values"):
        merged(tmp_path, one, other.format(NEEDS))


@each("gap", [" ", "\n"])
def test_the_fuller_of_two_statements_stays_in_its_place_and_lines(tmp_path: Path, gap: str) -> None:
    fuller = f"For a rebuild {NEEDS};{gap}`crane.ini` sets its speed."
    after = merged(tmp_path, f"{NEEDS.replace('needs', 'is serviced with')}.", fuller)
    assert "lithium" not in after["a.md"] and fuller in after["b.md"]


def test_fields_of_two_files_are_no_fact_that_both_tell(tmp_path: Path) -> None:
    fields = "type: policy\nstatus: current\nsince: 2026-04-11\nseen: 2026-04-12\nkeywords: [{}]\nextends: harbour/cranes/_hub\nagents: [all]"
    files = {
        f"{name}.md": memory(
            f"Here it is:\n\n---\n{fields.format(words)}\n---\n\n# Rules\n\n{name.title()} is open.\n"
        )
        for name, words in (("ropes", "berths, ropes, tides, overview"), ("drums", "brakes, drums, gulls"))
    }
    assert [each for each in dream(tmp_path, files).outcome.questions if each.kind == "same"] == []


def test_the_only_statement_between_two_rules_is_not_taken_out(tmp_path: Path) -> None:
    other = f"---\n\nAt berth six {NEEDS}.\n\n---\n\nGulls sleep."
    assert f"---\n\nAt berth six {NEEDS}.\n" in merged(tmp_path, f"At berth six {NEEDS}.", other)["b.md"]


def test_a_statement_stays_where_its_remarks_are(tmp_path: Path) -> None:
    more = "**Why:** Salt eats it.\n\n**How to apply:**\n- Order `grease-7` in May.\n- Ask the foreman for his key."
    files = {
        "MEMORY.md": "- [The berths](a.md) — what each needs\n",
        "a.md": memory("\n\n".join((*OTHERS, f"At berth six {NEEDS}.")) + "\n"),
        "b.md": memory(f"At berth six {NEEDS}.\n\n{more}\n"),
    }
    (asked,) = of_kind(tmp_path, "same", files)
    assert [edit.path for edit in asked.options[0].edits] == ["a.md"]
