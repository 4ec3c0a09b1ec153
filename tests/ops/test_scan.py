"""Looking through sessions for secrets: strings as they are once escapes are resolved, each byte once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pivcs.ops import records, scan_text
from pivcs.ops import scan as scanning
from pivcs.ops.access import view_of as stored_view
from pivcs.ops.scan import Finding, SessionScan, bytes_left, scan_session, scan_stream
from pivcs.store.records import Stream
from pivcs.store.store import Store
from tests.builders import bash_line, build_session, entry_line, header_line, line, message_line, tool_call_line
from tests.ops.made_secrets import ANTHROPIC, AWS, GITHUB, KEY_BLOCK, PASSWORD, some
from tests.ops.syncing import Box
from tests.ops.views import view_of

HEX = "0123456789abcdef"


@pytest.fixture
def box(tmp_path: Path):
    box = Box(tmp_path)
    yield box
    box.store.close()


def found_in(data: bytes) -> tuple[Finding, ...]:
    with view_of(data) as view:
        return scan_stream(view).findings


def places(data: bytes) -> list[tuple[str, str, str, int]]:
    return [(each.entry, each.rule, each.place, each.line) for each in found_in(data)]


def scanned(store: Store, stream: Stream) -> SessionScan:
    with stored_view(store, stream) as view:
        return scan_stream(view)


# Row 92: what is looked through is text, not JSON.


@pytest.mark.parametrize("behind", ['"', "\n", "\\", "\t", '"\n', "\\n", '\\"', "/", "\u0000"])
@pytest.mark.parametrize("before", ['"', "\n", "\t", "\\n", " "])
def test_secret_beside_an_escape_is_found_whole(before: str, behind: str):
    data = header_line() + message_line("aaaaaaaa", None, "user", f"see {before}{GITHUB}{behind} there")
    (finding,) = found_in(data)
    assert finding.fingerprint == found_in(message_line("aaaaaaaa", None, "user", GITHUB))[0].fingerprint
    assert finding.line == 1 + before.count("\n")


@pytest.mark.parametrize("secret", [ANTHROPIC, GITHUB, AWS])
def test_secret_that_is_spelled_with_escapes_is_found_as_what_it_is(secret: str):
    plain = message_line("aaaaaaaa", None, "user", f"{secret} ")
    spelled = "".join(f"\\u{ord(each):04x}" for each in secret).encode()
    escaped = plain.replace(secret.encode(), spelled)
    assert secret.encode() not in escaped
    assert found_in(escaped) == found_in(plain) != ()
    hidden = plain.replace(secret.encode(), secret.replace("-", "\\u002d").replace("_", "\\u005F").encode())
    assert found_in(hidden) == found_in(plain)


def test_ids_of_commits_and_uuids_are_no_secrets():
    commit = "3fa4c1d" + "0b9e87" * 5 + "a12"
    uuid = "123e4567-e89b-12d3-a456-426614174000"
    texts = [commit, uuid, f"commit {commit}\ntoken {uuid}", f"secret={commit}", f'{{"token": "{uuid}"}}']
    lines = [message_line(f"0000000{at}", None, "user", text) for at, text in enumerate(texts)]
    data = b"".join([header_line(uuid), *lines])
    data += entry_line("custom", "00000009", None, customType="x", data={"token": commit, "secret": uuid, commit: uuid})
    assert found_in(data) == ()


def test_signatures_images_and_object_ids_are_no_secrets():
    blocks = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": some(600, scan_letters())},
        {"type": "image", "data": some(40_000, scan_letters()), "mimeType": "image/png"},
        {"type": "toolCall", "id": "toolu_" + some(24), "name": "x", "arguments": {"oid": some(64, HEX)}},
    ]
    assert found_in(message_line("aaaaaaaa", None, "assistant", blocks, responseId="msg_" + some(24))) == ()


def scan_letters() -> str:
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


# Everything that leaves


def test_every_string_of_an_entry_is_looked_through_and_its_place_told():
    data = header_line(cwd=f"/home/{GITHUB}/x")
    data += tool_call_line("aaaaaaaa", None, "bash", {"env": {"apiKey": some(20)}, "list": ["x", [{"a b": GITHUB}]]})
    data += bash_line("bbbbbbbb", "aaaaaaaa", "ls", f"one\ntwo {GITHUB}")
    data += entry_line("custom", "cccccccc", "bbbbbbbb", customType="x", data={GITHUB: {"in": ANTHROPIC}})
    data += entry_line("label", "dddddddd", "cccccccc", targetId="aaaaaaaa", label=GITHUB)
    data += line([GITHUB])
    masked = "ghp_… (40)"
    assert sorted(places(data)) == sorted([
        ("L1", "github-token", "cwd", 1),
        ("aaaaaaaa", "assigned-secret", "message.content[0].arguments.env.apiKey", 1),
        ("aaaaaaaa", "github-token", 'message.content[0].arguments.list[1][0]["a b"]', 1),
        ("bbbbbbbb", "github-token", "message.output", 2),
        ("cccccccc", "github-token", f'data["{masked}"] (key)', 1),
        ("cccccccc", "anthropic-key", f'data["{masked}"].in', 1),
        ("dddddddd", "github-token", "label", 1),
        ("L6", "github-token", "[0]", 1),
    ])  # fmt: skip


def test_no_finding_has_the_secret_in_it():
    value = {GITHUB: {GITHUB: [KEY_BLOCK, PASSWORD]}}
    data = header_line() + entry_line("custom", "cccccccc", None, customType="x", data=value)
    data += message_line("aaaaaaaa", None, "user", f'password = "{PASSWORD}"')
    findings = found_in(data)
    assert len(findings) == 4
    shown = json.dumps(findings)
    assert not any(secret in shown for secret in (GITHUB, PASSWORD, KEY_BLOCK[:60], GITHUB[4:12]))


def test_id_that_is_a_secret_is_not_shown():
    other = GITHUB[:-1] + ("a" if GITHUB[-1] != "a" else "b")
    data = header_line() + message_line(GITHUB, None, "user", ANTHROPIC)
    data += message_line(other, GITHUB, "user", ANTHROPIC)
    findings = found_in(data)
    assert {each.entry for each in findings} == {"ghp_… (40)"}
    assert sorted((each.row, each.place) for each in findings) == [
        (1, "id"), (1, "message.content[0].text"),
        (2, "id"), (2, "message.content[0].text"), (2, "parentId"),
    ]  # fmt: skip
    assert not any(secret in json.dumps(findings) for secret in (GITHUB, other))
    with view_of(data) as view:  # entries stay apart whose ids are shown alike
        assert scan_session(view).findings == findings


def test_lines_that_are_no_entries_are_looked_through_as_text():
    whole = message_line("aaaaaaaa", None, "user", f"x {GITHUB}")
    torn = message_line("bbbbbbbb", None, "user", "y " + ANTHROPIC.replace("-", "\\u002d"))
    data = header_line() + whole[:-9] + b"\n" + whole[:-9] + whole + b"not json " + AWS.encode() + b"\xff\n"
    data += torn.replace(b"\\\\u", b"\\u")[:-9] + b"\n"
    found = {(each.entry, each.rule) for each in found_in(data)}
    assert found == {
        ("L2", "github-token"), ("L3", "github-token"), ("aaaaaaaa", "github-token"),
        ("L4", "aws-key"), ("L5", "anthropic-key"),
    }  # fmt: skip


def test_unfinished_last_line_is_looked_through():
    pending = message_line("bbbbbbbb", "aaaaaaaa", "user", GITHUB).rstrip(b"\n")
    (finding,) = found_in(build_session("a") + pending)
    assert (finding.entry, finding.row, finding.rule) == ("", None, "github-token")
    (finding,) = found_in(build_session("a") + pending[:-4])
    assert finding.rule == "github-token"


def test_line_that_is_too_long_to_be_parsed_is_looked_through_in_pieces(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(records, "SHOWN_WHOLE", 1 << 20)
    filler = "word " * 210_000
    data = header_line() + message_line("aaaaaaaa", None, "user", f"{filler}{GITHUB} {filler}{ANTHROPIC}")
    for cut in (0, 2, 33):  # so that a piece may end inside of a secret
        moved = data.replace(b"word word", b"word" + b" " * cut + b"word", 1)
        assert [each.rule for each in found_in(moved)] == ["github-token", "anthropic-key"]


def test_deeply_nested_value_is_looked_through():
    nested = "[" * 100_000 + json.dumps(GITHUB) + "]" * 100_000
    data = b'{"type":"custom","customType":"x","data":' + nested.encode() + b',"id":"aaaaaaaa","parentId":null}\n'
    (finding,) = found_in(header_line() + data)
    assert finding.rule == "github-token"
    assert finding.place.startswith("data[0][0]")


# Only what is new is read


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all records that were looked at."""
    lengths: list[int] = []
    real: Callable[..., None] = scanning._add_line

    def counted(batch: object, record: bytes) -> None:
        lengths.append(len(record))
        real(batch, record)

    monkeypatch.setattr(scanning, "_add_line", counted)
    return lengths


