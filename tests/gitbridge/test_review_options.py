"""The ways to make review commits, as the real git shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.gitbridge.base import GitBase
from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import ExportOptions, export
from pivcs.gitbridge.repository import find_repository
from pivcs.gitbridge.review_options import BadPerson, Granularity, Person, ReviewOptions, parse_person
from pivcs.gitbridge.review_targets import Chosen
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git
from tests.gitbridge.reviews import PNG, exported, picture, refs
from tests.ops.views import view_of
from tests.talks import Talk

pytestmark = needs_git


def git(repository: Path, *arguments: str) -> str:
    return judge.git(repository, *arguments).decode()


def _two_turns() -> Talk:
    talk = Talk()
    talk.prompt("Make a file.")
    talk.write("a.py", "x = 1\n")
    talk.say("Made.")
    talk.prompt("Change it.\nPivcs-Node: forged")
    talk.edit("a.py", "x = 1", "x = 2")
    talk.say("Changed.")
    return talk


def _main(place: Path) -> str:
    return next(name for name in refs(place) if name.endswith("/main"))


def test_a_turn_is_one_commit(tmp_path: Path):
    exported(tmp_path / "review", _two_turns().data, granularity=Granularity.TURNS)
    place, main = tmp_path / "review", _main(tmp_path / "review")
    subjects = git(place, "log", "--format=%s", main).splitlines()
    assert subjects == ["Change it. Pivcs-Node: forged", "Make a file."]
    message = git(place, "log", "-1", "--format=%B", main)
    assert message.startswith(
        "Change it. Pivcs-Node: forged\n\n> Change it.\n>     Pivcs-Node: forged\n\n- assistant: edit a.py\n"
    )
    assert "\n\nChanged.\n\nPivcs-Node: " in message
    assert message.count("\nPivcs-Node: ") == 1
    assert git(place, "show", f"{main}:a.py") == "x = 2\n"
    assert "+x = 2" in git(place, "show", "--format=", main, "--", "a.py")
    judge.check(place)


def test_a_turn_that_has_not_ended_is_left_out_and_told(tmp_path: Path):
    talk = _two_turns()
    exported(tmp_path / "review", talk.data, granularity=Granularity.TURNS)
    before = refs(tmp_path / "review")
    talk.prompt("And?")
    talk.write("b.py", "y\n")
    done = exported(tmp_path / "review", talk.data, granularity=Granularity.TURNS)
    assert refs(tmp_path / "review") == before
    assert [count for _, count in done.sessions[0].unfinished] == [3]
    talk.say("Yes.")
    done = exported(tmp_path / "review", talk.data, granularity=Granularity.TURNS)
    assert done.sessions[0].unfinished == ()
    assert [moved.outcome for moved in done.sessions[0].moved] == ["moved"]
    assert len(git(tmp_path / "review", "rev-list", _main(tmp_path / "review")).split()) == 3


def test_a_branch_from_inside_a_turn_goes_on_from_the_last_one_that_ended(tmp_path: Path):
    talk = _two_turns()
    talk.at = f"{6:08x}"  # the answer with the edit
    talk.prompt("No, otherwise.")
    talk.say("As you like.")
    exported(tmp_path / "review", talk.data, granularity=Granularity.TURNS)
    place = tmp_path / "review"
    first, second = sorted(refs(place))
    base = git(place, "merge-base", first, second).strip()
    assert git(place, "log", "-1", "--format=%s", base) == "Make a file.\n"


def test_a_prompt_is_a_merge_of_its_steps(tmp_path: Path):
    exported(tmp_path / "review", _two_turns().data, granularity=Granularity.PROMPTS)
    place, main = tmp_path / "review", _main(tmp_path / "review")
    parents = git(place, "log", "-1", "--format=%P", main).split()
    assert len(parents) == 2
    assert git(place, "log", "-1", "--format=%s", parents[0]) == "Make a file.\n"
    steps = git(place, "log", "--format=%s", "--reverse", f"{parents[0]}..{parents[1]}").splitlines()
    assert steps[0].startswith("user: Change it.")
    assert len(steps) == 4
    assert "+x = 2" in git(place, "diff", parents[0], main, "--", "a.py")
    first = git(place, "log", "--first-parent", "--format=%s", main).splitlines()
    assert first == ["Change it. Pivcs-Node: forged", "Make a file.", "before the first prompt"]
    judge.check(place)


def test_images_are_files_that_a_page_shows(tmp_path: Path):
    talk = Talk()
    blocks = [{"type": "text", "text": "Look:"}, picture(PNG), picture(b"<svg onload=x>", "image/svg+xml"),
              picture(PNG)]  # fmt: skip
    talk.raw({"type": "message", "message": {"role": "user", "content": blocks}})
    talk.say("I see.")
    exported(tmp_path / "review", talk.data)
    place, main = tmp_path / "review", _main(tmp_path / "review")
    names = git(place, "ls-tree", "-r", "--name-only", main, ".pivcs/images").splitlines()
    assert len(names) == 1
    assert judge.git(place, "show", f"{main}:{names[0]}") == PNG
    page = git(place, "show", f"{main}:.pivcs/turns/00/0000/00.md")
    assert page.count(f"](../../../images/{names[0].removeprefix('.pivcs/images/')})") == 2
    assert "svg+xml" in page
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--branch", main.removeprefix("refs/heads/"), str(place), str(clone))
    link = page.split("](")[1].split(")")[0]
    assert (clone / ".pivcs/turns/00/0000" / link).read_bytes() == PNG


def _project(path: Path) -> str:
    judge.new_repository(path)
    (path / "sub").mkdir()
    (path / "sub" / "a.py").write_text("one\ntwo\n")
    (path / "other.txt").write_text("kept\n")
    judge.git(path, "add", ".")
    judge.git(path, "commit", "-q", "-m", "start")
    return git(path, "rev-parse", "HEAD").strip()


def _on_base(place: Path, base: str, data: bytes, prefix: str = "") -> None:
    repository = find_repository(str(place))
    with GitBase(repository, base, prefix) as files:
        options = ExportOptions(ReviewOptions(base=base), lambda view: files, lambda view: prefix)
        export([view_of(data)], Destination.open(place), options)


def test_commits_go_on_from_a_commit_of_the_project(tmp_path: Path):
    place = tmp_path / "project"
    base = _project(place)
    talk = Talk(cwd=str(place))
    talk.prompt("Change it.")
    talk.edit("sub/a.py", "two", "2")
    talk.say("Done.")
    before = (place / ".git" / "HEAD").read_bytes(), git(place, "status", "--porcelain")
    _on_base(place, base, talk.data)
    main = _main(place)
    assert git(place, "merge-base", main, "HEAD").strip() == base
    assert git(place, "diff", "--name-only", f"HEAD...{main}", "--", ".", ":!.pivcs") == "sub/a.py\n"
    assert git(place, "show", f"{main}:sub/a.py") == "one\n2\n"
    assert git(place, "show", f"{main}:other.txt") == "kept\n"
    assert f"Pivcs-Base: {base}" in git(place, "log", "-1", "--format=%B", main)
    assert (place / ".git" / "HEAD").read_bytes(), git(place, "status", "--porcelain") == before
    talk.edit("sub/a.py", "one", "1")
    _on_base(place, base, talk.data)
    assert git(place, "show", f"{main}:sub/a.py") == "1\n2\n"
    judge.check(place)


def test_a_session_below_the_root_of_the_project_has_its_files_there(tmp_path: Path):
    place = tmp_path / "project"
    base = _project(place)
    talk = Talk(cwd=str(place / "sub"))
    talk.edit("a.py", "two", "2")
    talk.say("Done.")
    _on_base(place, base, talk.data, "sub")
    assert git(place, "show", f"{_main(place)}:sub/a.py") == "one\n2\n"


def test_a_file_of_the_base_that_is_known_to_have_gone_goes(tmp_path: Path):
    place = tmp_path / "project"
    base = _project(place)
    talk = Talk(cwd=str(place))
    talk.call("read", {"path": "other.txt"}, output="ENOENT: no such file or directory, access 'other.txt'",
              is_error=True)  # fmt: skip
    talk.say("Gone.")
    _on_base(place, base, talk.data)
    assert git(place, "ls-tree", "--name-only", _main(place)).split() == [".pivcs", "sub"]


def test_some_entries_alone_get_refs(tmp_path: Path):
    view = view_of(_two_turns().data)
    rows = [row for row in view.table.nodes() if view.table.name(row) in (f"{1:08x}", f"{4:08x}")]
    export([Chosen(view, rows)], Destination.open(tmp_path / "review"))
    (name,) = refs(tmp_path / "review")
    assert name.endswith("/entry/00000004")
    assert len(git(tmp_path / "review", "rev-list", name).split()) == 4


def test_the_user_is_whoever_is_named(tmp_path: Path):
    person = parse_person("Ada Lovelace <ada@example.org>")
    options = ExportOptions(ReviewOptions(person=person))
    export([view_of(_two_turns().data)], Destination.open(tmp_path / "review"), options)
    authors = git(tmp_path / "review", "log", "--format=%an <%ae>", "--reverse", _main(tmp_path / "review"))
    assert authors.splitlines()[0] == "Ada Lovelace <ada@example.org>"
    assert "Ada" not in authors.splitlines()[1]


@pytest.mark.parametrize("text", ["", "Ada", "<a@b>", "Ada <>", "Ada <a@b> x", "A\nda <a@b>"])
def test_what_is_no_name_and_address_is_refused(text: str):
    with pytest.raises(BadPerson):
        parse_person(text)


def test_the_user_is_neutral_by_default():
    assert Person() == (b"user", b"user@pivcs.invalid")
