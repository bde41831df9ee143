"""A request to forget that names a value: the one fact that has it is removed everywhere; where that is not sure, it is asked."""

from __future__ import annotations

from pathlib import Path

from dreams.engines.types import Question
from tests.world.cases import each
from tests.world.rules import Dreamt, dream, memory, session, unaccounted

CHECK = "Run `make verify-xenon-63` before any change of cache-indexer."
REQUEST = "Please forget what I told you about cache-indexer (make verify-xenon-63); it no longer applies."


def asked(made: Dreamt) -> list[Question]:
    return [each for each in made.outcome.questions if each.kind == "forget"]


def test_the_file_that_says_nothing_else_is_removed_with_its_row(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- [Check](check.md) - the one about caches\n- [Docs](docs.md) - Sphinx\n",
        "check.md": memory(f"{CHECK}\n\n**Why:** it broke twice.\n", description=CHECK),
        "docs.md": memory("The docs are built with Sphinx.\n"),
    }
    made = dream(tmp_path, files, [session(1, REQUEST)])
    assert set(made.after) == {"MEMORY.md", "docs.md"}
    assert made.text("MEMORY.md") == "# Memory\n\n- [Docs](docs.md) - Sphinx\n"
    assert asked(made) == [] and not any(map(unaccounted, made.edits))


def test_it_is_removed_in_every_place_that_says_it(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory(f"- {CHECK}\n- The docs are built with Sphinx.\n"),
        "b.md": memory("cache-indexer changes need a green make verify-xenon-63 first.\n"),
    }
    made = dream(tmp_path, files, [session(1, REQUEST)])
    assert b"xenon" not in b"".join(made.after.values())
    assert "Sphinx" in made.text("a.md")


@each(
    ("said", "told", "other"),
    [
        (
            "forget what memory says about pump-reader and port 9000",
            "`pump-reader` listens on port 9000 for metrics",
            "The firewall lets `pump-reader` at port 9000 through",
        ),
        (
            "forget that Odette Nakagawa owns kelp-mixer",
            "Odette Nakagawa owns kelp-mixer",
            "Odette Nakagawa has the recovery key of `kelp-mixer` in the safe",
        ),
        (
            "forget port 9000 of pump-reader",
            "`pump-reader` listens on port 9000 for metrics",
            "`pump-reader` listens on port 9000 for metrics, with 17 retries",
        ),
    ],
)
def test_what_has_the_same_values_but_tells_something_else_is_not_removed_unasked(
    tmp_path: Path, said: str, told: str, other: str
) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory(f"- {told}\n"),
        "b.md": memory(
            f"- {other}\n- Docs are built with Sphinx.\n- Releases are on Mondays.\n- Logs go away.\n"
        ),
    }
    made = dream(tmp_path, files, [session(1, said)])
    assert other in made.text("b.md") and asked(made)


@each(
    "said",
    [
        "Make ledger-worker drop port 41873 from memory after 90 s.",
        "Clear port 41873 of ledger-worker from memory when the import is over.",
    ],
)
def test_what_a_program_may_take_out_of_its_memory_is_only_asked_about(tmp_path: Path, said: str) -> None:
    files = {
        "MEMORY.md": "- [Ports](a.md)\n",
        "a.md": memory("- ledger-worker listens on port 41873 for 90 s.\n- Docs are built with Sphinx.\n"),
    }
    made = dream(tmp_path, files, [session(1, said)])
    assert made.edits == [] and len(asked(made)) == 1


@each(
    "said",
    [
        "Forget about port 41873 please.",
        "please forget what I said about `make release-all`",
        "Forget the thing about https://status.acme.example/ledger",
    ],
)
def test_one_value_that_nothing_else_has_is_enough(tmp_path: Path, said: str) -> None:
    told = [
        "ledger-worker listens on port 41873.",
        "We ship with `make release-all`.",
        "See https://status.acme.example/ledger for outages.",
    ]
    files = {f"n{at}.md": memory(f"{text}\n") for at, text in enumerate(told)}
    made = dream(
        tmp_path, {"MEMORY.md": "".join(f"- [N]({name})\n" for name in files), **files}, [session(1, said)]
    )
    assert sum(name in made.after for name in files) == 2


def test_a_name_that_two_facts_have_is_asked_about_once_for_each(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory("The nightly import depends on cache-indexer being warm.\n"),
        "b.md": memory("Restart cache-indexer after each schema change.\n"),
    }
    made = dream(tmp_path, files, [session(1, "Please forget what I told you about cache-indexer.")])
    assert {place.path for one in asked(made) for place in one.places if place.session_pk is None} == {
        "a.md",
        "b.md",
    }
    assert all([option.id for option in one.options] == ["remove", "keep"] for one in asked(made))
    for one in asked(made):
        assert {edit.path for edit in one.options[0].edits} >= {one.places[0].path}


