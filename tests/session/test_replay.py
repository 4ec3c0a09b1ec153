from __future__ import annotations

from typing import Any

import pytest

from pivcs.session.replay import convert_to_llm, current_system_message


def system(**fields: Any) -> dict[str, Any]:
    return {"role": "system"} | fields


def test_system_messages_are_replayed_into_one() -> None:
    messages = [
        system(content="One.", sections={"a": "1", "b": "2"}, timestamp=5, toolsAdded=[{"name": "r"}, {"name": "w"}]),
        {"role": "user", "content": "not this"},
        system(content="", sections={"a": None, "c": "3"}, toolsRemoved=[{"name": "r"}], timestamp=6),
        system(content=[{"type": "text", "text": "Two."}, {"type": "text", "text": "Three."}], sections={"b": "4"}),
        system(content="", toolsRemoved=[{"name": "w"}], toolsAdded=[{"name": "w", "v": 2}, {"name": "x"}]),
    ]
    replayed = current_system_message(messages)
    assert replayed == {
        "role": "system", "content": "One.\n\nTwo.\nThree.", "sections": {"b": "4", "c": "3"},
        "toolsAdded": [{"name": "w", "v": 2}, {"name": "x"}], "timestamp": 5,
    }  # fmt: skip
    assert list(replayed) == ["role", "content", "sections", "toolsAdded", "timestamp"]


def test_without_system_messages_there_is_nothing_to_replay() -> None:
    assert current_system_message([{"role": "user"}, 5, None]) is None
    assert current_system_message([system(content="x")]) is None
    assert current_system_message([system(content="x", timestamp=0)]) == {
        "role": "system", "content": "x", "timestamp": 0,
    }  # fmt: skip


def test_parts_of_a_wrong_shape_are_passed_over() -> None:
    odd = system(content=5, sections=[1], toolsAdded=[None, {"name": 1}, {"name": "t"}], toolsRemoved="x", timestamp=1)
    replayed = current_system_message([odd])
    assert replayed == {"role": "system", "content": "", "toolsAdded": [{"name": "t"}], "timestamp": 1}


def text_of(message: dict[str, Any]) -> Any:
    (converted,) = convert_to_llm([message])
    assert converted["role"] == "user"
    (block,) = converted["content"]  # type: ignore[attr-defined,misc]
    return block["text"]  # type: ignore[has-type]


def test_the_roles_of_providers_stay_and_unknown_ones_go() -> None:
    kept = [{"role": role, "content": "x"} for role in ("system", "user", "assistant", "toolResult")]
    assert convert_to_llm([*kept, {"role": "future"}, 5, {"role": None}]) == kept


def test_summaries_stand_between_tags() -> None:
    before, summary, after = text_of({"role": "compactionSummary", "summary": "S", "timestamp": 1}).partition("S\n")
    assert before.endswith("<summary>\n")
    assert (summary, after) == ("S\n", "</summary>")
    assert text_of({"role": "branchSummary", "summary": "S"}).endswith("<summary>\nS</summary>")


def test_custom_messages_become_user_messages() -> None:
    assert text_of({"role": "custom", "content": "x", "customType": "c"}) == "x"
    blocks = [{"type": "image"}]
    assert convert_to_llm([{"role": "custom", "content": blocks, "timestamp": 3}]) == [
        {"role": "user", "content": blocks, "timestamp": 3}
    ]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"output": "o"}, "Ran `ls`\n```\no\n```"),
        ({"output": "", "exitCode": 0}, "Ran `ls`\n(no output)"),
        ({"output": "", "exitCode": 2}, "Ran `ls`\n(no output)\n\nCommand exited with code 2"),
        ({"output": "", "cancelled": True, "exitCode": 2}, "Ran `ls`\n(no output)\n\n(command cancelled)"),
        ({"output": "o", "truncated": True, "fullOutputPath": "/f"},
         "Ran `ls`\n```\no\n```\n\n[Output truncated. Full output: /f]"),
    ],
)  # fmt: skip
def test_shell_commands_become_user_messages(fields: dict[str, Any], text: str) -> None:
    command = {"role": "bashExecution", "command": "ls"} | fields
    assert text_of(command) == text
    assert convert_to_llm([command | {"excludeFromContext": True}]) == []
