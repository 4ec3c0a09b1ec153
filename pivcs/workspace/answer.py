"""The calls of one answer, which the client runs at the same time (pi format 17.3)."""

from __future__ import annotations

from pivcs.workspace.calls import Edit, Operation, Other, Read, Shell, Write
from pivcs.workspace.known import KnownFiles
from pivcs.workspace.shell import ShellEffect, effect_of, text_effect
from pivcs.workspace.state import FilePath
from pivcs.workspace.strings import strings_in


class Answer:
    """The calls of one answer, which run at the same time: which files they write, and what its commands may.

    `done` are the commands whose results came already. `begun` are all of them.
    """

    def __init__(self, row: int) -> None:
        self.row = row
        self.written: list[FilePath] = []
        self.begun: list[ShellEffect] = []
        self.done: list[ShellEffect] = []

    def copy(self) -> Answer:
        """Return a copy that goes on on its own."""
        other = Answer(self.row)
        other.written, other.begun, other.done = self.written.copy(), self.begun.copy(), self.done.copy()
        return other

    def add(self, operation: Operation | None, files: KnownFiles) -> None:
        """Note a call before its result is there."""
        if isinstance(operation, (Write, Edit)):
            self.written.append(files.path(operation.path))
        elif operation is not None and not isinstance(operation, Read):
            self.begun.append(effect_of_operation(operation))

    def changes(self, path: FilePath, files: KnownFiles, own: int = 0) -> bool:
        """Whether a call of the answer writes or edits a file, or may: a read beside it may see it before or after.

        `own` calls that do it are those of whoever asks.
        """
        return self.written.count(path) > own or any(files.names(effect, path) for effect in self.begun)

    def may_still_change(self, path: FilePath, files: KnownFiles) -> bool:
        """Whether a command of the answer may have written a file after a change whose result comes later."""
        return any(files.names(effect, path) for effect in self.done)


def effect_of_operation(operation: Operation) -> ShellEffect:
    """Return what a command, or a tool of which nothing is known, may have written."""
    if isinstance(operation, Shell):
        return effect_of(operation.command)
    assert isinstance(operation, Other)
    return text_effect(strings_in(dict(operation.arguments)))
