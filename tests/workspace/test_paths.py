"""Which file a path argument means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.workspace.paths import file_path
from pivcs.workspace.state import FilePath

CWD = "/home/dev/project"


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ("src/a.py", "src/a.py"),
        ("./src//a.py", "src/a.py"),
        ("src/../a.py", "a.py"),
        ("@src/a.py", "src/a.py"),
        ("@@a", "@a"),
        (f"{CWD}/src/a.py", "src/a.py"),
        (f"{CWD}/../project/a", "a"),
        ("../project/a", "a"),
        (f"file://{CWD}/my%20file", "my file"),
        (f"file://localhost{CWD}/a#part", "a"),
        ("a\u00a0b\u3000c.txt", "a b c.txt"),
        ("~/project/a", "a"),
        ("//home/dev/project/a", "a"),
        ("a\\b", "a\\b"),
        (".git/hooks/post-checkout", ".git/hooks/post-checkout"),
        ("a/../.git/x", ".git/x"),
        (".", "."),
        ("", "."),
        (CWD, "."),
    ],
)
def test_file_inside_is_relative(argument: str, text: str) -> None:
    assert file_path(argument, CWD, "/home/dev") == FilePath(text, True)


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ("../other/a", "/home/dev/other/a"),
        ("../../../../../etc/passwd", "/etc/passwd"),
        ("/etc/passwd", "/etc/passwd"),
        (f"{CWD}2/a", f"{CWD}2/a"),
        ("~/.bashrc", "/home/dev/.bashrc"),
        ("~", "/home/dev"),
        ("file:///etc/hosts", "/etc/hosts"),
        ("C:\\x\\a.py", "C:/x/a.py"),
    ],
)
def test_file_outside_is_absolute(argument: str, text: str) -> None:
    assert file_path(argument, CWD, "/home/dev") == FilePath(text, False)


@pytest.mark.parametrize(
    ("argument", "path"),
    [
        ("src\\a.py", FilePath("src/a.py", True)),
        ("c:/users/Dev/project/a.py", FilePath("a.py", True)),
        ("C:\\Users\\dev\\project\\src/a.py", FilePath("src/a.py", True)),
        ("/c/Users/dev/project/a.py", FilePath("a.py", True)),
        ("/mnt/c/Users/dev/project/a.py", FilePath("a.py", True)),
        ("file:///C:/Users/dev/project/a.py", FilePath("a.py", True)),
        ("D:\\a.py", FilePath("D:/a.py", False)),
        ("..\\a.py", FilePath("C:/Users/dev/a.py", False)),
    ],
)
def test_paths_of_a_session_on_windows(argument: str, path: FilePath) -> None:
    assert file_path(argument, "C:\\Users\\dev\\project") == path


def test_home_that_is_not_known_stays_a_tilde_outside() -> None:
    assert file_path("~/project/a", CWD) == FilePath("~/project/a", False)


@pytest.mark.parametrize(
    ("argument", "path"),
    [
        ("src/a.py", FilePath("src/a.py", True)),
        ("src\\a.py", FilePath("src/a.py", True)),
        ("../a", FilePath("../a", False)),
        ("a/../../b", FilePath("../b", False)),
        ("/a/../b", FilePath("/b", False)),
    ],
)
def test_without_a_working_directory_only_leading_out_is_outside(argument: str, path: FilePath) -> None:
    assert file_path(argument, None) == path


@given(st.text(max_size=30), st.none() | st.sampled_from([CWD, "/", "C:\\x", "\\\\host\\share", "~", ""]))
def test_path_inside_never_leads_out(argument: str, cwd: str | None) -> None:
    path = file_path(argument, cwd, "/home/dev")
    if path.inside:
        assert not path.text.startswith("/")
        assert ".." not in path.text.split("/")
