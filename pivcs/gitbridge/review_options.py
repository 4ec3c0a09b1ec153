"""What a user may choose about review commits. Another choice gives other commit ids; nothing else does."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple

from pivcs.errors import InputError
from pivcs.gitbridge.review_text import MAPPING

DOMAIN: Final = b"pivcs.invalid"
USER: Final = b"user"
TOOLS: Final = b"pivcs"


class Granularity(StrEnum):
    """What gets a commit.

    `entries`: each entry. `turns`: each finished turn. `prompts`: each entry, and a merge of them for each finished
    turn, so that `git log --first-parent` has a commit for each prompt.
    """

    ENTRIES = "entries"
    TURNS = "turns"
    PROMPTS = "prompts"


class Person(NamedTuple):
    """Whom entries of the user are by, as commits have it."""

    name: bytes = USER
    email: bytes = USER + b"@" + DOMAIN


class ReviewOptions(NamedTuple):
    """How review commits are made. `base` is the commit that roots go on from (40 hexadecimal digits), `prefix` where
    the session's working directory is below the root of that commit's tree."""

    granularity: Granularity = Granularity.ENTRIES
    base: str | None = None
    prefix: str = ""
    person: Person = Person()

    def digest(self) -> str:
        """Return what tells these options, and the version of the mapping, from others."""
        parts = (str(MAPPING), self.granularity, self.base or "", self.prefix, *(part.hex() for part in self.person))
        return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


PLAIN: Final = ReviewOptions()
"""A commit for each entry, on no base."""


class BadPerson(InputError):
    """A text that is no name and address."""


def parse_person(text: str) -> Person:
    """Return the person that `NAME <ADDRESS>` means. Raises `BadPerson`."""
    name, opening, rest = text.partition("<")
    email, closing, end = rest.partition(">")
    if not opening or not closing or end.strip() or not name.strip() or not email.strip() or "\n" in text:
        raise BadPerson(f"'{text}' is no name and address", hint="write it as 'Ada Lovelace <ada@example.org>'")
    return Person(name.strip().encode("utf-8", "replace"), email.strip().encode("utf-8", "replace"))
