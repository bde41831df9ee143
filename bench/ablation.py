"""Ablation: what does each function contribute? It is switched off, and all measurements are run again.

    python -m bench.ablation profile MODULE… -m "COMMAND" [-m "COMMAND"]…
    python -m bench.ablation switch  MODULE… -m "COMMAND"… [--most N] [--skip FILE]

A COMMAND is anything whose output shows how good the result is; lines about seconds are not compared. It is run with a
`sitecustomize` on its path that also affects its child processes. `profile` runs the commands once and counts how often
each function of the modules was called and returned something: one that is never called, or always returns nothing,
contributes nothing here. `switch` then replaces each remaining function by a constant, one at a time, and reports
which commands notice. Only functions with a suitable annotation are switched: False and True for `bool`, None for an
optional, an empty tuple for a collection, an empty text for `str`.
"""

from __future__ import annotations

import argparse
import atexit
import functools
import importlib
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORD, SWITCH = "ABLATION_RECORD", "ABLATION_SWITCH"
MOST_SECONDS = 1_200  # per run; chosen
MOST_FUNCTIONS = 400  # switches at most; chosen
_COLLECTIONS = ("frozenset", "set[", "list", "tuple", "Iterator", "Iterable", "Sequence", "Collection")
# Lines with durations and names of temporary folders cannot be compared.
_CHANGING = re.compile(r"seconds|\bin \d+(?:\.\d+)? ?s\b|/tmp/\S+")
_START = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
from bench import ablation
ablation.begin()
"""


# --- In the measured process ----------------------------------------------------------------------------------------


def begin() -> None:
    """Does what the environment requests: counts calls, or replaces a function by a constant."""
    if os.environ.get(RECORD):
        _record(os.environ[RECORD])
    if os.environ.get(SWITCH):
        name, constant = json.loads(os.environ[SWITCH])
        module, _, path = name.partition(":")
        found = dict(functions(importlib.import_module(module)))
        _replace(found[path], lambda *_, **__: _constant(constant))


def _constant(named: str) -> Any:
    return {"False": False, "True": True, "None": None, "()": (), "''": ""}[named]


def functions(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    """The functions that a module defines, including methods and properties, by name."""
    for name, thing in list(vars(module).items()):
        if isinstance(thing, type) and thing.__module__ == module.__name__:
            for own, part in list(vars(thing).items()):
                function = _function(part)
                if function is not None and not own.startswith("__"):
                    yield f"{name}.{own}", function
        else:
            function = _function(thing)
            if function is not None and function.__module__ == module.__name__:
                yield name, function


def _function(thing: object) -> FunctionType | None:
    if isinstance(thing, property):
        thing = thing.fget
    elif isinstance(thing, functools.cached_property):
        thing = thing.func
    elif isinstance(thing, (classmethod, staticmethod)):
        thing = thing.__func__
    thing = inspect.unwrap(thing) if callable(thing) else thing
    return thing if isinstance(thing, FunctionType) and not thing.__code__.co_freevars else None


def _replace(function: FunctionType, by: Callable[..., Any]) -> None:
    """Replaces the function by `by` under every name it was imported as."""
    name = f"_ablation_{id(function)}"
    function.__globals__[name] = by
    made: dict[str, Any] = {}
    exec(f"def stand_in(*a, **k): return {name}(*a, **k)", made)  # noqa: S102 - the name is made above
    function.__code__ = made["stand_in"].__code__
    function.__defaults__ = function.__kwdefaults__ = None


def _copy(function: FunctionType) -> FunctionType:
    made = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _record(asked: str) -> None:
    folder, *modules = asked.split(os.pathsep)
    counts: dict[str, list[int]] = {}
    for module in modules:
        for name, function in functions(importlib.import_module(module)):
            count = counts.setdefault(f"{module}:{name}", [0, 0])
            _replace(function, _counting(_copy(function), count))

    def write() -> None:
        path = Path(folder) / f"{os.getpid()}-{time.monotonic_ns()}.json"
        path.write_text(json.dumps(counts), "utf-8")

    atexit.register(write)


def _counting(function: FunctionType, count: list[int]) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(function):

        def yielding(*args: Any, **named: Any) -> Iterator[Any]:
            count[0] += 1
            gave = 0
            for each in function(*args, **named):
                gave = 1
                yield each
            count[1] += gave

        return yielding

    def calling(*args: Any, **named: Any) -> Any:
        count[0] += 1
        result = function(*args, **named)
        count[1] += result is not None and result is not False and bool(result)
        return result

    return calling


# --- In the measuring one -------------------------------------------------------------------------------------------


def modules_of(names: Iterable[str]) -> list[str]:
    """The module of that name, for a package all modules in it. Raises ImportError."""
    found: list[str] = []
    for name in names:
        module = importlib.import_module(name)
        found.append(name)
        if hasattr(module, "__path__"):
            found += [
                each.name for each in pkgutil.walk_packages(module.__path__, f"{name}.") if not each.ispkg
            ]
    return list(dict.fromkeys(found))


def run(command: str, environment: Mapping[str, str]) -> str:
    """The output of a command, without parts that vary between runs; its exit code is the last line."""
    with tempfile.TemporaryDirectory(prefix="ablation-") as folder:
        (Path(folder) / "sitecustomize.py").write_text(_START, "utf-8")
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH", "")]))
        full = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **environment}
        try:
            done = subprocess.run(  # noqa: S602 - a developer's own command
                command,
                shell=True,
                check=False,
                env=full,
                capture_output=True,
                text=True,
                timeout=MOST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"longer than {MOST_SECONDS} s"
    lines = [line for line in done.stdout.splitlines() if not _CHANGING.search(line)]
    return "\n".join([*lines, f"exit {done.returncode}"])


def profile(modules: list[str], commands: list[str]) -> dict[str, tuple[int, int]]:
    """(calls, calls that returned something) of each function over all commands."""
    total: dict[str, tuple[int, int]] = {}
    with tempfile.TemporaryDirectory(prefix="ablation-") as folder:
        for command in commands:
            run(command, {RECORD: os.pathsep.join([folder, *modules])})
        for path in Path(folder).iterdir():
            for name, (calls, gave) in json.loads(path.read_text("utf-8")).items():
                before = total.get(name, (0, 0))
                total[name] = before[0] + calls, before[1] + gave
    return total


def constants(function: FunctionType) -> tuple[str, ...]:
    """The constants to replace a function by."""
    found = function.__annotations__.get("return", "")
    annotation = (
        found if isinstance(found, str) else inspect.formatannotation(found).removeprefix("collections.abc.")
    )
    if annotation == "bool":
        return ("False", "True")
    if annotation.endswith("| None"):
        return ("None",)
    if annotation.startswith(_COLLECTIONS):
        return ("()",)
    return ("''",) if annotation == "str" else ()


def lines_of(function: FunctionType) -> int:
    return len(inspect.getsourcelines(function)[0])


def switch(modules: list[str], commands: list[str], most: int, skip: frozenset[str]) -> Iterator[str]:
    """A row for each function and constant: its number of lines, and which commands notice."""
    usual = [run(command, {}) for command in commands]
    done = 0
    for module in modules:
        for name, function in functions(importlib.import_module(module)):
            full = f"{module}:{name}"
            for constant in constants(function) if full not in skip else ():
                if done >= most:
                    return
                done += 1
                noticed = [
                    number
                    for number, (command, was) in enumerate(zip(commands, usual, strict=True), start=1)
                    if run(command, {SWITCH: json.dumps([full, constant])}) != was
                ]
                told = ", ".join(map(str, noticed)) or "nothing"
                yield f"| `{full}` | {constant} | {lines_of(function)} | {told} |"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="ablation", description="What does each function earn?")
    parser.add_argument("what", choices=("profile", "switch"))
    parser.add_argument("modules", nargs="+")
    parser.add_argument("-m", "--measure", action="append", required=True, metavar="COMMAND")
    parser.add_argument("--most", type=int, default=MOST_FUNCTIONS, help="at most so many switches")
    parser.add_argument("--skip", type=Path, help="names not to switch, one a line")
    asked = parser.parse_args(arguments)
    modules = modules_of(asked.modules)
    if asked.what == "switch":
        skip = frozenset(asked.skip.read_text("utf-8").split()) if asked.skip else frozenset[str]()
        _say("| function | in its place | lines | noticed by |\n|---|---|---|---|")
        for row in switch(modules, asked.measure, asked.most, skip):
            _say(row)
        return
    counts = profile(modules, asked.measure)
    _say("| function | lines | calls | gave something |\n|---|---|---|---|")
    for module in modules:
        for name, function in functions(importlib.import_module(module)):
            calls, gave = counts.get(f"{module}:{name}", (0, 0))
            _say(f"| `{module}:{name}` | {lines_of(function)} | {calls} | {gave} |")


if __name__ == "__main__":
    main()
