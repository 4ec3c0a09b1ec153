"""How many tokens a context has, as pi 1.6 estimates it for people and before it compacts.

The last answer's usage says it for everything up to there, if nothing after it changed what was there: no compaction
and no context edit. What no usage covers is estimated with four characters for a token and 1,200 tokens for an image.
Where pi would fail at parts of a wrong shape, they count as nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pivcs.session.blocks import Image, Text, Thinking, ToolCall
from pivcs.session.context import Projection
from pivcs.session.entries import Entry, Message
from pivcs.session.jsonwrite import dump_json
from pivcs.session.replay import current_system_message
from pivcs.session.values import is_falsy

_CHARACTERS: Final = 4
_IMAGE: Final = 4800
_NO_ANSWER: Final = ("aborted", "error")


@dataclass(frozen=True, slots=True)
class Estimate:
    """`tokens` in all: `measured` by a provider up to the answer `answer` (an entry's value), the rest estimated.

    Without an answer that can be relied on, `measured` is 0 and all is estimated.
    """

    tokens: int | float
    measured: int | float = 0
    answer: object = None


def estimate_tokens(projection: Projection, path: Sequence[object]) -> Estimate:
    """Return the tokens of a projection; `path` are the entries from the root to where it was made."""
    spoken = [(part.entry, message) for part in projection.entries for message in part.messages]
    for place in reversed(range(len(spoken))):
        answer, message = spoken[place]
        measured = _usage_of(message)
        if measured:
            if _holds_still(answer, path):
                rest = sum(tokens_of(later) for _, later in spoken[place + 1 :])
                return Estimate(measured + rest, measured, answer)
            break
    # Older prompts and tools are replaced by later ones, so system messages count as what they come to.
    system = current_system_message([message for _, message in spoken])
    others = sum(tokens_of(message) for _, message in spoken if _role(message) != "system")
    return Estimate(others + (tokens_of(system) if system is not None else 0))


def tokens_of(message: object) -> int:
    """Return the tokens of one message by its characters, rounded up."""
    return -(-_characters(message) // _CHARACTERS)


def _usage_of(message: object) -> int | float:
    """Return the tokens that an answer's usage gives; 0 for anything else, and for one that failed."""
    if _role(message) != "assistant":
        return 0
    view = Message(message)
    if view.stop_reason in _NO_ANSWER:
        return 0
    # A total of 0 counts as none.
    usage = view.usage
    parts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    total = usage.total_tokens or sum(part for part in parts if part is not None)
    return max(total, 0)


def _holds_still(answer: object, path: Sequence[object]) -> bool:
    """Whether nothing after an answer on the path changes what came before it."""
    for value in reversed(path):
        if value is answer:
            return True
        if Entry(value).type in ("compaction", "context_edit"):
            return False
    return False


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, dict) else None


def _characters(message: object) -> int:
    role = _role(message)
    assert isinstance(message, dict) or role is None
    view = Message(message)
    if role == "bashExecution":
        return _length(view.command) + _length(view.output)
    if role in ("branchSummary", "compactionSummary"):
        return _length(view.fields.get("summary"))
    if role == "assistant":
        return sum(map(_of_answer, view.blocks()))
    if role not in ("system", "user", "custom", "toolResult"):
        return 0
    count = sum(map(_of_content, view.blocks()))
    if role == "system":
        sections = view.fields.get("sections")
        count += sum(map(_length, sections.values())) if isinstance(sections, dict) else 0
        tools = view.fields.get("toolsAdded")
        count += 0 if is_falsy(tools) else _json_length(tools)
    return count


def _of_answer(block: object) -> int:
    if isinstance(block, (Text, Thinking)):
        return _length(block.text)
    return _length(block.name) + _json_length(block.arguments) if isinstance(block, ToolCall) else 0


def _of_content(block: object) -> int:
    return _IMAGE if isinstance(block, Image) else _length(block.text) if isinstance(block, Text) else 0


def _length(text: object) -> int:
    """Return the characters as JavaScript counts them: those beyond U+FFFF twice."""
    if not isinstance(text, str):
        return 0
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _json_length(value: object) -> int:
    return _length(dump_json(value).decode("utf-8", "surrogatepass"))
