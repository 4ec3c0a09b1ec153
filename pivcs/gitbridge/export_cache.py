"""Files that an export leaves in a repository for the next one, in `pivcs/` of its git directory, which no clone takes
along. Each can go at any time; what does not fit is passed over."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from blake3 import blake3

from pivcs.objects.table import Table

Value = TypeVar("Value")

_FORMAT: Final = b"pivcs export cache 1\n"
_DIGEST: Final = 32


def read_cache(file: Path, kind: type[Value]) -> Value | None:
    """Return what a file keeps; None when it is not there, was harmed, or keeps something else."""
    import msgspec

    try:
        data = file.read_bytes()
    except OSError:
        return None
    body = memoryview(data)[len(_FORMAT) + _DIGEST :]
    if not data.startswith(_FORMAT) or blake3(body).digest() != data[len(_FORMAT) : len(_FORMAT) + _DIGEST]:
        return None
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except msgspec.DecodeError:
        return None


def write_cache(file: Path, value: object) -> None:
    """Keep a value in a file; where it cannot be written nothing happens."""
    import msgspec

    try:
        body = msgspec.msgpack.encode(value)
    except UnicodeEncodeError:  # a lone surrogate in a path
        return
    temporary = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "xb", opener=_private) as opened:
                opened.writelines((_FORMAT, blake3(body).digest(), body))
            os.replace(temporary, file)
        except OSError:
            temporary.unlink(missing_ok=True)


def rows_digest(table: Table, rows: int) -> bytes:
    """Return what tells the first rows of a stream from those of another one, that of the whole when it has fewer."""
    state = blake3(memoryview(table.oid)[: rows * _DIGEST])
    state.update(bytes(table.flags[:rows]))
    return state.digest()


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
