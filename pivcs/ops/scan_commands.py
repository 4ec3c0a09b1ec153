"""Passwords that commands get as arguments, and those of a `.netrc`: no name that means a secret stands before them."""

from __future__ import annotations

import re
from typing import Final

from pivcs.ops.scan_rules import spaced
from pivcs.ops.scan_values import Assigned, is_secret_value, is_varied

LONGEST: Final = 1024
"""Characters of a command, or of what a `.netrc` says of a host, that are looked at."""

_ENTROPY: Final = 2.5

# What stands between the command and the option, in lines that are continued, too.
_ARGUMENTS = r"(?:[^\n]|\\\r?\n){0,600}?\s"
# In a JSON text in a text quotes are escaped.
_QUOTED = r"""\\{0,3}(?P<quote>["'])%s(?P<quoted>[^\s"'\\]{8,200})\\{0,3}(?P=quote)"""
_BARE = r"""%s\\{0,3}["']?(?P<bare>[^\s"'`\\;|&()<>]{8,200})"""


def _pattern(before: str, user: str = "") -> re.Pattern[str]:
    return re.compile(f"{before}(?:{_QUOTED % user}|{_BARE % user})", re.IGNORECASE)


_DATABASE = _pattern(rf"(?:mysql|mariadb)[a-z_-]{{0,12}}{_ARGUMENTS}(?-i:-p)")

_PATTERNS: Final = {
    "curl": _pattern(
        rf"curl{_ARGUMENTS}(?:-[a-z]{{0,8}}u[ \t]+|-u|--(?:proxy-)?user[ \t=]+)", r"""[^\s:"'\\]{1,100}:"""
    ),
    "mysql": _DATABASE,
    "mariadb": _DATABASE,
    "sshpass": _pattern(r"sshpass(?:\s+-[ve])*\s+-p\s*"),
    "redis-cli": _pattern(rf"redis-cli{_ARGUMENTS}(?:-a|--pass)\s+"),
    "machine": _pattern(r"machine\s*\S{1,253}(?:\s+(?:login|account|port)\s+\S{1,200}){0,3}\s+password\s+"),
    "default login": _pattern(r"default\s+login\s+\S{1,200}(?:\s+account\s+\S{1,200})?\s+password\s+"),
}

COMMANDS: Final = tuple(_PATTERNS)
"""One of these, in lower case, is in each text that has such a password."""


def given_at(text: str, command: str, at: int, end: int) -> Assigned | None:
    """Return the password that the command gets which begins at `at`; None when it gets none."""
    found = _PATTERNS[command].match(spaced(text[at : min(end, at + LONGEST)]))
    if found is None:
        return None
    group = "quoted" if found["quoted"] is not None else "bare"
    value = found[group] if group == "quoted" else found[group].rstrip(".:!?")
    if not is_secret_value(value, "password") or not is_varied(value, _ENTROPY):
        return None
    return Assigned(at + found.start(group), at + found.start(group) + len(value), value)
