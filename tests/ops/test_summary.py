from __future__ import annotations

import json
from pathlib import Path

import pytest

from pivcs.ops.summary import Summary, Tips, advance, decode_summary, summarise
from pivcs.session.fields import LineKind
from tests.builders import build_session, entry_line, header_line, label_line, message_line
from tests.ops.syncing import Box, many_lines, session
from tests.ops.views import view_of
from tests.store.filling import columns

HEAD = header_line(cwd="/w", parentSession="/p.jsonl")


def test_facts_of_a_session() -> None:
    data = HEAD + message_line("aaaaaaaa", None, "user", "  \n", ms=5000)
    data += message_line("bbbbbbbb", "aaaaaaaa", "user", "Fix it.\nPlease.", ms=9000)
    data += entry_line("session_info", "cccccccc", "aaaaaaaa", ms=7000, name=" a name ")
    data += b"{\n\nnull\n" + HEAD + b"pending"
    assert summarise(view_of(data)) == Summary(
        id="019b7715-9000-7000-8000-000000000001",
        timestamp="2026-01-01T00:00:00.000Z",
        cwd="/w",
        parent_session="/p.jsonl",
        name="a name",
        first_prompt=summarise(view_of(data)).first_prompt,
        time=9000,
        entries=3,
        tips=2,
        headers=2,
        damaged=1,
        lines=8,
    )
    assert (summarise(view_of(data)).first_prompt or "").startswith("Fix it.")


def test_facts_of_nothing() -> None:
    assert summarise(view_of(b"")) == summarise(view_of(b"no line")) == Summary()
    assert Summary().encode() == b'{"entries": 0, "tips": 0, "headers": 0, "damaged": 0, "lines": 0}'


def test_facts_are_read_back() -> None:
    facts = summarise(view_of(build_session("a-b, a-c", texts={"a": "é \u2028"})))
    assert decode_summary(facts.encode()) == facts
    assert decode_summary(b"") == decode_summary(b"{}") == Summary()
    assert decode_summary(b'{"entries": 3, "of a newer version": [1]}') == Summary(entries=3)


def test_lone_surrogates_are_kept() -> None:
    line = b'{"type":"message","id":"aaaaaaaa","message":{"role":"user","content":"\\ud83d half"}}\n'
    facts = summarise(view_of(header_line() + line))
    assert decode_summary(facts.encode()) == facts


def test_long_prompt_is_cut() -> None:
    facts = summarise(view_of(header_line() + message_line("aaaaaaaa", None, "user", "word " * 1000)))
    assert facts.first_prompt is not None
    assert len(facts.first_prompt) <= 300


GROWTH = {
    "one more": message_line("eeeeeeee", "cccccccc"),
    "name": entry_line("session_info", "eeeeeeee", "cccccccc", name="new name"),
    "name cleared": entry_line("session_info", "eeeeeeee", "cccccccc", name=""),
    "label": label_line("eeeeeeee", "cccccccc", "aaaaaaaa", "x"),
    "root": message_line("eeeeeeee"),
    "orphan": message_line("eeeeeeee", "99999999"),
    "damaged": b"{\n",
    "blank": b"\n\n",
    "glued": message_line("eeeeeeee", "cccccccc")[:-1] + message_line("ffffffff", "eeeeeeee"),
    "no time": b'{"type":"x","id":"eeeeeeee","parentId":"cccccccc"}\n',
}
WHOLE = {
    "branch": message_line("eeeeeeee", "aaaaaaaa"),
    "doubled": message_line("cccccccc", "bbbbbbbb", "user", "c", ms=1_767_225_603_000),
    "header": header_line("other"),
}


@pytest.mark.parametrize("name", [*GROWTH, *WHOLE])
def test_facts_after_growth_are_those_of_the_whole(tmp_path: Path, name: str) -> None:
    box = Box(tmp_path)
    box.put(build_session("a-b-c"))
    box.append((GROWTH | WHOLE)[name])
    stream = box.sync().stream
    assert stream is not None
    assert decode_summary(stream.summary) == summarise(view_of(box.path.read_bytes()))


# A chain that breaks needs the old rows for its branches.
@pytest.mark.parametrize("name", sorted(set(GROWTH) - {"root", "orphan"}))
def test_ordinary_growth_does_not_need_the_old_rows(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    box = Box(tmp_path)
    box.put(build_session("a-b-c"))
    box.append(GROWTH[name])
    monkeypatch.setattr(type(box.store), "table_of", None)
    assert box.sync().outcome == "appended"


def test_first_prompt_that_comes_later_is_taken(tmp_path: Path) -> None:
    box = Box(tmp_path)
    assert decode_summary(box.put(header_line()).summary).first_prompt is None
    box.append(message_line("aaaaaaaa", None, "user", "first") + message_line("bbbbbbbb", "aaaaaaaa", "user", "second"))
    stream = box.sync().stream
    assert stream is not None
    assert decode_summary(stream.summary).first_prompt == "first"


def test_nothing_new_changes_nothing() -> None:
    facts = summarise(view_of(session(4)))
    empty = view_of(b"")
    assert advance(facts, empty, Tips([], [])) == facts
    assert columns(empty.table)["end"] == 0


def test_counts_add_up_over_many_syncs(tmp_path: Path) -> None:
    box = Box(tmp_path)
    box.write(header_line())
    for number in range(20):
        box.append(many_lines(1, number) + (b"x\n" if number % 3 == 0 else b""))
        stream = box.sync().stream
    assert stream is not None
    facts = decode_summary(stream.summary)
    table = box.store.table_of(stream)
    assert (facts.entries, facts.tips, facts.damaged, facts.lines) == (20, 20, 7, 28)
    assert table.counts()[LineKind.DAMAGED] == 7
    assert json.loads(stream.summary)["entries"] == 20


def test_branch_that_begins_does_not_need_the_old_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = Box(tmp_path)
    box.put(build_session("a-b-c-d"))
    monkeypatch.setattr(type(box.store), "table_of", None)
    box.append(message_line("eeeeeeee", "bbbbbbbb", "user", "another way"))
    stream = box.sync().stream
    assert stream is not None
    assert decode_summary(stream.summary).tips == 2
