"""The strings of a parsed entry, and where in it they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

Where = tuple["Where | None", "str | int"]
"""The container that a value is in, and its key or number there."""

SHORTEST: Final = 8
"""Shorter texts are no secrets; most strings of an entry are ids and names of types."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Text(NamedTuple):
    """A string of an entry. `name` is the key that it is the value of; `is_key`: it is a key itself."""

    text: str
    where: Where | None
    name: str | None = None
    is_key: bool = False


def texts_of(value: object) -> Iterator[Text]:
    """Yield the strings of a parsed value, keys among them, but for the shortest. No nesting is too deep for it."""
    left: list[tuple[object, Where | None]] = [(value, None)]
    while left:
        inner, where = left.pop()
        if isinstance(inner, dict):
            for key, each in inner.items():
                if len(key) >= SHORTEST:
                    yield Text(key, (where, key), None, True)
                if isinstance(each, str):
                    if len(each) >= SHORTEST:
                        yield Text(each, (where, key), key)
                elif isinstance(each, (dict, list)):
                    left.append((each, (where, key)))
        elif isinstance(inner, list):
            for number, each in enumerate(inner):
                if isinstance(each, str):
                    if len(each) >= SHORTEST:
                        yield Text(each, (where, number))
                elif isinstance(each, (dict, list)):
                    left.append((each, (where, number)))
        elif isinstance(inner, str) and len(inner) >= SHORTEST:
            yield Text(inner, where)


def place_of(where: Where | None, shown: Callable[[str], str]) -> str:
    """Return a place as `message.content[0].text`; `shown` says what to write for a key, which may be a secret."""
    steps: list[str] = []
    while where is not None:
        outer, step = where
        if isinstance(step, int):
            steps.append(f"[{step}]")
        else:
            key = shown(step)
            if _PLAIN_KEY.fullmatch(key):
                steps.append(f".{key}" if outer is not None else key)
            else:
                steps.append(f"[{json.dumps(key, ensure_ascii=False)}]")
        where = outer
    return "".join(reversed(steps))
