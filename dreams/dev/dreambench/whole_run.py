"""Runs an engine the real way: discovery → dream → proposal → approved unchanged → applied, in a separate data directory.

A reviewer who knows the truth answers its questions, and it dreams again until nothing is open. `stage` creates a config
root, `inside` runs in a process whose settings point only there, `measure` starts that process and reads the files
afterwards. The user's own database, roots and memories are never opened.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dreams.dev.dreambench import folders, passages
from dreams.dev.dreambench.builder import Case, World
from dreams.dev.dreambench.passages import DirectoryPassages, plain
from dreams.dev.dreambench.scoring import Cost, Ran, Score, States, distance, score
from dreams.engines.types import Engine, Job, Option, Outcome, Question, Reporter
from dreams.services.questions.options import DoesNotFit, brought_onto
from memoryweb import BASE_DIR

MOST_SECONDS = 6 * 3600  # for one engine, even with a slow model; chosen
STOP_SECONDS = 10.0  # to end before it is killed; chosen
ROUNDS = 6  # most dreams of a project, each after the answers to the last
# These would give the run access to the user's own data.
_OWN = ("DATABASE_URL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_REMOTE")
Say = Callable[[str], None]
When = Literal["certain", "answered"]


class RunFailed(Exception):
    """The engine could not be measured; the message is one line."""


def memory_of(root: Path, repo: Path) -> Path:
    """The agent's memory directory for a repository."""
    return root / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(repo.resolve())) / "memory"


def stage(world: World, folder: Path) -> Path:
    """Writes every directory below a config root and returns the root."""
    root = folder / "root"
    for made in world.directories:
        repo = folder / "repos" / made.name
        repo.mkdir(parents=True)
        memory = memory_of(root, repo)
        folders.write(made, memory, memory.parent, repo)
    return root


def measure(world: World, engine: str, say: Say) -> "Measured":
    """Runs an engine over a world in a separate process. Raises RunFailed."""
    with tempfile.TemporaryDirectory(prefix="dreambench-") as name:
        folder = Path(name)
        stage(world, folder)
        begun = time.monotonic()
        told = _run_inside(world, folder, engine)
        say(f"{engine}: {len(world.directories)} directories in {time.monotonic() - begun:.0f} s")
        return Measured(world, folder, told)


class Measured:
    """The results of an engine on a world: its certain changes, and the state after every question was answered."""

    def __init__(self, world: World, folder: Path, told: Mapping[str, Any]) -> None:
        self.world, self._told = world, told
        self._after: dict[When, dict[str, dict[str, bytes]]] = {"certain": {}, "answered": {}}
        for made in world.directories:
            self._after["certain"][made.name] = folders.read(_certain(folder, made.name))
            memory = memory_of(folder / "root", folder / "repos" / made.name)
            self._after["answered"][made.name] = folders.read(memory)

    def score(self, when: When, half: str = "") -> Score:
        """The score of all directories, or of those of one half of the shapes."""
        chosen = [made for made in self.world.directories if made.name.startswith(half)]
        runs = [Ran(made, self._after[when][made.name]) for made in chosen]
        found = score(self.world.cases, runs, Cost(**self._told["cost"]))
        if when == "answered":
            for made in chosen:
                found.count_asked(self._told["asked"].get(made.name, {}))
        return found


def _certain(folder: Path, name: str) -> Path:
    return folder / "certain" / name


