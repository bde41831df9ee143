"""@csv and the like: a value as a text."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import Refused
from .plain import array, tostring
from .values import Failure, Json, kind, written


def _rows(value: Json, what: str) -> list[Json]:
    return array(value, f"{what}-formatted")


def _csv(value: Json) -> str:
    def cell(one: Json) -> str:
        return '"' + one.replace('"', '""') + '"' if isinstance(one, str) else _plain(one, "csv")

    return ",".join(map(cell, _rows(value, "csv")))


_TSV = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _tsv(value: Json) -> str:
    def cell(one: Json) -> str:
        if not isinstance(one, str):
            return _plain(one, "tsv")
        return "".join(_TSV.get(char, char) for char in one)

    return "\t".join(map(cell, _rows(value, "tsv")))


def _plain(one: Json, what: str) -> str:
    if isinstance(one, list | dict):
        raise Failure(f"{kind(one)} is not valid in a {what} row")
    return "" if one is None else written(one, None)


_FORMATS: dict[str, Callable[[Json], str]] = {
    "@text": tostring,
    "@json": lambda value: written(value, None),
    "@csv": _csv,
    "@tsv": _tsv,
}


def form(name: str) -> Callable[[Json], str]:
    if name not in _FORMATS:
        raise Refused(f"jq {name}: @text, @json, @csv and @tsv are on offer")
    return _FORMATS[name]
