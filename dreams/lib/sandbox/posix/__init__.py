"""POSIX basic and extended patterns, with GNU's additions, as linear-time re2 expressions over bytes.

A pattern becomes a small tree of byte sets and is written out anew, so nothing of the original spelling reaches
re2. Back-references cannot be matched in linear time and are refused. Case is folded here for ASCII alone, as in
the C locale; re2 would fold Latin-1 letters, which in UTF-8 text are pieces of other characters.
"""

from __future__ import annotations

from .nodes import SPACE, WORD
from .writing import check_cost, compiled, fixed, translate

__all__ = ["SPACE", "WORD", "check_cost", "compiled", "fixed", "translate"]
