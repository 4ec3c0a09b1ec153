"""What statistics count, and that copies count once."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.migrate import migrate
from pivcs.ops.spent import spent
from pivcs.ops.stats import Asked, Statistics, count_sessions
from pivcs.ops.stats_copies import parents_first
from pivcs.ops.stats_groups import GROUPERS
from pivcs.ops.stats_sums import Sums, joined
from pivcs.ops.view import SessionView, open_file
from pivcs.session.manager import Session
from tests.builders import (
    CLOCK,
    build_session,
    entry_line,
    header_line,
    label_line,
    line,
    message_line,
    tool_call_line,
    tool_result_line,
)
from tests.ops.trees import trees, views
from tests.ops.views import view_of
from tests.session.worlds import make_world

USAGE = {
    "input": 7, "output": 5, "cacheRead": 3, "cacheWrite": 2, "totalTokens": 17,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3},
}  # fmt: skip
DAY = 86_400_000


def stats(*sessions: bytes | SessionView, by: str | None = None, **asked: int) -> Statistics:
    viewed = (view_of(each) if isinstance(each, bytes) else each for each in sessions)
    return count_sessions(viewed, Asked(by, zone=UTC, **asked))


def groups(found: Statistics, field: str) -> dict[str | None, object]:
    return {group.key.name: getattr(group.counts.total, field) for group in found.groups}


def everything() -> bytes:
    """A session of every kind of entry that has usage, with an attempt that was given up."""
    result = {"role": "toolResult", "toolCallId": "call_00000002", "toolName": "agent", "content": [], "usage": USAGE}
    return header_line() + b"".join(
        [
            message_line("00000001", None, "user", "x", ms=CLOCK + 1000),
            tool_call_line("00000002", "00000001", "agent", {}, ms=CLOCK + 3000),
            entry_line("message", "00000003", "00000002", ms=CLOCK + 4000, message=result | {"durationMs": 250}),
            message_line("00000004", "00000003", "assistant", "x", ms=CLOCK + 6500, usage=USAGE, durationMs=1500),
            message_line("00000010", "00000003", "assistant", "x", ms=CLOCK + 9000, stopReason="error", usage=USAGE),
            entry_line("usage", "00000005", "00000004", ms=CLOCK + 9500, provider="a", model="warm", usage=USAGE),
            entry_line("compaction", "00000006", "00000005", ms=CLOCK + 9600, summary="", usage=USAGE),
            entry_line("branch_summary", "00000007", "00000006", ms=CLOCK + 9700, summary="", usage=USAGE),
            tool_result_line("00000008", "00000007", "bash", is_error=True, ms=CLOCK + 9900),
        ]
    )


def test_everything_with_usage_counts():
    found = stats(everything())
    total = found.counts.total
    assert total[:6] == (9, 1, 3, 2, 1, 2)
    assert (total.input, total.output, total.cache_read, total.cache_write) == (6 * 7 + 10, 6 * 5 + 5, 18, 12)
    assert total.tokens == 52 + 35 + 18 + 12
    assert total.cost == pytest.approx(1.8)
    assert (total.began, total.ended, total.unreadable) == (CLOCK + 1000, CLOCK + 9900, 0)
    assert (found.sessions, found.copies) == (1, 0)


def test_time_of_answers_is_what_they_say_else_that_since_the_entry_above():
    assert stats(everything()).counts.total.time == 2000 + 1500 + 5000
    backwards = header_line() + message_line("00000001", None, "user", "x", ms=CLOCK + 1000)
    answer = message_line("00000002", "00000001", "assistant", "x", ms=CLOCK)
    assert stats(backwards + answer).counts.total.time == 0
    assert stats(backwards + answer.replace(b'"timestamp":"', b'"timestamp":"x')).counts.total.time == 0
    for said in ("-5", "1e300", '"7"'):
        odd = answer.replace(b'"stopReason"', f'"durationMs":{said},"stopReason"'.encode())
        assert stats(backwards + odd).counts.total.time == 0


def test_abandoned_is_what_head_does_not_contain():
    found = stats(everything())
    assert found.counts.abandoned.entries == 1
    assert found.counts.abandoned.errors == 1
    assert found.counts.abandoned.cost == pytest.approx(0.3)
    assert found.counts.abandoned.time == 5000


def test_groups_of_models_are_those_of_pi():
    found = stats(everything(), by="model")
    assert groups(found, "entries") == {"anthropic/claude-sonnet-4-5": 3, "a/warm": 1, None: 5}
    routed = message_line("00000001", None, "assistant", "x", responseModel="other", provider="p")
    assert list(groups(stats(header_line() + routed, by="model"), "cost")) == ["p/other"]


def test_groups_of_tools_have_calls_results_errors_and_run_time():
    found = stats(everything(), by="tool")
    assert groups(found, "tool_calls") == {"agent": 1, "bash": 0}
    assert groups(found, "entries") == {"agent": 1, "bash": 1}
    assert groups(found, "answers") == {"agent": 0, "bash": 0}
    assert groups(found, "errors") == {"agent": 0, "bash": 1}
    assert groups(found, "time") == {"agent": 250, "bash": 200}
    assert groups(found, "input") == {"agent": 7, "bash": 0}


def test_groups_of_days_are_in_order_and_depend_on_the_zone():
    lines = [message_line(f"0000000{n}", None, ms=CLOCK + (3 - n) * DAY) for n in range(3)]
    timeless = message_line("00000009").replace(b'"timestamp":"', b'"timestamp":"x')
    found = stats(header_line() + b"".join([*lines, timeless]), by="day")
    assert [group.key.name for group in found.groups] == ["2026-01-02", "2026-01-03", "2026-01-04", None]


def test_groups_of_branches_and_projects():
    data = build_session("a-b-c, b-d")
    assert groups(stats(data, by="branch"), "entries") == {"b-dddddddd": 3, "main": 1}
    assert groups(stats(data, by="project"), "entries") == {"/home/dev/project": 4}
    assert groups(stats(build_session("a", header=b""), by="project"), "entries") == {None: 1}


def test_since_and_until_take_entries_by_their_time():
    data = build_session("a-b-c-d")  # one a second, from CLOCK + 1000
    assert stats(data, since=CLOCK + 2000).counts.total.entries == 3
    assert stats(data, until=CLOCK + 2000).counts.total.entries == 1
    assert stats(data, since=CLOCK + 2000, until=CLOCK + 4000).counts.total.entries == 2
    timeless = message_line("00000009").replace(b'"timestamp":"', b'"timestamp":"x')
    assert stats(data + timeless).counts.total.entries == 5
    assert stats(data + timeless, since=0).counts.total.entries == 4


SHARED = build_session("a-b-c-d-e-f-a1-b1-c1-d1", header=header_line("parent"))


def test_ten_entries_of_a_fork_count_once():
    fork = header_line("fork", parentSession="/parent.jsonl") + SHARED.split(b"\n", 1)[1]
    fork += message_line("0f000000", "d1000000", "assistant", "more", usage=USAGE)
    alone = stats(SHARED).counts.total
    found = stats(SHARED, fork)
    assert (found.sessions, found.copies) == (2, 10)
    assert found.counts.total.entries == 11
    assert found.counts.total.tokens == alone.tokens + 17
    by_session = stats(SHARED, fork, by="session")
    assert by_session.counts == found.counts
    view = view_of(fork)
    view.where = "fork"
    each = stats(SHARED, view, by="session")
    assert sorted((group.counts.total.entries, group.copies) for group in each.groups) == [(10, 0), (11, 10)]


def test_relatives_behind_a_dropped_label_count_once():
    parent = header_line("parent") + b"".join(
        [
            message_line("00000001"),
            label_line("00000002", "00000001", "00000001", "here"),
            message_line("00000003", "00000002", "assistant", "x", usage=USAGE),
        ]
    )
    fork = header_line("fork") + message_line("00000001")
    fork += message_line("00000003", "00000001", "assistant", "x", usage=USAGE)
    found = stats(parent, fork)
    assert view_of(parent).table.digest(3) != view_of(fork).table.digest(2)
    assert (found.copies, found.counts.total.entries, found.counts.total.tokens) == (2, 3, 17)


def test_same_id_at_another_time_is_another_entry():
    first, second = (header_line(name) + message_line("00000001", ms=CLOCK + n) for n, name in enumerate("ab"))
    assert stats(first, second).copies == 0
    timeless = message_line("00000001").replace(b'"timestamp":"', b'"timestamp":"x')
    other = timeless.replace(b'"text"', b'"text" ')
    assert stats(header_line("a") + timeless, header_line("b") + other).copies == 0
    assert stats(header_line("a") + timeless, header_line("b") + timeless).copies == 1


def version_1(path: Path) -> Path:
    entries = [{"type": "message", "timestamp": f"2026-01-01T00:00:0{n}.000Z", "message": {"role": role, "content": []}}
               for n, role in enumerate(("user", "assistant", "hookMessage"))]  # fmt: skip
    path.write_bytes(header_line("old", version=None) + b"".join(map(line, entries)))
    return path


def migrated(old: Path, new: Path) -> Path:
    with open_file(old) as view:
        migrate(view, new, world=make_world())
    assert b'"version":3' in new.read_bytes()
    return new


def test_migrated_copy_of_version_1_counts_once(tmp_path: Path):
    old = version_1(tmp_path / "z.jsonl")
    new = migrated(old, tmp_path / "a.jsonl")
    ordered = list(parents_first([new, old]))
    assert ordered == [old, new]
    found = count_sessions(map(open_file, ordered), Asked())
    assert (found.sessions, found.copies, found.counts.total.entries) == (2, 3, 3)


def test_fork_of_a_migrated_copy_counts_once(tmp_path: Path):
    old = version_1(tmp_path / "old.jsonl")
    new = migrated(old, tmp_path / "new.jsonl")
    fork = tmp_path / "fork.jsonl"
    more = message_line("0f000000", None, "assistant", "more", usage=USAGE)
    fork.write_bytes(header_line("fork", ms=CLOCK + DAY) + new.read_bytes().split(b"\n", 1)[1] + more)
    for files in ([old, new, fork], [new, fork]):
        found = count_sessions(map(open_file, parents_first(files)), Asked())
        assert found.counts.total.entries == 4
        assert found.copies == 3 * (len(files) - 1)


def test_forks_come_after_what_they_were_made_from(tmp_path: Path):
    for name, ms in (("c", 5), ("a", 9), ("b", 1)):
        (tmp_path / name).write_bytes(header_line(name, ms=CLOCK + ms))
    (tmp_path / "0").write_bytes(b"no header\n")
    assert [path.name for path in parents_first(sorted(tmp_path.iterdir()))] == ["b", "c", "a", "0"]


@pytest.mark.parametrize(
    ("odd", "unreadable"),
    [
        ('"0.3"', 1), ("null", 1), ("NaN", 1), ("1e999", 1), ("9" * 400, 1), ("[]", 1), ("true", 1), ("-0.3", 0),
    ],
)  # fmt: skip
def test_costs_that_are_no_numbers_count_as_nothing(odd: str, unreadable: int):
    answer = message_line("00000001", None, "assistant", "x", usage=USAGE)
    total = stats(header_line() + answer.replace(b'"total":0.3', f'"total":{odd}'.encode())).counts.total
    if odd == "NaN":  # no JSON at all
        assert total.entries == 0
        return
    assert (total.entries, total.input, total.unreadable) == (1, 7, unreadable)
    assert total.cost == (-0.3 if odd == "-0.3" else 0)


@pytest.mark.parametrize(("usage", "unreadable"), [(None, 0), ({}, 0), ("many", 1), (5, 1), ([1], 1), ({"cost": 3}, 1)])
def test_usage_that_is_missing_or_no_usage_counts_as_nothing(usage: object, unreadable: int):
    total = stats(header_line() + message_line("00000001", None, "assistant", "x", usage=usage)).counts.total
    assert (total.entries, total.answers, total.tokens, total.cost, total.unreadable) == (1, 1, 0, 0, unreadable)


def test_usage_key_spelled_with_escapes_is_found():
    result = tool_result_line("00000001", None, "bash")
    spelled = result.replace(b'"isError"', b'"\\u0075sage":' + line(USAGE).strip() + b',"isError"')
    assert stats(header_line() + spelled).counts.total.tokens == 17


def test_results_without_usage_are_not_parsed(monkeypatch: pytest.MonkeyPatch):
    parsed: list[bytes] = []
    from pivcs.ops import stats_read

    real = stats_read.parse_json

    def noted(record: bytes) -> object:
        parsed.append(record)
        return real(record)

    monkeypatch.setattr(stats_read, "parse_json", noted)
    view = view_of(build_session("a-b-c-d", kinds={"b": "tool", "c": "result"}))
    stats(view)
    assert [b'"role":"assistant"' in record for record in parsed] == [True, True]


def test_a_file_that_changes_while_it_is_read_is_read_from_the_store(tmp_path: Path):
    from pivcs.ops import stats_read
    from pivcs.ops.access import view_of as stored
    from pivcs.ops.sync import sync_file
    from pivcs.store.store import Store

    path = tmp_path / "s.jsonl"
    padding = [message_line(f"{n:08x}", None, "assistant", "x" * 1000) for n in range(600)]
    path.write_bytes(header_line() + b"".join(padding))
    with Store.open(tmp_path / "store", create=True) as store:
        stream = sync_file(store, path, CLOCK).stream
        assert stream is not None
        with stored(store, stream) as view:
            reading = stats_read.iter_read(view, list(view.table.nodes()))
            _, first = next(reading)
            path.write_bytes(b"z" * 900_000)
            rest = [entry for _, entry in reading]
    assert first is not None
    assert len(rest) == 599
    assert all(entry is not None and entry.message is not None for entry in rest)


@given(views(), st.sampled_from(["branch", "day", "model", "project", "session"]))
def test_groups_add_up_to_what_all_entries_come_to(view: SessionView, by: str):
    found = stats(view, by=by)
    both = Sums()
    for group in found.groups:
        both = joined(both, group.counts.total)
    assert both._replace(cost=0.0) == found.counts.total._replace(cost=0.0)
    assert both.cost == pytest.approx(found.counts.total.cost)
    assert both.entries == view.node_count()
    alone = spent(view, view.table.nodes())
    assert (both.answers, both.input, both.output, both.began, both.ended) == (
        alone.answers, alone.input, alone.output, alone.began, alone.ended,
    )  # fmt: skip


@given(trees())
def test_calls_of_tools_add_up(data: bytes):
    found = stats(data, by="tool")
    assert sum(group.counts.total.tool_calls for group in found.groups) == found.counts.total.tool_calls


@given(st.lists(trees(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_a_session_and_its_copies_come_to_the_session(sessions: list[bytes], random: Random):
    once = stats(*sessions)
    copies = [*sessions, *sessions]
    random.shuffle(copies)
    twice = stats(*sessions, *copies)
    assert twice.counts.total == once.counts.total


@given(trees(), st.randoms(use_true_random=False))
def test_forks_as_pi_makes_them_cost_nothing_more(data: bytes, random: Random):
    with TemporaryDirectory() as name:
        file = Path(name) / "session.jsonl"
        file.write_bytes(data)
        files = [file]
        with open_file(file) as view:
            rows = [row for row in view.table.nodes() if view.table.row_named(view.table.name(row)) == row]
            for number in range(min(3, len(rows))):
                at = view.table.name(random.choice(rows))
                world = make_world(clock=CLOCK + DAY * (number + 1), seed=1000 * number, home=name)
                session = Session.fork(str(file), at, position="at", world=world)
                if session.is_saved and session.file is not None:
                    assert session.file.is_relative_to(name)
                    files.append(session.file)
        alone = stats(data).counts.total
        found = count_sessions(map(open_file, parents_first(files)), Asked())
        both = found.counts.total
        same = ("prompts", "answers", "turns", "tool_calls", "errors", "tokens", "cost")
        assert [getattr(both, key) for key in same] == [getattr(alone, key) for key in same]


@given(views())
def test_abandoned_is_a_part(view: SessionView):
    total, abandoned = stats(view).counts
    kept = {"entries", "prompts", "answers", "turns", "tool_calls", "errors", "time"}
    assert all(0 <= getattr(abandoned, name) <= getattr(total, name) for name in kept)


def test_there_are_the_groups_that_are_promised():
    assert list(GROUPERS) == ["session", "branch", "project", "day", "model", "tool"]
