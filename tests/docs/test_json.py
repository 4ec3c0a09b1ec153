"""`docs/json.md` and the documents that the commands write have the same fields, of the types that it says."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docs.generate import ROOT
from pivcs.cli import run
from pivcs.ops.demo import write_demo
from pivcs.ops.work_tree import WorkTree
from pivcs.render.status_text import _MEANING
from pivcs.store.store import Store
from tests.builders import (
    build_session,
    header_line,
    label_line,
    line,
    message_line,
    tool_call_line,
    tool_result_line,
)
from tests.docs.file_documents import FILE_DOCUMENTS
from tests.docs.forget_documents import FORGET_DOCUMENTS
from tests.docs.hook_documents import HOOK_DOCUMENTS
from tests.docs.link_documents import LINK_DOCUMENTS
from tests.docs.sharing_documents import names_of_others
from tests.gitbridge.real_git import find_git

_TEXT = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_SHAPES = (
    "session", "entry", "change", "file", "filechange", "author", "sums", "linkedsession", "linkedcommit", "madecommit",
)  # fmt: skip
_ONCE = {
    "author": "pivcs.blame/1", "file": "pivcs.files/1", "linkedcommit": "pivcs.link/1", "linkedsession": "pivcs.link/1",
    "session": "pivcs.log/1",
}  # fmt: skip
"""Shapes that are in several documents: one of them must have every field with every type."""
_CHECKS: dict[str, Callable[[object], bool]] = {
    "any": lambda value: True,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "number": lambda value: isinstance(value, float),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
    "time": lambda value: isinstance(value, str) and _TIME.fullmatch(value) is not None,
}


def section(heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", _TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def documented(heading: str, prefix: str = "", elsewhere: set[str] | None = None) -> dict[str, str]:
    """Return every field of a document with its type, those of the shapes that it refers to among them."""
    fields: dict[str, str] = {}
    for name, kind in re.findall(r"^\| `([^`]+)` \| ([a-z ]+) \|.*\|$", section(heading), re.MULTILINE):
        shape = kind.removesuffix(" or null")
        if shape in _SHAPES:
            fields |= {f"{prefix}{name}": kind.replace(shape, "object")} | documented(
                shape, f"{prefix}{name}.", elsewhere
            )
            if shape in _ONCE and heading != _ONCE[shape]:
                (elsewhere if elsewhere is not None else set()).add(f"{prefix}{name}.")
        elif set(kind.split(" or ")) <= set(_CHECKS):
            fields[prefix + name] = kind
    return fields


def fields_of(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield every field below a value; what is inside of `value` is the session's."""
    if isinstance(value, dict) and not path.endswith(".value"):
        for key, item in value.items():
            inner = f"{path}.{key}" if path else key
            yield inner, item
            yield from fields_of(item, inner)
    elif isinstance(value, list):
        for item in value:
            yield f"{path}[]", item
            yield from fields_of(item, f"{path}[]")


def odd_session() -> bytes:
    """A session in which every kind of finding but `no-header` occurs, and every field has a value."""
    first = message_line("bbbbbbbb", "aaaaaaaa", "assistant", "Done.")
    return build_session("a-b", header=header_line(parentSession="/home/dev/old.jsonl")) + b"".join(
        [
            header_line("second"),
            b"\n",
            b"{torn\n",
            line([1]),
            first[:50] + label_line("1abe0001", "bbbbbbbb", "aaaaaaaa", "here"),
            message_line("cccccccc", "dddddddd", content="orphan"),
            message_line("dddddddd", "bbbbbbbb", "toolResult", "wrong", isError=True, toolName="bash"),
            line({"type": "custom_message", "content": "caf\xe9", "id": "f", "parentId": "dddddddd"}).replace(
                "\xe9".encode(), b"\xe9"
            ),
            b'{"type":"pending',
        ]
    )


