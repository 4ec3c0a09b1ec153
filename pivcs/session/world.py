"""What a new entry takes from the world: the time, random bytes, and where pi's directories are.

These come in as values, so that a run can be repeated; `World.real()` is the one place that asks the process for them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pivcs.session.layout import Surroundings
from pivcs.session.times import format_time

Clock = Callable[[], int]
"""Gives the milliseconds since 1970."""

RandomBytes = Callable[[int], bytes]
"""Gives that many random bytes."""

_ATTEMPTS: Final = 100


@dataclass(frozen=True, slots=True)
class World:
    """Clock, source of randomness and surroundings."""

    clock: Clock
    random: RandomBytes
    surroundings: Surroundings

    @classmethod
    def real(cls) -> World:
        """Return the world of this process: its clock, environment, home and current directory."""
        surroundings = Surroundings(os.environ, str(Path.home()), os.getcwd(), windows=os.name == "nt")
        return cls(lambda: time.time_ns() // 1_000_000, os.urandom, surroundings)

    def timestamp(self) -> str:
        """Return the time as pi writes it in entries."""
        return format_time(self.clock())


def new_entry_id(taken: Container[str], random: RandomBytes) -> str:
    """Return an id for a new entry (pi format 6).

    The first 8 digits of a random UUID; after a hundred that are taken, a whole one.
    """
    for _ in range(_ATTEMPTS):
        ident = random_uuid(random)[:8]
        if ident not in taken:
            return ident
    return random_uuid(random)


def new_session_id(ms: int, random: RandomBytes) -> str:
    """Return an id for a new session: a UUID of version 7, which sorts by its time (pi format 1.4)."""
    time_part = (ms & (1 << 48) - 1).to_bytes(6, "big")
    return _uuid(time_part + random(10), version=7)


def random_uuid(random: RandomBytes) -> str:
    """Return a UUID of version 4."""
    return _uuid(random(16), version=4)


def _uuid(data: bytes, *, version: int) -> str:
    number = bytearray(data)
    number[6] = number[6] & 0x0F | version << 4
    number[8] = number[8] & 0x3F | 0x80
    text = number.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
