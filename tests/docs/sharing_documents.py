"""What `push` and `fetch` say of sessions that are new, grown, named, moved and damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pivcs.cli import run
from pivcs.session.layout import encode_cwd
from tests.builders import build_session, header_line, message_line
from tests.gitbridge.real_git import Project, find_git, new_project

Capture = pytest.CaptureFixture[bytes]
Documents = list[dict[str, object]]


@contextmanager
def _desk(project: Project, capfdbinary: Capture) -> Iterator[None]:
    """Be at a machine that has a clone of the project, and say nothing else before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PI_CODING_AGENT_DIR", f"{project.root}-agent")
        patch.setenv("PIVCS_DIR", f"{project.root}-store")
        patch.chdir(project.root)
        yield
        capfdbinary.readouterr()


def _said(capfdbinary: Capture, *arguments: str, code: int = 0) -> dict[str, object]:
    capfdbinary.readouterr()
    assert run([*arguments, "--json"]) == code
    found = json.loads(capfdbinary.readouterr().out)
    assert isinstance(found, dict)
    return found


def names_of_others(command: str, files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `branch --all` and `tag` say of names that another machine has given."""
    find_git()
    here, there = (new_project(files[0].parent / name, {"a.txt": "a"}) for name in ("named", "told"))
    session = Path(f"{here.root}-agent", "sessions", encode_cwd(str(here.root)), "s.jsonl")
    session.parent.mkdir(parents=True)
    session.write_bytes(build_session("a-b-c", header=header_line("named", cwd=str(here.root))))
    with _desk(here, capfdbinary):
        assert [run(["tag", "good", "HEAD~1"]), run(["branch", "try", "HEAD~1"])] == [0, 0]
        assert run(["push", str(there.root)]) == 0
    with _desk(there, capfdbinary):
        assert run(["fetch", str(there.root)]) == 0
        return [_said(capfdbinary, *command.split())]


def _shared(files: list[Path], capfdbinary: Capture) -> tuple[Documents, Documents, Documents]:
    find_git()
    root = files[0].parent
    hub, here, there = (new_project(root / name, {"a.txt": "a"}) for name in ("hub", "here", "there"))
    for desk in (here, there):
        desk.git("remote", "add", "origin", str(hub.root))
    session = Path(f"{here.root}-agent", "sessions", encode_cwd(str(here.root)), "s.jsonl")
    session.parent.mkdir(parents=True)
    session.write_bytes(build_session("a-b", header=header_line(cwd=str(here.root))))
    pushed: Documents = []
    fetched: Documents = []
    listed: Documents = []
    with _desk(here, capfdbinary):
        assert run(["tag", "good", "HEAD"]) == 0
        pushed.append(_said(capfdbinary, "push"))
    with _desk(there, capfdbinary):
        fetched.append(_said(capfdbinary, "fetch"))
        listed.append(_said(capfdbinary, "ls"))
        fetched.append(_said(capfdbinary, "fetch", "--write"))
    with _desk(here, capfdbinary):
        session.write_bytes(session.read_bytes() + message_line("cccccccc", "bbbbbbbb"))
        pushed.append(_said(capfdbinary, "push"))
        name = here.git("for-each-ref", "--format=%(refname)", "refs/pivcs/*/s/*")
        here.git("update-ref", name, "HEAD")
        pushed.append(_said(capfdbinary, "push", code=1))
    hub.git("update-ref", name, "HEAD")
    with _desk(there, capfdbinary):
        fetched.append(_said(capfdbinary, "fetch", code=30))
    return pushed, fetched, listed


def pushed_documents(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `push` says."""
    return _shared(files, capfdbinary)[0]


def imported_lists(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `ls` says of a session that came from another machine."""
    return _shared(files, capfdbinary)[2]


def fetched_documents(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `fetch` says."""
    return _shared(files, capfdbinary)[1]
