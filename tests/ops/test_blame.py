from __future__ import annotations

import pytest

from pivcs.ops.blame import Author, Blame, BlamedLine, Kind, NotKnown, blame_at, blame_disk
from pivcs.ops.replaying import replay_path
from pivcs.ops.view import SessionView
from pivcs.workspace.base import Base, MappingBase
from pivcs.workspace.line_origins import How
from pivcs.workspace.state import FilePath
from tests.builders import CLOCK, Value
from tests.ops.views import view_of
from tests.talks import Talk

FILE = FilePath("auth.py", inside=True)
TEXT = "def login(name):\n    check(name)\n    return True\n"


def _no_base(view: SessionView) -> Base | None:
    return None


def _disk(content: str, *talks: Talk) -> Blame:
    return blame_disk(FILE, content.encode(), [view_of(talk.data) for talk in talks], _no_base)


def _at(talk: Talk, entry: str, *others: Talk) -> Blame:
    view = view_of(talk.data)
    row = view.table.row_named(entry)
    assert row is not None
    return blame_at(view, replay_path(view, row)[FILE], [view_of(other.data) for other in others], _no_base)


def _who(blame: Blame, author: Author) -> str:
    if author.kind is not Kind.ENTRY or author.row is None:
        return author.kind.value
    return f"{author.view}:{blame.views[author.view].table.name(author.row)}"


def _named(blame: Blame) -> list[str]:
    return [_who(blame, line.author) for line in blame.lines]


def _only_unknown(blame: Blame) -> list[BlamedLine]:
    return [line for line in blame.lines if line.author.kind is not Kind.ENTRY]


def test_lines_belong_to_the_write_and_the_edits_that_made_them():
    talk = Talk()
    talk.prompt("Write it.")
    written = talk.write("auth.py", TEXT)
    talk.prompt("Return what was found.")
    edited = talk.edit("auth.py", "return True", "return find(name)")
    blame = _disk(TEXT.replace("return True", "return find(name)"), talk)
    assert _named(blame) == [f"0:{written}", f"0:{written}", f"0:{edited}"]
    assert [line.number for line in blame.lines] == [1, 2, 3]


def test_a_file_that_is_written_again_keeps_the_origin_of_the_lines_that_stay():
    talk = Talk()
    first = talk.write("auth.py", TEXT)
    second = talk.write("auth.py", TEXT + "\n\ndef logout():\n    forget()\n")
    assert _named(_at(talk, second)) == [f"0:{first}"] * 3 + [f"0:{second}"] * 4


def test_lines_that_were_there_before_are_no_ones():
    talk = Talk()
    talk.read("auth.py", TEXT)
    edited = talk.edit("auth.py", "    return True", "    log(name)\n    return True")
    assert _named(_at(talk, edited)) == ["before", "before", f"0:{edited}", "before"]


def test_lines_of_the_base_are_told_as_such():
    talk = Talk()
    edited = talk.edit("auth.py", "return True", "return 1")
    view = view_of(talk.data)
    base = MappingBase({"auth.py": TEXT.encode()}, "commit 1a2b3c4d")
    row = view.table.row_named(edited)
    assert row is not None
    blame = blame_at(view, replay_path(view, row, base)[FILE], [], lambda _: base)
    assert _named(blame) == ["base", "base", f"0:{edited}"]
    assert blame.lines[0].author.label == "commit 1a2b3c4d"


def test_what_the_user_changed_is_of_unknown_origin():
    talk = Talk()
    written = talk.write("auth.py", TEXT)
    blame = _disk(TEXT.replace("True", "False  # by hand"), talk)
    assert _named(blame) == [f"0:{written}", f"0:{written}", "unseen"]


def test_a_change_that_a_later_read_shows_is_of_unknown_origin():
    talk = Talk()
    written = talk.write("auth.py", TEXT)
    read = talk.read("auth.py", TEXT.replace("check(name)", "check_all(name)"))
    assert _named(_at(talk, read)) == [f"0:{written}", "unseen", f"0:{written}"]


def test_a_file_that_was_reformatted_afterwards_says_so_and_has_no_wrong_prompt():
    talk = Talk()
    talk.write("auth.py", "def login(name, secret):\n  return check('name', secret)\n")
    talk.prompt("Something else.")
    talk.edit("auth.py", "def login", "def log_in")
    blame = _disk('def log_in(\n    name,\n    secret,\n):\n    return check("name", secret)\n', talk)
    assert {line.how for line in blame.lines} == {How.REFORMATTED}


def test_a_moved_line_keeps_its_origin():
    talk = Talk()
    written = talk.write("auth.py", TEXT)
    moved = talk.write("auth.py", "    check(name)\ndef login(name):\n    return True\n")
    blame = _at(talk, moved)
    assert _named(blame) == [f"0:{written}"] * 3
    assert How.MOVED in {line.how for line in blame.lines}


