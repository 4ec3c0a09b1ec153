"""What holds for secrets at any place of any entry, however its JSON is spelled."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops import scan as scanning
from pivcs.ops.scan import scan_stream
from pivcs.session.jsontext import parse_json
from tests.builders import header_line
from tests.ops.made_secrets import ANTHROPIC, AWS, GITHUB, KEY_BLOCK
from tests.ops.views import view_of

PLANTED = {"github-token": GITHUB, "anthropic-key": ANTHROPIC, "aws-key": AWS, "private-key": KEY_BLOCK}

FILLER = st.text(st.characters() | st.sampled_from('"\\\n\t/ \u0000'), max_size=12)
# Nothing that a token could go on with stands beside it.
EDGE = st.sampled_from(["", " ", "\n", '"', "\\", "\t", "\\n", '\\"', "/", ",", "\u0000", "\u2028"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | FILLER,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FILLER, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def planted(draw: st.DrawFn) -> tuple[Any, str]:
    """Return a value with one secret in a string or a key of it, and the rule that is to find it."""
    rule = draw(st.sampled_from(sorted(PLANTED)))
    text = draw(EDGE) + PLANTED[rule] + draw(EDGE)
    value: Any = draw(st.sampled_from([text, {text: 1}, [text]]))
    for _ in range(draw(st.integers(0, 5))):
        value = {**draw(st.dictionaries(FILLER, VALUES, max_size=2)), draw(FILLER): value} if draw(st.booleans()) else [
            draw(VALUES), value, draw(VALUES)
        ]
    return value, rule


def spelled(value: object, draw: Any) -> bytes:
    """Return JSON text of a value, any character in a string perhaps as an escape."""
    plain = json.dumps(value, ensure_ascii=draw(st.booleans()))
    chosen = draw(st.sets(st.sampled_from("-_gA/ \u2028"), max_size=4))
    done, inside, escaped = [], False, False
    for each in plain:
        if inside and not escaped and each in chosen:
            done.append(f"\\u{ord(each):04X}")
        else:
            done.append(each)
        if escaped:
            escaped = False
        elif each == "\\":
            escaped = True
        elif each == '"':
            inside = not inside
    return "".join(done).encode("utf-8", "surrogatepass")


@given(planted(), st.data())
def test_secret_is_found_in_any_string_however_it_is_spelled(case: tuple[Any, str], data: st.DataObject):
    value, rule = case
    text = spelled({"type": "custom", "customType": "x", "data": value, "id": "aaaaaaaa", "parentId": None}, data.draw)
    parse_json(text)
    with view_of(header_line() + text + b"\n") as view:
        findings = scan_stream(view).findings
    assert rule in {each.rule for each in findings}
    assert all(each.entry == "aaaaaaaa" for each in findings)


@given(st.lists(planted(), min_size=1, max_size=4), st.integers(0, 10_000))
def test_findings_do_not_depend_on_where_the_scan_was_interrupted(cases: list[tuple[Any, str]], cut: int):
    lines = [
        json.dumps({"type": "custom", "customType": "x", "data": value, "id": f"{at:08x}", "parentId": None})
        for at, (value, _) in enumerate(cases)
    ]
    whole = header_line() + "".join(f"{each}\n" for each in lines).encode()
    before, scanning.BATCH = scanning.BATCH, max(1, cut)
    try:
        with view_of(whole) as view:
            in_pieces = scan_stream(view).findings
    finally:
        scanning.BATCH = before
    with view_of(whole) as view:
        assert scan_stream(view).findings == in_pieces
