"""Where pi keeps its session files, and how it names them (pi format 1).

Nothing here reads the environment or looks at the file system, except `read_session_dir_setting`: environment, home and
working directory are passed in. Paths are texts, because pi's rules are about text.
"""

from __future__ import annotations

import errno
import json
import ntpath
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

AGENT_DIR_VARIABLE = "PI_CODING_AGENT_DIR"
SESSION_DIR_VARIABLE = "PI_CODING_AGENT_SESSION_DIR"

CANNOT_EXIST: Final = (errno.ENOENT, errno.ENAMETOOLONG)
"""Errors of a directory that is not there: the names of those for long working directories cannot even exist."""

_SESSION_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_DRIVE = re.compile(r"/(?:mnt/|cygdrive/)?(?P<drive>[A-Za-z])(?P<rest>/.*)?", re.DOTALL)


class Surroundings(NamedTuple):
    """What pi's paths depend on: environment variables, the home directory, the current directory, and the system."""

    environ: Mapping[str, str]
    home: str
    cwd: str
    windows: bool = False

    @property
    def agent_dir(self) -> str:
        """pi's agent directory; a leading `~` of the variable is expanded."""
        given = self.environ.get(AGENT_DIR_VARIABLE)
        return expand_home(given, self.home) if given else self._join(self.home, ".pi", "agent")

    @property
    def sessions_root(self) -> str:
        """The directory that has one directory per working directory."""
        return self._join(self.agent_dir, "sessions")

    def project_dir(self, cwd: str | None = None) -> str:
        """Return the default directory for the sessions of a working directory (the current one if not given)."""
        return self._join(self.sessions_root, encode_cwd(self.absolute(self.cwd if cwd is None else cwd)))

    def session_dir(
        self, *, option: str | None = None, setting: str | None = None, cwd: str | None = None
    ) -> SessionDir:
        """Return where pi 1.6 keeps the sessions of a working directory.

        `option` is what `--session-dir` says, `setting` the `sessionDir` of the settings. The first of option,
        environment variable and setting that is not empty is used as is; relative paths start at the current directory.
        """
        explicit = option or self.environ.get(SESSION_DIR_VARIABLE) or setting
        if explicit:
            path = self.absolute(explicit)
            return SessionDir(path, by_cwd=path != self.absolute(self.project_dir(cwd)))
        return SessionDir(self.project_dir(cwd), by_cwd=False)

    def absolute(self, path: str) -> str:
        """Return a path made absolute and normal as pi does it: `~`, `file://` and dots go, symbolic links stay."""
        if path.startswith("file://"):
            path = _path_of_url(path, windows=self.windows)
        path = expand_home(path, self.home)
        if self.windows:
            drive = _DRIVE.fullmatch(path)
            if drive is not None:
                path = f"{drive['drive'].upper()}:{drive['rest'] or '/'}"
            return ntpath.normpath(ntpath.join(self.cwd, path))
        path = posixpath.normpath(posixpath.join(self.cwd, path))
        # POSIX lets two leading slashes be special, and Python keeps them; pi's engine does not.
        return "/" + path.lstrip("/") if path.startswith("/") else path

    def _join(self, *parts: str) -> str:
        return ntpath.join(*parts) if self.windows else posixpath.join(*parts)


class SessionDir(NamedTuple):
    """A directory of session files.

    `by_cwd`: it may hold the sessions of many working directories, so only those whose header names the working
    directory belong to it (16.1).
    """

    path: str
    by_cwd: bool


def expand_home(path: str, home: str) -> str:
    """Return a path with a leading `~` (alone or before a slash) replaced by the home directory."""
    if path == "~":
        return home
    return home + path[1:] if path.startswith(("~/", "~\\")) else path


def encode_cwd(cwd: str) -> str:
    """Return the name of the directory for a working directory, which must be absolute and normal (1.2).

    The mapping cannot be inverted, and two working directories can share a name.
    """
    return "--" + re.sub(r"[/\\:]", "-", re.sub(r"\A[/\\]", "", cwd)) + "--"


def session_file_name(timestamp: str, session_id: str) -> str:
    """Return the name of a new session's file from the header's timestamp and id (1.3)."""
    return f"{re.sub(r'[:.]', '-', timestamp)}_{session_id}.jsonl"


def is_session_id(text: str) -> bool:
    """Whether pi accepts an id for a new session; in a header that is read any string will do (1.4)."""
    return _SESSION_ID.fullmatch(text) is not None


def read_session_dir_setting(agent_dir: str | Path) -> str | None:
    """Return the `sessionDir` of `settings.json` in the agent directory.

    None when there is no such file or setting, or when the file cannot be read: a broken settings file is pi's to
    report, and the default place is still the right one to look at.
    """
    try:
        settings = json.loads(Path(agent_dir, "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    value = settings.get("sessionDir") if isinstance(settings, dict) else None
    return value if isinstance(value, str) and value else None


def _path_of_url(url: str, *, windows: bool) -> str:
    parts = urlsplit(url)
    path = unquote(parts.path)
    if not windows:
        return path
    return f"//{parts.netloc}{path}" if parts.netloc else path.lstrip("/")