FILES: dict[str, bytes] = {
    "odd": odd_session(),
    "tree": build_session("a-b-c-d, b-e", labels={"b": "fork"}, kinds={"c": "name"}),
    "version 1": header_line(version=None) + line({"type": "message", "message": {"role": "user", "content": "Hi."}}),
    "no header": build_session("a-b", header=b""),
    "detached": build_session("a-b-c", extra=[label_line("1abe0009", "aaaaaaaa", "bbbbbbbb", "x")]),
    "label without time": build_session(
        "a", extra=[label_line("1abe0009", "aaaaaaaa", "aaaaaaaa", "x").replace(b'"timestamp"', b'"time"')]
    ),
    "two writers": build_session("a-b-c, a-d-e", kinds={"b": "tool", "c": "result", "d": "tool"}, leaf="c"),
    "blank": b"\n",
    "empty": b"",
    "pending": b"{",
}
COMMANDS = {
    "pivcs.log/1": ["log", "--all"],
    "pivcs.turns/1": ["log", "--all", "--turns"],
    "pivcs.show/1": ["show"],
    "pivcs.showcommit/1": ["show"],
    "pivcs.link/1": ["link"],
    "pivcs.status/1": ["status"],
    "pivcs.ls/1": ["ls"],
    "pivcs.sync/1": ["sync"],
    "pivcs.fsck/1": ["fsck"],
    "pivcs.gc/1": ["gc"],
    "pivcs.store/1": ["store", "info"],
    "pivcs.revparse/1": ["rev-parse"],
    "pivcs.mergebase/1": ["merge-base"],
    "pivcs.diff/1": ["diff"],
    "pivcs.reflog/1": ["reflog"],
    "pivcs.branch/1": ["branch", "--all"],
    "pivcs.tag/1": ["tag"],
    "pivcs.label/1": ["label"],
    "pivcs.snapshot/1": ["snapshot"],
    "pivcs.restore/1": ["restore"],
    "pivcs.export/1": ["export"],
    "pivcs.archive/1": ["archive"],
    "pivcs.import/1": ["import"],
    "pivcs.push/1": ["push"],
    "pivcs.fetch/1": ["fetch"],
    "pivcs.scan/1": ["scan"],
    "pivcs.allowed/1": ["scan", "--list-allowed"],
    "pivcs.hooks/1": ["hooks", "status"],
    "pivcs.grep/1": ["grep"],
    "pivcs.stats/1": ["stats"],
    "pivcs.files/1": ["files"],
    "pivcs.showfile/1": ["show"],
    "pivcs.showdirectory/1": ["show"],
    "pivcs.blame/1": ["blame"],
    "pivcs.why/1": ["why"],
    "pivcs.refs/1": ["tag", "here"],
    "pivcs.op/1": ["op", "log"],
    "pivcs.written/1": ["checkout"],
    "pivcs.context/1": ["context"],
    "pivcs.deleted/1": ["delete"],
    "pivcs.forget/1": ["forget"],
    "pivcs.remembered/1": ["forget"],
}
Capture = pytest.CaptureFixture[bytes]
Documents = list[dict[str, object]]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Session files of all kinds; one was rewritten since it was seen, one has gone, one was there twice."""
    paths = [tmp_path / f"{name}.jsonl" for name in FILES]
    for path in paths:
        path.write_bytes(FILES[path.stem])
    gone, rewritten = tmp_path / "gone.jsonl", tmp_path / "rewritten.jsonl"
    for path in (gone, rewritten):
        path.write_bytes(build_session("a-b", header=header_line(path.stem)))
    assert run(["sync", "--quiet", str(gone), str(rewritten)]) == 0
    assert run(["tag", "fixed", str(tmp_path / "tree.jsonl"), "HEAD~2"]) == 0
    gone.unlink()
    rewritten.write_bytes(build_session("c", header=header_line("rewritten")))
    return [write_demo(tmp_path), *paths, gone, rewritten]


def documents(schema: str, files: list[Path], capfdbinary: Capture) -> Documents:
    if schema in MADE_FOR:
        return MADE_FOR[schema](files, capfdbinary)
    found = []
    for path in files:
        revisions = names_in(path, capfdbinary) if schema == "pivcs.show/1" else []
        if revisions or schema != "pivcs.show/1":
            found.append(written(capfdbinary, *COMMANDS[schema], "--json", str(path), *revisions))
    return found


def synced(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `sync` says of new, known and missing files, of a moved one, and of one that only `--all` misses."""
    directory = files[0].parent
    found = [written(capfdbinary, "sync", "--json", str(directory), *map(str, files))]
    found.append(written(capfdbinary, "sync", "--json", str(directory / "missing"), code=10))
    (directory / "tree.jsonl").rename(directory / "elsewhere.jsonl")
    (directory / "blank.jsonl").unlink()
    with (directory / "odd.jsonl").open("ab") as file:
        file.write(b"\n")
    (directory / "no header.jsonl").write_bytes(b"")
    found.append(written(capfdbinary, "sync", "--json", str(directory)))
    found.append(written(capfdbinary, "sync", "--all", "--json", code=10))
    written(capfdbinary, "forget", "--yes", "--json", str(directory / "detached.jsonl"))
    found.append(written(capfdbinary, "sync", "--json", str(directory / "detached.jsonl")))
    return found


