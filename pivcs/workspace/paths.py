"""Which file a path argument means, told from its text alone: nothing here looks at a disk."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from pivcs.workspace.state import FilePath

_SPACES: Final = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_DRIVE: Final = re.compile(r"[A-Za-z]:(?:[\\/]|\Z)")
_SHELL_DRIVE: Final = re.compile(r"/(?:mnt/|cygdrive/)?([A-Za-z])(/.*)?\Z")
_URL_END: Final = re.compile(r"[?#]")


def is_windows_path(path: str) -> bool:
    """Whether a path begins with a drive or names another computer, as only Windows paths do."""
    return _DRIVE.match(path) is not None or path.startswith("\\\\")


def plain_path(path: str, windows: bool | None = None) -> str:
    """Return a path argument as pi reads it (pi format 17): no `@` in front, no `file://`, ordinary spaces; and with
    slashes where it is a Windows path.

    `windows` says whether the session ran on Windows. None, if nobody knows, takes a path with backslashes and no slash
    for a Windows path.
    """
    path = _SPACES.sub(" ", path).removeprefix("@")
    if path.startswith("file://"):
        path = unquote(_URL_END.split(path.removeprefix("file://"), maxsplit=1)[0], errors="surrogateescape")
        path = path.removeprefix("localhost")
        if _DRIVE.match(path, 1):
            path = path.removeprefix("/")
    if windows and (match := _SHELL_DRIVE.match(path)):
        # Git Bash, MSYS, Cygwin and WSL write drives this way.
        path = f"{match[1].upper()}:{match[2] or '/'}"
    if windows or is_windows_path(path) or (windows is None and "\\" in path and "/" not in path):
        path = path.replace("\\", "/")
    return path


def is_absolute(path: str) -> bool:
    """Whether a plain path says where it begins: at a root, a drive or a home."""
    return path == "~" or path.startswith(("/", "~/")) or _DRIVE.match(path) is not None


@lru_cache(maxsize=4096)
def file_path(argument: str, cwd: str | None, home: str | None = None) -> FilePath:
    """Return the file that a path argument means for a session in `cwd`, as pi would resolve it (pi format 17).

    `..` is taken literally: what symbolic links make of it only a disk knows. Without `cwd` relative paths are taken
    to be inside of it unless they lead out. Without `home` a path that begins with `~` keeps it and is outside.
    """
    plain = plain_path(cwd) if cwd else None
    windows = None if plain is None else is_windows_path(cwd or "") or is_windows_path(plain)
    path = plain_path(argument, windows)
    if home is not None and (path == "~" or path.startswith("~/")):
        path = f"{plain_path(home)}/{path[2:]}"
    if plain is None:
        path = _clean(path)
        return FilePath(path, not is_absolute(path) and path != ".." and not path.startswith("../"))
    base = _clean(plain, windows)
    whole = _clean(path if is_absolute(path) else f"{base.rstrip('/')}/{path}", windows)
    if whole == base:
        return FilePath(".", True)
    above = base.rstrip("/") + "/"
    # Windows does not tell the cases of letters apart; its drive letters occur in both.
    inside = whole.lower().startswith(above.lower()) if windows else whole.startswith(above)
    return FilePath(whole[len(above) :], True) if inside else FilePath(whole, False)


def spellings(path: str, cwd: str | None) -> set[str]:
    """Return the ways to write a file's path: as given, absolute, relative to `cwd`, and the base name."""
    path = posixpath.normpath(plain_path(path)) if path else ""
    base = posixpath.normpath(plain_path(cwd)) if cwd else None
    found = {path, posixpath.basename(path)}
    if base is not None:
        whole = path if path.startswith("~") or is_absolute(path) else posixpath.normpath(f"{base}/{path}")
        found.add(whole)
        if whole.startswith(base.rstrip("/") + "/"):
            found.add(whole[len(base.rstrip("/")) + 1 :])
    return found


def _clean(path: str, windows: bool | None = None) -> str:
    """Return a path without `.`, `..` and doubled slashes; two in front name a computer on Windows, and stay."""
    clean = posixpath.normpath(path)
    return clean if windows or not clean.startswith("//") else clean[1:]
