"""Writes a session with two long branches: `python -m benchmarks.peers.two_branches OUT.jsonl ENTRIES`.

Turns have six entries: a prompt, two calls of a tool with their results, an answer; every tenth prompt of the second
branch is one of the first in other words. The same number of entries gives the same bytes. Writes the ids of both ends.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from pivcs.session.times import format_time

START = 1_767_225_600_000
WORDS = (
    "price", "decimal", "cents", "rounding", "total", "view", "json", "cart", "order", "checkout", "tests", "write",
    "read", "error", "fix", "refactor", "user", "model", "page", "query", "cache", "index", "retry", "limit",
)  # fmt: skip
USAGE = {
    "input": 120, "output": 60, "cacheRead": 9000, "cacheWrite": 300, "totalTokens": 9480,
    "cost": {"input": 0.001, "output": 0.001, "cacheRead": 0.002, "cacheWrite": 0.001, "total": 0.005},
}  # fmt: skip


class Writer:
    """Lines of a session, each below the one before."""

    def __init__(self) -> None:
        self.number = 0
        self.at: str | None = None
        self.random = random.Random(1)

    def words(self, count: int) -> str:
        return " ".join(self.random.choice(WORDS) for _ in range(count))

    def message(self, role: str, content: list[dict[str, object]], **fields: object) -> bytes:
        self.number += 1
        time = START + self.number * 1000
        entry_id = f"{self.number:08x}"
        message = {"role": role, "content": content, **fields, "timestamp": time}
        entry = {"type": "message", "id": entry_id, "parentId": self.at, "timestamp": format_time(time)}
        self.at = entry_id
        return json.dumps({**entry, "message": message}).encode() + b"\n"

    def turn(self, prompt: str) -> Iterator[bytes]:
        answered = {"provider": "anthropic", "model": "claude-sonnet-4-5", "usage": USAGE}
        yield self.message("user", [{"type": "text", "text": prompt}])
        for _ in range(2):
            call = {"type": "toolCall", "id": f"call_{self.number}", "name": "bash"}
            call_block = {**call, "arguments": {"command": f"pytest {self.words(2)}"}}
            text = {"type": "text", "text": self.words(20)}
            yield self.message("assistant", [text, call_block], **answered, stopReason="toolUse")
            output: list[dict[str, object]] = [{"type": "text", "text": self.words(150)}]
            failed = self.random.random() < 0.2
            yield self.message("toolResult", output, toolCallId=call["id"], toolName="bash", isError=failed)
        yield self.message("assistant", [{"type": "text", "text": self.words(60)}], **answered, stopReason="stop")


def main() -> None:
    path, entries = Path(sys.argv[1]), int(sys.argv[2])
    write = Writer()
    header = {"type": "session", "version": 3, "id": "bench", "timestamp": format_time(START), "cwd": "/bench"}
    ends = []
    with path.open("wb") as file:
        file.write(json.dumps(header).encode() + b"\n")
        file.writelines(write.turn("Where do we begin?"))
        fork = write.at
        prompts: list[str] = []
        for branch in range(2):
            write.at = fork
            for number in range(max(1, entries // 6)):
                again = branch and not number % 10
                prompt = f"{prompts[number]} please" if again else write.words(12)
                prompts.append(prompt)
                file.writelines(write.turn(prompt))
            ends.append(str(write.at))
    print(*ends)


if __name__ == "__main__":
    main()
