"""System messages replayed into one, and messages as a model's provider gets them (pi format 13.3 and 13.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pivcs.session.blocks import Text, blocks_of
from pivcs.session.jsonwrite import dump_json
from pivcs.session.values import is_falsy

Object = dict[str, object]

_COMPACTED: Final = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
)
_RETURNED: Final = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    "</summary>",
)
"""What pi puts around a summary: the words that its models are used to."""


def current_system_message(messages: Iterable[object]) -> Object | None:
    """Return the prompt and the tools that hold after these messages, as one system message (13.4).

    None if no system message has a time or adds a tool that stays. Parts of a wrong shape, at which pi fails, are
    passed over. The `timestamp` is that of the first system message.
    """
    texts: list[str] = []
    sections: Object = {}
    tools: Object = {}
    timestamp: object = None
    for message in messages:
        if not isinstance(message, dict) or message.get("role") != "system":
            continue
        timestamp = message.get("timestamp") if timestamp is None else timestamp
        text = "\n".join(block.text for block in blocks_of(message.get("content")) if isinstance(block, Text))
        if text:
            texts.append(text)
        _patch(sections, message.get("sections"))
        for tool in _named(message.get("toolsRemoved")):
            tools.pop(tool[0], None)
        tools.update(_named(message.get("toolsAdded")))
    if timestamp is None and not tools:
        return None
    result: Object = {"role": "system", "content": "\n\n".join(texts)}
    if sections:
        result["sections"] = sections
    if tools:
        result["toolsAdded"] = list(tools.values())
    return {**result, "timestamp": 0 if timestamp is None else timestamp}


def _patch(sections: Object, changes: object) -> None:
    for name, text in (changes if isinstance(changes, dict) else {}).items():
        if text is None:
            sections.pop(name, None)
        else:
            sections[name] = text


def _named(tools: object) -> list[tuple[str, object]]:
    found = tools if isinstance(tools, list) else []
    return [(tool["name"], tool) for tool in found if isinstance(tool, dict) and isinstance(tool.get("name"), str)]


def convert_to_llm(messages: Iterable[object]) -> list[Object]:
    """Return the messages of a context in the four roles that a provider knows: system, user, assistant, toolResult.

    Summaries, custom messages and shell commands become user messages; commands that were kept out of the context and
    messages of unknown role are left out (13.3). Absent keys stay absent.
    """
    return [converted for message in messages if (converted := _converted(message)) is not None]


def _converted(message: object) -> Object | None:
    if not isinstance(message, dict):
        return None
    role = message.get("role")
    if role in ("system", "user", "assistant", "toolResult"):
        return message
    if role == "custom":
        content = message.get("content")
        return _user(message, [_text(content)] if isinstance(content, str) else content)
    if role in ("branchSummary", "compactionSummary"):
        before, after = _RETURNED if role == "branchSummary" else _COMPACTED
        return _user(message, [_text(before + _js_text(message, "summary") + after)])
    if role == "bashExecution" and is_falsy(message.get("excludeFromContext")):
        return _user(message, [_text(_command_text(message))])
    return None


def _user(message: Object, content: object) -> Object:
    times = {"timestamp": message["timestamp"]} if "timestamp" in message else {}
    return {"role": "user", "content": content, **times}


def _text(text: str) -> Object:
    return {"type": "text", "text": text}


def _command_text(message: Object) -> str:
    text = f"Ran `{_js_text(message, 'command')}`\n"
    output = message.get("output")
    text += "(no output)" if is_falsy(output) else f"```\n{_js_text(message, 'output')}\n```"
    exit_code = message.get("exitCode")
    if not is_falsy(message.get("cancelled")):
        text += "\n\n(command cancelled)"
    elif exit_code is not None and (isinstance(exit_code, bool) or exit_code != 0):
        text += f"\n\nCommand exited with code {_js_text(message, 'exitCode')}"
    if not is_falsy(message.get("truncated")) and not is_falsy(message.get("fullOutputPath")):
        text += f"\n\n[Output truncated. Full output: {_js_text(message, 'fullOutputPath')}]"
    return text


def _js_text(message: Object, key: str) -> str:
    """Return a scalar value of a key as JavaScript puts it into a text."""
    value = message.get(key, "undefined")
    return value if isinstance(value, str) else dump_json(value).decode()
