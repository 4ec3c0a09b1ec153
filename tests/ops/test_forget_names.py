"""Names that people gave, and files kept for undo, say what an entry said: they are renamed, or told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.ops.access import view_of
from pivcs.ops.forget import ForgetPlan, finish, forget, plan_forget
from pivcs.ops.forget_traces import LeftName
from pivcs.ops.operations import create_branch, delete_tags, redo, set_tag, undo
from pivcs.ops.view import SessionView
from pivcs.store.kept import Kept, KeptFile, KeptStore
from pivcs.store.store import Store
from tests.builders import header_line, message_line
from tests.ops.syncing import NOW, Box
from tests.ops.test_forget import errors, secret_places

WORD = "zebraQuux77"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    with Store.open(tmp_path / "store.db", create=True) as store:
        (tmp_path / "sessions").mkdir()
        yield Box(tmp_path / "sessions", store)


@pytest.fixture
def view(box: Box) -> SessionView:
    """A session whose second entry, in row 2, says the word."""
    said = f"fix the login page with {WORD}, please"
    return view_of(
        box.store,
        box.put(header_line() + message_line("aaaaaaaa", None) + message_line("bbbbbbbb", "aaaaaaaa", "user", said)),
    )


def tag(view: SessionView, name: str) -> None:
    set_tag(view, name, view.table.object_id(1), force=False, now=NOW, command=f"pivcs tag {name}")


def branch(view: SessionView, name: str) -> None:
    create_branch(view, name, 2, force=False, now=NOW, command=f"pivcs branch {name}")


def forget_it(view: SessionView) -> ForgetPlan:
    plan = plan_forget(view, 2)
    assert view.store is not None
    done = forget(view, plan, 2, NOW)
    finish(view.store)
    return done


def names_in_log(store: Store) -> list[str]:
    return [change.name for each in store.refs.operations(kinds=["user"]) for change in store.refs.changes_of(each.id)]


def test_names_with_an_unusual_word_of_the_entry_get_other_names(box: Box, view: SessionView, tmp_path: Path) -> None:
    branch(view, f"try/{WORD}")
    branch(view, f"{WORD}-again")
    tag(view, WORD)
    tag(view, "other")
    plan = forget_it(view)
    assert [new for _, _, new in plan.traces.branches] == ["forgotten", "forgotten-2"]
    assert [(old, new) for _, old, new in plan.traces.tags] == [(WORD, "forgotten")]
    assert view.key is not None
    assert set(box.store.refs.tags(view.key.digest)) == {"forgotten", "other"}
    assert secret_places(tmp_path, WORD.encode()) == []
    assert WORD not in " ".join(names_in_log(box.store))
    assert errors(box.store) == []


def test_renamed_names_can_be_undone_and_done_again(box: Box, view: SessionView) -> None:
    tag(view, WORD)
    number = box.store.refs.operations()[0].id
    forget_it(view)
    assert view.key is not None
    undo(box.store, now=NOW, number=number)
    assert box.store.refs.tags(view.key.digest) == {}
    redo(box.store, now=NOW)
    assert list(box.store.refs.tags(view.key.digest)) == ["forgotten"]


def test_deleted_names_go_from_the_log(box: Box, view: SessionView, tmp_path: Path) -> None:
    tag(view, "login")
    tag(view, WORD)
    delete_tags(view, ["login", WORD], now=NOW, command=f"pivcs tag -d login {WORD}")
    plan = forget_it(view)
    assert sorted(plan.traces.gone) == ["login", WORD]
    assert names_in_log(box.store)[1:] == ["FORGOTTEN"] * 4
    assert secret_places(tmp_path, WORD.encode()) == []


def test_names_with_ordinary_words_stay_and_are_told(box: Box, view: SessionView) -> None:
    branch(view, "login")
    tag(view, "please")
    tag(view, "release")
    plan = forget_it(view)
    assert view.key is not None
    key = view.key.digest
    assert plan.traces.left == (LeftName("branch", key, "login"), LeftName("tag", key, "please"))
    assert (plan.traces.branches, plan.traces.tags) == ((), ())
    assert set(box.store.refs.tags(key)) == {"please", "release"}


@pytest.mark.parametrize(("content", "is_told"), [(WORD, True), ("logi\n", True), ("log", False), ("other\n", False)])
def test_kept_file_of_nothing_but_a_part_of_the_entry_is_told(
    box: Box, view: SessionView, content: str, is_told: bool
) -> None:
    with box.store.writing():
        operation = box.store.refs.add_operation(NOW, "user", "pivcs restore", [])
        kept = KeptStore(box.store.database)
        ident, _ = kept.add_content([content.encode()])
        kept.add_tree(operation, b"/p", "t", [KeptFile(0, b"a.txt", Kept(None), Kept(0o100644, ident))])
    assert plan_forget(view, 2).traces.kept == (("a.txt",) if is_told else ())
