"""The session files of the transcripts."""

from __future__ import annotations

from pivcs.ops.demo import demo_session
from tests.builders import (
    CLOCK,
    bash_line,
    build_session,
    entry_line,
    header_line,
    label_line,
    message_line,
    tool_result_line,
)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def _all_kinds() -> bytes:
    """One path with every kind of entry that a reader meets."""
    edit = {"path": "src/money.py", "edits": [{"oldText": "a = 1\nb = 2", "newText": "a = 10\nb = 2\nc = 3"}]}
    thinking = [
        {"type": "thinking", "thinking": "The total is a float.\nWhole cents would do.", "thinkingSignature": "c2ln"},
        {"type": "text", "text": "Totals are floats; I'll use whole cents."},
        {"type": "toolCall", "id": "call_1", "name": "edit", "arguments": edit},
        {"type": "toolCall", "id": "call_2", "name": "bash", "arguments": {"command": "pytest -q\necho done"}},
    ]
    lines = [
        header_line("kinds-1", parentSession="/home/dev/.pi/agent/sessions/--home-dev-project--/old.jsonl"),
        entry_line("model_change", "00000001", None, provider="anthropic", modelId="claude-sonnet-4-5"),
        entry_line("thinking_level_change", "00000002", "00000001", thinkingLevel="high"),
        message_line(
            "00000003",
            "00000002",
            content=[
                {"type": "text", "text": "What is wrong in this picture?\n\nThe sum, I think."},
                {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            ],
            ms=CLOCK + 60_000,
        ),
        message_line("00000004", "00000003", "assistant", thinking, stopReason="toolUse", ms=CLOCK + 65_000),
        tool_result_line("00000005", "00000004", "edit", "Successfully replaced 1 block(s).", call_id="call_1"),
        tool_result_line(
            "00000006",
            "00000005",
            "bash",
            "\n".join(f"tests/test_{n}.py F" for n in range(12)) + "\n\nCommand exited with code 1",
            call_id="call_2",
            is_error=True,
        ),
        bash_line("00000007", "00000006", "git status --short", " M src/money.py\n"),
        entry_line("custom", "00000008", "00000007", customType="my-extension", data={"n": 1, "on": True}),
        entry_line(
            "compaction",
            "00000009",
            "00000008",
            summary="## Goal\nWhole cents.\n\n## Done\n- money.py",
            firstKeptEntryId="00000007",
            tokensBefore=123_456,
        ),
        message_line(
            "0000000a", "00000009", "assistant", [], stopReason="error", errorMessage="529 overloaded_error: try again"
        ),
        entry_line("branch_summary", "0000000b", "0000000a", fromId="00000009", summary="Tried it the other way."),
        entry_line("from_the_future", "0000000c", "0000000b", payload=[1, 2, 3]),
        message_line("0000000d", "0000000c", content="Tab\there, \x1b[31mred\x1b[0m, \u202eevil\u202c, 日本語 and 😀."),
        label_line("0000000e", "0000000d", "00000004", "the plan"),
        entry_line("session_info", "0000000f", "0000000e", name="Whole cents"),
    ]
    return b"".join(lines)


def _broken() -> bytes:
    """Every kind of damage."""
    a, b, c, d = (
        message_line(name * 8, parent and parent * 8, role, f"This is {name}.")
        for name, parent, role in (
            ("a", "", "user"), ("b", "a", "assistant"), ("c", "b", "user"), ("d", "c", "assistant"),
        )
    )  # fmt: skip
    return b"".join(
        [
            header_line("broken-1"),
            a.replace(b'"parentId":""', b'"parentId":null'),
            b[:90] + b"\n",
            c,
            d[:-1] + message_line("eeeeeeee", "dddddddd", content="Glued behind d."),
            b"\0" * 512 + b"\n",
            b"\n",
            b'{"note":"no entry"}\n',
            message_line("ffffffff", "eeeeeeee", "assistant", "caf\u00e9").replace("é".encode(), b"\xe9"),
            header_line("second"),
            message_line("00000010", "ffffffff", content="The last one that is whole."),
            message_line("00000011", "00000010", "assistant", "Under way")[:120],
        ]
    )


def _days() -> bytes:
    """A week of work, with a day off."""
    lines, above = [header_line("week-1")], None
    for day, amount in ((0, 120), (1, 480), (2, 30), (4, 960), (5, 1)):
        for turn in range(1 + amount // 200):
            ms = CLOCK + day * 86_400_000 + turn * 60_000 + 36_000_000
            prompt, answer = f"0{day}{turn}a0000", f"0{day}{turn}b0000"
            usage = {"input": amount * 900, "output": amount * 70, "cacheRead": amount * 20_000, "cacheWrite": 0,
                     "totalTokens": amount * 20_970, "cost": {"total": amount / 128}}  # fmt: skip
            lines.append(message_line(prompt, above, content="Go on.", ms=ms))
            lines.append(message_line(answer, prompt, "assistant", "Done.", ms=ms + 31_000, usage=usage))
            above = answer
    return b"".join(lines)


def _hostile() -> bytes:
    """Names of models and tools that would move the cursor, and usage that is none."""
    call = {"type": "toolCall", "id": "call_1", "name": "ba\x1b[2Jsh\nrm", "arguments": {}}
    formula = {"type": "toolCall", "id": "call_2", "name": '=HYPERLINK("x")', "arguments": {}}
    odd = {"input": "NaN", "output": -5, "cacheRead": None, "cost": {"total": "0.25"}}
    return b"".join(
        [
            header_line("hostile-1"),
            message_line("00000001"),
            message_line("00000002", "00000001", "assistant", [call, formula], model="\u202eevil\x07", usage=odd),
            message_line("00000003", "00000002", "assistant", provider="日本語" * 20, usage=None),
            tool_result_line("00000004", "00000003", "日本語" * 20, is_error=True),
        ]
    )


SESSIONS = {
    "demo.jsonl": demo_session(),
    "kinds.jsonl": _all_kinds(),
    "broken.jsonl": _broken(),
    "headerless.jsonl": build_session("a-b", header=b""),
    "old.jsonl": header_line("old", version=None)
    + b'{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"Hi."}}\n'
    + b'{"type":"message","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":'
    + b'[{"type":"text","text":"Hello."}],"stopReason":"stop"}}{"type":"compaction","summary":"Greetings."}\n',
    "long.jsonl": build_session(
        header=header_line("long-1"),
        graph="-".join(f"{n:08x}" for n in range(1, 40)),
        kinds={f"{n:08x}": "tool" for n in range(3, 36)},
    ),
    "wide.jsonl": build_session(
        header=header_line("wide-1"),
        graph="a-b-c, b-d",
        texts={"a": "合計が一セントずれることがあります。理由を調べてください。" * 3, "b": "👩‍👩‍👧‍👦 family " * 12},
        labels={"c": "ラベル" * 20},
    ),
    "comb.jsonl": build_session(
        header=header_line("comb-1"), graph="1-2-3-4-5, 1-a1, 2-a2, 3-a3, 4-a4, 2-b2-c2, x-y, z"
    ),
    "empty.jsonl": b"",
    "only-header.jsonl": header_line("nothing-yet"),
    "pending.jsonl": build_session(header=header_line("pending-1"), graph="a-b").rstrip(b"\n"),
}
def _leaky() -> bytes:
    """Secrets, put together here so that no search of this repository finds them, at places that must be made safe."""
    token, key = "gh" + "p_" + "aZ3kQ9xW7mB2nV5cL8pR1tY6uI4oD0eF2gH7", "AK" + "IA" + "Q3XZ7LMN2PVWR5TY"
    odd = {"a\x1b[31mb": {"list": [token]}, token: "x"}
    return b"".join(
        [
            header_line("leaky-1"),
            message_line("0000000a", content=f"Deploy with {token}.\nThe key is {key}."),
            bash_line("0000000b", "0000000a", "env", "DB_PASS" + "WORD=s3cr3tP4ss9\nTOKEN_LIMIT=4096\nHOME=/root"),
            message_line("0000000c", "0000000b", "assistant", "Done: postgres://app:" + "T7x9Lq2Wz" + "@db.corp/app"),
            entry_line("custom", "0000000d", "0000000c", customType="x", data=odd),
            b"{torn " + key.encode() + b"\n",
            b'{"type":"message","pending":"' + token.encode(),
        ]
    )


MORE_SESSIONS = {"stats": {"days.jsonl": _days(), "hostile.jsonl": _hostile()}, "scan": {"leaky.jsonl": _leaky()}}
"""What only the transcript of this name has beside these."""
