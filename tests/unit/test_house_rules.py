"""The rules of the house, by walking the imports."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import NOT_FOUND
from tests.world.cases import each

ROOT = Path(__file__).resolve().parents[2]
# Each room may import those of its own floor and below; the first name that fits a module says its floor.
FLOORS = {
    "dreams.lib": 0,
    "dreams.conf": 1,
    "dreams.models": 1,
    "dreams.migrations": 5,
    "dreams.engines.types": 2,
    "dreams.engines.tokens": 2,
    "dreams.engines.drafts": 2,
    "dreams.engines.linedates": 2,
    "dreams.findings": 3,
    "dreams.engines": 4,
    "dreams.services": 5,
    "dreams.web": 6,
    "dreams.admin": 6,
    "dreams.management": 6,
    "dreams.dev": 6,
    "dreams.tasks": 6,
    "dreams.apps": 6,
}
PURE = [
    "lib",
    "engines",
    "findings",
    "services/scheduling/gates",
    "models/public_ids.py",
    "dev/fake_server",
]


@functools.cache
def modules(place: str) -> list[Path]:
    path = ROOT / "dreams" / place
    return [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """All of them, also those within others: a twelfth of the nodes, and every import is one."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, part, ()))
        for part in ("handlers", "cases"):
            yield from statements(getattr(node, part, ()))


@functools.cache
def imports(path: Path, *, types: bool = True) -> set[str]:
    """Every module that a file imports, as dotted names; without `types` not those for annotations alone."""
    package = ".".join(path.relative_to(ROOT).with_suffix("").parts[:-1])
    found: set[str] = set()
    body = [node for node in tree(path).body if types or not _is_for_types(node)]
    for node in statements(body):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            found |= {base, *(f"{base}.{name.name}" for name in node.names)}
    return found


def floor(module: str) -> int | None:
    """None for what is not the app's own, or is the app's package itself."""
    if module == "dreams.engines":
        return 2  # the registry alone: it imports an engine when somebody asks for it
    return next((FLOORS[name] for name in FLOORS if f"{module}.".startswith(f"{name}.")), None)


def test_no_import_climbs_from_a_lower_floor_to_a_higher_one() -> None:
    climbing = []
    for path in sorted((ROOT / "dreams").rglob("*.py")):
        here = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        if here == "dreams":
            continue
        own = floor(here)
        assert own is not None, f"{here} stands on no floor: give it one"
        climbing += [f"{here} imports {name}" for name in imports(path) if (floor(name) or 0) > own]
    assert not climbing


def test_no_imports_go_in_a_circle() -> None:
    """Also those inside functions; not those for types alone."""
    paths = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"): path
        for path in sorted((ROOT / "dreams").rglob("*.py"))
        if "migrations" not in path.parts
    }
    wanted = {
        name: {found for found in imports(path, types=False) if found in paths and found != name}
        for name, path in paths.items()
    }
    # A package is entered for each of its modules, so only modules count.
    wanted = {name: {one for one in own if not name.startswith(f"{one}.")} for name, own in wanted.items()}
    try:
        tuple(TopologicalSorter(wanted).static_order())
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_only_two_modules_stand_at_the_root_of_the_app() -> None:
    loose = {path.name for path in (ROOT / "dreams").glob("*.py")}
    assert loose == {"__init__.py", "apps.py", "tasks.py"}


@each("place", PURE)
def test_pure_code_imports_no_django_and_no_rows(place: str) -> None:
    assert modules(place), f"{place} is gone; take it off the list"
    for path in modules(place):
        bad = {
            name
            for name in imports(path)
            if name.split(".")[0] in ("django", "django_q") or name.startswith("dreams.models")
        }
        assert not bad, f"{path.relative_to(ROOT)} imports {sorted(bad)}"


def test_nothing_below_the_web_imports_it() -> None:
    outside = [
        path
        for path in sorted((ROOT / "dreams").rglob("*.py"))
        if not {"web", "admin"} & set(path.relative_to(ROOT).parts)
    ]
    for path in outside:
        bad = {
            name
            for name in imports(path)
            if name.startswith(("dreams.web", "django.http", "django.shortcuts"))
        }
        assert not bad, f"{path.relative_to(ROOT)} imports {sorted(bad)}"


def test_only_writing_runs_the_journal() -> None:
    for path in sorted((ROOT / "dreams").rglob("*.py")):
        if path.parent.name == "journal" or path.name == "writing.py":
            continue
        assert "journal.run(" not in path.read_text(encoding="utf-8"), path


def _names(path: Path) -> set[str]:
    """Every name that a module makes, takes or asks for."""
    kinds = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg", ast.keyword: "arg", ast.alias: "name"}
    kinds |= dict.fromkeys((ast.FunctionDef, ast.ClassDef), "name")
    found = ((getattr(node, kinds[type(node)]) or "") for node in ast.walk(tree(path)) if type(node) in kinds)
    return {name.rpartition(".")[2] for name in found}


def test_no_module_is_longer_than_a_person_reads_in_one_go() -> None:
    long = [
        path
        for path in modules("")
        if "migrations" not in path.parts and path.read_bytes().count(b"\n") > 450
    ]
    assert [str(path.relative_to(ROOT)) for path in long] == []


