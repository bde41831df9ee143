"""awk's expressions, read by recursive descent from the loosest operator to the tightest."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Refused, UsageError
from . import expressions as ex
from .functions import call
from .lexing import Token
from .state import State, compiled, literal
from .values import Value

_DEEPEST = 60
_ASSIGN = {"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "^=": "^", "**=": "^"}
_OPERANDS = frozenset(["number", "text", "name", "call", "pattern"])


class Reader:
    """The words of a program, and the place that was reached."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.deep = 0

    # Tokens

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def sees(self, *values: str) -> bool:
        return self.now.kind in ("sign", "keyword") and self.now.value in values

    def take(self) -> Token:
        token = self.now
        self.at += token.kind != "end"
        return token

    def accept(self, *values: str) -> str | None:
        return self.take().value if self.sees(*values) else None

    def expect(self, value: str) -> None:
        if self.accept(value) is None:
            raise UsageError(f"syntax error at or near {self.now.value or 'the end of the program'}", 2)

    def enter(self) -> None:
        self.deep += 1
        if self.deep > _DEEPEST:
            raise Refused("awk: a program nested too deeply")

    # Expressions, from the loosest to the tightest

    def expression(self) -> ex.Expression:
        return self.ternary(bare=False)

    def ternary(self, *, bare: bool) -> ex.Expression:
        """`bare`: a `>` belongs to print."""
        self.enter()
        try:
            left = self._either(bare)
            if self.accept("?"):
                first = self.ternary(bare=bare)
                self.expect(":")
                return ex.Chosen(left, first, self.ternary(bare=bare))
            if self.sees(*_ASSIGN) and isinstance(left, ex.Place):
                return ex.Assigned(left, _ASSIGN[self.take().value], self.ternary(bare=bare))
            return left
        finally:
            self.deep -= 1

    def _either(self, bare: bool) -> ex.Expression:
        left = self._both(bare)
        while self.accept("||"):
            left = ex.Any(left, self._both(bare))
        return left

    def _both(self, bare: bool) -> ex.Expression:
        left = self._in(bare)
        while self.accept("&&"):
            left = ex.Both(left, self._in(bare))
        return left

    def _in(self, bare: bool) -> ex.Expression:
        left = self._match(bare)
        while self.accept("in"):
            left = ex.Within(ex.Element(self._array(), (left,)))
        return left

    def _array(self) -> str:
        name = self.take()
        if name.kind != "name":
            raise UsageError("an array is missing behind in", 2)
        return name.value

    def _match(self, bare: bool) -> ex.Expression:
        left = self._comparison(bare)
        while sign := self.accept("~", "!~"):
            left = ex.Matched(left, self._comparison(bare), sign == "~")
        return left

    def _comparison(self, bare: bool) -> ex.Expression:
        left = self._joined()
        signs = ("==", "!=", "<", "<=", ">=") if bare else ("==", "!=", "<", "<=", ">=", ">")
        if sign := self.accept(*signs):
            return ex.Compared(sign, left, self._joined())
        return left

    def _joined(self) -> ex.Expression:
        left = self._sum()
        while self._starts_operand():
            left = ex.Joined(left, self._sum())
        return left

    def _starts_operand(self) -> bool:
        return self.now.kind in _OPERANDS or self.sees("$", "!", "(", "-", "+", "++", "--")

    def _sum(self) -> ex.Expression:
        left = self._product()
        while sign := self.accept("+", "-"):
            left = ex.Counted(sign, left, self._product())
        return left

    def _product(self) -> ex.Expression:
        left = self._unary()
        while sign := self.accept("*", "/", "%"):
            left = ex.Counted(sign, left, self._unary())
        return left

    def _unary(self) -> ex.Expression:
        self.enter()
        try:
            if self.accept("!"):
                return ex.Not(self._unary())
            if sign := self.accept("-", "+"):
                return ex.Signed(self._unary(), -1.0 if sign == "-" else 1.0)
            return self._power()
        finally:
            self.deep -= 1

    def _power(self) -> ex.Expression:
        left = self._postfix()
        if self.accept("^", "**"):
            return ex.Counted("^", left, self._unary())
        return left

    def _postfix(self) -> ex.Expression:
        if sign := self.accept("++", "--"):
            place = self._primary()
            if not isinstance(place, ex.Place):
                raise UsageError(f"syntax error at {sign}", 2)
            return ex.Stepped(place, 1.0 if sign == "++" else -1.0, after=False)
        left = self._primary()
        if isinstance(left, ex.Place) and (sign := self.accept("++", "--")):
            return ex.Stepped(left, 1.0 if sign == "++" else -1.0, after=True)
        return left

    def _primary(self) -> ex.Expression:
        token = self.take()
        if token.kind == "number":
            return ex.Constant(float(token.value))
        if token.kind == "text":
            return ex.Constant(literal(token.value))
        if token.kind == "pattern":
            return ex.Pattern(compiled(literal(token.value)))
        if token.kind == "call":
            return self._call(token.value)
        if token.kind == "name":
            return self._named(token.value)
        if token.value == "$":
            return self._field()
        if token.value == "(":
            return self._grouped()
        raise UsageError(f"syntax error at or near {token.value or 'the end of the program'}", 2)

    def _field(self) -> ex.Expression:
        self.enter()
        try:
            if sign := self.accept("++", "--", "-"):
                place = self._primary()
                if sign == "-" or not isinstance(place, ex.Place):
                    return ex.Field(ex.Signed(place, -1.0))
                return ex.Field(ex.Stepped(place, 1.0 if sign == "++" else -1.0, after=False))
            return ex.Field(self._primary())
        finally:
            self.deep -= 1

    def _named(self, name: str) -> ex.Expression:
        if name == "length":
            return call(name, ())
        if self.sees("["):
            return ex.Element(name, self.keys())
        return ex.Variable(name)

    def keys(self) -> tuple[ex.Expression, ...]:
        self.expect("[")
        keys = self.listed("]")
        self.expect("]")
        if not keys:
            raise UsageError("syntax error at []", 2)
        return keys

    def _call(self, name: str) -> ex.Expression:
        self.expect("(")
        parts = self.listed(")")
        self.expect(")")
        return call(name, parts)

    def listed(self, end: str) -> tuple[ex.Expression, ...]:
        parts: list[ex.Expression] = []
        while not self.sees(end):
            parts.append(self.expression())
            if not self.accept(","):
                break
        return tuple(parts)

    def _grouped(self) -> ex.Expression:
        """`(a)`, or `(a, b) in array`."""
        parts = self.listed(")")
        self.expect(")")
        if len(parts) > 1:
            self.expect("in")
            return ex.Within(ex.Element(self._array(), parts))
        if not parts:
            raise UsageError("syntax error at ()", 2)
        return _Grouped(parts[0])


@dataclass(frozen=True, slots=True)
class _Grouped:
    """A part in parentheses: no place that can be assigned to."""

    part: ex.Expression

    def value(self, state: State) -> Value:
        return self.part.value(state)
