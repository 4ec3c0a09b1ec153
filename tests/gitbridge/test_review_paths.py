"""Names in the tree of a review commit: readable where they can be, harmless always."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.gitbridge.review_paths import file_place, state_place
from pivcs.ops.safe_paths import refusal
from pivcs.workspace.state import FilePath


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("CHANGELOG.md", "CHANGELOG.md"), ("src/Auth.py", "src%2fAuth.py"), ("a b.txt", "a%20b.txt"),
        ("CON", "%43%4f%4e"), (".GITmodules", "%2eGITmodules"), (".gitignore", "%2egitignore"),
    ],
)  # fmt: skip
def test_names_are_readable_where_that_is_safe(path: str, name: str):
    assert state_place(FilePath(path, True))[-1].decode() == name


@given(st.text(min_size=1, max_size=300), st.booleans())
def test_names_are_safe_on_every_file_system(text: str, inside: bool):
    path = FilePath(text, inside)
    for place in (file_place(path), state_place(path)):
        for name in place[place[0] == b".pivcs" :]:
            assert refusal(name.decode("utf-8", "surrogatepass"), windows=True) is None
            assert not name.lower().startswith(b".git")
            assert len(name) <= 255


@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
def test_no_two_files_have_one_name(first: str, second: str):
    places = {state_place(FilePath(text, True)) for text in (first, second)}
    assert len(places) == len({first, second})
