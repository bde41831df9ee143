"""Which files and streams grep looks into; no link is followed."""

from __future__ import annotations

from collections.abc import Iterator

from dreams.lib.files.safefs import SafeFsError

from ...errors import LineTooLong
from ...globbing import matches
from ...mounts import Place, trouble
from ...process import Process, is_folder
from .lines import scan
from .plan import Plan, State, shows_name

_DEPTH = 64


def run(process: Process, plan: Plan) -> Iterator[bytes]:
    state = State()
    args = plan.args
    recursive = args.has("r") or args.last("d") == "recurse"
    if plan.mode != "names-without" and _never(plan):
        process.status = 1
        return
    operands = args.operands or (["."] if recursive else ["-"])
    plainly = not args.operands and recursive  # names without the leading ./
    for path in operands:
        if state.done:
            break
        state.named = len(operands) > 1
        yield from _operand(process, plan, state, path, recursive=recursive, plainly=plainly)
    process.status = _status(plan, state)


def _never(plan: Plan) -> bool:
    """Whether no line can be selected; then GNU opens no file."""
    everything = plan.invert and plan.patterns == [b""] and not (plan.args.has("w") or plan.args.has("x"))
    return plan.most == 0 or everything


def _status(plan: Plan, state: State) -> int:
    if state.matched and (plan.mode == "quiet" or not state.failed):
        return 0
    return 2 if state.failed else 1


def _operand(
    process: Process, plan: Plan, state: State, path: str, *, recursive: bool, plainly: bool
) -> Iterator[bytes]:
    if path == "-":
        yield from scan(process, plan, state, process.stdin, plan.args.last("label") or "(standard input)")
        return
    try:
        place = process.tree.place(path, process.cwd)
        folder = is_folder(process.tree.stat(place))
        if folder and recursive:
            if plainly or not _skipped(plan, path, folder=True, named=True):
                yield from _folder(process, plan, state, place, "" if plainly else path, 0)
        elif (folder and plan.args.last("d") == "skip") or _skipped(plan, path, folder=folder, named=True):
            return
        else:
            yield from _file(process, plan, state, path, below=False)
    except (OSError, SafeFsError) as error:
        _fail(process, plan, state, path, error)
        if trouble(error) == "Is a directory":
            # A folder can be opened but not read: it counts as an empty file.
            yield from scan(process, plan, state, iter(()), path)


def _fail(process: Process, plan: Plan, state: State, path: str, error: OSError | SafeFsError) -> None:
    state.failed = True
    if not plan.args.has("s"):
        process.complain(f"{path}: {trouble(error)}", 2)


def _folder(
    process: Process, plan: Plan, state: State, place: Place, shown: str, depth: int
) -> Iterator[bytes]:
    entries = process.tree.entries(place)
    process.meter.saw(len(entries))
    base = shown if not shown or shown.endswith("/") else shown + "/"
    for entry in entries:
        if state.done:
            return
        kind = entry.stat.st_mode & 0o170000
        path = base + entry.name
        if kind == 0o040000 and depth < _DEPTH and not _skipped(plan, entry.name, folder=True, named=False):
            try:
                below = process.tree.place(path, process.cwd)
                yield from _folder(process, plan, state, below, path, depth + 1)
            except (OSError, SafeFsError) as error:
                _fail(process, plan, state, path, error)
        elif kind == 0o100000 and not _skipped(plan, entry.name, folder=False, named=False):
            try:
                yield from _file(process, plan, state, path, below=True)
            except (OSError, SafeFsError) as error:
                _fail(process, plan, state, path, error)


def _skipped(plan: Plan, name: str, *, folder: bool, named: bool) -> bool:
    """Whether --include, --exclude or --exclude-dir leave a name out; the last one that matches decides."""
    kinds = ("exclude-dir",) if folder else ("include", "exclude")
    rules = [(kind, text.rstrip("/") if folder else text) for kind, text in plan.args.given if kind in kinds]
    for kind, pattern in reversed(rules):
        if _matches_tail(pattern, name.rstrip("/") if folder else name, anywhere=named):
            return kind != "include"
    return bool(rules) and rules[0][0] == "include"


def _matches_tail(pattern: str, name: str, *, anywhere: bool) -> bool:
    if matches(pattern, name):
        return True
    return anywhere and any(matches(pattern, name[at + 1 :]) for at, char in enumerate(name) if char == "/")


def _file(process: Process, plan: Plan, state: State, path: str, *, below: bool) -> Iterator[bytes]:
    named = state.named
    state.named = shows_name(plan, state, below=below)
    try:
        yield from scan(process, plan, state, process.chunks(path), path)
    except LineTooLong as error:
        state.failed = True
        process.complain(f"{path}: {error}; the rest of it was not searched", 2)
    finally:
        state.named = named
