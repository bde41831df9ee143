"""The cost of deciding, submitting, writing and undoing a proposal: a small one compared with 200 files of 1 MB in all.

    .venv/bin/python bench/review_submit.py [--files N] [--bytes N]

Prints CPU seconds of this process, and the ratio of the large proposal to the small one next to the ratio of their
sizes: a step that grows faster is not linear. "all" was already checked when it was proposed, "a part" is the first half
of the files, which is checked again on its own. After the write and after the undo every file is compared with its
expected bytes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

if TYPE_CHECKING:
    from dreams.models import Hunk, Proposal


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(folder: Path, files: int, size: int) -> Mapping[str, float]:
    from bench import review_page
    from dreams.models import Hunk

    before = {f"topic_{n:03}.md": review_page.text_of(n, size // files) for n in range(files)}
    after = {path: review_page.changed(text) for path, text in before.items()}
    found: dict[str, float] = {}
    for name, share in (("all", 1.0), ("a part", 0.5)):
        at = folder / name
        start = time.process_time()
        proposal = review_page.propose(at, files, size)
        found[f"propose ({name})"] = time.process_time() - start
        paths = sorted(before)[: max(1, int(files * share))]
        hunks = list(Hunk.objects.filter(file__proposal=proposal, file__path__in=paths))
        found |= {f"{step} ({name})": cost for step, cost in steps(proposal, hunks).items()}
        written = {path: after[path] if path in paths else before[path] for path in before}
        compare(at, written)
        found[f"undo ({name})"] = undo(proposal)
        compare(at, before)
    return found


def steps(proposal: Proposal, hunks: list[Hunk]) -> Mapping[str, float]:
    from dreams.models import Finding, Hunk
    from dreams.services import review
    from dreams.services.apply import applying
    from dreams.services.review import Actor

    me = Actor("owner")
    decide = seconds(lambda: review.decide(proposal, hunks, Hunk.Verdict.APPROVED, me))
    review.confirm(proposal, proposal.findings.filter(severity=Finding.Severity.BLOCK), me)
    submit = 0.0
    while True:  # losses of a part on its own are found at the submit, and are confirmed as by a person
        try:
            submit += seconds(lambda: review.submit(proposal, me))
            break
        except review.ReviewRefused:
            review.confirm(proposal, proposal.findings.filter(severity=Finding.Severity.BLOCK), me)
    return {"decide": decide, "submit": submit, "write": seconds(lambda: applying.apply(proposal, me))}


def undo(proposal: Proposal) -> float:
    from dreams.services import rollback
    from dreams.services.review import Actor

    return seconds(lambda: rollback.rollback(proposal, Actor("owner")))


def compare(folder: Path, wanted: Mapping[str, str]) -> None:
    memory = next(folder.glob("projects/*/memory"))
    for path, text in wanted.items():
        if (memory / path).read_bytes() != text.encode():
            raise SystemExit(f"{path} is not what it should be.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--bytes", type=int, default=1_000_000)
    given = parser.parse_args()
    import django

    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)
    few = max(2, given.files // 20)
    with tempfile.TemporaryDirectory() as folder:
        small = measure(Path(folder) / "few", few, given.bytes // given.files * few)
        large = measure(Path(folder) / "many", given.files, given.bytes)
    print(
        f"{'':18} {f'{few} files':>10} {f'{given.files} files':>10} {'ratio':>7}   of sizes {given.files / few:.0f}"
    )
    for name, value in small.items():
        print(f"{name:18} {value:10.2f} {large[name]:10.2f} {large[name] / value:7.1f}")


if __name__ == "__main__":
    main()
