"""Session files for tests: lines with pi's key order, and whole trees from one line of text.

    build_session("a-b-c, b-d")              # a -> b -> c, and d as a second child of b
    build_session("a-b-c, b-d", leaf="c")    # the same, but c's line comes last: pi resumes there
    build_session("a-b", kinds={"b": "tool"}, texts={"a": "Fix it."}, labels={"b": "good"})

A graph is a list of chains separated by commas; a chain is names joined by dashes. A name that is met for the first
time is an entry whose parent is the name before it (none: a root); a name that is known only says where the chain
goes on. Lines stand in the order in which the names are met. Nothing is random: ids come from the names (`entry_id`),
times from a clock that starts at `CLOCK` and advances one second a line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from zlib import crc32

CLOCK = 1_767_225_600_000  # 2026-01-01T00:00:00.000Z
SESSION_ID = "019b7715-9000-7000-8000-000000000001"
CWD = "/home/dev/project"
MODEL = ("anthropic", "claude-sonnet-4-5")

Value = dict[str, object]
EntryMaker = Callable[[str, str | None, int, str], bytes]

_HEX = set("0123456789abcdef")


def entry_id(name: str) -> str:
    """Return the 8 hex digits that a name stands for.

    One hex digit is repeated ("a" -> "aaaaaaaa"), two to eight hex digits are filled up ("b1" -> "b1000000"), any
    other name of up to four bytes is its bytes in hex ("x1" -> "00007831"), a longer one its CRC.
    """
    raw = name.encode()
    if name and set(name) <= _HEX and len(name) <= 8:
        return name * 8 if len(name) == 1 else name.ljust(8, "0")
    return raw.hex().rjust(8, "0") if len(raw) <= 4 else f"{crc32(raw):08x}"


def iso(ms: int) -> str:
    """Return a time as pi writes it."""
    stamp = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    return stamp.strftime("%Y-%m-%dT%H:%M:%S.") + f"{stamp.microsecond // 1000:03d}Z"


def line(value: object) -> bytes:
    """Return a value as compact JSON with its LF. Good for made-up data: no floats, no lone surrogates."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def header_line(
    session_id: str = SESSION_ID, *, version: object = 3, ms: int = CLOCK, cwd: str = CWD, **more: object
) -> bytes:
    """Return a header line; `version=None` leaves the key out, `more` are further keys (`parentSession`)."""
    value: Value = {"type": "session"}
    if version is not None:
        value["version"] = version
    return line(value | {"id": session_id, "timestamp": iso(ms), "cwd": cwd} | more)


def entry_line(
    type_: str, ident: str, parent: str | None = None, *, ms: int = CLOCK, **fields: object
) -> bytes:
    """Return an entry of any type, the fields after the common keys (custom entries: before id, as pi does)."""
    common: Value = {"id": ident, "parentId": parent, "timestamp": iso(ms)}
    if type_ in ("custom", "custom_message"):
        return line({"type": type_} | fields | common)
    return line({"type": type_} | common | fields)


def message_line(
    ident: str, parent: str | None = None, role: str = "user", content: object = "text", *,
    ms: int = CLOCK, **fields: object,
) -> bytes:
    """Return a message entry. A string as content becomes one text block; `fields` are keys of the message."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    message: Value = {"role": role, "content": blocks}
    if role == "assistant":
        message |= _answer_fields()
    return entry_line("message", ident, parent, ms=ms, message=message | {"timestamp": ms} | fields)


def tool_call_line(
    ident: str, parent: str | None, name: str, arguments: Value, *,
    call_id: str = "", text: str = "", ms: int = CLOCK,
) -> bytes:
    """Return an answer that calls one tool; the call's id is `call_` and the entry's id if not given."""
    call = {"type": "toolCall", "id": call_id or f"call_{ident}", "name": name, "arguments": arguments}
    blocks: list[object] = [{"type": "text", "text": text}] if text else []
    return message_line(ident, parent, "assistant", [*blocks, call], ms=ms, stopReason="toolUse")


def tool_result_line(
    ident: str, parent: str | None, name: str, text: str = "", *,
    call_id: str = "", is_error: bool = False, ms: int = CLOCK,
) -> bytes:
    """Return a tool's result; the call's id is made from the parent's id if not given."""
    message: Value = {
        "role": "toolResult", "toolCallId": call_id or f"call_{parent}", "toolName": name,
        "content": [{"type": "text", "text": text}], "isError": is_error, "timestamp": ms,
    }
    return entry_line("message", ident, parent, ms=ms, message=message)


