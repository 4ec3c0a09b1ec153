"""Which turns of two paths are attempts at the same: pairs by their prompts, in the spirit of `git range-diff`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

LIKE: Final = 0.6
"""Prompts are taken for the same from this likeness on: twice the words that both have by the words of both."""
COMPARED: Final = 40_000
"""Pairs of prompts that are compared at most; of more turns only those that stand near each other are."""
_WORDS: Final = 400
_WORD: Final = re.compile(r"\w+")


class Asked(NamedTuple):
    """What a turn was asked, as far as needed to compare it: the digest of the text, and its first words.

    A turn that was begun before the paths parted has no prompt of its own (`text` was None).
    """

    digest: bytes | None
    words: frozenset[str] = frozenset()


class TurnPair(NamedTuple):
    """A turn on one side or on both, by their places among the turns of the side, from 0.

    `likeness` is that of the prompts: 1.0 when they are equal, None for a turn that stands alone.
    """

    first: int | None
    second: int | None
    likeness: float | None

    def mirrored(self) -> TurnPair:
        """Return the same with the sides the other way round."""
        return TurnPair(self.second, self.first, self.likeness)


def asked(text: str | None) -> Asked:
    """Return what is compared of a prompt."""
    if text is None:
        return Asked(None)
    words: set[str] = set()
    for count, found in enumerate(_WORD.finditer(text)):
        if count == _WORDS:
            break
        words.add(found[0].casefold())
    return Asked(blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=16).digest(), frozenset(words))


def pair_turns(firsts: Sequence[Asked], seconds: Sequence[Asked]) -> list[TurnPair]:
    """Return all turns of both sides, paired where the prompts are equal or alike, in the order of the second side.

    A turn of the first side alone stands before the next pair of its side. The other way round the pairs are the same.
    """
    matched = _equal(firsts, seconds)
    left = [place for place in range(len(firsts)) if place not in matched]
    taken = {second for second, _ in matched.values()}
    right = [place for place in range(len(seconds)) if place not in taken]
    alike = sorted(_alike(firsts, seconds, left, right), key=lambda found: (-found[0], found[1] + found[2]))
    for likeness, first, second in alike:
        if first not in matched and second not in taken:
            matched[first] = (second, likeness)
            taken.add(second)
    return list(_in_order(matched, len(firsts), len(seconds)))


def _equal(firsts: Sequence[Asked], seconds: Sequence[Asked]) -> dict[int, tuple[int, float]]:
    """Pair equal prompts: of one that is repeated, the n-th time with the n-th time."""
    places: dict[bytes, list[int]] = {}
    for place in reversed(range(len(seconds))):
        digest = seconds[place].digest
        if digest is not None:
            places.setdefault(digest, []).append(place)
    matched: dict[int, tuple[int, float]] = {}
    if firsts and seconds and firsts[0].digest is None and seconds[0].digest is None:
        matched[0] = (0, 1.0)  # both go on with the turn in which the paths parted
    for place, each in enumerate(firsts):
        same = places.get(each.digest) if each.digest is not None else None
        if same:
            matched[place] = (same.pop(), 1.0)
    return matched


def _alike(
    firsts: Sequence[Asked], seconds: Sequence[Asked], left: Sequence[int], right: Sequence[int]
) -> Iterator[tuple[float, int, int]]:
    """Yield likeness and places of prompts that are alike. Pairs with equal sums of places share none of them."""
    everywhere = len(left) * len(right) <= COMPARED
    band = max(1, COMPARED // max(1, len(left) + len(right)))
    for rank, first in enumerate(left):
        words = firsts[first].words
        near = right if everywhere else right[max(0, rank - band) : rank + band + 1]
        for second in near if words else ():
            others = seconds[second].words
            both = len(words) + len(others)
            if 2 * min(len(words), len(others)) >= LIKE * both:
                likeness = 2 * len(words & others) / both
                if likeness >= LIKE:
                    yield likeness, first, second


def _in_order(matched: dict[int, tuple[int, float]], firsts: int, seconds: int) -> Iterator[TurnPair]:
    partners = {second: (first, likeness) for first, (second, likeness) in matched.items()}
    ahead = [firsts] * (seconds + 1)
    for place in reversed(range(seconds)):
        ahead[place] = partners[place][0] if place in partners else ahead[place + 1]
    done = 0
    for place in range(seconds):
        for alone in range(done, ahead[place]):
            if alone not in matched:
                yield TurnPair(alone, None, None)
        done = max(done, ahead[place])
        partner = partners.get(place)
        yield TurnPair(None, place, None) if partner is None else TurnPair(partner[0], place, partner[1])
    for alone in range(done, firsts):
        if alone not in matched:
            yield TurnPair(alone, None, None)
