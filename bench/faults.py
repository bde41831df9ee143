"""Does a disk fault at any call of any write leave another state than the one before or after?

    .venv/bin/python bench/faults.py [--story apply]… [--fault EIO]… [--every 1] [--limit 0] [--user NAME] [--messages]

Each story is a command: applying, undoing, recovering, storing outside changes, restoring, purging a secret, and the first
write into a missing directory. It is run once for each of its disk calls below the data and the agent's directory, in a
separate process, and that call gets a fault (docs/security.md lists them); some end the process. Then the disk works
again: `recover` is run, the command is repeated, and everything stored is read back.

Counted as wrong: a traceback, a refusal without a message, files that are neither as before nor as after (at once, unless
the message asks to run `recover`), a leftover, a stored text that is lost, a second attempt that fails.
Exit 1 when something was wrong. Needs Linux and a C compiler, and exits at once without them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import pwd
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.world.manifest import manifest
from tests.world.processes import commands, faulty_disk, servers
from tests.world.processes.faulty_disk import CREATE, FAULTS, KILL, NONE, TORN, Disk, Done, Fault

SLUG = "-home-dev-app"
# Made from parts: no file may contain what looks like a live credential.
TOKEN = "ghp_" + "m2Rk9WvX4cT7pB1zN6hQ8dJ3sL5yG0fAuEoI"
LEAKED = (
    f"---\nname: Deploy\ntype: project\n---\n\nThe API runs on host alpha.\n\nDeploys use {TOKEN} there.\n"
)
OUTSIDE = "---\nname: Outside\ntype: project\n---\n\nSomebody else wrote this.\n"
#: Messages that name a command for the rest.
SAYS_RECOVER = re.compile(r"\brecover\b")
#: A second undo or purge has nothing to do if the first attempt or `recover` completed it.
IS_OVER = re.compile(r"othing to undo|nothing to purge|was undone")
Tree = dict[str, list[Any]]


# --- Stories: made in a separate process, by name ---------------------------------------------------------------------


def _approved(folder: str) -> Any:
    """A proposal that changes a file and an index, adds a file and deletes one, all approved."""
    from dreams.models import Hunk
    from dreams.services import review
    from tests.world import directory as world

    project = world.make_project(Path(folder))
    one = world.TESTING.replace("make reset", "make fresh")
    fact = "---\nname: Export\ntype: project\n---\n\nThe export runs at 04:00 UTC.\n"
    index = world.INDEX.replace(
        "- [Deploy](project_deploy.md) — where it runs\n", "- [Export](team/export.md) — when it runs\n"
    )
    proposal = world.propose(
        project,
        world.edit("feedback_testing.md", world.TESTING, one, "reset"),
        world.edit("team/export.md", None, fact, "export", "learn"),
        world.edit("project_deploy.md", world.DEPLOY, None, "gone", "prune"),
        world.edit("MEMORY.md", world.INDEX, index, "export", "index"),
    )
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
    return proposal


def to_apply(folder: str) -> list[str]:
    return ["apply", _approved(folder).public_id]


def to_undo(folder: str) -> list[str]:
    from dreams.services.apply import applying
    from tests.world import directory as world

    proposal = _approved(folder)
    assert applying.apply(proposal, world.ME).complete
    return ["rollback", proposal.public_id]


def to_keep(folder: str) -> list[str]:
    """A file was changed, one added and one deleted since the last scan."""
    from tests.world import directory as world

    memory = world.folder(world.make_project(Path(folder)))
    (memory / "feedback_testing.md").write_text(world.TESTING + "\nChanged outside.\n")
    (memory / "outside.md").write_text(OUTSIDE)
    (memory / "project_deploy.md").unlink()
    return ["history", SLUG]


def to_restore(folder: str) -> list[str]:
    from dreams.lib.files import text
    from dreams.services.memories import syncing
    from tests.world import directory as world

    project = world.make_project(Path(folder))
    world.put(world.folder(project) / "feedback_testing.md", world.TESTING + "\nLater.\n")
    syncing.refresh(project)
    sha = text.sha256(world.TESTING.encode())
    return ["restore", SLUG, "feedback_testing.md", "--version", sha]


def to_purge(folder: str) -> list[str]:
    """A secret that was removed from its memory and is still in stored texts."""
    from dreams.models import Hunk
    from dreams.services import review, secret_purge
    from dreams.services.apply import applying
    from tests.world import directory as world

    project = world.make_project(Path(folder), {"project_deploy.md": LEAKED, "other.md": "Another.\n"})
    made = secret_purge.propose(project, world.ME)
    assert made is not None
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(made, made.findings.filter(severity="block"), world.ME)
    assert applying.apply(made, world.ME).applied
    [leak] = secret_purge.find_secrets(project).found
    return ["secrets", SLUG, "--purge", leak.id]


def to_begin(folder: str) -> list[str]:
    """The memory directory does not exist yet."""
    from dreams.models import Hunk
    from dreams.services import review
    from tests.world import directory as world

    project = world.make_project(Path(folder), {})
    world.folder(project).rmdir()
    fact = "---\nname: Export\ntype: project\n---\n\nThe export runs at 04:00 UTC.\n"
    proposal = world.propose(project, world.edit("project_export.md", None, fact, "export", "learn"))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
    return ["apply", proposal.public_id]


def healed(words: list[str], folder: str) -> dict[str, Any]:
    """With a working disk again: runs `recover`, repeats the command and reads everything stored, in one process."""
    recovered, found = _command("recover"), manifest_of(folder)
    return {
        "recovered": recovered,
        "tree": found,
        "again": _command(*words),
        "tree_again": manifest_of(folder),
        **kept(),
    }


def kept() -> dict[str, Any]:
    """Versions by path, those without a text, the number of applies, and the findings of `verify`."""
    from dreams.models import AppliedBatch, Blob, Project, Version
    from dreams.services import verifying
    from dreams.services.memories import syncing

    project = Project.objects.get()
    syncing.refresh(project)
    versions = Version.objects.exclude(sha256="").select_related("memory")
    texts = {f"{version.memory.path} {version.sha256}" for version in versions}
    with syncing.open_history(project) as store:
        there = {sha for commit in store.log(1000) for sha in store.tree_at(commit.id).values()}
    blobs = set(Blob.objects.values_list("sha256", flat=True))
    return {
        "versions": sorted(texts),
        "missing": sorted(text for text in texts if text.split()[-1] not in there & blobs),
        "applied": AppliedBatch.objects.count(),
        "problems": [f"{one.what} {one.where}" for one in verifying.verify().problems],
    }


def _command(*words: str) -> tuple[int, str]:
    """A command's exit code and its output."""
    from django.core.management import load_command_class

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            load_command_class("dreams", words[0]).run_from_argv(["manage.py", *words])
        except SystemExit as ended:
            return int(ended.code or 0), said.getvalue()
    raise AssertionError("a command ends by itself")


