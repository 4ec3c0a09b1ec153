"""A made-up session that shows what a tree of attempts looks like: one question, three approaches, one mistake.

Ids and times are fixed, so the demo says the same on every machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson

from pivcs.session.layout import session_file_name
from pivcs.session.times import format_time

SESSION_ID: Final = "019b7715-9000-7abc-8def-000000000001"
CWD: Final = "/home/dev/shop"
START: Final = 1_767_225_600_000
_MODEL: Final = ("anthropic", "claude-sonnet-4-5")
_SIGNATURE: Final = "RW5jcnlwdGVkIHJlYXNvbmluZyBvZiBhIG1hZGUtdXAgbW9kZWw="

Value = dict[str, object]


class _Writer:
    """Writes entries below each other, as pi does; `at` may be set back to branch."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.at: str | None = None
        self.clock = START
        self.calls = 0
        self._add({"type": "session", "version": 3, "id": SESSION_ID, "timestamp": self._now(0), "cwd": CWD})

    def entry(self, kind: str, fields: Value, *, seconds: int = 2) -> str:
        entry_id = f"{(len(self.lines) * 2_654_435_761) & 0xFFFFFFFF:08x}"
        self._add({"type": kind, "id": entry_id, "parentId": self.at, "timestamp": self._now(seconds), **fields})
        self.at = entry_id
        return entry_id

    def user(self, text: str) -> str:
        content = [{"type": "text", "text": text}]
        message: Value = {"role": "user", "content": content, "timestamp": self.clock}
        return self.entry("message", {"message": message}, seconds=40)

    def answer(self, text: str, *, thinking: str = "", calls: tuple[tuple[str, Value], ...] = ()) -> str:
        content: list[Value] = []
        if thinking:
            content.append({"type": "thinking", "thinking": thinking, "thinkingSignature": _SIGNATURE})
        if text:
            content.append({"type": "text", "text": text})
        for name, arguments in calls:
            self.calls += 1
            content.append({"type": "toolCall", "id": f"call_{self.calls:02}", "name": name, "arguments": arguments})
        amount = 1200 + 150 * len(self.lines)
        cost = round(amount * 3e-06, 6)
        message: Value = {
            "role": "assistant",
            "content": content,
            "api": "anthropic-messages",
            "provider": _MODEL[0],
            "model": _MODEL[1],
            "usage": {
                "input": amount,
                "output": 90,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": amount + 90,
                "cost": {"input": cost, "output": 0.00135, "cacheRead": 0, "cacheWrite": 0, "total": cost + 0.00135},
            },
            "stopReason": "toolUse" if calls else "stop",
            "timestamp": self.clock,
        }
        return self.entry("message", {"message": message}, seconds=6)

    def result(self, tool: str, text: str, *, error: bool = False) -> str:
        message: Value = {
            "role": "toolResult",
            "toolCallId": f"call_{self.calls:02}",
            "toolName": tool,
            "content": [{"type": "text", "text": text}],
            "isError": error,
            "timestamp": self.clock,
        }
        return self.entry("message", {"message": message}, seconds=1)

    def label(self, target: str, text: str) -> str:
        return self.entry("label", {"targetId": target, "label": text})

    def _now(self, seconds: int) -> str:
        self.clock += 1000 * seconds
        return format_time(self.clock)

    def _add(self, value: Value) -> None:
        self.lines.append(orjson.dumps(value) + b"\n")


def _edit(old: str, new: str) -> tuple[str, Value]:
    return "edit", {"path": "shop/price.py", "oldText": old, "newText": new}


def demo_session() -> bytes:
    """Return the bytes of the demo's session file."""
    write = _Writer()
    write.entry("model_change", {"provider": _MODEL[0], "modelId": _MODEL[1]})
    write.entry("thinking_level_change", {"thinkingLevel": "medium"})
    write.user("Prices are wrong by a cent now and then. Find out why.")
    write.answer("I'll look at how totals are computed.", calls=(("read", {"path": "shop/price.py"}),))
    write.result("read", "def total(items):\n    return sum(i.price * i.count for i in items)\n")
    asked = write.answer(
        "Prices are floats, so sums pick up rounding errors. We can use Decimal, or whole cents. Which one?",
        thinking="0.1 + 0.2 is the classic. The database column is numeric(10, 2), so both would fit.",
    )
    write.user("Use Decimal.")
    old, new = "sum(i.price * i.count for i in items)", "sum(Decimal(str(i.price)) * i.count for i in items)"
    write.answer("", calls=(_edit(old, new),))
    write.result("edit", "Successfully replaced 1 block(s) in shop/price.py.")
    write.answer("", calls=(("bash", {"command": "pytest -q"}),))
    failure = "E   TypeError: Object of type Decimal is not JSON serializable\n\nCommand exited with code 1"
    write.result("bash", failure, error=True)
    slow = write.answer("The sums are right, but JSON views cannot write Decimals, and checkout is 3 times slower.")
    write.at = asked
    write.user("Try whole cents instead.")
    write.answer("", calls=(_edit("i.price", "i.cents"),))
    write.result("edit", "Successfully replaced 1 block(s) in shop/price.py.")
    euros = "def euros(cents):\n    return f'{cents / 100:.2f}'\n"
    write.answer("", calls=(("write", {"path": "shop/money.py", "content": euros}),))
    write.result("write", "Successfully wrote to shop/money.py")
    write.answer("", calls=(("bash", {"command": "pytest -q"}),))
    write.result("bash", "14 passed in 0.41s")
    cents = write.answer("Totals are whole cents now, and all 14 tests pass. Only display converts to euros.")
    write.label(cents, "cents work")
    write.label(slow, "decimal, too slow")
    write.at = cents
    write.user("Good. Also reject negative counts.")
    write.answer("", calls=(_edit("for i in items", "for i in checked(items)"),))
    write.result("edit", "Successfully replaced 1 block(s) in shop/price.py.")
    write.answer("Negative counts raise ValueError now.")
    write.entry("session_info", {"name": "cent rounding"})
    return b"".join(write.lines)


def write_demo(directory: Path) -> Path:
    """Write the demo's session file into a directory and return its path."""
    path = directory / session_file_name(format_time(START), SESSION_ID)
    path.write_bytes(demo_session())
    return path
