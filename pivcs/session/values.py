"""The values that pi keeps of a session file, and what pi would say and do on opening it (pi format 2.3 and 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from pivcs.errors import InputError
from pivcs.session.jsontext import NotJson, is_blank, parse_json
from pivcs.session.migrations import needs_migration


class NotASession(InputError):
    """pi refuses the file: it is not empty, and its first kept line is no header with a string id."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"'{path}' is not a valid pi session",
            hint="the first line that is JSON must be a session header with an id",
        )
        self.path = path

    @property
    def pi_message(self) -> str:
        """The words that pi 1.6 uses."""
        return f"Session file is not a valid pi session: {self.path}"


class Effect(Enum):
    """What pi would do to the file on disk when it opens it."""

    NONE = "none"
    APPENDED = "appended"
    REWRITTEN = "rewritten"
    HEADER_WRITTEN = "header written"


class Opening(NamedTuple):
    """pi's answer on opening a file.

    `values` are all kept values, not migrated, headers among them; none for an empty file, to which pi would write a
    new header. `appended` is what pi would put behind the last byte.
    """

    values: tuple[object, ...]
    effect: Effect
    appended: bytes = b""

    @property
    def header(self) -> dict[str, object] | None:
        """The first header as it stands in the file, None for an empty file."""
        first = self.values[0] if self.values else None
        return first if isinstance(first, dict) else None

    @property
    def entries(self) -> tuple[object, ...]:
        """The kept values without the headers, not migrated."""
        return entries_of(self.values)


def iter_kept(lines: Iterable[bytes]) -> Iterator[object]:
    """Yield the values of the lines that pi keeps: blank, invalid and falsy ones are skipped, silently as in pi."""
    for line in lines:
        if is_blank(line):
            continue
        try:
            value = parse_json(line)
        except NotJson:
            continue
        if not is_falsy(value):
            yield value


def kept_values(data: bytes) -> list[object]:
    """Return the values that pi keeps of a file's bytes, a complete last line without LF among them."""
    return list(iter_kept(data.split(b"\n")))


def is_falsy(value: object) -> bool:
    """Whether JavaScript takes a JSON value for false; lists and objects never are."""
    return value is None or value is False or value == "" or (isinstance(value, (int, float)) and value == 0)


def is_header_value(value: object) -> bool:
    """Whether a value has `type` "session"."""
    return isinstance(value, dict) and value.get("type") == "session"


def entries_of(values: Iterable[object]) -> tuple[object, ...]:
    """Return the values without the headers."""
    return tuple(value for value in values if not is_header_value(value))


def check_header(values: Iterable[object], path: str) -> dict[str, object]:
    """Return the header, which must be the first value and have a string id; else raise NotASession."""
    first = next(iter(values), None)
    if isinstance(first, dict) and first.get("type") == "session" and isinstance(first.get("id"), str):
        return first
    raise NotASession(path)


def open_values(data: bytes, path: str) -> Opening:
    """Return what pi 1.6 makes of a file's bytes, and what it would do to the file; raise NotASession if it refuses."""
    if not data:
        return Opening((), Effect.HEADER_WRITTEN)
    values = tuple(kept_values(data))
    if needs_migration(check_header(values, path)):
        return Opening(values, Effect.REWRITTEN)
    if not data.endswith(b"\n"):
        return Opening(values, Effect.APPENDED, b"\n")
    return Opening(values, Effect.NONE)
