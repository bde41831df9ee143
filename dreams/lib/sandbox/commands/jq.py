"""jq with its library, for reading: no files except the operands, no environment, no input except the current value.

The library is compiled code without limits: a program that never ends is killed with its process by the caller
(`tool_worker`).
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import jq as library

from dreams.lib.files.text import with_texts
from dreams.lib.sandbox.options import Args, Spec, read
from dreams.lib.sandbox.process import Process, Refused, Runner, UsageError, raw
from dreams.lib.secrets.redact import MARK, replaced, values

_NO_FILES = "programs are not taken from files"
_SPEC = Spec(
    flags=(
        "c,compact-output e,exit-status M,monochrome-output n,null-input R,raw-input r,raw-output S,sort-keys "
        "s,slurp"
    ),
    why_not={
        **dict.fromkeys(("f", "from-file", "L"), _NO_FILES),
        **dict.fromkeys(("slurpfile", "rawfile"), "files are named as operands"),
        "args": "write the value into the program",
        **dict.fromkeys(("tab", "indent"), "use -c for one line"),
        **dict.fromkeys(("j", "join-output"), "use -r, and tr -d '\\n' behind it"),
    },
)
LONGEST = 20_000  # characters of a program: a page of jq has some 2,000
DEEPEST = 500  # nested brackets: the library's parser keeps them on a stack

# Names that reach beyond the current value: the environment, other input, files, and the process itself.
_REFUSED = re.compile(
    r"env|input(?:s|_filename|_line_number)?|import|include|modulemeta|get_search_list|debug|stderr|halt(?:_error)?"
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def jq(name: str, argv: list[str]) -> Runner:
    argv, variables = _variables(argv)
    args = read(name, _SPEC, argv)
    if not args.operands:
        raise UsageError("usage: jq [OPTIONS] FILTER [FILE]...", 2)
    program = _compiled(args.operands.pop(0), variables)
    form: dict[str, Any] = {"separators": (",", ":")} if args.has("c") else {"indent": 2}
    encoder = json.JSONEncoder(ensure_ascii=False, sort_keys=args.has("S"), **form)

    def run(process: Process) -> Iterator[bytes]:
        last: list[Any] = []
        try:
            for value in _inputs(process, args):
                process.status = process.status if process.status == 2 else 0  # the last input decides
                last = []
                for answer in _answers(process, program, value):
                    last = [answer]
                    yield _line(answer, args, encoder)
        except ValueError as error:
            process.complain(f"error: {error}", 2)
            return
        except RecursionError:
            process.complain("error: a value nested too deeply", 2)
            return
        if args.has("e") and not process.status:
            process.status = int(last[0] is None or last[0] is False) if last else 4

    return run


COMMANDS = {"jq": jq}


# --- The program --------------------------------------------------------------------------------------------------


def _variables(argv: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The other arguments, and the variables set by `--arg NAME TEXT` and `--argjson NAME JSON`."""
    rest, found = list(argv), dict[str, Any]()
    for option in ("--arg", "--argjson"):
        while option in rest:
            at = rest.index(option)
            if len(rest) < at + 3:
                raise UsageError(f"{option} takes two parameters (e.g. {option} varname value)", 2)
            name, text = rest[at + 1 : at + 3]
            try:
                found.setdefault(name, text if option == "--arg" else json.loads(text))
            except (ValueError, RecursionError):
                raise UsageError(f"Invalid JSON text passed to {option}", 2) from None
            del rest[at : at + 3]
    return rest, found


def _compiled(program: str, variables: dict[str, Any]) -> Any:
    """The compiled program. Raises Refused for a forbidden one, UsageError for an invalid one."""
    if len(program) > LONGEST:
        raise Refused(f"jq: a program of more than {LONGEST:,} characters")
    _check(program)
    try:
        return library.compile(program, args=variables)
    except ValueError as error:
        said = next((line for line in str(error).splitlines() if line.strip()), "syntax error")
        raise UsageError(said.removeprefix("jq: "), 3) from None


