"""Header, entries and messages as typed views of parsed values (pi format 3, 4 and 5).

A view holds the value as it was read and answers questions about it; it checks nothing and never fails. A field that is
absent or has a value of another type reads as None (texts, numbers) or False (flags), and so does every field of a
value that is no object: pi keeps such lines too. Unknown types, roles and keys stay reachable through `fields`.
"""

from __future__ import annotations

from pivcs.session.blocks import Block, Image, Text, Thinking, ToolCall, blocks_of
from pivcs.session.times import parse_time

CONVERSATION = frozenset({"message", "custom_message", "compaction", "branch_summary"})
"""Entry types that are conversation; every other type is book-keeping."""

CURRENT_VERSION = 3


class _TextField:
    """A key whose value is a string."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __get__(self, view: View, owner: type[View]) -> str | None:
        value = view.fields.get(self.key)
        return value if isinstance(value, str) else None


class _NumberField:
    """A key whose value is a number."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __get__(self, view: View, owner: type[View]) -> int | float | None:
        value = view.fields.get(self.key)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


class _Flag:
    """A key whose value is true or not."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __get__(self, view: View, owner: type[View]) -> bool:
        return view.fields.get(self.key) is True


class View:
    """Any parsed JSON value."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, View) and other.value == self.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    @property
    def fields(self) -> dict[str, object]:
        """The object, or an empty one if the value is none."""
        return self.value if isinstance(self.value, dict) else {}


class Header(View):
    """A header line."""

    __slots__ = ()

    id = _TextField("id")
    timestamp = _TextField("timestamp")
    cwd = _TextField("cwd")
    parent_session = _TextField("parentSession")

    @property
    def version(self) -> object:
        """The version as it stands there: a number, a string, None when absent (version 1)."""
        return self.fields.get("version")


class Content(View):
    """A value with `content`: a message, or a custom_message entry."""

    __slots__ = ()

    def blocks(self) -> tuple[Block, ...]:
        """Return all content blocks in order."""
        return blocks_of(self.fields.get("content"))

    def text_blocks(self) -> tuple[str, ...]:
        """Return the texts; content that is a string is one of them."""
        return tuple(block.text for block in self.blocks() if isinstance(block, Text))

    def thinking(self) -> tuple[Thinking, ...]:
        """Return the reasoning blocks."""
        return tuple(block for block in self.blocks() if isinstance(block, Thinking))

    def images(self) -> tuple[Image, ...]:
        """Return type and size of the images."""
        return tuple(block for block in self.blocks() if isinstance(block, Image))

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Return the tool calls."""
        return tuple(block for block in self.blocks() if isinstance(block, ToolCall))


class Message(Content):
    """The `message` object of a message entry, of any role."""

    __slots__ = ()

    role = _TextField("role")
    timestamp = _NumberField("timestamp")

    # assistant
    api = _TextField("api")
    provider = _TextField("provider")
    model = _TextField("model")
    stop_reason = _TextField("stopReason")
    error_message = _TextField("errorMessage")
    duration_ms = _NumberField("durationMs")

    # toolResult
    tool_call_id = _TextField("toolCallId")
    tool_name = _TextField("toolName")
    is_error = _Flag("isError")

    # bashExecution
    command = _TextField("command")
    output = _TextField("output")
    exit_code = _NumberField("exitCode")
    cancelled = _Flag("cancelled")
    truncated = _Flag("truncated")
    full_output_path = _TextField("fullOutputPath")
    excluded_from_context = _Flag("excludeFromContext")

    # custom, and hookMessage in versions 1 and 2
    custom_type = _TextField("customType")
    display = _Flag("display")

    @property
    def usage(self) -> Usage:
        """Tokens and cost."""
        return Usage(self.fields.get("usage"))


class Usage(View):
    """Tokens and cost of an answer or of something else (pi format 5.3)."""

    __slots__ = ()

    input = _NumberField("input")
    output = _NumberField("output")
    cache_read = _NumberField("cacheRead")
    cache_write = _NumberField("cacheWrite")

    @property
    def total_tokens(self) -> int | float | None:
        """`totalTokens`, or where it is missing the sum of the four counts that are there."""
        total = _NumberField("totalTokens").__get__(self, Usage)
        if total is not None:
            return total
        parts = [part for part in (self.input, self.output, self.cache_read, self.cache_write) if part is not None]
        return sum(parts) if parts else None

    @property
    def cost(self) -> int | float | None:
        """The total cost in dollars."""
        return _NumberField("total").__get__(View(self.fields.get("cost")), View)


class Entry(Content):
    """An entry of any type. `provider` and `model_id` are those of a model_change, `usage` that of the entry itself."""

    __slots__ = ()

    type = _TextField("type")
    id = _TextField("id")
    parent_id = _TextField("parentId")
    timestamp = _TextField("timestamp")

    provider = _TextField("provider")
    model_id = _TextField("modelId")
    thinking_level = _TextField("thinkingLevel")

    # compaction and branch_summary
    summary = _TextField("summary")
    first_kept_entry_id = _TextField("firstKeptEntryId")
    tokens_before = _NumberField("tokensBefore")
    from_id = _TextField("fromId")
    from_hook = _Flag("fromHook")

    # label and context_edit
    target_id = _TextField("targetId")
    label = _TextField("label")

    name = _TextField("name")
    custom_type = _TextField("customType")
    display = _Flag("display")

    # usage
    kind = _TextField("kind")
    model = _TextField("model")
    note = _TextField("note")

    @property
    def time(self) -> int | None:
        """The entry's time in milliseconds since 1970, None if it cannot be read."""
        return parse_time(self.timestamp)

    @property
    def message(self) -> Message | None:
        """The message of a message entry, None if there is no object under that key."""
        value = self.fields.get("message")
        return Message(value) if isinstance(value, dict) else None

    @property
    def usage(self) -> Usage:
        """Tokens and cost of a usage, compaction or branch_summary entry."""
        return Usage(self.fields.get("usage"))

    @property
    def is_conversation(self) -> bool:
        """Whether the type is conversation rather than book-keeping."""
        return self.type in CONVERSATION

    def blocks(self) -> tuple[Block, ...]:
        """Return the content blocks of the message, or of the entry itself where it has content of its own."""
        message = self.message
        return blocks_of(self.fields.get("content")) if message is None else message.blocks()
