"""What was done along a path: tools and shell commands with their outcomes, folded with counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from pivcs.ops.view import SessionView
from pivcs.session.blocks import ToolCall
from pivcs.session.codes import ASSISTANT, ROLES, TOOL_RESULT
from pivcs.session.describe import call_subject, exit_code, first_line
from pivcs.session.entries import Message

_PATHS: Final = ("path", "file_path", "filePath")
_SHELL: Final = ROLES["bashExecution"]


class Deed(NamedTuple):
    """Something that was done, maybe more than once with the same outcome.

    `what` is one raw line (`edit shop/price.py`, `bash pytest -q`, `$ ls` for a command of the user's own); `outcome`
    is `ok`, `exit 1`, `failed`, `cancelled`, or `no result` for a call that nothing answers. `row` is the first entry
    that did it.
    """

    what: str
    tool: str
    outcome: str
    times: int
    row: int

    @property
    def failed(self) -> bool:
        """Whether it went wrong."""
        return self.outcome not in ("ok", "no result")


class Deeds:
    """Collects what was done from entries in the order of a path."""

    def __init__(self, cwd: str | None) -> None:
        self._inside = f"{cwd.rstrip('/')}/" if cwd else None
        self._done: dict[tuple[str, str, str], tuple[int, int]] = {}
        self._open: dict[str, tuple[str, str, int]] = {}

    def add(self, row: int, code: int, message: Message | None) -> None:
        """Add the entry of a row."""
        if message is None:
            return
        if code == ASSISTANT:
            self._close()
            for place, call in enumerate(message.tool_calls()):
                known = (self._title(call), call.name or "tool", row)
                self._open[call.id if call.id and call.id not in self._open else f"{row}.{place}"] = known
        elif code == TOOL_RESULT:
            name = message.tool_name or "tool"
            what, tool, made = self._open.pop(message.tool_call_id or "", (name, name, row))
            self._did(what, tool, _outcome(message), made)
        elif code == _SHELL:
            outcome = "cancelled" if message.cancelled else _exited(message.exit_code)
            self._did(f"$ {first_line(message.command or '')}", "$", outcome, row)

    def done(self) -> tuple[Deed, ...]:
        """Return what was done, in the order of the first time."""
        self._close()
        deeds = [Deed(*key, count, row) for key, (count, row) in self._done.items()]
        return tuple(sorted(deeds, key=lambda deed: deed.row))

    def _close(self) -> None:
        """Calls that the next answer finds without a result get none any more."""
        for what, tool, row in self._open.values():
            self._did(what, tool, "no result", row)
        self._open.clear()

    def _did(self, what: str, tool: str, outcome: str, row: int) -> None:
        count, first = self._done.get((what, tool, outcome), (0, row))
        self._done[what, tool, outcome] = (count + 1, first)

    def _title(self, call: ToolCall) -> str:
        path = next((value for name in _PATHS if isinstance(value := call.arguments.get(name), str)), None)
        if path is None or isinstance(call.arguments.get("command"), str) or call.name in ("grep", "find"):
            return call_subject(call)
        if self._inside is not None:
            path = path.removeprefix(self._inside)
        return f"{first_line(call.name) or 'tool'} {first_line(path)}"


def deeds(view: SessionView, rows: Iterable[int]) -> tuple[Deed, ...]:
    """Return what was done in some rows of a path, oldest first."""
    collected = Deeds(view.header.cwd)
    for row in rows:
        code = view.table.code[row]
        if code in (ASSISTANT, TOOL_RESULT, _SHELL):
            collected.add(row, code, view.entry(row).message)
    return collected.done()


def _exited(code: int | float | None) -> str:
    """Return the outcome of a shell command; a code may be any number that JSON can spell."""
    if not code:
        return "ok"
    return f"exit {code}" if isinstance(code, int) and abs(code) < 1 << 32 else "failed"


def _outcome(result: Message) -> str:
    if not result.is_error:
        return "ok"
    code = exit_code(result)
    return "failed" if code is None else f"exit {code}"