def test_a_runbook_that_only_uses_the_value_is_asked_about_and_stays(tmp_path: Path) -> None:
    runbook = (
        "1. Stop ledger-worker\n2. Run `make verify-xenon-63` and read its report\n3. Start ledger-worker\n"
    )
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](run.md)\n",
        "a.md": memory(f"{CHECK}\n"),
        "run.md": memory(runbook),
    }
    made = dream(tmp_path, files, [session(1, REQUEST)])
    assert "a.md" not in made.after and made.text("run.md") == memory(runbook)


def test_a_pinned_memory_is_asked_about_and_not_changed(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"{CHECK}\n", more="pinned: true\n")}
    made = dream(tmp_path, files, [session(1, REQUEST)])
    assert made.edits == []
    assert [each.places[0].path for each in asked(made)] == ["a.md"]


@each(
    "told",
    [
        "- raven-sender starts at 07:05. raven-balancer starts at 12:45.\n",
        "raven-sender starts at 07:05.\nraven-balancer starts at 12:45.\n",
        "raven-sender starts at 07:05, and raven-balancer at 12:45.\n",
        "- raven-sender starts at 07:05.\n- **raven-balancer:** starts at 12:45\n",
    ],
)
def test_what_says_something_of_another_thing_too_stays_or_is_asked_about(tmp_path: Path, told: str) -> None:
    files = {"MEMORY.md": "- [Times](times.md) - when\n", "times.md": memory(told)}
    for number, said in enumerate(
        ["forget about raven-sender (07:05)", "strike the 07:05 of raven-sender from your memory"]
    ):
        made = dream(tmp_path / str(number), files, [session(1, said)])
        assert "raven-balancer" in made.text("times.md") and "12:45" in made.text("times.md")
        assert made.edits or len(asked(made)) == 1


@each(
    ("told", "said"),
    [
        ("The amber tracker runs on Node 20 in CI.", "forget Node 20 for the amber tracker"),
        ("`plover.corp` is where CoralExporter is (no IP).", "forget plover.corp for CoralExporter"),
        ("**Owner of jasper-recorder:** Nuno Falk", "forget Nuno Falk of jasper-recorder"),
        (
            "Who breaks jasper-recorder says so in #duty.",
            "strike the #duty of jasper-recorder from your memory",
        ),
    ],
)
def test_of_what_has_a_plain_name_only_the_one_that_has_all_of_it_is_forgotten(
    tmp_path: Path, told: str, said: str
) -> None:
    rest = "- The reed renderer runs on Node 20 in CI.\n- Announce each release of Fennel.\n"
    files = {"MEMORY.md": "- [A](a.md) - all\n", "a.md": memory(f"- {told}\n{rest}")}
    made = dream(tmp_path, files, [session(1, said)])
    assert made.text("a.md") == memory(rest)


def test_a_statement_that_is_cited_is_forgotten_in_other_words_too(tmp_path: Path) -> None:
    told = ["`quartz-mailer` gets its work over `q-night`.", "Work for `quartz-mailer` comes over `q-night`."]
    other = "- `quartz-sender` gets its work over `q-night`.\n"
    files = {"MEMORY.md": "- [A](a.md) - all\n", "a.md": memory("".join(f"- {t}\n" for t in told) + other)}
    made = dream(tmp_path, files, [session(1, f"Forget that {told[0]}")])
    assert made.text("a.md") == memory(other)


def test_with_a_value_that_memory_does_not_have_nothing_is_certain(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [A](a.md) - all\n", "a.md": memory("`relay` feeds `mixer` over port 8080.\n")}
    assert dream(tmp_path, files, [session(1, "forget port 8081 of `relay` and `mixer`")]).edits == []


def test_what_nothing_in_memory_says_changes_nothing(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory("The docs are built with Sphinx.\n")}
    made = dream(tmp_path, files, [session(1, REQUEST)])
    assert (made.edits, asked(made)) == ([], [])


def test_a_thing_named_in_plain_words_is_asked_about(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n",
        "a.md": memory("There are 52 parallel workers in the marble router.\n"),
    }
    made = dream(tmp_path, files, [session(1, "You can safely forget about the marble router.")])
    assert [each.places[0].path for each in asked(made)] == ["a.md"]


@each(
    "said",
    [
        "forget cache-indexer = make verify-xenon-63",
        "Do me a favour and forget make verify-xenon-63 for cache-indexer.",
        "Delete from your memory: cache-indexer, `make verify-xenon-63`",
        "Can you make sure that you no longer remember make verify-xenon-63 for cache-indexer?",
        f'Please delete the memory in which it says "{CHECK}"',
        "scratch the memory that says make verify-xenon-63 for cache-indexer",
        f"Scratch the memory that says: {CHECK}",
        "What you remember about cache-indexer and make verify-xenon-63 is not right, take it out",
    ],
)
def test_however_it_is_asked_what_has_the_value_is_removed(tmp_path: Path, said: str) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n",
        "a.md": memory(f"- {CHECK}\n- The docs are built with Sphinx.\n"),
    }
    made = dream(tmp_path, files, [session(1, said)])
    assert made.text("a.md") == memory("- The docs are built with Sphinx.\n")


