"""Patterns mean the same in every Python that is supported: CPython 3.11.0 to 3.11.4 takes too much or too little for
possessive repeats and atomic groups, so there are none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pivcs
from pivcs.session.classify import classify_line
from pivcs.session.fields import LineKind
from pivcs.session.jsonscan import JsonScanner
from pivcs.session.jsontext import NotJson, is_blank, parse_json
from pivcs.session.longline import LongLine

POSSESSIVE = re.compile(r"[*+?}]\+|\(\?>")
ENTRY = b'{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"x"}}'


def possessive_in(source: str) -> list[str]:
    """The texts in a source, docstrings aside, that look like possessive repeats or atomic groups."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and id(node) not in told
    ]
    marks = ("+++ ", "--- ")  # lines of a unified diff
    return [text for text in texts if POSSESSIVE.search(text) and text not in marks]


def test_no_pattern_is_possessive_or_atomic() -> None:
    found = {
        path.name: texts
        for path in Path(pivcs.__file__).parent.rglob("*.py")
        if (texts := possessive_in(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize("pattern", ["a*+", "a++", "(?:a)?+", "a{1,2}+", "(?>a)"])
def test_each_possessive_form_would_be_seen(pattern: str) -> None:
    assert possessive_in(f"X = re.compile(r'{pattern}')") == [pattern]
    assert possessive_in(f"X = re.compile(rb'{pattern}')") == [pattern]


def kinds(line: bytes) -> set[LineKind]:
    """What the line is, however it is read."""
    found = {classify_line(line, version1=False).kind}
    for step in (1, 7, len(line)):
        long = LongLine(version1=False)
        for start in range(0, len(line), step):
            long.feed(line[start : start + step])
        found.add(long.finish().kind)
    return found


@pytest.mark.parametrize(
    "text",
    [
        b"[1,]",
        b"[1, ]",
        b"[[1,],2]",
        b'{"a":1,}',
        b'{"a":1, }',
        b'[0,{"a":1,}]',
        b'[0,{"a":[1,{"b":2,}]}]',
        b"[1.]",
        b"[1e]",
        b"[0,1.,2]",
        b"[0,[1e+,2]]",
        b'["\\u12"]',
        b'[0,"a\\x"]',
        b'[0,["a\\u123"]]',
    ],
)
def test_what_ends_too_early_is_no_json(text: bytes) -> None:
    with pytest.raises(NotJson):
        parse_json(text)
    scanner = JsonScanner()
    scanner.feed(text)
    scanner.finish()
    assert scanner.state == "failed"
    assert kinds(text) == {LineKind.DAMAGED}


@pytest.mark.parametrize(
    "torn",
    [
        b'{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"content":[{"type":"text","text":"y',
        b'{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"content":[1,',
        b'{"type":"message","id":"b","parentId":"a","usage":{"a":1,',
        b'{"type":"message","id":"b","parentId":"a","usage":[1.5e',
    ],
)
def test_whole_message_is_found_behind_a_torn_one(torn: bytes) -> None:
    assert kinds(torn + ENTRY) == {LineKind.GLUED}
    records = classify_line(torn + ENTRY, version1=False).records
    assert [(record.start, record.end, record.fields.id) for record in records] == [
        (len(torn), len(torn) + len(ENTRY), "a")
    ]


def test_repeats_beyond_one_match_are_read_alike() -> None:
    for count in (999, 1000, 1001, 2500):
        assert parse_json(b'["' + b"\\n" * count + b'",1e999]') == ["\n" * count, float("inf")]
        assert is_blank(b" \xc2\xa0" * count)
        assert not is_blank(b" \xc2\xa0" * count + b"x")
        for value in (
            b'"' + b"\\n" * count + b'"',
            b"[" + b"1," * count + b"[]]",
            b'{"a":"' + b"x" * count * 4 + b'"}',
        ):
            line = b'{"type":"message","id":"a","timestamp":"t","x":[' + value + b"," + value + b"]}"
            scanner = JsonScanner()
            assert scanner.feed(line) == len(line)
            assert scanner.is_object
            broken = line.replace(b"]}", b"}", 1)
            scanner = JsonScanner()
            scanner.feed(broken)
            assert scanner.state == "failed"
