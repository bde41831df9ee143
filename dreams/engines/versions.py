"""Who made a change: engine, model, and a digest of the code that makes changes of its kind. PURE.

Trust is earned by what that code does. When that changes, its earlier results say nothing about its new ones; another
comment or docstring, or a change elsewhere, to a page or to another kind of change, does not reset trust.
"""

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dreams.engines.types import OperationKind

_PACKAGE = Path(__file__).resolve().parents[1]
#: The sources of each kind of change that an earned policy may apply. Other kinds count as made by all of the engine.
_MADE_IN = {
    ("rules", "learn"): (
        "engines/rules/steps/learning.py",
        "engines/rules/user_statements/lessons.py",
        "engines/rules/user_statements/prompts.py",
    ),
    ("rules", "index"): ("engines/rules/steps/index.py", "engines/rules/steps/orphans.py"),
}
#: Imports are followed into these: they read prose and memory files. The rest of the app makes no changes.
_READING = ("engines/rules", "lib")


def maker(engine: str, model: str, kind: OperationKind) -> str:
    """For example `rules 3f9c2a71`, or `anthropic some-model 8d10be44`."""
    return " ".join(filter(None, (engine, model[:100], version(engine, kind))))


def maker_name(made_by: str) -> str:
    """ "the rules engine", or the model's name."""
    engine, *model = made_by.split(" ")[:-1] or [made_by]
    return "the rules engine" if engine == "rules" else " ".join(model) or engine or "an engine"


def is_current(made_by: str, kind: OperationKind) -> bool:
    """Whether the installed code is the code that made it."""
    engine, *_, made_with = made_by.split(" ")
    return made_with == version(engine, kind)


@functools.cache
def source_digest() -> str:
    """Hex digest of all the app's modules, read once per process: results of another version do not count."""
    made = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        made.update(path.read_bytes())
    return made.hexdigest()


class _Source(NamedTuple):
    digest: bytes  # of what the file does
    imports: tuple[Path, ...]


@functools.cache
def version(engine: str, kind: OperationKind) -> str:
    """Digest of the code with which `engine` makes changes of this kind; read once per process."""
    made = hashlib.sha256()
    for path in _sources(engine, kind):
        made.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + _read(path).digest)
    return made.hexdigest()[:8]


def _sources(engine: str, kind: OperationKind) -> list[Path]:
    roots = _MADE_IN.get((engine, kind))
    if roots is not None:
        return sorted(_with_imports([_PACKAGE / root for root in roots]))
    folder = _PACKAGE / "engines" / engine
    return sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".md"))


def _with_imports(paths: list[Path]) -> set[Path]:
    found: set[Path] = set()
    while paths:
        path = paths.pop()
        if path not in found:
            found.add(path)
            paths += _read(path).imports
    return found


@functools.cache
def _read(path: Path) -> _Source:
    text = path.read_bytes()
    if path.suffix != ".py":  # a prompt
        return _Source(hashlib.sha256(text).digest(), ())
    tree = ast.parse(text)
    return _Source(hashlib.sha256(_behaviour(tree).encode()).digest(), tuple(_imported(tree)))


def _behaviour(node: Any) -> str:
    """The syntax tree without comments and docstrings.

    `ast.dump` differs between versions of Python: newer ones have more fields and leave out other empty ones. So
    whatever is empty is left out here, and characters are escaped that some versions do not know yet.
    """
    if isinstance(node, ast.AST):
        fields = (
            f"{name}={_behaviour(value)}" for name, value in ast.iter_fields(node) if value not in (None, [])
        )
        return f"{type(node).__name__}({', '.join(fields)})"
    if isinstance(node, list):
        return f"[{', '.join(_behaviour(part) for part in node if not _is_text_alone(part))}]"
    return ascii(node)


def _is_text_alone(node: Any) -> bool:
    """Whether it is a docstring, or another statement that is only a text."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _imported(tree: ast.Module) -> Iterator[Path]:
    """The modules in `_READING` that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        else:
            continue
        for name in names:
            place = name.removeprefix("dreams.").replace(".", "/")
            if name.startswith("dreams.") and place.startswith(_READING):
                base = _PACKAGE / place
                yield from (p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file())
