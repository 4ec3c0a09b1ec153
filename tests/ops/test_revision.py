"""What can be typed to name an entry."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from pivcs.ops.names import quoted
from pivcs.ops.operations import create_branch, rename_branches, set_tag
from pivcs.ops.revision import (
    AmbiguousRevision,
    InAnotherStream,
    NoEntryThere,
    NoSuchAncestor,
    NoSuchMove,
    UnknownRevision,
    resolve,
    resolve_row,
    resolve_target,
)
from pivcs.ops.revision import (
    name_of as shortest_name,
)
from pivcs.ops.view import SessionView
from tests.builders import build_session, entry_id, header_line, label_line, message_line
from tests.ops.syncing import Box
from tests.ops.trees import TEXTS, views
from tests.ops.views import name_of, view_of

TREE = build_session("a-b-c-d, b-e", labels={"c": "good one", "d": "c~1", "e": "twice", "a": "twice"})


def named(data: bytes, text: str) -> str:
    view = view_of(data)
    return name_of(view, resolve(view, text))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("HEAD", "1abe0003"),
        ("@", "1abe0003"),
        ("HEAD~", "1abe0002"),
        ("@^", "1abe0002"),
        ("HEAD~0", "1abe0003"),
        ("HEAD~4", "eeeeeeee"),
        ("HEAD~5", "bbbbbbbb"),
        ("HEAD~4^", "bbbbbbbb"),
        ("HEAD^^^^~1", "bbbbbbbb"),
        ("dddddddd", "dddddddd"),
        ("entry/dddddddd", "dddddddd"),
        ("dddddddd~3", "aaaaaaaa"),
        ("dddd", "dddddddd"),
        ("ddddddd", "dddddddd"),
        ("good one", "cccccccc"),
        ("label:good one", "cccccccc"),
        ('label:"good one"', "cccccccc"),
        ("good one^", "bbbbbbbb"),
        ('label:"good one"~2', "aaaaaaaa"),
        ("c~1", "dddddddd"),
        ("c~1~1", "cccccccc"),
        ("L2", "aaaaaaaa"),
        ("L5~1", "cccccccc"),
        ("main", "dddddddd"),
        ("heads/main~2", "bbbbbbbb"),
        ("b-eeeeeeee", "eeeeeeee"),
        ('"good one"~1', "bbbbbbbb"),
        ("@{0}", "1abe0003"),
        ("@{4}", "eeeeeeee"),
        ("HEAD@{5}^", "cccccccc"),
        ("main@{0}", "dddddddd"),
        ("main@{1}", "cccccccc"),
        ("heads/main@{3}", "aaaaaaaa"),
        ("main@{1}~1", "bbbbbbbb"),
        ("b-eeeeeeee@{0}", "eeeeeeee"),
        (":/c", "1abe0003"),
        (":/c~1", "1abe0001"),
        (':/"e"~1', "1abe0002"),
        (':/"d"', "1abe0000"),
    ],
)
def test_name_and_what_it_names(text: str, name: str):
    assert named(TREE, text) == name


def test_object_id_and_its_beginning_name_the_node():
    view = view_of(TREE)
    for row in view.table.nodes():
        oid = view.table.object_id(row).hex
        for length in (64, 63, 20, 9):
            assert resolve(view, oid[:length]) == row


def test_head_is_the_last_line():
    assert named(build_session("a-b-c, b-d", leaf="c"), "HEAD") == "cccccccc"


def test_label_comes_before_an_id_that_is_spelled_alike():
    assert named(build_session("a-b", labels={"a": "bbbbbbbb"}), "bbbbbbbb") == "aaaaaaaa"
    assert named(build_session("a-b", labels={"a": "bbbbbbbb"}), "entry/bbbbbbbb") == "bbbbbbbb"


def test_repeated_label_is_ambiguous_and_all_entries_are_named():
    with pytest.raises(AmbiguousRevision, match="'twice' is the label of 2 entries: eeeeeeee, aaaaaaaa") as caught:
        named(TREE, "twice")
    assert len(caught.value.candidates) == 2


def test_beginning_of_several_ids_is_ambiguous():
    data = build_session("abcd1-abcd2-abcd3")
    with pytest.raises(AmbiguousRevision, match="beginning of the id of 3 entries: abcd1000, abcd2000, abcd3000"):
        named(data, "abcd")
    assert named(data, "abcd2") == "abcd2000"


def test_ambiguity_lists_few_of_many():
    data = build_session("-".join(f"abcd{number:04x}" for number in range(30)))
    with pytest.raises(AmbiguousRevision, match=r"of 30 entries: abcd0000, .*, …$"):
        named(data, "abcd")


def test_beginning_of_fewer_than_four_characters_names_nothing():
    with pytest.raises(UnknownRevision):
        named(TREE, "ddd")


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        "",
        "~1",
        "^",
        "ffffffff",
        "L99",
        "L0",
        "entry/",
        "label:none",
        "aaaa\n",
        "HEAD~x",
        "HEAD~" + "9" * 5000,
        "L" + "9" * 5000,
        "none^^^",
        "L2.0",
    ],
    ids=lambda text: ascii(text)[:20],
)
def test_unknown_name(text: str):
    with pytest.raises(UnknownRevision) as caught:
        named(TREE, text)
    assert caught.value.hint
    assert caught.value.exit_code == 10


def test_near_miss_gets_a_suggestion():
    with pytest.raises(UnknownRevision) as caught:
        named(TREE, "goodone")
    assert caught.value.hint == "did you mean 'good one'?"


def test_going_beyond_the_root_says_how_far_it_is():
    with pytest.raises(NoSuchAncestor, match="only 1 entry is above it"):
        named(TREE, "bbbbbbbb~2")
    with pytest.raises(NoSuchAncestor, match="only 0 entries are above it"):
        named(TREE, "aaaaaaaa^")
    with pytest.raises(NoSuchAncestor):
        named(TREE, "bbbbbbbb~" + "9" * 18)


def test_lines_name_what_stands_in_them():
    a, b, c = message_line("aaaaaaaa"), message_line("bbbbbbbb", "aaaaaaaa"), message_line("cccccccc", "bbbbbbbb")
    data = header_line() + b"torn{\n" + a[:-1] + b[:-1] + b"\n\n[1]\n" + c
    view = view_of(data)
    assert [name_of(view, resolve(view, text)) for text in ("L3", "L3.1", "L3.2", "L6")] == [
        "aaaaaaaa",
        "aaaaaaaa",
        "bbbbbbbb",
        "cccccccc",
    ]
    for text, what in (
        ("L1", "the header"),
        ("L2", "a damaged line"),
        ("L4", "a blank line"),
        ("L5", "a foreign line"),
    ):
        with pytest.raises(NoEntryThere, match=f"line {text[1:]} of 'test' is {what}, no entry"):
            resolve(view, text)
        assert view.table.line_number(resolve_row(view, text)) == int(text[1:])
    with pytest.raises(UnknownRevision):
        resolve(view, "L3.3")


def test_entries_of_version_1_are_named_by_their_line():
    data = header_line(version=1) + b'{"type":"message"}\n' * 30
    view = view_of(data)
    assert name_of(view, resolve(view, "L31")) == "L31"
    assert name_of(view, resolve(view, "HEAD~29")) == "L2"
    assert name_of(view, resolve(view, "L31~")) == "L30"


def test_glued_entries_of_version_1_are_named_by_line_and_place():
    data = header_line(version=1) + b'{"type":"message"}{"type":"custom"}\n{"type":"x"}\n'
    view = view_of(data)
    assert [view.table.name(row) for row in view.table.nodes()] == ["L2", "L2.2", "L3"]
    assert name_of(view, resolve(view, "L2.2")) == "L2.2"
    assert name_of(view, resolve(view, "HEAD~2")) == "L2"


def test_every_name_that_a_log_shows_can_be_typed():
    glued = message_line("bbbbbbbb", "aaaaaaaa")[:-1] + message_line("no hex id", "bbbbbbbb")
    for data in (
        TREE,
        build_session("a", extra=[glued]),
        header_line(version=1) + b'{"type":"message"}{"type":"custom"}\n{"type":"x"}\n',
    ):
        view = view_of(data)
        for row in view.table.nodes():
            assert resolve(view, view.table.name(row)) == row


def test_doubled_line_names_the_node_that_is_shown():
    b = message_line("bbbbbbbb", "aaaaaaaa")
    view = view_of(build_session("a", extra=[b, b]))
    assert resolve(view, "L4") == resolve(view, "bbbbbbbb") == resolve(view, "HEAD") == 2


def test_repeated_id_names_its_last_record():
    data = build_session("a", extra=[message_line("bbbbbbbb", "aaaaaaaa", content=text) for text in ("1", "2")])
    assert view_of(data).table.line_number(resolve(view_of(data), "bbbbbbbb")) == 4
    # The first of them again: the id names that node, which stands at its first line.
    again = data + message_line("bbbbbbbb", "aaaaaaaa", content="1")
    assert view_of(again).table.line_number(resolve(view_of(again), "bbbbbbbb")) == 3


def test_cleared_label_names_nothing():
    data = build_session("a", labels={"a": "good"}) + label_line("ffffffff", None, entry_id("a"), None)
    with pytest.raises(UnknownRevision):
        named(data, "good")


def test_session_without_entries_has_no_head():
    with pytest.raises(UnknownRevision) as caught:
        named(header_line(), "HEAD")
    assert caught.value.hint == "the session has no entry yet"


def test_branch_comes_before_tag_label_and_id(tmp_path: Path):
    box = Box(tmp_path)
    names = {"a": "main", "b": "fixed", "c": "dddddddd", "d": "eeeeeeee"}
    box.put(build_session("a-b-c-d", labels=names))
    view = box.reader.open(str(box.path))
    set_tag(view, "main", view.table.object_id(2), force=False, now=1, command="")
    set_tag(view, "fixed", view.table.object_id(3), force=False, now=1, command="")
    create_branch(view, "cccccccc", 1, force=False, now=1, command="")
    view = box.reader.open(str(box.path))
    got = {text: resolve_target(view, text) for text in ("main", "fixed", "dddddddd", "cccccccc", "eeeeeeee", "HEAD")}
    assert {text: view.table.name(target.row) for text, target in got.items()} == {
        "main": "dddddddd", "fixed": "cccccccc", "dddddddd": "cccccccc", "cccccccc": "aaaaaaaa",
        "eeeeeeee": "dddddddd", "HEAD": "1abe0003",
    }  # fmt: skip
    assert got["main"].warnings == (
        "'main' means the branch; it is also the tag of another entry, 'tags/main'",
        "'main' means the branch; it is also the label of another entry, 'label:\"main\"'",
    )
    assert got["fixed"].warnings == (
        "'fixed' means the tag; it is also the label of another entry, 'label:\"fixed\"'",
    )
    assert got["dddddddd"].warnings == (
        "'dddddddd' means the label; it is also the entry id of another entry, 'entry/dddddddd'",
    )
    assert got["cccccccc"].warnings == (
        "'cccccccc' means the branch; it is also the entry id of another entry, 'entry/cccccccc'",
    )
    assert got["eeeeeeee"].warnings == got["HEAD"].warnings == ()
    explicit = ["heads/main", "tags/main", 'label:"main"', "entry/dddddddd"]
    assert [view.table.name(resolve(view, text)) for text in explicit] == [
        "dddddddd", "bbbbbbbb", "aaaaaaaa", "dddddddd"
    ]  # fmt: skip
    assert all(resolve_target(view, text).warnings == () for text in explicit)


@given(views())
def test_printer_and_resolver_are_inverse(view: SessionView):
    for row in view.table.nodes():
        assert resolve(view, shortest_name(view, row)) == row


@given(views())
def test_labels_can_be_typed_in_quotes(view: SessionView):
    texts = list(view.labels.values())
    for row, text in view.labels.items():
        if texts.count(text) == 1:
            assert resolve(view, f"label:{quoted(text)}") == row


def test_label_texts_of_every_kind_can_be_typed():
    texts = [
        *TEXTS, "tab\there", "..", '"', '""', "\\", '\\"', "x" * 300, "\U0001f468\u200d\U0001f469", "a\nb", "|",
        "a & b",
    ]  # fmt: skip
    names = [f"{number:02x}" for number in range(16, 16 + len(texts))]
    view = view_of(build_session("-".join(names), labels=dict(zip(names, texts, strict=True))))
    for name, text in zip(names, texts, strict=True):
        assert named_row(view, f"label:{quoted(text)}") == entry_id(name)
        assert named_row(view, f"label:{quoted(text)}~0") == entry_id(name)


def named_row(view: SessionView, text: str) -> str:
    return view.table.name(resolve(view, text))


def test_shortest_name_is_a_branch_or_what_nothing_else_has():
    view = view_of(build_session("a-b-c-d", labels={"a": "bbbbbbbb", "b": "main"}))
    assert [shortest_name(view, row) for row in (1, 2, 4, 6)] == ["aaaaaaaa", "entry/bbbbbbbb", "main", "1abe0001"]
    again = [message_line("bbbbbbbb", "aaaaaaaa", content=text) for text in ("1", "2")]
    twice = view_of(build_session("a", extra=again))
    assert shortest_name(twice, 3) == "b-bbbbbbbb"
    assert shortest_name(twice, 2) == "main"


def test_repeated_id_is_named_by_its_object_id():
    lines = [message_line("bbbbbbbb", "aaaaaaaa", content=text) for text in ("1", "2")]
    view = view_of(build_session("a", extra=[*lines[:1], message_line("cccccccc", "bbbbbbbb"), *lines[1:]]))
    assert shortest_name(view, 2) == view.table.object_id(2).hex[:12]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@{9}", "goes beyond the first position: there are 9"),
        ("main@{4}", "goes beyond the first position: there are 4"),
        ("cccccccc@{1}", "'cccccccc' has no history"),
        ("main~1@{1}", "a move stands behind an ancestor"),
        ("main@{1}@{1}", "a move stands behind an ancestor"),
    ],
)
def test_move_that_was_not_made(text: str, why: str):
    with pytest.raises(NoSuchMove, match=why):
        named(TREE, text)


@pytest.mark.parametrize("text", ["nowhere@{1}", ":/", ":/nowhere said", ':/"', "\ud800", "x" * 10_001, "^" * 10_000])
def test_clear_error_for_what_names_nothing(text: str):
    with pytest.raises(UnknownRevision) as caught:
        named(TREE, text)
    assert caught.value.hint
    assert len(caught.value.message) < 500


def test_names_of_other_generations_resolve_to_their_stream(tmp_path: Path):
    box = Box(tmp_path)
    box.put(build_session("a-b-c, b-d"))
    view = box.reader.open(str(box.path))
    rename_branches(view, [("b-dddddddd", "mine")], now=1, command="")
    set_tag(view, "old", view.table.object_id(3), force=False, now=1, command="")
    box.put(build_session("a-e"))
    view = box.reader.open(str(box.path))
    named = {"g1/main": "cccccccc", "g1/main~1": "bbbbbbbb", "mine": "dddddddd", "tags/old~2": "aaaaaaaa"}
    for text, name in named.items():
        target = resolve_target(view, text)
        assert target.view is not view
        assert target.view.stream is not None
        assert target.view.stream.generation == 1
        assert target.view.table.name(target.row) == name
        with pytest.raises(InAnotherStream, match="another source or generation"):
            resolve(view, text)
    assert resolve_target(view, "main").view is view
    with pytest.raises(UnknownRevision):
        resolve_target(view, "cccccccc")


def test_names_of_another_source_resolve_to_its_stream(tmp_path: Path):
    box = Box(tmp_path)
    box.put(build_session("a-b-c"), "one.jsonl")
    box.put(build_session("a-b-d"), "two.jsonl")
    view = box.reader.open(str(box.path.with_name("one.jsonl")))
    found = resolve_target(view, "2/main^")
    assert (found.view.where, found.view.table.name(found.row)) == (str(tmp_path / "two.jsonl"), "bbbbbbbb")
