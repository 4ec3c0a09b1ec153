"""Random trees of entries, for laws about names and sets."""

from __future__ import annotations

from hypothesis import strategies as st

from pivcs.ops.view import SessionView
from tests.builders import CLOCK, entry_line, header_line, label_line, message_line, tool_call_line, tool_result_line
from tests.ops.views import view_of
from tests.session.streams import streams

TEXTS = (
    "good", "Good", "good one", "a:b", "v1..v2", "main", "main~1", "HEAD", "\U0001f600 fine", "é" * 150, "say \"hi\"",
    "back\\slash", "not", "role(user)", "00000001", "L3", "heads/main", "label:x", "all()", "(", "^", "~2", "@{1}",
)  # fmt: skip
"""Label texts that a resolver could take for something else."""

_KINDS = ("user", "user", "assistant", "tool", "result", "error", "name", "label", "custom")


@st.composite
def trees(draw: st.DrawFn) -> bytes:
    """Sessions of any shape: several roots, branches, labels on anything, ids that repeat or are no hex."""
    count = draw(st.integers(0, 24))
    lines, ids = [header_line()], list[str]()
    for number in range(count):
        near = st.integers(max(0, number - 3), max(0, number - 1))
        at = draw(st.none() | st.integers(0, number - 1) | near | near) if number else None
        parent = ids[at] if at is not None else None
        odd = draw(st.integers(0, 19))
        ident = f"odd {number}" if odd == 2 else f"{number * 0x1000193 & 0xFFFFFFFF:08x}"
        if odd == 1 and ids:
            ident = ids[-1]
        lines.append(_line(draw, ident, parent, ids, CLOCK + number * 1000))
        ids.append(ident)
    return b"".join(lines)


def _line(draw: st.DrawFn, ident: str, parent: str | None, ids: list[str], ms: int) -> bytes:
    kind = draw(st.sampled_from(_KINDS))
    text = draw(st.sampled_from(["one", "two words", "three"]))
    if kind == "label" and ids:
        target = draw(st.sampled_from(ids))
        return label_line(ident, parent, target, draw(st.none() | st.sampled_from(TEXTS)), ms=ms)
    if kind in ("user", "assistant"):
        return message_line(ident, parent, kind, text, ms=ms)
    if kind == "tool":
        return tool_call_line(ident, parent, draw(st.sampled_from(["bash", "edit"])), {"path": f"src/{text}"}, ms=ms)
    if kind in ("result", "error"):
        return tool_result_line(ident, parent, "bash", text, is_error=kind == "error", ms=ms)
    return entry_line("session_info" if kind == "name" else "custom", ident, parent, ms=ms, name=text)


def views() -> st.SearchStrategy[SessionView]:
    """Views of random trees, and of files of every kind."""
    return st.one_of(trees(), trees(), streams()).map(view_of)


def naive_path(view: SessionView, row: int) -> list[int]:
    """Return the rows from one up to its root."""
    path = [row]
    while (parent := view.table.parent_of(path[-1])) is not None:
        path.append(parent)
    return path
