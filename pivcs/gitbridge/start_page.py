"""The start page of a review repository: the branch `sessions`, whose tree is a function of the sessions in it.

Each session has a file `<folder>/session.json` with what the page says of it, so that a page can be made anew with
sessions that an earlier export, on another machine maybe, has put there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from pivcs.gitbridge.review_text import plain
from pivcs.ops.branch_list import list_branches
from pivcs.ops.spent import spent
from pivcs.ops.view import SessionView
from pivcs.workspace.state import FilePath

SUMMARY: Final = "session.json"
_INTRODUCTION: Final = """# Agent sessions

Conversations of a coding agent as commits: one commit for each entry, with what was said in its message and on a page
of its tree, beside the project's files as they were known at that point. `git log -p` of a branch reads like the
conversation; `git merge-base` and `git diff` of two branches compare attempts.

| where | what |
|---|---|
| `<session>/<branch>` | a branch of a session, the first is `main` |
| `<session>/label/<label>` | an entry that somebody labelled |
| tags `<session>/<tag>` | an entry that somebody tagged |
| `.pivcs/turns/` in a commit's tree | the conversation, a directory for each turn |
| `.pivcs/files/` there | how each file is known |
| `.pivcs/escaped/` there | files whose path would not be safe in a work tree |

Names are percent-encoded, capitals too. Ids depend on the entries alone: the same session exported anywhere gives the
same commits.

"""


class SessionSummary(NamedTuple):
    """What the page says of a session: texts are as they are shown, `key` is in hex, `time` that of the latest entry in
    milliseconds."""

    folder: str
    key: str
    title: str
    time: int
    entries: int
    cost: float
    files: int
    branches: tuple[tuple[str, str, int, str], ...]
    """Name, ref component, entries of its own, what it was about."""


def summary_of(
    view: SessionView, folder: str, refs: Mapping[str, str], touched: Collection[FilePath]
) -> SessionSummary:
    """Return what the page says of a session; `refs` has the names of its branches in the repository."""
    rows = list(view.table.nodes())
    branches = tuple(
        (plain(each.name), refs[each.name], each.entries, _short(view.subject(each.about)))
        for each in list_branches(view)
        if each.name in refs
    )
    title = _short(view.name or view.first_prompt or "(no prompt)")
    times = [time for row in rows if (time := view.table.time_of(row)) is not None]
    key = view.key.hex if view.key is not None else ""
    return SessionSummary(
        folder, key, title, max(times, default=0), len(rows), round(spent(view, rows).cost, 6), len(touched), branches
    )


def encode_summary(summary: SessionSummary) -> bytes:
    """Return a summary as the file that keeps it."""
    value = {**summary._asdict(), "branches": [list(each) for each in summary.branches]}
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def decode_summary(data: bytes) -> SessionSummary | None:
    """Return what a file keeps; None when it is no summary."""
    try:
        value = json.loads(data)
        branches = tuple((str(a), str(b), int(c), str(d)) for a, b, c, d in value["branches"])
        return SessionSummary(
            str(value["folder"]), str(value["key"]), str(value["title"]), int(value["time"]), int(value["entries"]),
            float(value["cost"]), int(value["files"]), branches,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return None


def page(summaries: Mapping[str, SessionSummary]) -> bytes:
    """Return the start page of some sessions, the latest first."""
    lines = [_INTRODUCTION.rstrip("\n"), "", "## Sessions", ""]
    for summary in sorted(summaries.values(), key=lambda each: (-each.time, each.folder)):
        lines += [f"### {_cell(summary.title)}", ""]
        files = f"{summary.files} file{'s' * (summary.files != 1)}"
        lines += [f"`{summary.folder}`: {summary.entries} entries, {files}, ${summary.cost:.4f}", ""]
        lines += ["| branch | own entries | about |", "|---|---|---|"]
        lines += [
            f"| `{summary.folder}/{component}` | {entries} | {_cell(about)} |"
            for _, component, entries, about in summary.branches
        ]
        lines.append("")
    return "\n".join(lines).encode("utf-8", "replace")


def _short(text: str) -> str:
    text = plain(text).replace("\n", " ").strip()
    return text if len(text) <= 160 else text[:159].rstrip() + "…"


def _cell(text: str) -> str:
    """Return text for a cell of a table or a heading: no Markdown, no HTML."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}" if sign != "<" else "&lt;")
    return text
