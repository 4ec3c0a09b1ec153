"""What the model would see at one entry against another: their contexts as two lists of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, NamedTuple

from pivcs.ops.context_view import ShownContext, Spoken, context_at
from pivcs.ops.revision import Target
from pivcs.session.jsonwrite import dump_json
from pivcs.workspace.linediff import opcodes


class ContextStep(NamedTuple):
    """A message of both contexts (`same`), of the first only (`first`), of the second only (`second`)."""

    where: Literal["same", "first", "second"]
    message: Spoken


@dataclass(frozen=True, slots=True)
class ContextDifference:
    """Two contexts, and their messages in one list, in the order of each."""

    first: ShownContext
    second: ShownContext
    steps: tuple[ContextStep, ...]

    def count(self, where: Literal["same", "first", "second"]) -> int:
        """Return how many messages are of both, or of one only."""
        return sum(1 for step in self.steps if step.where == where)


def compare_contexts(first: Target, second: Target) -> ContextDifference:
    """Compare what the model would see at two entries. Raises as `context_at`."""
    contexts = [context_at(each.view, each.row) for each in (first, second)]
    keys = [[_key(spoken) for spoken in context.messages] for context in contexts]
    turned = keys[1] < keys[0]
    if turned:  # so that the answer does not depend on which is asked about first
        keys.reverse()
    steps = []
    sides = (contexts[1], contexts[0]) if turned else (contexts[0], contexts[1])
    for left, right in _matched(keys[0], keys[1]):
        if left is not None and right is not None:
            steps.append(ContextStep("same", contexts[0].messages[right if turned else left]))
        elif left is not None:
            steps.append(ContextStep("second" if turned else "first", sides[0].messages[left]))
        elif right is not None:
            steps.append(ContextStep("first" if turned else "second", sides[1].messages[right]))
    return ContextDifference(contexts[0], contexts[1], tuple(_first_before_second(steps)))


def _key(spoken: Spoken) -> bytes:
    return blake2b(dump_json(spoken.message), digest_size=16).digest()


def _matched(first: Sequence[bytes], second: Sequence[bytes]) -> list[tuple[int | None, int | None]]:
    """Return the places of both lists in order, equal ones together."""
    found: list[tuple[int | None, int | None]] = []
    for code in opcodes(first, second):
        left = range(code.before_start, code.before_end)
        right = range(code.after_start, code.after_end)
        if code.tag == "equal":
            found += zip(left, right, strict=True)
        else:
            found += [(place, None) for place in left]
            found += [(None, place) for place in right]
    return found


def _first_before_second(steps: list[ContextStep]) -> list[ContextStep]:
    """Return the steps with those of the first context before those of the second, between two of both."""
    done: list[ContextStep] = []
    waiting: list[ContextStep] = []
    for step in steps:
        if step.where == "second":
            waiting.append(step)
            continue
        if step.where == "same":
            done += waiting
            waiting = []
        done.append(step)
    return done + waiting
