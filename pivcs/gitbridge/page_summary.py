"""What the start page says of a stream: a function of its bytes alone, so that every machine says the same.

A summary is kept beside the stream. So a page can be made anew with sessions that an earlier export, on another machine
maybe, has put there, and nothing is read twice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.gitbridge.export_cache import read_cache, rows_digest, write_cache
from pivcs.gitbridge.review_text import plain
from pivcs.objects.table import DOUBLED, NODE
from pivcs.ops.branch_list import own_entries
from pivcs.ops.deeds import deeds
from pivcs.ops.spent import has_usage, used
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, BRANCH_SUMMARY, COMPACTION, TOOL_RESULT, USER
from pivcs.session.entries import Entry
from pivcs.store.refs import Branch
from pivcs.workspace.calls import Edit, Write, operation_of
from pivcs.workspace.paths import file_path

FORMAT: Final = "pivcs summary 1"
MOST_BRANCHES: Final = 100
"""A summary has so many branches at most, `main` and then by name; of the others only the number is told."""
MOST_FILES: Final = 5
_LONGEST: Final = 160
_LONGEST_PATH: Final = 80
_LARGEST: Final = 1 << 20
_NUMBER: Final = 1 << 53
_STOPS: Final = {"error": "stopped by an error", "aborted": "aborted", "length": "cut off: too long"}
_TELLING: Final = (USER, ASSISTANT, TOOL_RESULT, COMPACTION, BRANCH_SUMMARY)
"""What a branch's outcome is told by; what stands behind it, names and labels, says nothing of it."""


class BranchSummary(NamedTuple):
    """A branch: `node` is the object id of its tip in hex, `entries` are those that it has alone, and `prompt` (their
    first, empty without), `files` (their number, and the first ones by name) and `cost` in dollars are of these."""

    name: str
    node: str
    entries: int
    prompt: str
    outcome: str
    files: int
    paths: tuple[str, ...]
    cost: float


class StreamSummary(NamedTuple):
    """A stream: `key` is the session's in hex, `title` its name or first prompt, `time` that of the latest entry in
    milliseconds. Texts are without what a terminal would obey; `more` branches are left out."""

    key: str
    title: str
    time: int
    entries: int
    files: int
    cost: float
    branches: tuple[BranchSummary, ...]
    more: int


class Told(NamedTuple):
    """What the first rows of a stream tell: by row what entries cost and which files they write or edit, the latest
    time, and the number of nodes. `digest` is `rows_digest` of these rows."""

    rows: int = 0
    digest: bytes = b""
    costs: dict[int, float] = {}  # noqa: RUF012  never changed
    touched: dict[int, tuple[str, ...]] = {}  # noqa: RUF012
    latest: int = 0
    nodes: int = 0


def summary_of(view: SessionView, cache: Path | None = None) -> StreamSummary:
    """Return the summary of a stream. No store has a say in it: branches are those that the lines alone give.

    What rows tell is kept in a file, so that only those are read that are new.
    """
    bare = SessionView(view.table, view.source, view.where, view.version1)
    known = read_cache(cache, Told) if cache is not None else None
    told = _told(bare, known or Told())
    if cache is not None and known != told:
        write_cache(cache, told)
    costs, touched = told.costs, told.touched
    parted = own_entries(bare.table, bare.refs.branches)
    listed = sorted(bare.refs.branches, key=lambda branch: (branch.name != "main", branch.name))
    branches = tuple(_branch(bare, each, parted[each.row], costs, touched) for each in listed[:MOST_BRANCHES])
    files = {path for paths in touched.values() for path in paths}
    return StreamSummary(
        bare.key.hex if bare.key is not None else "", short(bare.name or bare.first_prompt or "(no prompt)"),
        told.latest, told.nodes, len(files), _dollars(list(costs.values())), branches,
        max(0, len(listed) - MOST_BRANCHES),
    )  # fmt: skip


def _told(view: SessionView, known: Told) -> Told:
    """Return what all rows tell; those are not read again that are known."""
    table = view.table
    if known.rows > len(table) or known.digest != rows_digest(table, known.rows):
        known = Told()
    if known.rows == len(table):
        return known
    costs, touched, latest, count = known.costs.copy(), known.touched.copy(), known.latest, known.nodes
    cwd = view.header.cwd
    for row in range(known.rows, len(table)):
        if table.flags[row] & (NODE | DOUBLED) != NODE:
            continue
        count += 1
        latest = max(latest, table.time_of(row) or 0)
        code = table.code[row]
        if has_usage(code):
            entry = view.entry(row)
            spent = used(code, entry)
            if spent is not None and spent.cost:
                costs[row] = spent.cost
            if code == ASSISTANT and (paths := tuple(_changed_files(entry, cwd))):
                touched[row] = paths
    return Told(len(table), rows_digest(table, len(table)), costs, touched, latest, count)


