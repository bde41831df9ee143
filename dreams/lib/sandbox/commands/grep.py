"""grep: bytes, C locale, leftmost-longest; -R works like -r and follows no link. It also runs rg with its common options, which
skips hidden files."""

import re
from collections.abc import Iterator

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox import patterns
from dreams.lib.sandbox.commands import grep_lines
from dreams.lib.sandbox.commands.find import find
from dreams.lib.sandbox.commands.grep_lines import GrepPlan, GrepState, scan
from dreams.lib.sandbox.globbing import matches
from dreams.lib.sandbox.mounts import MountedPath, trouble
from dreams.lib.sandbox.options import Args, Spec, digits_of, read
from dreams.lib.sandbox.process import (
    DEEPEST,
    LineTooLong,
    Process,
    Refused,
    Runner,
    UsageError,
    is_folder,
    raw,
)

_NOT_FROM_FILES = "patterns are not taken from files; use -e for each"
_GREP = Spec(
    flags=(
        "a,text c,count E,extended-regexp F,fixed-strings G,basic-regexp H,with-filename h,no-filename I "
        "i,ignore-case L,files-without-match l,files-with-matches line-buffered n,line-number "
        "o,only-matching P,perl-regexp q,quiet,silent r,R,recursive,dereference-recursive s,no-messages U "
        "v,invert-match w,word-regexp x,line-regexp"
    ),
    values="A,after-context B,before-context C,context e,regexp exclude exclude-dir include m,max-count",
    optional="color,colour",
    why_not={
        "exclude-from": "patterns for names are not taken from files",
        **dict.fromkeys(("f", "file"), _NOT_FROM_FILES),
        "z": "lines that end in NUL are not on offer",
        "Z": "names stand one on a line",
        "b": "use -n",
        "byte-offset": "use -n",
    },
)


def grep(name: str, argv: list[str]) -> Runner:
    args = read(name, _GREP, _classic(argv))
    if args.last("color") not in (None, "", "never", "auto", "no", "none", "tty", "if-tty"):
        raise Refused("grep --color: only never and auto are on offer")
    given = args.all("e")
    if not given:
        if not args.operands:
            raise UsageError("usage: grep [OPTION]... PATTERNS [FILE]...", 2)
        given = [args.operands.pop(0)]
    plan = _plan_of(args, [raw(text) for text in given])
    return lambda process: _run(process, plan)


def _classic(argv: list[str]) -> list[str]:
    """`-3` as `-C 3`."""
    out: list[str] = []
    for index, word in enumerate(argv):
        if word == "--":
            return out + argv[index:]
        is_value = index > 0 and argv[index - 1] in ("-e", "-m", "-A", "-B", "-C")
        is_number = word[:1] == "-" and word[1:].isdigit() and word.isascii()
        out += ["-C", word[1:]] if is_number and not is_value else [word]
    return out


# --- Options ------------------------------------------------------------------------------------------------------


def _plan_of(args: Args, texts: list[bytes]) -> GrepPlan:
    syntax = args.last_of("E", "F", "G", "P") or "G"
    longest = syntax != "P"
    expressions, behind = _expressions(args, texts, syntax)
    whole = b"|".join(b"(?:" + each + b")" for each in expressions)
    words = args.has("w") and not args.has("x")
    line = _bounded(whole, lines=args.has("x"), words=words)
    both = _number(args, "C", 0)
    return GrepPlan(
        args=args,
        line=patterns.compiled(line, longest=longest),
        # With \A and the like, Perl's patterns would not match in a block of lines.
        block=patterns.compiled(b"(?m:" + line + b")" if longest else b""),
        each=patterns.compiled(b"^(?:" + whole + b")$" if args.has("x") else whole, longest=longest),
        matches_nothing=args.has("v") and texts == [b""] and not (args.has("w") or args.has("x")),
        before=_number(args, "B", both),
        after=_number(args, "A", both),
        most=digits_of(args.last("m") or "", "invalid max count", 2) if args.has("m") else None,
        binary={"a": "text", "I": "without-match"}.get(args.last_of("a", "I") or "", "binary"),
        words=words,
        mode=_mode(args),
        behind=behind,
        literal=_literal(args, texts),
    )


# Literal in every syntax.
_PLAIN = re.compile(rb"[A-Za-z0-9_ :/,;=<>@%&~#'\"-]+")


def _literal(args: Args, texts: list[bytes]) -> bytes:
    """The text searched for, if the pattern is literal."""
    plain = len(texts) == 1 and not args.has("i") and _PLAIN.fullmatch(texts[0])
    return texts[0] if plain else b""


