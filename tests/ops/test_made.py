from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.made import Made, MadeFile, blob_id, made_of, tells
from pivcs.ops.made_patch import lines_of_patch
from pivcs.workspace.base import MappingBase
from pivcs.workspace.state import FilePath
from tests.ops.views import view_of
from tests.talks import Talk

A = FilePath("a.py", True)


def made(talk: Talk, **options: object) -> Made:
    return made_of(view_of(talk.data), **options)  # type: ignore[arg-type]


def writers(found: Made, file: MadeFile, line: bytes) -> list[str]:
    return [found.view.table.name(row) for row in file.writers(line)]


def test_blob_ids_are_those_of_git() -> None:
    assert blob_id(b"").hex() == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_id(b"hello\n").hex() == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert blob_id(b"x", "sha256") == hashlib.sha256(b"blob 1\0x").digest()


def test_lines_are_of_the_entries_that_put_them_in() -> None:
    talk = Talk()
    talk.prompt("Go.")
    first = talk.write("a.py", "one()\ntwo()\n")
    second = talk.edit("a.py", "two()", "two()\nthree()")
    third = talk.write("a.py", "one()\n")
    found = made(talk)
    file = found.files[A]
    assert writers(found, file, b"one()") == [first]
    assert writers(found, file, b"two()") == [first]
    assert writers(found, file, b"three()") == [second]
    assert file.taken == {b"two()", b"three()"}
    assert [len(rows) for rows in file.left.values()] == [1, 1, 1]
    assert found.view.table.name(file.left[blob_id(b"one()\n")][0]) == third
    assert file.is_whole


def test_all_branches_count() -> None:
    talk = Talk()
    root = talk.prompt("Go.")
    first = talk.write("a.py", "the_same()\n")
    talk.at = root
    second = talk.write("a.py", "the_same()\nmore()\n")
    found = made(talk)
    assert writers(found, found.files[A], b"the_same()") == [first, second]
    assert found.files[A].has_written(b"the_same()", found.files[A].left[blob_id(b"the_same()\n")][0])


def test_failed_and_unanswered_calls_made_nothing() -> None:
    talk = Talk()
    talk.prompt("Go.")
    talk.call("write", {"path": "a.py", "content": "never()\n"}, is_error=True)
    talk.call("edit", {"path": "b.py", "edits": [{"oldText": "x", "newText": "never()"}]}, is_error=True)
    talk.call("write", {"path": "c.py", "content": "never()\n"})
    talk.lines.pop()
    assert made(talk).files == {}


def test_reading_makes_nothing_but_tells_what_was_there() -> None:
    talk = Talk()
    talk.prompt("Go.")
    talk.read("a.py", "was_there()\n")
    talk.edit("a.py", "was_there()", "was_there()\nis_new()")
    found = made(talk)
    assert set(found.files[A].lines()) == {b"is_new()"}


def test_moved_and_repeated_lines_are_known() -> None:
    talk = Talk()
    talk.prompt("Go.")
    talk.write("a.py", "first()\nsecond()\nthird()\nthird()\n")
    talk.write("a.py", "second()\nthird()\nthird()\nthird()\nfirst()\n")
    file = made(talk).files[A]
    assert file.most == {b"third()": 3}
    assert b"first()" in file.moved or b"second()" in file.moved


def test_edit_of_an_unknown_file_tells_its_lines_alone() -> None:
    talk = Talk()
    talk.prompt("Go.")
    patch = "@@ -1,2 +1,2 @@\n-old_line()\n+new_line()\n same()\n"
    talk.edit("a.py", "old_line()", "new_line()", details={"patch": patch})
    file = made(talk).files[A]
    assert (set(file.lines()), file.taken, file.is_whole, file.left) == ({b"new_line()"}, {b"old_line()"}, False, {})
    base = MappingBase({"a.py": b"old_line()\nsame()\n"})
    file = made(talk, base=base).files[A]
    assert (set(file.lines()), file.taken, file.is_whole) == ({b"new_line()"}, {b"old_line()"}, True)
    assert set(file.left) == {blob_id(b"new_line()\nsame()\n")}


