from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pivcs.session.describe import LONGEST, subject
from pivcs.session.entries import Entry
from pivcs.session.listitem import NotListed, list_item, read_header
from pivcs.session.migrations import migrate
from pivcs.session.settings import settings_of
from pivcs.session.tree import SessionTree
from pivcs.session.values import NotASession, entries_of, kept_values, open_values


def test_any_file_can_be_read_and_is_left_alone(session_file: Path) -> None:
    before = session_file.read_bytes(), session_file.stat().st_mtime_ns
    data = before[0]
    header = read_header(session_file)
    try:
        opening = open_values(data, session_file.name)
    except NotASession:
        assert header is None
    else:
        assert opening.header == header or not data
    with suppress(NotListed):
        assert list_item(session_file).message_count <= data.count(b"\n") + 1
    assert (session_file.read_bytes(), session_file.stat().st_mtime_ns) == before


def test_any_entry_can_be_described(session_file: Path) -> None:
    for value in kept_values(session_file.read_bytes()):
        text = subject(value)
        assert text
        assert "\n" not in text
        assert len(text) <= LONGEST
        entry = Entry(value)
        assert len(entry.blocks()) >= len(entry.text_blocks()) + len(entry.images()) + len(entry.tool_calls())


def test_any_tree_shows_every_line_and_every_path_ends(session_file: Path) -> None:
    values = migrate(kept_values(session_file.read_bytes()), lambda place: f"L{place}")
    tree = SessionTree(entries_of(values))
    assert {visit.id for visit in tree.walk()} == set(tree.ids)
    for leaf in tree.leaves():
        path = tree.path(leaf)
        assert leaf is None or path[-1] == leaf
        assert settings_of(tree.entry(ident) for ident in path)
