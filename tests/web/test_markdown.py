"""Markdown on the pages: it looks as CommonMark says, and nothing in it runs or loads."""

from __future__ import annotations

import re

from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from dreams.web.render import MAX_CHARS, markdown
from tests.world.cases import each

# What each would do in a page that trusted it.
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=//evil.example></iframe>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](vbscript:x)",
    "[a](file:///etc/passwd)",
    "![a](https://evil.example/x.png)",
    "![a][r]\n\n[r]: https://evil.example/x.png",
    "[a]: javascript:alert(1)\n\n[a]",
    "<javascript:alert(1)>",
    '[a](https://ok.example "onclick=alert(1)")',
    '[a](https://ok.example" onclick="alert(1))',
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "~~<b onclick=x>~~",
    "[[<script>alert(1)</script>]]",
    '[[x|<img src=x onerror="alert(1)">]]',
    "- [ ] <script>alert(1)</script>",
    "| a |\n|---|\n| <style>*{display:none}</style> |",
    'https://evil.example/"onmouseover=alert(1)',
    "<style>body{display:none}</style>",
    "<!-- <script>alert(1)</script> -->",
    "<a href='x' style='position:fixed'>x</a>",
    "<form action=//evil.example><input></form>",
    "\u202e<script>x</script>",
    "\x02stx\x03klzzwxh:0000\x02etx",
]
ALLOWED = re.compile(
    r"</?(?:p|br|hr|h[2-6]|ul|ol|li|blockquote|pre|code|em|strong|del|a|table|thead|tbody|tr|th|td|span)"
    r"(?: (?:(?:href|title|class|start|align|rel|dir)=\"[^\"<>]*\"|tabindex=\"0\"))*>"
)


@each("text", ATTACKS)
def test_an_attack_comes_out_as_text(text: str) -> None:
    out = markdown(text)
    assert "<" not in ALLOWED.sub("", out)
    assert not re.search(r"href=\"(?!https?:|mailto:)[^\"]*:", out, re.IGNORECASE)


@given(st.text(alphabet="<>&\"'`*_-+#[]()!|~ \n\tabscript:/=1.\u202e", max_size=120))
@settings(max_examples=25, deadline=None)
def test_whatever_is_written_only_known_tags_come_out(text: str) -> None:
    assert "<" not in ALLOWED.sub("", markdown(text))


def test_a_link_to_a_sibling_is_made_where_there_is_one() -> None:
    out = markdown("See [[testing]] and [[gone|the old one]].", {"testing": "/memories/7/"}.get)
    assert '<a class="wikilink" href="/memories/7/"' in out
    assert '<span class="wikilink missing">the old one</span>' in out


def test_a_link_to_a_file_leads_to_its_page_or_nowhere() -> None:
    out = markdown(
        "[a](testing.md) [b](./testing.md#x) [c](/logout/) [d](../x.md)", {"testing": "/memories/7/"}.get
    )
    assert out.count('href="/memories/7/"') == 2
    assert out.count("href=") == 2


def test_a_resolver_cannot_smuggle_an_address() -> None:
    assert "javascript" not in markdown("[[x]]", lambda name: "javascript:alert(1)")


def test_a_bare_address_is_a_link_without_the_sentence_around_it() -> None:
    out = markdown("Look at https://a.example/x_(y)?q=1, then (https://b.example/).")
    assert '<a href="https://a.example/x_(y)?q=1"' in out
    assert '<a href="https://b.example/"' in out


def test_a_list_begins_on_the_side_where_its_script_begins() -> None:
    assert '<ul dir="auto">' in markdown("- القاعدة الأولى") and '<ol dir="auto">' in markdown("1. قاعدة")


def test_a_heading_of_a_note_is_below_the_heading_of_the_page() -> None:
    assert markdown("# One\n\n###### Six").replace("\n", "") == "<h2>One</h2><h6>Six</h6>"


def test_a_picture_is_a_link_that_loads_nothing() -> None:
    out = markdown("![logo](https://a.example/l.png)")
    assert "<img" not in out
    assert "image: logo" in out


def test_a_text_beyond_all_measure_is_shown_as_it_is() -> None:
    out = markdown("<b>" + "x" * MAX_CHARS)
    assert out.startswith("<pre>&lt;b&gt;")


def test_quotes_nested_without_end_still_show() -> None:
    assert "deep" in markdown(">" * 3000 + " deep")


def test_lists_nested_without_end_still_show() -> None:
    assert "deep" in markdown("\n".join("  " * depth + "- deep" for depth in range(400)))


# --- Held against CommonMark's own structure -----------------------------------------------------

