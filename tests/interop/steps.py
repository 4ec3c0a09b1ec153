"""Runs of pi's session manager: steps drawn at random, and the same steps done by us."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pivcs.errors import PivcsError
from pivcs.session.jsonwrite import UNDEFINED
from pivcs.session.manager import Session
from tests.builders import CLOCK

Step = list[Any]
UNDEFINED_ARGUMENT = {"undefined": True}

TEXTS = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    ["a\r\n\nb", "  padded \u00a0", "", "\u2028", "\ud83d", "🙂"]
)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.sampled_from("0 1 10 x"), inner, max_size=3),
    max_leaves=6,
).filter(lambda value: not isinstance(value, dict) or not {"$", "undefined"} & set(value))
OPTIONAL = st.just(UNDEFINED_ARGUMENT) | DATA
BLOCKS = st.lists(st.builds(lambda text: {"type": "text", "text": text}, TEXTS), max_size=2)
CONTENT = TEXTS | BLOCKS
ENDINGS = st.sampled_from([
    {}, {"exitCode": 0}, {"exitCode": 3, "excludeFromContext": False}, {"cancelled": True, "exitCode": 1},
    {"truncated": True, "fullOutputPath": "/f"}, {"truncated": True}, {"excludeFromContext": True},
])  # fmt: skip
TOOLS = st.lists(st.builds(lambda name: {"name": name, "description": "d"}, st.sampled_from("rwb")), max_size=3)
SECTIONS = st.dictionaries(st.sampled_from(["b", "a", "7", "3"]), st.none() | TEXTS, max_size=3)


def steps_of(draw: st.DrawFn) -> list[Step]:
    """Draw calls of pi's session manager; ids are named by the step that returned them."""
    steps: list[Step] = []
    givers: list[int] = []

    def an_id() -> dict[str, int]:
        return {"$": draw(st.sampled_from(givers))} if givers else {"$": -1}

    for place in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(sorted(STEPS)))
        if kind in ("branch", "label", "context_edit", "branch_summary", "fork") and not givers:
            kind = "user"
        steps.append(STEPS[kind](draw, an_id))
        if kind not in ("branch", "reset", "fork"):
            givers.append(place)
    return steps


def message(role: str, **fields: Any) -> dict[str, Any]:
    return {"role": role, **fields, "timestamp": CLOCK}


STEPS: dict[str, Any] = {
    "user": lambda draw, _: ["appendMessage", message("user", content=draw(CONTENT | st.none()))],
    "answer": lambda draw, _: [
        "appendMessage", message("assistant", content=draw(BLOCKS), provider=draw(TEXTS), model="m")
    ],
    "result": lambda draw, _: ["appendMessage", message("toolResult", content=draw(BLOCKS), details=draw(DATA))],
    "bash": lambda draw, _: [
        "appendMessage", message("bashExecution", command="ls", output=draw(TEXTS), **draw(ENDINGS))
    ],
    "system": lambda draw, _: [
        "appendMessage",
        message("system", content=draw(CONTENT), sections=draw(SECTIONS), toolsAdded=draw(TOOLS),
                toolsRemoved=draw(TOOLS)),
    ],
    "model": lambda draw, _: ["appendModelChange", draw(TEXTS), draw(TEXTS)],
    "level": lambda draw, _: ["appendThinkingLevelChange", draw(TEXTS)],
    "name": lambda draw, _: ["appendSessionInfo", draw(TEXTS)],
    "custom": lambda draw, _: ["appendCustomEntry", "c", draw(OPTIONAL)],
    "custom_message": lambda draw, _: [
        "appendCustomMessageEntry", "c", draw(CONTENT), draw(st.booleans()), draw(OPTIONAL)
    ],
    "usage": lambda draw, _: ["appendUsage", "k", "p", "m", draw(st.dictionaries(TEXTS, DATA, max_size=2).filter(
        lambda value: not {"$", "undefined"} & set(value))), draw(st.just(UNDEFINED_ARGUMENT) | TEXTS)],
    "compaction": lambda draw, an_id: [
        "appendCompaction", draw(TEXTS), draw(st.sampled_from([UNDEFINED_ARGUMENT, an_id()])),
        draw(st.integers(0, 10**6)),
        draw(OPTIONAL), draw(st.just(UNDEFINED_ARGUMENT) | st.booleans()), draw(OPTIONAL),
    ],
    "branch_summary": lambda draw, an_id: [
        "branchWithSummary", draw(st.sampled_from([{"$": -1}, an_id()])), draw(TEXTS),
        draw(OPTIONAL), draw(st.just(UNDEFINED_ARGUMENT) | st.booleans()), draw(OPTIONAL),
    ],
    "label": lambda draw, an_id: ["appendLabelChange", an_id(), draw(st.just(UNDEFINED_ARGUMENT) | TEXTS)],
    "context_edit": lambda draw, an_id: [
        "appendContextEdit", an_id(), draw(st.none() | st.builds(lambda content: {"content": content}, CONTENT))
    ],
    "branch": lambda _, an_id: ["branch", an_id()],
    "reset": lambda *_: ["resetLeaf"],
    "fork": lambda _, an_id: ["createBranchedSession", an_id()],
}  # fmt: skip


def do(session: Session, steps: list[Step]) -> list[Any]:
    """Take the same steps with our names for them."""
    results: list[Any] = []

    def argument(value: Any) -> Any:
        if isinstance(value, dict) and "$" in value:
            return None if value["$"] < 0 else results[value["$"]]
        return UNDEFINED if value == UNDEFINED_ARGUMENT else value

    for method, *given_arguments in steps:
        arguments = [argument(value) for value in given_arguments]
        try:
            results.append(call(session, method, arguments))
        except PivcsError:
            results.append("error")
    return results


def call(session: Session, method: str, given_arguments: list[Any]) -> Any:
    none = [None if value is UNDEFINED else value for value in given_arguments]
    match method:
        case "appendCompaction":
            summary, first, tokens, details, from_hook, usage = given_arguments
            kept = None if first is UNDEFINED else first
            return session.append_compaction(summary, kept, tokens, details=details, from_hook=from_hook, usage=usage)
        case "branchWithSummary":
            entry, summary, details, from_hook, usage = given_arguments
            return session.branch_with_summary(entry, summary, details=details, from_hook=from_hook, usage=usage)
        case "createBranchedSession":
            found = session.create_branched_session(given_arguments[0])
            return None if found is None else str(found)
        case "appendLabelChange":
            return session.append_label(*none)
        case "appendUsage":
            return session.append_usage(*none)
    name = {
        "appendMessage": "append_message", "appendModelChange": "append_model_change", "branch": "branch",
        "appendThinkingLevelChange": "append_thinking_level_change", "appendSessionInfo": "append_session_info",
        "appendCustomEntry": "append_custom", "appendCustomMessageEntry": "append_custom_message",
        "appendContextEdit": "append_context_edit", "resetLeaf": "reset_leaf",
    }[method]  # fmt: skip
    return getattr(session, name)(*given_arguments)


def drawn_runs(count: int) -> list[list[Step]]:
    found: list[list[Step]] = []

    @settings(max_examples=count, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.data())
    def take(data: st.DataObject) -> None:
        found.append(data.draw(st.composite(steps_of)()))

    take()
    return found
