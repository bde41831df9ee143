"""How long the server takes for the review page: one file compared with 200 files of 1 MB in all.

    .venv/bin/python bench/review_page.py [--files N] [--bytes N] [--rounds N]

Prints the median CPU time of this process (so a busy machine adds little) for the page and for a file that is loaded
later, the page's size plain and compressed, and the ratio to the proposal of one file. Times depend on the machine; the
ratios show the cost of a large proposal.
"""

from __future__ import annotations

import argparse
import gzip
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

if TYPE_CHECKING:
    from django.test import Client

    from dreams.models import Proposal

PARAGRAPH = (
    "Service {n} of part {m} is looked after by team {t}, answers on port {p}, and is restarted by hand.\n"
)


def text_of(number: int, size: int) -> str:
    """A memory of about `size` bytes, all different."""
    lines, length, m = [f"---\nname: Topic {number}\ntype: project\n---\n\n# Topic {number}\n\n"], 0, 0
    while length < size:
        lines.append(
            PARAGRAPH.format(n=number, m=m, t=(number + m) % 7, p=1024 + number * 31 + m)
            + ("\n" if m % 4 == 0 else "")
        )
        length += len(lines[-1])
        m += 1
    return "".join(lines)


def changed(text: str) -> str:
    """The text with every fifth line reworded, one line removed, one moved to the end."""
    lines = text.splitlines(keepends=True)
    told = [line.replace("by hand", "by the timer") if n % 5 == 0 else line for n, line in enumerate(lines)]
    return "".join([*told[:9], *told[11:], "\n", told[9]])


def propose(folder: Path, files: int, size: int) -> Proposal:
    from dreams.engines import drafts
    from dreams.engines.types import Edit
    from dreams.models import Proposal
    from dreams.services import proposals
    from tests.world import directory as world

    texts = {f"topic_{n:03}.md": text_of(n, size // files) for n in range(files)}
    project = world.make_project(folder, texts)
    before = {path: text.encode() for path, text in texts.items()}
    after = {path: changed(text).encode() for path, text in texts.items()}
    edits = [
        Edit(path, text, changed(text), path, "update", "Restarted by a timer now.")
        for path, text in texts.items()
    ]
    return proposals.create(
        project, proposals.ProposalOrigin(Proposal.Origin.DREAM), drafts.draft(before, after, edits), before
    )


def median_ms(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def measure(browser: Client, proposal: Proposal, rounds: int) -> dict[str, float]:
    at = f"/review/{proposal.public_id}/"
    last = proposal.files.order_by("path").last()
    pk = last.pk if last else 0
    page = browser.get(at).content
    return {
        "page ms": median_ms(lambda: browser.get(at), rounds),
        "later file ms": median_ms(
            lambda: browser.get(f"{at}?file={pk}", headers={"HX-Request": "true"}), rounds
        ),
        "page KB": len(page) / 1000,
        "gzip KB": len(gzip.compress(page)) / 1000,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--bytes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.test import Client
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)
    browser = Client()
    browser.force_login(
        get_user_model().objects.get_or_create(username="owner", is_staff=True, is_superuser=True)[0]
    )
    with tempfile.TemporaryDirectory() as folder:
        one = measure(browser, propose(Path(folder) / "a", 1, given.bytes // given.files), given.rounds)
        many = measure(browser, propose(Path(folder) / "b", given.files, given.bytes), given.rounds)
    print(f"{'':14} {'1 file':>10} {f'{given.files} files':>10} {'ratio':>7}")
    for name, value in one.items():
        print(f"{name:14} {value:10.1f} {many[name]:10.1f} {many[name] / value:7.2f}")


if __name__ == "__main__":
    main()
