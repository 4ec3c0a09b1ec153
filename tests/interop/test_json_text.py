"""JSON text as the JavaScript engine writes it: Node is the judge."""

from __future__ import annotations

import math
import struct
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pivcs.session.jsontext import parse_json
from pivcs.session.jsonwrite import dump_json
from tests.interop.pi import Pi
from tests.interop.pi_writing import rewrite

pytestmark = pytest.mark.interop

KEYS = st.one_of(
    st.integers(0, 2**33).map(str), st.sampled_from(["0", "00", "-1", "4294967294", "4294967295", "", "__proto__"]),
    st.text(st.characters(exclude_categories=()), max_size=4),
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=30,
)


def random_values() -> list[object]:
    found: list[object] = []

    @settings(max_examples=700, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(VALUES)
    def take(value: object) -> None:
        found.append(value)

    take()
    return found


def random_doubles(count: int) -> list[float]:
    """Return doubles of every size: any bits, and numbers of few digits at any power of ten."""
    random = Random(754)
    bits = [struct.unpack("<d", random.randbytes(8))[0] for _ in range(count)]
    digits = [(random.randrange(10 ** random.randrange(1, 18)), random.randrange(-30, 30)) for _ in range(count)]
    short = [float(f"{number}e{power}") for number, power in digits]
    edges = [math.nextafter(10.0**power, side) for power in range(-8, 24) for side in (0.0, math.inf)]
    return [number for number in [*bits, *short, *edges] if math.isfinite(number)]


def spelled(value: object) -> str:
    """Write a value as JSON that JavaScript reads as the same value, but never in the form that it would write."""
    if isinstance(value, dict):
        return "{ " + " , ".join(f"{spelled(key)} : {spelled(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[ " + " , ".join(map(spelled, value)) + " ]"
    if isinstance(value, str):
        units = value.encode("utf-16-le", "surrogatepass")
        codes = [units[at] | units[at + 1] << 8 for at in range(0, len(units), 2)]
        return '"' + "".join(f"\\u{code:04X}" for code in codes) + '"'
    if isinstance(value, float):
        return f"{value:.25e}" if math.isfinite(value) else "-1e999"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def test_random_values_are_written_as_the_engine_writes_them(pi: Pi) -> None:
    values = [*random_values(), *random_doubles(5_000)]
    assert len(values) > 5_000
    theirs = rewrite(pi, [spelled(value) for value in values])
    for value, text in zip(values, theirs, strict=True):
        assert dump_json(value).decode() == text, value
        assert dump_json(parse_json(spelled(value).encode())).decode() == text, value


def test_deeply_nested_lists_are_written_as_the_engine_writes_them(pi: Pi) -> None:
    value: object = 1.0
    for _ in range(1_000):
        value = [{"a": value}]
    assert rewrite(pi, [dump_json(value).decode()]) == [dump_json(value).decode()]
