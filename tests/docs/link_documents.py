"""Documents about commits and the entries that made them: of every kind of file and of session."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from pivcs.cli import run
from tests.docs.file_documents import FILE_DOCUMENTS
from tests.gitbridge.real_git import Project, find_git, new_project
from tests.talks import Talk

Capture = pytest.CaptureFixture[bytes]
Documents = list[dict[str, object]]
_TEXT = "def login(name):\n    return find_in_directory(name)\n"


def _written(capfdbinary: Capture, *arguments: str, code: int = 0) -> dict[str, Any]:
    assert run(arguments) == code
    document: dict[str, Any] = json.loads(capfdbinary.readouterr().out)
    return document


def _project(files: list[Path]) -> tuple[Project, Path]:
    """Make a repository whose last commits have lines of a session, which is at another place, and others."""
    find_git()
    root = files[0].parent / "linked"
    project = new_project(root, {"README": "hello\nworld\n", "old.txt": "one line of it\nand another one\n"})
    talk = Talk(cwd=str(root))
    talk.raw({"type": "model_change", "provider": "p", "modelId": "m"})
    talk.write("first.py", "before_any_prompt()\n")
    talk.lines[-1] = re.sub(rb'"timestamp":"[^"]*",?', b"", talk.lines[-1]).replace(b",}", b"}")
    talk.prompt("Write it.")
    talk.write("one.py", _TEXT)
    session = files[0].parent / "linked.jsonl"
    session.write_bytes(talk.data)
    project.git("mv", "old.txt", "new.txt")
    project.commit({"first.py": "before_any_prompt()\n", "one.py": f"{_TEXT}by_hand()\n", "README": "hello\n"})
    project.git("tag", "wrote-one")
    project.git("rm", "-q", "one.py")
    project.commit({})
    return project, session


def _linked(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return links with and without notes, of a session that nothing is known of, and of one without anything."""
    project, session = _project(files)
    lost = Talk(cwd="/nowhere/at/all")
    lost.prompt("Write it.")
    lost.write("elsewhere.py", _TEXT)
    (session.parent / "lost.jsonl").write_bytes(lost.data)
    with chdir(project.root):
        found = [_written(capfdbinary, "link", "--json", "-s", str(session), *more) for more in ([], ["--notes"])]
        project.git("update-ref", "-d", "refs/notes/pivcs")
        assert run(["export", ".", str(session)]) == 0
        capfdbinary.readouterr()
        exported = project.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        found.append(_written(capfdbinary, "link", "--json", "-s", str(session), *exported, code=1))
        others = [session.parent / "lost.jsonl", session.parent / "no header.jsonl", files[0]]
        for path in others:
            found.append(_written(capfdbinary, "link", "HEAD", "--json", "--notes", "-s", str(path), code=1))
        return found


def _shown(files: list[Path], capfdbinary: Capture) -> Documents:
    project, session = _project(files)
    with chdir(project.root):
        assert run(["export", ".", str(session)]) == 0
        capfdbinary.readouterr()
        shown = ["show", "--json", "-s", str(session)]
        return [_written(capfdbinary, *shown, f"commit/{commit}") for commit in ("HEAD~1", "sessions")]


def _logged(schema: str, *options: str) -> Callable[[list[Path], Capture], Documents]:
    """Return what gives logs as they are without commits of git, and one with them."""

    def documents(files: list[Path], capfdbinary: Capture) -> Documents:
        found = FILE_DOCUMENTS[schema](files, capfdbinary)
        project, session = _project(files)
        with chdir(project.root):
            return [*found, _written(capfdbinary, "log", "--commits", "--json", *options, str(session))]

    return documents


LINK_DOCUMENTS: dict[str, Callable[[list[Path], Capture], Documents]] = {
    "pivcs.link/1": _linked,
    "pivcs.showcommit/1": _shown,
    "pivcs.log/1": _logged("pivcs.log/1"),
    "pivcs.turns/1": _logged("pivcs.turns/1", "--turns"),
}
