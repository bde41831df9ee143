"""One dream of the rules engine: read memory and sessions, consolidate, tidy the index, and undo what a check would reject."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from dreams.engines import drafts
from dreams.engines.rules import questions, repository, value_updates
from dreams.engines.rules.notes.tree import Recorder, Tree
from dreams.engines.rules.steps import files, forgetting, index, learning, orphans, restating, secrets
from dreams.engines.rules.user_statements import lessons
from dreams.engines.rules.user_statements.logs import noted
from dreams.engines.rules.user_statements.prompts import Heard, read_prompts
from dreams.engines.types import EngineTurn, Job, Outcome, Phase, Question, Reporter, Work
from dreams.lib import memdir
from dreams.lib.diff import Hunk
from dreams.lib.files import text
from dreams.lib.files.text import plural
from dreams.lib.secrets.redact import redact

Step = Callable[[], None]
ROUNDS = 6  # one step may make work for another; more than two rounds were hardly ever needed


class RulesEngine:
    """Deterministic and extractive: it uses only words of its sources, and merges only what is certainly the same."""

    name = "rules"

    def run(self, job: Job, report: Reporter) -> Outcome:
        tree = Tree(job.workspace, report, job.hand_edited)
        rec = Recorder(tree, report)
        _orient(tree, report)
        logged, heard = noted(job, report), read_prompts(job, report)
        repeated = [*lessons.repeated(job, tree, heard)]
        gathered = _gather(job, rec, [*logged, *heard], report)
        repo = repository.read(job.repo_dir, report.checkpoint)
        if repo is not None:
            repo.instructions.update(job.instructions)
        _tidy(job, rec, heard, gathered, report)
        _mend(job, rec, report)
        _note_index(job, rec)
        asked = questions.ask(job, rec, [*logged, *heard], gathered, repo)
        return Outcome(edits=rec.edits, summary=summary(rec, asked), questions=asked, repeated=repeated)


def _orient(tree: Tree, report: Reporter) -> None:
    memories = tree.memories()
    pinned = sum(tree.pinned(path) for path in memories)
    rows = sum(len(memdir.parse_index(tree.texts[path]).rows) for path in tree.indexes())
    text = f"Read {plural(len(memories), 'memory', 'memories')} and {plural(rows, 'index row')}."
    if pinned:
        text += f" {plural(pinned, 'memory is', 'memories are')} pinned and unchanged."
    lost = index.dangling(tree)
    if lost:
        text += f" {plural(lost, 'row points', 'rows point')} to a file that is not there."
    counts = {"memories": len(memories), "rows": rows, "pinned": pinned, "dangling": lost}
    report.turn(EngineTurn("orient", text, files=memories[:200], counts=counts))


def _gather(job: Job, rec: Recorder, heard: Sequence[Heard], report: Reporter) -> lessons.Gathered:
    found = lessons.gather(job, rec, heard)
    lines = sum(len(log.new) for log in job.logs)
    logs = f"{plural(lines, 'new line')} of {plural(len(job.logs), 'log')}, " if lines else ""
    text = (
        f"Read {logs}{plural(found.prompts, 'prompt')} of {plural(len(job.sessions), 'session')} and found "
        f"{plural(len(found.lessons), 'thing')} to remember."
    )
    if found.known:
        text += f" {found.known:,} more {'is' if found.known == 1 else 'are'} in memory already."
    if found.secrets:
        rec.note(f"Left out {plural(found.secrets, 'request')} that looked like a secret.")
    if found.undated:
        rec.note(f"Left out {plural(found.undated, 'request')} with a date that cannot be worked out.")
    counts = {
        **({"log lines": lines} if lines else {}),
        "sessions": len(job.sessions),
        "prompts": found.prompts,
        "found": len(found.lessons),
        "known": found.known,
        "secrets": found.secrets,
    }
    report.turn(EngineTurn("gather", " ".join([text, *rec.notes]), counts=counts))
    return found


def _consolidating(job: Job, rec: Recorder, heard: Sequence[Heard], found: lessons.Gathered) -> list[Step]:
    config = job.config
    return [
        lambda: secrets.redact(rec),
        lambda: forgetting.forget(rec, heard, found.lessons),
        lambda: _bring_up_to_date(rec, heard, found),
        lambda: files.merge(rec, config.row_max),
        lambda: learning.learn(rec, found.lessons, config),
    ]


def _bring_up_to_date(rec: Recorder, heard: Sequence[Heard], found: lessons.Gathered) -> None:
    told, unsure = value_updates.update(rec, heard, learns=bool(found.lessons))
    lessons.drop(found, told)
    lessons.drop(found, restating.restate(rec, heard, found.lessons, told))
    lessons.doubt(found, unsure)


def _pruning(job: Job, rec: Recorder) -> list[Step]:
    return [
        lambda: index.repair_rows(rec, job.config.row_max, job.repo_dir),
        lambda: index.repair_links(rec),
        lambda: orphans.add_orphans(rec, job),
    ]


def _tidy(
    job: Job,
    rec: Recorder,
    heard: Sequence[Heard],
    found: lessons.Gathered,
    report: Reporter,
) -> None:
    """Repeats all steps until none has anything to do, so that a second dream over the result finds nothing.

    The first round is reported by phases, all later rounds as one more phase.
    """
    start, before = 0, rec.counts.copy()
    for number in range(1 + ROUNDS):
        made = len(rec.edits)
        if number == 0:
            _phase(rec, report, "consolidate", _consolidating(job, rec, heard, found))
            _phase(rec, report, "prune", _pruning(job, rec))
            start, before = len(rec.edits), rec.counts.copy()
        else:
            again = lessons.gather(job, rec, heard)
            _run([*_consolidating(job, rec, heard, again), *_pruning(job, rec)], report)
        if len(rec.edits) == made:
            break
    if len(rec.edits) > start:
        _tell_phase(rec, report, "prune", start, before)


def _mend(job: Job, rec: Recorder, report: Reporter) -> None:
    """Undoes what a check would block."""
    report.checkpoint()
    undone = take_back(job, rec) if rec.edits else []
    if undone:
        told = f"{plural(len(undone), 'change')} that failed the checks: {' '.join(undone)}"
        rec.note(f"Undid {told}")
        report.turn(EngineTurn("prune", f"Checked the work and undid {told}"))


def _note_index(job: Job, rec: Recorder) -> None:
    """Adds a sentence about rows without a file, and one if agents load only a part of the index."""
    lost = index.dangling(rec.tree)
    if lost:
        rows = plural(lost, "index row whose file is", "index rows whose files are")
        rec.note(f"Left {rows} missing; {'it' if lost == 1 else 'they'} may be the only record.")
    config = job.config
    state = orphans.loaded(rec.tree.texts.get(memdir.INDEX_NAME, ""), config)
    if state.cut_by is not None:
        rec.note(
            f"The index has {state.lines:,} lines and {state.bytes:,} bytes, more than an agent loads "
            f"({config.index_max_lines:,} lines, {config.index_max_bytes:,} bytes)."
        )


def _phase(rec: Recorder, report: Reporter, phase: Phase, steps: Sequence[Step]) -> None:
    start, before = len(rec.edits), rec.counts.copy()
    _run(steps, report)
    _tell_phase(rec, report, phase, start, before)


def _run(steps: Sequence[Step], report: Reporter) -> None:
    for step in steps:
        report.checkpoint()
        step()


def _tell_phase(rec: Recorder, report: Reporter, phase: Phase, start: int, before: Counter[str]) -> None:
    made = rec.edits[start:]
    counts = {name: count for name, count in (rec.counts - before).items() if count}
    text = _told(counts) or "Nothing to do."
    paths = list(dict.fromkeys(edit.path for edit in made))
    report.turn(EngineTurn(phase, text, files=paths, counts=counts, work=Work.on(made), edits=made))


#: What a dream counts, in the order of its summary.
_DONE = (
    ("learnt", "learnt {} from your prompts", "thing", "things"),
    ("logged", "learnt {} from your agent’s logs", "thing", "things"),
    ("updated", "updated {} from what you said", "statement", "statements"),
    ("forgotten", "removed {} that you asked to forget", "statement", "statements"),
    ("files", "merged {}", "memory into another", "memories into others"),
    ("rows", "repaired {}", "index row", "index rows"),
    ("listed", "added {}", "index row for a memory that had none", "index rows for memories that had none"),
    ("links", "repaired {}", "link", "links"),
    ("redacted", "removed {}", "secret", "secrets"),
)


def _told(counts: Mapping[str, int]) -> str:
    """The result in one sentence."""
    told = [form.format(plural(counts[name], *of)) for name, form, *of in _DONE if counts.get(name)]
    return f"{', '.join(told).capitalize()}." if told else ""


def summary(rec: Recorder, asked: Sequence[Question] = ()) -> str:
    nothing = "Nothing was changed." if asked else "Nothing needs to change."
    return " ".join([_told(rec.counts) or nothing, *rec.notes])


# --- Undoing what a check would block -----------------------------------------------------------------------------

# Warnings that can only mean that the date is wrong.
_WRONG_DAYS = frozenset({"date-changed", "date-without-source"})


def take_back(job: Job, rec: Recorder) -> list[str]:
    """Undo the operations that block or give a wrong date; names them. Their edits stay listed, but change no line."""
    problems = [one for one in job.examine(rec.edits) if one.blocks or one.code in _WRONG_DAYS]
    if not problems:
        return []
    before, now = job.workspace.snapshot.contents(), job.workspace.contents()
    made = drafts.draft(before, now, rec.edits)
    why = {key: one.message for one in problems for key in one.operations & made.operations.keys()}
    kept = drafts.only(made, before, made.operations.keys() - why.keys())
    rec.take_back(frozenset[str]().union(*(made.operations[key].steps for key in why)))
    for path in sorted(now.keys() | kept.keys()):
        if now.get(path) != kept.get(path):
            data = kept.get(path)
            rec.put(path, None if data is None else text.decode(data))
    first = {
        one.operation: (file.path, one.hunk) for file in reversed(made.files) for one in reversed(file.hunks)
    }
    return [_named(*first[key], why[key]) for key in sorted(why)]


def _named(path: str, hunk: Hunk, why: str) -> str:
    line = next((line for line in (hunk.added + hunk.removed).split("\n") if line.strip()), "")
    return f"{path}, {text.quoted(redact(line))}: {why}"
