"""Markdown to HTML in a process that can be stopped: `converter` and `dialect` run there, `process` speaks to it."""

from dreams.lib.markdown.converter import Resolver
from dreams.lib.markdown.process import to_html

__all__ = ["Resolver", "to_html"]
