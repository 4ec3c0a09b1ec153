"""Dates as people type them: `2026-02-03`, `2026-02-03 10:30`, `2 days ago`, `yesterday`.

The clock and the zone come from the caller. A date without a zone is local time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from pivcs.errors import InputError
from pivcs.session.times import parse_time

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DATE: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?)?"
)
_ZONED: Final = re.compile(r"(.*[0-9]) ?(Z|[+-][0-9]{2}:?[0-9]{2})", re.DOTALL)
_AGO: Final = re.compile(r"([0-9]{1,9}|an?)[ .]?(second|minute|hour|day|week|month|year)s?(?:[ .]ago)?")
_SPANS: Final = {"second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000, "week": 604_800_000}
_MONTHS: Final = {"month": 1, "year": 12}
FORMS: Final = "2026-02-03, '2026-02-03 10:30', 2026-02-03T10:30:00Z, '2 days ago', yesterday, today and now are dates"


class BadDate(InputError):
    """A text that is no date."""

    def __init__(self, text: str) -> None:
        super().__init__(f"'{text}' is no date", hint=FORMS)
        self.text = text


def parse_date(text: str, now: int, zone: tzinfo | None = None) -> int:
    """Return the time that a text names, in milliseconds since 1970; `now` is too.

    `today` and `yesterday` are the beginnings of those days, a date without a time the beginning of its day; a month
    ago is the same day of the month before. `zone` replaces the machine's zone. Raises `BadDate`.
    """
    wanted = text.strip().lower()
    try:
        if wanted == "now":
            return now
        if wanted in ("today", "yesterday"):
            day = _local(now, zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
            return _ms(day - timedelta(days=wanted == "yesterday"), zone)
        ago = _AGO.fullmatch(wanted)
        if ago is not None:
            return _before(now, int(ago[1]) if ago[1].isdecimal() else 1, ago[2], zone)
        zoned = _ZONED.fullmatch(wanted.upper())
        exact = parse_time(zoned[1].replace(" ", "T") + zoned[2]) if zoned is not None else None
        if exact is not None:
            return exact
        date = _DATE.fullmatch(wanted.upper())
        if date is not None:
            year, month, day_of_month, hour, minute, second = (int(part or 0) for part in date.groups())
            return _ms(datetime(year, month, day_of_month, hour, minute, second), zone)
    except (ValueError, OverflowError, OSError) as error:
        raise BadDate(text) from error
    raise BadDate(text)


def _before(now: int, count: int, unit: str, zone: tzinfo | None) -> int:
    if unit in _SPANS:
        return now - count * _SPANS[unit]
    there = _local(now, zone).replace(tzinfo=None)
    months = there.year * 12 + there.month - 1 - count * _MONTHS[unit]
    year, month = divmod(months, 12)
    for day in range(there.day, there.day - 4, -1):  # a month may be up to three days shorter
        try:
            return _ms(there.replace(year=year, month=month + 1, day=day), zone)
        except ValueError:
            if not 1 <= year <= 9999:
                raise
    raise AssertionError("every month has 28 days")


def _local(ms: int, zone: tzinfo | None) -> datetime:
    return (_EPOCH + timedelta(milliseconds=ms)).astimezone(zone)


def _ms(local: datetime, zone: tzinfo | None) -> int:
    """Return the milliseconds since 1970 of a local time."""
    known = local.replace(tzinfo=zone) if zone is not None else local.astimezone()
    return (known - _EPOCH) // timedelta(milliseconds=1)
