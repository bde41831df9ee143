"""Hypothesis strategies: realistic texts, absurd texts, and edits of both."""

from hypothesis import HealthCheck, settings, strategies as st


def tries(few: int, many: int) -> settings:
    """For slow tests: `few` examples in `make test`, `many` in `make test-more` (tests/conftest.py).

    Fixtures are not reset between examples.
    """
    in_short = settings.get_current_profile_name() == "suite"
    slow = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=few if in_short else many, suppress_health_check=slow)


WORDS = [
    "deploy",
    "the",
    "service",
    "on",
    "port",
    "5432",
    "uses",
    "src/app.py",
    "never",
    "日本語",
    "été",
    "is",
]
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
targets = st.sampled_from(["a.md", "b.md", "c.md", "user_role.md", "team/d.md", "e%20f.md"])
index_rows = st.builds("- [{}]({}) — {}".format, words, targets, words)
lines = st.one_of(
    words,
    words.map("- {}".format),
    words.map("  {}".format),
    words.map("## {}".format),
    st.just(""),
    st.just("---"),
    words.map("name: {}".format),
    index_rows,
)
line_ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\u2028", "\n\n"])
prose = st.lists(st.tuples(lines, line_ends).map("".join), max_size=12).map("".join)
unfinished = st.tuples(prose, words).map("".join)
odd = st.text(st.characters(codec=None), max_size=30)
few_lines = st.lists(st.sampled_from(["x\n", "y\n", "\n", "- z\n", "w"]), max_size=8).map("".join)
texts = st.one_of(prose, unfinished, odd, few_lines)


@st.composite
def edited(draw: st.DrawFn, text: str) -> str:
    """The text with some lines removed, doubled, reworded or added: like most real pairs."""
    out: list[str] = []
    for line in text.split("\n"):
        match draw(st.sampled_from("kkkkkdraw")):
            case "d":
                continue
            case "r":
                out.append(line + " " + draw(words))
            case "a":
                out.extend([line, draw(lines)])
            case "w":
                out.extend([line, line])
            case _:
                out.append(line)
    return "\n".join(out)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    base = draw(texts)
    return base, draw(st.one_of(edited(base), texts))


@st.composite
def triples(draw: st.DrawFn) -> tuple[str, str, str]:
    base = draw(texts)
    return base, draw(st.one_of(edited(base), texts)), draw(st.one_of(edited(base), texts))


@st.composite
def indexes(draw: st.DrawFn) -> tuple[dict[str, str], str]:
    """Rows by target, in order, and the text of an index with a heading."""
    rows = draw(st.dictionaries(st.sampled_from("abcdefgh").map("{}.md".format), words, max_size=6))
    return rows, index_text(rows)


def index_text(rows: dict[str, str], line_end: str = "\n") -> str:
    listed = [f"- [{target[0]}]({target}) — {hook}" for target, hook in rows.items()]
    return "".join(line + line_end for line in ["# Index", "", *listed])
