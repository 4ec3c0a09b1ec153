"""dulwich as transport, where there is no `git` program: directories, `git://`, ssh and http(s)."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pivcs.gitbridge.ref_names import ROOT
from pivcs.gitbridge.refs_update import RefOutcome, RefUpdate, read_refs, update_refs
from pivcs.gitbridge.remotes import Remote, without_credentials
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.transport import NotKept, TransportFailed, check_directory, other_hash, outcome_of

_NONE: Final = b"0" * 40
_WAITS: Final = 50
_WAIT: Final = 0.05
"""Seconds between asking again while another process holds a file of a repository in a directory."""
_MODES: Final = frozenset((stat.S_IFREG, stat.S_IFDIR))
_NO_ROOM: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EROFS))


class DulwichTransport:
    """The way to a remote through dulwich."""

    def __init__(self, remote: Remote, repository: Repository, ssh_command: str | None = None) -> None:
        self._remote = remote
        self._ssh_command = ssh_command
        self._repository = repository

    def refs(self) -> dict[str, bytes]:
        """See `Transport`."""
        check_directory(self._remote)
        found = self._ask("pull", lambda client, path: client.get_refs(path, ref_prefix=[ROOT.encode()]))
        if found.object_format not in (None, "sha1"):
            raise other_hash(self._remote)
        return _ours(found.refs)

    def fetch(self, wanted: Mapping[str, str]) -> None:
        """See `Transport`."""
        if not wanted:
            return
        from dulwich.object_store import ObjectStoreGraphWalker

        idents: dict[str, bytes] = {}
        with self._repository.objects() as objects:

            def wants(refs: Mapping[Any, Any], depth: int | None = None) -> list[Any]:
                theirs = _ours(refs)
                idents.update({name: theirs[name] for name in wanted if name in theirs})
                return [each for each in map(_hex, set(idents.values())) if not is_whole(objects, each)]

            def receive(client: Any, path: bytes) -> None:
                known = [each for each in map(_hex, self._known()) if each in objects]
                walker = ObjectStoreGraphWalker(known, lambda _: [])
                file, commit, abort = objects.add_pack()
                try:
                    client.fetch_pack(path, wants, walker, file.write, ref_prefix=[ROOT.encode()])
                except BaseException:
                    abort()
                    raise
                commit()

            self._ask("pull", receive)
            missing = [name for name in wanted if name not in idents or not is_whole(objects, _hex(idents[name]))]
        if missing:
            raise TransportFailed(f"'{self._remote.shown}' did not send what its ref '{missing[0]}' names")
        here = {name: value for prefix in _prefixes(wanted.values())
                for name, value in read_refs(self._repository, prefix).items()}  # fmt: skip
        update_refs(
            self._repository, [RefUpdate(ours, here.get(ours), idents[theirs]) for theirs, ours in wanted.items()]
        )

    def push(self, updates: Sequence[RefUpdate]) -> list[RefOutcome]:
        """See `Transport`."""
        if not updates:
            return []
        sent: list[RefUpdate] = []
        tried: set[str] = set()
        done: set[str] = set()
        with self._repository.objects() as objects:

            def changes(refs: Mapping[Any, Any]) -> dict[Any, Any]:
                theirs = _ours(refs)
                # Asked again after another process was in the way: what was set by then is no news.
                done.update(each.name for each in updates if each.name in tried and theirs.get(each.name) == each.new)
                sent[:] = [each for each in updates if theirs.get(each.name) == each.old]
                tried.update(each.name for each in sent)
                return {os.fsencode(each.name): _hex(each.new) if each.new else _NONE for each in sent}

            def pack(have: set[Any], want: set[Any], **options: Any) -> Any:
                # Only what belongs to sessions: to walk all history of the project would tell nothing.
                known = {_hex(each) for each in self._known()}
                return objects.generate_pack_data({each for each in have & known if each in objects}, want, **options)

            result = self._ask("push", lambda client, path: client.send_pack(path, changes, pack))
        refused = {name for name, error in (result.ref_status or {}).items() if error is not None}
        done.update(each.name for each in sent if os.fsencode(each.name) not in refused)
        return [outcome_of(each, done=each.name in done) for each in updates]

    def _known(self) -> set[bytes]:
        """Return what refs of sessions name here: the other side need not send it, nor be sent what it has of it."""
        return set(read_refs(self._repository, ROOT).values()) | set(
            read_refs(self._repository, "refs/pivcs-remotes/").values()
        )

    def _ask(self, operation: str, question: Callable[[Any, bytes], Any]) -> Any:
        """Return what a question to a client and the path for it answers; what it raises, which has no common root, is
        `TransportFailed`. It is asked again while another process holds a file that it needs."""
        from dulwich.file import FileLocked

        for _ in range(_WAITS):
            try:
                return self._ask_once(operation, question)
            except FileLocked as error:
                held = os.fsdecode(error.lockfilename)
            time.sleep(_WAIT)
        raise TransportFailed(
            f"'{self._remote.shown}' or this repository is in use: another process holds '{held}'",
            hint="if none is running, remove that file",
        )

    def _ask_once(self, operation: str, question: Callable[[Any, bytes], Any]) -> Any:
        from dulwich.client import get_transport_and_path
        from dulwich.file import FileLocked
        from dulwich.repo import Repo

        try:
            with Repo(str(self._repository.common_dir)) as opened:
                config = opened.get_config_stack()
            client, path = get_transport_and_path(
                self._remote.address, config=config, operation=operation, quiet=True, ssh_command=self._ssh_command
            )
            try:
                return question(client, os.fsencode(path))
            finally:
                client.close()
        except FileLocked:
            raise
        except Exception as error:
            reason = without_credentials(str(error).strip() or type(error).__name__, self._remote)
            no_room = isinstance(error, OSError) and error.errno in _NO_ROOM
        # Outside of the handler: what was raised, with the address in it, must not hang on as the cause.
        if no_room:
            raise NotKept(f"cannot keep what '{self._remote.shown}' sends: {reason}")
        raise TransportFailed(f"cannot reach '{self._remote.shown}': {reason}")


def _ours(refs: Mapping[Any, Any]) -> dict[str, bytes]:
    root = ROOT.encode()
    return {
        os.fsdecode(name): bytes.fromhex(ident.decode("ascii"))
        for name, ident in refs.items()
        if name.startswith(root) and ident is not None and ident != _NONE
    }


def is_whole(objects: Any, commit: Any) -> bool:
    """Whether a commit of a stream or of names, which has no parents, is here with all that it names.

    Trees are read; what a pack has when it arrives is named by its bytes, so to be there is enough for blobs.
    """
    try:
        waiting = [objects[commit].tree]
        seen = set(waiting)
        while waiting:
            for name, mode, ident in objects[waiting.pop()].iteritems():
                if not name or stat.S_IFMT(mode) not in _MODES or ident not in objects:
                    return False
                if stat.S_ISDIR(mode) and ident not in seen:
                    seen.add(ident)
                    waiting.append(ident)
    except Exception:  # dulwich has no common root for what damaged bytes cause
        return False
    return True


def _hex(ident: bytes) -> Any:
    from dulwich.objects import ObjectID

    return ObjectID(ident.hex().encode())


def _prefixes(names: Any) -> set[str]:
    return {name.rpartition("/")[0] + "/" for name in names}
