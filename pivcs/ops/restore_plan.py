"""What restoring files would do: compares how files were with what is on the disk. Changes nothing.

A file is changed or deleted only when its bytes on the disk are accounted for: the session knows them, as what a tool
left there or found there at some point of the path. Whatever else is there somebody else has made, and it stays unless
that is forced. A file is deleted only when it is known not to have been there and a tool of the session made it.
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from pivcs.errors import InputError
from pivcs.objects.hashing import whole_hash
from pivcs.ops.safe_paths import clashes, refusal
from pivcs.ops.work_tree import Found
from pivcs.workspace.base import Base, BaseFile
from pivcs.workspace.state import FilePath, FileState, Provenance

Action = Literal["create", "change", "mode", "delete", "unchanged", "conflict", "unknown", "outside", "refused"]
ACTIONS: Final[tuple[Action, ...]] = (
    "create", "change", "mode", "delete", "conflict", "unknown", "refused", "outside", "unchanged",
)  # fmt: skip
"""All actions, as they are listed."""
DOING: Final[frozenset[Action]] = frozenset(("create", "change", "mode", "delete"))
"""Actions that change something on the disk."""


class NoFileThere(InputError):
    """A path that was asked for, and nothing is known of any file at it."""


class Disk(Protocol):
    """What is at paths below the directory in which files are restored."""

    def look(self, path: str) -> Found:
        """Return what is at a relative path."""

    def folds_case(self) -> bool:
        """Whether names that differ only by case are the same."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be at a path: a file, a symbolic link (`content` is what it says), or with None nothing.

    `executable` is None when that is not known. A snapshot says it `exactly`: a file that is there gets its mode, too;
    otherwise only a new one does.
    """

    content: bytes | None
    executable: bool | None = None
    symlink: bool = False
    exactly: bool = False

    def mode(self, found: Found, umask: int) -> int | None:
        """Return the mode that the file gets; None for no file."""
        if self.content is None:
            return None
        if self.symlink:
            return stat.S_IFLNK | 0o777
        is_file = found.kind == "file" and found.mode is not None
        permissions = found.mode & 0o777 if is_file and found.mode is not None else 0o666 & ~umask
        if self.executable and (self.exactly or not is_file):
            permissions |= (permissions & 0o444) >> 2
        elif self.executable is False and self.exactly:
            permissions &= ~0o111
        return stat.S_IFREG | permissions


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """What restoring does with one file, and why.

    `state` is what is known of it at the revision; `found` what is on the disk now. For a conflict `forced_action` is
    what --force makes of it. `forced`: it was one.
    """

    path: FilePath
    action: Action
    reason: str = ""
    state: FileState | None = None
    wanted: Wanted | None = None
    found: Found | None = None
    forced_action: Action | None = None
    forced: bool = False

    @property
    def source(self) -> str | None:
        """How the content is known: a provenance, or the label of the base that it comes from."""
        if self.state is None:
            return None
        return self.state.base if self.state.base is not None else self.state.provenance.value


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """What restoring does, file by file, sorted by path. `emptied` are directories that may go when nothing is left in
    them, the deepest first. `snapshot` is the label of the snapshot that is restored."""

    files: tuple[PlannedFile, ...]
    emptied: tuple[str, ...] = ()
    snapshot: str | None = None

    def counts(self) -> dict[Action, int]:
        """Return how many files there are of each action, in the order of `ACTIONS`."""
        found = Counter(file.action for file in self.files)
        return {action: found[action] for action in ACTIONS}

    def to_do(self) -> list[PlannedFile]:
        """Return the files that are changed on the disk."""
        return [file for file in self.files if file.action in DOING]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the session and its bases say, for a plan.

    `target` and `current` are the states at the revision and at the end of the path that the files on the disk come
    from. `seen` has the BLAKE3 digests of all contents that the session knows a file to have had; `created` are files
    that a tool of the session made. `base` is a commit, `snapshot` a whole work tree that is the target where `target`
    says nothing newer. `ignored` are paths that git ignores: neither of the two tells whether such a file was there.
    `read_later` are files of `target` whose state comes from a read further down.
    """

    target: Mapping[FilePath, FileState]
    current: Mapping[FilePath, FileState]
    seen: Mapping[FilePath, Collection[bytes]] = field(default_factory=dict)
    created: Collection[FilePath] = ()
    base: Base | None = None
    snapshot: Base | None = None
    ignored: Collection[str] = ()
    read_later: Collection[FilePath] = ()


