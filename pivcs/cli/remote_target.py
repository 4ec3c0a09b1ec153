"""Which other repository a command means, and the way to it."""

from __future__ import annotations

import os
from typing import NamedTuple

from pivcs.cli.target import current_directory
from pivcs.gitbridge.process import Git, GitNotFound
from pivcs.gitbridge.remotes import Remote, find_remote
from pivcs.gitbridge.repository import Repository, find_repository
from pivcs.gitbridge.transport import Transport, transport_to


class Target(NamedTuple):
    """The repository that the current directory is in, one of its remotes, and the way there."""

    repository: Repository
    remote: Remote
    transport: Transport


def remote_target(given: str | None) -> Target:
    """Return what a command line names as remote, or what is configured.

    Raises `NoRepository`, `NoRemote`, `NoSuchRemote`, `GitFailed`.
    """
    here = current_directory()
    repository = find_repository(here)
    try:
        git: Git | None = Git.find(os.environ)
    except GitNotFound:
        git = None
    ssh = os.environ.get("GIT_SSH_COMMAND") or os.environ.get("GIT_SSH")
    remote = find_remote(repository, given, here, git)
    return Target(repository, remote, transport_to(remote, repository, git, ssh))
