"""A client that reads pages as a browser does: how a template is laid out in lines does not change what a page says."""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpResponse
from django.test import Client

_BLOCKS = (
    "html|head|body|header|main|footer|nav|section|article|aside|div|p|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|td|th|"
    "form|fieldset|legend|h[1-6]|figure|figcaption|blockquote|details|summary|button|select|option|svg"
)
_KEPT = re.compile(r"(<(pre|textarea|script)\b.*?</\2>)", re.DOTALL)
_LINE_END = re.compile(r"\s*\n\s*")
_INSIDE = re.compile(rf" ?(</?(?:{_BLOCKS})\b[^>]*>) ?")


class Reader(Client):
    def request(self, **request: Any) -> Any:
        """The response as it came is in `wire`."""
        response = super().request(**request)
        if isinstance(response, HttpResponse) and response.get("Content-Type", "").startswith("text/html"):
            response.wire = response.content  # type: ignore[attr-defined]
            response.content = as_read(response.content.decode()).encode()
        return response


def as_read(page: str) -> str:
    """Ends of lines as the spaces that they are, and none where a block begins or ends; but what is preformatted."""
    pieces = _KEPT.split(page)
    texts = (_INSIDE.sub(r"\1", _LINE_END.sub(" ", text)) for text in pieces[::3])
    kept = iter([*pieces[1::3], ""])
    return "".join(f"{text}{next(kept)}" for text in texts)