NOTES = [
    "A paragraph.\n- one\n- two",
    "A paragraph.\n* one\n* two\n\nAfter.",
    "A paragraph.\n1. one\n2. two",
    "- a\n  - b\n    - c\n  - d\n- e",
    "- a\n    - b\n        - c\n- d",
    "* a\n  * b\n* c",
    "1. a\n   - b\n   - c\n2. d",
    "1. a\n   1. b\n2. c",
    "10. ten\n    - x\n11. eleven",
    "- a\n\n  second paragraph of a\n- b",
    "- a\n  carried on\n- b",
    "- a\ncarried on lazily\n- b",
    "- a\n\nA paragraph after.",
    "- a\n- b\n\n\n- c",
    "- a\n\n1. b",
    "- a\n1. b",
    "# Title\n- a\n- b",
    "# Title\ntext\n## Sub\ntext",
    "text\n# Title\ntext",
    "#no heading",
    "Title\n=====\n\ntext",
    "text\n\n---\n\ntext",
    "text\n\n***\n\n- a",
    "```py\ncode\n```",
    "text\n```\ncode\n```\ntext",
    "- a\n  ```\n  code\n  ```\n- b",
    "- a\n\n  ```sh\n  one\n\n  two\n  ```\n\n- b",
    "~~~\ncode\n~~~",
    "```\n- not a list\n# not a heading\n```",
    "```\nnever closed",
    "    indented code\n\ntext",
    "text\n\n    indented code",
    "> quote\n> more\n\ntext",
    "> - a\n> - b",
    "text\n> quote",
    "- > quote\n- b",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "text\n| a | b |\n|---|---|\n| 1 | 2 |",
    "| a |\n|:-:|\n| `x` |\n\nafter",
    "**bold** and *em* and `code` and ~~gone~~",
    "snake_case_name and __bold__",
    "[a link](https://a.example) and <https://b.example>",
    "Why: a reason\n**How to apply:** do it\n- first\n- second",
    "**Why:** x\n\n**How to apply:**\n- a\n  - b\n\n**Then:**\n1. c",
    "- [ ] to do\n- [x] done",
    "- `code` and text\n- **Bold**: text\n  more text\n  - nested **b**",
    "1) one\n2) two",
    "text that ends with a year\n1986. is no list",
    "- a\n\n\ttext of a",
    "-\n- b",
    "line one  \nline two",
    "- a\n\n  text\n  - b\n- c\n\n  # heading\n  text\n- d",
    "* * *",
    "- a\n  # heading in an item\n- b",
    "Path: `a|b`\n\nNot | a table",
    "1. a\n\n   para\n\n   - b\n\n     para in b\n2. c",
]


def outline(html: str) -> list[str]:
    """Block tags in order, without paragraphs (where the two differ on loose lists) and with the words between."""
    html = re.sub(r"<(h[1-6])>", lambda m: f"<h{min(6, int(m[1][1]))}>", html)
    found = re.findall(
        r"</?(?:ul|ol|li|blockquote|pre|table|tr|t[hd]|h[1-6]|hr|em|strong|del|code|a)\b|[^<>]+(?=<|$)", html
    )
    return [" ".join(piece.split()) for piece in found if piece.strip()]


def _reference(text: str) -> list[str]:
    html = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).render(text)
    html = html.replace("<s>", "<del>").replace("</s>", "</del>")
    html = re.sub(r"(</?)h([1-6])", lambda m: f"{m[1]}h{min(6, int(m[2]) + 1)}", html)
    html = html.replace("[ ] ", "☐ ").replace("[x] ", "☑ ")
    return outline(re.sub(r"</?(?:p|span|br)\b[^>]*>", " ", html))


def _ours(text: str) -> list[str]:
    return outline(re.sub(r"</?(?:p|span|br)\b[^>]*>", " ", markdown(text)))


@each("text", NOTES)
def test_the_structure_is_that_of_commonmark(text: str) -> None:
    assert _words(_ours(text)) == _words(_reference(text))


def _words(pieces: list[str]) -> list[str]:
    """Attributes left out, words joined, so that only the structure is compared."""
    joined = "\n".join(
        piece for piece in pieces if not re.match(r"^\s*(?:href|class|rel|align|start|style)=", piece)
    )
    return re.sub(r"\s+", " ", re.sub(r"\n(?!<)", " ", joined)).split()


def test_a_byte_that_is_no_utf8_breaks_no_page() -> None:
    assert "caf\ufffd" in markdown("caf\udce9") and "\ufffd" in markdown("\udc80" * (MAX_CHARS + 1))