def _expressions(args: Args, texts: list[bytes], syntax: str) -> tuple[list[bytes], int | None]:
    fold = args.has("i")
    if syntax == "P":
        if len(set(texts)) > 1:
            raise UsageError("the -P option only supports a single pattern", 2)
        found = grep_lines.read_perl(texts[0], fold=fold)
        if found.behind is not None and (args.has("w") or args.has("x")):
            raise Refused("grep -P: \\K and looking around are not on offer with -w and -x")
        return [found.expression], found.behind
    unique = dict.fromkeys(texts)
    if syntax == "F":
        return [patterns.fixed(text, fold=fold) for text in unique], None
    return [patterns.translate(text, extended=syntax == "E", fold=fold) for text in unique], None


def _bounded(whole: bytes, *, lines: bool, words: bool) -> bytes:
    if lines:
        return b"^(?:" + whole + b")$"
    if words:
        edge = b"[^0-9A-Za-z_]"
        return b"(?:^|" + edge + b")(?:" + whole + b")(?:" + edge + b"|$)"
    return whole


def _number(args: Args, letter: str, default: int) -> int:
    text = args.last(letter)
    return default if text is None else digits_of(text, f"{text}: invalid context length argument", 2)


def _mode(args: Args) -> str:
    if args.has("q"):
        return "quiet"
    last = args.last_of("l", "L")
    if last is not None:
        return "names" if last == "l" else "names-without"
    if args.has("c"):
        return "count"
    return "only" if args.has("o") else "lines"


# --- Files --------------------------------------------------------------------------------------------------------


def _run(process: Process, plan: GrepPlan) -> Iterator[bytes]:
    state = GrepState()
    args = plan.args
    if plan.mode != "names-without" and (plan.most == 0 or plan.matches_nothing):
        process.status = 1
        return
    operands = args.operands or (["."] if args.has("r") else ["-"])
    state.named = len(operands) > 1
    for path in operands:
        if not state.done:
            yield from _operand(process, plan, state, path)
    has_found = state.matched and (plan.mode == "quiet" or not state.failed)
    process.status = 0 if has_found else 2 if state.failed else 1


def _operand(process: Process, plan: GrepPlan, state: GrepState, path: str) -> Iterator[bytes]:
    if path == "-":
        yield from scan(process, plan, state, process.stdin, "(standard input)")
        return
    plainly = not plan.args.operands  # names without the leading ./
    try:
        place = process.tree.place(path, process.cwd)
        folder = is_folder(process.tree.stat(place))
        if not plainly and _skipped(plan, path, folder=folder, named=True):
            return
        if folder and plan.args.has("r"):
            yield from _folder(process, plan, state, place, "" if plainly else path, 0)
        else:
            yield from _file(process, plan, state, path, below=False)
    except (OSError, SafeFsError) as error:
        _fail(process, plan, state, path, error)
        if trouble(error) == "Is a directory":
            # A folder can be opened but not read: it is treated as an empty file.
            yield from scan(process, plan, state, iter(()), path)


def _fail(
    process: Process, plan: GrepPlan, state: GrepState, path: str, error: OSError | SafeFsError
) -> None:
    state.failed = True
    if not plan.args.has("s"):
        process.complain(f"{path}: {trouble(error)}", 2)


def _folder(
    process: Process, plan: GrepPlan, state: GrepState, place: MountedPath, shown: str, depth: int
) -> Iterator[bytes]:
    entries = process.tree.entries(place)
    process.meter.saw(len(entries))
    base = shown if not shown or shown.endswith("/") else shown + "/"
    for entry in entries:
        folder, path = is_folder(entry.stat), base + entry.name
        if state.done or _skipped(plan, entry.name, folder=folder, named=False):
            continue
        try:
            if folder and depth < DEEPEST:
                below = process.tree.place(path, process.cwd)
                yield from _folder(process, plan, state, below, path, depth + 1)
            elif entry.is_file:
                yield from _file(process, plan, state, path, below=True)
        except (OSError, SafeFsError) as error:
            _fail(process, plan, state, path, error)


def _skipped(plan: GrepPlan, name: str, *, folder: bool, named: bool) -> bool:
    """Whether --include, --exclude or --exclude-dir exclude a name; the last match decides."""
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


