"""Sizes and counts as people read them. Independent of the locale."""

from __future__ import annotations

_UNITS = ("kB", "MB", "GB", "TB", "PB", "EB")


def format_bytes(count: int) -> str:
    """Return a number of bytes in decimal units: `999 B`, `3.4 MB`, `12 kB`.

    Below ten of a unit there is one decimal. Larger than what the units reach stays in the largest.
    """
    size = abs(count)
    sign = "-" if count < 0 else ""
    if size < 1000:
        return f"{sign}{size} B"
    # Whole numbers only: a float would round 9,999,999,999,999,999 up before we do.
    scale = 1000
    for unit in _UNITS:
        tenths = _rounded(size * 10, scale)
        if tenths < 100:
            return f"{sign}{tenths // 10}.{tenths % 10} {unit}"
        whole = _rounded(size, scale)
        if whole < 1000 or unit == _UNITS[-1]:
            return f"{sign}{whole:,} {unit}"
        scale *= 1000
    raise AssertionError("the last unit always returns")


def _rounded(amount: int, scale: int) -> int:
    return (amount + scale // 2) // scale


def format_count(count: int) -> str:
    """Return a number with a comma between thousands: `1,234`."""
    return f"{count:,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return the number and the noun that fits it: `1 entry`, `1,234 entries`. `many` defaults to `one` with an s."""
    noun = one if count == 1 else many if many is not None else one + "s"
    return f"{count:,} {noun}"
