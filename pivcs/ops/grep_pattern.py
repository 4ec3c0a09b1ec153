"""What is searched for: a regular expression, and bytes one of which a record must have to be worth reading."""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

from pivcs.ops.predicates import BadPattern

_FOLDED: Final = frozenset("kKsSiI")
"""Letters that are equal to one beyond ASCII when case is ignored: the Kelvin sign, the long s, the dotted and dotless
i."""
ESCAPE: Final = re.compile(rb"\\u00[2-7]")
"""An escape of a character that needs none (or of `"`, `\\` and DEL): whoever wrote one may have escaped any."""
_ESCAPE_SLASH: Final = re.compile(rb"\\(?:u00[2-7]|/)")
_ESCAPE_WIDE: Final = re.compile(rb"\\u(?:00[2-9A-Fa-f]|0[1-9A-Fa-f]|[1-9A-Fa-f])")
_ESCAPE_ANY: Final = re.compile(rb"\\(?:/|u(?:00[2-9A-Fa-f]|0[1-9A-Fa-f]|[1-9A-Fa-f]))")
"""All escapes but those of control characters, which JSON requires."""
ESCAPE_LENGTH: Final = 5
"""Most bytes of what these patterns match."""
MOST: Final = 16
"""Texts that are looked for side by side; with more of them parsing each record is no slower."""

_FLAGS: Final = re.compile(r"(?:\(\?[aiLmsux]+\))+")
_LF: Final = 10
_WITHOUT_LF: Final = (_constants.CATEGORY_DIGIT, _constants.CATEGORY_WORD, _constants.CATEGORY_NOT_SPACE)
_REPEATS: Final = frozenset((_constants.MAX_REPEAT, _constants.MIN_REPEAT))


class Wanted(NamedTuple):
    """What to look for in each line of a text. One of `literals` is in every line that has a match (in lower case with
    `fold`), and in the bytes of its record unless these have characters escaped that need no escape; empty when there
    are no such texts. With `in_lines` a match in a line is one in the whole text, too, and none in that is longer than
    a line."""

    pattern: re.Pattern[str]
    literals: tuple[str, ...]
    fold: bool
    in_lines: bool = False

    @property
    def needles(self) -> tuple[bytes, ...]:
        """The literals as JSON has them where it escapes only what it must."""
        return tuple(_in_json(literal) for literal in self.literals)

    @property
    def escapes(self) -> re.Pattern[bytes]:
        """What a record has whose JSON spells a literal in another way: at most `ESCAPE_LENGTH` bytes."""
        slash, wide = any("/" in each for each in self.literals), not all(each.isascii() for each in self.literals)
        if wide:
            return _ESCAPE_ANY if slash else _ESCAPE_WIDE
        return _ESCAPE_SLASH if slash else ESCAPE

    def may_match(self, text: str) -> bool:
        """Whether a text has what every match has: most texts of a record that may have a hit have none."""
        searched = text.lower() if self.fold else text
        for literal in self.literals:  # asked for every text of many entries
            if literal in searched:
                return True
        return not self.literals


def wanted(text: str, *, fixed: bool = False, ignore_case: bool = False, word: bool = False) -> Wanted:
    """Return what a pattern looks for. Raises `BadPattern`."""
    flags = re.IGNORECASE if ignore_case else re.NOFLAG
    expression = re.escape(text) if fixed else text
    pattern = _compiled(expression, flags, text)
    in_lines = _is_in_lines(expression, pattern.flags)  # and so are whole words: line ends are no letters
    if word:
        expression = _whole_words(expression, verbose=bool(pattern.flags & re.VERBOSE))
        pattern = _compiled(expression, flags, text)
    fold = bool(pattern.flags & re.IGNORECASE)
    literals = _literals(expression, pattern.flags, fold=fold)
    return Wanted(pattern, tuple(dict.fromkeys(each.lower() if fold else each for each in literals)), fold, in_lines)


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
    """Return texts of usable characters one of which every match has, as far as is easily told."""
    try:
        return _needed(_parser.parse(expression, flags & ~re.DEBUG), fold=fold)
    except Exception:  # the parser is no public interface: without it every record is read
        return ()


def _needed(items: Iterable[Any], *, fold: bool) -> tuple[str, ...]:
    """Return texts one of which every match of some items in a row has. No deeper than the parser itself was."""
    found: list[tuple[str, ...]] = []
    run = ""
    for kind, value in _flat(items):
        if kind is _constants.LITERAL and _is_usable(chr(value), fold=fold):
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


def _is_usable(character: str, *, fold: bool) -> bool:
    """Whether a character in a text tells which bytes its record has, unless these have an escape for it.

    Control characters have two spellings in JSON. U+FFFD and lone surrogates may stand for bytes that are no UTF-8.
    Beyond ASCII only letters without case are equal to nothing but themselves when case is ignored.
    """
    if character.isascii():
        return " " <= character <= "~" and not (fold and character in _FOLDED)
    return character != "\ufffd" and unicodedata.category(character) != "Cs" and (
        not fold or unicodedata.category(character) == "Lo"
    )


def _in_json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode()


def _worth(literals: tuple[str, ...]) -> tuple[int, int]:
    return min(len(_in_json(literal)) for literal in literals), -len(literals)


def _is_in_lines(expression: str, flags: int) -> bool:
    """Whether no part of a match can be a line feed, and no match depends on more than letters beside it."""
    try:
        return _cannot_leave(_parser.parse(expression, flags & ~re.DEBUG), flags)
    except Exception:  # as for literals
        return False


def _cannot_leave(items: Iterable[Any], flags: int) -> bool:
    """As `_is_in_lines`, for some items in a row. No deeper than the parser itself was."""
    for kind, value in _flat(items):
        if kind is _constants.LITERAL:
            stays = value != _LF
        elif kind is _constants.NOT_LITERAL:
            stays = value == _LF
        elif kind is _constants.ANY:
            stays = not flags & re.DOTALL
        elif kind is _constants.IN:
            stays = not _has_line_feed(value)
        elif kind is _constants.AT:
            stays = value in (_constants.AT_BOUNDARY, _constants.AT_NON_BOUNDARY)
        elif kind in _REPEATS:
            stays = _cannot_leave(value[2], flags)
        elif kind is _constants.BRANCH:
            stays = all(_cannot_leave(way, flags) for way in value[1])
        elif kind is _constants.SUBPATTERN:
            stays = _cannot_leave(value[3], flags | value[1])
        else:  # what looks around, or does not try all ways
            stays = False
        if not stays:
            return False
    return True


def _has_line_feed(chosen: Iterable[Any]) -> bool:
    """Whether a set of characters has the line feed."""
    negated = found = False
    for kind, value in chosen:
        if kind is _constants.NEGATE:
            negated = True
        elif kind is _constants.LITERAL:
            found = found or value == _LF
        elif kind is _constants.RANGE:
            found = found or value[0] <= _LF <= value[1]
        else:
            found = found or value not in _WITHOUT_LF
    return found != negated


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
