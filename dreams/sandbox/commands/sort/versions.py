"""Names with numbers in their natural order."""

from __future__ import annotations

import re


def version_compare(a: bytes, b: bytes) -> int:
    """filevercmp of gnulib: names with numbers in their natural order."""
    if a == b:
        return 0
    for special in (b"", b".", b".."):
        if special in (a, b):
            return -1 if a == special else 1
    if a.startswith(b".") != b.startswith(b"."):
        return -1 if a.startswith(b".") else 1
    cut_a, cut_b = _without_suffix(a), _without_suffix(b)
    return _verrevcmp(cut_a, cut_b) or _verrevcmp(a, b)


_SUFFIX_PART = re.compile(rb"[A-Za-z~][A-Za-z0-9~]*")


def _without_suffix(name: bytes) -> bytes:
    """`a-1.2.tar.gz` as `a-1.2`: endings that begin with a letter are cut, one by one from the back."""
    end = len(name)
    while (dot := name.rfind(b".", 1, end)) > 0 and _SUFFIX_PART.fullmatch(name, dot + 1, end):
        end = dot
    return name[:end]


def _letter_order(byte: int) -> int:
    char = chr(byte)
    if char.isascii() and char.isdigit():
        return 0
    if char.isascii() and char.isalpha():
        return byte
    return -1 if char == "~" else byte + 256


_RUN = re.compile(rb"([^0-9]*)([0-9]*)")


def _verrevcmp(a: bytes, b: bytes) -> int:
    at_a = at_b = 0
    while at_a < len(a) or at_b < len(b):
        run_a, run_b = _RUN.match(a, at_a), _RUN.match(b, at_b)
        assert run_a is not None and run_b is not None  # noqa: S101 - the expression matches anything
        order = _compare_letters(run_a[1], run_b[1]) or _compare_digits(run_a[2], run_b[2])
        if order:
            return order
        at_a, at_b = run_a.end(), run_b.end()
    return 0


def _compare_letters(a: bytes, b: bytes) -> int:
    for index in range(max(len(a), len(b))):
        left = _letter_order(a[index]) if index < len(a) else 0
        right = _letter_order(b[index]) if index < len(b) else 0
        if left != right:
            return left - right
    return 0


def _compare_digits(a: bytes, b: bytes) -> int:
    a, b = a.lstrip(b"0"), b.lstrip(b"0")
    return len(a) - len(b) or (a > b) - (a < b)
