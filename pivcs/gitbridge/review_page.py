"""What one entry adds to the page of its turn: Markdown that shows what was said, and cannot pretend to be more.

Prompts are quoted, reasoning and output are folded and fenced, with a fence longer than any in the text; HTML and
headings in what a model says are shown as text. Part of the mapping, as `review_text`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from pivcs.gitbridge.review_images import ReviewImage
from pivcs.gitbridge.review_paths import image_link
from pivcs.gitbridge.review_text import plain
from pivcs.session.blocks import ToolCall
from pivcs.session.describe import subject
from pivcs.session.entries import Entry
from pivcs.session.parts import Part, parts_of

OUTPUT_LINES: Final = 120
"""Lines of output or of a written file that a page has; the session's own file has all."""
LONGEST_LINE: Final = 2000
_FENCE: Final = re.compile(r"`+")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_OPENING: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"^( {0,3})(#{1,6}(?:\s|$)|=+\s*$|-{2,}\s*$)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FOLDED: Final = {"thinking": "reasoning", "output": "output", "error": "error", "removed": "removed", "added": "added"}


def page_piece(value: object, call: ToolCall | None, name: str, images: Sequence[ReviewImage | None] = ()) -> str:
    """Return what an entry adds to its page, ending in a blank line; `images` are those of its parts."""
    entry = Entry(value)
    message = entry.message
    who = (message.role if message is not None else None) or entry.type or "entry"
    if message is not None and who == "toolResult":
        head = f"### {_inline(message.tool_name or 'tool')}: {'error' if message.is_error else 'result'}"
    else:
        head = f"## {_inline(who)}" + (f" ({_inline(message.model)})" if message is not None and message.model else "")
    when = _when(entry.time)
    lines = [head, "", f"`{_inline(name)}`" + (f" {when}" if when else ""), ""]
    parts = parts_of(value)
    if not parts:
        lines += [_inline(subject(value, call)), ""]
    shown = iter(images)
    for place, part in enumerate(parts):
        image = next(shown, None) if part.kind == "image" else None
        if part.kind == "removed" and parts[place + 1 : place + 2] and parts[place + 1].kind == "added":
            lines += [*_change_lines(part, parts[place + 1], name), ""]
        elif part.kind == "added" and place and parts[place - 1].kind == "removed":
            continue
        elif image is not None:
            lines += [f"![{image.kind} image, {len(image.data):,} bytes]({image_link(image.name)})", ""]
        else:
            lines += [*_part_lines(part, name, quoted=who == "user"), ""]
    return "\n".join(lines) + "\n"


def _part_lines(part: Part, name: str, *, quoted: bool) -> list[str]:
    text = plain(part.text).strip("\n")
    if part.kind == "text":
        said = _markdown(text)
        return [f"> {line}".rstrip() for line in said] if quoted else said
    title = _inline(part.title)
    if part.kind == "call":
        first = [f"- `{title.replace('`', chr(39))}`"]
        return [*first, "", *_fenced(text, name)] if text else first
    if part.kind in ("image", "note"):
        return [f"*{title}*"]
    if not text:
        return [f"*{_FOLDED[part.kind]}: nothing*"]
    lines = text.split("\n")
    label = _FOLDED[part.kind] + (f": {title}" if title else "") + f", {len(lines)} line{'s' * (len(lines) != 1)}"
    return [f"<details><summary>{label}</summary>", "", *_fenced(text, name), "", "</details>"]


def _change_lines(removed: Part, added: Part, name: str) -> list[str]:
    """Return the old and the new text of an edit as one change."""
    old, new = (plain(part.text).strip("\n").split("\n") if part.text.strip("\n") else [] for part in (removed, added))
    label = f"change: {len(old)} line{'s' * (len(old) != 1)} removed, {len(new)} added"
    changed = "\n".join([*(f"-{line}" for line in old), *(f"+{line}" for line in new)])
    return [f"<details><summary>{label}</summary>", "", *_fenced(changed, name, "diff"), "", "</details>"]


def _fenced(text: str, name: str, language: str = "text") -> list[str]:
    lines = text.split("\n")
    shown = [line[:LONGEST_LINE] + ("…" if len(line) > LONGEST_LINE else "") for line in lines[:OUTPUT_LINES]]
    if len(lines) > OUTPUT_LINES:
        shown.append(f"(+{len(lines) - OUTPUT_LINES} lines: `pivcs show {_inline(name)}` has all of them)")
    longest = max((len(run) for line in shown for run in _FENCE.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *shown, fence]


def _markdown(text: str) -> list[str]:
    """Return Markdown that a model or a person wrote, line by line: no HTML, no headings, no fence left open."""
    found: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        opening = _OPENING.match(line)
        if fence is None:
            if opening is not None:
                fence = opening[1]
            else:
                line = _HEADING.sub(r"\1\\\2", _without_tags(line))
        elif opening is not None and opening[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = None
        found.append(line)
    return [*found, fence] if fence is not None else found


def _without_tags(line: str) -> str:
    """Return a line with its tags shown as text; what stands between backticks is text already."""
    pieces = re.split(r"(`+[^`]*`+)", line)
    return "".join([piece if place % 2 else _TAG.sub("&lt;", piece) for place, piece in enumerate(pieces)])


def _inline(text: str) -> str:
    return _TAG.sub("&lt;", plain(text).replace("\n", " ")).strip()[:300]


def _when(time: int | None) -> str:
    try:
        return "" if time is None else (_EPOCH + timedelta(milliseconds=time)).strftime("%Y-%m-%d %H:%M:%SZ")
    except OverflowError:
        return ""
