"""What is searched for: a regular expression, and bytes that a record must have to be worth reading."""

from __future__ import annotations

import re
import warnings
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

from pivcs.ops.predicates import BadPattern

_SAFE: Final = frozenset(
    character for character in map(chr, range(0x20, 0x7F)) if character not in '"\\/'
)
"""Characters that JSON writes as they are, or as an escape that begins as `ESCAPE`."""
_FOLDED: Final = frozenset("kKsSiI")
"""Letters that are equal to one beyond ASCII when case is ignored: the Kelvin sign, the long s, the dotted and dotless
i."""
ESCAPE: Final = b"\\u00"
NEEDLESS: Final = frozenset(b"234567")
"""What may follow `ESCAPE` for a character that needs none: whoever wrote one may have escaped any."""

_FLAGS: Final = re.compile(r"\(\?[aiLmsux]+\)")


class Wanted(NamedTuple):
    """What to look for in each line of a text. `literal` is in every record that has a match (in lower case with
    `fold`), unless the record has characters escaped that need no escape; empty when there is no such thing."""

    pattern: re.Pattern[str]
    literal: bytes
    fold: bool


def wanted(text: str, *, fixed: bool = False, ignore_case: bool = False, word: bool = False) -> Wanted:
    """Return what a pattern looks for. Raises `BadPattern`."""
    expression = re.escape(text) if fixed else text
    if word:
        flagged = _FLAGS.match(expression)
        first = flagged[0] if flagged is not None else ""  # they must stay in front
        expression = rf"{first}(?<!\w)(?:{expression[len(first) :]})(?!\w)"
    flags = re.IGNORECASE if ignore_case else re.NOFLAG
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pattern = re.compile(expression, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(text, str(error) or "it is too deep") from error
    fold = bool(pattern.flags & re.IGNORECASE)
    literal = _longest(expression, pattern.flags, fold=fold)
    return Wanted(pattern, literal.lower().encode() if fold else literal.encode(), fold)


def _longest(expression: str, flags: int, *, fold: bool) -> str:
    """Return the longest text of safe characters that every match has, as far as is easily told."""
    try:
        parsed = _parser.parse(expression, flags & ~re.DEBUG)
    except Exception:  # the parser is no public interface: without it every record is read
        return ""
    runs = [""]
    todo: list[Any] = list(reversed(list(parsed)))
    while todo:
        item = todo.pop()
        if item is None:
            runs.append("")
            continue
        kind, value = item
        if kind is _constants.LITERAL and chr(value) in _SAFE and not (fold and chr(value) in _FOLDED):
            runs[-1] += chr(value)
            continue
        if kind is _constants.AT:  # an anchor takes no room
            continue
        if kind is _constants.SUBPATTERN and not value[1] and not value[2]:
            todo.extend(reversed(list(value[3])))
            continue
        runs.append("")
        if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and value[0] >= 1:
            todo.append(None)
            todo.extend(reversed(list(value[2])))
    return max(runs, key=len)


def may_match(text: str, wanted: Wanted) -> bool:
    """Whether a text has what every match has: most texts of a record that may have a hit have none."""
    return wanted.literal.decode() in (text.lower() if wanted.fold else text)
