from __future__ import annotations

from pivcs.ops.file_diff import FileDiff, file_diffs
from pivcs.render.file_diff_text import (
    file_diff_bytes,
    file_diff_document,
    file_diff_lines,
    name_status_lines,
    stat_lines,
)
from pivcs.render.log_text import Looks
from pivcs.render.style import Styler
from tests.ops.views import view_of
from tests.talks import Talk

PLAIN = Looks(Styler(False))
TEXT = "def login(name):\n    check(name)\n    return True\n"


def _diffs(talk: Talk, first: str, second: str) -> list[FileDiff]:
    view = view_of(talk.data)
    rows = [view.table.row_named(name) for name in (first, second)]
    assert rows[0] is not None
    assert rows[1] is not None
    return file_diffs((view, rows[0]), (view, rows[1]), names=("left", "right"))


def _tried_twice() -> tuple[Talk, str, str, str]:
    talk = Talk()
    talk.prompt("Write it.")
    written = talk.write("auth.py", TEXT)
    one = talk.edit("auth.py", "True", "one(name)")
    talk.at = written
    talk.edit("auth.py", "True", "two(name)")
    two = talk.write("notes.md", "Second try.\n")
    return talk, written, one, two


def test_an_entry_and_itself_do_not_differ():
    talk, written, one, _ = _tried_twice()
    assert _diffs(talk, one, one) == []
    assert _diffs(talk, written, written) == []


def test_files_of_two_branches_are_compared_as_they_are_there():
    talk, _, one, two = _tried_twice()
    diffs = _diffs(talk, one, two)
    assert [(diff.path.text, diff.status) for diff in diffs] == [("auth.py", "modified"), ("notes.md", "added")]
    assert diffs[0].before == TEXT.replace("True", "one(name)").encode()
    assert diffs[0].after == TEXT.replace("True", "two(name)").encode()


def test_the_other_way_round_is_the_mirror_image():
    talk, _, one, two = _tried_twice()
    there, back = _diffs(talk, one, two), _diffs(talk, two, one)
    assert [(diff.before, diff.after) for diff in there] == [(diff.after, diff.before) for diff in back if diff.before]


def test_a_file_that_was_first_read_later_is_taken_as_it_was_then():
    talk = Talk()
    start = talk.prompt("Change it.")
    talk.read("auth.py", TEXT)
    end = talk.edit("auth.py", "True", "False")
    assert [(diff.status, diff.before) for diff in _diffs(talk, start, end)] == [("modified", TEXT.encode())]


def test_a_file_that_was_only_read_does_not_differ():
    talk = Talk()
    start = talk.prompt("Look at it.")
    end = talk.read("auth.py", TEXT)
    assert _diffs(talk, start, end) == []


def test_a_file_of_which_only_a_patch_is_known_is_said_and_not_guessed():
    talk = Talk()
    start = talk.prompt("Change it.")
    end = talk.edit("auth.py", "True", "False")
    diffs = _diffs(talk, start, end)
    assert [diff.status for diff in diffs] == ["unknown"]
    assert list(file_diff_bytes(diffs)) == []
    assert list(file_diff_lines(diffs, PLAIN)) == [
        "auth.py may differ",
        "(nothing is known of it at left)",
        "(only its changes are known at right)",
        "(a change of which the whole file is not known)",
        "-True",
        "+False",
    ]
    assert file_diff_document(diffs[0])["patch"] is None


def test_a_file_that_a_command_may_have_changed_shows_what_was_last_known():
    talk = Talk()
    start = talk.write("auth.py", TEXT)
    talk.edit("auth.py", "True", "False")
    end = talk.bash("sed -i s/False/None/ auth.py")
    diff = _diffs(talk, start, end)[0]
    assert diff.status == "unknown"
    assert "something may have changed it before right" in diff.notes[0]
    assert "+    return False" in list(file_diff_lines([diff], PLAIN))


def test_lists_have_counts_and_names():
    talk, _, one, two = _tried_twice()
    diffs = _diffs(talk, one, two)
    assert list(stat_lines(diffs, PLAIN)) == [
        "auth.py   2  +-",
        "notes.md  1  +",
        "2 files changed, 2 insertions(+), 1 deletion(-)",
    ]
    assert list(name_status_lines(diffs)) == ["M\tauth.py", "A\tnotes.md"]
