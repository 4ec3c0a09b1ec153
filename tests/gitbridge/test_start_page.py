"""The start page: all streams and names are in an ordinary clone, pages are merged, and nothing on it is obeyed."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest
from dulwich.object_store import DiskObjectStore

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.exporting import Export, ExportOptions, export
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.page_export import StartPage
from pivcs.gitbridge.page_summary import decode_summary, encode_summary, summary_of
from pivcs.gitbridge.page_tree import PageSession, read_page, union
from pivcs.gitbridge.review_targets import Chosen
from pivcs.gitbridge.start_page import MOST, page_texts
from pivcs.ops.access import view_of as stored_view
from pivcs.ops.operations import create_branch, set_tag
from tests.builders import CLOCK, build_session, entry_line, header_line, label_line, message_line, tool_call_line
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import check, environment, git, needs_git, new_repository
from tests.ops.views import view_of

pytestmark = needs_git

SHORT = build_session("a-b")
MINE = build_session("a-b-c")
THEIRS = build_session("a-b-d")
OTHER = build_session("a", header=header_line("other"))


def put(machine: Machine, place: Path) -> Export:
    """Export all sessions of a store."""
    sessions = {view.key: view for stream in machine.store.streams() if (view := stored_view(machine.store, stream))}
    return export(list(sessions.values()), Destination.open(place), ExportOptions(store_id=machine.id))


def tree(place: Path) -> str:
    return git(place, "rev-parse", "sessions^{tree}").decode().strip()


def names_in(place: Path, *, recursive: bool = True) -> list[str]:
    options = ["-r"] if recursive else []
    return git(place, "ls-tree", *options, "--name-only", "sessions").decode().splitlines()


def readme(place: Path) -> str:
    return git(place, "cat-file", "blob", "sessions:README.md").decode()


def fetch(place: Path, other: Path, remote: str = "origin") -> None:
    git(place, "fetch", "-q", str(other), f"+refs/heads/*:refs/remotes/{remote}/*")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Machine]:
    with Machine(tmp_path / "a", 1) as machine:
        yield machine


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Machine]:
    with Machine(tmp_path / "b", 2) as machine:
        yield machine


@pytest.mark.parametrize("converting", ["false", "true"])
def test_an_ordinary_clone_brings_every_byte_and_the_names(
    tmp_path: Path, here: Machine, there: Machine, converting: str
) -> None:
    torn = header_line("torn") + message_line("aaaaaaaa", None) + b'{"type": "mess\r\n\xff\0'
    here.save("torn", torn)
    here.save("s", MINE)
    here.save("s", build_session("a-x"))
    view = stored_view(here.store, here.store.streams()[0])
    create_branch(view, "Try/it", 1, force=False, now=CLOCK, command="branch")
    set_tag(view, "good", view.table.object_id(1), force=False, now=CLOCK, command="tag")
    put(here, tmp_path / "review")
    check(tmp_path / "review")
    git(tmp_path, "clone", "-q", "-c", f"core.autocrlf={converting}", str(tmp_path / "review"), "clone")
    assert git(tmp_path / "clone", "status", "--porcelain") == b""
    done = there.take(tmp_path / "clone")
    assert {each.outcome for each in done} == {"new"}
    assert there.kept() == here.kept() == {torn, MINE, build_session("a-x")}
    view = next(each for stream in there.store.streams() if (each := stored_view(there.store, stream)).refs.elsewhere)
    assert {"Try/it", "good"} <= {each.name for each in view.refs.elsewhere}


def test_bare_and_shallow_clones_will_do(tmp_path: Path, here: Machine) -> None:
    here.save("s", SHORT)
    put(here, tmp_path / "review")
    here.save("s", MINE)
    put(here, tmp_path / "review")
    git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "review"), "bare")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/review", "shallow")
    git(tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", f"file://{tmp_path}/review", "branches")
    for number, name in enumerate(("bare", "shallow", "branches")):
        with Machine(tmp_path / f"into-{name}", 10 + number) as there:
            assert {each.outcome for each in there.take(tmp_path / name)} == {"new"}
            assert there.kept() == {MINE}


def test_a_session_that_has_grown_replaces_what_it_was(tmp_path: Path, here: Machine) -> None:
    here.save("s", SHORT)
    put(here, tmp_path / "grown")
    here.save("s", MINE)
    put(here, tmp_path / "grown")
    put(here, tmp_path / "once")
    assert tree(tmp_path / "grown") == tree(tmp_path / "once")
    assert sum(name.endswith("/stream.json") for name in names_in(tmp_path / "once")) == 1


def test_exporting_again_writes_nothing(tmp_path: Path, here: Machine) -> None:
    here.save("s", MINE)
    here.save("s", build_session("a-x"))
    put(here, tmp_path / "review")
    done = put(here, tmp_path / "review")
    assert (done.objects, done.page) == (0, None)


def test_the_tree_is_that_of_the_sessions_in_any_order_and_store(tmp_path: Path) -> None:
    trees = set()
    for number, order in enumerate(permutations([MINE, OTHER, build_session("a", header=header_line("third"))])):
        place = tmp_path / f"review{number}"
        for data in order:
            with Machine(tmp_path / f"machine{number}", number) as machine:
                machine.save("s", data)
                put(machine, place)
        trees.add(tree(place))
    export([view_of(each) for each in order], Destination.open(tmp_path / "without a store"))
    assert trees == {tree(tmp_path / "without a store")}


def test_what_was_fetched_is_merged_by_the_next_export(tmp_path: Path, here: Machine, there: Machine) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for machine in (here, there):
        machine.save("shared", SHORT)
    put(here, one)
    git(tmp_path, "clone", "-q", "--bare", str(one), str(two))
    here.save("shared", MINE)
    there.save("shared", THEIRS)
    there.save("own", OTHER)
    put(here, one)
    put(there, two)
    fetch(one, two)
    done = put(here, one)
    assert done.page is not None
    assert done.page.outcome == "moved"
    parents = git(one, "rev-parse", "sessions^1", "sessions^2").decode().split()
    assert parents == [parents[0], git(one, "rev-parse", "origin/sessions").decode().strip()]
    check(one)
    assert readme(one).count("\n### ") == 2
    with Machine(tmp_path / "c", 3) as third:
        third.take(one)
        assert third.kept() == {MINE, THEIRS, OTHER}
    fetch(two, one)
    done = put(there, two)
    assert tree(two) == tree(one)
    assert git(two, "rev-parse", "sessions") == git(one, "rev-parse", "sessions"), "nothing is merged twice"
    fetch(one, two)
    assert put(here, one).page is None


def test_merging_drops_what_is_the_beginning_of_another_stream(tmp_path: Path, here: Machine, there: Machine) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    here.save("s", SHORT)
    here.save("own", OTHER)
    there.save("s", MINE)
    put(here, one)
    put(there, two)
    with Machine(tmp_path / "c", 3) as third:  # knows neither of them
        third.save("third", build_session("a", header=header_line("third")))
        put(third, tmp_path / "three")
        fetch(tmp_path / "three", one, "one")
        fetch(tmp_path / "three", two, "two")
        put(third, tmp_path / "three")
    assert len(git(tmp_path / "three", "log", "-1", "--format=%P", "sessions").split()) == 3
    with Machine(tmp_path / "d", 4) as fourth:
        done = fourth.take(tmp_path / "three")
        assert {each.outcome for each in done} == {"new", "beginning"}  # those of remotes are still there
    streams = [name for name in names_in(tmp_path / "three") if name.endswith("/stream.json")]
    assert len(streams) == 3


def test_names_of_each_store_stay_apart_and_the_later_ones_count(tmp_path: Path, here: Machine, there: Machine) -> None:
    for machine, row in ((here, 1), (there, 2)):
        machine.save("s", MINE)
        create_branch(stored_view(machine.store, machine.store.streams()[0]), "try", row, force=False, now=CLOCK,
                      command="branch")  # fmt: skip
        put(machine, tmp_path / str(row))
    fetch(tmp_path / "1", tmp_path / "2")
    create_branch(stored_view(here.store, here.store.streams()[0]), "more", 2, force=False, now=CLOCK + 5,
                  command="branch")  # fmt: skip
    put(here, tmp_path / "1")
    files = [name for name in names_in(tmp_path / "1") if "/names/" in name]
    assert [name.rpartition("/")[2] for name in files] == ["01" * 16 + ".json", "02" * 16 + ".json"]
    text = git(tmp_path / "1", "cat-file", "blob", f"sessions:{files[0]}")
    assert [each["name"] for each in json.loads(text)["branches"]] == ["more", "try"]
    assert "/try`" in readme(tmp_path / "1")


def test_a_union_does_not_depend_on_the_order(tmp_path: Path) -> None:
    sessions = [SHORT, MINE, THEIRS, build_session("a-b-c-e"), OTHER]
    heads = []
    place = new_repository(tmp_path / "place", "--bare")
    for number, data in enumerate(sessions):
        export([view_of(data)], Destination.open(tmp_path / str(number)))
        fetch(place, tmp_path / str(number), str(number))
        heads.append(bytes.fromhex(git(place, "rev-parse", f"{number}/sessions").decode()))
    with closing(DiskObjectStore(place / "objects")) as objects:
        pages = [read_page(objects, head) for head in heads]
        expected = union(objects, pages)
        assert sorted(len(session.streams) for session in expected.values()) == [1, 2]
        for order in permutations(pages):
            assert union(objects, list(order)) == expected
        assert union(objects, [union(objects, pages[:2]), union(objects, pages[2:])]) == expected


def test_of_two_sessions_in_one_folder_each_gets_its_own(tmp_path: Path) -> None:
    keys = [bytes.fromhex("abcdabcd" + digit * 56) for digit in "12"]
    pages = [{"2026-01-01-abcdabcd": PageSession(key)} for key in keys]
    with closing(DiskObjectStore(new_repository(tmp_path / "p", "--bare") / "objects")) as objects:
        for order in (pages, pages[::-1]):
            found = {folder: session.key for folder, session in union(objects, order).items()}
            assert found == {"2026-01-01-abcdabcd": keys[0], "2026-01-01-abcdabcd22222222": keys[1]}


def test_a_branch_of_a_project_that_is_called_alike_is_left(tmp_path: Path, here: Machine) -> None:
    place = new_repository(tmp_path / "project")
    (place / "file").write_text("x")
    git(place, "add", "file")
    git(place, "commit", "-q", "-m", "mine")
    git(place, "branch", "sessions")
    before = git(place, "rev-parse", "sessions")
    here.save("s", SHORT)
    done = put(here, place)
    assert done.page is not None
    assert done.page.outcome == "refused"
    assert git(place, "rev-parse", "sessions") == before


def test_what_others_put_there_in_hostile_names_is_left_out(tmp_path: Path, here: Machine) -> None:
    here.save("s", SHORT)
    place = tmp_path / "review"
    put(here, place)
    (folder,) = [name for name in names_in(place, recursive=False) if name.startswith("2026")]
    old = git(place, "rev-parse", f"sessions:{folder}").decode().strip()
    blob = git(place, "rev-parse", "sessions:README.md").decode().strip()
    entries = f"040000 tree {old}\t2026-01-01-00000000\n040000 tree {old}\tevil\n100644 blob {blob}\t{folder}\n"
    made = git(place, "mktree", stdin=entries.encode()).decode().strip()
    commit = git(place, "commit-tree", "-m", "sessions: 3 sessions", made).decode().strip()
    git(place, "update-ref", "refs/heads/sessions", commit)
    put(here, place)
    assert set(names_in(place, recursive=False)) == {"README.md", ".gitattributes", folder}


def test_the_page_tells_how_branches_ended_what_they_cost_and_touched(tmp_path: Path) -> None:
    data = header_line() + message_line("aaaaaaaa", None, content="First | <b>prompt</b> @me https://evil.example")
    data += tool_call_line("bbbbbbbb", "aaaaaaaa", "write", {"path": "src/x.py", "content": "1\n"})
    export([view_of(data)], Destination.open(tmp_path / "review"))
    text = readme(tmp_path / "review")
    (row,) = [line for line in text.splitlines() if line.startswith("| `2026") and "/main` |" in line]
    assert "unfinished: 1 call without a result" in row
    assert "src/x.py" in row
    assert "First \\| &lt;b>prompt&lt;/b> `@me` `https://evil.example`" in row
    assert len(re.findall(r"(?<!\\)\|", row)) == 7


@pytest.mark.parametrize(("lines", "outcome"), [
    (message_line("bbbbbbbb", "aaaaaaaa", "assistant", "Done."), "finished"),
    (message_line("bbbbbbbb", "aaaaaaaa", "assistant", "x", stopReason="error"), "stopped by an error"),
    (message_line("bbbbbbbb", "aaaaaaaa", "assistant", "x", stopReason="aborted"), "aborted"),
    (message_line("bbbbbbbb", "aaaaaaaa", "assistant", "Done.") + label_line("cccccccc", "bbbbbbbb", "aaaaaaaa", "l"),
     "finished"),
    (entry_line("compaction", "bbbbbbbb", "aaaaaaaa", summary="s", firstKeptEntryId="aaaaaaaa", tokensBefore=1),
     "compacted"),
    (b"", "no answer"),
])  # fmt: skip
def test_the_outcome_is_that_of_the_last_entry_that_tells(lines: bytes, outcome: str) -> None:
    summary = summary_of(view_of(header_line() + message_line("aaaaaaaa", None) + lines))
    assert [branch.outcome for branch in summary.branches] == [outcome]
    assert decode_summary(encode_summary(summary)) == summary


def test_summaries_that_say_odd_things_are_none() -> None:
    good = json.loads(encode_summary(summary_of(view_of(MINE))))
    assert decode_summary(json.dumps(good).encode()) is not None
    odd = [{"key": "x"}, {"time": -1}, {"time": True}, {"cost": "1"}, {"entries": 1 << 70}, {"title": 1},
           {"branches": [{}]}, {"branches": {}}, {"format": "pivcs summary 2"}]  # fmt: skip
    for each in odd:
        assert decode_summary(json.dumps(good | each).encode()) is None, each
    for data in (b"", b"[]", b"[" * 100_000, b"\xff", b'{"format": "pivcs summary 1", "cost": NaN}'):
        assert decode_summary(data) is None
    shown = decode_summary(json.dumps(good | {"title": "a\nb\x1b[31m" + "x" * 1000}).encode())
    assert shown is not None
    assert shown.title.startswith("a b<U+001B>[31mxxx")
    assert len(shown.title) == 160


def test_only_a_users_prompt_was_asked(tmp_path: Path) -> None:
    data = header_line() + message_line("aaaaaaaa", None, content="Ask.")
    data += message_line("bbbbbbbb", "aaaaaaaa", "assistant", "One.")
    data += message_line("cccccccc", "aaaaaaaa", "assistant", "Two.")
    summary = summary_of(view_of(data))
    assert sorted((branch.prompt, branch.entries) for branch in summary.branches) == [("", 1), ("", 1)]
    export([view_of(data)], Destination.open(tmp_path / "review"))
    rows = [line for line in readme(tmp_path / "review").splitlines() if line.startswith("| `2026")]
    assert [line.split(" | ")[1] for line in rows] == ["-", "-"]
    (alone,) = summary_of(view_of(SHORT)).branches
    assert alone.prompt


def test_sessions_are_seen_before_what_is_folded(tmp_path: Path) -> None:
    export([view_of(SHORT)], Destination.open(tmp_path / "review"))
    text = readme(tmp_path / "review")
    for summary in ("Layout", "Getting sessions back"):
        assert f"\n\n<details>\n<summary>{summary}</summary>\n\n" in text
    assert text.count("\n\n</details>\n\n") == 2
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings[:2] == ["# Agent sessions", "## Sessions"]


def test_what_is_no_session_is_said_to_have_no_entries(tmp_path: Path) -> None:
    export([view_of(b'{"type": "system", "subtype": "init"}\n')], Destination.open(tmp_path / "review"))
    text = readme(tmp_path / "review").partition("## Sessions")[2]
    assert "`: no entries: not a pi session?\n" in text
    assert "|" not in text


def test_many_sessions_are_on_pages_by_month() -> None:
    page = {}
    template = summary_of(view_of(SHORT))
    for number in range(MOST * 3 + 7):
        key = f"{number:064x}"
        summary = template._replace(key=key, title=f"session {number}", time=CLOCK + number * 3_600_000)
        name = f"{number:016x}".encode()
        page[f"2026-01-01-{key}"] = PageSession(bytes.fromhex(key), {name: b""}, {name: encode_summary(summary)})
    texts = page_texts(page)
    first = texts["README.md"].decode()
    assert first.count("\n### ") == MOST
    assert f"### session {MOST * 3 + 6}\n" in first
    assert {name for name in texts if name != "README.md"} == {"pages/2026-01.md", "pages/2026-01-2.md",
                                                              "pages/2026-01-3.md"}  # fmt: skip
    for name in texts:
        assert name == "README.md" or f"]({name})" in first
    assert sum(text.decode().count("\n### ") for text in texts.values()) == MOST * 3 + 7
    assert page_texts(dict(reversed(page.items()))) == texts


def test_names_that_others_gave_break_out_of_nothing() -> None:
    summary = summary_of(view_of(SHORT))
    key, store = bytes.fromhex(summary.key), b"ab" * 16
    evil = "`|](https://evil.example) <b>\n# x"
    names = {
        "format": "pivcs names 1", "session": summary.key, "store": store.decode(), "time": 1,
        "branches": [{"name": evil, "node": summary.branches[0].node}, {"name": evil + "2", "node": "00" * 32}],
        "tags": [{"name": evil, "node": "11" * 32}],
    }  # fmt: skip
    session = PageSession(key, {b"0" * 16: b""}, {b"0" * 16: encode_summary(summary)},
                          {store: json.dumps(names).encode(), b"cd" * 16: b"{}"})  # fmt: skip
    text = page_texts({"2026-01-01-" + summary.key[:8]: session})["README.md"].decode()
    table = text.partition("## Sessions")[2]
    assert "evil" in table
    assert not any(sign in table for sign in ("](", "<b", "\n# "))
    named = [line for line in table.splitlines() if "evil" in line]
    assert [line.count("`") for line in named] == [4, 4]
    assert named[1].startswith("Named by people: branch `")


def test_a_page_that_another_process_moved_meanwhile_is_left(tmp_path: Path) -> None:
    place = tmp_path / "review"
    export([view_of(SHORT)], Destination.open(place))
    destination = Destination.open(place)
    with (
        closing(DiskObjectStore(destination.objects)) as objects,
        Existing(destination.objects) as existing,
        PackWriter(destination.objects, existing) as writer,
    ):
        page = StartPage(destination, objects)
        page.put(view_of(OTHER), "2026-01-01-" + summary_of(view_of(OTHER)).key[:8], writer, None)
        commit = page.commit(writer)
        writer.finish()
        export([view_of(THEIRS)], Destination.open(place))
        moved = git(place, "rev-parse", "sessions")
        assert commit is not None
        assert page.move(commit).outcome == "refused"
        writer.release()
    assert git(place, "rev-parse", "sessions") == moved


def test_of_a_part_of_a_session_nothing_is_on_the_page(tmp_path: Path) -> None:
    view = view_of(MINE)
    row = view.table.row_named("bbbbbbbb")
    assert row is not None
    export([Chosen(view, (row,))], Destination.open(tmp_path / "review"))
    assert set(names_in(tmp_path / "review")) == {"README.md", ".gitattributes"}
    assert b"cccccccc" not in git(tmp_path / "review", "log", "--all", "--format=%B")
    export([view], Destination.open(tmp_path / "review"))
    before = tree(tmp_path / "review")
    export([Chosen(view, (row,))], Destination.open(tmp_path / "review"))
    assert tree(tmp_path / "review") == before


def test_a_commit_with_a_wrong_clock_between_does_not_make_merges_again_and_again(tmp_path: Path) -> None:
    place = tmp_path / "review"
    export([view_of(SHORT)], Destination.open(place))
    fetch(place, place)
    old = "1000000000 +0000"
    made = subprocess.run(
        ["git", "-C", str(place), "commit-tree", "-p", "sessions", "-m", "sessions: mine", "sessions^{tree}"],
        env=environment(GIT_COMMITTER_DATE=old, GIT_AUTHOR_DATE=old), capture_output=True, check=True,
    ).stdout.decode().strip()  # fmt: skip
    git(place, "update-ref", "refs/heads/sessions", made)
    assert export([view_of(SHORT)], Destination.open(place)).page is None
    assert git(place, "rev-parse", "sessions").decode().strip() == made