def test_the_first_lines_of_a_package_name_only_what_there_is() -> None:
    """Each lower-case word in backticks is a module of the app, or a name in the package."""
    every = [path for path in (ROOT / "dreams").rglob("*.py") if "migrations" not in path.parts]
    known = {path.stem for path in every} | {path.parent.name for path in every}
    for path in sorted(path for path in every if path.name == "__init__.py"):
        named = set(re.findall(r"`([a-z_]+)`", ast.get_docstring(tree(path)) or "")) - known
        there = set().union(*map(_names, path.parent.rglob("*.py"))) if named else set()
        assert not named - there, f"{path.relative_to(ROOT)} names {sorted(named - there)}"


def test_names_in_backticks_are_names_of_something() -> None:
    """Of docstrings, comments and docs; words with an underscore, as prose has none."""
    texts = {path: path.read_text(encoding="utf-8") for path in modules("") if "migrations" not in path.parts}
    known = set(re.findall(r"\w+", re.sub(r"`[^`\n]*`", "", "\n".join(texts.values()))))
    known |= {path.stem for path in texts} | {path.parent.name for path in texts}
    docs = filter(Path.is_file, (ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"))
    texts |= {path: path.read_text(encoding="utf-8") for path in docs}
    gone = [
        f"{path.relative_to(ROOT)} names {name}"
        for path, text in texts.items()
        for name in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", text)
        if name not in known
    ]
    assert not gone


def _is_number(node: ast.expr | None) -> bool:
    """A number, also as a sum, a span of time or a decimal."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case ast.Call(func=func):
            return ast.unparse(func).rpartition(".")[2] in ("timedelta", "Decimal")
    return False


def test_every_number_with_a_name_says_where_it_comes_from() -> None:
    """A paper, a measured table, the agent's own constant, or that somebody chose it: beside it, or above its group."""
    bare = []
    for path in modules(""):
        lines = path.read_text(encoding="utf-8").splitlines() if "migrations" not in path.parts else []
        for node in tree(path).body if lines else ():
            name = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if not (
                isinstance(name, ast.Name) and name.id.isupper() and _is_number(getattr(node, "value", None))
            ):
                continue
            group = itertools.takewhile(str.strip, reversed(lines[: node.lineno - 1]))
            told = "#" in lines[node.lineno - 1] or any(line.startswith("#") for line in group)
            bare += [] if told else [f"{path.relative_to(ROOT)}:{node.lineno} {name.id}"]
    assert not bare


def test_no_template_has_inline_script_or_style() -> None:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        content = path.read_text(encoding="utf-8")
        assert "<style" not in content and " style=" not in content, path
        assert " onclick=" not in content and "javascript:" not in content, path
        for line in content.splitlines():
            assert "<script" not in line or " src=" in line, f"{path}: {line.strip()}"


SPOKEN = [
    "conf",
    "findings",
    "services/doctor",
    "services/notify",
    "services/scheduling",
    "engines/linedates.py",
]
SPOKEN += [f"engines/anthropic/{name}.py" for name in ("keys", "loop", "probe", "retrying")]
_TYPEWRITTEN = re.compile(r"^[^\\\n]* [^\\\n]*$")


@each("place", SPOKEN)
def test_sentences_that_pages_show_have_the_apostrophes_of_the_pages(place: str) -> None:
    """A pattern has a backslash; a docstring is for developers."""
    straight = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.value}"
        for path in modules(place)
        for node in itertools.chain.from_iterable(map(ast.iter_child_nodes, _without_docstrings(path)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if _TYPEWRITTEN.match(node.value) and re.search(r"[a-z]'s? ", node.value)
    ]
    assert not straight


def _without_docstrings(path: Path) -> Iterator[ast.AST]:
    return (node for node in ast.walk(tree(path)) if not isinstance(node, ast.Expr))


def test_no_page_asks_another_host_for_anything() -> None:
    for path in [*sorted((ROOT / "templates").rglob("*.html")), *sorted((ROOT / "static").rglob("*.css"))]:
        content = path.read_text(encoding="utf-8")
        for start in ('src="http', 'href="http', "url(http", "@import"):
            assert start not in content, f"{path} holds {start}"


WRITES = {"bulk_create", "bulk_update", "get_or_create", "update_or_create"}


def _writes_rows(call: ast.Call) -> bool:
    """`rows.update(column=…)`, `rows.create(…)`, `row.save()`, `rows.delete()` and the like; not `dict.update(other)`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    name, given = call.func.attr, bool(call.args)
    named = bool(call.keywords)
    on_rows = isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "objects"
    return (
        name in WRITES
        or (name == "update" and named and not given)
        or (name == "create" and on_rows)
        or (name in ("save", "delete") and not given)
    )


@each("place", ["web", "management"])
def test_only_services_write_rows(place: str) -> None:
    writing = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)[:80]}"
        for path in modules(place)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and _writes_rows(node)
    ]
    assert not writing


def test_what_is_run_by_hand_is_in_no_other_run() -> None:
    """`-m` on a command line takes the place of the one in pyproject.toml, which says so too."""
    chosen = re.findall(r'-m "([^"]+)"', (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert len(chosen) == 3
    assert all("and not by_hand" in expression for expression in chosen)


def test_a_file_with_a_long_test_has_its_mark_in_letters(pytestconfig: pytest.Config) -> None:
    """`make test-more` looks for them before it imports a file; this sees all files that are imported beside it."""
    assert pytestconfig.stash[NOT_FOUND] == []
