"""The `git` program as transport: it knows ssh, https, proxies and credentials as its user has set them up."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pivcs.gitbridge.process import Git, GitRemoteFailed
from pivcs.gitbridge.ref_names import ROOT
from pivcs.gitbridge.refs_update import RefOutcome, RefsNotWritten, RefUpdate
from pivcs.gitbridge.remotes import Remote, without_credentials
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.transport import NotKept, TransportFailed, check_directory, other_hash, outcome_of

_AT_ONCE: Final = 1000
"""Refs in one push: they are arguments, and systems limit how long these may be together."""
_DONE: Final = frozenset(" +-*=")
"""What the first column of a pushed ref has when it is as was wanted."""
_OTHER_DIGITS: Final = 64
_OTHER_HASH: Final = ("repository's hash algorithm", "mismatched algorithms", "mismatched object format")
"""What git says when ids of another kind meet; no refs have told it before where there are none."""
_HELD: Final = ("cannot lock ref", "some local refs could not be updated")
"""What git says when another process sets the same refs of this repository."""
_NO_ROOM: Final = ("No space left on device", "Disk quota exceeded", "Read-only file system",
                   "insufficient permission for adding an object")  # fmt: skip
_WAITS: Final = 20
_WAIT: Final = 0.1
"""Seconds between asking again while another process holds refs."""


class _RefsHeld(TransportFailed):
    """Another process holds refs of this repository, or has just set them."""


class GitTransport:
    """The way to a remote through the `git` program."""

    def __init__(self, remote: Remote, repository: Repository, git: Git) -> None:
        self._remote = remote
        self._repository = repository
        self._git = git
        self._place = remote.name if remote.name is not None else remote.address
        self._settings = ["core.logAllRefUpdates=false", "fetch.writeCommitGraph=false"]
        if remote.name is not None:
            self._settings += [f"remote.{remote.name}.mirror=false", f"remote.{remote.name}.followRemoteHEAD=never"]

    def refs(self) -> dict[str, bytes]:
        """See `Transport`."""
        check_directory(self._remote)
        # No pattern: git asks for all refs anyway, and ids of branches, too, tell what kind they are of.
        out = self._run(["ls-remote", "--quiet", "--refs", "--", self._place])
        found = {}
        for line in out.splitlines():
            ident, tab, name = line.partition(b"\t")
            if tab and len(ident) == _OTHER_DIGITS:
                raise other_hash(self._remote)
            if tab and name.startswith(ROOT.encode()) and len(ident) == 40:
                found[os.fsdecode(name)] = bytes.fromhex(ident.decode("ascii"))
        return found

    def fetch(self, wanted: Mapping[str, str]) -> None:
        """See `Transport`."""
        if not wanted:
            return
        for _ in range(_WAITS):
            try:
                self._fetch(wanted)
                return
            except _RefsHeld as error:
                message, hint = error.message, error.hint
            time.sleep(_WAIT)
        raise RefsNotWritten(message, hint=hint)

    def _fetch(self, wanted: Mapping[str, str]) -> None:
        # No filter: a partial clone would leave out what the sessions say. No refmap: no other ref is set on the way.
        # No pruning: with refspecs from the standard input git would remove tags if it is set up to.
        self._run(
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-filter",
             "--no-prune", "--no-prune-tags", "--refmap=", "--stdin", "--", self._place],
            "".join(f"+{theirs}:{ours}\n" for theirs, ours in wanted.items()),
        )  # fmt: skip

    def push(self, updates: Sequence[RefUpdate]) -> list[RefOutcome]:
        """See `Transport`."""
        outcomes = []
        for first in range(0, len(updates), _AT_ONCE):
            outcomes += self._push(updates[first : first + _AT_ONCE])
        return outcomes

    def _push(self, updates: Sequence[RefUpdate]) -> list[RefOutcome]:
        leases = [f"--force-with-lease={each.name}:{each.old.hex() if each.old else ''}" for each in updates]
        specs = [f"{each.new.hex() if each.new else ''}:{each.name}" for each in updates]
        out = self._run(
            ["push", "--porcelain", "--no-progress", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
             *leases, "--", self._place, *specs], ok=(0, 1),
        )  # fmt: skip
        said: dict[str, str] = {}
        for line in out.splitlines():
            flag, tab, rest = os.fsdecode(line).partition("\t")
            if tab:
                said[rest.partition("\t")[0].rpartition(":")[2]] = flag
        if not said:
            raise TransportFailed(f"git push to '{self._remote.shown}' failed: it did not say what became of the refs")
        return [outcome_of(each, done=said.get(each.name, "!") in _DONE) for each in updates]

    def _run(self, arguments: list[str], stdin: str = "", ok: Sequence[int] = (0,)) -> bytes:
        where = self._repository
        try:
            return self._git.run(
                *arguments, cwd=_real(where), git_dir=where.git_dir, stdin=os.fsencode(stdin), transport=True,
                settings=self._settings, ok=ok,
            )  # fmt: skip
        except GitRemoteFailed as error:
            if any(each in error.said for each in _OTHER_HASH):
                raise other_hash(self._remote) from None
            kind: type[TransportFailed | NotKept] = TransportFailed
            here = "\n".join(line for line in error.said.splitlines() if not line.startswith("remote:"))
            if arguments[0] == "fetch" and any(each in here for each in _HELD):
                kind = _RefsHeld
            elif arguments[0] == "fetch" and any(each in here for each in _NO_ROOM):
                kind = NotKept
            message = without_credentials(error.message, self._remote)
            hint = error.hint
            if "terminal prompts disabled" in error.said or "Permission denied" in error.said:
                hint = "nothing is asked here: git needs a credential helper, or ssh an agent, that knows the answer"
        # Outside of the handler: what git said, with the address in it, must not hang on as the cause.
        raise kind(message, hint=hint)


def _real(repository: Repository) -> Path:
    return repository.root or repository.common_dir
