"""Text without given secrets. PURE."""

from __future__ import annotations

from collections.abc import Mapping


def without(content: str, values: Mapping[str, str]) -> str:
    """`content` with each secret (value → rule) as `[redacted: rule]`, wherever it stands.

    A secret over several lines leaves as many behind, so that line numbers kept elsewhere stay true.
    """
    # The longest first: one secret may be the beginning of another.
    for value in sorted(values, key=len, reverse=True):
        content = content.replace(value, f"[redacted: {values[value]}]" + "\n" * value.count("\n"))
    return content
