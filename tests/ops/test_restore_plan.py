from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pivcs.ops.restore_plan import Knowledge, NoFileThere, RestorePlan, Wanted, plan_restore
from pivcs.ops.work_tree import Found, WorkTree
from pivcs.workspace.base import BaseFile, MappingBase
from pivcs.workspace.state import FileState, Provenance
from tests.ops.restoring import knowledge, path_of, put


def planned(root: Path, known: Knowledge, *, force: bool = False, last_known: bool = False) -> RestorePlan:
    with WorkTree(str(root)) as tree:
        return plan_restore(known, tree, force=force, last_known=last_known)


def actions(root: Path, known: Knowledge, *, force: bool = False, last_known: bool = False) -> dict[str, str]:
    plan = planned(root, known, force=force, last_known=last_known)
    return {file.path.text: file.action for file in plan.files}


def test_each_file_gets_the_action_that_brings_it_back(tmp_path: Path) -> None:
    put(tmp_path, {"same": b"1", "changed": b"new", "made": b"mine", "others": b"untracked", "sub/x": b"y"})
    known = knowledge(
        {"same": b"1", "changed": b"old", "gone": b"back", "made": None, "never": None},
        {"same": b"1", "changed": b"new", "gone": None, "made": b"mine", "never": None},
        created=("made",),
    )
    assert actions(tmp_path, known) == {
        "same": "unchanged", "changed": "change", "gone": "create", "made": "delete", "never": "unchanged",
    }  # fmt: skip


def test_content_that_the_session_does_not_know_is_a_conflict(tmp_path: Path) -> None:
    put(tmp_path, {"a": b"somebody else's", "made": b"somebody else's"})
    known = knowledge({"a": b"old", "made": None}, {"a": b"new", "made": b"mine"}, created=("made",))
    assert actions(tmp_path, known) == {"a": "conflict", "made": "conflict"}
    assert actions(tmp_path, known, force=True) == {"a": "change", "made": "delete"}


def test_any_content_that_the_session_has_seen_may_be_replaced(tmp_path: Path) -> None:
    put(tmp_path, {"a": b"between"})
    known = knowledge({"a": b"old"}, {"a": b"new"}, seen={"a": (b"other", b"between")})
    assert actions(tmp_path, known) == {"a": "change"}


def test_file_that_no_tool_made_is_never_deleted(tmp_path: Path) -> None:
    """It was not there, and now it is: whoever made it, the session did not."""
    put(tmp_path, {"a": b"x", "b": b"y"})
    known = knowledge({"a": None}, {"a": b"x", "b": b"y"})
    assert actions(tmp_path, known, force=True) == {"a": "unknown", "b": "unknown"}


def test_state_that_is_not_known_is_left_unless_the_last_known_one_will_do(tmp_path: Path) -> None:
    put(tmp_path, {"a": b"now", "b": b"now"})
    path, patched = path_of("a"), path_of("b")
    target = {
        path: FileState(path, Provenance.UNKNOWN, b"before", known_at=1, unknown_since=2),
        patched: FileState(patched, Provenance.PATCH, None, known_at=1, patches=("@@",)),
    }
    known = Knowledge(target, {path: FileState(path, Provenance.WHOLE, b"now", known_at=3)})
    assert actions(tmp_path, known) == {"a": "unknown", "b": "unknown"}
    assert actions(tmp_path, known, last_known=True) == {"a": "change", "b": "unknown"}


def test_paths_outside_are_listed_and_hostile_ones_refused(tmp_path: Path) -> None:
    names = [
        "../x", "a/../../x", ".git/hooks/post-checkout", ".GIT/config", "a/.git/x", ".git::$INDEX_ALLOCATION/x",
        "git~1/x", "C:/x", ".pivcs/store.db", "a\x00b", "a\nb", "n" * 256, ".git. /x",
        ".g\u200cit/config", "a\\..\\..\\x",
    ]  # fmt: skip
    known = knowledge(dict.fromkeys([*names, "/etc/x", "fine"], b"x"), {})
    found = actions(tmp_path, known, force=True)
    assert {name: found[name] for name in names} == dict.fromkeys(names, "refused")
    assert found["/etc/x"] == "outside"
    assert found["fine"] == "create"


