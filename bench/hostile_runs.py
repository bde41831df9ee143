"""How the time of each parser grows on runs of one character: the exponent between a text and one four times as long.

    .venv/bin/python bench/hostile_runs.py [--chars 10000]

1 is linear. Prints for each parser: its worst character, the time at the longer length, the exponent. The Markdown
renderer is left out: it runs in a process with a time limit (tests/web/test_markdown_that_takes_long.py).
"""

from __future__ import annotations

import argparse
import datetime as dt
import io
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dreams.lib import diff, memdir
from dreams.lib.agents.transcripts import is_correction
from dreams.lib.diff.index_merge import merge_index
from dreams.lib.diff.merge import merge3
from dreams.lib.prose import comparing, dates
from dreams.lib.secrets import spotting as secrets
from dreams.services.search import query

# fmt: off
SIGNS = [
    "[", "[[", "]", "(", ")", "!", "![", "[a](", "[a](b)", "[[a]]", "[a]: ", "`", "``", "~", "~~", "*", "**", "_", "<", ">",
    "<!--", "-->", "&", "|", "\\*", '"', "'", "{", "}", ":", "...", "#", "1. ", "- ", "0", "é", "http://a", "a@b.", "a.b.",
    "a/b/", "12:30 ", "key: [", "&a *a ", "\n", " ", "\t", "---\n", "===\n", "a\n---\n", "# a\n", "- a\n", "> ", "word ",
    "a: ", "```\n", "|a|\n|-|\n",
]
# fmt: on


def parsers() -> dict[str, Callable[[str], object]]:
    return {
        "frontmatter": lambda text: memdir.parse(f"---\nname: x\n{text}\n---\nbody".encode()),
        "sections": lambda text: list(memdir.sections(text, 1)),
        "index": memdir.parse_index,
        "links": lambda text: memdir.retarget(text, "a.md", "b.md"),
        "typed": is_correction,
        "diff": lambda text: diff.hunks(text, f"{text}x\n{text}", path="a.md"),
        "words": lambda text: diff.word_spans(text, text[1:] + "x"),
        "merge": lambda text: merge3(text, f"{text}x\n", f"y\n{text}"),
        "merge of an index": lambda text: merge_index(text, f"{text}x\n", f"y\n{text}"),
        "search": query.normal,
        "secrets": secrets.spans,
        "dates": lambda text: dates.resolve(text, dt.date(2026, 1, 1)),
        "similarity": lambda text: comparing.same(text, f"{text}x"),
    }


def seconds(parse: Callable[[str], object], text: str) -> float:
    """CPU seconds of this process, the better of two runs: other work on the machine does not count."""
    taken = []
    for _ in range(2):
        start = time.process_time()
        parse(text)
        taken.append(time.process_time() - start)
    return max(min(taken), 1e-6)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--chars", type=int, default=10_000)
    chars = options.parse_args().chars
    out = io.StringIO()
    for name, parse in parsers().items():
        worst, sign, exponent = 0.0, "", 0.0
        for each in SIGNS:
            short, long = ((each * (size // len(each) + 1))[:size] for size in (chars, 4 * chars))
            before, after = seconds(parse, short), seconds(parse, long)
            if after > worst:
                worst, sign, exponent = after, each, math.log(after / before, 4)
        out.write(f"{name:20} {worst * 1000:8.1f} ms at {4 * chars:,} of {sign!r}, exponent {exponent:.2f}\n")
    print(out.getvalue(), end="")


if __name__ == "__main__":
    main()
