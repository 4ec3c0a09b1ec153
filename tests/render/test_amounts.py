import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.render.amounts import format_bytes, format_count, plural


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (3_449, "3.4 kB"),
        (9_949, "9.9 kB"),
        (9_950, "10 kB"),
        (12_345, "12 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (3_400_000, "3.4 MB"),
        (1_500_000_000, "1.5 GB"),
        (-12_345, "-12 kB"),
        (10**22, "10,000 EB"),
    ],
)
def test_bytes(count: int, text: str) -> None:
    assert format_bytes(count) == text


@given(st.integers(0, 10**21))
def test_bytes_are_short_and_never_far_off(count: int) -> None:
    number, unit = format_bytes(count).split()
    scale = 1000 ** ["B", "kB", "MB", "GB", "TB", "PB", "EB"].index(unit)
    assert len(number) <= 3 or unit == "EB"
    assert abs(float(number.replace(",", "")) * scale - count) <= max(count * 0.051, 0)


def test_counts_have_separators() -> None:
    assert format_count(1234567) == "1,234,567"
    assert format_count(12) == "12"


def test_nouns_fit_their_number() -> None:
    assert plural(1, "entry", "entries") == "1 entry"
    assert plural(0, "entry", "entries") == "0 entries"
    assert plural(1234, "line") == "1,234 lines"
