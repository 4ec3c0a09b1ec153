"""What is searched for: a regular expression, and bytes one of which a record must have to be worth reading."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

from pivcs.ops.predicates import BadPattern

_SAFE: Final = frozenset(
    character for character in map(chr, range(0x20, 0x7F)) if character not in '"\\/'
)
"""Characters that JSON writes as they are, or as an escape that `ESCAPE` finds."""
_FOLDED: Final = frozenset("kKsSiI")
"""Letters that are equal to one beyond ASCII when case is ignored: the Kelvin sign, the long s, the dotted and dotless
i."""
ESCAPE: Final = re.compile(rb"\\u00[2-7]")
"""An escape of a character that needs none (or of `"`, `\\` and DEL): whoever wrote one may have escaped any."""
ESCAPE_LENGTH: Final = 5
MOST: Final = 16
"""Texts that are looked for side by side; with more of them parsing each record is no slower."""

_FLAGS: Final = re.compile(r"(?:\(\?[aiLmsux]+\))+")
_REPEATS: Final = frozenset((_constants.MAX_REPEAT, _constants.MIN_REPEAT))


class Wanted(NamedTuple):
    """What to look for in each line of a text. One of `literals` is in every line that has a match (in lower case with
    `fold`), and in the bytes of its record unless these have characters escaped that need no escape; empty when there
    are no such texts."""

    pattern: re.Pattern[str]
    literals: tuple[str, ...]
    fold: bool

    def may_match(self, text: str) -> bool:
        """Whether a text has what every match has: most texts of a record that may have a hit have none."""
        searched = text.lower() if self.fold else text
        return not self.literals or any(literal in searched for literal in self.literals)


def wanted(text: str, *, fixed: bool = False, ignore_case: bool = False, word: bool = False) -> Wanted:
    """Return what a pattern looks for. Raises `BadPattern`."""
    flags = re.IGNORECASE if ignore_case else re.NOFLAG
    expression = re.escape(text) if fixed else text
    pattern = _compiled(expression, flags, text)
    if word:
        expression = _whole_words(expression, verbose=bool(pattern.flags & re.VERBOSE))
        pattern = _compiled(expression, flags, text)
    fold = bool(pattern.flags & re.IGNORECASE)
    literals = _literals(expression, pattern.flags, fold=fold)
    return Wanted(pattern, tuple(dict.fromkeys(each.lower() if fold else each for each in literals)), fold)


def _compiled(expression: str, flags: re.RegexFlag, typed: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(expression, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(typed, str(error) or "it is too deep") from error


def _whole_words(expression: str, *, verbose: bool) -> str:
    flagged = _FLAGS.match(expression)
    first = flagged[0] if flagged is not None else ""  # they must stay in front
    end = "\n" if verbose else ""  # of what may be a comment
    return rf"{first}(?<!\w)(?:{expression[len(first) :]}{end})(?!\w)"


def _literals(expression: str, flags: int, *, fold: bool) -> tuple[str, ...]:
    """Return texts of safe characters one of which every match has, as far as is easily told."""
    try:
        return _needed(_parser.parse(expression, flags & ~re.DEBUG), fold=fold)
    except Exception:  # the parser is no public interface: without it every record is read
        return ()


def _needed(items: Iterable[Any], *, fold: bool) -> tuple[str, ...]:
    """Return texts one of which every match of some items in a row has. No deeper than the parser itself was."""
    found: list[tuple[str, ...]] = []
    run = ""
    for kind, value in _flat(items):
        if kind is _constants.LITERAL and chr(value) in _SAFE and not (fold and chr(value) in _FOLDED):
            run += chr(value)
            continue
        if kind is _constants.AT:  # an anchor takes no room
            continue
        found.append((run,))
        run = ""
        if kind in _REPEATS and value[0] >= 1:
            found.append(_needed(value[2], fold=fold))
        elif kind is _constants.BRANCH:
            ways = [_needed(way, fold=fold) for way in value[1]]
            if all(ways):
                found.append(tuple(text for way in ways for text in way))
    found.append((run,))
    return max((each for each in found if each and all(each) and len(each) <= MOST), key=_worth, default=())


def _worth(literals: tuple[str, ...]) -> tuple[int, int]:
    return min(map(len, literals)), -len(literals)


def _flat(items: Iterable[Any]) -> Iterator[Any]:
    """Yield items, those of groups that change no flags in their place."""
    todo = list(reversed(list(items)))
    while todo:
        item = todo.pop()
        kind, value = item
        if kind is _constants.SUBPATTERN and not value[1] and not value[2]:
            todo.extend(reversed(list(value[3])))
        else:
            yield item
