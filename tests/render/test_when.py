from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.render.when import NO_TIME, OUT_OF_RANGE, WhenStyle, format_when

MARCH_9 = int(datetime(2026, 3, 9, 0, 30, 5, tzinfo=UTC).timestamp() * 1000)
BERLIN_WINTER = timezone(timedelta(hours=1))
NEWFOUNDLAND = timezone(-timedelta(hours=3, minutes=30))
SECOND = 1000
DAY = 86400 * SECOND


def test_times_are_in_the_zone_given() -> None:
    assert format_when(MARCH_9, utc=False, zone=BERLIN_WINTER) == "2026-03-09 01:30"
    assert format_when(MARCH_9, utc=False, zone=NEWFOUNDLAND) == "2026-03-08 21:00"


def test_utc_wins_and_is_marked() -> None:
    assert format_when(MARCH_9, utc=True, zone=BERLIN_WINTER) == "2026-03-09 00:30Z"


def test_git_style_has_seconds_and_offset() -> None:
    assert format_when(MARCH_9, utc=False, style="git", zone=BERLIN_WINTER) == "Mon Mar 9 01:30:05 2026 +0100"
    assert format_when(MARCH_9, utc=False, style="git", zone=NEWFOUNDLAND) == "Sun Mar 8 21:00:05 2026 -0330"
    assert format_when(MARCH_9, utc=True, style="git") == "Mon Mar 9 00:30:05 2026 +0000"


@pytest.mark.parametrize(
    ("past", "text"),
    [
        (-DAY, "in the future"),
        (-2 * SECOND, "now"),
        (0, "now"),
        (45 * SECOND, "45 seconds ago"),
        (100 * SECOND, "2 minutes ago"),
        (89 * 60 * SECOND, "89 minutes ago"),
        (3 * 3600 * SECOND, "3 hours ago"),
        (2 * DAY, "2 days ago"),
        (13 * DAY, "13 days ago"),
        (15 * DAY, "2 weeks ago"),
        (90 * DAY, "3 months ago"),
        (400 * DAY, "1 year ago"),
        (3650 * DAY, "10 years ago"),
    ],
)
def test_relative_times(past: int, text: str) -> None:
    assert format_when(MARCH_9 - past, utc=False, now_ms=MARCH_9, style="relative") == text


def test_relative_without_a_clock_is_absolute() -> None:
    assert format_when(MARCH_9, utc=True, style="relative") == "2026-03-09 00:30Z"


def test_unreadable_time_says_so() -> None:
    assert format_when(None, utc=True) == NO_TIME == "(no time)"
    assert format_when(None, utc=True, now_ms=0, style="relative") == NO_TIME


@pytest.mark.parametrize("ms", [8_640_000_000_000_000, -8_640_000_000_000_000, 10**30, -(10**30)])
@pytest.mark.parametrize("style", ["iso", "git"])
def test_time_beyond_the_calendar_says_so(ms: int, style: WhenStyle) -> None:
    assert format_when(ms, utc=True, style=style) == OUT_OF_RANGE


@given(
    st.integers(),
    st.booleans(),
    st.sampled_from(["iso", "relative", "git"]),
    st.sampled_from([None, NEWFOUNDLAND, BERLIN_WINTER]),
)
def test_no_time_raises(ms: int, utc: bool, style: WhenStyle, zone: timezone | None) -> None:
    assert format_when(ms, utc=utc, now_ms=MARCH_9, style=style, zone=zone)


def test_edges_of_the_calendar_do_not_raise_in_any_zone() -> None:
    first = int((datetime.min.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))
    assert format_when(first, utc=True) == "0001-01-01 00:00Z"
    assert format_when(first, utc=False, zone=NEWFOUNDLAND) == OUT_OF_RANGE
