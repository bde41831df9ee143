"""A jq program read by recursive descent into filters."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator

from ...errors import Refused, UsageError
from . import filters as fl
from .filters import Filter, Scope
from .formats import form
from .functions import function
from .lexing import Token, tokens
from .values import Json

_DEEPEST = 60
_UPDATES = ("=", "|=", "+=", "-=", "*=", "/=", "%=", "//=")


def parse(program: str, known: frozenset[str] = frozenset()) -> Filter:
    """`known`: the variables that are set. Raises Refused for what is not on offer, UsageError for bad grammar."""
    return _Parser(tokens(program), known).whole()


class _Parser:
    def __init__(self, found: list[Token], known: frozenset[str], deep: int = 0) -> None:
        self._tokens = found
        self._at = 0
        self._known = known
        self._deep = deep

    def whole(self) -> Filter:
        if self._now.kind == "end":
            return fl.identity
        made = self._pipe()
        if self._now.kind != "end":
            raise self._unexpected()
        return made

    # Tokens

    @property
    def _now(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._now
        self._at += token.kind != "end"
        return token

    def _accept(self, *values: str) -> str | None:
        here = self._now.kind in ("sign", "name") and self._now.value in values
        return self._take().value if here else None

    def _expect(self, value: str) -> None:
        if self._accept(value) is None:
            raise self._unexpected()

    def _unexpected(self) -> UsageError:
        return UsageError(f"syntax error, unexpected {self._now.value or self._now.kind}", 3)

    # From the loosest operator to the tightest

    def _pipe(self) -> Filter:
        self._deep += 1
        if self._deep > _DEEPEST:
            raise Refused("jq: a program nested too deeply")
        try:
            return self._piped()
        finally:
            self._deep -= 1

    def _piped(self) -> Filter:
        left = self._comma()
        if self._accept("as"):
            name = self._variable()
            self._expect("|")
            return fl.bound(left, name, self._within(name, self._pipe))
        parts = [left]
        while self._accept("|"):
            parts.append(self._comma())
            if self._accept("as"):
                name = self._variable()
                self._expect("|")
                parts.append(fl.bound(parts.pop(), name, self._within(name, self._pipe)))
        made = parts[-1]
        for part in reversed(parts[:-1]):
            made = fl.piped(part, made)
        return made

    def _variable(self) -> str:
        token = self._take()
        if token.kind != "variable":
            raise Refused("jq: `as` takes one $name")
        return token.value

    def _within(self, name: str, read: Callable[[], Filter]) -> Filter:
        before = self._known
        self._known = before | {name}
        try:
            return read()
        finally:
            self._known = before

    def _comma(self) -> Filter:
        left = self._alternative()
        while self._accept(","):
            left = fl.both(left, self._alternative())
        return left

    def _alternative(self) -> Filter:
        left = self._or()
        if self._now.kind == "sign" and self._now.value in _UPDATES:
            raise Refused(f"jq {self._now.value}: changing values is not on offer")
        if self._accept("//"):
            return fl.otherwise(left, self._alternative())
        return left

    def _or(self) -> Filter:
        left = self._and()
        while self._accept("or"):
            left = fl.either(left, self._and(), wanted=True)
        return left

    def _and(self) -> Filter:
        left = self._comparison()
        while self._accept("and"):
            left = fl.either(left, self._comparison(), wanted=False)
        return left

    def _comparison(self) -> Filter:
        left = self._sum()
        if sign := self._accept(*fl.COMPARISONS):
            return fl.crossed(left, self._sum(), fl.COMPARISONS[sign])
        return left

    def _sum(self) -> Filter:
        left = self._product()
        while sign := self._accept("+", "-"):
            left = fl.crossed(left, self._product(), fl.ARITHMETIC[sign])
        return left

    def _product(self) -> Filter:
        left = self._postfix()
        while sign := self._accept("*", "/", "%"):
            left = fl.crossed(left, self._postfix(), fl.ARITHMETIC[sign])
        return left

    # One part and what hangs on it

    def _postfix(self) -> Filter:
        base: Filter = fl.identity
        step = self._primary()
        while True:
            if self._accept("?"):
                # Only the last step is tried: `.a[]?` still fails where `.a` does.
                base, step = fl.piped(base, fl.tried(step)), fl.identity
            elif self._now.kind == "field":
                key = fl.constant(self._take().value[1:])
                base, step = fl.piped(base, step), fl.at(fl.identity, key)
            elif self._is_dot_before("text"):
                self._take()
                base, step = fl.at(fl.piped(base, step), self._text(self._take(), None)), fl.identity
            elif self._is_dot_before("[") or (self._now.kind == "sign" and self._now.value == "["):
                self._accept(".")
                base, step = self._bracket(fl.piped(base, step))
            else:
                return fl.piped(base, step)

    def _is_dot_before(self, what: str) -> bool:
        behind = self._tokens[min(self._at + 1, len(self._tokens) - 1)]
        dot = self._now.kind == "sign" and self._now.value == "."
        return dot and (behind.kind == what or (behind.kind == "sign" and behind.value == what))

    def _bracket(self, base: Filter) -> tuple[Filter, Filter]:
        """What comes before, and the step; an index is worked out on the input of the whole, so it is no step."""
        self._expect("[")
        if self._accept("]"):
            return base, fl.each(fl.identity)
        start = None if self._now.value == ":" else self._pipe()
        if self._accept(":"):
            end = None if self._now.value == "]" else self._pipe()
            self._expect("]")
            return fl.sliced(base, start, end), fl.identity
        self._expect("]")
        assert start is not None  # noqa: S101 - a bracket that begins with : is a slice
        return fl.at(base, start), fl.identity

    def _primary(self) -> Filter:
        token = self._take()
        if token.kind == "number":
            number = min(float(token.value), sys.float_info.max)  # as jq does with what is too large
            return fl.constant(int(number) if number == int(number) else number)
        if token.kind == "text":
            return self._text(token, None)
        if token.kind == "format":
            return self._format(token)
        if token.kind == "field":
            return fl.at(fl.identity, fl.constant(token.value[1:]))
        if token.kind == "variable":
            return self._variable_of(token.value)
        if token.kind == "name":
            return self._named(token.value)
        return self._sign(token)

    def _sign(self, token: Token) -> Filter:
        if token.value == "..":
            return fl.everything
        if token.value == ".":
            if self._now.kind == "text":
                return fl.at(fl.identity, self._text(self._take(), None))
            return fl.identity
        if token.value == "-":
            return fl.negated(self._postfix())
        if token.value == "(":
            made = self._pipe()
            self._expect(")")
            return made
        if token.value == "[":
            part = None if self._now.value == "]" else self._pipe()
            self._expect("]")
            return fl.collected(part)
        if token.value == "{":
            return self._object()
        self._at -= 1
        raise self._unexpected()

    def _variable_of(self, name: str) -> Filter:
        if name not in self._known:
            raise Refused(f"jq {name}: it is not set; the environment is empty")
        return fl.variable(name)

    def _format(self, token: Token) -> Filter:
        if self._now.kind == "text":
            return self._text(self._take(), token.value)
        shown = form(token.value)
        return lambda value, scope: iter([shown(value)])

    def _text(self, token: Token, name: str | None) -> Filter:
        """A text; what stands in `\\(…)` is written by the format, or as it is."""
        shown = form(name or "@text")
        parts: list[Filter] = [
            fl.constant(part) if isinstance(part, str) else _Parser(part, self._known, self._deep).whole()
            for part in token.parts
        ]
        fixed = [isinstance(part, str) for part in token.parts]
        if all(fixed):
            return parts[0]

        def run(value: Json, scope: Scope) -> Iterator[Json]:
            for choice in itertools.product(*(list(part(value, scope)) for part in parts)):
                scope.meter.tick()
                pieces = zip(choice, fixed, strict=True)
                yield "".join(str(one) if plain else shown(one) for one, plain in pieces)

        return run

    def _named(self, name: str) -> Filter:
        constants: dict[str, Json] = {"true": True, "false": False, "null": None}
        if name in constants:
            return fl.constant(constants[name])
        if name == "if":
            return self._if()
        if name == "try":
            part = self._postfix()
            return fl.tried(part, self._postfix() if self._accept("catch") else None)
        if name == "reduce":
            return self._reduce()
        parts: list[Filter] = []
        if self._accept("("):
            parts.append(self._pipe())
            while self._accept(";"):
                parts.append(self._pipe())
            self._expect(")")
        return function(name, parts)

    def _if(self) -> Filter:
        condition = self._pipe()
        self._expect("then")
        then = self._pipe()
        if self._accept("elif"):
            return fl.chosen(condition, then, self._if())
        other = self._pipe() if self._accept("else") else fl.identity
        self._expect("end")
        return fl.chosen(condition, then, other)

    def _reduce(self) -> Filter:
        part = self._postfix()
        self._expect("as")
        name = self._variable()
        self._expect("(")
        start = self._pipe()
        self._expect(";")
        step = self._within(name, self._pipe)
        self._expect(")")
        return fl.reduced(part, name, start, step)

    def _object(self) -> Filter:
        pairs: list[tuple[Filter, Filter]] = []
        while not self._accept("}"):
            pairs.append(self._pair())
            if not self._accept(","):
                self._expect("}")
                break
        return fl.made(pairs)

    def _pair(self) -> tuple[Filter, Filter]:
        token = self._take()
        if token.kind == "variable":
            return fl.constant(token.value[1:]), self._variable_of(token.value)
        if token.kind == "name":
            key: Filter = fl.constant(token.value)
        elif token.kind == "text":
            key = self._text(token, None)
        elif token.value == "(":
            key = self._pipe()
            self._expect(")")
            self._expect(":")
            return key, self._value()
        else:
            self._at -= token.kind != "end"
            raise self._unexpected()
        return key, self._value() if self._accept(":") else fl.at(fl.identity, key)

    def _value(self) -> Filter:
        """A value in an object ends at a comma; `|` binds it to the next part."""
        made = self._alternative()
        while self._accept("|"):
            made = fl.piped(made, self._alternative())
        return made