def plan_restore(
    knowledge: Knowledge,
    disk: Disk,
    *,
    chosen: Sequence[str] = (),
    force: bool = False,
    last_known: bool = False,
    windows: bool = False,
) -> RestorePlan:
    """Return what restoring does. `chosen` are paths of files or directories below the root, none for all.

    With `last_known` a file whose state is not known gets its last known content. Raises `NoFileThere`.
    """
    plan = _Plan(knowledge, disk, last_known=last_known, windows=windows)
    paths = _chosen(plan.paths(), chosen)
    files = plan.files(paths)
    if force:
        files = [_forced(file) for file in files]
    return RestorePlan(
        tuple(files), _emptied(knowledge, files), knowledge.snapshot.label if knowledge.snapshot is not None else None
    )


def _forced(file: PlannedFile) -> PlannedFile:
    if file.action != "conflict" or file.forced_action is None:
        return file
    return replace(file, action=file.forced_action, forced=True, forced_action=None)


def _chosen(paths: list[FilePath], chosen: Sequence[str]) -> list[FilePath]:
    if not chosen:
        return paths
    kept: set[FilePath] = set()
    for wish in chosen:
        found = [path for path in paths if path.inside and _is_below(path.text, wish)]
        found += [path for path in paths if not path.inside and path.text == wish]
        if not found:
            raise NoFileThere(
                f"nothing is known of a file '{wish}'", hint="`pivcs files` lists what the session knows of"
            )
        kept.update(found)
    return [path for path in paths if path in kept]


def _is_below(path: str, wish: str) -> bool:
    return wish in ("", ".") or path == wish or path.startswith(wish.rstrip("/") + "/")


