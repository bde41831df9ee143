"""A hook and the description it sums up are one memory; yet neither may go, and what contradicts is never one."""

import pytest

from dreams.language.similarity import told_alike

RETOLD = """
Kiosk bundle stays under 300 KB, the release job checks it|Keep the bundle of the kiosk app small: the release job fails above 300 KB, gzip included
Never edit generated clients, change the schema and regenerate|Generated API clients are overwritten: do not edit them by hand, change the schema and run the generator again
User wants diagrams as text, mermaid preferred over images|Prefers mermaid diagrams in Markdown over exported images, so that diagrams can be reviewed as text
Print labels via the spooler in `tools/spool.py`, the driver loses jobs|The vendor's printer driver loses jobs when it sleeps; labels go through the spooler tools/spool.py since June
Checkout tests need the fake clock and the sandbox gateway, as in `conftest.py`|Start the sandbox gateway for tests of the checkout page and inject a fake clock: at midnight they hang otherwise
""".strip().splitlines()


@pytest.mark.parametrize("pair", RETOLD)
def test_a_hook_and_its_description_are_one_memory_and_none_of_them_may_go(pair: str) -> None:
    hook, description = pair.split("|")
    found = told_alike(hook, description)
    assert found.retold
    assert not found.same


CONTRADICTED = """
Bundle size budget of the kiosk app is 300 KB, checked in the release job|Keep the kiosk app's bundle under its size budget of 500 KB; the release job fails above it
Never edit generated clients, change the schema and regenerate|Generated API clients are fine to edit by hand where the schema and the generator cannot do it
Sensor readings are averaged per minute before storage|Sensor readings are stored before they are averaged, one per minute
User wants diagrams as text, mermaid preferred over images|Prefers exported images over mermaid diagrams, as text diagrams cannot be styled
Print labels via the spooler in `tools/spool.py`, not the vendor driver|The spooler tools/queue.py loses jobs; labels go through the vendor driver of the printer
Checkout tests need the fake clock and the sandbox gateway|Search tests need the fake clock and a running index, else they hang at midnight
Login of the partner portal is disabled in staging during imports|While imports run in production the partner portal's login is disabled
""".strip().splitlines()


@pytest.mark.parametrize("pair", CONTRADICTED)
def test_what_gives_another_number_name_or_direction_is_another_memory(pair: str) -> None:
    a, b = pair.split("|")
    found = told_alike(a, b)
    assert not found.retold
    assert not found.same


def test_hooks_of_one_project_are_told_apart() -> None:
    hooks = [half for pair in RETOLD for half in [pair.split("|")[0]]]
    descriptions = [pair.split("|")[1] for pair in RETOLD]
    for place, hook in enumerate(hooks):
        for other, description in enumerate(descriptions):
            assert place == other or not told_alike(hook, description).retold
