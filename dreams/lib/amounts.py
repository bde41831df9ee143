"""Amounts as people read them: bytes, tokens, dollars, lengths of time. No more figures than are read."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from dreams.lib import ages


def bytes_(count: int | None) -> str:
    """In thousands, as the index's limit of 25 KB is: "820 bytes", "20.4 KB", "3.1 GB"."""
    if count is None:
        return ""
    if abs(count) < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    size = float(count)
    for unit in ("KB", "MB", "GB"):
        size /= 1000
        if abs(size) < 999.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def tokens(count: int | None) -> str:
    """ "820", "12.3 k", "1.24 M", "200 M", "3.05 bn": no more figures than people read."""
    if count is None:
        return ""
    if abs(count) < 1000:
        return str(count)
    if abs(count) < 999_950:
        return f"{count / 1000:.1f} k"
    if abs(count) < 999_500_000:
        return f"{_three(count / 1_000_000)} M"
    return f"{_three(count / 1_000_000_000)} bn"


def _three(value: float) -> str:
    """Three figures before and after the point, and as many as there are before it."""
    return f"{value:,.{2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0}f}"


def rate(dollars: Decimal) -> str:
    """A price of a million tokens: "$15", "$2.50", "$0.1250"."""
    cents = dollars * 100
    if dollars == dollars.to_integral_value():
        return f"${dollars:,.0f}"
    return f"${dollars:,.2f}" if cents == cents.to_integral_value() else f"${dollars:,.4f}".rstrip("0")


def lasting(seconds: float) -> str:
    """A length that somebody set: "30 min", "1 h 30 min", "45 s"."""
    return ages.exact(dt.timedelta(seconds=seconds))


def money(dollars: Decimal | float | None) -> str:
    """ "$0.42", "$0.0031" under a cent, "no price known" for None."""
    if dollars is None:
        return "no price known"
    if not dollars:
        return "$0"
    return f"${dollars:,.2f}" if abs(float(dollars)) >= 0.01 else f"${dollars:.4f}"
