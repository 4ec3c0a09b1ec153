"""The commit that was checked out when a session began, as the log of HEAD tells it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pivcs.gitbridge.base import commit_time
from pivcs.gitbridge.repository import NoRepository, OtherHash, Repository, find_repository, uses_reftable

_LINE: Final = re.compile(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t\n]*?(-?[0-9]+) [+-][0-9]+(?:\t|$)")
_NONE: Final = re.compile(r"0+")


class Moved(NamedTuple):
    """One line of the log of HEAD: the ids before and after, and when, in seconds since 1970."""

    old: str
    new: str
    time: int


class Began(NamedTuple):
    """What was checked out when a session began: `commit` with its `repository`, or None; `reason` says in either case
    how it is known, or why not."""

    repository: Repository | None
    commit: str | None
    reason: str


def checked_out_at(cwd: str | None, began: int | None) -> Began:
    """Return the commit that was checked out in the repository of a directory at a time in milliseconds since 1970.

    As git's `HEAD@{time}`, it is the latest line of the log of HEAD (of the worktree that the directory is in) that is
    not younger, whole seconds counting; the log has times since 1970, so that no time zone matters. Before the first
    line of a log it is the commit that this line started from, if there was one and it is not younger itself: older
    lines have expired then.
    """
    if not cwd:
        return Began(None, None, "the session's header has no working directory")
    if began is None:
        return Began(None, None, "the session's header does not say when it began")
    try:
        repository = find_repository(cwd)
    except NoRepository as error:
        return Began(None, None, error.message)
    if uses_reftable(repository):
        return Began(repository, None, "the log of HEAD is in a reftable, which cannot be read")
    moves = head_log(repository)
    if not moves:
        return Began(repository, None, "the repository has no log of HEAD")
    second = began // 1000
    found = next((move for move in reversed(moves) if move.time <= second), None)
    commit = moves[0].old if found is None else found.new
    if _NONE.fullmatch(commit):
        return Began(repository, None, "nothing was checked out yet when the session began")
    try:
        made = commit_time(repository, commit)
    except OtherHash as error:
        return Began(repository, None, error.message)
    if made is None:
        return Began(repository, None, f"commit {commit[:8]} of that time is not in the repository any more")
    if found is not None:
        return Began(repository, commit, "checked out when the session began, by the log of HEAD")
    if made // 1000 > second:
        return Began(repository, None, "the log of HEAD does not go back to when the session began")
    return Began(repository, commit, "the oldest that the log of HEAD knows; the session began before it")


def head_log(repository: Repository) -> list[Moved]:
    """Return the log of HEAD, oldest first; lines that are no such lines are left out."""
    try:
        data = (repository.git_dir / "logs" / "HEAD").read_bytes()
    except OSError:
        return []
    found = map(_LINE.match, data.split(b"\n"))
    return [Moved(each[1].decode(), each[2].decode(), int(each[3])) for each in found if each is not None]
