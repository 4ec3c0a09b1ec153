"""Templates: fields, widths, nothing that runs, and every field documented."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.generate import ROOT
from pivcs.ops import log as ops
from pivcs.render.log_format import FIELDS, BadTemplate, Template
from pivcs.render.log_text import Looks
from pivcs.render.style import Styler
from pivcs.render.width import columns_of
from tests.builders import build_session
from tests.ops.trees import views
from tests.ops.views import view_of

LOOKS = Looks(Styler(False), utc=True)
VIEW = view_of(
    build_session(
        "a-b-c-d, b-e",
        kinds={"b": "tool", "c": "error"},
        texts={"a": "Fix\x1b[31m it.", "d": "合計が一セント"},
        labels={"a": "the start"},
    )
)


def filled(text: str, name: str = "aaaaaaaa") -> str:
    row = VIEW.table.row_named(name)
    assert row is not None
    return Template(text).fill(VIEW, ops.logged(VIEW, row), LOOKS)


@pytest.mark.parametrize(
    ("template", "name", "expected"),
    [
        ("{id}|{who}|{subject}", "aaaaaaaa", "aaaaaaaa|user|Fix^[[31m it."),
        ("{label}|{branch}|{head}|{refs}", "aaaaaaaa", "the start|||label: the start"),
        ("{branch}|{refs}", "dddddddd", "main|main"),
        ("{head}|{refs}", "1abe0000", "HEAD|HEAD -> b-eeeeeeee"),
        ("{role}|{tool}|{state}|{parent}", "cccccccc", "toolResult|bash|failed|bbbbbbbb"),
        ("{model}|{tool}|{role}", "bbbbbbbb", "claude-sonnet-4-5||assistant"),
        ("{type}|{role}|{who}", "1abe0000", "label||label"),
        ("{time} {iso}", "aaaaaaaa", "2026-01-01 00:00Z 2026-01-01T00:00:01.000Z"),
        ("{line}|{parent}|{parent_oid}", "aaaaaaaa", "2||"),
        ("{id:>10}|{id:^10}|{id:10}|{id:<10}|", "aaaaaaaa", "  aaaaaaaa| aaaaaaaa |aaaaaaaa  |aaaaaaaa  |"),
        ("{id:.4}|{subject:.5}|{subject:8.5}|", "aaaaaaaa", "aaaa|Fix^…|Fix^…   |"),
        ("{subject:.7}|{subject:8.7}|", "dddddddd", "合計が…|合計が… |"),
        ("{{{id}}} \\t\\n\\\\n", "aaaaaaaa", "{aaaaaaaa} \t\n\\n"),
        ("no field", "aaaaaaaa", "no field"),
        ("", "aaaaaaaa", ""),
    ],
)
def test_fields_and_widths(template: str, name: str, expected: str):
    assert filled(template, name) == expected


@pytest.mark.parametrize(
    ("template", "said", "hint"),
    [
        ("{subjct}", "no field 'subjct' (character 1)", "did you mean 'subject'?"),
        ("{id} {zzz}", "no field 'zzz' (character 6)", "there are id, oid"),
        ("{}", "no field ''", "there are id"),
        ("{0}", "no field '0'", "there are id"),
        ("{id.__class__}", "no field 'id.__class__'", ""),
        ("{id[0]}", "no field 'id[0]'", ""),
        ("{id!r}", "'!r' is no width", "as {subject:40}"),
        ("{id:x}", "':x' is no width", "as {subject:40}"),
        ("{id:{id}}", "is no width", "as {subject:40}"),
        ("{id:99999}", "is no width", "as {subject:40}"),
        ("{id", "expected '}'", "{{ and }} stand for braces"),
        ("id}", "single '}'", "{{ and }} stand for braces"),
    ],
)
def test_what_is_no_template_is_told_with_its_place(template: str, said: str, hint: str):
    with pytest.raises(BadTemplate) as told:
        Template(template)
    assert said in told.value.message
    assert hint in str(told.value.hint)


@given(views(), st.sampled_from(sorted(FIELDS)), st.integers(1, 30))
def test_every_field_of_every_entry_is_safe_and_as_wide_as_asked(view, name: str, width: int):  # type: ignore[no-untyped-def]
    template = Template(f"{{{name}:{width}.{width}}}")
    for row in view.table.nodes():
        text = template.fill(view, ops.logged(view, row), LOOKS)
        assert columns_of(text) == width
        assert "\n" not in text
        assert "\x1b" not in text


def test_every_field_is_documented():
    page = (ROOT / "docs" / "log-format.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(FIELDS)