def bash_line(
    ident: str, parent: str | None, command: str, output: str = "", *, exit_code: int = 0, ms: int = CLOCK
) -> bytes:
    """Return a shell command that the user gave."""
    message: Value = {
        "role": "bashExecution", "command": command, "output": output, "exitCode": exit_code,
        "cancelled": False, "truncated": False, "timestamp": ms,
    }
    return entry_line("message", ident, parent, ms=ms, message=message)


def label_line(ident: str, parent: str | None, target: str, label: str | None, *, ms: int = CLOCK) -> bytes:
    """Return a label entry; None clears."""
    fields: Value = {"targetId": target} if label is None else {"targetId": target, "label": label}
    return entry_line("label", ident, parent, ms=ms, **fields)


KINDS: dict[str, EntryMaker] = {
    "user": lambda i, p, ms, text: message_line(i, p, "user", text, ms=ms),
    "assistant": lambda i, p, ms, text: message_line(i, p, "assistant", text, ms=ms),
    "system": lambda i, p, ms, text: message_line(i, p, "system", text, ms=ms),
    "tool": lambda i, p, ms, text: tool_call_line(i, p, "bash", {"command": text}, ms=ms),
    "result": lambda i, p, ms, text: tool_result_line(i, p, "bash", text, ms=ms),
    "error": lambda i, p, ms, text: tool_result_line(i, p, "bash", text, is_error=True, ms=ms),
    "bash": lambda i, p, ms, text: bash_line(i, p, text, ms=ms),
    "model": lambda i, p, ms, text: entry_line("model_change", i, p, ms=ms, provider="openai", modelId=text),
    "thinking": lambda i, p, ms, text: entry_line("thinking_level_change", i, p, ms=ms, thinkingLevel=text),
    "name": lambda i, p, ms, text: entry_line("session_info", i, p, ms=ms, name=text),
    "custom": lambda i, p, ms, text: entry_line("custom", i, p, ms=ms, customType=text, data={}),
    "custom_message": lambda i, p, ms, text: entry_line(
        "custom_message", i, p, ms=ms, customType="note", content=text, display=True
    ),
    "compaction": lambda i, p, ms, text: entry_line(
        "compaction", i, p, ms=ms, summary=text, firstKeptEntryId=p or i, tokensBefore=45_000, fromHook=False
    ),
    "branch_summary": lambda i, p, ms, text: entry_line(
        "branch_summary", i, p, ms=ms, fromId=p or "root", summary=text, fromHook=False
    ),
}
"""What `build_session(kinds=...)` knows by name; each takes id, parent, time and text."""


def build_session(
    graph: str = "", *,
    leaf: str | None = None,
    kinds: Mapping[str, str | EntryMaker] | None = None,
    texts: Mapping[str, str] | None = None,
    labels: Mapping[str, str | None] | None = None,
    extra: Iterable[bytes] = (),
    header: bytes | None = None,
) -> bytes:
    """Return a session file.

    Without a kind the entries of a chain are in turn user and assistant messages, by depth; without a text they
    say their own name. `labels` are appended as label entries after the graph, one chained to the other (so the last
    one is where pi resumes). `extra` lines follow as they are. `header=b""` leaves the header out.
    """
    parents = _parents(graph)
    order = list(parents)
    if leaf is not None:
        if leaf in parents.values():
            raise ValueError(f"'{leaf}' has children: its line cannot come last")
        order.remove(leaf)
        order.append(leaf)
    lines = [header_line() if header is None else header]
    clock = CLOCK
    depths: dict[str | None, int] = {None: -1}
    for name, parent in parents.items():
        depths[name] = depths[parent] + 1
    for name in order:
        clock += 1000
        kind = (kinds or {}).get(name, "assistant" if depths[name] % 2 else "user")
        maker = KINDS[kind] if isinstance(kind, str) else kind
        above = parents[name]
        lines.append(maker(entry_id(name), above and entry_id(above), clock, (texts or {}).get(name, name)))
    last = entry_id(order[-1]) if order else None
    for number, (name, label) in enumerate((labels or {}).items()):
        clock += 1000
        ident = f"1abe{number:04x}"
        lines.append(label_line(ident, last, entry_id(name), label, ms=clock))
        last = ident
    return b"".join([*lines, *extra])


def _parents(graph: str) -> dict[str, str | None]:
    """Return name -> name of the parent in the order in which the names are met."""
    parents: dict[str, str | None] = {}
    for chain in filter(None, (part.strip() for part in graph.split(","))):
        above: str | None = None
        for name in (part.strip() for part in chain.split("-")):
            parents.setdefault(name, above)
            above = name
    return parents


def _answer_fields() -> Value:
    cost: Value = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    tokens: Value = {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15}
    provider, model = MODEL
    return {
        "api": "anthropic-messages", "provider": provider, "model": model,
        "usage": tokens | {"cost": cost}, "stopReason": "stop",
    }
