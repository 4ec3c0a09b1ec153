"""Finding secrets in many texts at once.

The texts are joined, and only what may have a secret is looked at by a rule: long words that have what a rule's secrets
begin with, and lines with a word that means a secret. Rules are about one line of one text; keys and commands may
have several lines of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Final, NamedTuple

from pivcs.objects.hashing import whole_hash
from pivcs.ops.scan_commands import COMMANDS, given_at
from pivcs.ops.scan_library import library_rules, library_version
from pivcs.ops.scan_rules import SHORTEST_WORD, WORD_RULES, LineRule, WordRule, private_keys, spaced, uncoloured
from pivcs.ops.scan_values import assigned_at, header_at, is_secret_name, is_secret_value, name_end, name_start

RULES_VERSION: Final = 2
"""Counts up with every change of what our own rules find."""

ASSIGNED: Final = "assigned-secret"
HEADER: Final = "authorization-header"
PRIVATE_KEY: Final = "private-key"
OWN_RULES: Final = (PRIVATE_KEY, HEADER, ASSIGNED)

TRIGGERS: Final = ("passw", "passphrase", "pwd", "secret", "token", "key", "credential", "authorization")
"""One of these is in every line with a secret that is no word of a known form."""

_BEFORE: Final = 512
_BEHIND: Final = 4096
"""Characters of a long line before and behind a trigger that are looked at."""

_LONGEST_NAME: Final = 60
_LONG_WORD: Final = 8192
"""Bytes of a word that are looked at as a whole."""
_SPACES: Final = b" \t\n\r\v\f\0"
_SHAPE: Final = bytes(ord(" ") if byte in _SPACES else ord("a") for byte in range(256))
_LONG: Final = b"a" * SHORTEST_WORD
_FINGERPRINT_CONTEXT: Final = b"pivcs secret v1\0"
_FINGERPRINT_BYTES: Final = 8


class Hit(NamedTuple):
    """A secret in the text with this number, from `start` to `end`. `secret` is what makes it the same elsewhere."""

    text: int
    start: int
    end: int
    rule: str
    secret: str

    def fingerprint(self) -> str:
        """Return 16 hexadecimal digits that stand for the rule and the secret."""
        secret = self.secret.encode("utf-8", "surrogatepass")
        return whole_hash([_FINGERPRINT_CONTEXT, self.rule.encode(), b"\0", secret])[:_FINGERPRINT_BYTES].hex()

    def excerpt(self) -> str:
        """Return how the secret begins, at most a quarter of it, and how many characters it has."""
        shown = self.secret[: min(4, len(self.secret) // 4)]
        return f"{shown}… ({len(self.secret):,})"


class _Span(NamedTuple):
    start: int
    end: int
    rule: str
    secret: str


def rules_version() -> str:
    """Return what the answers of the rules depend on."""
    return f"{RULES_VERSION}+{library_version()}"


@lru_cache(maxsize=1)
def rule_names() -> tuple[str, ...]:
    """Return the names of all rules in alphabetic order."""
    words, lines = library_rules()
    named = [rule.name for rule in (*WORD_RULES, *words)] + [rule.name for rule in lines]
    return tuple(sorted({*OWN_RULES, *named}))


@lru_cache(maxsize=1)
def _by_keyword() -> dict[bytes, list[WordRule]]:
    found: dict[bytes, list[WordRule]] = {}
    for rule in (*WORD_RULES, *library_rules()[0]):
        for keyword in rule.keywords:
            found.setdefault(keyword.encode(), []).append(rule)
    return found


@lru_cache(maxsize=1)
def _by_line_word() -> dict[str, list[LineRule]]:
    found: dict[str, list[LineRule]] = {}
    for rule in library_rules()[1]:
        for word in rule.words:
            found.setdefault(word, []).append(rule)
    return found


def find_secrets(texts: Sequence[str], names: Sequence[str | None] = ()) -> list[Hit]:
    """Return the secrets in texts, by text and place. `names` says for each text of which name it is the value."""
    if not texts:
        return []
    joined = uncoloured("\n".join(texts))
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    lowered = _lowered(joined)
    sure = _without_overlap([*_in_words(joined), *_keys_in(joined, lowered, starts), *_in_lines(joined, lowered)])
    given = _given(joined, lowered, starts)
    guessed = [*_assigned(joined, lowered), *given, *_named(texts, starts, names)]
    hits = []
    for span in sorted([*sure, *_apart(guessed, sure)]):
        text = bisect_right(starts, span.start) - 1
        hits.append(Hit(text, span.start - starts[text], span.end - starts[text], span.rule, span.secret))
    return hits


def masked(text: str) -> str:
    """Return a text with what is secret in it cut short."""
    shown: list[str] = []
    end = 0
    for hit in find_secrets([text]):
        shown += [text[end : hit.start], hit.excerpt()]
        end = hit.end
    return "".join([*shown, text[end:]])


def _lowered(text: str) -> str:
    """Return a text in lower case, of the same length: one capital letter alone would become two characters."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "I").lower()


