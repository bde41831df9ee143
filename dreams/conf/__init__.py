"""Every setting once, and where its present value comes from.

A value is looked for in this order: the project's own override, the override for everywhere (both set in the
pages and kept in the database), the environment (`MEMORYWEB_<KEY>`), the default.
"""

from dreams.conf.config import Config
from dreams.conf.values import (
    BadValue,
    Overrides,
    Sourced,
    SourceName,
    Spec,
    Value,
    bad_receiver,
    current,
    engines,
    from_environment,
    parse,
    sourced,
    specs,
    zone,
)

__all__ = [
    "BadValue",
    "Config",
    "Overrides",
    "SourceName",
    "Sourced",
    "Spec",
    "Value",
    "bad_receiver",
    "current",
    "engines",
    "from_environment",
    "parse",
    "sourced",
    "specs",
    "zone",
]
