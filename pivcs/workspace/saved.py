"""What a replay knows at one point of a path, to be written down and gone on from in another run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pivcs.session.entries import Message
from pivcs.workspace.answer import Answer
from pivcs.workspace.base import Base
from pivcs.workspace.calls import operation_of
from pivcs.workspace.replay import Call, Replay
from pivcs.workspace.shell import ShellEffect
from pivcs.workspace.state import FilePath, FileState

MessageAt = Callable[[int], Message | None]
"""Gives the message of a row."""


class SavedFile(NamedTuple):
    """A file's state, and the row that last told the whole of it."""

    state: FileState
    told: int | None


class SavedAnswer(NamedTuple):
    """The calls of the latest answer, as `Answer` has them."""

    row: int
    written: tuple[FilePath, ...]
    begun: tuple[ShellEffect, ...]
    done: tuple[ShellEffect, ...]


class SavedReplay(NamedTuple):
    """All of a `Replay` but its working directory and its base. `calls` are the ids of the calls that wait for a
    result, with the rows of their answers; what they do stands there. `base_doubtful_since` is the row of the command
    that may have changed every file of the base."""

    files: tuple[SavedFile, ...]
    calls: tuple[tuple[str, int], ...]
    answer: SavedAnswer | None
    base_doubtful_since: int | None


def save(replay: Replay) -> SavedReplay:
    """Return what a replay knows; contents are shared. A replay that took over a snapshot cannot be saved."""
    files, calls, answer = replay.parts()
    return SavedReplay(
        tuple(SavedFile(state, files.told.get(path)) for path, state in files.states.items()),
        tuple((ident, call.row) for ident, call in calls.items()),
        None if answer is None else SavedAnswer(
            answer.row, tuple(answer.written), tuple(answer.begun), tuple(answer.done)
        ),
        files.base_doubtful_since,
    )


def restored(saved: SavedReplay, cwd: str | None, base: Base | None, message_at: MessageAt) -> Replay:
    """Return a replay that goes on where a saved one ended."""
    replay = Replay(cwd, base)
    files, calls, _ = replay.parts()
    files.base_doubtful_since = saved.base_doubtful_since
    for file in saved.files:
        files.put(file.state, file.told)
    for ident, row in saved.calls:
        message = message_at(row)
        made = [call for call in (message.tool_calls() if message is not None else ()) if call.id == ident]
        if made:
            calls[ident] = Call(row, operation_of(made[-1].name, made[-1].arguments))
    if saved.answer is not None:
        answer = Answer(saved.answer.row)
        answer.written = list(saved.answer.written)
        answer.begun = list(saved.answer.begun)
        answer.done = list(saved.answer.done)
        replay.go_on_in(answer)
    return replay
