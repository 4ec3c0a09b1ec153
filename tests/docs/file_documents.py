"""Documents about files: of a session that knows its files in every way there is, in a repository that is its base."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pivcs.cli import run
from tests.builders import Value
from tests.docs.sharing_documents import fetched_documents, pushed_documents
from tests.gitbridge.real_git import Project, find_git, new_project
from tests.talks import Talk

Capture = pytest.CaptureFixture[bytes]
Documents = list[dict[str, object]]

_EDITED = "def login(name):\n    return find_in_directory(name)\n"


def _written(capfdbinary: Capture, *arguments: str, code: int = 0) -> dict[str, Any]:
    assert run(arguments) == code
    document: dict[str, Any] = json.loads(capfdbinary.readouterr().out)
    return document


def _project(files: list[Path], capfdbinary: Capture) -> tuple[Path, Talk]:
    """Make the repository and the session, whose file is `session.jsonl` beside it."""
    find_git()
    root = files[0].parent / "files"
    new_project(root, {"base.py": "a = 1\nb = 2\n", "raw.bin": b"\xff\xfe"})
    talk = Talk(cwd=str(root), clock=1_800_000_000_000)
    talk.raw({"type": "model_change", "provider": "p", "modelId": "m"})
    talk.write("odd.py", "nobody_knows_when = 1\n")
    for at in (-2, -1):
        talk.lines[at] = re.sub(rb'"(timestamp|model)":("[^"]*"|[0-9]+),?', b"", talk.lines[at]).replace(b",}", b"}")
    talk.prompt("Write it.")
    talk.write("auth.py", "def login(name):\n    return True\n")
    talk.call("edit", {"path": "auth.py", "edits": [{"oldText": "nowhere", "newText": "x"}]}, is_error=True)
    here = talk.at
    talk.edit("auth.py", "return True", "return find_in_directory(name)")
    talk.edit("base.py", "a = 1", "a = 10")
    talk.read("read.py", "was there\n")
    absent = "ENOENT: no such file or directory, open 'absent.py'"
    talk.call("read", {"path": "absent.py"}, output=absent, is_error=True)
    details: Value = {"diff": "-1 old\n+1 new line of text", "patch": "@@ -1 +1 @@\n-old\n+new line of text\n"}
    talk.edit("patched.py", "old", "new line of text", details=details)
    talk.write("/elsewhere/outside.py", "x\n")
    talk.write("changed.sh", "echo\n")
    talk.bash("sed -i s/echo/exit/ changed.sh")
    end = talk.at
    talk.at = here
    talk.prompt("Write it in another way.")
    talk.write("auth.py", "def login(name):\n    return find_somewhere_else(name)\n")
    talk.lines[-1] = re.sub(rb'"timestamp":"[^"]*",', b"", talk.lines[-1])
    talk.at = here
    talk.write("auth.py", "def login(name):\n    return None\n")
    talk.at = end
    talk.say("Done.")
    session = root.parent / "session.jsonl"
    session.write_bytes(talk.data)
    for branch in _written(capfdbinary, "branch", "--json", str(session))["branches"][:2]:
        assert run(["branch", "--delete", branch["name"], str(session)]) == 0
    capfdbinary.readouterr()
    return session, talk


def _listed(files: list[Path], capfdbinary: Capture) -> Documents:
    session, _ = _project(files, capfdbinary)
    asked = [[str(session), "--base", "HEAD"], [str(session), "--base", "none"]]
    empty = next(path for path in files if path.stem == "empty")
    return [_written(capfdbinary, "files", "--json", *arguments) for arguments in [*asked, [str(empty)]]]


def _shown(files: list[Path], capfdbinary: Capture) -> Documents:
    session, _ = _project(files, capfdbinary)
    exact = ["auth.py", "base.py", "read.py", "/elsewhere/outside.py", "raw.bin"]
    found = [
        _written(capfdbinary, "show", "--json", "--base", "HEAD", "-s", str(session), f"HEAD:{path}") for path in exact
    ]
    partly = ("patched.py", "changed.sh")
    return found + [
        _written(capfdbinary, "show", "--json", "-s", str(session), f"HEAD:{path}", code=1) for path in partly
    ]


def _directory(files: list[Path], capfdbinary: Capture) -> Documents:
    session, _ = _project(files, capfdbinary)
    return [_written(capfdbinary, "show", "--json", "--base", "HEAD", "-s", str(session), "HEAD:")]


def _blamed(files: list[Path], capfdbinary: Capture) -> Documents:
    """Blame files that the session knows, and one on the disk that takes a line from what was abandoned."""
    session, talk = _project(files, capfdbinary)
    root = session.parent / "files"
    asked = [("auth.py", "--at", "HEAD"), ("base.py", "--at", "HEAD", "--base", "HEAD"), ("odd.py", "--at", "HEAD")]
    (root / "read.py").write_text("was there\nby hand\n    return find_somewhere_else(name)\n", encoding="utf-8")
    taken = "    return find_somewhere_else(name)\n"
    (root / "auth.py").write_text(f"def  login( name ):\n{_EDITED.split(chr(10), 1)[1]}{taken}", encoding="utf-8")
    asked += [("read.py",), ("auth.py",)]
    moved = "\n".join(reversed(_EDITED.rstrip().split("\n"))) + "\n"
    talk.write("auth.py", moved)
    (session.parent / "moved.jsonl").write_bytes(talk.data)
    found = [_written(capfdbinary, "blame", "--json", "-s", str(session), *arguments) for arguments in asked]
    return [*found, _written(capfdbinary, "blame", "--json", "-s", str(session.parent / "moved.jsonl"), "auth.py")]


def _told(files: list[Path], capfdbinary: Capture) -> Documents:
    session, _ = _project(files, capfdbinary)
    root = session.parent / "files"
    (root / "read.py").write_text("was there\nby hand\n    return find_somewhere_else(name)\n", encoding="utf-8")
    asked = [("auth.py:2", "--at", "HEAD"), ("read.py:1",), ("read.py:3",), ("odd.py:1", "--at", "HEAD")]
    return [_written(capfdbinary, "why", "--json", "-s", str(session), *arguments) for arguments in asked]


def _logged(files: list[Path], capfdbinary: Capture, *options: str) -> Documents:
    """Return logs of all kinds of sessions, and one with what its entries changed in files."""
    session, talk = _project(files, capfdbinary)
    odd = session.parent / "no base.jsonl"
    odd.write_bytes(talk.data.replace(b'"name":"edit"', b'"name":"write"'))
    found = [_written(capfdbinary, "log", "--all", "--json", *options, str(path)) for path in files]
    options = ("--all", "--json", "-p", *options)
    return [*found, *(_written(capfdbinary, "log", *options, str(path)) for path in (session, odd))]


def _turns(files: list[Path], capfdbinary: Capture) -> Documents:
    return _logged(files, capfdbinary, "--turns")


def _exported(files: list[Path], capfdbinary: Capture) -> Documents:
    session, talk = _project(files, capfdbinary)
    place = str(session.parent / "review")
    found = [_written(capfdbinary, "export", "--json", place, str(session)) for _ in range(2)]
    talk.say("More.")
    session.write_bytes(talk.data)
    found.append(_written(capfdbinary, "export", "--json", place, str(session)))
    talk.prompt("And then?")
    session.write_bytes(talk.data)
    found.append(_written(capfdbinary, "export", "--turns", "--json", f"{place}-turns", str(session)))
    found.append(_written(capfdbinary, "export", "--turns", "--json", place, str(session), code=1))
    Project(session.parent).git("clone", "-q", place, f"{place}-clone")
    talk.say("So.")
    session.write_bytes(talk.data)
    return [*found, _written(capfdbinary, "export", "--json", f"{place}-clone", str(session), code=1)]


def _archived(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `archive` says of a session that is new, grown, and whose refs somebody moved."""
    session, talk = _project(files, capfdbinary)
    place = session.parent / "archive"
    project = new_project(place, {"a.txt": "a"})
    found = []
    for text in ("More.", "And more."):
        found.append(_written(capfdbinary, "-C", str(place), "archive", "--review", "--json", str(session)))
        talk.say(text)
        session.write_bytes(talk.data)
        project.git("tag", "-f", "kept", project.git("for-each-ref", "--format=%(objectname)", "refs/pivcs/*/s/*"))
    name = project.git("for-each-ref", "--format=%(refname)", "refs/pivcs/*/s/*")
    project.git("update-ref", name, "HEAD")
    found.append(_written(capfdbinary, "-C", str(place), "archive", "--json", str(session), code=1))
    review = project.git("for-each-ref", "--format=%(refname)", "refs/pivcs/*/review/*").splitlines()[0]
    project.git("update-ref", review, "HEAD")
    return [*found, _written(capfdbinary, "-C", str(place), "archive", "--review", "--json", str(session), code=1)]


