"""Sessions with file tools, written turn by turn: `Talk` keeps the place where the next entry goes.

    talk = Talk()
    talk.prompt("Fix it.")
    talk.write("a.py", "x = 1\\n")
    here = talk.at
    talk.edit("a.py", "x = 1", "x = 2")
    talk.at = here          # another try
    view_of(talk.data)

Results are as pi 1.6 writes them; edits have no `details` unless given. Ids are `0000000n` by the number of the line.
"""

from __future__ import annotations

from tests.builders import (
    CLOCK,
    CWD,
    Value,
    entry_line,
    header_line,
    iso,
    line,
    message_line,
    tool_call_line,
)


class Talk:
    """A session file that grows. `at` is the id of the entry that the next one follows, `clock` the time in ms."""

    def __init__(self, cwd: str = CWD, session_id: str = "talk-1", clock: int = CLOCK, first: int = 1) -> None:
        self.lines = [header_line(session_id, cwd=cwd, ms=clock)]
        self.at: str | None = None
        self.clock = clock
        self._number = first - 1

    @property
    def data(self) -> bytes:
        """The file."""
        return b"".join(self.lines)

    def _add(self, made: bytes, ident: str) -> str:
        self.lines.append(made)
        self.at = ident
        return ident

    def _next(self) -> str:
        self._number += 1
        self.clock += 1000
        return f"{self._number:08x}"

    def prompt(self, text: str) -> str:
        """Add a user message."""
        ident = self._next()
        return self._add(message_line(ident, self.at, "user", text, ms=self.clock), ident)

    def say(self, text: str) -> str:
        """Add an answer that calls nothing."""
        ident = self._next()
        return self._add(message_line(ident, self.at, "assistant", text, ms=self.clock), ident)

    def call(
        self, name: str, arguments: Value, text: str = "", *, output: str = "", is_error: bool = False,
        details: Value | None = None,
    ) -> str:  # fmt: skip
        """Add an answer that calls a tool, and its result; the id is that of the result."""
        ident = self._next()
        self._add(tool_call_line(ident, self.at, name, arguments, text=text, ms=self.clock), ident)
        result = self._next()
        message: Value = {
            "role": "toolResult", "toolCallId": f"call_{ident}", "toolName": name,
            "content": [{"type": "text", "text": output}], "isError": is_error, "timestamp": self.clock,
        }  # fmt: skip
        if details is not None:
            message["details"] = details
        return self._add(entry_line("message", result, ident, ms=self.clock, message=message), result)

    def write(self, path: str, content: str) -> str:
        """Write a file."""
        return self.call("write", {"path": path, "content": content}, output=f"Successfully wrote to {path}")

    def edit(self, path: str, old: str, new: str, *, details: Value | None = None) -> str:
        """Replace text in a file."""
        arguments: Value = {"path": path, "edits": [{"oldText": old, "newText": new}]}
        output = f"Successfully replaced 1 block(s) in {path}."
        return self.call("edit", arguments, output=output, details=details)

    def read(self, path: str, content: str) -> str:
        """Read a whole file."""
        return self.call("read", {"path": path}, output=content)

    def bash(self, command: str, output: str = "(no output)", *, is_error: bool = False) -> str:
        """Run a shell command."""
        return self.call("bash", {"command": command}, output=output, is_error=is_error)

    def raw(self, value: Value) -> str:
        """Add any entry that stands on its own."""
        ident = self._next()
        return self._add(line(value | {"id": ident, "parentId": self.at, "timestamp": iso(self.clock)}), ident)