def _changed_files(entry: Entry, cwd: str | None) -> Iterator[str]:
    message = entry.message
    for call in message.tool_calls() if message is not None else ():
        operation = operation_of(call.name or "", call.arguments)
        if isinstance(operation, Write | Edit):
            yield file_path(operation.path, cwd).text


def _branch(
    view: SessionView, branch: Branch, extent: tuple[int, int | None, int], costs: dict[int, float],
    touched: dict[int, tuple[str, ...]],
) -> BranchSummary:  # fmt: skip
    entries, _, about = extent
    prompt = view.subject(about) if view.table.code[about] == USER else ""
    rows = _lower_end(view, branch.row, entries)
    own = [costs[row] for row in rows if row in costs]
    files = {path for row in rows if row in touched for path in touched[row]}
    shown = tuple(short(path, _LONGEST_PATH) for path in sorted(files)[:MOST_FILES])
    return BranchSummary(
        plain(branch.name), view.table.digest(branch.row).hex(), entries, short(prompt),
        outcome_of(view, branch.row), len(files), shown, _dollars(own),
    )  # fmt: skip


def _lower_end(view: SessionView, row: int, count: int) -> list[int]:
    """Return the last rows of the path to a row, oldest first; costs what it returns, not the path."""
    rows: list[int] = []
    at: int | None = row
    while at is not None and len(rows) < count:
        rows.append(at)
        at = view.table.parent_of(at)
    return rows[::-1]


def outcome_of(view: SessionView, tip: int) -> str:
    """Return how a branch ended, told by the last entry that tells."""
    table = view.table
    at: int | None = tip
    while at is not None and table.code[at] not in _TELLING:
        at = table.parent_of(at)
    if at is None:
        return "nothing said"
    code = table.code[at]
    if code == COMPACTION:
        return "compacted"
    if code == BRANCH_SUMMARY:
        return "begun: another path was summed up"
    if code == USER:
        return "no answer"
    return _stopped(view, at)


def _stopped(view: SessionView, row: int) -> str:
    """Return how the answer in a row, or that of the result in it, ended."""
    path = [row]
    while view.table.code[path[-1]] == TOOL_RESULT and (above := view.table.parent_of(path[-1])) is not None:
        path.append(above)
    answer = view.entry(path[-1]).message if view.table.code[path[-1]] == ASSISTANT else None
    if answer is None:
        return "unfinished: no answer to a result"
    reason = answer.stop_reason
    if reason in _STOPS:
        return _STOPS[reason]
    waiting = sum(deed.times for deed in deeds(view, reversed(path)) if deed.outcome == "no result")
    if waiting:
        return f"unfinished: {waiting} call{'s' * (waiting != 1)} without a result"
    return "finished" if len(path) == 1 and reason != "toolUse" else "unfinished: no answer to a result"


def encode_summary(summary: StreamSummary) -> bytes:
    """Return a summary as the file that keeps it."""
    value = {"format": FORMAT, **summary._asdict(), "branches": [branch._asdict() for branch in summary.branches]}
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def decode_summary(data: bytes) -> StreamSummary | None:
    """Return what a file keeps; None when it is no summary of this format. Whatever it says, it can be shown."""
    try:
        value = json.loads(data) if len(data) <= _LARGEST else None
        if not isinstance(value, dict) or value["format"] != FORMAT:
            return None
        branches = tuple(_decoded_branch(each) for each in _list(value["branches"])[:MOST_BRANCHES])
        key = value["key"]
        if not isinstance(key, str) or len(bytes.fromhex(key)) != 32 or key != key.lower():
            return None
        return StreamSummary(
            key, short(_text(value["title"])), _number(value["time"]), _number(value["entries"]),
            _number(value["files"]), _amount(value["cost"]), branches, _number(value["more"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _decoded_branch(value: dict[str, object]) -> BranchSummary:
    paths = tuple(short(_text(path), _LONGEST_PATH) for path in _list(value["paths"])[:MOST_FILES])
    return BranchSummary(
        plain(_text(value["name"])), bytes.fromhex(_text(value["node"])).hex(), _number(value["entries"]),
        short(_text(value["prompt"])), short(_text(value["outcome"])), _number(value["files"]), paths,
        _amount(value["cost"]),
    )  # fmt: skip


def short(text: str, most: int = _LONGEST) -> str:
    """Return text as one line that is safe to show, cut when it is long."""
    text = plain(text[: 4 * most]).replace("\n", " ").strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _dollars(costs: Sequence[float]) -> float:
    total = round(math.fsum(costs), 6)
    return total if abs(total) < _NUMBER else 0.0


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _list(value: object) -> list[dict[str, object]]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value < _NUMBER:
        raise ValueError
    return value


def _amount(value: object) -> float:
    if type(value) not in (int, float) or not -_NUMBER < value < _NUMBER:  # type: ignore[operator]
        raise ValueError
    return float(value)  # type: ignore[arg-type]
