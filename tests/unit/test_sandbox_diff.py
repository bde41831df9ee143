"""What diff prints leads from the first file to the second, whichever of several right sets of lines it chose."""

import re
import tempfile
from pathlib import Path

from hypothesis import given, strategies as st

from dreams.lib.files.safefs import Root
from dreams.lib.sandbox import Mount, Shell, Tree

LINES = st.lists(st.sampled_from([b"", b"a", b"b", b"c", b"a long line", b"\ttab"]), max_size=25)
ENDS = st.booleans()


def _file(lines: list[bytes], ended: bool) -> bytes:
    return b"\n".join(lines) + (b"\n" if ended and lines else b"")


def _diff(line: str, a: bytes, b: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base).resolve()
        (folder / "a").write_bytes(a)
        (folder / "b").write_bytes(b)
        tree = Tree([Mount("memory", Root.open(folder), (str(folder),))])
        answer = Shell(tree, str(folder)).run(line)
        tree.close()
    assert not answer.refused
    assert answer.exit_code == (a != b)
    return answer.stdout


def _body(lines: list[bytes]) -> list[bytes]:
    """Printed lines without their sign's column, and without the end that the file does not have."""
    out: list[bytes] = []
    for line in lines:
        if line.startswith(b"\\ No newline"):
            out[-1] = out[-1].removesuffix(b"\n")
        else:
            out.append(line)
    return out


def _patched_unified(a: bytes, printed: bytes) -> bytes:
    old = a.splitlines(keepends=True)
    out: list[bytes] = []
    at = 0
    for hunk in re.split(rb"(?m)^(?=@@)", printed)[1:]:
        head, *lines = hunk.splitlines(keepends=True)
        found = re.match(rb"@@ -(\d+)(?:,(\d+))? ", head)
        assert found
        start = int(found[1]) - (found[2] != b"0")
        out += old[at:start]
        at = start
        for line in _body(lines):
            if line[:1] in b" -":
                assert old[at] == line[1:]
                at += 1
            if line[:1] in b" +":
                out.append(line[1:])
    return b"".join(out + old[at:])


def _patched_normal(a: bytes, printed: bytes) -> bytes:
    old = a.splitlines(keepends=True)
    out: list[bytes] = []
    at = 0
    for part in re.split(rb"(?m)^(?=\d)", printed)[1:]:
        head, *lines = part.splitlines(keepends=True)
        found = re.match(rb"(\d+)(?:,(\d+))?([acd])", head)
        assert found
        start = int(found[1]) - (found[3] != b"a")
        stop = start if found[3] == b"a" else int(found[2] or found[1])
        out += old[at:start]
        body = _body([line for line in lines if line != b"---\n"])
        assert [line[2:] for line in body if line.startswith(b"< ")] == old[start:stop]
        out += [line[2:] for line in body if line.startswith(b"> ")]
        at = stop
    return b"".join(out + old[at:])


@given(LINES, LINES, ENDS, ENDS, st.sampled_from(["-u", "-U 0", "-U 1"]))
def test_a_unified_diff_makes_the_second_file_of_the_first(
    one: list[bytes], two: list[bytes], one_ends: bool, two_ends: bool, option: str
) -> None:
    a, b = _file(one, one_ends), _file(two, two_ends)
    assert _patched_unified(a, _diff(f"diff {option} a b", a, b)) == b


@given(LINES, LINES, ENDS, ENDS)
def test_a_plain_diff_makes_the_second_file_of_the_first(
    one: list[bytes], two: list[bytes], one_ends: bool, two_ends: bool
) -> None:
    a, b = _file(one, one_ends), _file(two, two_ends)
    assert _patched_normal(a, _diff("diff a b", a, b)) == b


def test_fifty_thousand_repeated_lines_are_compared_within_the_time() -> None:
    a, b = b"x\ny\n" * 25_000, b"y\nx\nx\n" * 17_000
    assert _diff("diff -q a b", a, b) == b"Files a and b differ\n"
