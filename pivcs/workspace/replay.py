"""Walking a path forwards: what every entry did to the files, and what they are after it (pi format 17.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from pivcs.session.entries import Entry, Message
from pivcs.workspace.answer import Answer, effect_of_operation
from pivcs.workspace.base import Base
from pivcs.workspace.calls import Edit, Operation, Read, Write, operation_of
from pivcs.workspace.editing import apply_with_details, change_text, would_succeed
from pivcs.workspace.known import KnownFiles
from pivcs.workspace.outcomes import Outcome, Shown, outcome_of, shown_by
from pivcs.workspace.shell import ShellEffect, effect_of
from pivcs.workspace.state import Change, FilePath, FileState, Provenance
from pivcs.workspace.texts import decode, encode

_CALLS_KEPT: Final = 256
"""Calls without a result that are remembered; results stand right behind their answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that waits for its result. `answer` tells the calls of one answer from those of others."""

    row: int
    operation: Operation | None


class Replay:
    """The files at one point of a path. `apply` the entries of the path in order, from its root.

    Holds the latest state of each file, and the calls that wait for a result; nothing else of the past. `cwd` is the
    session's working directory, None when it is not known; `home` the home of whoever ran it, for paths with `~`.
    A `base` is asked for files that are met for the first time.
    """

    def __init__(self, cwd: str | None, base: Base | None = None, *, home: str | None = None) -> None:
        self._files = KnownFiles(cwd, home, base)
        self._calls: dict[str, Call] = {}
        self._answer: Answer | None = None

    def fork(self) -> Replay:
        """Return a copy that goes on on its own, for another branch. Costs O(files); contents are shared."""
        other = Replay(None)
        other._files = self._files.fork()
        other._calls = self._calls.copy()
        other._answer = None if self._answer is None else self._answer.copy()
        return other

    def parts(self) -> tuple[KnownFiles, dict[str, Call], Answer | None]:
        """Return the files, the calls that wait for a result by their ids, and the latest answer: to be saved."""
        return self._files, self._calls, self._answer

    def go_on_in(self, answer: Answer) -> None:
        """Take up the calls of an answer that was saved."""
        self._answer = answer

    def state(self, path: FilePath) -> FileState | None:
        """Return what is known of a file; None when the path says nothing of it."""
        return self._files.states.get(path)

    def states(self) -> list[FileState]:
        """Return the states of all files that were met, sorted by path, those inside of the working directory first."""
        return sorted(self._files.states.values(), key=lambda state: (not state.path.inside, state.path.text))

    def told_at(self, path: FilePath) -> int | None:
        """Return the row that last told the whole of a file, -1 for the base; None when nothing did.

        Edits since then have told what they changed, not that everything else was still the same.
        """
        return self._files.told.get(path)

    def reset(self, row: int, base: Base) -> tuple[Change, ...]:
        """Take over a snapshot of the work tree that was made at `row`. Costs O(files that were met).

        Files that are met later are looked up in it. Of files that it has not it cannot be told whether they were
        deleted or ignored: they become unknown, unless they were known to be absent.
        """
        self._files.use_base(row, base)
        changes = []
        for before in [state for path, state in self._files.states.items() if path.inside]:
            file = base.read(before.path.text)
            content = None if file is None or file.symlink else file.content
            if content is not None or (before.content is None and before.is_exact):
                after = replace(
                    before, provenance=Provenance.SNAPSHOT, content=content, known_at=row, unknown_since=None,
                    base=base.label, patches=(),
                )  # fmt: skip
                self._files.put(after, row)
            else:
                after = _doubted(before, row)
                self._files.put(after)
            changes.append(Change("snapshot", before.path, row, row, before, after))
        return tuple(changes)

    def apply(self, row: int, entry: Entry) -> tuple[Change, ...]:
        """Go on to an entry of the path; return what it changed or told, in order. Costs O(its edits and its files)."""
        message = entry.message if entry.type == "message" else None
        if message is None:
            return ()
        role = message.role
        if role == "assistant":
            self._note_calls(row, message)
            return ()
        if role == "toolResult":
            return tuple(self._result(row, message))
        if role == "bashExecution" and message.command is not None:
            return tuple(self._shell(row, row, effect_of(message.command)))
        return ()

    def _note_calls(self, row: int, message: Message) -> None:
        calls = message.tool_calls()
        if not calls:
            return
        self._answer = Answer(row)
        for call in calls:
            operation = operation_of(call.name, call.arguments)
            # A later call of the same id takes the place of an earlier one, at the end.
            self._calls.pop(call.id, None)
            self._calls[call.id] = Call(row, operation)
            self._answer.add(operation, self._files)
        while len(self._calls) > _CALLS_KEPT and len(self._calls) > len(calls):
            self._calls.pop(next(iter(self._calls)))

    def _result(self, row: int, message: Message) -> Iterator[Change]:
        call = self._calls.pop(message.tool_call_id or "", None)
        outcome = outcome_of(message)
        answer = self._answer
        if call is None or (answer is not None and answer.row != call.row):
            answer = None
        nested = message.fields.get("nestedCalls")
        if isinstance(nested, dict) and isinstance(nested.get("calls"), list):
            yield from self._nested(row, row if call is None else call.row, nested["calls"])
            if nested.get("complete") is True:
                return
        if call is None:
            return
        operation = call.operation
        if isinstance(operation, Read):
            yield from self._read(row, call.row, operation, outcome, answer)
        elif isinstance(operation, Write):
            yield from self._write(row, call.row, operation, outcome, answer)
        elif isinstance(operation, Edit):
            yield from self._edit(row, call.row, operation, outcome, answer)
        elif operation is not None:
            # A command that failed may have done half of its work.
            effect = effect_of_operation(operation)
            if answer is not None:
                answer.done.append(effect)
            yield from self._shell(row, call.row, effect)

    def _nested(self, row: int, call_row: int, calls: Iterable[object]) -> Iterator[Change]:
        """Apply the calls of a script, which have no results of their own: only whether they went well."""
        for value in calls:
            fields = value if isinstance(value, dict) else {}
            name, arguments, status = fields.get("name"), fields.get("arguments"), fields.get("status")
            if not isinstance(name, str) or not isinstance(arguments, dict):
                continue
            operation = operation_of(name, arguments)
            outcome = Outcome(status == "ok", status not in ("ok", "error"), None, {})
            if isinstance(operation, Write):
                yield from self._write(row, call_row, operation, outcome, None)
            elif isinstance(operation, Edit):
                yield from self._edit(row, call_row, operation, outcome, None)
            elif operation is not None and not isinstance(operation, Read):
                yield from self._shell(row, call_row, effect_of_operation(operation))

    def _write(
        self, row: int, call_row: int, write: Write, outcome: Outcome, answer: Answer | None
    ) -> Iterator[Change]:
        path = self._files.path(write.path)
        before = self._files.meet(path, row)
        if not outcome.ok:
            if outcome.aborted:
                yield from self._aborted("write", row, call_row, path, before)
        elif write.content is None:
            content = None if before is None else before.content
            yield self._put("write", row, call_row, before, _unknown(path, before, content, row, row, row))
        elif answer is not None and answer.may_still_change(path, self._files):
            after = FileState(path, Provenance.UNKNOWN, encode(write.content), row, row, row)
            yield self._put("write", row, call_row, before, after)
        else:
            after = FileState(path, Provenance.WHOLE, encode(write.content), row, row)
            yield self._put("write", row, call_row, before, after, told=row)

    def _edit(self, row: int, call_row: int, edit: Edit, outcome: Outcome, answer: Answer | None) -> Iterator[Change]:
        path = self._files.path(edit.path)
        before = self._files.meet(path, row)
        if not outcome.ok:
            yield from self._failed_edit(row, call_row, edit, path, before, outcome, answer)
            return
        patch = change_text(edit, outcome.details)
        if before is None or before.provenance is Provenance.PATCH:
            patches = (patch,) if before is None else (*before.patches, patch)
            yield self._put(
                "edit", row, call_row, before, FileState(path, Provenance.PATCH, None, row, row, patches=patches)
            )
            return
        made = None if before.content is None else apply_with_details(before.content, edit, outcome.details)
        also_by_command = answer is not None and answer.may_still_change(path, self._files)
        if before.provenance is Provenance.UNKNOWN or also_by_command:
            # What it is like elsewhere nobody knows; the edit only adds to what was known.
            if made is not None and made.content is not None:
                since = row if before.unknown_since is None else before.unknown_since
                yield self._put("edit", row, call_row, before, _unknown(path, before, made.content, row, since, row))
            else:
                yield self._put(
                    "edit", row, call_row, before, FileState(path, Provenance.PATCH, None, row, row, patches=(patch,))
                )
        elif made is not None and made.content is not None:
            after = replace(before, provenance=Provenance.DERIVED, content=made.content, known_at=row, changed_at=row)
            yield self._put("edit", row, call_row, before, after)
        elif made is not None and made.fits:
            # It was the right file, but which rules were at work cannot be told.
            yield self._put("edit", row, call_row, before, _unknown(path, before, before.content, row, row, row))
        else:
            after = FileState(path, Provenance.PATCH, None, row, row, patches=(patch,))
            yield self._put("unseen", row, call_row, before, after)

    def _failed_edit(
        self, row: int, call_row: int, edit: Edit, path: FilePath, before: FileState | None, outcome: Outcome,
        answer: Answer | None,
    ) -> Iterator[Change]:  # fmt: skip
        """A failed edit changes nothing, but may show that the file is not what it should be."""
        if outcome.says_absent:
            yield from self._absent(row, call_row, path, before, answer, own=1)
        elif outcome.aborted:
            yield from self._aborted("edit", row, call_row, path, before)
        elif outcome.says_not_found and before is not None and before.is_exact:
            if answer is not None and answer.may_still_change(path, self._files):
                return
            if before.content is not None and would_succeed(before.content, edit):
                yield self._put("unseen", row, call_row, before, _doubted(before, row))

    def _read(self, row: int, call_row: int, read: Read, outcome: Outcome, answer: Answer | None) -> Iterator[Change]:
        path = self._files.path(read.path)
        before = self._files.meet(path, row)
        if outcome.says_absent:
            yield from self._absent(row, call_row, path, before, answer)
            return
        shown = shown_by(read, outcome)
        if shown is None:
            return
        if answer is not None and answer.changes(path, self._files):
            # It may have seen the file before the other calls of the answer, or after some of them.
            if before is None and shown.whole:
                yield self._put("read", row, call_row, before, _unknown(path, None, shown.content, row, row))
            return
        if shown.whole:
            yield from self._whole_read(row, call_row, path, before, shown)
        elif before is not None and before.is_exact and not _shows(before.content, shown):
            yield self._put("unseen", row, call_row, before, _doubted(before, row))

    def _whole_read(
        self, row: int, call_row: int, path: FilePath, before: FileState | None, shown: Shown
    ) -> Iterator[Change]:
        changed_at = None if before is None else before.changed_at
        content = None if before is None else before.content
        same = content is not None and decode(content) == shown.text
        if not shown.exact and not same:
            kind = "unseen" if before is not None and before.is_exact else "read"
            yield self._put(kind, row, call_row, before, _unknown(path, before, shown.content, row, row))
            return
        if not shown.exact and before is not None and not before.is_exact:
            # The bytes behind U+FFFD are those that they were, or others.
            return
        kind = "unseen" if before is not None and before.is_exact and not same else "read"
        after = FileState(
            path, Provenance.WHOLE, content if same else shown.content, row, changed_at,
            base=before.base if before is not None and not shown.exact else None,
        )  # fmt: skip
        yield self._put(kind, row, call_row, before, after, told=row)

    def _absent(
        self, row: int, call_row: int, path: FilePath, before: FileState | None, answer: Answer | None, own: int = 0
    ) -> Iterator[Change]:
        """There is no such file, or was none when the calls of the answer began."""
        if answer is not None and answer.changes(path, self._files, own):
            return
        kind = "unseen" if before is not None and before.is_exact and before.content is not None else "read"
        changed_at = None if before is None else before.changed_at
        after = FileState(path, Provenance.WHOLE, None, row, changed_at)
        yield self._put(kind, row, call_row, before, after, told=row)

    def _aborted(
        self, kind: str, row: int, call_row: int, path: FilePath, before: FileState | None
    ) -> Iterator[Change]:
        """A call that was stopped may have been stopped too late."""
        if before is None or before.provenance is not Provenance.UNKNOWN:
            after = _unknown(path, None, None, row, row) if before is None else _doubted(before, row)
            yield self._put(kind, row, call_row, before, after)

    def _shell(self, row: int, call_row: int, effect: ShellEffect) -> Iterator[Change]:
        for before in list(self._files.named(effect, row)):
            if before.provenance is not Provenance.UNKNOWN:
                yield self._put("shell", row, call_row, before, _doubted(before, row))

    def _put(
        self, kind: str, row: int, call_row: int, before: FileState | None, after: FileState, told: int | None = None
    ) -> Change:
        self._files.put(after, told)
        return Change(kind, after.path, row, call_row, before, after)


def _doubted(before: FileState, row: int) -> FileState:
    """Return a state that is no longer known since a row."""
    if before.provenance is Provenance.UNKNOWN:
        return before
    return replace(before, provenance=Provenance.UNKNOWN, unknown_since=row)


def _unknown(
    path: FilePath, before: FileState | None, content: bytes | None, row: int, since: int, changed_at: int | None = None
) -> FileState:
    if changed_at is None and before is not None:
        changed_at = before.changed_at
    base = None if before is None else before.base
    return FileState(path, Provenance.UNKNOWN, content, row, changed_at, since, base)


def _shows(content: bytes | None, shown: Shown) -> bool:
    """Whether a file has the lines that a read of some of its lines shows."""
    if content is None:
        return False
    lines = decode(content).split("\n")
    wanted = shown.text.split("\n")
    return lines[shown.first : shown.first + len(wanted)] == wanted
