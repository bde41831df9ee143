"""One property of one thing in many wordings: another value is a change, one more word or another relation is none."""

import pytest

from dreams.lib.prose import properties

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


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_one_more_word_or_another_relation_is_no_change(one: str, other: str) -> None:
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


def test_who_owns_another_thing_too_changes_nothing() -> None:
    assert properties.changed("Ana Weber owns Coral Proxy", "Ana Weber owns Maple Indexer") is None
    assert (
        properties.changed("The owner of Kelp Balancer is unknown", "the owner of Teal Stitcher is unknown")
        is None
    )