def manifest_of(folder: str) -> dict[str, list[Any]]:
    """The files, without the agent's lock, which we may touch; folders only by mode."""
    if not Path(folder).exists():
        return {}
    return {
        name: [entry.sha256, entry.mode, 0 if entry.kind == "dir" else entry.mtime_ns]
        for name, entry in manifest(folder).items()
        if name not in ("", ".consolidate-lock")
    }


STORIES = {
    "apply": to_apply,
    "rollback": to_undo,
    "recover": to_apply,
    "finish": to_apply,
    "history": to_keep,
    "restore": to_restore,
    "purge": to_purge,
    "first": to_begin,
}
#: Applies that were killed: with every file swapped, and with the commit on disk.
CUT_OFF = {
    "recover": Fault("cut off", KILL, kinds=CREATE, only="commit.json"),
    "finish": Fault("cut off", KILL, kinds=CREATE, only="-1.1/old"),
}


# --- One story --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Figures:
    """The results of one story under all its faults."""

    calls: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    before: int = 0
    after: int = 0
    between: int = 0
    refused: int = 0
    messages: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Story:
    """A prepared home with a command that can be run in it repeatedly."""

    def __init__(self, name: str, disk: Disk) -> None:
        self.name, self.disk = name, disk
        self.place = disk.folder / "home"
        self.whole = disk.folder / f"whole-{name}-{len(list(disk.folder.glob('whole-*')))}"
        self.memory = self.place / "claude" / "projects" / SLUG / "memory"
        self.data = self.place / "data"
        self.cut_off: list[str] = []
        self.words = self._prepared()
        self.before = self.untouched if self.cut_off else self.tree()
        self.calls = self.run().struck.calls
        self.after = self.tree()
        self.kept = self.heal()

    def _prepared(self) -> list[str]:
        self.start_anew(None)
        servers.with_database(self.data)
        words = self.disk.call(
            f"bench.faults:{STORIES[self.name].__name__}", folder=str(self.place / "claude")
        )
        assert isinstance(words, list)
        shutil.copytree(self.place, self.whole, symlinks=True)
        if self.name in CUT_OFF:
            self.cut_off = words
            self.start_anew(self.whole)
            words = ["recover"]
        return words

    def start_anew(self, whole: Path | None) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        if whole is None:
            (self.place / "claude").mkdir(parents=True)
            return
        shutil.copytree(whole, self.place, symlinks=True)
        if self.cut_off:
            self.untouched = self.tree()
            assert self.disk.run(*self.cut_off, fault=CUT_OFF[self.name], at=0).code < 0

    def run(self, fault: Fault = NONE, at: int = -1) -> Done:
        return self.disk.run(*self.words, "--json", fault=fault, at=at)

    def tree(self) -> Tree:
        return manifest_of(str(self.memory))

    def state(self, now: Tree) -> str:
        """ "before", "after" or "between"; "before" requires unchanged times too."""
        if _texts(now) == _texts(self.after):
            return "after"
        return "before" if now == self.before else "between"

    def heal(self) -> Any:
        return self.disk.call("bench.faults:healed", words=self.words, folder=str(self.memory))

    def strike(self, fault: Fault, at: int, figures: Figures) -> bool:
        """One run with one fault; False if the command ended before it."""
        self.start_anew(self.whole)
        done = self.run(fault, at)
        if not done.struck.call:
            return False
        figures.runs[fault.name] += 1
        figures.refused += done.code == 1
        where = (
            f"{self.name}, {fault.name} at {done.struck.call} {_short(done.struck.path, self.place)} ({at})"
        )
        for trouble in [*self._answered(fault, done), *self._healed(figures, done)]:
            figures.wrong.append(f"{where}: {trouble}")
        for line in done.err.splitlines():
            figures.messages[_plain(line, self.place)] += 1
        return True

    def _answered(self, fault: Fault, done: Done) -> Iterator[str]:
        """The faults of the command's output, and of the files at that moment."""
        if done.code < 0:
            if fault.action not in (KILL, TORN):
                yield f"died of signal {-done.code}: {done.err!r}"
            return
        said = done.out + done.err
        if "Traceback" in said:
            yield f"a traceback: {said[:300]!r}"
        if "An unexpected fault" in said:
            yield f"unexpected: {done.err[:300]!r}"
        if done.code not in (0, 1):
            yield f"exit {done.code}: {done.err[:300]!r}"
        if done.code == 1 and not done.err.strip():
            yield "refused without a word"
        state, is_told = self.state(self.tree()), SAYS_RECOVER.search(said) or _is_partial(done)
        if done.code == 0 and state != "after" and not is_told:
            yield f"said to be done and is not: {done.out[:300]!r}"
        if state == "between" and not is_told:
            yield f"neither before nor after, and nobody is told: {said[:300]!r}"

    def _healed(self, figures: Figures, first: Done) -> Iterator[str]:
        """The faults that remain with a working disk."""
        figures.between += self.state(self.tree()) == "between"
        done, is_partial = self.heal(), _is_partial(first)
        code, said = done["recovered"]
        if code or "Traceback" in said:
            yield f"not recovered: {said}"
        state = self.state(done["tree"])
        figures.before += state == "before"
        figures.after += state == "after"
        if state == "between" and not is_partial:
            yield f"neither before nor after: {done['tree']}"
        yield from (f"left behind: {name}" for name in self._leftovers())
        code, said = done["again"]
        if code and not IS_OVER.search(said):
            yield f"does not work again: {said}"
        if self.state(done["tree_again"]) != "after":
            yield f"not as it was to be after a second try: {done['tree_again']} {said}"
        yield from self._all_kept(done, is_partial=is_partial)

    def _all_kept(self, now: Any, *, is_partial: bool) -> Iterator[str]:
        yield from (f"verify: {problem}" for problem in now["problems"])
        if lost := set(self.kept["versions"]) - set(now["versions"]):
            yield f"versions that are gone: {sorted(lost)}"
        if now["missing"]:
            yield f"texts that are gone: {now['missing']}"
        if now["applied"] != self.kept["applied"] + is_partial:
            yield f"applied {now['applied']} times and not {self.kept['applied']}"
        if self.name == "purge" and TOKEN.encode() in b"".join(
            path.read_bytes() for path in self.data.rglob("*") if path.is_file()
        ):
            yield "the purged secret is still there"

    def _leftovers(self) -> list[str]:
        """Temporary files in the memory directory or unfinished ones in a history. The journal keeps replaced files for a day."""
        found = [*self.memory.rglob("*.memoryweb-*"), *(self.data / "history").rglob("*.unfinished")]
        return [_short(str(path), self.place) for path in found]


