"""What an export leaves for the next one: the commits of a session's nodes, and what was known at the ends of its
paths, so that an entry more costs an entry and not the session.

It is a file in the repository that was exported to, `pivcs/review/` in its git directory, which no clone takes along.
It can go at any time: then the next export makes everything anew, with the same ids. One that does not fit the session,
the options or this version is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.gitbridge.export_cache import read_cache, rows_digest, write_cache
from pivcs.gitbridge.review_options import ReviewOptions
from pivcs.gitbridge.review_path import Blob, ReviewPath
from pivcs.gitbridge.review_text import Said
from pivcs.gitbridge.trees import Reader, stored_tree
from pivcs.ops.view import SessionView
from pivcs.workspace.base import Base
from pivcs.workspace.saved import SavedFile, SavedReplay, restored, save
from pivcs.workspace.state import FilePath

PATHS: Final = 8
"""Ends of paths that are remembered, the latest ones; who goes on from another one pays for the whole session."""
LARGEST: Final = 256 << 20
"""Bytes of files' contents that are remembered at most: nothing is for a session with more."""
_ID: Final = 20
_NONE: Final = b"\0" * _ID


class CommitsOfRows:
    """The commits of the rows of a stream: 20 bytes a row."""

    def __init__(self, data: bytes = b"", count: int = 0) -> None:
        self._data = bytearray(data)
        self._count = count

    def __len__(self) -> int:
        """Return how many rows have a commit."""
        return self._count

    def get(self, row: int) -> bytes | None:
        """Return the commit of a row."""
        found = bytes(self._data[row * _ID : (row + 1) * _ID])
        return found if found and found != _NONE else None

    def put(self, row: int, commit: bytes) -> None:
        """Remember the commit of a row."""
        missing = (row + 1) * _ID - len(self._data)
        if missing > 0:
            self._data += bytes(missing)
        self._count += self.get(row) is None
        self._data[row * _ID : (row + 1) * _ID] = commit

    def values(self) -> Iterator[bytes]:
        """Yield the commits of the rows that have one."""
        for at in range(0, len(self._data), _ID):
            commit = bytes(self._data[at : at + _ID])
            if commit != _NONE:
                yield commit

    def row_of(self, commit: bytes) -> int | None:
        """Return the first row that has a commit."""
        at = self._data.find(commit)
        while at >= 0 and at % _ID:
            at = self._data.find(commit, at + 1)
        return at // _ID if at >= 0 else None

    def encode(self) -> bytes:
        """Return the bytes of all."""
        return bytes(self._data)


class _File(NamedTuple):
    """A file at the end of a path; its content, and what is in the tree for it, by their places in `contents`."""

    file: SavedFile
    content: int | None
    blob: int | None


class _Path(NamedTuple):
    row: int
    commit: bytes | None
    step: bytes | None
    tree: bytes
    time: int
    committed: int
    turn: int
    part: int
    entries: int
    page: bytes | None
    said: tuple[Said, ...]
    files: tuple[_File, ...]
    others: tuple[tuple[FilePath, int], ...]
    replay: SavedReplay


class _Saved(NamedTuple):
    rows: int
    oids: bytes
    commits: bytes
    commit_count: int
    touched: tuple[FilePath, ...]
    contents: tuple[tuple[bytes, bytes], ...]
    paths: tuple[_Path, ...]


class Ends(Mapping[int, ReviewPath]):
    """What is known at the ends of paths, by row. One is made, and trees of the repository are read for it, when it is
    asked for."""

    def __init__(
        self, paths: Iterable[_Path] = (), contents: Sequence[tuple[bytes, bytes]] = (),
        make: Callable[[_Path, Sequence[tuple[bytes, bytes]]], ReviewPath] | None = None,
    ) -> None:  # fmt: skip
        self._paths = {path.row: path for path in paths}
        self._contents = contents
        self._make = make

    def __getitem__(self, row: int) -> ReviewPath:
        path = self._paths[row]
        assert self._make is not None
        return self._make(path, self._contents)

    def __iter__(self) -> Iterator[int]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, row: object) -> bool:
        return row in self._paths

    def saved_again(self, row: int, contents: _Contents) -> _Path:
        """Return what was saved of an end, as it is with other contents."""
        path = self._paths[row]

        def place(old: int | None) -> int | None:
            return None if old is None else contents.place(Blob(*self._contents[old]))

        files = tuple(_File(each.file, place(each.content), place(each.blob)) for each in path.files)
        others = tuple((file, contents.place(Blob(*self._contents[old]))) for file, old in path.others)
        return path._replace(files=files, others=others)