def test_what_stands_in_the_way_is_refused_with_the_reason(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    put(root, {"file": b"x", "dir/x": b"y"})
    outside.mkdir()
    (root / "link").symlink_to(outside)
    os.mkfifo(root / "pipe")
    plan = planned(root, knowledge(dict.fromkeys(["file/below", "dir", "link/below", "pipe"], b"x"), {}), force=True)
    assert {file.path.text: (file.action, file.reason) for file in plan.files} == {
        "file/below": ("refused", "a directory on the way to it is a file"),
        "dir": ("refused", "a directory is there"),
        "link/below": ("refused", "a directory on the way to it is a symbolic link"),
        "pipe": ("refused", "something is there that is no file"),
    }


def test_symbolic_link_is_a_conflict_even_to_the_wanted_content(tmp_path: Path) -> None:
    put(tmp_path, {"elsewhere": b"new"})
    (tmp_path / "a").symlink_to("elsewhere")
    known = knowledge({"a": b"old"}, {"a": b"new"})
    assert actions(tmp_path, known) == {"a": "conflict"}
    assert actions(tmp_path, known, force=True) == {"a": "change"}


def test_names_that_differ_by_case_clash_where_case_does_not_count() -> None:
    class Folding:
        def look(self, _: str) -> Found:
            return Found("nothing")

        def folds_case(self) -> bool:
            return True

    known = knowledge({"Lib/a": b"1", "lib/b": b"2", "c": b"3", "C": None}, {})
    plan = plan_restore(known, Folding())
    assert {file.path.text: file.action for file in plan.files} == {
        "Lib/a": "refused", "lib/b": "refused", "c": "create", "C": "unchanged",
    }  # fmt: skip


def test_file_gives_way_where_another_one_needs_a_directory(tmp_path: Path) -> None:
    assert actions(tmp_path, knowledge({"d": b"1", "d/x": b"2"}, {})) == {"d": "refused", "d/x": "create"}
    assert actions(tmp_path, knowledge({"d": None, "d/x": b"2"}, {})) == {"d": "unchanged", "d/x": "create"}


def test_whole_tree_of_a_snapshot_is_the_target_with_links_and_modes(tmp_path: Path) -> None:
    snapshot = MappingBase(
        {
            "run": BaseFile(b"#!", executable=True), "new": BaseFile(b"#!", executable=True),
            "link": BaseFile(b"run", symlink=True), "other": b"was", "same": b"1",
        },
        "snapshot 3",
    )  # fmt: skip
    put(tmp_path, {"run": b"#!", "other": b"is", "made": b"mine", "untracked": b"x", "same": b"1"})
    known = knowledge({}, {"made": b"mine"}, created=("made",), snapshot=snapshot)
    plan = planned(tmp_path, known)
    assert {file.path.text: file.action for file in plan.files} == {
        "run": "mode", "new": "create", "link": "create", "other": "conflict", "same": "unchanged", "made": "delete",
    }  # fmt: skip
    assert plan.snapshot == "snapshot 3"


def test_state_of_the_session_goes_before_the_snapshot_below_it(tmp_path: Path) -> None:
    known = knowledge({"a": b"edited"}, {}, snapshot=MappingBase({"a": b"old", "b": b"2"}))
    found = {file.path.text: file.wanted for file in planned(tmp_path, known).files}
    assert found == {"a": Wanted(b"edited", executable=False), "b": Wanted(b"2", executable=False, exactly=True)}


def test_commit_tells_what_was_not_there(tmp_path: Path) -> None:
    put(tmp_path, {"src/new/made": b"mine", "src/kept": b"1"})
    known = knowledge({}, {"src/new/made": b"mine"}, created=("src/new/made",), base=MappingBase({"src/kept": b"1"}))
    plan = planned(tmp_path, known)
    assert [(file.path.text, file.action, file.source) for file in plan.files] == [("src/new/made", "delete", "base")]
    assert plan.emptied == ("src/new",)


def test_ignored_file_is_not_deleted_since_no_commit_would_have_it(tmp_path: Path) -> None:
    put(tmp_path, {".env": b"mine"})
    known = knowledge({}, {".env": b"mine"}, created=(".env",), base=MappingBase({}))
    assert actions(tmp_path, known) == {".env": "delete"}
    assert actions(tmp_path, replace(known, ignored=(".env",)), force=True) == {".env": "unknown"}


def test_chosen_paths_are_files_or_directories(tmp_path: Path) -> None:
    known = knowledge(dict.fromkeys(["src/a", "src/b/c", "srcx", "/etc/x"], b"1"), {})

    def chosen(*paths: str) -> list[str]:
        with WorkTree(str(tmp_path)) as tree:
            return [file.path.text for file in plan_restore(known, tree, chosen=paths).files]

    assert chosen("src") == ["src/a", "src/b/c"]
    assert chosen("src/a", "srcx") == ["src/a", "srcx"]
    assert chosen(".") == ["src/a", "src/b/c", "srcx"]
    assert chosen("/etc/x") == ["/etc/x"]
    with pytest.raises(NoFileThere, match="'missing'"):
        chosen("src", "missing")


@pytest.mark.parametrize(
    ("wanted", "found", "mode"),
    [
        (Wanted(b""), Found("nothing"), 0o100640),
        (Wanted(b"", executable=True), Found("nothing"), 0o100750),
        (Wanted(b"", executable=True), Found("file", 0o100600), 0o100600),
        (Wanted(b"", executable=True, exactly=True), Found("file", 0o100600), 0o100700),
        (Wanted(b"", executable=False, exactly=True), Found("file", 0o100755), 0o100644),
        (Wanted(b""), Found("file", 0o104755), 0o100755),
        (Wanted(b"", symlink=True), Found("file", 0o100755), 0o120777),
        (Wanted(None), Found("file", 0o100755), None),
    ],
)
def test_mode_of_a_file(wanted: Wanted, found: Found, mode: int | None) -> None:
    assert wanted.mode(found, 0o027) == mode