def _run_inside(world: World, folder: Path, engine: str) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if name not in _OWN}
    environment |= {
        "MEMORYWEB_DATA_DIR": str(folder / "data"),
        "MEMORYWEB_ROOTS": str(folder / "root"),
        "MEMORYWEB_TIME_ZONE": "UTC",
        "DJANGO_SETTINGS_MODULE": "memoryweb.settings",
    }
    told = ["--from", world.given] if world.given else []
    told += ["--seed", str(world.seed), "--facts", str(world.facts), "--engine", engine]
    line = [sys.executable, "-m", "memoryweb", "dreambench", "--json", "--inside", str(folder), *told]
    child = subprocess.Popen(
        line, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=BASE_DIR
    )
    try:
        out, _ = child.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"The engine {engine} took longer than {MOST_SECONDS // 3600} h.") from error
    finally:
        _stop(child)
    if child.returncode:
        raise RunFailed(f"The engine {engine} could not be measured; see the message above.")
    found: dict[str, Any] = json.loads(out)
    return found


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Sends Ctrl-C to the process group and kills what remains, so that the folder can be deleted."""
    if child.poll() is None:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(STOP_SECONDS)
        child.kill()
    child.wait()


def inside(world: World, folder: Path, engine: str, say: Say) -> dict[str, Any]:
    """Dreams, approves and applies in every project of the root, and answers questions, until nothing is open.

    Returns `{cost, asked: {directory: {asked, useful, kept}}}`. The certain results are in
    `folder/certain`, the final ones in the root.
    """
    from dreams.models import Project  # noqa: PLC0415 - as above
    from dreams.services import discovery  # noqa: PLC0415 - rows exist only in the process that has a database of its own

    begun = time.monotonic()
    discovery.discover([folder / "root"])
    cost = Cost(again=[] if engine == "rules" else None)  # only measured for an engine that costs nothing
    asked: dict[str, Any] = {}
    projects = list(Project.objects.filter(root__startswith=str(folder)).order_by("pk"))
    for number, project in enumerate(projects, start=1):
        say(f"{number} of {len(projects)}: {project.name or project.slug}")
        run = _ProjectRun(folder, project, engine, cost)
        run.to_the_end(world.cases_of(run.name))
        asked[run.name] = vars(run.asked)
    cost.seconds = time.monotonic() - begun
    return {"asked": asked, "cost": vars(cost)}


class _ProjectRun:
    """One project from its first dream until nothing is open."""

    def __init__(self, folder: Path, project: Any, engine: str, cost: Cost) -> None:
        self.project, self.engine, self.cost = project, engine, cost
        self.folder, self.memory = folder, Path(project.memory_dir)
        # The name of the memory's directory in the world: a project without sessions knows no repository.
        repos = (folder / "repos").iterdir()
        self.name = next(repo.name for repo in repos if memory_of(folder / "root", repo) == self.memory)
        self.asked = QuestionCounts()

    def to_the_end(self, cases: Sequence[Case]) -> None:
        reviewer = Actor(passages.DirectoryPassages(folders.read(self.memory)), cases, self.asked)
        acted = True
        for number in range(ROUNDS if self.engine == "rules" else 1):
            with listening() as heard:
                changes = self._dream()
            before = folders.read(self.memory)
            if number == 0:
                folders.replace(_certain(self.folder, self.name), before)
            elif not acted and self.cost.again is not None:
                self.cost.again += changes
            after = reviewer.answer([q for outcome in heard for q in outcome.questions], before)
            acted = after != before
            folders.replace(self.memory, after)
            if number and not acted and not changes:
                break

    def _dream(self) -> list[str]:
        """Runs one dream from its request to the files on disk; returns its changes."""
        run = dreamt(self.project, self.engine)
        self.cost.input_tokens += run.input_tokens + run.cache_read_tokens + run.cache_creation_tokens
        self.cost.output_tokens += run.output_tokens
        self.cost.cost_usd = str(float(self.cost.cost_usd) + float(run.priced_usd or 0))
        changes: list[str] = []
        for proposal in run.proposals.all():
            changes += changes_of(proposal)
            found = proposal.findings.all()
            self.cost.blocking += [f.message for f in found if f.severity in {"block", "refuse"}]
            _approve_all(proposal)
        return changes


@contextmanager
def listening() -> Iterator[list[Outcome]]:
    """Collects the outcomes of engines in this context: their questions are answered here, not on pages."""
    from dreams import engines  # noqa: PLC0415 - as above

    heard: list[Outcome] = []
    get = engines.get

    class Listening:
        def __init__(self, engine: Engine) -> None:
            self.engine, self.name = engine, engine.name

        def run(self, job: Job, report: Reporter) -> Outcome:
            outcome = self.engine.run(job, report)
            heard.append(outcome)
            return outcome

    engines.get = lambda name: Listening(get(name))
    try:
        yield heard
    finally:
        engines.get = get


def dreamt(project: Any, engine: str) -> Any:
    """A completed dream. Raises RunFailed."""
    from dreams.models import DreamRun  # noqa: PLC0415 - as above
    from dreams.services import dreaming  # noqa: PLC0415 - as above

    run = dreaming.request(project, DreamRun.Trigger.COMMAND, engine=engine, forced=True, actor="dreambench")
    dreaming.run_dream(run.pk)
    run.refresh_from_db()
    if run.status != DreamRun.Status.COMPLETED:
        raise RunFailed(f"{project}: {run.status}: {run.error}")
    return run


def _approve_all(proposal: Any) -> None:
    """Approves and confirms everything except what can never be confirmed."""
    from dreams.models import Hunk  # noqa: PLC0415 - as above
    from dreams.services import review  # noqa: PLC0415 - as above
    from dreams.services.apply import applying  # noqa: PLC0415 - as above

    me = review.Actor("dreambench")
    review.decide(
        proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, me, reason="A measured run."
    )
    open_ones = review.blocking_findings(proposal)
    refused = [finding.hunk for finding in open_ones if finding.severity == "refuse" and finding.hunk]
    if refused:
        review.decide(proposal, review.with_parts(refused), Hunk.Verdict.REJECTED, me, reason="Refused.")
    review.confirm(proposal, [f for f in review.blocking_findings(proposal) if f.severity != "refuse"], me)
    report = applying.apply(proposal, me)
    if not report.complete:
        raise RunFailed(f"{proposal.public_id} could not be applied: {report.error or 'a conflict'}")


def changes_of(proposal: Any) -> list[str]:
    return [
        f"{file.path}: {hunk.operation.reason if hunk.operation else ''}"
        for file in proposal.files.all()
        for hunk in file.hunks.all()
    ]


# A reviewer who knows the truth: chooses the answer that brings a directory closest to it.


MOST_QUESTIONS = 2_000  # of one dream


@dataclass
class QuestionCounts:
    """Questions by kind, and those whose best answer changes something."""

    asked: Counter[str] = field(default_factory=Counter)
    useful: Counter[str] = field(default_factory=Counter)
    kept: list[str] = field(default_factory=list)  # questions asked in vain


@dataclass
class Actor:
    """Answers questions for one directory. `before` is its state before the first dream."""

    before: DirectoryPassages
    cases: Sequence[Case]
    asked: QuestionCounts = field(default_factory=QuestionCounts)
    answered: set[tuple[str, str]] = field(default_factory=set)

    def answer(self, questions: Iterable[Question], files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files after answering every new question."""
        now = dict(files)
        for question in sorted(questions, key=lambda q: -q.weight)[:MOST_QUESTIONS]:
            key = (question.kind, question.subject)
            if key in self.answered or _is_outdated(question, now):
                continue
            self.answered.add(key)
            self.asked.asked[question.kind] += 1
            best = self._best(question, now)
            if best is None:
                places = " | ".join(f"{place.path}: {place.text}" for place in question.places)
                self.asked.kept.append(f"{question.kind}: {places}")
            else:
                self.asked.useful[question.kind] += 1
                now = best
        return now

    def _best(self, question: Question, now: Mapping[str, bytes]) -> dict[str, bytes] | None:
        """The files after the best option; None if changing nothing is no worse."""
        cases = self._touched(question)
        least, best = distance(cases, States(self.before, DirectoryPassages(now))), None
        for option in question.options:
            after = apply(option, now)
            if after is None or after == now:
                continue
            far = distance(cases, States(self.before, DirectoryPassages(after)))
            if far < least:
                least, best = far, after
        return best

    def _touched(self, question: Question) -> list[Case]:
        """The cases that an option can affect: their subject is named in a file that it changes."""
        edits = [edit for option in question.options for edit in option.edits]
        named = plain("\n".join(part for e in edits for part in (e.path, e.before or "", e.after or "")))
        return [case for case in self.cases if any(word in named for word in _subjects(case))]


def _is_outdated(question: Question, files: Mapping[str, bytes]) -> bool:
    """Whether no option fits any more: the next dream asks anew, if there is still something to ask."""
    acts = [option for option in question.options if option.edits]
    return bool(acts) and all(apply(option, files) is None for option in acts)


def _subjects(case: Case) -> list[str]:
    return [claim[0] for claim in (*case.stands, *case.gone)] or [""]


def apply(option: Option, files: Mapping[str, bytes]) -> dict[str, bytes] | None:
    """The files with an option's changes merged in, as an answer is; None if these conflict with later changes."""
    try:
        after = {**files, **brought_onto(files, option.edits)}
    except DoesNotFit:
        return None
    return {path: data for path, data in after.items() if data is not None}
