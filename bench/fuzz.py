"""Does any reader of texts by agents, models or people crash, hang or lose something under coverage-guided fuzzing?

    .venv/bin/python bench/fuzz.py [--reader diff]… [--seconds 60]

The readers are those of tests/unit/test_any_input.py, which draws random texts; here atheris mutates them by the lines of our code
that they reach. A reader may take a second of CPU time for each 100 KB. Prints for each the number of inputs and the
failures; exit 1 when one failed. Needs atheris (`pip install atheris`), and exits at once without it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

OURS = ["dreams.lib", "dreams.engines.anthropic.stream", "dreams.web.render"]
LONGEST = 100_000
#: Separates the two texts for a reader.
BETWEEN = b"\x1f"
DONE = re.compile(r"^Done (\d+) runs|^#(\d+)\s", re.MULTILINE)
PATIENCE = 120


def feed(reader: str, seconds: int) -> None:
    """Runs in a separate process, which atheris ends."""
    import atheris

    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    with atheris.instrument_imports(include=OURS):
        from tests.unit import test_any_input as known
    read = known.READERS[reader]

    def one(data: bytes) -> None:
        text, _, other = data.partition(BETWEEN)
        begun = time.process_time()
        read(known.storable(known.decode(text)), known.storable(known.decode(other)))
        spent = time.process_time() - begun
        assert spent < known.SECONDS * max(1.0, len(data) / LONGEST), f"{spent:.1f} s for {len(data):,} bytes"

    with tempfile.TemporaryDirectory() as folder:
        for number, piece in enumerate(known.PIECES):
            Path(folder, str(number)).write_bytes(
                piece.encode("utf-8", "surrogatepass") * 40 + BETWEEN + b"a\n"
            )
        words = [
            "fuzz",
            folder,
            f"-max_total_time={seconds}",
            f"-max_len={LONGEST}",
            "-timeout=30",
            "-verbosity=1",
        ]
        atheris.Setup(words, one)
        atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", action="append", help="default: all")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--feed", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("Not run: no atheris; pip install atheris")
        return 0
    if asked.feed:
        feed(asked.feed, asked.seconds)
        return 0
    failed = 0
    for reader in asked.reader or _readers():
        words = [sys.executable, __file__, "--feed", reader, "--seconds", str(asked.seconds)]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                words, cwd=folder, env={**os.environ, "PYTHONPATH": _path()}, capture_output=True, text=True,
                timeout=asked.seconds + PATIENCE, check=False, errors="replace",
            )  # fmt: skip
            inputs = max((int(one or other) for one, other in DONE.findall(done.stderr)), default=0)
            bad = [path.read_bytes()[:200] for path in Path(folder).iterdir()]
        failed += bool(done.returncode or bad)
        print(
            f"{reader:12} {inputs:>9,} inputs  {'failed' if done.returncode or bad else 'fine'}", flush=True
        )
        if done.returncode or bad:
            print(*bad, *done.stdout.splitlines()[-8:], *done.stderr.splitlines()[-12:], sep="\n    ")
    return 1 if failed else 0


def _readers() -> list[str]:
    text = (ROOT / "tests/unit/test_any_input.py").read_text(encoding="utf-8")
    table = text.partition("READERS")[2].partition("}")[0]
    return re.findall(r'"([a-z-]+)":', table)


def _path() -> str:
    return os.pathsep.join([str(ROOT), *([os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else [])])


if __name__ == "__main__":
    raise SystemExit(main())
