from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.session.jsstring import js_number, js_trim
from pivcs.session.times import LATEST, format_time, parse_time, time_of


# Answers of Node 20 for the same texts.
@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2026-02-03T10:30:00.000Z", 1770114600000),
        ("2026", 1767225600000),
        ("2026-02", 1769904000000),
        ("2026-02-31", 1772496000000),
        ("2026-02-03T10:30Z", 1770114600000),
        ("2026T10:30Z", 1767263400000),
        ("2026-02-03T10:30:00.1234567Z", 1770114600123),
        ("2026-02-03T24:00:00Z", 1770163200000),
        ("2026-02-03T10:30:00+0530", 1770094800000),
        ("2026-02-03T10:30:00+05:30", 1770094800000),
        ("+010000-01-01T00:00:00Z", 253402300800000),
        ("-000001-01-01T00:00:00Z", -62198755200000),
        ("-000000-01-01T00:00:00Z", None),
        ("2026-02-03T24:00:01Z", None),
        ("2026-02-03T10Z", None),
        ("2026-02-03T10:30:00,5Z", None),
        ("2026-02-03T10:30:60Z", None),
        ("2026-02-03T10:30:00-24:00", None),
        ("2026-02-03T10:30:00.Z", None),
        ("2026-13-01", None),
        ("2026-02-32", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_iso_text_is_read_as_the_engine_reads_it(text: str, ms: int | None) -> None:
    assert parse_time(text) == ms


def test_time_without_zone_is_utc_on_every_machine() -> None:
    assert parse_time("2026-02-03T10:30:00") == parse_time("2026-02-03T10:30:00Z")


@pytest.mark.parametrize("value", [None, 5, 1.5, True, [], {}, "２026-02-03", "2026-02-03\n"])
def test_what_is_no_ascii_iso_text_is_no_time(value: object) -> None:
    assert parse_time(value) is None


@pytest.mark.parametrize(
    ("value", "ms"),
    [(None, 0), (5, 5), (1.9, 1), (-1.9, -1), (True, 1), (math.inf, None), (math.nan, None), (LATEST + 1, None),
     ([], None), ("1970-01-01", 0)],
)
def test_date_of_other_values(value: object, ms: int | None) -> None:
    assert time_of(value) == ms


@given(st.integers(-LATEST, LATEST))
def test_written_time_is_read_back(ms: int) -> None:
    assert parse_time(format_time(ms)) == ms


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_calendar_agrees_with_the_standard_library(ms: int) -> None:
    stamp = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    assert format_time(ms) == stamp.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def test_years_outside_four_digits_are_signed() -> None:
    assert format_time(LATEST) == "+275760-09-13T00:00:00.000Z"
    assert format_time(-LATEST) == "-271821-04-20T00:00:00.000Z"
    with pytest.raises(ValueError, match="no JavaScript date"):
        format_time(LATEST + 1)


def test_trim_takes_the_engine_s_white_space() -> None:
    assert js_trim("\ufeff\u00a0\u2028 a\u2003\n") == "a"
    assert js_trim("\u0085\x1ca\x1f") == "\u0085\x1ca\x1f"


@pytest.mark.parametrize(
    ("value", "number"),
    [("3", 3), (" 2 ", 2), ("", 0), (None, 0), (True, 1), ("1e1", 10), (".5", 0.5), (10**400, math.inf),
     (-(10**400), -math.inf)],
)
def test_numbers_are_compared_as_the_engine_does(value: object, number: float) -> None:
    assert js_number(value) == number


@pytest.mark.parametrize("value", ["abc", "1_0", "٣", "++3", ".", "nan", [], {}])
def test_what_is_no_number_is_nan(value: object) -> None:
    assert math.isnan(js_number(value))
