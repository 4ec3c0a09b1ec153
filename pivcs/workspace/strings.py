"""The strings inside a JSON value."""

from __future__ import annotations

from collections.abc import Iterator


def strings_in(value: object) -> Iterator[str]:
    """Yield the strings inside a JSON value, keys too, in order, however deep it is."""
    stack = [value]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            yield at
        elif isinstance(at, dict):
            for key, inner in reversed(at.items()):
                stack += (inner, key)
        elif isinstance(at, list):
            stack += reversed(at)
