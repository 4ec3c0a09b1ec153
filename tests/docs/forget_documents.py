"""Documents about what was forgotten: plans and outcomes, of entries and sessions, and what lists say afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from pivcs.cli import run
from tests.builders import build_session, header_line, message_line, tool_call_line, tool_result_line
from tests.docs.sharing_documents import imported_lists
from tests.gitbridge.git import git, new_repository

Capture = pytest.CaptureFixture[bytes]
Documents = list[dict[str, object]]
TEXT = "What item42x says here is to be forgotten."


def forgotten(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `forget` says before and after, with and without everything that there can be."""
    project = new_repository(files[0].parent / "forgetting")
    git(project, "remote", "add", "origin", "https://git.example.org/p.git")
    path, fork = files[0].parent / "forgotten.jsonl", files[0].parent / "fork.jsonl"
    lines = message_line("aaaaaaaa", None, "user", "Begin.")
    for call, answer, parent, text in (("b", "c", "a", TEXT), ("e", "f", "c", "other")):
        arguments = {"path": "a.txt", "content": text}
        lines += tool_call_line(call * 8, parent * 8, "write", {**arguments})
        lines += tool_result_line(answer * 8, call * 8, "write")
    lines += message_line("dddddddd", None, "user", TEXT)
    (project / "a.txt").write_text("other")
    path.write_bytes(header_line("f0", cwd=str(project)) + lines)
    fork.write_bytes(header_line("f1", cwd=str(project)) + lines)
    headerless = files[0].parent / "headerless.jsonl"
    headerless.write_bytes(lines)
    with chdir(project):
        for command in (
            ["sync", str(path), str(fork), str(headerless)],
            ["branch", str(path), "mine", "HEAD"],
            ["tag", str(path), TEXT.split()[-1].strip("."), "HEAD"],
            ["tag", str(path), "item42x", "HEAD"],
            ["restore", str(path), "cccccccc", "--into", str(project), "--base", "none", "--apply"],
            ["branch", str(path), "--name-all"],
            ["archive", str(path)],
            ["snapshot", "-s", str(path)],
        ):
            assert run(command) == 0
        capfdbinary.readouterr()
        (ident,) = {name.split("/")[2] for name in _refs(project)}
        commit = git(project, "for-each-ref", "--format=%(objectname)", "--count=1").decode().strip()
        git(project, "update-ref", f"refs/heads/2026-01-01-{ident[:8]}/main", commit)
        git(project, "update-ref", f"refs/pivcs/{ident}/s/{'0' * 16}", commit)
        (stream,) = [name for name in _refs(project) if "/s/" in name and "/s/0000" not in name]
        kept = git(project, "rev-parse", stream).decode().strip()
        git(project, "update-ref", stream.replace("refs/pivcs/", "refs/pivcs-remotes/origin/"), kept)
        found = [_written(capfdbinary, "forget", "--json", str(path), "dddddddd", *more) for more in ((), ("--yes",))]
        found.append(_written(capfdbinary, "forget", "--json", str(path), "dddddddd"))
        found += [_written(capfdbinary, "forget", "--json", str(path), *more) for more in ((), ("--yes",))]
    return found


def _refs(project: Path) -> list[str]:
    return git(project, "for-each-ref", "--format=%(refname)", "refs/pivcs/").decode().split()


def remembered(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `forget --remember` says of an entry and of a session."""
    path = files[0].parent / "remembered.jsonl"
    path.write_bytes(build_session("a-b", header=header_line("remembered")))
    entries = _written(capfdbinary, "forget", "--json", "--yes", str(path), "aaaaaaaa")["entries"]
    session = _written(capfdbinary, "forget", "--json", "--yes", str(path))["session"]
    assert isinstance(entries, list)
    assert isinstance(session, dict)
    names = (entries[0]["oids"][0], session["key"])
    return [_written(capfdbinary, "forget", "--json", "--remember", name) for name in names]


def listed(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `ls` says of each file, of one whose session was forgotten, and of one from another machine."""
    path = files[0].parent / "no more.jsonl"
    path.write_bytes(build_session("a-b", header=header_line("no more")))
    _written(capfdbinary, "forget", "--json", "--yes", str(path))
    found = [_written(capfdbinary, "ls", "--json", str(each)) for each in (*files, path)]
    return [*found, *imported_lists(files, capfdbinary)]


def _written(capfdbinary: Capture, *arguments: str) -> dict[str, object]:
    capfdbinary.readouterr()
    assert run(arguments) in (0, 1)
    document: dict[str, object] = json.loads(capfdbinary.readouterr().out)
    return document


FORGET_DOCUMENTS: dict[str, Callable[[list[Path], Capture], Documents]] = {
    "pivcs.forget/1": forgotten,
    "pivcs.remembered/1": remembered,
    "pivcs.ls/1": listed,
}
