"""An awk program: rules of a condition and a block of statements."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Refused, UsageError
from . import expressions as ex
from . import statements as do
from .functions import call
from .lexing import tokens
from .reading import Reader

_NOTHING = do.Block(())


@dataclass(frozen=True, slots=True)
class Rule:
    """`when`: begin, end, always, if, or from (then to: a range)."""

    when: str
    first: ex.Expression
    last: ex.Expression | None
    body: do.Statement


def parse(program: str) -> list[Rule]:
    """All rules. Raises Refused for what is not on offer, UsageError for bad grammar."""
    return _Parser(tokens(program)).rules()


class _Parser(Reader):
    # Rules

    def rules(self) -> list[Rule]:
        found: list[Rule] = []
        while self.accept(";"):
            pass
        while self.now.kind != "end":
            found.append(self._rule())
            while self.accept(";"):
                pass
        return found

    def _rule(self) -> Rule:
        always = ex.Constant(1.0)
        if word := self.accept("BEGIN", "END"):
            return Rule(word.lower(), always, None, self._block())
        if self.sees("{"):
            return Rule("always", always, None, self._block())
        first = self.expression()
        last = self.expression() if self.accept(",") else None
        body = self._block() if self.sees("{") else do.Print(())
        return Rule("if" if last is None else "from", first, last, body)

    # Statements

    def _block(self) -> do.Statement:
        self.expect("{")
        parts: list[do.Statement] = []
        while not self.accept("}"):
            if self.accept(";"):
                continue
            parts.append(self._statement())
        return do.Block(tuple(parts))

    def _statement(self) -> do.Statement:
        self.enter()
        try:
            return self._one_statement()
        finally:
            self.deep -= 1

    def _one_statement(self) -> do.Statement:
        if self.sees("{"):
            return self._block()
        if self.accept(";"):
            return _NOTHING
        if word := self.accept("if", "while", "for", "do"):
            return {"if": self._if, "while": self._while, "for": self._for, "do": self._do}[word]()
        statement = self._simple()
        if not self.sees("}"):
            if not self.sees(";") and self.now.kind != "end":
                self._refuse_redirection()
                self.expect(";")
            self.accept(";")
        return statement

    def _refuse_redirection(self) -> None:
        if self.sees(">", ">>"):
            raise Refused(
                f"awk '{self.now.value}': it writes a file (or write the comparison in parentheses)"
            )
        if self.sees("|", "&"):
            raise Refused(f"awk '{self.now.value}': it runs a program")

    def _simple(self) -> do.Statement:
        if word := self.accept("print", "printf"):
            parts = self._printed()
            if word == "print":
                return do.Print(parts)
            if not parts:
                raise UsageError("printf: no format", 2)
            return do.Printf(call("sprintf", parts))
        if word := self.accept("next", "nextfile", "break", "continue"):
            return do.Leave(word)
        if self.accept("exit"):
            return do.Exit(None if self.sees(";", "}") else self.expression())
        if self.accept("delete"):
            return self._delete()
        return do.Evaluate(self.expression())

    def _delete(self) -> do.Statement:
        name = self.take()
        if name.kind != "name":
            raise UsageError("delete: an array is missing", 2)
        element = ex.Element(name.value, self.keys()) if self.sees("[") else None
        return do.Delete(name.value, element)

    def _printed(self) -> tuple[ex.Expression, ...]:
        """What to print; in parentheses, or not, where a bare `>` would name a file."""
        if self.sees(";", "}", ">", ">>", "|") or self.now.kind == "end":
            return ()
        if self.sees("(") and self._closes_the_statement():
            self.expect("(")
            parts = self.listed(")")
            self.expect(")")
            return parts
        found = [self.ternary(bare=True)]
        while self.accept(","):
            found.append(self.ternary(bare=True))
        return tuple(found)

    def _closes_the_statement(self) -> bool:
        """Whether the parenthesis that opens here is closed where the statement ends."""
        depth = 0
        for at in range(self.at, len(self.tokens)):
            token = self.tokens[at]
            depth += (token.kind == "sign") * ((token.value == "(") - (token.value == ")"))
            if not depth:
                behind = self.tokens[at + 1]
                return behind.kind == "end" or behind.value in (";", "}", ">", ">>", "|")
        return False

    def _if(self) -> do.Statement:
        condition = self._condition()
        then = self._statement()
        # `if (a) b; else c`
        if self.sees(";") and self.tokens[self.at + 1].value == "else":
            self.take()
        otherwise = self._statement() if self.accept("else") else _NOTHING
        return do.If(condition, then, otherwise)

    def _condition(self) -> ex.Expression:
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        return condition

    def _while(self) -> do.Statement:
        return do.Loop(_NOTHING, self._condition(), _NOTHING, self._statement())

    def _do(self) -> do.Statement:
        body = self._statement()
        self.expect("while")
        return do.Loop(_NOTHING, self._condition(), _NOTHING, body, first=True)

    def _for(self) -> do.Statement:
        self.expect("(")
        words = self.tokens[self.at : self.at + 4]
        if [word.kind for word in words[::2]] == ["name", "name"] and words[1].value == "in":
            self.at += 3
            self.expect(")")
            return do.ForEach(words[0].value, words[2].value, self._statement())
        start = _NOTHING if self.sees(";") else self._simple()
        self.expect(";")
        condition = ex.Constant(1.0) if self.sees(";") else self.expression()
        self.expect(";")
        step = _NOTHING if self.sees(")") else self._simple()
        self.expect(")")
        return do.Loop(start, condition, step, self._statement())
