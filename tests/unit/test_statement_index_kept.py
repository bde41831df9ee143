"""An index that took in later states of a directory answers like one that was made of the last of them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from dreams.lib.prose import statement_index
from dreams.lib.prose.exchanges import things
from dreams.lib.prose.statement_index import StatementIndex
from tests.world.strategies import tries

# Few words, so that values become common and rare again, and forms come and go.
THINGS = ("ledger-worker", "cache-indexer", "relay-mailer", "the import gateway", "Carla Castellanos")
SAID = (
    "{0} listens on port {1} in every region.",
    "Use port {1} when you curl {0}.",
    "{0} keeps its backups for {1} days.",
    "Backups of {0} are kept for {1} days in every region.",
    "**Owner:** {0} of ticket {1}",
)
statements = st.builds(
    lambda said, thing, number: "- " + said.format(thing, number),
    st.sampled_from(SAID),
    st.sampled_from(THINGS),
    st.sampled_from([7, 30, 8080, 41873]),
)
texts = st.lists(statements, max_size=5).map(
    lambda lines: "---\nname: a note\ntype: project\n---\n\n" + "\n".join(lines) + "\n"
)
paths = st.sampled_from(
    [f"{name}_{number}.md" for name in ("port", "owner", "backup") for number in range(5)]
)
states = st.lists(st.dictionaries(paths, texts, max_size=14), min_size=2, max_size=4)


def answers(index: StatementIndex) -> list[object]:
    return [
        index.statements,
        index.pairs,
        index.possible_duplicates(),
        index.two_values(),
        [index.related(each) for each in index.statements],
        [index.is_rare(word) for word in ("8080", "region", "ledger-worker", "nowhere")],
        index.with_words(["region", "port"]),
    ]


@pytest.mark.more
@given(states)
@tries(40, 100)
def test_an_index_that_took_in_later_states_answers_like_a_new_one(states: list[dict[str, str]]) -> None:
    index = StatementIndex(states[0])
    for state in states[1:]:
        index.possible_duplicates()
        index.update(state)
        assert answers(index) == answers(StatementIndex(state))


@pytest.mark.more
def test_one_more_memory_has_only_its_own_statements_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    note = "---\nname: a note\n---\n\n- {0}-worker listens on port {1} in every region but the oldest one\n"
    files = {f"note_{number}.md": note.format(f"x{number // 2}", 9_000 + number // 2) for number in range(60)}
    index = StatementIndex(files)
    assert len(index.possible_duplicates()) == 30
    asked = []
    compare = statement_index.compare
    monkeypatch.setattr(
        statement_index, "compare", lambda *both, **given: asked.append(both) or compare(*both, **given)
    )
    index.update(files | {"one_more.md": note.format("x3", 9_003)})
    assert len(index.possible_duplicates()) == 30
    assert 1 <= len(asked) <= 5


def test_what_many_statements_name_is_looked_up_once_until_one_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    note = "---\nname: a note\n---\n\n- {0}-worker listens on port {0} of the oldest region\n"
    files = {f"note_{number}.md": note.format(number) for number in range(7)}
    index = StatementIndex(files)
    asked = []
    with_words = StatementIndex.with_words
    monkeypatch.setattr(
        StatementIndex,
        "with_words",
        lambda self, words: asked.append(tuple(words)) or with_words(self, words),
    )

    def about_the_region() -> set[int]:
        found = [dict(things(index, each.text)).get("oldest region", []) for each in index.statements]
        return {len(each) for each in found}

    assert about_the_region() == {7}
    assert len(asked) == len(set(asked))
    index.update({**files, "one_more.md": note.format(7)})
    assert about_the_region() == {8}
