"""Times as people read them. The clock and the zone come from the caller; names do not depend on the locale."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

from pivcs.render.amounts import plural

WhenStyle = Literal["iso", "relative", "git"]

NO_TIME = "(no time)"
OUT_OF_RANGE = "(time out of range)"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def format_when(
    ms: int | None,
    *,
    utc: bool,
    now_ms: int | None = None,
    style: WhenStyle = "iso",
    zone: tzinfo | None = None,
) -> str:
    """Return the time `ms` (milliseconds since 1970, UTC) for people.

    `iso` is `2026-03-09 01:30`, with a `Z` where `utc` is asked for; `git` is `Mon Mar 9 01:30:00 2026 +0100`;
    `relative` is `3 hours ago` seen from `now_ms`, and `iso` without it. `zone` replaces the machine's zone; `utc`
    wins over it. None gives `(no time)`; a time outside the years 1 to 9999, which JavaScript can write, says so.
    """
    if ms is None:
        return NO_TIME
    if style == "relative" and now_ms is not None:
        return _ago((now_ms - ms) // 1000)
    try:
        time = (_EPOCH + timedelta(milliseconds=ms)).astimezone(UTC if utc else zone)
    except (OverflowError, ValueError, OSError):
        return OUT_OF_RANGE
    if style == "git":
        return (
            f"{_DAYS[time.weekday()]} {_MONTHS[time.month - 1]} {time.day} "
            f"{time.hour:02}:{time.minute:02}:{time.second:02} {time.year:04} {_offset(time)}"
        )
    return f"{time.year:04}-{time.month:02}-{time.day:02} {time.hour:02}:{time.minute:02}{'Z' if utc else ''}"


def _offset(time: datetime) -> str:
    minutes = (time.utcoffset() or timedelta()) // timedelta(minutes=1)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"


def _ago(seconds: int) -> str:
    """A span in the largest unit that still says enough, with git's limits (two weeks are still days)."""
    if seconds < -5:  # clocks of two machines differ by less
        return "in the future"
    if seconds < 5:
        return "now"
    minutes, hours, days = _nearest(seconds, 60), _nearest(seconds, 3600), _nearest(seconds, 86400)
    if seconds < 90:
        span = plural(seconds, "second")
    elif minutes < 90:
        span = plural(minutes, "minute")
    elif hours < 36:
        span = plural(hours, "hour")
    elif days < 14:
        span = plural(days, "day")
    elif days < 70:
        span = plural(_nearest(days, 7), "week")
    elif days < 365:
        span = plural(_nearest(days * 12, 365), "month")
    else:
        span = plural(_nearest(days, 365), "year")
    return span + " ago"


def _nearest(amount: int, unit: int) -> int:
    return (amount + unit // 2) // unit
