"""Entries, and lines made of whole and torn ones, for the tests of salvage."""

from __future__ import annotations

import json

from hypothesis import strategies as st


def spell(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def entry(entry_id: str, parent: str | None = None, content: object = "hi }{ there") -> bytes:
    """Spell a message entry as pi does."""
    message = {"role": "user", "content": content, "timestamp": 1}
    return spell(
        {
            "type": "message",
            "id": entry_id,
            "parentId": parent,
            "timestamp": "2025-01-01T00:00:00.000Z",
            "message": message,
        }
    )


HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}'

CUSTOM = b'{"type":"custom","customType":"k","data":{"a":[{"type":"x"}]},"id":"k1","parentId":"a","timestamp":"t"}'

ASSISTANT = spell(
    {
        "type": "message",
        "id": "b",
        "parentId": "a",
        "timestamp": "2025-01-01T00:00:01.000Z",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": 'say "{}" and \\ \n \u65e5\u672c\U0001f600', "thinkingSignature": "s"},
                {
                    "type": "text",
                    "text": '{"type":"message","id":"x","parentId":null,"timestamp":"t"}{}}{\x01\x7f\u2028',
                },
                {
                    "type": "toolCall",
                    "id": "call_1",
                    "name": "edit",
                    "arguments": {
                        "path": "a",
                        "edits": [{"oldText": "\u00e4", "n": [1, -2.5e-3, [], {}]}, {"type": "text"}],
                    },
                },
                {
                    "type": "toolCall",
                    "id": "call_2",
                    "name": "x",
                    "arguments": {"type": "t", "id": "i", "ok": [True, None]},
                },
            ],
            "usage": {"input": 1, "cost": {"total": 0.5}},
            "stopReason": "toolUse",
            "timestamp": 1735689601000,
        },
    }
)
"""An answer with every kind of nesting that pi writes."""

QUOTING = entry(
    "q", "a", [{"type": "toolCall", "arguments": {"log": [json.loads(entry("n1")), json.loads(entry("n2"))]}}]
)
"""An entry that holds whole entries as values."""


def torn_lines() -> st.SearchStrategy[bytes]:
    """Lines of whole and cut entries, and what else gets between them."""
    whole = st.sampled_from([HEADER, CUSTOM, ASSISTANT, QUOTING, entry("c", "b"), b"{}", b'{"a":[1,2]}', b"[1]", b"12"])
    cut = st.builds(lambda text, at: text[: at % len(text)], whole, st.integers(0, 2000))
    tail = st.builds(lambda text, at: text[at % len(text) :], whole, st.integers(0, 2000))
    other = st.sampled_from(
        [
            b" ",
            b"\r",
            b"\t",
            b"\x00" * 9,
            b",",
            b"]",
            b"}",
            b"{",
            b"[",
            b'"',
            b"\\",
            b"\xff",
            b"\xe2\x80",
            b"\xef\xbb\xbf",
            b"\xc2\xa0",
            b'{"type":"',
            b'{"type":"message",',
            b'"content":[',
            b" " * 700,
        ]
    )
    return st.lists(whole | whole | cut | tail | other, max_size=7).map(b"".join)
