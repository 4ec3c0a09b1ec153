"""What somebody said is text in Markdown, whatever it is, and is left alone where it means nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pivcs.gitbridge.markdown_text import escaped

_SIGNS = [*"\\`*_[]()<>|#~$&@:!/.-+=; ", "a", "1", "x", "www.", "://", "&lt;", "<b>", "](", "**", "__", "~~", "§"]
TEXTS = st.lists(st.sampled_from(_SIGNS), max_size=14).map("".join)


@pytest.mark.parametrize(("text", "shown"), [
    ("read src/some_file.py: 3 > 2 & 1 < 2, C:\\Users", "read src/some_file.py: 3 > 2 & 1 < 2, C:\\Users"),
    ("a * b, [x] and ~/x, ~/y for $5; **/*.py", "a * b, [x] and ~/x, ~/y for $5; **/\\*.py"),
    ("[x](y) `z` $1$ ~~a~~ <img> &lt; a_b\\|c", "[x\\](y) \\`z\\` $1\\$ ~~a\\~\\~ &lt;img> &amp;lt; a_b\\\\\\|c"),
    ("__init__.py *so* ![i](j) [[page]]", "__init\\_\\_.py *so\\* ![i\\](j) \\[[page]]"),
    ("ask @me, a@b.example or see https://e.example/x_y_z, WWW.e.example, #12",
     "ask `@me,` `a@b.example` or see `https://e.example/x_y_z,` `WWW.e.example,` `#12`"),
    ("`@x\\@y|@z", "\\``@x`\\\\`@y`\\|`@z`"),
    ("C# and ##", "C# and \\#\\#"),
])  # fmt: skip
def test_only_what_would_mean_something_is_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown


@given(TEXTS)
@example("\\")
@example("<a@b>`")
@example("a\\@b")
def test_a_reader_of_markdown_sees_in_a_heading_and_in_a_cell_what_was_said(text: str) -> None:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    shown = escaped(text)
    tokens = reader.parse(f"### {shown}\n\n| {shown} | {shown} |\n|---|---|\n| {shown} | {shown} | x |\n")
    inlines = [token for token in tokens if token.type == "inline"]
    kinds = [token.type for token in tokens if token.type.endswith("_open")]
    assert kinds == ["heading_open", "table_open", "thead_open", "tr_open", "th_open", "th_open", "tbody_open",
                     "tr_open", "td_open", "td_open"]  # fmt: skip
    for inline in inlines:
        children = inline.children or []
        assert {each.type for each in children} <= {"text", "code_inline"}
        assert "".join(each.content for each in children) == text.strip()
        plain = "\0".join(each.content for each in children if each.type == "text")
        assert not re.search(r"://|www\.|@|#[0-9]", plain)