def _imported(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `import` says of a stream that is new, known, written and damaged, and of another store's names."""
    session, _ = _project(files, capfdbinary)
    place = session.parent / "archive"
    project = new_project(place, {"a.txt": "a"})
    assert run(["tag", "fixed", str(session), "HEAD"]) == 0
    capfdbinary.readouterr()
    _written(capfdbinary, "-C", str(place), "archive", "--json", str(session))
    store = str(session.parent / "other-store")
    found = [_written(capfdbinary, "import", "--store", store, "--json", str(place)) for _ in range(2)]
    found.append(_written(capfdbinary, "import", "--json", str(place), "--write", str(session.parent / "files")))
    name = project.git("for-each-ref", "--format=%(refname)", "refs/pivcs/*/s/*").splitlines()[0]
    project.git("update-ref", name, "HEAD")
    damaged = project.commit({"2026-01-01-01234567/streams/0123456789abcdef/z.txt": "no stream"})
    project.git("update-ref", "refs/heads/sessions", damaged)
    assert run(["import", "--store", store, "--json", str(place)]) == 30
    return [*found, json.loads(capfdbinary.readouterr().out)]


def _searched(files: list[Path], capfdbinary: Capture) -> Documents:
    session, _ = _project(files, capfdbinary)
    asked = [["def", str(session), "-A", "1"], ["return|x|Write", str(session), "-B", "1"]]
    asked.append(["x", str(next(path for path in files if path.stem == "label without time"))])
    return [_written(capfdbinary, "grep", "--json", *arguments) for arguments in asked]


FILE_DOCUMENTS: dict[str, Callable[[list[Path], Capture], Documents]] = {
    "pivcs.log/1": _logged,
    "pivcs.turns/1": _turns,
    "pivcs.export/1": _exported,
    "pivcs.archive/1": _archived,
    "pivcs.import/1": _imported,
    "pivcs.push/1": pushed_documents,
    "pivcs.fetch/1": fetched_documents,
    "pivcs.grep/1": _searched,
    "pivcs.files/1": _listed,
    "pivcs.showfile/1": _shown,
    "pivcs.showdirectory/1": _directory,
    "pivcs.blame/1": _blamed,
    "pivcs.why/1": _told,
}
"""What writes the documents of each schema."""
