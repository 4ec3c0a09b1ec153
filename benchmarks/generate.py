"""Write a realistic pi session (format v3) of about a given size.

    python -m benchmarks.generate --size 100M --seed 1 OUT.jsonl

The same size and seed give the same bytes. The tree branches as a person's `/tree` does: back to the end of one of the
last turns of the branch, and on from there, with or without a summary. Lines are as pi writes them: key order, spelling
of numbers, one LF each. The file is written as it is made, and memory does not grow with its size.
"""

from __future__ import annotations

import argparse
import base64
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import orjson

from benchmarks.project import Files, make_call
from benchmarks.vocabulary import Vocabulary

Value = dict[str, object]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START = 1_767_225_600_000  # 2026-01-01T00:00:00.000Z
MODELS = (("anthropic", "claude-opus-4-5", "anthropic-messages"), ("openai", "gpt-5.2", "openai-responses"))
LEVELS = ("off", "low", "medium", "high", "xhigh")
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
KEPT_TURNS = 16  # how far back a rewind reaches
TOOLS = {
    "read": ("Read the contents of a file.", ("path", "offset", "limit")),
    "bash": ("Execute a bash command in the current working directory.", ("command", "timeout")),
    "edit": ("Edit a single file using exact text replacement.", ("path", "edits")),
    "write": ("Write content to a file, creating it where needed.", ("path", "content")),
}


def session_lines(size: int, *, seed: int = 1, cwd: str = "/home/dev/project") -> Iterator[bytes]:
    """Yield the lines of a session, LF included, until they add up to at least `size` bytes (never a line more)."""
    done = 0
    for line in _Session(seed, cwd).lines():
        yield line
        done += len(line)
        if done >= size:
            return


def write_session(path: Path, size: int, *, seed: int = 1) -> int:
    """Write a session file and return the number of its lines. An existing file is replaced."""
    count = 0
    with path.open("wb", buffering=1 << 20) as out:
        for line in session_lines(size, seed=seed):
            out.write(line)
            count += 1
    return count


