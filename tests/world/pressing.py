"""Presses a button of a page as a browser without scripts does: with only the fields of its form."""

from __future__ import annotations

import html
import re
from typing import Any

from django.test import Client

_FORM = re.compile(r'<form[^>]*\saction="([^"]*)"[^>]*>(.*?)</form>', re.DOTALL)
_FIELD = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')
_BUTTON = re.compile(r"<button([^>]*)>(.*?)</button>", re.DOTALL)


def form(text: str, label: str) -> tuple[str, dict[str, str]]:
    """Address and fields of the form with the button `label`. Raises AssertionError unless there is exactly one."""
    found = []
    for address, inside in _FORM.findall(text):
        for attributes, words in _BUTTON.findall(inside):
            if " ".join(html.unescape(re.sub(r"<[^>]*>", " ", words)).split()) == label:
                fields = {name: html.unescape(value) for name, value in _FIELD.findall(inside)}
                own = dict(re.findall(r'\s(name|value)="([^"]*)"', attributes))
                found.append((html.unescape(address), {**fields, own.get("name", "_"): own.get("value", "")}))
    assert len(found) == 1, f"{len(found)} buttons say {label!r}"
    return found[0]


def press(browser: Client, text: str, label: str, **headers: str) -> Any:
    address, fields = form(text, label)
    return browser.post(address, fields, headers=headers)


def labels(text: str) -> list[str]:
    return [
        " ".join(html.unescape(re.sub(r"<[^>]*>", " ", words)).split()) for _, words in _BUTTON.findall(text)
    ]