def _is_partial(done: Done) -> bool:
    """Whether the rest was written and the message reports an unreadable file, which waits with its operation."""
    return done.code == 1 and '"conflicts": [{' in done.out and '"applied": [{' in done.out


def _texts(tree: Tree) -> dict[str, list[Any]]:
    return {name: entry[:2] for name, entry in tree.items()}


def _short(path: str, place: Path) -> str:
    return path.replace(str(place), "…").replace(SLUG, "SLUG")


def _plain(line: str, place: Path) -> str:
    """A message without the parts that vary between runs."""
    return re.sub(r"\b[0-9a-f]{12,}\b|\b[dpt][0-9a-z]{8}\b", "ID", _short(line, place))


# --- All of them ------------------------------------------------------------------------------------------------------


def home(base: Path) -> Disk:
    """A disk with faults on demand below a new home in `base`."""
    place = base / "home"
    environment = commands.environment(
        place / "data",
        HOME=str(base),
        LANG="C.UTF-8",
        MEMORYWEB_ROOTS=str(place / "claude"),
        MEMORYWEB_SECRET_KEY="of a test, and of nothing else in the world",  # noqa: S106
        MEMORYWEB_TIME_ZONE="UTC",
        DJANGO_SETTINGS_MODULE="memoryweb.settings",
    )
    return Disk(base, [place], environment)