def _in_words(joined: str) -> list[_Span]:
    """Return what rules about words find, by place."""
    data = joined.encode("utf-8", "surrogatepass")
    words = _LongWords(data)
    found: dict[int, list[_Span]] = {}
    for keyword, rules in _by_keyword().items():
        for start, word in words.around(keyword):
            shown = spaced(word)
            spans = [span for rule in rules for span in _spans_in(shown, rule, 0)]
            if spans:
                found.setdefault(start, []).extend(spans)
    if not found:
        return []
    spans, at, characters = [], 0, 0
    for start in sorted(found):
        characters += len(data[at:start].decode("utf-8", "surrogatepass"))
        at = start
        spans += [
            span._replace(start=characters + span.start, end=characters + span.end) for span in found[start]
        ]
    return spans


class _LongWords:
    """The words of a text in UTF-8 that may have a secret.

    They are found as runs of one letter in a copy that has only that and spaces, which is quicker than to split.
    """

    def __init__(self, data: bytes) -> None:
        self._starts: list[int] = []
        shape = data.translate(_SHAPE)
        found, at = [], shape.find(_LONG)
        while at >= 0:
            end = shape.find(b" ", at)
            if end < 0:
                end = len(data)
            self._starts.append(at)
            found.append(data[at:end])
            at = shape.find(_LONG, end)
        self._words = found
        self._places = list(accumulate((len(word) + 1 for word in found), initial=0))
        self._lowered = b"\n".join(found).lower()

    def around(self, keyword: bytes) -> Iterator[tuple[int, str]]:
        """Yield the words that have a keyword in them, and where they begin; of very long ones the parts around it."""
        at = self._lowered.find(keyword)
        while at >= 0:
            number = bisect_right(self._places, at) - 1
            word, inside = self._words[number], at - self._places[number]
            if len(word) <= _LONG_WORD:
                yield self._starts[number], word.decode("utf-8", "surrogatepass")
                at = self._lowered.find(keyword, self._places[number + 1])
            else:
                first = _character_start(word, max(0, inside - _BEFORE))
                last = _character_start(word, min(len(word), inside + _LONG_WORD))
                yield self._starts[number] + first, word[first:last].decode("utf-8", "surrogatepass")
                at = self._lowered.find(keyword, at + _LONG_WORD // 2)


def _character_start(word: bytes, at: int) -> int:
    """Return where the character begins that a byte is part of."""
    while at < len(word) and word[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _spans_in(text: str, rule: WordRule | LineRule, offset: int) -> Iterator[_Span]:
    for found in chain.from_iterable(pattern.finditer(text) for pattern in rule.patterns()):
        if rule.accept is None or rule.accept(found):
            group = _secret_group(found)
            yield _Span(offset + found.start(group), offset + found.end(group), rule.name, found[group])


def _secret_group(found: re.Match[str]) -> int:
    """Return the group that has the secret: of the library's patterns some have a part of it as a group."""
    if "secret" in found.re.groupindex:
        return found.re.groupindex["secret"]
    for group in range(found.re.groups, 0, -1):
        if found[group] is not None and len(found[group]) >= SHORTEST_WORD:
            return group
    return 0


def _keys_in(joined: str, lowered: str, starts: Sequence[int]) -> Iterator[_Span]:
    """Yield the private keys, each in the text that it begins in."""
    for sign in ("private key", "putty-user-key-file-"):
        at = lowered.find(sign)
        while at >= 0:
            text = bisect_right(starts, at) - 1
            start, end = starts[text], starts[text + 1] - 1
            for first, last, secret in private_keys(joined[start:end]):
                yield _Span(start + first, start + last, PRIVATE_KEY, secret)
            at = lowered.find(sign, end)


def _in_lines(joined: str, lowered: str) -> Iterator[_Span]:
    for word, rules in _by_line_word().items():
        at = lowered.find(word)
        while at >= 0:
            start, end = _line_around(joined, at)
            line = lowered[start:end]
            if any(trigger in line for trigger in TRIGGERS):
                shown = spaced(joined[start:end])
                for rule in rules:
                    yield from _spans_in(shown, rule, start)
            at = lowered.find(word, min(end, at + _BEHIND // 2))


def _line_around(joined: str, at: int) -> tuple[int, int]:
    """Return where the line at a place begins and ends, of a long one the part around the place."""
    start = joined.rfind("\n", max(0, at - _BEFORE), at) + 1 or max(0, at - _BEFORE)
    end = joined.find("\n", at, at + _BEHIND)
    return start, end if end >= 0 else min(at + _BEHIND, len(joined))


def _assigned(joined: str, lowered: str) -> Iterator[_Span]:
    for trigger in TRIGGERS:
        is_header = trigger == "authorization"
        at = lowered.find(trigger)
        while at >= 0:
            end = name_end(joined, at)  # what else is in the same name gets the same value
            if end - at <= _LONGEST_NAME:
                if is_header:
                    found = header_at(joined, at, at + _BEHIND)
                else:
                    found = assigned_at(joined, name_start(joined, at), at + _BEHIND)
                if found is not None:
                    yield _Span(found.start, found.end, HEADER if is_header else ASSIGNED, found.value)
            at = lowered.find(trigger, end)


def _given(joined: str, lowered: str, starts: Sequence[int]) -> Iterator[_Span]:
    for command in COMMANDS:
        at = lowered.find(command)
        while at >= 0:
            following = lowered.find(command, at + len(command))
            end = starts[bisect_right(starts, at)] - 1
            found = given_at(joined, command, at, end if following < 0 else min(end, following))
            if found is not None:
                yield _Span(found.start, found.end, ASSIGNED, found.value)
            at = following


def _named(texts: Sequence[str], starts: Sequence[int], names: Sequence[str | None]) -> Iterator[_Span]:
    for text, start, name in zip(texts, starts, names, strict=False):
        if name is not None and is_secret_name(name) and is_secret_value(text, name):
            yield _Span(start, start + len(text), ASSIGNED, text)


def _without_overlap(spans: list[_Span]) -> list[_Span]:
    """Return spans by place, of those that overlap the one that begins first, or is the longest of these."""
    kept: list[_Span] = []
    end = -1
    for span in sorted(spans, key=lambda each: (each.start, -each.end, each.rule)):
        if span.start >= end:
            kept.append(span)
            end = span.end
    return kept


def _apart(spans: list[_Span], from_these: list[_Span]) -> Iterator[_Span]:
    """Yield spans, none of which overlaps another or one of others that are sorted and do not overlap."""
    ends = [span.end for span in from_these]
    for span in _without_overlap(spans):
        place = bisect_right(ends, span.start)
        if place == len(from_these) or from_these[place].start >= span.end:
            yield span