def test_the_description_and_the_row_that_say_it_name_what_is_left(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": f"- [Checks](a.md) - {CHECK}\n",
        "a.md": memory(f"- {CHECK}\n- The docs are built with Sphinx.\n", description=CHECK),
    }
    made = dream(tmp_path, files, [session(1, REQUEST)])
    assert made.text("MEMORY.md") == "- [Checks](a.md) - The docs are built with Sphinx.\n"
    assert "description: The docs are built with Sphinx." in made.text("a.md")
    assert not any(map(unaccounted, made.edits))


def test_a_request_is_followed_though_the_next_prompt_supposes_something_else(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"- {CHECK}\n- The docs are built with Sphinx.\n")}
    made = dream(tmp_path, files, [session(1, REQUEST, "if Oslo goes down we'd be in trouble")])
    assert "xenon" not in made.text("a.md")


@each(
    ("body", "left"),
    [
        (f"1. {CHECK}\n2. Read its report.\n", "2. Read its report.\n"),
        (f"**Check** — {CHECK}\nRecorded by: support\n", "Recorded by: support\n"),
    ],
)
def test_a_numbered_item_or_a_line_of_a_paragraph_is_asked_about(
    tmp_path: Path, body: str, left: str
) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(body)}
    made = dream(tmp_path, files, [session(1, REQUEST)])
    ((edit, *_),) = (each.options[0].edits for each in asked(made))
    assert made.edits == [] and edit.after == memory(left)


def test_whatever_names_the_thing_is_asked_about(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- [A](a.md)\n",
        "a.md": memory(
            "- The admin port of coral-proxy is 8080.\n- The nightly import depends on coral-proxy.\n- Docs are in Sphinx.\n"
        ),
    }
    made = dream(tmp_path, files, [session(1, "Please forget everything about coral-proxy.")])
    assert made.edits == [] and len(asked(made)) == 2


@each(
    ("said", "left"),
    [
        ("Please forget the memory Release freeze windows.", 1),
        ("forget release freeze windows", 1),
        ("forget the release freeze windows of the mixer", 2),
        ("forget windows", 2),
    ],
)
def test_a_memory_whose_title_is_named_in_full_is_forgotten(tmp_path: Path, said: str, left: int) -> None:
    files = {
        "MEMORY.md": "- [Freezes](freeze.md)\n- [Docs](docs.md)\n",
        "freeze.md": memory("Nobody ships between two and four.\n", name="Release freeze windows"),
        "docs.md": memory("The docs are built with Sphinx.\n", name="Windows of the docs"),
    }
    made = dream(tmp_path, files, [session(1, said)])
    assert len(made.after) - 1 == left


@each(
    ("said", "asked"),
    [
        ("Do not delete the memory that says 5433 for `ledger-worker`.", False),
        ("that note of deploys that need two approvals is wrong", True),
        ("that `ledger-worker` note (5433) is garbage, wipe it", True),
        ("Please lose the note about two approvals for deploys", True),
        ("the memory that deploys need two approvals can go", True),
        ("add a note that deploys need three approvals", False),
        ("`ledger-worker`: drop the 5433 bit, nobody needs it", True),
        ("The thing with 5433 and `ledger-worker` no longer applies, take it out.", True),
        ("nothing about `ledger-worker` should stay in the notes, thanks", True),
        ("don't keep anything on `ledger-worker`", True),
        ("I don't want you to remember 5433 of `ledger-worker` any more", True),
        ("drop `ledger-worker`", False),
        ("we should not drop 5433 of `ledger-worker`", False),
        ("keep `ledger-worker` in the notes", False),
        ("where is the memory that says deploys need two approvals?", False),
        ("the memory of the runner is too small for two deploys at once", False),
    ],
)
def test_what_speaks_of_memory_and_cites_a_statement_is_asked_about_in_any_words(
    tmp_path: Path, said: str, asked: bool
) -> None:
    files = {
        "notes.md": memory(
            "- Deploys need two approvals.\n- `ledger-worker` is on port 5433.\n- The docs are built with Sphinx.\n"
        ),
        "MEMORY.md": "- [Notes](notes.md) — notes\n",
    }
    made = dream(tmp_path, files, [session(1, said)])
    assert made.edits == []
    assert [each.kind for each in made.outcome.questions] == ["forget"] * asked


