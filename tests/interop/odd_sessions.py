"""Session files with everything that can go wrong in a tree and in lines, drawn from a random source."""

from __future__ import annotations

import json
from random import Random

from tests.builders import CLOCK, Value, header_line, iso, line

ODD_LINES = (
    b"\n",
    b"   \t\n",
    b"\r\n",
    "\u00a0\u2028\n".encode(),
    b"plain text\n",
    b"null\n",
    b"0\n",
    b"false\n",
    b'""\n',
    b"NaN\n",
    b'{"type":"message","id":"cut0cut0","parentId":nu\n',
    b'{"type":"custom","id":"nan00000","parentId":null,"data":NaN}\n',
    b'{"type":"custom","id":"comma000","parentId":null,}\n',
    b'{"type":"custom","id":"tab00000","text":"\t"}\n',
    "\ufeff{}\n".encode(),
)
KEPT_LINES = (
    b"123\n",
    b"-0.5\n",
    b"true\n",
    b'"text"\n',
    b"[]\n",
    b"[null]\n",
    b"{}\n",
    b'{"type":"leaf"}\n',
    b'{"type":"session","version":3,"id":"second header"}\n',
    b'{"type":"custom","customType":"bytes","data":"\xff\xed\xa0\x80","id":"bytes000","parentId":null}\n',
    b'{"type":"custom","customType":"half","data":"\\ud83d","id":"half0000","parentId":null}\n',
    b'{"id":"twice000","type":"custom","id":"twice001","parentId":null}\n',
    b' {"type" : "custom", "id" : "spaces00", "parentId" : null } \r\n',
)
TEXTS = ("good", "", " ", "  padded \u00a0", "\u2028line", "中文 🙂", "a\nb", "\u0085next", "\ufeffmark")
TIMES = ("yesterday", "", None, 17, "2026-01-01", "2026-01-01T00:00:09Z", "2026-02-30T00:00:00.000Z")


def odd_session(random: Random) -> bytes:
    """Return a file: mostly a tree as pi writes it, with some oddities, few or many."""
    oddness = random.choice((0.0, 0.05, 0.3))
    lines = [header_line()]
    if random.random() < oddness:
        lines.insert(0, random.choice(ODD_LINES))
    ids = [f"{random.getrandbits(32):08x}" for _ in range(random.randrange(0, 40))]
    for place, ident in enumerate(ids):
        if random.random() < oddness:
            lines.append(random.choice(ODD_LINES + KEPT_LINES))
        entry = _entry(random, ids, place, oddness)
        lines.append(line(entry))
        if random.random() < oddness / 4:
            lines[-1] = lines[-1][:-1] + line(entry | {"id": ident[::-1]})  # two writers glued their lines
    data = b"".join(lines)
    if random.random() < oddness / 2:
        data = data.replace(b"\n", b"\r\n")
    if random.random() < oddness:
        data = data[:-1]
    if random.random() < oddness:
        data = data[: -random.randrange(1, 60)]
    return data


def _entry(random: Random, ids: list[str], place: int, oddness: float) -> Value:
    odd = random.random() < oddness
    ident: object = random.choice(ids) if odd and random.random() < 0.3 else ids[place]
    parent: object = ids[place - 1] if place else None
    if random.random() < 0.3:
        parent = random.choice(ids[:place] or [None])
    if odd and random.random() < 0.5:
        parent = random.choice([None, "", "unknown0", ident, random.choice(ids), 7])
    clock: object = iso(CLOCK + random.choice((place, 3, random.randrange(40))) * 1000)
    if odd and random.random() < 0.3:
        clock = random.choice(TIMES)
    value: Value = {"id": ident, "parentId": parent, "timestamp": clock}
    if odd:
        for key in ("id", "parentId", "timestamp"):
            if random.random() < 0.1:
                del value[key]
    return value | _payload(random, ids, place)


def _payload(random: Random, ids: list[str], place: int) -> Value:
    kind = random.choice(("message", "message", "message", "label", "session_info", "settings", "custom", "unknown"))
    text = random.choice(TEXTS)
    if kind == "message":
        role = random.choice(("user", "assistant"))
        message: Value = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": CLOCK}
        if role == "assistant":
            message |= {"provider": random.choice("pq"), "model": random.choice("mn")}
        return {"type": kind, "message": message}
    if kind == "label":
        target = random.choice([*ids[: place + 1], "unknown0"])
        return {"type": kind, "targetId": target} | ({} if random.random() < 0.2 else {"label": text})
    if kind == "session_info":
        return {"type": kind} | ({} if random.random() < 0.2 else {"name": text})
    if kind == "settings" and random.random() < 0.5:
        return {"type": "thinking_level_change", "thinkingLevel": random.choice(("low", "high"))}
    if kind == "settings":
        return {"type": "model_change", "provider": random.choice("xy"), "modelId": random.choice("vw")}
    if kind == "custom":
        return {"type": kind, "customType": "note", "data": json.loads(random.choice(("{}", "[1]", "null", '"s"')))}
    return {"type": "from_the_future", "anything": text}
