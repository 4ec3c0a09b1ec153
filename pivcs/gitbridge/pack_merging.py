"""Making one pack of many small ones: whoever exports after every turn would have thousands, and git looks into each.

Git does so with its `gc`, which is not run here: it would do much more to a repository. Packs whose sizes are alike are
joined when there are `MANY`, so that there are never many more than that of a size, and a byte is copied once for each
size that its pack grows through. Nothing is unpacked: a pack is readable alone, and what a delta is made of stands as
far before it as it did.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.gitbridge.packs import NotWritten, PackWriter

MANY: Final = 8
"""So many packs of about one size become one."""
LARGEST: Final = 16 << 20
"""Packs of more bytes are left as they are."""
_SIZE_BITS: Final = 3
_HEAD: Final = struct.Struct(">4sII")
_HASH: Final = 20
_INDEX_MAGIC: Final = b"\xfftOc\x00\x00\x00\x02"
_FANOUT_END: Final = 8 + 1024


class _Pack(NamedTuple):
    """The records of a pack as they stand in it, and of each object the id, the place there and the checksum."""

    records: bytes
    objects: list[tuple[bytes, int, int]]


def merge_small_packs(objects: Path) -> None:
    """Join packs in a directory of objects where there are many small ones; what cannot be read or written is left.

    Packs that git has something beside, as `.keep`, `.rev`, `.bitmap` or `.promisor`, and those in a multi-pack-index,
    are never touched.
    """
    directory = objects / "pack"
    with suppress(OSError, NotWritten):
        while (group := _alike(directory)) and _merge(objects, group):
            pass


def _alike(directory: Path) -> list[Path]:
    """Return the packs of the smallest size of which there are many."""
    beside: dict[str, set[str]] = {}
    sizes: dict[str, int] = {}
    for entry in os.scandir(directory):
        if entry.name == "multi-pack-index.d":
            return []
        stem, _, extension = entry.name.partition(".")
        beside.setdefault(stem, set()).add(extension)
        if extension == "pack":
            sizes[stem] = entry.stat().st_size
    kept = {stem for stem in sizes if beside[stem] == {"pack", "idx"} and stem.startswith("pack-")}
    kept -= set(_in_multi_pack_index(directory, kept))
    groups: dict[int, list[Path]] = {}
    for stem in sorted(kept):
        if sizes[stem] <= LARGEST:
            groups.setdefault(sizes[stem].bit_length() // _SIZE_BITS, []).append(directory / f"{stem}.pack")
    return next((groups[size] for size in sorted(groups) if len(groups[size]) >= MANY), [])


def _in_multi_pack_index(directory: Path, stems: set[str]) -> Iterator[str]:
    """Yield the packs that git's index of many packs names: it would miss them."""
    with (
        suppress(FileNotFoundError, ValueError),  # none, or an empty one
        (directory / "multi-pack-index").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        for stem in stems:
            if data.find(f"{stem}.idx".encode()) >= 0:
                yield stem


def _merge(objects: Path, paths: list[Path]) -> bool:
    """Write the objects of some packs as one and remove them; returns whether there are fewer now."""
    merged: list[Path] = []
    seen: set[bytes] = set()
    with PackWriter(objects) as writer:
        for path in paths:
            pack = _read(path)
            # An object that is there twice would be counted twice in the pack and once in its index.
            if pack is not None and not any(ident in seen for ident, _, _ in pack.objects):
                writer.append(pack.records, pack.objects)
                seen.update(ident for ident, _, _ in pack.objects)
                merged.append(path)
        if len(merged) < 2:
            return False
        writer.finish()
        for path in merged:
            path.with_suffix(".idx").unlink(missing_ok=True)
            path.unlink(missing_ok=True)
    return True


def _read(path: Path) -> _Pack | None:
    """Read a pack and its index; None for one that is damaged or not understood."""
    try:
        data, index = path.read_bytes(), path.with_suffix(".idx").read_bytes()
    except FileNotFoundError:  # somebody else is just joining or removing it
        return None
    body, trailer = data[:-_HASH], data[-_HASH:]
    if len(data) < _HEAD.size + _HASH or len(index) < _FANOUT_END + 2 * _HASH or not index.startswith(_INDEX_MAGIC):
        return None
    if _HEAD.unpack_from(data)[:2] != (b"PACK", 2) or sha1(body, usedforsecurity=False).digest() != trailer:
        return None
    if sha1(index[:-_HASH], usedforsecurity=False).digest() != index[-_HASH:]:
        return None
    count = _HEAD.unpack_from(data)[2]
    # Without places behind two gigabytes, which a small pack has not.
    if len(index) != _FANOUT_END + count * (_HASH + 8) + 2 * _HASH or index[-2 * _HASH : -_HASH] != trailer:
        return None
    sums_at = _FANOUT_END + count * _HASH
    sums = struct.unpack_from(f">{count}I", index, sums_at)
    places = struct.unpack_from(f">{count}I", index, sums_at + 4 * count)
    idents = [index[at : at + _HASH] for at in range(_FANOUT_END, sums_at, _HASH)]
    return _Pack(body[_HEAD.size :], [(ident, place - _HEAD.size, crc)
                                      for ident, place, crc in zip(idents, places, sums, strict=True)])  # fmt: skip
