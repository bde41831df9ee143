"""rg: recursive search in its everyday options, done by grep. Hidden files are passed over, as rg does."""

from __future__ import annotations

from ..errors import Refused, UsageError
from ..options import Args, Spec, read
from ..process import Runner
from .find import find
from .grep import grep

_RG = Spec(
    flags={
        **{letter: letter for letter in "FHINSaclinoqsvwx"},
        "count": "c",
        "files": "files",
        "files-with-matches": "l",
        "files-without-match": "without",
        "fixed-strings": "F",
        "heading": "heading",
        "hidden": "hidden",
        "ignore-case": "i",
        "invert-match": "v",
        "line-number": "n",
        "line-regexp": "x",
        "no-filename": "I",
        "no-heading": "no-heading",
        "no-ignore": "no-ignore",
        "no-line-number": "N",
        "no-messages": "s",
        "only-matching": "o",
        "quiet": "q",
        "smart-case": "S",
        "text": "a",
        "with-filename": "H",
        "word-regexp": "w",
    },
    values={
        **{letter: letter for letter in "ABCegmtT"},
        "after-context": "A",
        "before-context": "B",
        "context": "C",
        "glob": "g",
        "max-count": "m",
        "regexp": "e",
        "type": "t",
        "type-not": "T",
    },
    optional={"color": "color", "sort": "sort"},
    why_not={
        "L": "links are never followed",
        "follow": "links are never followed",
        "f": "patterns are not taken from files; use -e for each",
        "pre": "it runs a program",
        "U": "a pattern is matched against one line",
        "multiline": "a pattern is matched against one line",
    },
)
# Options that mean the same to grep.
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
        return _listing(name, args)
    patterns = args.all("e")
    operands = list(args.operands)
    if not patterns:
        if not operands:
            raise UsageError("usage: rg [OPTION]... PATTERN [PATH]...", 2)
        patterns = [operands.pop(0)]
    words = ["-F" if args.has("F") else "-P", "-r", *_flags(args, patterns), *_names(args, operands)]
    paths = [] if operands in (["."], ["./"]) else operands
    return grep(name, [*words, *(word for text in patterns for word in ("-e", text)), "--", *paths])


def _listing(name: str, args: Args) -> Runner:
    if args.has("g") or args.has("t") or args.has("T"):
        raise Refused("rg --files: for some names alone use find . -type f -name '*.md'")
    passed_over = [] if args.has("hidden") else ["-name", ".?*", "-prune", "-o"]
    action = ["-print"] if args.operands else ["-printf", "%P\\n"]
    return find(name, [*args.operands, *passed_over, "-type", "f", *action])


def _flags(args: Args, patterns: list[str]) -> list[str]:
    flags = [f"-{letter}" for letter in _SAME if args.has(letter)]
    if args.has("N") and "-n" in flags:
        flags.remove("-n")
    if args.has("S") and not any(text != text.lower() for text in patterns):
        flags.append("-i")
    if args.has("I"):
        flags.append("-h")
    if args.has("without"):
        flags.append("-L")
    for letter in "ABCm":
        if (value := args.last(letter)) is not None:
            flags += [f"-{letter}", value]
    return flags


def _names(args: Args, operands: list[str]) -> list[str]:
    """Which files are searched. A later glob outweighs an earlier one, as with grep's --include and --exclude."""
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


COMMANDS = {"rg": rg}
