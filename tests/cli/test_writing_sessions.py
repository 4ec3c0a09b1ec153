"""`label`, `rename`, `new`, `append`, `context` and `delete` on the command line, and `undo` of them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pivcs.session.manager import Session
from tests.builders import build_session, entry_line, header_line, message_line
from tests.cli.conftest import Program, Result, child_environment

A, B, C, D = ("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd")
TREE = build_session("a-b-c, b-d", labels={"a": "start"})
LEAF = json.loads(TREE.splitlines()[-1])["id"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.jsonl"
    path.write_bytes(TREE)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def added(path: Path, before: bytes = TREE) -> list[dict[str, object]]:
    """Return the entries that were appended."""
    data = path.read_bytes()
    assert data.startswith(before)
    return [json.loads(line) for line in data[len(before) :].splitlines()]


def refused(result: Result, code: int, path: Path) -> str:
    assert (result.code, result.out) == (code, b"")
    assert path.read_bytes() == TREE
    return result.complaint


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# label


def test_label_is_a_line_at_the_end_and_undo_takes_it_back(pivcs: Program, tree: Path) -> None:
    done = pivcs("label", tree, "any text: ☃", B)
    assert (done.code, done.lines, done.complaint) == (0, [f'label of {B}  "any text: ☃"'], "")
    (entry,) = added(tree)
    assert list(entry) == ["type", "id", "parentId", "timestamp", "targetId", "label"]
    assert (entry["parentId"], entry["targetId"], entry["label"]) == (LEAF, B, "any text: ☃")
    assert pivcs("rev-parse", tree, "any text: ☃", "--json").json["revisions"][0]["entries"][0]["entry"] == B
    assert pivcs("undo").lines[1:] == [f'    label of {B}  cleared, was "any text: ☃"']
    assert list(added(tree)[-1]) == ["type", "id", "parentId", "timestamp", "targetId"]
    assert pivcs("label", tree).lines == pivcs("label", "-s", tree).lines
    assert [line.split()[0] for line in pivcs("label", tree).lines] == [A]
    assert pivcs("redo").lines[1:] == [f'    label of {B}  "any text: ☃"']
    assert Session.open(tree).label(B) == "any text: ☃"
    shown = pivcs("op", "log", "--json", "--kind", "user").json["operations"][0]["changes"][0]
    assert {key: shown[key] for key in ("ref", "name", "old", "new")} == {
        "ref": "label", "name": B, "old": None, "new": "any text: ☃",
    }  # fmt: skip


def test_label_takes_the_place_of_the_one_that_was_there(pivcs: Program, tree: Path) -> None:
    assert pivcs("label", "other", f"{tree}::start").lines == [f'label of {A}  "start" -> "other"']
    assert pivcs("label", "-s", tree, "other", A).lines == ["it has this label already"]
    assert len(added(tree)) == 1
    pivcs("undo")
    assert Session.open(tree).label(A) == "start"


def test_two_entries_may_have_the_same_label(pivcs: Program, tree: Path) -> None:
    assert pivcs("label", tree, "start", C).code == 0
    assert [label.text for label in Session.open(tree).labels.values()] == ["start", "start"]
    assert pivcs("label", tree, "-d", "start").code == 10
    assert pivcs("label", tree, "-d", C).code == 0
    assert pivcs("label", tree, "-d", "start").code == 0
    assert not Session.open(tree).labels


def test_several_labels_are_removed_at_once_or_none(
    pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pivcs("label", tree, "a b", C)
    pivcs("label", tree, "./x.jsonl", D)
    before = tree.read_bytes()
    assert pivcs("label", "-d", tree, "a b", "nothing").code == 10
    assert tree.read_bytes() == before
    done = pivcs("label", "-d", tree, "a b", "./x.jsonl", C)
    assert [line.split()[2] for line in done.lines] == [C, D]
    assert {label.text for label in Session.open(tree).labels.values()} == {"start"}
    pivcs("label", tree, "other", D)
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tree.parent / "agent"))
    assert len(pivcs("label", "-d", "-s", tree, "start", "other").lines) == 2
    assert not Session.open(tree).labels


def test_label_may_look_like_a_path_or_a_session(pivcs: Program, tree: Path) -> None:
    for text in ("./x.jsonl", "a::b", "HEAD", " ", "-"):
        assert pivcs("label", "-s", tree, text, D).code == 0
        assert Session.open(tree).label(D) == text


def test_faults_of_label_change_nothing(pivcs: Program, tree: Path) -> None:
    assert "no branch, tag, label" in refused(pivcs("label", tree, "x", "nothing"), 10, tree)
    assert f"'{C}' has no label" in refused(pivcs("label", tree, "-d", C), 10, tree)
    assert "a label is not empty" in refused(pivcs("label", tree, "", C), 2, tree)
    assert "SESSION NAME REV" in refused(pivcs("label", tree, C), 2, tree)
    assert "to set a label: pivcs label NAME REV" in refused(pivcs("label", "nothing"), 10, tree)
    assert "a name and a revision" in refused(pivcs("label", tree, "x", "y", C), 2, tree)
    assert refused(pivcs("label", "-d"), 2, tree)


def test_label_of_an_entry_that_pi_passes_over_is_refused(pivcs: Program, tmp_path: Path) -> None:
    first = message_line(B, A)
    path = tmp_path / "glued.jsonl"
    path.write_bytes(build_session("a") + first[:30] + message_line(C, A))
    data = path.read_bytes()
    done = pivcs("label", path, "x", C)
    assert (done.code, "pi does not read" in done.complaint) == (10, True)
    twice = tmp_path / "twice.jsonl"
    twice.write_bytes(build_session("a-b") + message_line(A, B, content="again"))
    done = pivcs("label", twice, "x", f"{B}^")
    assert (done.code, "several entries have the id" in done.complaint) == (10, True)
    assert path.read_bytes() == data


def test_old_version_is_not_appended_to(pivcs: Program, tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    data = build_session("a-b", header=header_line(version=2))
    path.write_bytes(data)
    for arguments in (["label", path, "x", A], ["rename", path, "x"], ["append", path, "--user", "x"]):
        done = pivcs(*arguments)
        assert (done.code, "version 2" in done.complaint, path.read_bytes() == data) == (20, True, True)


def test_vanished_file_is_not_made_anew(pivcs: Program, tree: Path) -> None:
    pivcs("sync", tree)
    tree.unlink()
    for arguments in (["label", tree, "x", A], ["rename", tree, "x"], ["append", tree, "--user", "x"]):
        done = pivcs(*arguments)
        assert (done.code, f"'{tree}' is gone" in done.complaint) == (20, True)
        assert not tree.exists()


def test_undo_after_a_rewrite_is_refused(pivcs: Program, tree: Path) -> None:
    pivcs("label", tree, "x", B)
    data = tree.read_bytes().replace(b"/home", b"/rooms", 1)
    tree.write_bytes(data)
    done = pivcs("undo")
    assert (done.code, "was rewritten" in done.complaint, tree.read_bytes() == data) == (20, True, True)


def test_open_pi_is_warned_of(pivcs: Program, tree: Path) -> None:
    os.utime(tree)
    done = pivcs("label", tree, "x", B)
    assert done.code == 0
    assert "changed less than a minute ago; a pi that has it open sees" in done.complaint
    assert "a pi that has it open" in pivcs("undo").complaint


def test_label_without_a_usable_store_is_written_and_said(
    pivcs: Program, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("PIVCS_DIR", str(tmp_path / "file" / "store"))
    done = pivcs("label", tree, "x", B)
    assert done.code == 0
    assert "`pivcs undo` will not know of this" in done.complaint
    assert Session.open(tree).label(B) == "x"


# rename


def test_session_is_named_as_in_pi(pivcs: Program, tree: Path) -> None:
    assert pivcs("rename", tree, "  the\r\nname ").lines == ['session name  "the name"']
    (entry,) = added(tree)
    assert list(entry) == ["type", "id", "parentId", "timestamp", "name"]
    assert entry["name"] == "the name"
    assert pivcs("rename", tree, "the name").lines == ["it has this name already"]
    assert pivcs("rename", tree, "--clear").lines == ['session name  cleared, was "the name"']
    assert Session.open(tree).name is None
    assert pivcs("rename", tree, "--clear").lines == ["it has no name"]
    pivcs("undo")
    assert Session.open(tree).name == "the name"
    pivcs("undo")
    assert Session.open(tree).name is None


def test_faults_of_rename_change_nothing(pivcs: Program, tree: Path) -> None:
    assert "--clear takes it away" in refused(pivcs("rename", tree, " \n"), 2, tree)
    assert refused(pivcs("rename", "-s", tree), 2, tree)
    assert refused(pivcs("rename", tree, "a", "b"), 2, tree)
    assert refused(pivcs("rename", tree, "a", "--clear"), 2, tree)


# new


def test_new_session_is_where_pi_looks_for_it(pivcs: Program, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    done = pivcs("new", "--cwd", work, "--user", "Hello.", "--id", "mine", "--parent", tmp_path / "old.jsonl")
    path = Path(done.lines[0])
    assert path.parent.name == f"--{str(work)[1:].replace('/', '-')}--"
    assert path.name.endswith("_mine.jsonl")
    header, entry = map(json.loads, path.read_bytes().splitlines())
    assert list(header) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]
    assert (header["id"], header["cwd"], header["parentSession"]) == ("mine", str(work), str(tmp_path / "old.jsonl"))
    assert entry["parentId"] is None
    assert entry["message"]["content"] == [{"type": "text", "text": "Hello."}]
    assert pivcs("log", "--oneline", path).lines[0].endswith("user: Hello.")


def test_new_session_begins_with_what_the_input_has(
    pivcs: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.jsonl"
    feed(monkeypatch, b'{"role":"user","content":"Hi."}\n\n{"type":"custom","customType":"x","id":"cafecafe"}\n')
    done = pivcs("new", "-o", path, "--json")
    assert (done.code, done.json["lines"], done.json["leaf"]) == (0, 2, "cafecafe")
    _, first, second = map(json.loads, path.read_bytes().splitlines())
    assert (first["parentId"], second["parentId"], first["message"]["content"]) == (None, first["id"], "Hi.")
    feed(monkeypatch, b'{"role":"user","content":"Hi."}\n\n{"type":"label","targetId":"nowhere"}\n')
    done = pivcs("new", "-o", tmp_path / "other.jsonl")
    assert (done.code, (tmp_path / "other.jsonl").exists()) == (10, False)
    assert "line 3 of the input: no entry 'nowhere'" in done.complaint


def test_new_session_without_a_message_must_be_asked_for(
    pivcs: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.jsonl"
    feed(monkeypatch, b"\n")
    done = pivcs("new", "-o", path)
    assert (done.code, path.exists()) == (2, False)
    assert "--user TEXT gives one, --empty does without" in done.complaint
    assert pivcs("new", "-o", path, "--empty", "--user", "x").code == 2
    done = pivcs("new", "-o", path, "--empty", "--json")
    assert (done.json["leaf"], done.json["lines"], len(path.read_bytes().splitlines())) == (None, 0, 1)
    assert pivcs("append", path, "--user", "Hello.").code == 0
    assert Session.open(path).entry_count == 1


def test_new_session_never_replaces_a_file(pivcs: Program, tree: Path) -> None:
    assert "it exists" in refused(pivcs("new", "--user", "x", "-o", tree), 20, tree)
    done = pivcs("new", "--user", "x", "--id", "-")
    assert (done.code, "is not a valid session id" in done.complaint) == (10, True)


# append


def test_messages_and_entries_are_appended_in_one_chain(
    pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "provider": "p", "model": "m"}
    time = "2026-01-01T00:00:00.000Z"
    entries = [
        {"role": "user", "content": "Is it?"},
        answer,
        {"type": "custom", "customType": "mine", "id": "99999999", "parentId": A, "timestamp": time},
        {"type": "label", "targetId": "99999999", "label": "later"},
    ]
    feed(monkeypatch, b"\n".join(json.dumps(each).encode() for each in entries) + b"\n\n")
    done = pivcs("append", tree)
    assert done.code == 0
    written = added(tree)
    assert done.lines == [entry["id"] for entry in written]
    assert [entry["parentId"] for entry in written] == [LEAF, done.lines[0], A, "99999999"]
    assert [entry["type"] for entry in written] == ["message", "message", "custom", "label"]
    assert written[2] == entries[2]
    assert list(written[0]) == ["type", "id", "parentId", "timestamp", "message"]
    messages = [entry["message"] for entry in written[:2]]
    assert all(isinstance(each, dict) and isinstance(each["timestamp"], int) for each in messages)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "it is no JSON value"),
        (b'\xef\xbb\xbf{"role":"user","content":"x"}', "it begins with a byte order mark"),
        (b"[1]", "must be a JSON object"),
        (b"{}", "must have a type"),
        (b'{"type":"session","id":"x"}', "a header is no entry"),
        (b'{"type":"message"}', "a message must be an object with a role"),
        (b'{"role":"assistant","content":"text"}', "must be a list"),
        (b'{"role":"user"}', "must be a text or a list"),
        (b'{"role":"branchSummary","summary":"x"}', "is never stored"),
        (b'{"type":"custom","customType":"x","id":"aaaaaaaa"}', "the id 'aaaaaaaa' is taken"),
        (b'{"type":"custom","customType":"x","id":""}', "not empty"),
        (b'{"type":"custom","customType":"x","parentId":"nothing"}', "no entry 'nothing'"),
        (b'{"type":"custom"}', "a text as 'customType'"),
        (b'{"type":"custom","customType":"x","timestamp":"noon"}', "no ISO time"),
        (b'{"type":"label","targetId":"nothing","label":"x"}', "no entry 'nothing'"),
        (b'{"type":"label","targetId":"aaaaaaaa","label":1}', "a label must be a text"),
        (b'{"type":"context_edit","targetId":"aaaaaaaa"}', "must have a replacement"),
        (b'{"type":"model_change","provider":"p"}', "a text as 'modelId'"),
    ],
)
def test_bad_line_is_named_and_nothing_is_written(
    line: bytes, said: str, pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, b'{"role":"user","content":"good"}\n\n' + line + b"\n")
    complaint = refused(pivcs("append", tree), 10, tree)
    assert "line 3 of the input: " in complaint
    assert said in complaint


def test_types_that_pi_does_not_know_are_warned_of(
    pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, b'{"type":"mesage"}\n{"role":"usr","content":"x"}')
    done = pivcs("append", tree)
    assert (done.code, len(added(tree))) == (0, 2)
    assert "line 1: the type 'mesage'" in done.complaint
    assert "line 2: the role 'usr'" in done.complaint


def test_appended_message_stays_and_undo_says_how_to_go_back(pivcs: Program, tree: Path) -> None:
    pivcs("label", tree, "x", B)
    head = Session.open(tree).leaf
    (ident,) = pivcs("append", tree, "--user", "More.").lines
    data = tree.read_bytes()
    done = pivcs("undo")
    assert (done.code, tree.read_bytes() == data) == (20, True)
    assert f"hint: `pivcs switch {head}` goes back to before them" in done.complaint
    logged = pivcs("op", "log", "--kind", "user").lines
    assert logged[1].startswith(f"    appended {ident}  up to ")
    number = logged[2].split()[1]
    assert pivcs("undo", number).code == 0
    assert Session.open(tree).label(B) is None
    assert "is not one that can be undone" in pivcs("undo", number).complaint


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"role":"user","content":"x","n":[1e999]}', "a number is too large; it becomes null"),
        (b'{"role":"user","content":"\xff"}', "it is not UTF-8"),
    ],
)
def test_what_cannot_be_written_as_it_was_given_is_said(
    pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, said: str
) -> None:
    feed(monkeypatch, line)
    done = pivcs("append", tree)
    assert done.code == 0
    assert f"line 1: {said}" in done.complaint


def test_a_message_without_text_and_a_directory_as_output_are_refused(
    pivcs: Program, tree: Path, tmp_path: Path
) -> None:
    assert pivcs("append", tree, "--user", " ").code == 2
    assert pivcs("new", "--user", "", "--cwd", tmp_path).code == 2
    assert tree.read_bytes() == TREE


@pytest.mark.parametrize(
    "command",
    [["checkout", "FILE", C], ["new", "--user", "x"], ["migrate", "FILE"], ["cherry-pick", "FILE", C, "--onto", A]],
)
def test_output_is_the_name_of_a_file(pivcs: Program, tree: Path, tmp_path: Path, command: list[str]) -> None:
    words = [tree if word == "FILE" else word for word in command]
    assert "the name of a file is empty" in refused(pivcs(*words, "-o", ""), 2, tree)
    assert f"'{tmp_path}' is a directory" in refused(pivcs(*words, "-o", tmp_path), 2, tree)


def test_fork_of_a_file_that_is_gone_says_what_can_be_done(pivcs: Program, tree: Path, tmp_path: Path) -> None:
    pivcs("sync", tree)
    tree.unlink()
    for words in (["fork", tree, C], ["fork", tree, "--into", tmp_path]):
        done = pivcs(*words)
        assert done.code == 20
        assert f"'{tree}' is gone\nhint: `pivcs checkout` writes" in done.complaint
    assert pivcs("checkout", tree, C, "-o", tmp_path / "new.jsonl").code == 0
    assert Session.open(tmp_path / "new.jsonl").leaf == C


def test_nothing_on_the_input_appends_nothing(pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"\n")
    done = pivcs("append", tree)
    assert (done.code, done.out, tree.read_bytes()) == (0, b"", TREE)
    assert not pivcs("op", "log", "--kind", "user").lines


# context


def usage(total: int) -> dict[str, object]:
    return {"input": total, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total}


def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(
        header_line()
        + message_line(A, None, content="1234567\x1b[31m")
        + message_line(
            B, A, "assistant", [{"type": "text", "text": "\n".join(map(str, range(20)))}],
            provider="acme", model="big", usage=usage(1000), stopReason="stop",
        )
        + message_line(C, B, content="12345")
        + entry_line("compaction", D, C, summary="It was so.", firstKeptEntryId=C, tokensBefore=9)
    )  # fmt: skip
    return path


def test_context_shows_what_the_model_would_see(pivcs: Program, tmp_path: Path) -> None:
    path = talk(tmp_path)
    lines = pivcs("context", path, C).lines
    assert lines[:3] == [
        "Model:    acme/big, thinking off",
        f"Tokens:   about 1,002: 1,000 by the usage of answer {B}, and 2 estimated after it",
        "Messages: 3",
    ]
    assert lines[4:6] == [f"user  {A}", "    1234567^[[31m"]
    assert "    (+14 lines; --full shows all)" in lines
    assert "    19" in pivcs("context", path, C, "--full").lines
    # After a compaction the usage of an older answer says nothing.
    lines = pivcs("context", path).lines
    assert lines[1] == "Tokens:   about 5, four characters taken for a token"
    assert [line for line in lines if line.startswith(("user", "compactionSummary"))] == [
        f"compactionSummary  {D}", f"user  {C}",
    ]  # fmt: skip


def test_context_document_has_the_messages_of_pi(pivcs: Program, tmp_path: Path) -> None:
    path = talk(tmp_path)
    document = pivcs("context", path, "--json").json
    context = Session.open(path).build_context()
    assert [each["value"] for each in document["messages"]] == list(context.messages)
    assert (document["leaf"], document["llm"]) == (D, False)
    assert document["tokens"] == {"total": 5, "measured": 0, "answer": None}
    as_text = pivcs("context", path, "--json", "--llm").json["messages"]
    assert [each["value"]["role"] for each in as_text] == ["user", "user"]
    assert "<summary>" in as_text[0]["value"]["content"][0]["text"]


def test_context_of_what_pi_does_not_read_is_refused(pivcs: Program, tmp_path: Path) -> None:
    path = tmp_path / "glued.jsonl"
    path.write_bytes(build_session("a") + message_line(B, A)[:30] + message_line(C, A))
    assert "pi does not read" in pivcs("context", path, C).complaint
    assert pivcs("context", path).lines[2] == "Messages: 1"
    path.write_bytes(build_session("a-b") + message_line(A, B, content="again"))
    assert "pi takes the last one" in pivcs("context", path, f"{B}^").complaint
    path.write_bytes(b"junk\n")
    assert (pivcs("context", path).code, pivcs("append", path, "--user", "x").code) == (10, 10)
    path.write_bytes(b"")
    assert pivcs("context", path).lines[2] == "Messages: 0"


def test_context_of_a_deleted_session_and_of_version_1(pivcs: Program, tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    entry = b'{"type":"message","message":{"role":"user","content":"Hi."}}\n'
    path.write_bytes(header_line(version=None) + b"{torn\n" + entry * 3)
    pivcs("sync", path)
    path.unlink()
    assert [each["entry"] for each in pivcs("context", path, "L4", "--json").json["messages"]] == ["L3", "L4"]
    assert len(pivcs("context", path, "--json").json["messages"]) == 3


# delete


@pytest.fixture
def trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty trash of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    import send2trash.plat_other as platform

    monkeypatch.setattr(platform, "HOMETRASH_B", os.fsencode(tmp_path / "trash"))
    monkeypatch.setattr("send2trash.send2trash", platform.send2trash)
    return tmp_path / "trash"


def test_delete_moves_the_file_to_the_trash_and_undo_writes_it_again(
    pivcs: Program, tree: Path, trash: Path
) -> None:
    done = pivcs("delete", tree, "--yes")
    assert (done.code, tree.exists()) == (0, False)
    assert done.lines[0].startswith(f"moved to the trash: {tree} (")
    assert (trash / "files" / "tree.jsonl").read_bytes() == TREE
    assert pivcs(*done.lines[1].split()[1:]).out == TREE
    assert pivcs("op", "log", "--kind", "user").lines[1:] == [f"    deleted {tree}"]
    assert pivcs("undo").code == 0
    assert (tree.read_bytes(), tree.stat().st_mtime) == (TREE, 1_000_000_000)
    done = pivcs("redo")
    assert (done.code, tree.exists(), "`pivcs delete` asks it" in done.complaint) == (20, True, True)
    assert pivcs("undo").code == 20


def test_delete_asks_nobody_without_a_terminal(
    pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, b"y\n")
    assert "--yes deletes it" in refused(pivcs("delete", tree), 20, tree)
    assert refused(pivcs("delete", "--yes"), 2, tree)


def test_delete_asks_on_a_terminal(pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO(b"n\ny\n")))
    done = pivcs("delete", tree, "--permanent")
    assert (done.code, tree.exists()) == (130, True)
    done = pivcs("delete", tree, "--permanent")
    assert (done.code, tree.exists()) == (0, False)
    assert done.lines[0].startswith("deleted for good: ")
    assert pivcs("cat", tree).out == TREE


def test_without_a_trash_the_file_stays(pivcs: Program, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_trash(path: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("send2trash.send2trash", no_trash)
    complaint = refused(pivcs("delete", tree, "--yes"), 20, tree)
    assert f"cannot move '{tree}' to the trash: permission denied" in complaint
    assert "--permanent" in complaint


def test_file_that_the_store_cannot_keep_is_not_deleted(
    pivcs: Program, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("PIVCS_DIR", str(tmp_path / "file" / "store"))
    assert "no store that could keep" in refused(pivcs("delete", tree, "--yes", "--permanent"), 20, tree)


def test_undo_of_delete_replaces_no_other_file(pivcs: Program, tree: Path) -> None:
    assert pivcs("delete", tree, "--yes", "--permanent").code == 0
    tree.write_bytes(b"mine")
    assert pivcs("undo").code == 20
    assert tree.read_bytes() == b"mine"


# several at once


def test_commands_at_once_lose_nothing_and_stay_in_one_chain(tree: Path) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "pivcs", *words], env=child_environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for place in range(4)
        for words in (["label", str(tree), f"label {place}", C], ["append", str(tree), "--user", f"message {place}"])
    ]  # fmt: skip
    failures = []
    for run in runs:
        _, complaint = run.communicate(timeout=120)
        if run.returncode:
            failures.append(complaint.decode())
    # A label that another process has set meanwhile is not overwritten.
    assert all("was changed by another process" in complaint for complaint in failures)
    entries = added(tree)
    assert len(entries) == 8 - len(failures)
    assert [entry["parentId"] for entry in entries] == [LEAF, *(entry["id"] for entry in entries)][:-1]
    assert sum(entry["type"] == "message" for entry in entries) == 4
