"""What `context` shows of every fixture is what the real client builds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pivcs.ops.context_view import ShownContext, context_at
from pivcs.ops.revision import resolve
from pivcs.ops.view import SessionView
from pivcs.session.migrations import version_of
from pivcs.session.values import iter_kept
from tests.conformance.conftest import Case
from tests.conformance.test_session import plain
from tests.ops.syncing import Box


def row_of(view: SessionView, case: Case, ident: str) -> int | None:
    """Return the row of an entry, None for the last one without LF, which is no line yet but counts for the client.

    The expectations number the entries of version 1 among the kept values.
    """
    if not case.data.endswith(b"\n") and ident == case.expected["leafId"]:
        return None
    if version_of(view.header.fields) >= 2:
        return resolve(view, f"entry/{ident}")
    lines = [n for n, line in enumerate(case.data.split(b"\n"), 1) for _ in iter_kept([line])]
    return resolve(view, f"L{lines[int(ident[1:])]}")


def messages(context: ShownContext) -> list[Any]:
    return [spoken.message for spoken in context.messages]


def test_context_at_every_leaf_is_the_clients(leafy: Case, tmp_path: Path) -> None:
    box = Box(tmp_path)
    shutil.copyfile(leafy.path, box.path)
    view = box.reader.open(str(box.path))
    for leaf in leafy.expected["leaves"]:
        context = context_at(view, row_of(view, leafy, leaf["id"]))
        assert messages(context) == leaf["context"]["messages"]
        assert plain(context.settings) == {key: leaf["context"][key] for key in ("thinkingLevel", "model")}
        entries = [spoken.entry for spoken in context.messages]
        if version_of(view.header.fields) >= 2:
            assert set(entries) <= set(leaf["contextEntryIds"])
        if leaf["id"] == leafy.expected["leafId"]:
            assert context_at(view, None) == context
    assert box.path.read_bytes() == leafy.data
