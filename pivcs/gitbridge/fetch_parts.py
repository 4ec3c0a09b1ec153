"""Fetching what is whole, when something at the other side is not: one bad object makes the fetch of all refs fail.

The refs are halved until those that fail are alone, so n refs of which b are bad cost O(b log n) fetches, and one where
nothing is bad.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from pivcs.errors import DataError, PivcsError
from pivcs.gitbridge.remotes import Remote
from pivcs.gitbridge.transport import Transport, TransportFailed

_TRIES: Final = 5
"""How often all is asked for again because somebody pushed meanwhile."""

Refs = Mapping[str, bytes]


class RefDamaged(DataError):
    """What a ref of another repository names cannot be fetched, and others of that repository can be asked for."""

    def __init__(self, remote: Remote, name: str, reason: str) -> None:
        super().__init__(
            f"'{remote.shown}' cannot send its ref '{name}': {reason}",
            hint="`git fsck` there tells what is damaged; all else was fetched",
        )


class Whole(NamedTuple):
    """What a fetch brought: the refs of the other side as they were then, and those that could not be fetched."""

    theirs: dict[str, bytes]
    damaged: dict[str, PivcsError]


def fetch_whole(
    remote: Remote, transport: Transport, theirs: Refs, wanting: Callable[[Refs], Mapping[str, str]]
) -> Whole:
    """Fetch refs of the other side, as `Transport.fetch`, without those that cannot be fetched.

    `theirs` are its refs; `wanting` says for refs of it which to get, and what they are called here. It is asked again
    when somebody changes them meanwhile. Raises `TransportFailed` when nothing can be fetched from there.
    """
    theirs = dict(theirs)
    for _ in range(_TRIES):
        wanted = wanting(theirs)
        if _failure(transport, wanted) is None:
            return Whole(theirs, {})
        now = transport.refs()  # when this fails, too, nobody answers there
        if now == theirs and wanting(now) == wanted:
            break
        theirs = now
    failed = _each(transport, wanting(theirs))
    if failed:
        # What was taken away, or moved, meanwhile is not damaged: the next fetch finds what is there instead of it.
        now = transport.refs()
        failed = {name: reason for name, reason in failed.items() if now.get(name) == theirs[name]}
    return Whole(theirs, {name: RefDamaged(remote, name, reason) for name, reason in failed.items()})


def _each(transport: Transport, wanted: Mapping[str, str]) -> dict[str, str]:
    """Fetch refs in ever smaller parts; returns those that fail alone, with the reasons."""
    failed: dict[str, str] = {}
    names = list(wanted)
    middle = len(names) // 2
    parts = [names[middle:], names[:middle]]
    while parts:
        part = parts.pop()
        reason = _failure(transport, {name: wanted[name] for name in part})
        if reason is not None and len(part) == 1:
            failed[part[0]] = reason
        elif reason is not None:
            middle = len(part) // 2
            parts += [part[middle:], part[:middle]]
    return failed


def _failure(transport: Transport, wanted: Mapping[str, str]) -> str | None:
    """Fetch, and return why that failed, in words only: an exception would keep open what it was raised in."""
    try:
        transport.fetch(wanted)
    except TransportFailed as error:
        return error.message
    return None
