"""The plain-directory interface: any system can be measured that works on folders. No Django.

`DIR/NAME/memory`, `DIR/NAME/transcripts`, `DIR/NAME/repo`, and `DIR/truth.json`, which a system must not read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dreams.dev.dreambench import disk, generator, strangers
from dreams.dev.dreambench.baselines import Baseline
from dreams.dev.dreambench.course import sources_of
from dreams.dev.dreambench.scoring import Ran, Score, score
from dreams.dev.dreambench.truth import World, as_json, cases_from

NOTES = "notes.txt"
_README = """# A dreambench world: seed {seed}, {facts} facts

Each folder beside this file is one project:

- `memory/` is what to tidy: Markdown topic files and their index `MEMORY.md`. Work on it in place.
- `transcripts/` holds its sessions, one JSON object a line, oldest file first by its first timestamp.
- `repo/` is the code, with its CLAUDE.md. Read it; changes there are not looked at.

Of `MEMORY.md` an agent loads the first 200 lines or 25,000 bytes, whichever comes first; a row should take 200 characters at most.
A memory whose frontmatter says `pinned: true` stays as it is, byte for byte.

Files have the modification times of the day on which they were written. Today is the day of your run.
If your system says something to its person (a fact that may be stale, say), write it to `notes.txt` beside `memory/`,
a line each. `truth.json` is for scoring alone.

Then: `python manage.py dreambench --score DIR`.
"""


class NoWorld(Exception):
    """The folder holds no exported world; the message says what is missing."""


def export(world: World, folder: Path) -> None:
    """Write a world into a folder that is empty or not there. Raises NoWorld where it holds something."""
    if folder.exists() and any(folder.iterdir()):
        raise NoWorld(f"{folder} is not empty. Name a new folder.")
    for made in world.directories:
        home = folder / made.name
        disk.write(made, home / "memory", home / "transcripts", home / "repo")
    (folder / "truth.json").write_text(json.dumps(as_json(world), ensure_ascii=False, indent=1), "utf-8")
    (folder / "README.md").write_text(_README.format(seed=world.seed, facts=world.facts), "utf-8")


def score_folder(folder: Path) -> tuple[World, Score]:
    """Score what stands in an exported folder now. Raises NoWorld."""
    try:
        truth: dict[str, Any] = json.loads((folder / "truth.json").read_text("utf-8"))
        cases = cases_from(truth["cases"])
        seed, facts, given = int(truth["seed"]), int(truth["facts"]), str(truth.get("from", ""))
        world = (
            strangers.make(Path(given), seed, facts)
            if given
            else generator.make(seed, facts, str(truth.get("wordings", "own")))
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoWorld(f"{folder} holds no world that --export wrote ({error}).") from error
    if world.cases != cases:
        raise NoWorld(f"{folder} was exported by another version. Export it anew.")
    runs = []
    for made in world.directories:
        home = folder / made.name
        notes = home / NOTES
        said = notes.read_text("utf-8", "replace")[:1_000_000] if notes.is_file() else ""
        after = disk.read(home / "memory")
        runs.append(Ran(made.name, made.files, after, sources_of(made), said, made.secrets))
    return world, score(cases, runs)


def baseline(world: World, run: Baseline, half: str = "") -> Score:
    """A system that is a function from a directory to its files; over all directories or those of one half."""
    chosen = [made for made in world.directories if made.name.startswith(half)]
    runs = [Ran(made.name, made.files, run(made), sources_of(made), "", made.secrets) for made in chosen]
    return score([case for made in chosen for case in world.cases_of(made.name)], runs)