def sweep(
    disk: Disk,
    stories: Sequence[str],
    faults: Sequence[Fault],
    every: int = 1,
    limit: int = 0,
    start: int = 0,
) -> Iterator[tuple[str, Figures]]:
    """Runs each story under each fault, at every n-th call, at most `limit` times for each pair (0: all)."""
    for name in stories:
        story, figures = Story(name, disk), Figures()
        figures.calls = story.calls
        for fault in faults:
            at, done = start, 0
            while (not limit or done < limit) and story.strike(fault, at, figures):
                at, done = at + every, done + 1
        yield name, figures


def _as_user(name: str) -> None:
    """Continues as a user without rights; only root can."""
    who = pwd.getpwnam(name)
    os.setgroups([])
    os.setgid(who.pw_gid)
    os.setuid(who.pw_uid)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--story", action="append", choices=STORIES, help="default: all")
    parser.add_argument("--fault", action="append", choices=FAULTS, help="default: all")
    parser.add_argument("--every", type=int, default=1, help="strike every so many calls")
    parser.add_argument("--start", type=int, default=0, help="the first call to strike")
    parser.add_argument("--limit", type=int, default=0, help="runs for each story and fault")
    parser.add_argument("--user", default="", help="run as this user")
    parser.add_argument("--messages", action="store_true", help="print each message once")
    asked = parser.parse_args()
    if reason := faulty_disk.missing():
        print(f"Not run: {reason}")
        return 0
    commands.PATIENCE = 600.0  # nobody waits, and the machine may be busy
    if asked.user:
        _as_user(asked.user)
    faults = [FAULTS[name] for name in asked.fault or FAULTS]
    wrong, stories = 0, asked.story or list(STORIES)
    with tempfile.TemporaryDirectory(prefix="mw-faults-") as folder, home(Path(folder)) as disk:
        os.environ.setdefault("TESTS_RUN", folder)  # where what is made once is kept
        for name, figures in sweep(disk, stories, faults, asked.every, asked.limit, asked.start):
            wrong += len(figures.wrong)
            _print(name, figures, messages=asked.messages)
    return 1 if wrong else 0


def _print(name: str, figures: Figures, *, messages: bool) -> None:
    lines = [
        f"{name}: {figures.calls} calls, {sum(figures.runs.values()):,} faults ({dict(figures.runs)})",
        f"  {figures.refused:,} refused; {figures.between:,} between until recovered; then",
        f"  {figures.before:,} before, {figures.after:,} after; wrong: {len(figures.wrong)}",
        *(f"    {line}" for line in figures.wrong[:40]),
    ]
    if messages:
        lines += [f"  {count:>5} {line}" for line, count in figures.messages.most_common()]
    print("\n".join(lines), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
