"""The same words with a denial and without are a contradiction; other words, or both told, are none."""

from dreams.lib.prose.claims.wordings import denied_elsewhere
from tests.world.cases import each

SOURCE = "Parse the log, find calls that match the filter, and never keep drafts of a locked page. Guests of the house can't print posters."


@each(
    "claim",
    [
        "`scan()` parses the log, does not find calls that match the filter",
        "It is to match the filter and keep drafts of a locked page",
        "It never keeps drafts of a locked page; guests of the house can print posters",
    ],
)
def test_a_denial_more_or_less_is_a_contradiction(claim: str) -> None:
    assert denied_elsewhere(claim, [(7, "Nothing of it."), (9, SOURCE)]) == 9


@each(
    "claim",
    [
        "`scan()` parses the log, finds calls that match the filter",
        "It doesn't ever keep drafts of a locked page",
        "Parse the log, find calls that nobody asked for",
        "Keep drafts of a locked page",  # nothing stands before it that could be denied
        "Not printed",
        "",
    ],
)
def test_other_words_are_no_contradiction(claim: str) -> None:
    assert denied_elsewhere(claim, [(9, SOURCE)]) is None


def test_what_a_source_denies_too_is_not_contradicted_by_another() -> None:
    claim = "The nightly job does not write to the shared disk"
    plain, denied = (
        (3, "The nightly job writes to the shared disk."),
        (5, "The nightly job doesn't write to the shared disk."),
    )
    assert denied_elsewhere(claim, [plain]) == 3
    assert denied_elsewhere(claim, [plain, denied]) is None
