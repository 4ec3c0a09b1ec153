"""Worlds whose clock and ids are known, for tests of what is written."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from pivcs.session.layout import Surroundings
from pivcs.session.world import World
from tests.builders import CLOCK, CWD


def counted_bytes(seed: int = 0) -> Iterator[bytes]:
    """Yield sixteen bytes whose first four are a number that counts up, times an odd constant."""
    for number in itertools.count(seed + 1):
        yield (number * 0x9E3779B1 % 2**32).to_bytes(4, "big") + bytes(12)


def ids_as_bytes(ids: Iterable[str]) -> Iterator[bytes]:
    """Yield random bytes that become these ids: eight hex digits, or a whole UUID."""
    return (bytes.fromhex(ident.replace("-", "").ljust(32, "0")) for ident in ids)


def make_world(
    *, clock: int = CLOCK, step: int = 1000, ids: Iterable[str] | None = None, seed: int = 0, home: str | Path = CWD
) -> World:
    """Return a world in which every look at the clock gives `step` milliseconds more, and ids come from `ids`.

    Without ids they count up from `seed`, and the random part of a session's id (ten bytes) is zero; else it is the end
    of the next id.
    """
    times = itertools.count(clock + step, step) if step else itertools.repeat(clock)
    source = counted_bytes(seed) if ids is None else ids_as_bytes(ids)

    def random(count: int) -> bytes:
        return bytes(count) if ids is None and count < 16 else next(source)[-count:]

    return World(lambda: next(times), random, Surroundings({}, str(home), str(home)))
