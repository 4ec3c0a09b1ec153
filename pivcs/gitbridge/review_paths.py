"""Where things stand in the tree of a review commit: the project's files at their paths, everything else below
`.pivcs/`."""

from __future__ import annotations

import re
from typing import Final

from pivcs.gitbridge.ref_names import encode_component
from pivcs.ops.safe_paths import refusal, without_passed_over
from pivcs.workspace.state import FilePath

OURS: Final = b".pivcs"
PARTS: Final = 100
"""Names in one directory at most: a flat one costs as much for every change as it has names."""

_CAPITAL: Final = re.compile(r"%(4[1-9a-f]|5[0-9a])")
"""A capital as refs have it. Files may have it as it is."""
_SHORT: Final = re.compile(r"(?:g|gi[0-9a-z]{0,4})?~[0-9]")
"""Names that NTFS may have given to `.gitmodules` and the like, as git takes them for these."""


def file_place(path: FilePath, prefix: tuple[bytes, ...] = ()) -> tuple[bytes, ...]:
    """Return the components of a file's path in the tree; `prefix` are those of the working directory.

    What git or a file system takes for something else, `.git` and `.gitmodules` among it, is encoded and stands
    below `.pivcs/escaped/`, and so does what is outside of the working directory.
    """
    safe = refusal(path.text, windows=True) is None
    if path.inside and safe and not any(map(_is_gits, path.text.split("/"))):
        return *prefix, *path.text.encode().split(b"/")
    return OURS, b"escaped", encode_component(path.text).encode()


def _is_gits(name: str) -> bool:
    """Whether git, on some file system, reads a file for itself, or its fsck what is in it."""
    seen = without_passed_over(name).lower()
    return seen.startswith(".git") or _SHORT.match(seen) is not None


def state_place(path: FilePath) -> tuple[bytes, ...]:
    """Return where it is told how a file is known."""
    name = encode_component(path.text if path.inside else f"/{path.text}")
    readable = _CAPITAL.sub(lambda found: chr(int(found[1], 16)), name)
    safe = refusal(readable, windows=True) is None and not _is_gits(readable)
    return OURS, b"files", _bucket(name), (readable if safe else name).encode()


def _bucket(name: str) -> bytes:
    """Return one of `PARTS` directories for a name, the same for the same name."""
    from zlib import crc32

    return b"%02d" % (crc32(name.encode()) % PARTS)


def page_place(turn: int, part: int) -> tuple[bytes, ...]:
    """Return where a page of a turn stands: `.pivcs/turns/00/0007/00.md`."""
    return OURS, b"turns", b"%02d" % (turn // PARTS), b"%04d" % turn, b"%02d.md" % part


def image_place(name: str) -> tuple[bytes, ...]:
    """Return where an image of a page stands."""
    return OURS, b"images", name[:2].encode(), name.encode()


def image_link(name: str) -> str:
    """Return the path of an image as seen from a page."""
    return f"../../../images/{name[:2]}/{name}"
