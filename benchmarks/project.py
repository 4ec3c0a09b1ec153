"""Tool calls of a made-up project, true to the files as they are along a branch.

The files are an immutable mapping: a branch point keeps the one it had, and replaying the successful `write` and
`edit` calls of a path gives exactly the files that later `read` results on that path show (pi format 17).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from benchmarks.vocabulary import Vocabulary

FOLDERS = ("src", "src/core", "src/cli", "src/ui", "test", "docs", "scripts", "packages/agent/src", "packages/ai/src")
ENDINGS = (".ts", ".ts", ".ts", ".py", ".md", ".json", ".rs")
MOST_FILES = 60
LONGEST_FILE = 300  # lines; far below the 2,000 lines and 50 KiB at which `read` cuts
CONTEXT = 4

Files = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call with its result, and the files after it."""

    name: str
    arguments: dict[str, object]
    result: str
    details: dict[str, object] | None
    is_error: bool
    files: Files


def make_call(random: Random, vocabulary: Vocabulary, files: Files) -> Call:
    """A call as agents make them: mostly `bash` and `read`, some `edit`, few `write`."""
    share = random.random()
    if not files or share < 0.06:
        return _write(random, vocabulary, files)
    if share < 0.26:
        return _edit(random, vocabulary, files)
    if share < 0.50:
        path = _recent(random, files)
        return Call("read", {"path": path}, files[path], None, False, files)
    return _bash(random, vocabulary, files)


def _recent(random: Random, files: Files) -> str:
    """A file to look at: mostly one of those changed last, as work goes."""
    return random.choice(list(files)[-6:] if random.random() < 0.7 else list(files))


def _changed(files: Files, path: str, content: str) -> Files:
    """The files with one written; the one changed last stands last."""
    return {**{name: text for name, text in files.items() if name != path}, path: content}


def _write(random: Random, vocabulary: Vocabulary, files: Files) -> Call:
    if len(files) < MOST_FILES:
        stem = f"{vocabulary.name()}-{vocabulary.name()}".lower()
        path = f"{random.choice(FOLDERS)}/{stem}{random.choice(ENDINGS)}"
    else:
        path = random.choice(list(files))
    content = "\n".join(vocabulary.text("code", 60).split("\n")[:LONGEST_FILE]) + "\n"
    arguments: dict[str, object] = {"path": path, "content": content}
    return Call("write", arguments, f"Successfully wrote to {path}", None, False, _changed(files, path, content))


def _edit(random: Random, vocabulary: Vocabulary, files: Files) -> Call:
    path = _recent(random, files)
    content = files[path]
    lines = content.split("\n")
    first = random.randrange(len(lines))
    last = min(len(lines), first + random.randint(1, 6))
    old = "\n".join(lines[first:last])
    if not old.strip() or content.count(old) != 1:
        missing = vocabulary.words(3, 6)
        arguments: dict[str, object] = {"path": path, "edits": [{"oldText": missing, "newText": old}]}
        message = f"Could not find the exact text in {path}. The old text must match exactly."
        return Call("edit", arguments, message, {}, True, files)
    new_lines = lines[first:last]
    new_lines[random.randrange(len(new_lines))] += f" // {vocabulary.words(2, 5)} {random.getrandbits(16)}"
    if len(lines) < LONGEST_FILE:
        new_lines += vocabulary.text("code", 4).split("\n")
    new = "\n".join(new_lines)
    after = lines[:first] + new_lines + lines[last:]
    arguments = {"path": path, "edits": [{"oldText": old, "newText": new}]}
    details: dict[str, object] = {
        "diff": _display(lines, after, first, last, len(new_lines)),
        "patch": _patch(path, lines, first, last, new_lines),
        "firstChangedLine": first + 1,
    }
    result = f"Successfully replaced 1 block(s) in {path}."
    return Call("edit", arguments, result, details, False, _changed(files, path, "\n".join(after)))


def _display(lines: list[str], after: list[str], first: int, last: int, added: int) -> str:
    width = len(str(max(len(lines), len(after))))
    before = max(0, first - CONTEXT)
    return "\n".join(
        [f" {number + 1:>{width}} {lines[number]}" for number in range(before, first)]
        + [f"-{number + 1:>{width}} {lines[number]}" for number in range(first, last)]
        + [f"+{number + 1:>{width}} {after[number]}" for number in range(first, first + added)]
        + [f" {number + 1:>{width}} {lines[number]}" for number in range(last, min(len(lines), last + CONTEXT))]
    )


def _patch(path: str, lines: list[str], first: int, last: int, new_lines: list[str]) -> str:
    before, after = max(0, first - CONTEXT), min(len(lines), last + CONTEXT)
    grown = after - before + len(new_lines) - (last - first)
    return "\n".join(
        [f"--- {path}", f"+++ {path}", f"@@ -{before + 1},{after - before} +{before + 1},{grown} @@"]
        + [f" {line}" for line in lines[before:first]]
        + [f"-{line}" for line in lines[first:last]]
        + [f"+{line}" for line in new_lines]
        + [f" {line}" for line in lines[last:after]]
    )


def _bash(random: Random, vocabulary: Vocabulary, files: Files) -> Call:
    path = random.choice(list(files))
    command = random.choice(
        (
            f"rg -n {vocabulary.name()} src | head -{random.randint(5, 50)}",
            f"npx vitest run {path}",
            "npm run check 2>&1 | tail -40",
            f"git diff --stat && git log --oneline -{random.randint(3, 20)}",
            f"sed -n '{random.randint(1, 80)},{random.randint(90, 200)}p' node_modules/{vocabulary.name()}/index.js",
            f'cd /home/dev/project && ls -la {path.rpartition("/")[0]} && grep -rn "{vocabulary.name()}" docs',
        )
    )
    output = vocabulary.text("output", 34)
    if random.random() < 0.08:
        code = random.choice((1, 1, 1, 2, 127))
        return Call("bash", {"command": command}, f"{output}\n\nCommand exited with code {code}", {}, True, files)
    return Call("bash", {"command": command}, output, None, False, files)