def test_only_new_lines_are_read(box: Box, reads: list[int]):
    first = header_line() + message_line("aaaaaaaa", None, "user", GITHUB) + message_line("bbbbbbbb", "aaaaaaaa")
    more = message_line("cccccccc", "bbbbbbbb", "user", ANTHROPIC)
    box.write(first)
    scan = scanned(box.store, box.sync().stream)
    assert (scan.read, scan.size, sum(reads)) == (len(first), len(first), len(first) - 3)
    reads.clear()
    again = scanned(box.store, box.sync().stream)
    assert (again.read, reads, again.findings) == (0, [], scan.findings)
    box.append(more)
    with stored_view(box.store, box.sync().stream) as view:
        assert bytes_left(view) == len(more)
        grown = scan_stream(view)
        assert bytes_left(view) == 0
    assert (grown.read, reads) == (len(more), [len(more) - 1])
    assert grown.findings[:-1] == scan.findings
    assert (grown.findings[-1].entry, grown.findings[-1].row) == ("cccccccc", 3)
    with view_of(first + more) as fresh:
        assert scan_stream(fresh).findings == grown.findings


def test_other_rules_look_through_everything_again(box: Box, reads: list[int], monkeypatch: pytest.MonkeyPatch):
    box.write(build_session("a-b"))
    stream = box.sync().stream
    scanned(box.store, stream)
    reads.clear()
    monkeypatch.setattr(scan_text, "RULES_VERSION", scan_text.RULES_VERSION + 1)
    assert scanned(box.store, stream).read == stream.size
    assert len(reads) == 3


