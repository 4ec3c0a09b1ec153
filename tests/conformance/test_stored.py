"""Every session file there is goes into the store and comes back."""

from __future__ import annotations

import shutil
from pathlib import Path

from pivcs.objects.index import index_source
from pivcs.session.source import BytesSource
from tests.ops.syncing import Box, facts
from tests.store.filling import columns
from tests.store.limits import small_limits


def copied(session_file: Path, directory: Path) -> Box:
    directory.mkdir()
    box = Box(directory)
    shutil.copyfile(session_file, box.path)
    return box


def test_bytes_come_back_after_the_file_is_gone(session_file: Path, tmp_path: Path) -> None:
    box, data = copied(session_file, tmp_path / "whole"), session_file.read_bytes()
    stream = box.sync().stream
    assert stream is not None
    assert columns(box.store.table_of(stream)) == columns(index_source(BytesSource(data))[0])
    before = box.changes()
    assert box.sync().outcome == "unchanged"
    assert box.changes() == before
    assert box.path.read_bytes() == data
    box.path.unlink()
    assert box.cat(box.path) == data
    if stream.session is not None:
        assert box.cat(stream.session.hex()) == data


def test_file_that_came_in_steps_is_stored_as_one_that_came_at_once(session_file: Path, tmp_path: Path) -> None:
    box, data = copied(session_file, tmp_path / "whole"), session_file.read_bytes()
    with small_limits(in_memory=20_000):
        once = box.sync().stream
        steps = Box(tmp_path / "steps")
        steps.directory.mkdir()
        steps.write(b"")
        step = max(1, len(data) // 7)
        for at in range(0, len(data), step):
            steps.append(data[at : at + step])
            grown = steps.sync()
            assert grown.outcome in ("new", "appended")
        if data:
            assert once is not None
            assert grown.stream is not None
            assert facts(steps.store, grown.stream) == facts(box.store, once)
