"""Directories with files, and what a session knows of them, for the tests of restoring."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pivcs.objects.hashing import whole_hash
from pivcs.ops.operations import Undone, redo, undo
from pivcs.ops.restore_apply import Applied, Recording, apply_restore
from pivcs.ops.restore_plan import Knowledge, RestorePlan, plan_restore
from pivcs.ops.sync import sync_file
from pivcs.ops.work_tree import WorkTree
from pivcs.store.store import Store
from pivcs.workspace.base import Base
from pivcs.workspace.state import FilePath, FileState, Provenance
from tests.builders import build_session, header_line, message_line, tool_call_line, tool_result_line
from tests.ops.syncing import NOW

UMASK = 0o022
Image = dict[str, tuple[int, bytes]]


def image(root: Path) -> Image:
    """Return everything below a directory: mode and bytes (what a link says; nothing for a directory)."""
    found: Image = {}
    for directory, names, files in os.walk(root):
        for name in names + files:
            path = Path(directory, name)
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                data = os.fsencode(os.readlink(path))
            else:
                data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[str(path.relative_to(root))] = (status.st_mode, data)
    return found


def put(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files with the directories that they need."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def path_of(text: str) -> FilePath:
    return FilePath(text, not text.startswith("/"))


def states(contents: Mapping[str, bytes | None]) -> dict[FilePath, FileState]:
    """Return files of which all is known."""
    return {
        path_of(text): FileState(path_of(text), Provenance.WHOLE, content, known_at=1)
        for text, content in contents.items()
    }


def knowledge(
    target: Mapping[str, bytes | None],
    current: Mapping[str, bytes | None],
    *,
    created: tuple[str, ...] = (),
    seen: Mapping[str, tuple[bytes, ...]] | None = None,
    base: Base | None = None,
    snapshot: Base | None = None,
) -> Knowledge:
    digests = {path_of(name): {whole_hash([one]) for one in each} for name, each in (seen or {}).items()}
    return Knowledge(states(target), states(current), digests, {path_of(name) for name in created}, base, snapshot)


@dataclass
class Project:
    """A directory with files, and a store with a session."""

    root: Path
    store: Store
    key: bytes
    stream: int
    runs: int = 0

    def plan(self, known: Knowledge, *, chosen: tuple[str, ...] = (), force: bool = False) -> RestorePlan:
        with WorkTree(str(self.root)) as tree:
            return plan_restore(known, tree, chosen=chosen, force=force)

    def apply(self, plan: RestorePlan) -> Applied:
        self.runs += 1
        recording = Recording(self.key, self.stream, NOW + self.runs, "pivcs restore", f"{os.getpid():08x}{self.runs}")
        with WorkTree(str(self.root)) as tree:
            return apply_restore(self.store, plan, tree, recording, UMASK)

    def restore(self, known: Knowledge, *, force: bool = False) -> Applied:
        return self.apply(self.plan(known, force=force))

    def undo(self, number: int | None = None) -> Undone:
        self.runs += 1
        return undo(self.store, now=NOW + self.runs, number=number)

    def redo(self) -> Undone:
        self.runs += 1
        return redo(self.store, now=NOW + self.runs)


def project(directory: Path, files: Mapping[str, bytes], store: Store) -> Project:
    """Make a project with files; the store gets a session that operations can be about."""
    root, file = directory / "project", directory / "session.jsonl"
    root.mkdir(parents=True)
    file.write_bytes(build_session("a-b"))
    stream = sync_file(store, file, NOW).stream
    assert stream is not None
    assert stream.session is not None
    put(root, files)
    return Project(root, store, stream.session, stream.id)


class Story:
    """A session that is told step by step: prompts, and tool calls with their results."""

    def __init__(self, cwd: Path) -> None:
        self.lines = [header_line(cwd=str(cwd))]
        self.last: str | None = None
        self.number = 0

    def _id(self) -> str:
        self.number += 1
        return f"{self.number:08x}"

    def prompt(self, text: str) -> str:
        self.lines.append(message_line(ident := self._id(), self.last, "user", text))
        self.last = ident
        return ident

    def edit(self, path: str, old: str, new: str) -> str:
        edits = [{"oldText": old, "newText": new}]
        return self.call("edit", {"path": path, "edits": edits}, f"Successfully replaced 1 block(s) in {path}.")

    def call(self, tool: str, arguments: Mapping[str, object], result: str = "") -> str:
        call, answer = self._id(), self._id()
        self.lines.append(tool_call_line(call, self.last, tool, dict(arguments)))
        self.lines.append(tool_result_line(answer, call, tool, result))
        self.last = answer
        return answer

    def write(self, path: str, content: bytes) -> str:
        return self.call("write", {"path": path, "content": content.decode()}, f"Successfully wrote to {path}")

    def read(self, path: str, content: bytes) -> str:
        return self.call("read", {"path": path}, content.decode())

    def save(self, path: Path) -> Path:
        path.write_bytes(b"".join(self.lines))
        return path
