"""A session file that grows by one line at a time, as pi makes it grow."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from random import Random

BEFORE = 4 << 20  # bytes before the end in which the last line is looked for
WORDS = 120
SIGNATURE = 540
KEPT = 32  # ids of appended lines that `back` can reach


class Growing:
    """Appends answers of about 2 KB, below the entry that is the last line or below an earlier one, as after pi's
    `/tree`. `cut` makes the file what it was."""

    def __init__(self, path: Path, *, seed: int = 1) -> None:
        self.path = path
        self._random = Random(seed)
        self._size = path.stat().st_size
        self._ids = [_last_id(path)]
        self._count = 0

    def append(self, *, back: int = 0) -> int:
        """Append one line and return its length in bytes. Its parent is the last entry, or the one that was appended
        `back` lines before it (the earliest there is, when that many were not appended)."""
        random = self._random
        words = ("the", "parser", "keeps", "every", "line", "of", "a", "session", "until", "its", "end", "is", "read")
        text = " ".join(f"{random.choice(words)}-{random.randrange(200)}" for _ in range(WORDS))
        clock = f"{self._count // 3600 % 24:02}:{self._count // 60 % 60:02}:{self._count % 60:02}"
        ident = f"{random.getrandbits(32):08x}"
        entry = {
            "type": "message",
            "id": ident,
            "parentId": self._ids[max(-len(self._ids), -1 - back)],
            "timestamp": f"2026-06-01T{clock}.000Z",
            "message": {
                "role": "assistant",
                "content": [
                    {
                        "type": "thinking",
                        "thinking": text[: len(text) // 2],
                        "thinkingSignature": base64.b64encode(random.randbytes(SIGNATURE)).decode(),
                    },
                    {"type": "text", "text": text[len(text) // 2 :]},
                ],
                "api": "anthropic-messages",
                "provider": "anthropic",
                "model": "claude-opus-4-5",
                "usage": {"input": 900, "output": 300, "cacheRead": 90_000, "cacheWrite": 0, "totalTokens": 91_200},
                "stopReason": "stop",
                "timestamp": 1_780_272_000_000 + 1000 * self._count,
            },
        }
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        with self.path.open("ab") as out:
            out.write(line)
        self._ids.append(ident)
        del self._ids[:-KEPT]
        self._count += 1
        return len(line)

    def cut(self) -> None:
        """Take away what was appended."""
        os.truncate(self.path, self._size)


def _last_id(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - BEFORE))
        last = file.read().splitlines()[-1]
    return str(json.loads(last)["id"])
