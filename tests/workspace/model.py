"""A project that is edited by a model of the client's tools, which writes the session while it works.

The rules of editing are kept simple here on purpose (exact matches that are unique, LF only): `tests/interop` has pi
itself for the rest. What this model is for is the order of things: branches, failures, results that are missing, and
changes that leave no trace.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from tests.builders import CWD, entry_line, header_line, message_line

Disk = dict[str, bytes]


@dataclass
class Project:
    """A session file in the making, and what lay on the disk after each of its entries.

    `events` says for each entry what happened to which file up to it, since the entry before: `unseen`, `shell`, and
    for results `write` and `read`, where they went well or told that there is no file.
    """

    disk: Disk = field(default_factory=dict)
    lines: list[bytes] = field(default_factory=lambda: [header_line()])
    disks: dict[str, Disk] = field(default_factory=dict)
    events: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    pending: list[tuple[str, str]] = field(default_factory=list)
    parent: str | None = None

    def _add(self, make: object) -> str:
        ident = f"{len(self.lines):08x}"
        assert callable(make)
        self.lines.append(make(ident, self.parent))
        self.disks[ident] = dict(self.disk)
        self.events[ident], self.pending = self.pending, []
        self.parent = ident
        return ident

    @property
    def data(self) -> bytes:
        return b"".join(self.lines)

    def say(self, text: str = "Go on.") -> str:
        """Add a question."""
        return self._add(lambda ident, parent: message_line(ident, parent, "user", text))

    def calls(self, *calls: tuple[str, dict[str, object]], answered: bool = True) -> None:
        """Add an answer with calls, one after the other on the disk, and their results; or none at all."""
        number = len(self.lines)
        blocks = [
            {"type": "toolCall", "id": f"call_{number}_{place}", "name": name, "arguments": arguments}
            for place, (name, arguments) in enumerate(calls)
        ]
        self._add(lambda ident, parent: message_line(ident, parent, "assistant", blocks, stopReason="toolUse"))
        for place, (name, arguments) in enumerate(calls) if answered else ():
            self.result(f"call_{number}_{place}", name, *self.run(name, arguments))

    def result(
        self, call_id: str, name: str, text: str, failed: bool = False, details: dict[str, object] | None = None,
        **more: object,
    ) -> str:  # fmt: skip
        """Add the result of a call."""
        message: dict[str, object] = {
            "role": "toolResult", "toolCallId": call_id, "toolName": name,
            "content": [{"type": "text", "text": text}], "isError": failed,
        }  # fmt: skip
        if details is not None:
            message["details"] = details
        message |= more
        return self._add(lambda ident, parent: entry_line("message", ident, parent, message=message))

    def run(self, name: str, arguments: dict[str, object]) -> tuple[str, bool, dict[str, object] | None]:
        """Do what a tool does; return text, failure and details of its result."""
        path = str(arguments.get("path"))
        path = path.removeprefix("@").removeprefix(CWD + "/")
        content = self.disk.get(path)
        if name == "write" or name == "read":
            self.pending.append((name, path))
        if name == "read":
            return (f"ENOENT: no such file or directory, access '{path}'", True, {}) if content is None else (
                content.decode(), False, None
            )  # fmt: skip
        if name == "write":
            self.disk[path] = str(arguments["content"]).encode()
            return f"Successfully wrote to {path}", False, None
        assert name == "edit"
        if content is None:
            self.pending.append(("read", path))
            return f"Could not edit file: {path}. Error code: ENOENT.", True, {}
        before = content.decode()
        old, new = str(arguments["oldText"]), str(arguments["newText"])
        if before.count(old) != 1 or old == new:
            return f"Could not find the exact text in {path}.", True, {}
        after = before.replace(old, new)
        self.disk[path] = after.encode()
        return f"Successfully replaced 1 block(s) in {path}.", False, {"diff": "", "patch": patch(path, before, after)}

    def shell(self, command: str, change: dict[str, bytes | None]) -> None:
        """Run a command that the user gave and that names what it changes; `change` is what it really does."""
        self._change("shell", change)
        message = {"role": "bashExecution", "command": command, "output": "", "exitCode": 0}
        self._add(lambda ident, parent: entry_line("message", ident, parent, message=message))

    def unseen(self, change: dict[str, bytes | None]) -> None:
        """Change files without a trace in the session; None deletes."""
        self._change("unseen", change)

    def _change(self, kind: str, change: dict[str, bytes | None]) -> None:
        for path, content in change.items():
            if content == self.disk.get(path):
                continue
            self.pending.append((kind, path))
            if content is None:
                del self.disk[path]
            else:
                self.disk[path] = content

    def go_back(self, ident: str) -> None:
        """Continue from an earlier entry, with the files as they were then."""
        self.parent = ident
        self.disk = dict(self.disks[ident])
        self.pending = []


def patch(path: str, before: str, after: str) -> str:
    """Return a unified diff as the client writes it."""

    def lines(text: str) -> list[str]:
        return [line + "\n" for line in text.split("\n")[:-1]] + ([last] if (last := text.split("\n")[-1]) else [])

    parts = []
    for line in difflib.unified_diff(lines(before), lines(after), path, path, n=4):
        parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)