def test_a_line_in_the_middle_of_a_sentence_is_never_taken_out(tmp_path: Path) -> None:
    body = "The mixer is slow and needs\na warm cache on port 5433 of\nthe ledger. Everything else is fine.\n\nAsk Ana first.\n"
    files = {"notes.md": memory(body), "MEMORY.md": "- [Notes](notes.md)\n"}
    made = dream(tmp_path, files, [session(1, "forget the note about 5433 and the old deploys")])
    left = [
        edit.after or ""
        for each in made.outcome.questions
        for option in each.options
        for edit in option.edits
    ]
    assert made.edits == [] and not any(
        "5433" not in text and "warm cache" not in text for text in left if "needs" in text
    )


def test_what_another_thing_has_in_like_words_is_no_part_of_a_request(tmp_path: Path) -> None:
    """It was taken out with the asked statement; now it is asked about at most."""
    fact = "all of the copper verifier must be kept in af-south-1 at the request of legal"
    others = [
        "the flint crawler must be kept in af-south-1 at the request of legal",
        "everything for the copper verifier has to stay in af-south-1, legal insists",
    ]
    files = {"copper.md": memory(f"{fact}\n"), "legal.md": memory("".join(f"- {each}\n" for each in others))}
    rows = "- [Copper](copper.md) — where it is kept\n- [Legal](legal.md) — what legal wants\n"
    said = [session(1, f"forget this one: {fact}")]
    made = dream(tmp_path, {"MEMORY.md": rows, **files}, said)
    assert "copper.md" not in made.after and all(each in made.text("legal.md") for each in others)
    assert any(others[1] in each.places[0].text for each in asked(made))


def test_of_many_that_name_the_thing_the_memory_whose_title_has_the_rest_is_asked_about(
    tmp_path: Path,
) -> None:
    words = ("age", "name", "size", "host", "day", "zone")
    more = "".join(f"- AuthGate checks the {word} of each call.\n" for word in words)
    files = {
        "MEMORY.md": "# Memory\n\n- [E](authgate-tracking-event.md)\n- [N](notes.md)\n",
        "authgate-tracking-event.md": memory("When AuthGate finishes it logs `delta_failed_44` once.\n"),
        "notes.md": memory(more),
    }
    made = dream(tmp_path, files, [session(1, "stop remembering the tracking event of AuthGate")])
    assert [each.places[0].path for each in asked(made)] == ["authgate-tracking-event.md"]


@each(
    ("line", "said"),
    [
        ("Deploy key rotation happens every May.", "forget the deploy key"),
        ("The staging server keeps its backups for 30 days.", "forget the staging server"),
        ("Import of orders never touches the live table.", "forget the import of orders"),
    ],
)
def test_what_only_begins_with_the_thing_that_a_request_names_is_asked_about(
    tmp_path: Path, line: str, said: str
) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"- {line}\n- The docs are built with Sphinx.\n")}
    made = dream(tmp_path, files, [session(1, said)])
    assert made.after == made.before and len(asked(made)) == 1


def test_what_others_should_or_can_forget_is_no_request(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory("- Ask Ana for the key on port 4040.\n")}
    for said in (
        "nobody should forget port 4040",
        "users can forget port 4040",
        "clients may forget port 4040",
    ):
        made = dream(tmp_path / said, files, [session(1, said)])
        assert made.after == made.before


@each(
    ("line", "said"),
    [
        ("The old relay is on port 8080.", "you may forget port 8080 exists"),
        ("The archive keeps 30 days of backups.", "we can forget 30 days of backups"),
        (CHECK, "You could safely delete what memory says of cache-indexer and make verify-xenon-63"),
    ],
)
def test_that_something_can_be_forgotten_is_asked_about(tmp_path: Path, line: str, said: str) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"- {line}\n- The docs are built with Sphinx.\n")}
    made = dream(tmp_path, files, [session(1, said)])
    assert made.after == made.before and len(asked(made)) == 1