def test_each_branch_has_its_own_history():
    talk = Talk()
    talk.prompt("Write it.")
    first = talk.write("auth.py", TEXT)
    here = talk.at
    talk.prompt("Try one.")
    one = talk.edit("auth.py", "return True", "return one(name)")
    talk.at = here
    talk.prompt("Try two.")
    two = talk.edit("auth.py", "return True", "return two(name)")
    assert _named(_at(talk, one)) == [f"0:{first}", f"0:{first}", f"0:{one}"]
    assert _named(_at(talk, two)) == [f"0:{first}", f"0:{first}", f"0:{two}"]
    assert _named(_disk(TEXT.replace("return True", "return one(name)"), talk))[2] == f"0:{one}"


def test_a_line_taken_from_an_abandoned_branch_says_where_it_was_first_written():
    talk = Talk()
    talk.prompt("Write it.")
    talk.write("auth.py", TEXT)
    here = talk.at
    tried = talk.edit("auth.py", "return True", "return find_in_directory(name)")
    talk.at = here
    talk.edit("auth.py", "return True", "return False")
    blame = _disk(TEXT.replace("    return True", "    log()\n    return find_in_directory(name)"), talk)
    lines = {line.text: line for line in blame.lines}
    assert _who(blame, lines[b"    return find_in_directory(name)\n"].author) == f"0:{tried}"


def test_what_another_session_wrote_is_found_there():
    first = Talk(session_id="first")
    first.prompt("Write it.")
    written = first.write("auth.py", TEXT)
    second = Talk(session_id="second", clock=CLOCK + 3_600_000, first=50)
    second.read("auth.py", TEXT)
    edited = second.edit("auth.py", "True", "False")
    blame = _disk(TEXT.replace("True", "False"), second, first)
    assert _named(blame) == [f"1:{written}", f"1:{written}", f"0:{edited}"]


def test_a_later_session_is_not_asked_for_what_was_there_before_it():
    first = Talk(session_id="first")
    first.read("auth.py", TEXT)
    edited = first.edit("auth.py", "True", "False")
    second = Talk(session_id="second", clock=CLOCK + 3_600_000, first=50)
    second.write("auth.py", TEXT)
    assert _named(_at(first, edited, second)) == ["before", "before", f"0:{edited}"]


@pytest.mark.parametrize("known", ["patch", "diff", "call"])
def test_lines_of_an_edit_without_a_base_are_known_by_its_patch(known: str):
    talk = Talk()
    hunk = " def login(name):\n     check(name)\n-    return True\n+    return found(name)\n"
    shown = " 1 def login(name):\n 2     check(name)\n-3     return True\n+3     return found(name)"
    details: Value = {"diff": shown, "patch": f"--- auth.py\n+++ auth.py\n@@ -1,3 +1,3 @@\n{hunk}"}
    given = {"patch": details, "diff": {"diff": shown}, "call": None}[known]
    edited = talk.edit("auth.py", "return True", "return found(name)", details=given)
    read = talk.read("auth.py", TEXT.replace("True", "found(name)"))
    assert _named(_at(talk, read)) == ["before", "before", f"0:{edited}"]


def test_a_state_that_is_not_known_has_no_authors():
    talk = Talk()
    edited = talk.edit("auth.py", "True", "False")
    with pytest.raises(NotKnown, match="not known"):
        _at(talk, edited)


def test_an_empty_file_has_no_lines():
    talk = Talk()
    talk.write("auth.py", "")
    assert _disk("", talk).lines == ()


def test_a_file_that_no_session_tells_of_is_not_said_to_be_changed():
    talk = Talk()
    talk.write("other.py", TEXT)
    assert _named(_disk(TEXT, talk)) == ["untold"] * 3


def test_a_file_of_which_only_an_edit_is_known_was_changed_unseen():
    talk = Talk()
    talk.edit("auth.py", "nowhere", "somewhere")
    assert _named(_disk(TEXT, talk)) == ["unseen"] * 3


def test_a_chain_of_thousands_of_edits_is_followed():
    talk = Talk()
    talk.write("auth.py", "".join(f"value_{n} = 0\n" for n in range(30)))
    edits = [talk.edit("auth.py", f"value_{n} = 0", f"value_{n} = 1") for n in range(30)]
    for n in range(1500):
        edits[n % 30] = talk.edit("auth.py", f"value_{n % 30} = {n // 30 + 1}", f"value_{n % 30} = {n // 30 + 2}")
    assert _named(_at(talk, edits[-1])) == [f"0:{edit}" for edit in edits]
    assert not _only_unknown(_at(talk, edits[-1]))
