"""One property of one thing in many wordings: the same value is the same statement, another value a change, one more word neither."""

import itertools

import pytest

from dreams.language import properties

ALIKE = [
    ("coral-proxy listens on port 8080.", "The port of coral-proxy is 8080", "coral-proxy: port 8080"),
    ("Calls to Coral Proxy time out after 40 seconds", "Note: Coral Proxy gives up a call after 40 seconds."),
    ("`make up` starts coral-proxy", "To start coral-proxy, run `make up`."),
    (
        "Ana Weber owns Coral Proxy.",
        "Coral Proxy is owned by Ana Weber",
        "The owner of Coral Proxy is Ana Weber.",
    ),
    (
        "coral-proxy only runs on Node 22",
        "coral-proxy needs Node 22.",
        "Remember: coral-proxy is built for Node 22",
    ),
    (
        "More than 90 requests per minute are refused by coral-proxy",
        "coral-proxy is limited to 90 requests per minute",
    ),
    ("`coral-proxy` is released from `trunk`.", "The release branch of `coral-proxy` is `trunk`"),
]
OTHERS = [
    ("coral-proxy listens on port 8080", "coral-proxy listens on port 8080 in staging"),
    ("coral-proxy listens on port 8080", "The admin port of coral-proxy is 8080"),
    ("coral-proxy keeps its logs for 30 days", "coral-proxy keeps its backups for 30 days"),
    (
        "coral-proxy accepts more than 90 requests per minute",
        "coral-proxy is limited to 90 requests per minute",
    ),
    ("coral-proxy starts at 09:40", "coral-proxy ends at 09:40"),
    ("coral-proxy reads its jobs from Kafka", "coral-proxy writes its jobs to Kafka"),
    ("coral-proxy uses Redis 7", "coral-proxy stores its data in Redis 7"),
    ("coral-proxy does not run on Node 22", "coral-proxy needs Node 22"),
    ("coral-proxy was built for Node 22", "coral-proxy needs Node 22"),
]


@pytest.mark.parametrize("wordings", ALIKE, ids=lambda wordings: wordings[0])
def test_other_wordings_of_one_value_are_the_same(wordings: tuple[str, ...]) -> None:
    for one, other in itertools.permutations(wordings, 2):
        assert properties.same(one, other), (one, other)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_one_more_word_or_another_relation_is_another_statement(one: str, other: str) -> None:
    assert not properties.same(one, other)
    assert properties.changed(one, other) is None


@pytest.mark.parametrize(
    ("old", "new", "values"),
    [
        ("coral-proxy listens on port 80", "the port of coral-proxy is 81", ("80", "81")),
        ("coral-proxy is built for Node 20", "coral-proxy to Java 17", ("Node 20", "Java 17")),
        ("Ana Weber owns Coral Proxy", "the owner of Coral Proxy is Kim Olsen", ("Ana Weber", "Kim Olsen")),
    ],
)
def test_another_value_is_told_with_its_place(old: str, new: str, values: tuple[str, str]) -> None:
    found = properties.changed(old, new)
    assert found is not None
    assert (found[0].text(old), found[1].text(new)) == values


def test_a_property_of_something_else_that_names_the_thing_is_another_statement() -> None:
    one, other = (
        "`coral-proxy`: deploy in af-south-1",
        "Latency checks for `coral-proxy` are started from af-south-1.",
    )
    assert properties.differ(one, other)
    assert not properties.differ("coral-proxy needs Node 22", "coral-proxy is built for Node 22")
    assert not properties.differ("coral-proxy needs Node 22", "Always squash before a merge")


def test_who_owns_another_thing_too_changes_nothing() -> None:
    assert properties.changed("Ana Weber owns Coral Proxy", "Ana Weber owns Maple Indexer") is None
    assert (
        properties.changed("The owner of Kelp Balancer is unknown", "the owner of Teal Stitcher is unknown")
        is None
    )
