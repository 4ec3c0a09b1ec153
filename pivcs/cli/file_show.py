"""`pivcs show REV:PATH`: a file as it was at an entry."""

from __future__ import annotations

import base64

import click

from pivcs.cli.bases import base_for, snapshots_on
from pivcs.cli.output import Output, warn
from pivcs.ops.files_at import FileRevision, NoFileThere, file_at, files_at, path_in, paths_below
from pivcs.ops.view import SessionView
from pivcs.render.documents import Document, encode
from pivcs.render.files_text import file_document, name_lines
from pivcs.render.text import visible
from pivcs.workspace.state import FileState, Provenance

NOT_EXACT = 1
"""Exit code for a file of which not all is known."""


def show_file(found: FileRevision, base: str | None, output: Output, *, raw: bool, as_json: bool) -> None:
    """Write what a file held at an entry, or the names of the files in a directory.

    Of a file that is not known as a whole, what is known is written with a warning, and the exit code is 1.
    """
    view, row = found.target.view, found.target.row
    for warning in found.target.warnings:
        warn(warning)
    known, taken = base_for(view, base)[0], snapshots_on(view, row)
    path = path_in(view, found.path)
    try:
        state = file_at(view, row, path, known, snapshots=taken)
    except NoFileThere:
        below = paths_below(files_at(view, row, known, snapshots=taken), path)
        if not below:
            raise
        if as_json:
            output.bytes([encode(_directory_document(view, row, below)), b"\n"])
        else:
            output.lines(name_lines(below))
        return
    if as_json:
        output.bytes([encode(_document(view, row, state)), b"\n"])
    elif state.content is not None and (raw or not output.is_terminal):
        output.bytes([state.content])
    else:
        text = "\n".join(state.patches) if state.content is None else state.content.decode("utf-8", "replace")
        output.lines(visible(line.rstrip("\r"), keep="\t") for line in text.removesuffix("\n").split("\n"))
    if not state.is_exact:
        warn(_caution(view, state))
        click.get_current_context().exit(NOT_EXACT)


def _caution(view: SessionView, state: FileState) -> str:
    path = state.path.text
    if state.provenance is Provenance.PATCH:
        return f"'{path}' is not known as a whole, only what was changed in it; --base COMMIT may help"
    since = "" if state.unknown_since is None else f" since '{view.table.name(state.unknown_since)}'"
    if state.content is None:
        return f"'{path}' may have been changed{since}, and what it was is not known"
    return f"'{path}' may have been changed{since}; this is what was last known"


def _document(view: SessionView, row: int, state: FileState) -> Document:
    document: Document = {
        "schema": "pivcs.showfile/1", "entry": view.table.name(row), "file": file_document(view, state),
    }  # fmt: skip
    try:
        document |= {"text": None if state.content is None else state.content.decode("utf-8"), "base64": None}
    except UnicodeDecodeError:
        document |= {"text": None, "base64": base64.b64encode(state.content or b"").decode()}
    return document | {"changes": list(state.patches)}


def _directory_document(view: SessionView, row: int, states: list[FileState]) -> Document:
    files = [file_document(view, state) for state in states]
    return {"schema": "pivcs.showdirectory/1", "entry": view.table.name(row), "files": files}
