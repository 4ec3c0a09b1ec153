"""Commits are tied to entries by content, whatever became of them; the real git rewrites them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pivcs.gitbridge.commits import find_commits
from pivcs.gitbridge.link import Linker
from pivcs.gitbridge.link_paths import Decided
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import find_repository
from pivcs.ops.made_match import How
from tests.gitbridge.linking import Told, links_of, told
from tests.gitbridge.real_git import EPOCH, Project, new_project, state_of
from tests.ops.views import view_of
from tests.talks import Talk

pytestmark = pytest.mark.interop

ONE = "def login(name):\n    return find_in_directory(name)\n\n\ndef logout():\n    forget_everything()\n"
TWO = "def check(password):\n    return compare_hashes(password)\n"


@pytest.fixture
def project(git: Git, tmp_path: Path) -> Project:
    return new_project(tmp_path / "project", {"README": "hello\n", "other.txt": "something\n"})


class Work:
    """A session that writes two files, and the ids of the results that did."""

    def __init__(self, root: Path) -> None:
        self.talk = Talk(cwd=str(root))
        self.talk.prompt("Write it.")
        self.one = self.talk.write("src/one.py", ONE)
        self.talk.prompt("And the other.")
        self.two = self.talk.write("src/two.py", TWO)


@pytest.fixture
def work(project: Project) -> Work:
    return Work(project.root)


def test_file_as_an_entry_left_it_is_all_of_it(project: Project, work: Work) -> None:
    project.commit({"src/one.py": ONE, "README": "hello\nby hand\n"})
    (link, _) = links_of(project.root, work.talk)
    files = {file.path: file for file in link.files}
    assert files["src/one.py"].how is How.EXACT
    assert (files["src/one.py"].added, files["src/one.py"].hand) == (6, 0)
    assert files["README"].how is How.NONE
    assert (link.added, link.hand, link.percent()) == (7, 1, 85)
    assert told(project.root, work.talk)[0] == Told({work.one: 6}, 1)


def test_lines_changed_by_hand_are_told_from_those_of_the_entry(project: Project, work: Work) -> None:
    project.commit({"src/one.py": ONE.replace("    forget_everything()", "    forget_a_little()\n    say_goodbye()")})
    (link, _) = links_of(project.root, work.talk, hand=True)
    assert told(project.root, work.talk)[0] == Told({work.one: 5}, 2)
    (file,) = link.files
    assert file.how is How.LINES
    (hunk,) = file.by_hand
    assert [line.text for line in hunk.written] == [b"    forget_a_little()", b"    say_goodbye()"]
    assert [line.number for line in hunk.written] == [6, 7]


def test_amended_commit_is_tied(project: Project, work: Work) -> None:
    """case 66"""
    project.commit({"src/one.py": ONE})
    project.git("commit", "-q", "--amend", "--no-edit", "-m", "another message")
    assert told(project.root, work.talk, "HEAD") == [Told({work.one: 6}, 0)]
    project.write({"README": "more\n"})
    project.git("commit", "-q", "--amend", "--no-edit", "-a")
    assert told(project.root, work.talk, "HEAD") == [Told({work.one: 6}, 1)]


def test_rebased_and_cherry_picked_commits_are_tied(project: Project, work: Work) -> None:
    """case 66"""
    project.git("checkout", "-q", "-b", "topic")
    project.commit({"src/one.py": ONE})
    project.commit({"src/two.py": TWO})
    project.git("checkout", "-q", "main")
    project.commit({"src/two.py": "by_hand = 1\n"})
    project.git("checkout", "-q", "topic")
    project.git("rebase", "-q", "main", ok=(0, 1))
    assert "<<<<<<<" in (project.root / "src/two.py").read_text()
    project.write({"src/two.py": "by_hand = 1\n" + TWO})
    project.git("add", "-A")
    project.git("-c", "core.editor=true", "rebase", "--continue")
    assert told(project.root, work.talk, "main..topic") == [Told({work.two: 2}, 0), Told({work.one: 6}, 0)]
    project.git("checkout", "-q", "main")
    project.git("cherry-pick", "topic~1")
    assert told(project.root, work.talk, "HEAD") == [Told({work.one: 6}, 0)]


def test_squashed_commits_are_tied_together(project: Project, work: Work) -> None:
    """case 66"""
    project.git("checkout", "-q", "-b", "topic")
    project.commit({"src/one.py": ONE})
    project.commit({"src/two.py": TWO, "README": "by hand\n"})
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--squash", "topic")
    project.git("commit", "-q", "-m", "all of it")
    project.git("branch", "-q", "-D", "topic")
    assert told(project.root, work.talk, "HEAD") == [Told({work.one: 6, work.two: 2}, 1)]


def test_merge_is_compared_with_its_first_parent(project: Project, work: Work) -> None:
    project.git("checkout", "-q", "-b", "topic")
    project.commit({"src/one.py": ONE})
    project.git("checkout", "-q", "main")
    project.commit({"README": "by hand\n"})
    project.git("merge", "-q", "--no-ff", "-m", "merged", "topic")
    (link,) = links_of(project.root, work.talk, revisions=("HEAD",))
    assert len(link.commit.parents) == 2
    assert (link.added, link.hand) == (6, 0)


def test_commits_of_the_same_second_and_message_have_their_own_lines(project: Project) -> None:
    """cases 67, 81"""
    talk = Talk(cwd=str(project.root))
    talk.prompt("First.")
    first = talk.write("a.py", "the_first_line()\n")
    talk.prompt("Second.")
    second = talk.edit("a.py", "the_first_line()\n", "the_first_line()\nthe_second_line()\n")
    talk.clock -= 10_000_000
    talk.prompt("Third, by a clock that stepped back.")
    third = talk.edit("a.py", "the_second_line()\n", "the_second_line()\nthe_third_line()\n")
    text = ""
    for line in ("the_first_line()\n", "the_second_line()\n", "the_third_line()\n"):
        text += line
        project.commit({"a.py": text}, at=EPOCH)
    assert told(project.root, talk)[:3] == [Told({third: 1}, 0), Told({second: 1}, 0), Told({first: 1}, 0)]


def test_reformatted_file_is_nobodys(project: Project, work: Work) -> None:
    """case 84"""
    project.commit({"src/one.py": ONE})
    formatted = ONE.replace("    ", "\t").replace("(name)", "( name )").replace("\n\n\n", "\n\n")
    formatted = formatted.replace("def logout():", "def logout() -> None:")
    project.commit({"src/one.py": formatted})
    assert told(project.root, work.talk, "HEAD")[0].entries == {}


def test_moved_and_repeated_lines_are_not_given_to_who_wrote_them_before(project: Project, work: Work) -> None:
    project.commit({"src/one.py": ONE})
    head, tail = ONE.split("\n\n\n")
    project.commit({"src/one.py": f"{tail}\n\n{head}\n"})
    assert told(project.root, work.talk, "HEAD")[0].entries == {}
    project.commit({"src/one.py": f"{tail}\n\n{head}\n\n\ndef other():\n    forget_everything()\n"})
    assert told(project.root, work.talk, "HEAD")[0].entries == {}


def test_blank_and_common_lines_alone_tie_nothing(project: Project) -> None:
    """case 84"""
    talk = Talk(cwd=str(project.root))
    talk.prompt("Write it.")
    wrote = talk.write("a.c", "int main() {\n    if (ready) {\n        start();\n    }\n\n    return 0;\n}\n")
    project.commit({"a.c": "int other() {\n    }\n\n}\n"})
    assert told(project.root, talk, "HEAD") == [Told({}, 4)]
    project.commit({"a.c": "int other() {\n    }\n\n}\nint main() {\n    if (ready) {\n        begin();\n    }\n}\n"})
    assert told(project.root, talk, "HEAD") == [Told({wrote: 2}, 3)]


def test_latest_writer_on_the_way_to_a_version_wins(project: Project) -> None:
    talk = Talk(cwd=str(project.root))
    root = talk.prompt("Write it.")
    first = talk.write("a.py", "the_same_line()\n")
    talk.at = root
    second = talk.write("a.py", "the_same_line()\nand_another()\n")
    project.commit({"a.py": "the_same_line()\n"})
    assert told(project.root, talk, "HEAD") == [Told({first: 1}, 0)]
    project.commit({"a.py": ""})
    project.commit({"a.py": "the_same_line()\nby_hand_at_the_end()\n"})
    assert told(project.root, talk, "HEAD") == [Told({second: 1}, 1)]


def test_what_is_written_again_later_leaves_earlier_commits_to_who_wrote_before(project: Project) -> None:
    talk = Talk(cwd=str(project.root))
    talk.prompt("Write it.")
    first = talk.write("a.py", "the_same_line()\n")
    commit = project.commit({"a.py": "the_same_line()\nby_hand()\n"}, at=talk.clock // 1000 + 1)
    later = Talk(cwd=str(project.root), session_id="later", clock=talk.clock + 3_600_000, first=100)
    later.prompt("Write it again.")
    second = later.write("a.py", "the_same_line()\nanother_line()\n")
    (link,) = links_of(project.root, talk, later, revisions=(commit,))
    assert [(writer.session, lines) for writer, lines in link.entries()] == [(0, 1)]
    project.commit({"a.py": ""}, at=later.clock // 1000 + 1)
    commit = project.commit({"a.py": "the_same_line()\nby_hand()\n"}, at=later.clock // 1000 + 2)
    (link,) = links_of(project.root, talk, later, revisions=(commit,))
    assert [(writer.session, lines) for writer, lines in link.entries()] == [(1, 1)]
    project.commit({"a.py": ""}, at=200_000_000)
    wrong = project.commit({"a.py": "the_same_line()\nby_hand()\n"}, at=200_000_001)
    assert told(project.root, talk, wrong) == [Told({first: 1}, 1)]
    assert told(project.root, later, wrong) == [Told({second: 1}, 1)]


def test_renamed_file_is_found_under_both_names(project: Project, work: Work) -> None:
    project.commit({"src/one.py": ONE})
    edited = work.talk.edit("src/one.py", "    forget_everything()\n", "    forget_everything()\n    say_goodbye()\n")
    project.git("mv", "src/one.py", "renamed.py")
    project.commit({"renamed.py": ONE + "    say_goodbye()\n"})
    (link,) = links_of(project.root, work.talk, revisions=("HEAD",))
    assert link.files[0].change.status == "R"
    assert told(project.root, work.talk, "HEAD") == [Told({edited: 1}, 0)]


def test_file_renamed_before_its_first_commit_is_found_by_content(project: Project, work: Work) -> None:
    project.commit({"lib/moved.py": ONE})
    assert told(project.root, work.talk, "HEAD") == [Told({work.one: 6}, 0)]
    project.commit({"lib/empty.py": "", "lib/brace.c": "}\n"})
    assert told(project.root, work.talk, "HEAD") == [Told({}, 1)]


def test_edit_without_a_base_ties_by_its_patch(project: Project) -> None:
    before = "first = 1\nsecond_value = 2\nthird = 3\n"
    project.commit({"a.py": before})
    talk = Talk(cwd=str(project.root))
    talk.prompt("Change it.")
    patch = "@@ -1,3 +1,4 @@\n first = 1\n-second_value = 2\n+second_value = 20\n+another_one = 5\n third = 3\n"
    edited = talk.edit("a.py", "second_value = 2", "second_value = 20\nanother_one = 5", details={"patch": patch})
    project.commit({"a.py": before.replace("second_value = 2", "second_value = 20\nanother_one = 5\nby_hand = 6")})
    assert told(project.root, talk, "HEAD") == [Told({edited: 2}, 1)]


def test_line_ends_that_git_converted_are_told(project: Project) -> None:
    talk = Talk(cwd=str(project.root))
    talk.prompt("Write it.")
    wrote = talk.write("a.txt", "one line of text\r\nand another one\r\n")
    project.git("config", "core.autocrlf", "true")
    project.commit({"a.txt": "one line of text\r\nand another one\r\n"})
    (link,) = links_of(project.root, talk, revisions=("HEAD",))
    assert (link.files[0].how, link.files[0].is_converted, link.hand) == (How.EXACT, True, 0)
    project.commit({"a.txt": "by hand\r\n"})
    project.commit({"a.txt": "by hand\r\none line of text\r\nand another one\r\n"})
    (link,) = links_of(project.root, talk, revisions=("HEAD",))
    assert (link.files[0].how, link.files[0].is_converted) == (How.LINES, True)
    assert told(project.root, talk, "HEAD") == [Told({wrote: 2}, 0)]


def test_binary_files_modes_links_and_submodules(project: Project, work: Work, tmp_path: Path) -> None:
    inner = new_project(tmp_path / "inner", {"x": "x\n"})
    project.git("submodule", "--quiet", "add", str(inner.root), "sub")
    project.write({"raw.bin": b"\0\1", "src/one.py": ONE})
    (project.root / "link").symlink_to("README")
    (project.root / "other.txt").chmod(0o755)
    work.talk.write("raw.bin", "\0\1")
    project.commit({})
    (link,) = links_of(project.root, work.talk, revisions=("HEAD",), hand=True)
    files = {file.path: file for file in link.files}
    assert files["raw.bin"].change.is_binary
    assert files["raw.bin"].how is How.EXACT
    assert files["sub"].change.is_submodule
    assert files["sub"].added == 0
    assert files["other.txt"].change.new_mode == b"100755"
    assert (files["other.txt"].added, files["other.txt"].how) == (0, How.NONE)
    assert files["link"].change.new_mode == b"120000"
    assert files["src/one.py"].how is How.EXACT


def test_session_below_the_root_and_in_another_worktree(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "tree"))
    for place, prefix in ((project.root / "src", ""), (tmp_path / "tree" / "src", "")):
        place.mkdir(parents=True, exist_ok=True)
        talk = Talk(cwd=str(place))
        talk.prompt("Write it.")
        inside = talk.write("one.py", ONE)
        above = talk.write("../top.py", TWO)
        outside = talk.write(str(tmp_path / "elsewhere.py"), "nothing_of_the_project()\n")
        commit = project.commit({f"{prefix}src/one.py": ONE, "top.py": TWO, "elsewhere.py": "x\n"})
        assert told(project.root, talk, commit)[0].entries == {inside: 6, above: 2}, place
        assert outside not in told(project.root, talk, commit)[0].entries
        project.git("reset", "-q", "--hard", "HEAD~1")


def test_session_of_another_machine_is_placed_by_what_its_files_held(project: Project, tmp_path: Path) -> None:
    talk = Talk(cwd="/home/ann/checkout/src")
    talk.prompt("Write it.")
    one = talk.write("one.py", ONE)
    above = talk.write("/home/ann/checkout/top.py", TWO)
    project.commit({"src/one.py": ONE, "top.py": TWO, "one.py": "by_hand_at_the_root()\n"})
    assert told(project.root, talk, "HEAD") == [Told({one: 6, above: 2}, 1)]
    repository, git = find_repository(str(project.root)), Git.find(os.environ)
    with Linker(repository, git, [view_of(talk.data)], lambda _: None) as linker:
        list(linker.links(list(find_commits(repository, git, ()))))
        assert [(place.decided, place.prefix) for place in linker.places] == [(Decided.CONTENT, "src")]


def test_session_of_another_machine_is_placed_by_the_only_place_with_its_names(project: Project) -> None:
    talk = Talk(cwd="/home/ann/checkout")
    talk.prompt("Write it.")
    one = talk.write("src/one.py", ONE)
    project.commit({"src/one.py": "by_hand()\n" + ONE})
    repository, git = find_repository(str(project.root)), Git.find(os.environ)
    with Linker(repository, git, [view_of(talk.data)], lambda _: None) as linker:
        (link, _) = linker.links(list(find_commits(repository, git, ())))
        assert [(place.decided, place.prefix) for place in linker.places] == [(Decided.PATHS, "")]
        assert [lines for _, lines in link.entries()] == [6]
    assert told(project.root, talk, "HEAD") == [Told({one: 6}, 1)]


def test_session_whose_place_cannot_be_told_ties_nothing(project: Project) -> None:
    talk = Talk(cwd="/home/ann/src")
    talk.prompt("Write it.")
    talk.write("one.py", ONE)
    project.commit({"src/one.py": "by_hand()\n" + ONE, "one.py": "by_hand()\n" + ONE})
    assert told(project.root, talk, "HEAD") == [Told({}, 14)]


def test_copies_of_entries_in_a_fork_count_once(project: Project, work: Work) -> None:
    fork = Talk(cwd=str(project.root), session_id="fork", clock=work.talk.clock + 1)
    fork.lines += work.talk.lines[1:]
    fork.at = work.talk.at
    fork._number, fork.clock = work.talk._number, work.talk.clock
    fork.prompt("Go on.")
    more = fork.edit("src/two.py", "compare_hashes(password)", "compare_hashes_slowly(password)")
    project.commit({"src/one.py": ONE, "src/two.py": TWO.replace("hashes", "hashes_slowly")})
    (link,) = links_of(project.root, fork, work.talk, revisions=("HEAD",))
    views = [view_of(work.talk.data), view_of(fork.data)]
    names = {(writer.session, views[writer.session].table.name(writer.row)): count for writer, count in link.entries()}
    assert names == {(0, work.one): 6, (0, work.two): 1, (1, more): 1}


def test_shallow_clone_says_that_its_last_commit_cannot_be_told(project: Project, work: Work, tmp_path: Path) -> None:
    """case 67"""
    project.commit({"src/one.py": ONE})
    project.commit({"src/two.py": TWO})
    project.git("clone", "-q", "--depth=2", f"file://{project.root}", str(tmp_path / "clone"))
    links = links_of(tmp_path / "clone", work.talk)
    assert [(link.commit.is_cut, link.is_tied) for link in links] == [(False, True), (True, False)]
    assert links[1].files == ()


def test_repository_with_sha256_is_tied_too(git: Git, tmp_path: Path) -> None:
    (tmp_path / "long").mkdir()
    project = Project(tmp_path / "long")
    project.git("init", "-q", "--object-format=sha256")
    work = Work(project.root)
    project.commit({"src/one.py": ONE, "src/two.py": TWO + "by_hand()\n"})
    assert told(project.root, work.talk) == [Told({work.one: 6, work.two: 2}, 1)]


def test_variables_of_a_hook_lead_nowhere_else(project: Project, work: Work, decoy: Project) -> None:
    project.commit({"src/one.py": ONE})
    before = state_of(decoy.root)
    assert told(project.root, work.talk, "HEAD") == [Told({work.one: 6}, 0)]
    assert state_of(decoy.root) == before


def test_few_commits_and_many_say_the_same(project: Project, work: Work) -> None:
    for number in range(20):
        project.commit({f"by-hand-{number}": f"{number}\n"})
    commit = project.commit({"src/one.py": ONE + "more_by_hand()\n", "src/two.py": TWO})
    alone = told(project.root, work.talk, commit)
    assert told(project.root, work.talk)[0] == alone[0] == Told({work.one: 6, work.two: 2}, 1)


LINE = st.sampled_from(["", "}", "else:", "return None", "alpha()", "beta()", "gamma()", "d = 1"])
LINES = st.lists(LINE, max_size=8)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=st.lists(LINES, min_size=1, max_size=4), commits=st.lists(LINES, min_size=1, max_size=3))
def test_lines_of_entries_and_those_by_hand_are_all_that_were_added(
    writes: list[list[str]], commits: list[list[str]], git: Git, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = new_project(tmp_path_factory.mktemp("law"), {"README": "x\n"})
    talk = Talk(cwd=str(project.root))
    talk.prompt("Write it.")
    for lines in writes:
        talk.write("a.py", "".join(f"{line}\n" for line in lines))
    for lines in commits:
        project.commit({"a.py": "".join(f"{line}\n" for line in lines)})
    for link in links_of(project.root, talk):
        counted = project.git("diff-tree", "--root", "-r", "--numstat", "--no-commit-id", link.commit.ident)
        added = sum(int(line.split("\t")[0]) for line in counted.splitlines())
        assert link.added == added
        assert sum(count for _, count in link.entries()) + link.hand == added
        for file in link.files:
            assert sum(count for _, count in file.lines) + file.hand == file.added
