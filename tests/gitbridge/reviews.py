"""Talks made at random, and what an export of them has, for tests of review commits."""

from __future__ import annotations

import base64
from pathlib import Path

from hypothesis import strategies as st

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import Export, ExportOptions, export
from pivcs.gitbridge.review_options import Granularity, ReviewOptions
from tests.gitbridge import git as judge
from tests.ops.views import view_of
from tests.talks import Talk

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one point."""

Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("prompt", "say", "write", "edit", "read", "bash", "call", "back", "note", "image")),
        st.integers(0, 3),
        st.integers(0, 40),
    ),
    max_size=25,
)
"""What happens in a talk: a kind, which file, and something to choose by."""


def grown(steps: list[Step]) -> list[bytes]:
    """Return a session after each of some steps."""
    talk = Talk()
    talk.prompt("Begin.")
    entries = [talk.at]
    found = [talk.data]
    for kind, file, choice in steps:
        path = f"src/{file}.py"
        if kind == "prompt":
            talk.prompt(f"prompt {choice}")
        elif kind == "say":
            talk.say(f"said {choice}")
        elif kind == "write":
            talk.write(path, "".join(f"line {number % (choice + 1)}\n" for number in range(choice)))
        elif kind == "edit":
            talk.edit(path, f"line {choice % 3}\n", f"changed {choice}\n")
        elif kind == "read":
            talk.read(path, f"read {choice}\n")
        elif kind == "bash":
            talk.bash(f"touch {path}" if choice % 2 else "ls")
        elif kind == "call":  # whose result never comes
            talk.raw({"type": "message", "message": {
                "role": "assistant", "stopReason": "toolUse", "content": [
                    {"type": "toolCall", "id": f"open{choice}", "name": "write", "arguments": {"path": path}},
                    {"type": "toolCall", "id": f"sh{choice}", "name": "bash", "arguments": {"command": f"rm {path}"}},
                ],
            }})  # fmt: skip
        elif kind == "back":
            talk.at = entries[choice % len(entries)]
        elif kind == "note":
            talk.raw({"type": "session_info", "name": f"name {choice}"})
        else:
            talk.raw({"type": "message", "message": {"role": "user", "content": [picture(PNG + bytes([choice]))]}})
        entries.append(talk.at)
        found.append(talk.data)
    return found


def picture(data: bytes, mime_type: str = "image/png") -> dict[str, object]:
    """Return a block with an image."""
    return {"type": "image", "mimeType": mime_type, "data": base64.b64encode(data).decode()}


def exported(
    place: Path, *sessions: bytes, granularity: Granularity = Granularity.ENTRIES, **options: object
) -> Export:
    """Export sessions."""
    chosen = ExportOptions(ReviewOptions(granularity), **options)  # type: ignore[arg-type]
    return export([view_of(data) for data in sessions], Destination.open(place), chosen)


def refs(place: Path) -> dict[str, str]:
    """Return all refs of a repository but that of the start page."""
    lines = judge.git(place, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    found = dict(line.split(" ", 1) for line in lines)
    found.pop("refs/heads/sessions", None)
    return found