def _file(process: Process, plan: GrepPlan, state: GrepState, path: str, *, below: bool) -> Iterator[bytes]:
    try:
        yield from scan(process, plan, state, process.chunks(path), path, below=below)
    except LineTooLong as error:
        state.failed = True
        process.complain(f"{path}: {error}; the rest of it was not searched", 2)


_RG = Spec(
    flags=(
        "a,text c,count F,fixed-strings files files-without-match H,with-filename heading hidden "
        "I,no-filename i,ignore-case l,files-with-matches N,no-line-number n,line-number no-heading "
        "no-ignore o,only-matching q,quiet S,smart-case s,no-messages v,invert-match w,word-regexp "
        "x,line-regexp"
    ),
    values="A,after-context B,before-context C,context e,regexp g,glob m,max-count T,type-not t,type",
    optional="color sort",
    why_not={
        "L": "links are never followed",
        "follow": "links are never followed",
        "f": _NOT_FROM_FILES,
        "pre": "it runs a program",
        "U": "a pattern is matched against one line",
        "multiline": "a pattern is matched against one line",
    },
)
# Options with the same meaning in grep.
_SAME = "Hacilnoqsvwx"
_TYPES = {
    "c": "*.[ch]",
    "cpp": "*.[ch]pp",
    "css": "*.css",
    "go": "*.go",
    "html": "*.html",
    "java": "*.java",
    "js": "*.js",
    "json": "*.json",
    "jsonl": "*.jsonl",
    "markdown": "*.md",
    "md": "*.md",
    "py": "*.py",
    "rust": "*.rs",
    "sh": "*.sh",
    "toml": "*.toml",
    "ts": "*.ts",
    "txt": "*.txt",
    "yaml": "*.y*ml",
    "yml": "*.y*ml",
}


def rg(name: str, argv: list[str]) -> Runner:
    args = read(name, _RG, argv)
    if args.has("files"):
        if args.has("g") or args.has("t") or args.has("T"):
            raise Refused("rg --files: for some names alone use find . -type f -name '*.md'")
        passed_over = [] if args.has("hidden") else ["-name", ".?*", "-prune", "-o"]
        action = ["-print"] if args.operands else ["-printf", "%P\\n"]
        return find(name, [*args.operands, *passed_over, "-type", "f", *action])
    patterns = args.all("e")
    operands = list(args.operands)
    if not patterns:
        if not operands:
            raise UsageError("usage: rg [OPTION]... PATTERN [PATH]...", 2)
        patterns = [operands.pop(0)]
    words = ["-F" if args.has("F") else "-P", "-r", *_flags(args, patterns), *_names(args, operands)]
    paths = [] if operands in (["."], ["./"]) else operands
    return grep(name, [*words, *(word for text in patterns for word in ("-e", text)), "--", *paths])


def _flags(args: Args, patterns: list[str]) -> list[str]:
    flags = [f"-{letter}" for letter in _SAME if args.has(letter)]
    if args.has("N") and "-n" in flags:
        flags.remove("-n")
    if args.has("S") and not any(text != text.lower() for text in patterns):
        flags.append("-i")
    if args.has("I"):
        flags.append("-h")
    if args.has("files-without-match"):
        flags.append("-L")
    for letter in "ABCm":
        if (value := args.last(letter)) is not None:
            flags += [f"-{letter}", value]
    return flags


def _names(args: Args, operands: list[str]) -> list[str]:
    """The files to search. A later glob overrides an earlier one, as with grep's --include and --exclude."""
    names = [f"--include={_type(text)}" for text in args.all("t")]
    names += [f"--exclude={_type(text)}" for text in args.all("T")]
    for glob in args.all("g"):
        plain = glob.removeprefix("!").removeprefix("**/")
        if "/" in plain.rstrip("/") or "{" in plain:
            raise Refused(
                f"rg -g {glob[:40]!r}: name the folder as PATH; a glob is for file names, without braces"
            )
        if glob.startswith("!") and plain.endswith("/"):
            names.append(f"--exclude-dir={plain.rstrip('/')}")
        else:
            names.append(f"--{'exclude' if glob.startswith('!') else 'include'}={plain}")
    named = any(part.startswith(".") and part.strip("./") for path in operands for part in path.split("/"))
    if not args.has("hidden") and not named:
        names += ["--exclude-dir=.?*", "--exclude=.?*"]
    return names


def _type(text: str) -> str:
    if text not in _TYPES:
        raise Refused(f"rg -t {text[:20]}: use -g '*.{text[:20]}'")
    return _TYPES[text]


COMMANDS = {"grep": grep, "rg": rg}
