"""Refs below one prefix of a repository: read, and changed with the values that they had before.

A ref that is not as it was expected, because another process or a person moved it, is left and told. No log is written
and no hook is run; what is checked out, the index and the configuration are never looked at. Refs are those of the
common directory, so all worktrees of a repository have the same.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import StateError, UnsupportedFormat
from pivcs.gitbridge.repository import Repository, uses_reftable
from pivcs.gitbridge.sharing import share, sharing_of

if TYPE_CHECKING:
    from dulwich.objects import ObjectID
    from dulwich.refs import DiskRefsContainer, Ref

_NONE: Final = b"0" * 40
_DIGITS: Final = frozenset(b"0123456789abcdef")
_TRIES: Final = 5
_WAITS: Final = 100
_WAIT: Final = 0.02
"""Seconds between looking whether another process still holds a lock."""


class OtherRefs(UnsupportedFormat):
    """A repository whose refs are not in files."""

    def __init__(self, repository: Repository) -> None:
        super().__init__(
            f"the refs of '{repository.common_dir}' are in a reftable",
            hint="only repositories with refs in files can be used: `git refs migrate --ref-format=files`",
        )


class RefsNotWritten(StateError):
    """The system refuses to write a ref, or another process does not let go of it."""


class RefUpdate(NamedTuple):
    """A ref, the commit that it is believed to name (20 bytes; None: it is not there), and what it is to name from now
    on (None: it goes)."""

    name: str
    old: bytes | None
    new: bytes | None


class RefOutcome(NamedTuple):
    """What became of a ref: `new`, `moved`, `removed`, `same`, or `refused` because it was not as expected."""

    name: str
    outcome: str
    old: bytes | None
    new: bytes | None


def read_refs(repository: Repository, prefix: str) -> dict[str, bytes]:
    """Return the refs below a prefix (with a slash at its end) and the ids that they name, by name.

    Symbolic refs and what is no id are left out. Raises `OtherRefs`.
    """
    container = _container(repository)
    loose: dict[bytes, bytes] = {}
    for rest in container.subkeys(prefix.rstrip("/").encode()):  # type: ignore[arg-type]
        name = prefix.encode() + rest
        value = container.read_loose_ref(name)  # type: ignore[arg-type]
        if value is not None:
            loose[name] = value
    # The packed ones last: whoever packs refs meanwhile writes them there before it removes the loose ones.
    packed = container.get_packed_refs()
    values: dict[bytes, bytes] = {name: packed[name] for name in packed if name.startswith(prefix.encode())}
    found = {}
    for name, value in (values | loose).items():
        if len(value) == 40 and _DIGITS.issuperset(value):
            found[name.decode("utf-8", "surrogateescape")] = bytes.fromhex(value.decode())
    return dict(sorted(found.items()))


def read_ref(repository: Repository, name: str) -> bytes | None:
    """Return the id that a ref names now; None when it is not there or names none. Raises `OtherRefs`."""
    container = _container(repository)
    value = container.read_loose_ref(os.fsencode(name))  # type: ignore[arg-type]
    if value is None:
        value = container.get_packed_refs().get(os.fsencode(name))  # type: ignore[call-overload]
    is_id = value is not None and len(value) == 40 and _DIGITS.issuperset(value)
    return bytes.fromhex(value.decode()) if is_id else None


def update_refs(repository: Repository, updates: Iterable[RefUpdate]) -> list[RefOutcome]:
    """Change refs, each compared and set under its lock; one that is not as expected is `refused`.

    What they are to name must be in the repository. A lock of another process is waited for, two seconds at most.
    Raises `OtherRefs`, `RefsNotWritten`.
    """
    container = _container(repository)
    sharing = sharing_of(repository.common_dir)
    done = []
    for each in updates:
        done.append(RefOutcome(each.name, _changed(container, each), each.old, each.new))
        path = repository.common_dir / each.name
        above = len(each.name.split("/")) - 1  # `refs` is the last of these; it is there already
        share(sharing, (path, *list(path.parents)[: above - 1]))
    return done


def _changed(container: DiskRefsContainer, update: RefUpdate) -> str:
    from dulwich.file import FileLocked

    if update.old == update.new:
        return "same"
    name = os.fsencode(update.name)
    waits, tries = _WAITS, _TRIES
    while True:
        loose = container.read_loose_ref(name)  # type: ignore[arg-type]
        if loose is not None and loose.startswith(b"ref:"):
            return "refused"  # what it leads to is somebody's branch
        try:
            if _is_set(container, name, _hex(update.old), update.new):
                return "new" if update.old is None else "removed" if update.new is None else "moved"
            return "refused"
        except FileLocked as error:
            waits -= 1
            if not waits:
                raise RefsNotWritten(
                    f"cannot write the ref '{update.name}': another process holds it",
                    hint=f"if none is running, remove '{os.fsdecode(error.lockfilename)}'",
                ) from error
            time.sleep(_WAIT)
        except FileNotFoundError as error:  # git has just removed the empty directory
            tries -= 1
            if not tries:
                raise _not_written(update.name, error) from error
        except (NotADirectoryError, IsADirectoryError):
            return "refused"  # a ref has the name of a directory that this one needs, or the other way round
        except OSError as error:
            raise _not_written(update.name, error) from error


def _is_set(container: DiskRefsContainer, name: bytes, old: bytes, new: bytes | None) -> bool:
    if new is None:
        return container.remove_if_equals(name, old)  # type: ignore[arg-type]
    return container.set_if_equals(name, old, _hex(new))  # type: ignore[arg-type]


def _hex(ident: bytes | None) -> bytes:
    return ident.hex().encode() if ident is not None else _NONE


def _not_written(name: str, error: OSError) -> RefsNotWritten:
    return RefsNotWritten(f"cannot write the ref '{name}': {(error.strerror or str(error)).lower()}")


def _container(repository: Repository) -> DiskRefsContainer:
    if uses_reftable(repository):
        raise OtherRefs(repository)
    from dulwich.refs import DiskRefsContainer

    class Refs(DiskRefsContainer):
        """With an empty file of packed refs, as a loss of power leaves it, taken for none, as git does."""

        def get_packed_refs(self) -> dict[Ref, ObjectID]:
            try:
                return super().get_packed_refs()
            except StopIteration:
                return {}

    return Refs(os.fsencode(repository.common_dir))
