"""Times as pi writes and reads them: ISO 8601 text in entries, milliseconds since 1970 in messages (pi format 4.1)."""

from __future__ import annotations

import math
import re

LATEST = 8_640_000_000_000_000
"""The last millisecond that a JavaScript date can hold; the first one is its negative."""

DAY = 86_400_000

_ISO = re.compile(
    r"(?P<year>[0-9]{4}|[+-][0-9]{6})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?"
    r"(?:T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def parse_time(text: object) -> int | None:
    """Return the milliseconds since 1970 of an ISO text, read as JavaScript's `Date` reads it; None if it is no time.

    Day, month, seconds and fraction may be missing, further digits of the fraction are cut off, an offset may follow,
    and a day that its month does not have runs into the next month. A time without zone counts as UTC, where `Date`
    would take the zone of the machine: pi always writes `Z`, and an answer must not depend on where it is asked for.
    Other texts that `Date` guesses at ("3 Feb 2026") are no times here.
    """
    if not isinstance(text, str):
        return None
    match = _ISO.fullmatch(text)
    if match is None or match["year"] == "-000000":
        return None
    year, month, day, hour, minute, second = (
        int(match[name] or default)
        for name, default in (("year", 0), ("month", 1), ("day", 1), ("hour", 0), ("minute", 0), ("second", 0))
    )
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute <= 59 and second <= 59):
        return None
    fraction = int((match["fraction"] or "0")[:3].ljust(3, "0"))
    if hour == 24 and (minute or second or fraction):
        return None
    offset = _offset(match["zone"])
    if offset is None:
        return None
    ms = _days(year, month) * DAY + (day - 1) * DAY
    ms += ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction
    return ms if abs(ms) <= LATEST else None


def time_of(value: object) -> int | None:
    """Return what `new Date(value)` makes of a JSON value: numbers are milliseconds, null is 0, text is parsed."""
    if isinstance(value, str):
        return parse_time(value)
    if value is None:
        return 0
    if not isinstance(value, (bool, int, float)) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    ms = int(value)
    return ms if abs(ms) <= LATEST else None


def format_time(ms: int) -> str:
    """Return a time as pi writes it: `2026-02-03T10:30:00.000Z`; years outside 0 to 9999 have a sign and six digits.

    Raises ValueError beyond `LATEST`.
    """
    if abs(ms) > LATEST:
        raise ValueError(f"no JavaScript date: {ms}")
    days, rest = divmod(ms, DAY)
    year, month, day = _civil(days)
    seconds, milliseconds = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    years = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+07d}"
    return f"{years}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{milliseconds:03d}Z"


def _offset(zone: str | None) -> int | None:
    """Return the minutes east of UTC, None if there is no such offset."""
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        return None
    return (-1 if zone[0] == "-" else 1) * (hours * 60 + minutes)


def _days(year: int, month: int) -> int:
    """Return the days from 1970-01-01 to the first of a month, in the Gregorian calendar without beginning or end.

    Years are counted from March on, so that the leap day is the last of its year; 400 years have 146,097 days.
    """
    if month <= 2:
        year, month = year - 1, month + 12
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3) + 2) // 5
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def _civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day of a day since 1970-01-01; the inverse of `_days`."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    return year + era * 400 + (1 if month >= 10 else 0), month + 3 if month < 10 else month - 9, day
