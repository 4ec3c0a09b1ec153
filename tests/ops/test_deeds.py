"""What was done, and how it ended."""

from __future__ import annotations

from pivcs.ops.deeds import Deed, deeds
from tests.builders import bash_line, build_session, header_line, message_line, tool_call_line, tool_result_line
from tests.ops.views import view_of


def done(*lines: bytes) -> list[tuple[str, str, int]]:
    view = view_of(header_line() + b"".join(lines))
    return [(deed.what, deed.outcome, deed.times) for deed in deeds(view, view.table.nodes())]


def test_results_tell_how_calls_ended():
    assert done(
        tool_call_line("00000001", None, "edit", {"path": "shop/price.py"}),
        tool_result_line("00000002", "00000001", "edit", "done"),
        tool_call_line("00000003", "00000002", "bash", {"command": "pytest -q\nls"}),
        tool_result_line("00000004", "00000003", "bash", "E\n\nCommand exited with code 2", is_error=True),
        tool_call_line("00000005", "00000004", "read", {"path": "/home/dev/project/a.py"}),
        tool_result_line("00000006", "00000005", "read", "no such file", is_error=True),
    ) == [("edit shop/price.py", "ok", 1), ("bash pytest -q", "exit 2", 1), ("read a.py", "failed", 1)]


def test_same_deeds_with_the_same_outcome_are_counted():
    lines, above = list[bytes](), None
    for number, is_error in enumerate([False, True, False]):
        call, result = f"{number:08x}", f"a{number:07x}"
        lines.append(tool_call_line(call, above, "bash", {"command": "ls"}))
        lines.append(tool_result_line(result, call, "bash", "x", is_error=is_error))
        above = result
    assert done(*lines) == [("bash ls", "ok", 2), ("bash ls", "failed", 1)]


def test_files_of_one_name_in_two_places_are_two_deeds():
    calls = [{"type": "toolCall", "id": str(place), "name": "read", "arguments": {"path": path}}
             for place, path in enumerate(["a/x.py", "b/x.py"])]  # fmt: skip
    assert done(
        message_line("00000001", None, "assistant", calls, stopReason="toolUse"),
        tool_result_line("00000002", "00000001", "read", call_id="0"),
        tool_result_line("00000003", "00000002", "read", call_id="1"),
    ) == [("read a/x.py", "ok", 1), ("read b/x.py", "ok", 1)]


def test_call_without_result_is_told():
    assert done(tool_call_line("00000001", None, "write", {"path": "x"})) == [("write x", "no result", 1)]


def test_commands_of_the_user_have_their_exit_codes():
    assert done(
        bash_line("00000001", None, "make"), bash_line("00000002", "00000001", "make test", exit_code=2)
    ) == [("$ make", "ok", 1), ("$ make test", "exit 2", 1)]
    odd = bash_line("00000001", None, "make").replace(b'"exitCode":0', b'"exitCode":' + b"9" * 5000)
    assert done(odd) == [("$ make", "failed", 1)]


def test_result_that_no_call_is_known_of_has_the_tools_name():
    assert done(tool_result_line("00000001", None, "bash", "x", call_id="z")) == [("bash", "ok", 1)]


def test_deed_knows_where_it_was_done_first():
    view = view_of(build_session("a-b-c", kinds={"b": "tool", "c": "result"}))
    assert deeds(view, [1, 2, 3]) == (Deed("bash b", "bash", "ok", 1, 2),)
    assert not Deed("x", "x", "no result", 1, 0).failed
    assert Deed("x", "x", "exit 1", 1, 0).failed