def checked(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `fsck` says of odd files, of one that has gone, one that was changed, and of a damaged store."""
    written(capfdbinary, "sync", "--json", str(files[0].parent))
    found = [written(capfdbinary, "fsck", "--json")]
    files[0].write_bytes(files[0].read_bytes().replace(b"cents", b"coins", 1))
    connection = sqlite3.connect(os.environ["XDG_DATA_HOME"] + "/pivcs/store.db", isolation_level=None)
    connection.execute("UPDATE stream SET session = 9999 WHERE id = 1")
    connection.close()
    return [*found, written(capfdbinary, "fsck", "--json", code=1)]


def collected(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `gc` says before and after, without and with snapshots."""
    written(capfdbinary, "sync", "--json", str(files[0].parent))
    before = written(capfdbinary, "gc", "--json")
    taken(files, capfdbinary)
    return [before, *(written(capfdbinary, "gc", "--json", *options) for options in ((), ("--apply",)))]


def described(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `store info` says of an empty store and of one with sessions."""
    empty = files[0].parent / "none.db"
    Store.open(empty, create=True).close()
    shown = written(capfdbinary, "store", "info", "--json", "--store", str(empty))
    written(capfdbinary, "sync", "--json", str(files[0].parent))
    return [shown, written(capfdbinary, "store", "info", "--json")]


def resolved(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what names, ranges and empty sets resolve to."""
    tree = str(files[0].parent / "tree.jsonl")
    found = [written(capfdbinary, "rev-parse", "--json", tree, "main", "HEAD", "main..main")]
    return found + [written(capfdbinary, "rev-parse", "--json", str(path), "all()") for path in files]


def parted(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return where paths part, and that they have nothing in common."""
    tree, odd = str(files[0].parent / "tree.jsonl"), str(files[0].parent / "odd.jsonl")
    both = (["main", "HEAD"], ["HEAD", "main"])
    found = [written(capfdbinary, "merge-base", "--json", tree, *names) for names in both]
    found.append(written(capfdbinary, "merge-base", "--json", odd, "cccccccc", "aaaaaaaa", code=1))
    copy = files[0].parent / "relative.jsonl"
    copy.write_bytes((files[0].parent / "tree.jsonl").read_bytes().replace(b'"timestamp":1', b'"timestamp": 1'))
    return [*found, written(capfdbinary, "merge-base", "--json", tree, str(copy))]


def compared(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return comparisons: of attempts, of three, of nothing in common, of settings, times and files of every kind."""
    directory, demo = files[0].parent, str(files[0])
    lines = [header_line(), message_line("00000001"), message_line("00000002", "00000001", "assistant")]
    lines.append(line({"type": "model_change", "id": "00000003", "parentId": "00000002"}))
    lines.append(line({"type": "thinking_level_change", "id": "00000004", "parentId": "00000003"}))
    for number, tokens in enumerate((1, None)):
        compaction = {"type": "compaction", "id": f"0000001{number}", "parentId": "00000002", "summary": "x"}
        lines.append(line({**compaction, "firstKeptEntryId": "00000001", "tokensBefore": tokens}))
    edit = {"path": "known by its change", "oldText": "a", "newText": "b"}
    patch = "--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n"
    lines.append(tool_call_line("00000021", "00000002", "edit", edit))
    done = tool_result_line("00000022", "00000021", "edit", "done")
    lines.append(done.replace(b'"isError"', b'"details":' + line({"patch": patch}).strip() + b',"isError"'))
    odd = directory / "compared.jsonl"
    odd.write_bytes(b"".join(lines))
    roots, relative = directory / "roots.jsonl", directory / "retyped.jsonl"
    roots.write_bytes(build_session("a-b, c-d, a-e", texts={"a": "Go on.", "c": "Go on."}))
    relative.write_bytes(roots.read_bytes().replace(b'"timestamp":1', b'"timestamp": 1'))
    nameless = directory / "nameless.jsonl"
    say = {"type": "message", "message": {"role": "user", "content": "x"}}
    old = {"type": "message", "message": {"role": "assistant", "content": "y"}}
    nameless.write_bytes(header_line(version=None) + line(say) + line(old))
    asked = [
        [demo, "main", "HEAD"], [demo, "main", "5c5581d4", "HEAD"], [demo, "main", "main"],
        [demo, "main", "HEAD", "--context"], [str(roots), "aaaaaaaa", "cccccccc", "--context"],
        [str(roots), "bbbbbbbb", "dddddddd"], [f"{roots}::HEAD", f"{relative}::b-eeeeeeee"],
        [str(odd), "00000004", "00000010", "--context"], [str(odd), "00000011", "00000004", "--context"],
        [str(odd), "00000002", "00000022"], [str(odd), "00000022", "00000002"], [str(nameless), "L2", "L3"],
    ]  # fmt: skip
    return [written(capfdbinary, "diff", "--json", *arguments) for arguments in asked]


def moved(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return the history of HEAD, and of a branch that was deleted and came back."""
    tree = str(files[0].parent / "tree.jsonl")
    for arguments in (["branch", tree, "-d", "main"], ["undo"]):
        assert run(arguments) == 0
        capfdbinary.readouterr()
    asked = [[tree, "main"], *([str(path)] for path in files)]
    return [written(capfdbinary, "reflog", "--json", *names) for names in asked]


def changed(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what commands say that set, move and delete tags, and undo that."""
    tree = next(path for path in files if path.stem == "tree")
    found = [written(capfdbinary, "tag", "--json", "here", str(tree))]
    found.append(written(capfdbinary, "tag", "--json", "--force", "here", "HEAD~1", str(tree)))
    found.append(written(capfdbinary, "tag", "--json", "--delete", "here", str(tree)))
    return [*found, *(written(capfdbinary, word, "--json") for word in ("undo", "redo"))]


def logged(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return the log of operations after some of each kind."""
    changed(files, capfdbinary)
    return [written(capfdbinary, "op", "log", "--json")]


def went_back(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what commands say that write sessions: new ones, and one in place; with and without ids and entries."""
    directory = files[0].parent
    tree, old = str(directory / "tree.jsonl"), str(directory / "version 1.jsonl")
    asked = [
        ["checkout", tree, "main"],
        ["cherry-pick", tree, "aaaaaaaa..main", "--onto", "b-eeeeeeee"],
        ["switch", str(directory / "no header.jsonl"), "HEAD"],
        ["fork", tree, "aaaaaaaa"],
        ["migrate", old, "-o", str(directory / "migrated")],
    ]
    return [written(capfdbinary, *arguments, "--json") for arguments in asked]


def looked_through(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `scan` says of secrets in an entry and in an unfinished line, allowed and not, and of none."""
    leaky, headless = files[0].parent / "leaky.jsonl", files[0].parent / "empty.jsonl"
    token = "gh" + "p_" + "aZ3kQ9xW7mB2nV5cL8pR1tY6uI4oD0eF2gH7"
    leaky.write_bytes(header_line("leaky") + message_line("aaaaaaaa", content=token) + b"{" + token.encode())
    found = [written(capfdbinary, "scan", "--json", str(leaky), str(headless), code=1)]
    assert run(["scan", str(leaky), "--allow-all"]) == 0
    capfdbinary.readouterr()
    headless.write_bytes(b'"' + token.encode())
    return [*found, written(capfdbinary, "scan", "--json", str(leaky), str(headless))]


def may_leave(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what may leave by the store, and by a file of the project."""
    directory = files[0].parent
    (directory / ".pivcs-allow").write_text("0123456789abcdef a test's\n")
    leaky = directory / "leaky.jsonl"
    token = "gh" + "p_" + "aZ3kQ9xW7mB2nV5cL8pR1tY6uI4oD0eF2gH7"
    leaky.write_bytes(header_line("leaky") + message_line("aaaaaaaa", content=token))
    assert run(["scan", "--allow-all", str(leaky)]) == 0
    capfdbinary.readouterr()
    return [written(capfdbinary, "-C", str(directory), "scan", "--list-allowed", "--json")]


def seen_by_the_model(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return contexts with and without a model, an answer that was measured, and entries with ids."""
    directory = files[0].parent
    odd = directory / "settings.jsonl"
    nameless = line({"type": "message", "message": {"role": "user", "content": "x"}})
    settings = [line({"type": kind, "id": kind}) for kind in ("model_change", "thinking_level_change")]
    second = settings[1].replace(b"}", b',"parentId":"model_change"}')
    last = nameless.replace(b"}}", b'},"parentId":"model_change"}')
    odd.write_bytes(header_line(parentSession="/home/dev/old.jsonl") + settings[0] + second + last)
    asked = [[str(files[0])], [str(odd)], [str(odd), "thinking_level_change"], [str(directory / "tree.jsonl")]]
    asked += [[str(directory / "empty.jsonl")], [str(files[0]), "--llm"]]
    return [written(capfdbinary, "context", "--json", *arguments) for arguments in asked]


def deleted(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return what `delete` says of a session and of an empty file."""
    names = [str(files[0].parent / f"{stem}.jsonl") for stem in ("tree", "empty")]
    return [written(capfdbinary, "delete", "--json", "--yes", "--permanent", name) for name in names]


def taken(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return snapshots: of a session without an entry, with a repository left out, and of an older generation."""
    find_git()
    project = files[0].parent / "project"
    (project / "nested").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", project / "nested"], check=True)
    header = header_line("snapshots", cwd=str(project))
    path = files[0].parent / "snapshots.jsonl"
    found = []
    for data in (header, build_session("a-b", header=header), build_session("c", header=header)):
        path.write_bytes(data)
        found.append(written(capfdbinary, "snapshot", "--json", str(path)))
    return found + [written(capfdbinary, "snapshot", "--json", "--list", str(each)) for each in (path, *files)]


def restored(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return a plan with all that a file can be, and what was done where one file could not be restored."""
    find_git()
    root = files[0].parent / "restored"
    root.mkdir()
    calls = [("a", "old"), ("b", "old"), ("a", "new"), ("/else/where", "x"), (".git/x", "x")]
    lines = [header_line("restored", cwd=str(root))]
    parent: str | None = None
    for number, (name, content) in enumerate([*calls, ("bash", "sed -i s/x/y/ b")]):
        tool, arguments = "write", {"path": name, "content": content}
        if name == "bash":
            tool, arguments = name, {"command": content}
        call, answer = f"{number:08x}", f"1000000{number}"
        lines += [tool_call_line(call, parent, tool, {**arguments}), tool_result_line(answer, call, tool)]
        parent = answer
    (root / "session.jsonl").write_bytes(b"".join(lines))
    (root / "a").write_bytes(b"new")
    asked = [str(root / "session.jsonl"), "--into", str(root), "--base", "none"]
    found = [written(capfdbinary, "restore", "--json", *asked[:1], "HEAD", *asked[1:])]
    found.append(written(capfdbinary, "restore", "--json", "--apply", *asked[:1], "HEAD~8", *asked[1:]))
    assert run(["snapshot", asked[0]]) == 0
    capfdbinary.readouterr()
    (root / "a").unlink()
    found.append(written(capfdbinary, "restore", "--json", *asked[:1], "HEAD", *asked[1:]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkTree, "put", no_space)
        found.append(written(capfdbinary, "restore", "--json", "--apply", *asked[:1], "HEAD", *asked[1:], code=20))
    return found


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def tagged(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return tags of entries with and without a time, and of one in an older generation."""
    for path in files:
        run(["tag", f"of-{path.stem.replace(' ', '-')}", str(path)])  # empty files have no entry
    next(path for path in files if path.stem == "tree").write_bytes(build_session("c-d"))
    capfdbinary.readouterr()
    found = [written(capfdbinary, "tag", "--json", str(path)) for path in files]
    return found + names_of_others("tag", files, capfdbinary)


def branched(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return branches of all sessions, and those that another machine has named."""
    found = [written(capfdbinary, "branch", "--all", "--json", str(path)) for path in files]
    return found + names_of_others("branch --all", files, capfdbinary)


def counted(files: list[Path], capfdbinary: Capture) -> Documents:
    """Return statistics of everything, of nothing, of one time, and in groups of sessions, branches and models."""
    tree, directory = str(next(path for path in files if path.stem == "tree")), str(files[0].parent)
    when = ["--since", "2026-01-01T00:00:00Z", "--until", "2026-02-01T00:00:00Z"]
    asked = [[tree], [str(files[0].parent / "empty.jsonl")], [tree, *when], [directory, "--by", "session"]]
    asked += [[tree, "--by", "branch"], [directory, "--by", "model"]]
    return [written(capfdbinary, "stats", "--json", *arguments) for arguments in asked]


MADE_FOR: dict[str, Callable[[list[Path], Capture], Documents]] = {
    "pivcs.sync/1": synced,
    "pivcs.fsck/1": checked,
    "pivcs.gc/1": collected,
    "pivcs.store/1": described,
    "pivcs.revparse/1": resolved,
    "pivcs.mergebase/1": parted,
    "pivcs.diff/1": compared,
    "pivcs.reflog/1": moved,
    "pivcs.refs/1": changed,
    "pivcs.op/1": logged,
    "pivcs.scan/1": looked_through,
    "pivcs.allowed/1": may_leave,
    "pivcs.tag/1": tagged,
    "pivcs.branch/1": branched,
    "pivcs.snapshot/1": taken,
    "pivcs.restore/1": restored,
    "pivcs.written/1": went_back,
    "pivcs.context/1": seen_by_the_model,
    "pivcs.deleted/1": deleted,
    "pivcs.stats/1": counted,
} | FILE_DOCUMENTS | FORGET_DOCUMENTS | HOOK_DOCUMENTS | LINK_DOCUMENTS
"""Schemas of commands that are not about one session file each."""


def written(capfdbinary: Capture, *arguments: str, code: int = 0) -> dict[str, object]:
    assert run(arguments) == code
    document: dict[str, object] = json.loads(capfdbinary.readouterr().out)
    return document


def names_in(path: Path, capfdbinary: Capture) -> list[str]:
    entries = written(capfdbinary, "log", "--all", "--json", str(path))["entries"]
    assert isinstance(entries, list)
    return [entry["entry"] for entry in entries]


@pytest.mark.parametrize("schema", COMMANDS)
def test_written_fields_are_the_documented_ones(schema: str, files: list[Path], capfdbinary: Capture) -> None:
    elsewhere: set[str] = set()
    fields = documented(schema, elsewhere=elsewhere)
    met = set()
    for document in documents(schema, files, capfdbinary):
        assert next(iter(document.items())) == ("schema", schema)
        for name, value in fields_of(document):
            kinds = fields.get(name, "").split(" or ")
            assert any(_CHECKS[kind](value) for kind in kinds if kind), f"{name}: {value!r}"
            met |= {(name, kind) for kind in kinds if _CHECKS[kind](value)}
    wanted = {name: kinds for name, kinds in fields.items() if not name.startswith(tuple(elsewhere))}
    assert met >= {(name, kind) for name, kinds in wanted.items() for kind in kinds.split(" or ")}


def test_every_schema_of_the_program_is_documented() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "pivcs").rglob("*.py"))
    assert set(re.findall(r"\bpivcs\.[a-z]+/\d+", sources)) == set(COMMANDS)
    assert set(re.findall(r"^## (pivcs\..+)$", _TEXT, re.MULTILINE)) == set(COMMANDS)


def test_every_kind_of_finding_is_documented_and_met(files: list[Path], capfdbinary: Capture) -> None:
    listed = set(re.findall(r"^\| `([a-z0-9-]+)` \| [^|]+ \| [^|]*\|$", section("pivcs.status/1"), re.MULTILINE))
    listed -= set(documented("pivcs.status/1"))
    met = {
        str(value)
        for document in documents("pivcs.status/1", files, capfdbinary)
        for name, value in fields_of(document)
        if name == "findings[].kind"
    }
    assert listed == met == set(_MEANING)


def test_every_state_of_a_session_is_documented_and_met(files: list[Path], capfdbinary: Capture) -> None:
    states = re.search(r"^States: (.+?)\n\n", section("pivcs.ls/1"), re.MULTILINE | re.DOTALL)
    assert states is not None
    met = {
        str(value)
        for document in documents("pivcs.ls/1", files, capfdbinary)
        for name, value in fields_of(document)
        if name == "sessions[].state[]"
    }
    assert set(re.findall(r"`([^`]+)`", states[1])) == met


def test_every_outcome_of_a_sync_is_documented_and_met(files: list[Path], capfdbinary: Capture) -> None:
    outcomes = re.search(r"^Outcomes: (.+?)\n\n", section("pivcs.sync/1"), re.MULTILINE | re.DOTALL)
    assert outcomes is not None
    met = {
        str(value)
        for document in documents("pivcs.sync/1", files, capfdbinary)
        for name, value in fields_of(document)
        if name == "files[].outcome"
    }
    assert set(re.findall(r"`([^`]+)`", outcomes[1])) == met


def test_names_of_entries_are_revisions(files: list[Path], capfdbinary: Capture) -> None:
    for path in files:
        for name in names_in(path, capfdbinary):
            entries = written(capfdbinary, "show", "--json", str(path), name)["entries"]
            assert isinstance(entries, list)
            assert [entry["entry"] for entry in entries] == [name]