def test_file_written_over_one_of_a_base_is_what_differs() -> None:
    talk = Talk()
    talk.prompt("Go.")
    talk.write("a.py", "line_of_it()\nanother()\n")
    base = MappingBase({"a.py": b"line_of_it()\n"})
    assert set(made(talk).files[A].lines()) == {b"line_of_it()", b"another()"}
    assert set(made(talk, base=base).files[A].lines()) == {b"another()"}


def test_commands_do_not_decide_and_other_files_neither() -> None:
    talk = Talk()
    talk.prompt("Go.")
    talk.write("a.py", "one()\n")
    talk.write("b.py", "two()\n")
    talk.bash("git checkout . && echo b.py")
    talk.edit("a.py", "one()", "three()")
    whole, alone = made(talk), made(talk, names={"a.py"})
    assert set(alone.files) == {A}
    assert alone.files[A].left == whole.files[A].left
    assert set(alone.files[A].lines()) == {b"one()", b"three()"}


def test_content_with_crlf_is_known_with_lf_too() -> None:
    talk = Talk()
    talk.prompt("Go.")
    talk.write("a.py", "one()\r\ntwo()\r\n")
    file = made(talk).files[A]
    assert set(file.lines()) == {b"one()", b"two()"}
    assert set(file.left) == {blob_id(b"one()\r\ntwo()\r\n")}
    assert set(file.left_lf) == {blob_id(b"one()\ntwo()\n")}
    assert file.has_crlf


def test_names_that_json_spells_otherwise_are_found() -> None:
    talk = Talk()
    talk.prompt("Go.")
    talk.write('odd "näme".py', "one()\n")
    assert len(made(talk, names={'odd "näme".py'}).files) == 1


@pytest.mark.parametrize("line", [b"", b"   ", b"}", b"    });", b"else:", b"  return None ", b"\t"])
def test_lines_that_everybody_writes_tell_nothing(line: bytes) -> None:
    assert not tells(line)


def test_forms_of_patches() -> None:
    unified = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-- old\n+++ new\n same\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\r\n"
    assert lines_of_patch(unified) == ([b"- old", b"x"], [b"++ new", b"y"])
    assert lines_of_patch(" 1 same\n-2 old\n+2 new  text\n    ...") == ([b"old"], [b"new  text"])
    assert lines_of_patch("-old\n+new\n+12 is no number\n") == ([b"old"], [b"new", b"12 is no number"])
    assert lines_of_patch("") == ([], [])


PATHS = st.sampled_from(["a.py", "dir/a.py", "b.py", "c d.py"])
TEXTS = st.sampled_from(["one()\n", "one()\ntwo()\n", "two()\nthree()\n", ""])
DEEDS = st.lists(st.tuples(st.sampled_from(["write", "read", "edit", "bash", "back"]), PATHS, TEXTS), max_size=12)


@given(deeds=DEEDS, names=st.sets(st.sampled_from(["a.py", "b.py", "c d.py"]), min_size=1))
def test_what_is_told_of_some_files_does_not_depend_on_the_others(
    deeds: list[tuple[str, str, str]], names: set[str]
) -> None:
    talk = Talk()
    root = talk.prompt("Go.")
    for kind, path, text in deeds:
        if kind == "write":
            talk.write(path, text)
        elif kind == "read":
            talk.read(path, text)
        elif kind == "edit":
            talk.edit(path, "two()", text or "four()")
        elif kind == "bash":
            talk.bash(f"rm {path}; git checkout .")
        else:
            talk.at = root
    whole, some = made(talk), made(talk, names=names)
    assert set(some.files) == {path for path in whole.files if path.text.rsplit("/", 1)[-1] in names}
    for path, file in some.files.items():
        other = whole.files[path]
        assert (file.left, file.most, file.moved, file.taken) == (other.left, other.most, other.moved, other.taken)
        assert {line: list(file.writers(line)) for line in file.lines()} == {
            line: list(other.writers(line)) for line in other.lines()
        }