def size_of(text: str) -> int:
    """Read a size like `500k`, `100M` or `1G` (powers of 1,024). Raises ValueError for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)", text.lower())
    if match is None:
        raise ValueError(f"not a size: '{text}'")
    return int(float(match[1]) * 1024 ** " kmg".index(match[2] or " "))


class _Session:
    """The state of one session while it is written: clock, leaf, and the files at the leaf."""

    def __init__(self, seed: int, cwd: str) -> None:
        self.random = Random(seed)
        self.vocabulary = Vocabulary(self.random)
        self.cwd = cwd
        self.clock = START
        self.count = 0
        self.salt = self.random.getrandbits(32)
        self.leaf: str | None = None
        self.files: Files = {}
        self.model = MODELS[0]
        self.level = "high"

    def lines(self) -> Iterator[bytes]:
        """Yield lines without end."""
        yield from self._opening()
        turns: list[tuple[str, str, Files]] = []  # of the current branch: first entry, last entry, files after it
        while True:
            yield from self._between(turns)
            first = self._user()
            yield first[1]
            yield from self._answers()
            assert self.leaf is not None
            turns.append((first[0], self.leaf, self.files))
            del turns[:-KEPT_TURNS]

    def _opening(self) -> Iterator[bytes]:
        random = self.random
        bits = random.getrandbits(74)
        session_id = f"019b7715-9000-7{bits >> 62:03x}-8{bits >> 48 & 0xFFF:03x}-{bits & 0xFFFFFFFFFFFF:012x}"
        header = {"type": "session", "version": 3, "id": session_id, "timestamp": self._now(), "cwd": self.cwd}
        yield orjson.dumps(header) + b"\n"
        yield self._entry("model_change", provider=self.model[0], modelId=self.model[1])
        yield self._entry("thinking_level_change", thinkingLevel=self.level)
        tools = [
            {
                "name": name,
                "description": about,
                "parameters": {"type": "object", "properties": {key: {"type": "string"} for key in keys}},
            }
            for name, (about, keys) in TOOLS.items()
        ]
        sections = {"preamble": self.vocabulary.text("prose", 60), "cwd": f"<cwd>\n{self.cwd}\n</cwd>"}
        yield self._message("system", content="", sections=sections, timestamp=self.clock, toolsAdded=tools)

    def _between(self, turns: list[tuple[str, str, Files]]) -> Iterator[bytes]:
        """What happens before a question: a rewind, a compaction, a label, a name, a switch, an extension's note."""
        random, vocabulary, share = self.random, self.vocabulary, self.random.random()
        if share < 0.06 and len(turns) > 3:
            left = self.leaf
            back = random.randrange(max(0, len(turns) - 12), len(turns) - 1)
            del turns[back + 1 :]
            _, self.leaf, self.files = turns[back]
            if random.random() < 0.4:
                fields: Value = {"fromId": left, "summary": vocabulary.text("prose", 12), "details": self._touched()}
                yield self._entry("branch_summary", **fields, fromHook=False)
        elif share < 0.08 and len(turns) > 6:
            yield self._entry(
                "compaction",
                summary=vocabulary.text("prose", 40),
                firstKeptEntryId=turns[-2][0],
                tokensBefore=random.randint(90_000, 190_000),
                details=self._touched(),
                fromHook=False,
            )
        elif share < 0.09:
            yield self._entry("label", targetId=self.leaf, label=f"checkpoint-{self.count}")
        elif share < 0.10:
            yield self._entry("session_info", name=vocabulary.words(2, 5))
        elif share < 0.12:
            data = {"count": self.count, "note": vocabulary.name()}
            yield self._entry("custom", customType="my-extension", data=data)
        elif share < 0.13:
            self.model = random.choice(MODELS)
            yield self._entry("model_change", provider=self.model[0], modelId=self.model[1])
        elif share < 0.14:
            self.level = random.choice(LEVELS)
            yield self._entry("thinking_level_change", thinkingLevel=self.level)

    def _user(self) -> tuple[str, bytes]:
        content: list[Value] = [{"type": "text", "text": self.vocabulary.text("prose", 4)}]
        if self.random.random() < 0.004:
            picture = b"\x89PNG\r\n\x1a\n" + self.random.randbytes(self.random.randint(20_000, 120_000))
            content.append({"type": "image", "data": base64.b64encode(picture).decode(), "mimeType": "image/png"})
        line = self._message("user", content=content, timestamp=self.clock)
        assert self.leaf is not None
        return self.leaf, line

    def _answers(self) -> Iterator[bytes]:
        """One assistant message after the other, each but the last with tool calls and their results."""
        random, vocabulary = self.random, self.vocabulary
        steps = min(40, 1 + int(random.expovariate(1 / 6)))
        for step in range(steps):
            last = step == steps - 1
            content: list[Value] = []
            if random.random() < 0.5:
                signature = base64.b64encode(random.randbytes(180 + int(random.expovariate(1 / 520)))).decode()
                thinking = vocabulary.text("prose", 8)
                content.append({"type": "thinking", "thinking": thinking, "thinkingSignature": signature})
            if last or random.random() < 0.6:
                content.append({"type": "text", "text": vocabulary.text("prose", 10 if last else 4)})
            calls = []
            if not last:
                for _ in range(1 if random.random() < 0.85 else random.randint(2, 3)):
                    call = make_call(random, vocabulary, self.files)
                    self.files = call.files
                    calls.append((self._code("toolu_01"), call))
            content += [
                {"type": "toolCall", "id": code, "name": call.name, "arguments": call.arguments} for code, call in calls
            ]
            provider, model, api = self.model
            yield self._message(
                "assistant",
                content=content,
                api=api,
                provider=provider,
                model=model,
                usage=self._usage(),
                stopReason="stop" if last else "toolUse",
                timestamp=self.clock,
                responseId=self._code("msg_01"),
                durationMs=random.randint(800, 60_000),
            )
            for code, call in calls:
                fields: Value = {"toolCallId": code, "toolName": call.name}
                fields["content"] = [{"type": "text", "text": call.result}]
                if call.details is not None:
                    fields["details"] = call.details
                duration = random.randint(1, 4_000)
                yield self._message(
                    "toolResult", **fields, isError=call.is_error, durationMs=duration, timestamp=self.clock
                )

    def _usage(self) -> Value:
        random = self.random
        tokens = {
            "input": random.randint(200, 9_000),
            "output": random.randint(40, 4_000),
            "cacheRead": random.randint(1_000, 180_000),
            "cacheWrite": random.choice((0, 0, random.randint(300, 9_000))),
        }
        prices = zip(tokens.items(), (5e-6, 25e-6, 5e-7, 6.25e-6), strict=True)
        # Amounts of at least 0.0001 with a fraction, and a whole 0: what orjson and JavaScript spell alike.
        cost = {name: max(round(count * price, 7), 0.00011) if count else 0 for (name, count), price in prices}
        total = round(sum(cost.values()), 7)
        return {**tokens, "totalTokens": sum(tokens.values()), "cost": {**cost, "total": total}}

    def _touched(self) -> Value:
        names = list(self.files)
        return {"readFiles": names[:20], "modifiedFiles": names[-20:]}

    def _message(self, role: str, **fields: object) -> bytes:
        return self._entry("message", message={"role": role, **fields})

    def _entry(self, kind: str, **fields: object) -> bytes:
        # A bijection on 32 bits gives ids that look random and never repeat, without keeping them.
        word = (self.count + self.salt) * 0x9E3779B1 & 0xFFFFFFFF
        word = (word ^ word >> 15) * 0x85EBCA6B & 0xFFFFFFFF
        ident = f"{word ^ word >> 13:08x}"
        common = {"id": ident, "parentId": self.leaf, "timestamp": self._now()}
        late = kind in ("custom", "custom_message")  # pi writes these with the payload first
        value = {"type": kind, **fields, **common} if late else {"type": kind, **common, **fields}
        self.leaf = ident
        self.count += 1
        return orjson.dumps(value) + b"\n"

    def _code(self, prefix: str) -> str:
        return prefix + "".join(self.random.choices(BASE58, k=22))

    def _now(self) -> str:
        self.clock += int(self.random.expovariate(1 / 4000)) + 5
        return (EPOCH + timedelta(milliseconds=self.clock)).isoformat(timespec="milliseconds")[:23] + "Z"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description="Write a made-up pi session.")
    parser.add_argument("out", type=Path, help="file to write (an existing one is replaced)")
    parser.add_argument("--size", type=size_of, default="10M", help="like 500k, 100M or 1G (default: 10M)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    count = write_session(chosen.out, chosen.size, seed=chosen.seed)
    print(f"{chosen.out}: {count} lines, {chosen.out.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