class Known(NamedTuple):
    """What an earlier export has left: the commits of rows, the files that were touched, and the ends of paths."""

    commits: CommitsOfRows
    touched: dict[FilePath, None]
    ends: Ends


class ReviewCache:
    """The file of one session and one way to make review commits. `read` gives the bytes of trees of the repository."""

    def __init__(
        self, git_dir: Path, view: SessionView, options: ReviewOptions, read: Reader, base: Base | None
    ) -> None:
        key = view.key.hex[:16] if view.key is not None else "none"
        self._file = git_dir / "pivcs" / "review" / f"{key}-{options.digest()}"
        self._view = view
        self._read = read
        self._base = base

    def load(self) -> Known | None:
        """Return what is known; None when there is nothing that fits."""
        saved = read_cache(self._file, _Saved)
        table = self._view.table
        if saved is None or saved.rows > len(table) or saved.oids != rows_digest(table, saved.rows):
            return None
        ends = Ends(saved.paths, saved.contents, self._loaded)
        return Known(CommitsOfRows(saved.commits, saved.commit_count), dict.fromkeys(saved.touched), ends)

    def save(
        self, commits: CommitsOfRows, touched: Iterable[FilePath], ends: Mapping[int, ReviewPath | None], old: Ends
    ) -> None:
        """Write down what is known now; where it cannot be written nothing happens. Ends that are None are as they were
        in `old`."""
        contents = _Contents()
        paths = tuple(
            old.saved_again(row, contents) if (path := ends[row]) is None else _saved(row, path, contents)
            for row in sorted(ends)[-PATHS:]
        )
        if contents.size > LARGEST:
            with suppress(OSError):
                self._file.unlink()
            return
        rows = len(self._view.table)
        saved = _Saved(
            rows, rows_digest(self._view.table, rows), commits.encode(), len(commits), tuple(touched),
            tuple(contents.found), paths,
        )  # fmt: skip
        write_cache(self._file, saved)

    def _loaded(self, saved: _Path, contents: Sequence[tuple[bytes, bytes]]) -> ReviewPath:
        files = tuple(
            each.file if each.content is None else SavedFile(
                replace(each.file.state, content=contents[each.content][1]), each.file.told
            )
            for each in saved.files
        )  # fmt: skip
        view = self._view
        replay = restored(
            saved.replay._replace(files=files), view.header.cwd, self._base, lambda row: view.entry(row).message
        )
        path = ReviewPath(replay)
        path.commit, path.step, path.tree = saved.commit, saved.step, stored_tree(saved.tree, self._read)
        path.time, path.committed, path.turn = saved.time, saved.committed, saved.turn
        path.part, path.entries, path.said = saved.part, saved.entries, saved.said
        if saved.page is not None:
            path.page = Blob.of(saved.page)
        for each in saved.files:
            if each.blob is not None:
                path.blobs[each.file.state.path] = Blob(*contents[each.blob])
        for file, place in saved.others:
            path.blobs[file] = Blob(*contents[place])
        return path


class _Contents:
    """Contents of files, each once."""

    def __init__(self) -> None:
        self.found: list[tuple[bytes, bytes]] = []
        self.size = 0
        self._places: dict[bytes, int] = {}

    def place(self, blob: Blob) -> int:
        found = self._places.get(blob.ident)
        if found is None:
            found = self._places[blob.ident] = len(self.found)
            self.found.append((blob.ident, blob.content))
            self.size += len(blob.content)
        return found


def _saved(row: int, path: ReviewPath, contents: _Contents) -> _Path:
    replay = save(path.replay)
    files = []
    blobs = dict(path.blobs)
    for each in replay.files:
        content = each.state.content
        blob = blobs.pop(each.state.path, None)
        place = None if blob is None else contents.place(blob)
        if blob is not None and blob.content == content:
            own = place
        else:
            own = None if content is None else contents.place(Blob.of(content))
        files.append(_File(SavedFile(replace(each.state, content=None), each.told), own, place))
    others = tuple((file, contents.place(blob)) for file, blob in blobs.items())
    return _Path(
        row, path.commit, path.step, path.tree.ident, path.time, path.committed, path.turn, path.part, path.entries,
        None if path.page is None else path.page.content, path.said, tuple(files), others, replay._replace(files=()),
    )  # fmt: skip
