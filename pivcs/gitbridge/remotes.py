"""Which other repository `push` and `fetch` mean: a remote of the repository, an address, or a path; else what the
configuration says.

A remote has one component of refs below `refs/pivcs-remotes/`: that of its name, or of its address without whatever
could be a secret in it. No name of a remote has a colon or begins with a slash, as every address does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from pivcs.errors import InputError, StateError
from pivcs.gitbridge.process import Git, GitFailed
from pivcs.gitbridge.ref_names import encode_component
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.stream_finding import FETCHED

SETTING: Final = "pivcs.remote"
"""The setting of git that names the remote of sessions, or has its address."""
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/:]+:(?!//)")
_USER: Final = re.compile(r"(?<=://)[^/\s'\"]*@")
_HEAD: Final = "ref: refs/heads/"


class NoRemote(StateError):
    """Nothing says which other repository is meant."""


class NoSuchRemote(InputError):
    """What was named is no remote of the repository, no address, and no directory."""


class Remote(NamedTuple):
    """Another repository. `name` is what the configuration calls it, None for an address; `address` is where it is,
    with credentials if it has any; `shown` is what people, the store and refs may see."""

    name: str | None
    address: str
    shown: str

    @property
    def prefix(self) -> str:
        """Where its refs are kept here, with a slash at the end."""
        return f"{FETCHED}{encode_component(self.name if self.name is not None else self.shown)}/"


def find_remote(repository: Repository, given: str | None, here: str, git: Git | None) -> Remote:
    """Return the remote that a text names, or for None the one that is configured.

    That is the setting `pivcs.remote`, else the remote of the current branch, else `origin`, else the only one. A
    relative path starts at `here`, one of the configuration at the top of the repository. Raises `NoRemote`,
    `NoSuchRemote`, `GitFailed`.
    """
    settings = read_settings(repository, git)
    remotes = {name.removeprefix("remote.").removesuffix(".url"): value for name, value in settings.items()
               if name.startswith("remote.") and name.endswith(".url")}  # fmt: skip
    top = str(repository.root or repository.common_dir)
    if given is not None:
        return _named(given, remotes, here, top)
    if settings.get(SETTING):
        return _named(settings[SETTING], remotes, top, top)
    upstream = settings.get(f"branch.{_current_branch(repository)}.remote", "")
    for name in (upstream, "origin", *(remotes if len(remotes) == 1 else ())):
        if name in remotes:
            return _named(name, remotes, top, top)
    if upstream not in ("", "."):
        return _named(upstream, remotes, top, top)
    which = f"there are {len(remotes)} remotes, and none is the default" if remotes else "the repository has no remote"
    raise NoRemote(
        which, hint=f"name one, or an address: `pivcs push REMOTE`, or `git config {SETTING} REMOTE` for good"
    )


def _named(text: str, remotes: Mapping[str, str], here: str, top: str) -> Remote:
    if text in remotes:
        address = remotes[text]
        return Remote(text, address if _is_address(address) else os.path.join(top, address), text)
    if text.startswith("-") or not text or "::" in text.split("/", 1)[0] or not text.isprintable():
        raise NoSuchRemote(f"'{text}' is neither a remote nor an address that can be used")
    if not _is_address(text):
        path = os.path.abspath(os.path.join(here, text))
        if not os.path.isdir(path):
            known = ", ".join(sorted(remotes)) or "none"
            raise NoSuchRemote(f"there is no remote, and no directory, '{text}'", hint=f"remotes: {known}")
        return Remote(None, path, path)
    shown = shown_address(text)
    return Remote(None, text, shown)


def _is_address(text: str) -> bool:
    return _ADDRESS.match(text) is not None


def shown_address(address: str) -> str:
    """Return an address without user, password, query and fragment, as text; the path itself for a `file://` address.

    The user of ssh stays: it says whose repository is meant, and is no secret.
    """
    text = os.fsencode(address).decode("utf-8", "backslashreplace")
    if "://" not in text:
        return text
    parts = urlsplit(text)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return unquote(parts.path)
    user, at, host = parts.netloc.rpartition("@")
    keep = user.partition(":")[0] + at if parts.scheme in ("ssh", "git+ssh", "ssh+git") else ""
    return parts._replace(netloc=keep + host, query="", fragment="").geturl()


def without_credentials(text: str, remote: Remote) -> str:
    """Return a message without the credentials that an address in it may have."""
    return _USER.sub("", text.replace(remote.address, shown_address(remote.address)))


def read_settings(repository: Repository, git: Git | None) -> dict[str, str]:
    """Return git's configuration as seen from a repository, the last value of each name; without git by dulwich.

    Sections and keys are in lower case. Raises `GitFailed`.
    """
    if git is None:
        return _read_by_dulwich(repository)
    try:
        out = git.run("config", "--null", "--list", cwd=repository.root or repository.git_dir)
    except GitFailed as error:
        if error.code == 1:
            return {}
        raise
    found = {}
    for each in out.split(b"\0"):
        name, _, value = each.partition(b"\n")
        found[os.fsdecode(name)] = os.fsdecode(value)
    return found


def _read_by_dulwich(repository: Repository) -> dict[str, str]:
    from dulwich.config import ConfigFile, StackedConfig

    files = [ConfigFile.from_path(str(repository.common_dir / "config")), *StackedConfig.default_backends()]
    found: dict[str, str] = {}
    for file in reversed(files):
        for section in file.sections():
            parts = [os.fsdecode(part) for part in section]
            prefix = ".".join([parts[0].lower(), *parts[1:]])
            for name, value in file.items(section):
                found[f"{prefix}.{os.fsdecode(name).lower()}"] = os.fsdecode(value)
    return found


def _current_branch(repository: Repository) -> str:
    try:
        text = os.fsdecode((repository.git_dir / "HEAD").read_bytes()[:4096]).rstrip("\n")
    except OSError:
        return ""
    return text.removeprefix(_HEAD) if text.startswith(_HEAD) else ""
