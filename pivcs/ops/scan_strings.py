"""The strings of parsed entries, and where in them they stand."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from pivcs.ops.scan_values import is_secret_name

Where = tuple["Where | None", "str | int"]
"""The container that a value is in, and its key or number there."""

SHORTEST: Final = 10
"""Shorter texts are no secrets by themselves; most strings of an entry are ids and names of types."""

KEY: Final = ""
"""Stands for the name of a text that is a key itself."""

_DEEPEST: Final = 40
_REMEMBERED: Final = 10_000
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Texts:
    """Strings of many entries, in columns: texts, names (the key that a text is the value of, None in a list, `KEY`
    for a key) and places. Keys that were looked at before, in any entry, are left out."""

    __slots__ = ("_clean", "_firsts", "_rows", "names", "size", "texts", "wheres")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.names: list[str | None] = []
        self.wheres: list[Where | None] = []
        self.size = 0
        self._rows: list[int | None] = []
        self._firsts: list[int] = []
        self._clean: set[str] = set()

    def begin(self, row: int | None) -> None:
        """Say which row the strings belong to that follow."""
        self._rows.append(row)
        self._firsts.append(len(self.texts))

    def row_of(self, text: int) -> int | None:
        """Return the row that a text belongs to, by its number among the texts."""
        return self._rows[bisect_right(self._firsts, text) - 1]

    def add_text(self, text: str) -> None:
        """Add what is no part of an entry."""
        self._add(text, None, None)

    def add_value(self, value: object) -> None:
        """Add the strings of a parsed value, keys among them. No nesting is too deep for it."""
        left: list[tuple[object, Where | None]] = [(value, None)]
        clean = self._clean
        while left:
            inner, where = left.pop()
            if isinstance(inner, dict):
                for key, each in inner.items():
                    if len(key) >= SHORTEST and key not in clean:
                        self._add(key, (where, key), KEY)
                    if isinstance(each, str):
                        if len(each) >= SHORTEST or is_secret_name(key):
                            self._add(each, (where, key), key)
                    elif isinstance(each, (dict, list)):
                        left.append((each, (where, key)))
            elif isinstance(inner, list):
                for number, each in enumerate(inner):
                    if isinstance(each, str):
                        self._add(each, (where, number), None)
                    elif isinstance(each, (dict, list)):
                        left.append((each, (where, number)))
            elif isinstance(inner, str):
                self._add(inner, where, None)

    def _add(self, text: str, where: Where | None, name: str | None) -> None:
        self.texts.append(text)
        self.names.append(name)
        self.wheres.append(where)
        self.size += len(text)

    def forget(self, with_secrets: set[int]) -> None:
        """Make room for others; keys among the texts but for these, by their numbers, are clean."""
        clean = self._clean
        if len(clean) < _REMEMBERED:
            clean.update(
                text
                for number, (text, name) in enumerate(zip(self.texts, self.names, strict=True))
                if name == KEY and number not in with_secrets
            )
        for column in (self.texts, self.names, self.wheres, self._rows, self._firsts):
            column.clear()
        self.size = 0


def place_of(where: Where | None, shown: Callable[[str], str]) -> str:
    """Return a place as `message.content[0].text`; `shown` says what to write for a key, which may be a secret.

    What is in the middle of a very long place is left out.
    """
    chain: list[Where] = []
    while where is not None:
        chain.append(where)
        where = where[0]
    if len(chain) > _DEEPEST:
        half = _DEEPEST // 2
        return _steps(chain[:-half:-1], shown) + "…" + _steps(chain[half - 1 :: -1], shown)
    return _steps(chain[::-1], shown)


def _steps(chain: Sequence[Where], shown: Callable[[str], str]) -> str:
    steps: list[str] = []
    for outer, step in chain:
        if isinstance(step, int):
            steps.append(f"[{step}]")
        else:
            key = shown(step)
            if _PLAIN_KEY.fullmatch(key):
                steps.append(f".{key}" if outer is not None else key)
            else:
                steps.append(f"[{json.dumps(key, ensure_ascii=False)}]")
    return "".join(steps)