def test_what_was_found_is_not_kept_of_a_stream_that_has_changed(box: Box, monkeypatch: pytest.MonkeyPatch):
    box.write(header_line() + message_line("aaaaaaaa", None, "user", GITHUB))
    with stored_view(box.store, box.sync().stream) as view:
        box.append(message_line("bbbbbbbb", "aaaaaaaa"))
        box.sync()
        assert len(scan_stream(view).findings) == 1
        assert view.stream is not None
        assert box.store.scans.scanned(view.stream.id) is None


def test_other_generations_and_sources_count(box: Box):
    box.write(header_line() + message_line("aaaaaaaa", None, "user", GITHUB))
    box.sync()
    clean = header_line() + message_line("cccccccc", None, "user", "clean")
    box.write(clean)
    stream = box.sync().stream
    box.sync(box.write(clean + message_line("dddddddd", "cccccccc", content=AWS), "copy.jsonl"))
    assert stream is not None
    with stored_view(box.store, stream) as view:
        scan = scan_session(view)
        assert {(each.entry, each.rule, each.row) for each in scan.findings} == {
            ("aaaaaaaa", "github-token", None), ("dddddddd", "aws-key", None),
        }  # fmt: skip
        assert scan_session(view).read == 0


def test_what_copies_have_in_common_is_found_once(box: Box):
    data = header_line() + message_line("aaaaaaaa", None, "user", GITHUB)
    box.sync(box.write(data, "copy.jsonl"))
    box.write(data + message_line("bbbbbbbb", "aaaaaaaa"))
    with stored_view(box.store, box.sync().stream) as view:
        (finding,) = scan_session(view).findings
    assert finding.row == 1


def test_line_that_was_written_twice_is_found_once():
    once = message_line("aaaaaaaa", None, "user", GITHUB)
    assert len(found_in(header_line() + once + once)) == 1


def test_nothing_is_kept_where_nothing_can_be_written(tmp_path: Path):
    file, path = tmp_path / "s.jsonl", tmp_path / "store.db"
    file.write_bytes(header_line() + message_line("aaaaaaaa", None, "user", GITHUB))
    box = Box(tmp_path, Store.open(path, create=True))
    stream = box.sync(file).stream
    box.store.close()
    with Store.open(path, read_only=True) as store:
        assert len(scanned(store, stream).findings) == 1
        assert store.scans.scanned(stream.id) is None


def test_progress_comes_to_the_bytes_of_all_lines():
    data = build_session("a-b-c")
    done: list[int] = []
    with view_of(data) as view:
        scan_stream(view, done.append)
    assert sum(done) == len(data) - 4


def test_replaced_and_removed_streams_leave_nothing(box: Box):
    box.write(header_line() + message_line("aaaaaaaa", None, "user", GITHUB))
    stream = box.sync().stream
    scanned(box.store, stream)
    assert box.store.scans.scanned(stream.id) is not None
    with box.store.writing():
        box.store.remove_stream(stream.id)
    assert box.store.database.connection.execute("SELECT count(*) FROM scan").fetchone() == (0,)


def test_findings_of_a_view_without_a_store_are_the_same(box: Box):
    data = header_line() + message_line("aaaaaaaa", None, "user", GITHUB) + b"{" + AWS.encode()
    box.write(data)
    stored = scanned(box.store, box.sync().stream).findings
    assert stored == found_in(data)
    assert isinstance(stored[0], Finding)
    assert len(stored) == 2