@each(
    "said",
    ["`cache-indexer` no longer exists. forget it", "cache-indexer doesn't exist any more. Forget it."],
)
def test_what_is_gone_and_to_be_forgotten_is_asked_about_and_takes_no_other_prompt_back(
    tmp_path: Path, said: str
) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory(f"{CHECK}\n"),
        "b.md": memory("The docs of `ivory-press` are on port 8080.\n"),
    }
    made = dream(tmp_path, files, [session(1, "ivory-press has its docs on port 8090 now", said)])
    assert [question.places[0].text for question in asked(made)] == [CHECK]
    moved = [each.why for each in made.outcome.questions if each.kind == "changed"]
    assert "8090" in "".join([*moved, made.text("b.md")])


@each(
    ("end", "count"), [("Forget that, it's not true any more.", 1), ("Forget that. It is 8080 at home.", 0)]
)
def test_a_sentence_that_the_next_one_asks_to_forget_is_asked_about_and_removed_by_nobody(
    tmp_path: Path, end: str, count: int
) -> None:
    line = "The relay listens on port 8080."
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"- {line}\n- The docs are built with Sphinx.\n")}
    made = dream(tmp_path, files, [session(1, f"{line} {end}")])
    assert made.after == made.before and len(asked(made)) == count


@each(
    "said",
    ["`cache-indexer` no longer exists. forget it. No wait, keep it.", "cache-indexer is fine. never mind"],
)
def test_a_request_to_forget_that_is_taken_back_asks_nothing(tmp_path: Path, said: str) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"{CHECK}\n")}
    made = dream(tmp_path, files, [session(1, said)])
    assert made.edits == [] and asked(made) == []


@each("thing", ["QuartzBalancer", "quartz-balancer"])
def test_a_name_with_a_capital_inside_is_as_good_as_one_with_a_hyphen(tmp_path: Path, thing: str) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n",
        "a.md": memory(f"Cron kicks off {thing} at 23:20 UTC every night\n"),
    }
    made = dream(tmp_path, files, [session(1, f"please forget what you saved about {thing} (23:20)")])
    assert "a.md" not in made.after and asked(made) == []


@each(
    "said",
    [
        "forget the ShopWeb port 8443 error",
        "please forget ShopWeb 8443 for a moment",
        "forget ShopWeb on 8443, I meant staging",
        "forget ShopWeb (8443) in this test",
        "forget the shop-web port 8443 error",
        "forget what you know about ShopWeb except 8443",
    ],
)
def test_a_request_that_says_more_behind_the_value_is_asked_about(tmp_path: Path, said: str) -> None:
    name = "shop-web" if "shop-web" in said else "ShopWeb"
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"- {name} listens on port 8443.\n- It is old.\n")}
    made = dream(tmp_path, files, [session(1, said)])
    assert made.edits == [] and len(asked(made)) == 1


def test_what_several_memories_say_in_the_same_words_is_one_question(tmp_path: Path) -> None:
    others = {"a": "The docs are built with Sphinx.", "b": "Tabs, please.", "c": "Ask Tom about invoices."}
    said = "The amber-mailer sends from eu-west-1. It needs a warm cache."
    files = {f"{name}.md": memory(f"- {said}\n- {other}\n") for name, other in others.items()}
    files["MEMORY.md"] = "# Memory\n\n" + "".join(f"- [{name}]({name}.md)\n" for name in others)
    (question,) = asked(dream(tmp_path, files, [session(1, "forget about the amber-mailer")]))
    assert [place.path for place in question.places[:-1]] == ["a.md", "b.md", "c.md"]
    after = {edit.path: edit.after or "" for edit in question.options[0].edits}
    assert {path: said in text for path, text in after.items()} == {
        "a.md": False,
        "b.md": False,
        "c.md": False,
    }
    assert "Sphinx" in after["a.md"]


def test_a_row_and_a_description_that_say_a_forgotten_sentence_as_well_are_summed_up_anew(
    tmp_path: Path,
) -> None:
    told = "Owner of cache-indexer: Carolin Quintana. Ask for a review of each change."
    files = {
        "MEMORY.md": f"- [A](a.md) — {told}\n- [B](b.md)\n",
        "a.md": memory(f"{told}\n\nIt came up in a code review.\n", description=told),
        "b.md": memory("- Carolin Quintana owns cache-indexer\n- The docs are built with Sphinx.\n"),
    }
    said = "cache-indexer with Carolin Quintana is no longer true, take it out of your notes"
    [question] = [q for q in asked(dream(tmp_path, files, [session(1, said)])) if q.places[0].path == "a.md"]
    after = {edit.path: edit.after or "" for edit in question.options[0].edits}
    assert after.keys() == {"MEMORY.md", "a.md"} and "Quintana" not in "".join(after.values())
    assert after["MEMORY.md"].startswith("- [A](a.md) — Ask for a review of each change.\n")
