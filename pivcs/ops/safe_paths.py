"""Which paths of a session may be written below a directory: the text comes from a model, and is trusted in nothing.

What git and `pivcs` keep for themselves is refused in every spelling that some file system takes for it: upper case
(macOS, Windows), characters that HFS+ passes over, trailing dots and spaces, streams and short names of NTFS. Such a
path is refused on every system, since a session may be restored on another one.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

LONGEST_NAME: Final = 255
"""Bytes of a name that every usual file system takes."""

_PASSED_OVER: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""What HFS+ ignores in names."""
_PRIVATE: Final = {".git": "git~1", ".pivcs": "pivcs~1"}
"""Directories that are not for restoring, with the short names that NTFS gives them."""
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_DEVICE: Final = re.compile(
    r"(?:CON|PRN|AUX|NUL|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3]|CONIN\$|CONOUT\$) *(?:[.:].*)?", re.IGNORECASE | re.DOTALL
)


def refusal(path: str, *, windows: bool = False) -> str | None:
    """Return in words why a relative path with slashes must not be written; None when it may be.

    With `windows` the answer is the same on every system and in every locale, and what it allows is allowed by all.
    """
    if not path:
        return "it is empty"
    if any(character < " " or character == "\x7f" for character in path):
        return "it has a control character"
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        return "it does not begin in the directory"
    for name in path.split("/"):
        found = _name_refusal(name, windows=windows)
        if found is not None:
            return found
    return None


def _name_refusal(name: str, *, windows: bool) -> str | None:
    if name in ("", "."):
        return "it is not in its plain form"
    try:
        size = len(name.encode() if windows else os.fsencode(name))
    except UnicodeError:
        return "it has a character that no file name can have"
    if size > LONGEST_NAME:
        return f"a name in it is longer than {LONGEST_NAME} bytes"
    for part in name.split("\\"):  # what is one name here may be a path where it is restored next
        if _bare(part) in ("..", ""):
            return "it leads out of the directory" if part.startswith("..") else "it has a name of dots or spaces alone"
        private = _private(part)
        if private is not None:
            return f"'{private}' is not for restoring"
    if windows:
        if any(character in '<>:"|?*\\' for character in name):
            return "it has a character that Windows does not allow"
        if name[-1] in ". ":
            return "a name in it ends in a dot or a space"
        if _DEVICE.fullmatch(name):
            return "Windows has a device of that name"
    return None


def _bare(part: str) -> str:
    """Return a name without what Windows drops at its end; dots alone stay `..`, fewer nothing."""
    bare = part.rstrip(". ")
    return bare if bare else ".." if part.startswith("..") else ""


def _private(part: str) -> str | None:
    """Return the directory of git or pivcs that some file system takes a name for."""
    seen = unicodedata.normalize("NFC", without_passed_over(part)).casefold().split(":")[0].rstrip(". ")
    return next((name for name, short in _PRIVATE.items() if seen in (name, short)), None)


def without_passed_over(name: str) -> str:
    """Return a name without the characters that HFS+ ignores."""
    return _PASSED_OVER.sub("", name)


def folded(path: str) -> str:
    """Return a path as a file system compares it that ignores case and the form of accents."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def clashes(paths: Iterable[str]) -> dict[str, str]:
    """Return each path that another one takes the place of where case does not count, with that other path.

    Directories count: `Lib/a` and `lib/b` would end in the same one.
    """
    spelled: dict[str, tuple[str, str]] = {}
    found: dict[str, str] = {}
    for path in sorted(set(paths)):
        at = path.find("/")
        while True:
            name = path if at < 0 else path[:at]
            first, owner = spelled.setdefault(folded(name), (name, path))
            if first != name:
                found[path] = owner
                found.setdefault(owner, path)
                break
            if at < 0:
                break
            at = path.find("/", at + 1)
    return found
