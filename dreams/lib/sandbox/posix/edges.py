"""Words: re2 knows `\\b` but not on which side of it the word lies, so the neighbours are narrowed."""

from __future__ import annotations

from ..errors import Refused
from .nodes import WORD, Chars, Either, Group, Node, Row, Sign, Times


def worded(parts: list[Node]) -> Node:
    """A row in which `\\<` and `\\>` have become `\\b` beside a byte that is part of a word."""
    for index, part in enumerate(parts):
        if part == Sign("<"):
            rest = starting(worded(parts[index + 1 :]))
            return worded([*parts[:index], Sign("b"), rest])
    for index in range(len(parts) - 1, -1, -1):
        if parts[index] == Sign(">"):
            before = ending(worded(parts[:index]))
            return Row((before, Sign("b"), *parts[index + 1 :]))
    return parts[0] if len(parts) == 1 else Row(tuple(parts))


def _refuse_word_edge() -> Refused:
    return Refused("\\< or \\> beside something that may be empty; use \\b or grep -w")


def nullable(node: Node) -> bool:
    if isinstance(node, Chars):
        return False
    if isinstance(node, Sign):
        return True
    if isinstance(node, Row):
        return all(nullable(part) for part in node.parts)
    if isinstance(node, Group):
        return nullable(node.part)
    if isinstance(node, Either):
        return any(nullable(choice) for choice in node.choices)
    return node.least == 0 or nullable(node.part)


def starting(node: Node) -> Node:
    """The same, but its first byte is part of a word."""
    return _edged(node, first=True)


def ending(node: Node) -> Node:
    """The same, but its last byte is part of a word."""
    return _edged(node, first=False)


def _edged(node: Node, *, first: bool) -> Node:
    if isinstance(node, Chars):
        return Chars(node.of & WORD)
    if isinstance(node, Group):
        return Group(_edged(node.part, first=first))
    if isinstance(node, Either):
        return Either(tuple(_edged(choice, first=first) for choice in node.choices))
    if isinstance(node, Row) and node.parts:
        return _edged_row(node.parts, first=first)
    if isinstance(node, Times) and node.least > 0:
        rest = Times(node.part, node.least - 1, None if node.most is None else node.most - 1)
        edge = _edged(node.part, first=first)
        return Row((edge, rest) if first else (rest, edge))
    raise _refuse_word_edge()


def _edged_row(parts: tuple[Node, ...], *, first: bool) -> Node:
    edge, rest = (parts[0], parts[1:]) if first else (parts[-1], parts[:-1])
    if not nullable(edge):
        new = _edged(edge, first=first)
        return Row((new, *rest) if first else (*rest, new))
    without = _edged(Row(rest), first=first)
    if isinstance(edge, Sign):
        return Row((edge, without) if first else (without, edge))
    if not (isinstance(edge, Times) and edge.least == 0 and not nullable(edge.part)):
        raise _refuse_word_edge()
    most = edge.most
    if most == 0:
        return without
    present = _edged(Times(edge.part, 1, most), first=first)
    return Either((Row((present, *rest) if first else (*rest, present)), without))
