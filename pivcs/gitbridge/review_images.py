"""Images of an entry as files of a review commit's tree, so that a page shows them where it is looked at.

An image is told by its first bytes, whatever it says of itself; what is none of the kinds that every browser shows is
only named on the page.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from typing import Final, NamedTuple

from pivcs.gitbridge.objects import BLOB, object_id
from pivcs.session.entries import Entry

_KINDS: Final = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF8", "gif"))
_RIFF: Final = b"RIFF"
_WEBP: Final = b"WEBP"


class ReviewImage(NamedTuple):
    """An image: its bytes, the id of their blob, and the end of its file's name."""

    data: bytes
    ident: bytes
    kind: str

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.ident.hex()}.{self.kind}"


def images_of(value: object) -> Iterator[ReviewImage | None]:
    """Yield the images of an entry in the order of its parts; None for what cannot be shown."""
    entry = Entry(value)
    holder = entry.message.fields if entry.message is not None else entry.fields
    blocks = holder.get("content")
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type") == "image":
            yield _image(block.get("data"))


def _image(text: object) -> ReviewImage | None:
    if not isinstance(text, str):
        return None
    try:
        data = binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except (ValueError, UnicodeError):
        return None
    kind = next((kind for start, kind in _KINDS if data.startswith(start)), None)
    if kind is None and data[:4] == _RIFF and data[8:12] == _WEBP:
        kind = "webp"
    return None if kind is None else ReviewImage(data, object_id(BLOB, data), kind)