def _emptied(knowledge: Knowledge, files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """Return the directories of deleted files that were not there either: where a base or a snapshot can tell."""
    whole = knowledge.snapshot if knowledge.snapshot is not None else knowledge.base
    deleted = [file.path.text for file in files if file.action == "delete"]
    if whole is None or not deleted:
        return ()
    stays = {above for path in whole.paths() for above in _above(path)}
    stays |= {
        above
        for file in files
        if file.wanted is not None and file.wanted.content is not None and file.path.inside
        for above in _above(file.path.text)
    }
    going = {above for path in deleted for above in _above(path)} - stays
    return tuple(sorted(going, key=lambda path: (-path.count("/"), path)))


def _above(path: str) -> Iterator[str]:
    """Yield the directories above a relative path."""
    at = path.rfind("/")
    while at > 0:
        path = path[:at]
        yield path
        at = path.rfind("/")


def _digest(content: bytes) -> bytes:
    return whole_hash([content])


class _Plan:
    def __init__(self, knowledge: Knowledge, disk: Disk, *, last_known: bool, windows: bool) -> None:
        self._known = knowledge
        self._disk = disk
        self._last_known = last_known
        self._windows = windows

    def paths(self) -> list[FilePath]:
        """Return all paths that there is something to say of."""
        known = self._known
        found = {*known.target, *known.current, *known.seen, *known.created}
        if known.snapshot is not None:
            found |= {FilePath(path, True) for path in known.snapshot.paths()}
        return sorted(found)

    def files(self, paths: Sequence[FilePath]) -> list[PlannedFile]:
        """Return what becomes of each path."""
        states = {path: self._state(path) for path in paths}
        there = [path.text for path, state in states.items() if path.inside and not _is_absent(state)]
        in_the_way = {above: f"'{path}' needs a directory there" for path in there for above in _above(path)}
        if self._disk.folds_case():
            for path, other in clashes(there).items():
                in_the_way.setdefault(path, f"'{other}' has the same name where case does not count")
        return [
            self._file(path, state, None if _is_absent(state) else in_the_way.get(path.text))
            for path, state in states.items()
        ]

    def _state(self, path: FilePath) -> FileState | None:
        """Return what is known of a file at the revision, from the session or else from a base."""
        state = self._known.target.get(path)
        if state is not None or not path.inside:
            return state
        for base, provenance in ((self._known.snapshot, Provenance.SNAPSHOT), (self._known.base, Provenance.WHOLE)):
            if base is not None:
                file = base.read(path.text)
                content = file.content if file is not None else None
                return FileState(path, provenance, content, known_at=-1, base=base.label)
        return None

    def _file(self, path: FilePath, state: FileState | None, in_the_way: str | None) -> PlannedFile:
        if not path.inside:
            return PlannedFile(path, "outside", "it is outside of the session's working directory", state)
        refused = refusal(path.text, windows=self._windows) or in_the_way
        if refused is not None:
            return PlannedFile(path, "refused", refused, state)
        wanted, why = self._wanted(path, state)
        if wanted is None:
            return PlannedFile(path, "unknown", why, state)
        found = self._disk.look(path.text)
        planned = PlannedFile(path, "unchanged", why, state, wanted, found)
        blocked = _blocked(found, wanted)
        if blocked is not None:
            return replace(planned, action="refused", reason=blocked)
        return self._absent(planned, found) if wanted.content is None else self._present(planned, wanted, found)

    def _wanted(self, path: FilePath, state: FileState | None) -> tuple[Wanted | None, str]:
        """Return what is to be at a path and why; None, and why not, when that is not known."""
        if state is None:
            return None, "nothing is known of it at that point"
        if state.provenance is Provenance.PATCH:
            return None, "only edits of it are known, not what they were made to"
        if path in self._known.read_later:
            return self._of_base(path, state), "as it was read later; nothing that the session did changed it before"
        if not state.is_exact:
            if not (self._last_known and state.content is not None):
                return None, "it may have been changed by something that leaves no trace"
            return self._of_base(path, state), "its last known content"
        return self._of_base(path, state), ""

    def _of_base(self, path: FilePath, state: FileState) -> Wanted:
        """Return a state as what is wanted; whether a file is executable, or a link, only bases know."""
        snapshot, base = self._known.snapshot, self._known.base
        file: BaseFile | None = None
        if state.content is not None:
            file = snapshot.read(path.text) if snapshot is not None else None
            if file is None and base is not None:
                file = base.read(path.text)
        if file is None:
            return Wanted(state.content)
        symlink = file.symlink and file.content == state.content
        exactly = snapshot is not None and state.provenance is Provenance.SNAPSHOT
        return Wanted(state.content, None if symlink or file.symlink else file.executable, symlink, exactly)

    def _absent(self, planned: PlannedFile, found: Found) -> PlannedFile:
        """Plan for a file that is known not to have been there."""
        if found.kind in ("nothing", "directory", "behind-file"):  # no file can be there
            return planned
        path = planned.path
        if path not in self._known.created:
            return replace(planned, action="unknown", reason="it was not there, but no tool of the session made it")
        if path.text in self._known.ignored:
            reason = "git ignores it, so neither a commit nor a snapshot tells whether it was there"
            return replace(planned, action="unknown", reason=reason)
        if self._is_accounted_for(path, found):
            return replace(planned, action="delete", reason="it was not there; the session made it later")
        return replace(planned, action="conflict", reason=self._who(path), forced_action="delete")

    def _present(self, planned: PlannedFile, wanted: Wanted, found: Found) -> PlannedFile:
        assert wanted.content is not None
        if found.kind == "nothing":
            return replace(planned, action="create", reason=planned.reason or "it is not there")
        if (found.kind == "link") == wanted.symlink and found.digest == _digest(wanted.content):
            if wanted.mode(found, 0) != found_mode(found):
                return replace(planned, action="mode", reason="it is executable, or no longer is")
            return planned
        if found.kind == "link" and not wanted.symlink:
            reason = "a symbolic link is there; --force replaces it, and what it leads to stays as it is"
            return replace(planned, action="conflict", reason=reason, forced_action="change")
        if self._is_accounted_for(planned.path, found):
            return replace(planned, action="change", reason=planned.reason)
        return replace(planned, action="conflict", reason=self._who(planned.path), forced_action="change")

    def _is_accounted_for(self, path: FilePath, found: Found) -> bool:
        """Whether the session knows the bytes that are on the disk."""
        if found.digest is None or found.kind != "file":
            return False
        if found.digest in self._known.seen.get(path, ()):
            return True
        states = [self._known.current.get(path), self._known.target.get(path)]
        contents = [state.content for state in states if state is not None and state.content is not None]
        return any(len(content) == found.size and _digest(content) == found.digest for content in contents)

    def _who(self, path: FilePath) -> str:
        """Return in words why bytes on the disk are not accounted for."""
        state = self._known.current.get(path)
        if state is None:
            return "no tool of the session has touched it, and it is another one now"
        if state.provenance is Provenance.PATCH:
            return "only edits of it are known, so it cannot be told whose the content on the disk is"
        if not state.is_exact:
            return "it is not what the session last knew; a shell command or somebody else has changed it"
        return "somebody else has changed it: the session does not know this content"


def found_mode(found: Found) -> int | None:
    """Return the kind and the permissions of what was found, as `Wanted.mode` says them."""
    if found.mode is None:
        return None
    return stat.S_IFLNK | 0o777 if found.kind == "link" else stat.S_IFMT(found.mode) | found.mode & 0o777


def _is_absent(state: FileState | None) -> bool:
    return state is None or (state.is_exact and state.content is None)


def _blocked(found: Found, wanted: Wanted) -> str | None:
    """Return in words what stands in the way at a path."""
    if wanted.content is None and found.kind in ("directory", "behind-file"):
        return None
    match found.kind:
        case "directory":
            return "a directory is there"
        case "other":
            return "something is there that is no file"
        case "behind-link":
            return "a directory on the way to it is a symbolic link"
        case "behind-file":
            return "a directory on the way to it is a file"
        case "unreadable":
            return f"what is there cannot be read: {found.reason}"
    return None