def _check(program: str) -> None:
    """Raises Refused if code, not text, uses a refused name. Quoted text is checked for its `\\(…)` only."""
    closing: list[str] = []  # the closing sign of each open text and bracket, the innermost last
    at = 0
    while at < len(program):
        char = program[at]
        if closing and closing[-1] == '"':
            if program.startswith("\\(", at):
                closing.append(")")
            elif char == '"':
                closing.pop()
            at += 2 if char == "\\" else 1
            continue
        if char == '"' or char in "([{":
            closing.append({"(": ")", "[": "]", "{": "}"}.get(char, char))
        elif closing and char == closing[-1]:
            closing.pop()
        elif char == "#":
            raise Refused("jq: a program without comments, please")
        elif word := _WORD.match(program, at):
            _check_word(program, at, word.group(), in_object=closing[-1:] == ["}"])
            at = word.end() - 1
        if len(closing) > DEEPEST:
            raise Refused(f"jq: more than {DEEPEST} brackets inside one another")
        at += 1


def _check_word(program: str, at: int, word: str, *, in_object: bool) -> None:
    """Variables, fields and keys of objects may have any name except those of the environment."""
    before = program[:at].rstrip()
    is_variable = before.endswith("$")
    is_key = in_object and before.endswith(("{", ","))
    if (word == "ENV" and is_variable) or word == "__prog_args":
        raise Refused(f"jq: ${word} is not on offer")
    if _REFUSED.fullmatch(word) and not (is_variable or is_key or program[:at].endswith(".")):
        raise Refused(f"jq: {word} is not on offer; files are named after the program")


# --- Input and output ---------------------------------------------------------------------------------------------


def _answers(process: Process, program: Any, value: Any) -> Iterator[Any]:
    try:
        for answer in program.input_value(value):
            process.meter.tick()
            yield answer
    except ValueError as error:
        process.complain(f"error: {error}", 5)
    except RecursionError:
        process.complain("error: a value nested too deeply", 5)


def _inputs(process: Process, args: Args) -> Iterator[Any]:
    if args.has("n"):
        yield None
        return
    found = _texts(process, args) if args.has("R") else _values(process, args)
    if args.has("s"):
        kept: list[Any] = []
        for value in found:
            process.meter.hold(200)
            kept.append(value)
        yield "".join(f"{value}\n" for value in kept) if args.has("R") else kept
    else:
        yield from found


def _texts(process: Process, args: Args) -> Iterator[Any]:
    for _, chunks in process.inputs(args.operands, 2):
        for line in process.lines(chunks):
            yield process.masked(line).removesuffix(b"\n").decode("utf-8", "replace")


_DECODER = json.JSONDecoder()
_VALUE = re.compile(r"\S")


def _values(process: Process, args: Args) -> Iterator[Any]:
    """JSON values, one after the other: usually one per line; else the input is read at once."""
    for _, chunks in process.inputs(args.operands, 2):
        left = ""
        for line in process.lines(chunks):
            text = line.decode("utf-8", "replace")
            if not left:
                try:
                    yield _masked(process, json.loads(text), text)
                    continue
                except (ValueError, RecursionError):
                    pass  # it continues on the next line
            process.meter.hold(len(text))
            left += text
        yield from _several(process, left)


def _several(process: Process, text: str) -> Iterator[Any]:
    at = 0
    while found := _VALUE.search(text, at):
        process.meter.tick()
        value, at = _DECODER.raw_decode(text, found.start())
        yield _masked(process, value, text[found.start() : at])


def _masked(process: Process, value: Any, text: str) -> Any:
    """A value without the secrets in its text: a program could make other text of them, in which none is recognised."""
    found = values(text[: process.meter.masks(len(text))])
    instead = {each: f"{MARK}{rule}]" for secret, rule in found.items() for each in (secret, _read(secret))}
    return with_texts(value, lambda text: replaced(text, instead), keys=True) if found else value


def _read(secret: str) -> str:
    """A secret as the value has it: the line ends of a key are escaped in the text."""
    try:
        return str(json.loads(f'"{secret}"'))
    except ValueError:
        return secret


def _line(value: Any, args: Args, encoder: json.JSONEncoder) -> bytes:
    shown = value if isinstance(value, str) and args.has("r") else encoder.encode(value)
    whole = shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return raw(whole) + b"\n"
