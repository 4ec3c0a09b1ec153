"""Changed words inside of the lines of files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.file_diff import FileDiff
from pivcs.render.log_text import Looks
from pivcs.render.style import Styler
from pivcs.render.text import visible
from pivcs.render.word_diff_text import word_diff_lines
from pivcs.workspace.state import FilePath

LOOKS = Looks(Styler(False))
CONTENTS = st.lists(st.sampled_from(["a b\n", "a c\n", "\n", "x\x1b[31m\n", "é", "\xff", "\r\n"])).map(
    lambda parts: "".join(parts).encode("latin-1")
)


def word_diff(before: bytes | None, after: bytes | None, context: int = 3) -> list[str]:
    diff = FileDiff(FilePath("x.py", True), "modified", before, after, (), None, None)
    return list(word_diff_lines([diff], LOOKS, context))


def test_words_are_marked_in_their_lines():
    before = b"one\ndef total(items):\n    return sum(items)\nlast\n"
    after = b"one\ndef total(items):\n    return round(items)\nlast\nmore\n"
    assert word_diff(before, after, 1) == [
        "diff --git a/x.py b/x.py", "--- a/x.py", "+++ b/x.py", "@@ -2,3 +2,4 @@ one", "def total(items):",
        "    return [-sum-]{+round+}(items)", "last", "{+more+}",
    ]  # fmt: skip


def test_new_and_binary_files_are_as_in_any_diff():
    assert word_diff(None, b"a\n")[-1] == "+a"
    assert word_diff(b"\0", b"\0\0")[-1] == "Binary files a/x.py and b/x.py differ"


@given(CONTENTS, CONTENTS, st.integers(0, 3))
def test_any_contents_are_shown_safely(before: bytes, after: bytes, context: int):
    lines = word_diff(before, after, context)
    assert all(visible(line, keep="\t") == line for line in lines)
    assert bool(lines) >= (before != after)
