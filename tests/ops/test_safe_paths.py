from __future__ import annotations

import os
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.safe_paths import clashes, folded, refusal

HOSTILE = [
    "", "/", "/etc/passwd", "\\server\\x", "C:\\x", "c:/x", "C:x", "..", "../x", "a/..", "a/../../x", "a//b", "./a",
    "a/.", "a/", "a\\..\\..\\x", "..\\x", ".. /x", "... /x", " ", "a/ /b", ".", "a\0b", "a\x1b[31m", "a\nb", "\x7f",
    ".git", ".git/config", ".GIT/config", ".Git/x", "a/.git/hooks/x", ".git /x", ".git./x", ".git. . /x",
    ".git::$INDEX_ALLOCATION/x", ".git:x", "git~1", "GIT~1/config", ".g\u200cit/x", ".gi\u200dt", "\ufeff.git",
    ".gıt\u202e/../x", "x\\.git\\config", ".pivcs", ".PIVCS/store.db", "pivcs~1/x", ".pivcs.", "n" * 256, "ü" * 128,
    "a/" + "n" * 300, "\ud800",
]  # fmt: skip
FINE = [
    "a", "a/b", ".gitignore", ".gitattributes", ".github/x", "a.git", "git", "x~1", "..a", "a..", "a...b", "n" * 255,
    "ü" * 127, "日本語/ファイル", "con", "ab:c", "-rf", "~", "~/x", "*", "a b", "\udcff", "it's", 'q"', "a\\b",
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_path_is_refused(path: str) -> None:
    assert refusal(path) is not None


@pytest.mark.parametrize("path", FINE)
def test_ordinary_path_is_taken(path: str) -> None:
    assert refusal(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "con", "CON.txt", "a/nul", "NUL .x", "com1", "LPT9.log", "COM¹", "conin$", "aa:b", "a?b", 'a"b', "a|b", "a.",
        "a ", "a\\b",
    ],
)  # fmt: skip
def test_what_windows_does_not_allow_is_refused_there_alone(path: str) -> None:
    assert refusal(path, windows=True) is not None
    assert refusal(path) is None


PARTS = st.sampled_from(
    [
        "..", ".", "", ".git", ".GIT", "git~1", "a", "b ", "x.", "\\", "/", ":", "::$DATA", "\u200c", "\u200d", " ",
        ".pivcs", "c",
    ]
)  # fmt: skip
PATHS = st.one_of(
    st.lists(PARTS, max_size=6).map("".join), st.lists(PARTS, max_size=5).map("/".join), st.text(max_size=12)
)


@given(PATHS)
def test_what_is_taken_stays_inside_and_off_the_private_directories(path: str) -> None:
    if refusal(path) is not None:
        return
    whole = os.path.normpath(os.path.join("/home/user/dir", path))
    assert whole.startswith("/home/user/dir/")
    assert whole == "/home/user/dir/" + path
    for name in path.replace("\\", "/").split("/"):
        seen = "".join(each for each in name if unicodedata.category(each) != "Cf").split(":")[0].rstrip(". ").lower()
        assert seen not in (".git", "git~1", ".pivcs", "pivcs~1")


def test_clashes_name_both_sides() -> None:
    assert clashes(["a", "b", "A/x"]) == {"A/x": "a", "a": "A/x"}
    assert clashes(["Lib/a", "lib/b", "Lib/c"]) == {"lib/b": "Lib/a", "Lib/a": "lib/b"}
    assert clashes(["é", "e\u0301", "x"]) == {"é": "e\u0301", "e\u0301": "é"}
    assert clashes(["a", "a/b", "c"]) == {}


@given(st.sets(st.text(alphabet="aAbB/", min_size=1, max_size=5)))
def test_paths_without_a_clash_are_different_files_everywhere(paths: set[str]) -> None:
    plain = {path for path in paths if refusal(path) is None}
    left = plain - set(clashes(plain))
    assert len({folded(path) for path in left}) == len(left)
