"""The states of files at one point of a path, and finding those that a text names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import lru_cache

from pivcs.workspace.base import Base
from pivcs.workspace.paths import file_path
from pivcs.workspace.shell import ShellEffect
from pivcs.workspace.state import FilePath, FileState, Provenance

BEFORE_ALL = -1
"""The row at which a base tells what is in it, when it stands for the time before the session."""


class KnownFiles:
    """States by path. With a base, files that are met for the first time are looked up there."""

    def __init__(self, cwd: str | None, home: str | None = None, base: Base | None = None) -> None:
        self.cwd = cwd
        self.home = home
        self._base = base
        self._base_row: int | None = None
        self.base_doubtful_since: int | None = None
        self._base_names: dict[str, list[str]] | None = None
        self.states: dict[FilePath, FileState] = {}
        self.told: dict[FilePath, int] = {}
        self._by_name: dict[str, tuple[FilePath, ...]] = {}

    def fork(self) -> KnownFiles:
        """Return a copy that goes on on its own. Costs O(files); contents are shared."""
        other = KnownFiles(self.cwd, self.home, self._base)
        other._base_row = self._base_row
        other.base_doubtful_since = self.base_doubtful_since
        other._base_names = self._base_names
        other.states = self.states.copy()
        other.told = self.told.copy()
        other._by_name = self._by_name.copy()
        return other

    def path(self, argument: str) -> FilePath:
        """Return the file that a path argument means."""
        return file_path(argument, self.cwd, self.home)

    def use_base(self, row: int, base: Base) -> None:
        """From now on look up what is not known in `base`, which is exact at `row`."""
        self._base, self._base_row = base, row
        self.base_doubtful_since = None
        self._base_names = None

    def put(self, state: FileState, told: int | None = None) -> None:
        """Remember a state; `told` is the row that told the whole of it, if it is another one than before."""
        if state.path not in self.states:
            name = posixpath.basename(state.path.text)
            self._by_name[name] = (*self._by_name.get(name, ()), state.path)
        self.states[state.path] = state
        if told is not None:
            self.told[state.path] = told

    def meet(self, path: FilePath, row: int) -> FileState | None:
        """Return the state of a file, looked up in the base when it is met for the first time at `row`."""
        state = self.states.get(path)
        if state is not None or self._base is None or not path.inside:
            return state
        file = self._base.read(path.text)
        if file is None or file.symlink:
            # A base leaves out ignored files: that it has none there is no proof that there is none. What is behind a
            # link it does not say.
            return None
        known_at = row if self._base_row is None else self._base_row
        provenance = Provenance.DERIVED if self._base_row is None else Provenance.SNAPSHOT
        since = self.base_doubtful_since
        if since is not None:
            provenance = Provenance.UNKNOWN
        state = FileState(path, provenance, file.content, known_at, None, since, self._base.label)
        self.put(state, BEFORE_ALL if self._base_row is None else self._base_row)
        return state

    def named(self, effect: ShellEffect, row: int) -> Iterator[FileState]:
        """Yield the states of the files that a command may have written, those that only the base has, too."""
        if effect.everything:
            if self.base_doubtful_since is None:
                self.base_doubtful_since = row
            yield from [state for path, state in self.states.items() if path.inside]
            return
        found: dict[FilePath, None] = {}
        base_names = self._names_of_base()
        for word in effect.names:
            parts = _parts(word)
            if not parts:
                continue
            for path in self._by_name.get(parts[-1], ()):
                if self._fits(path, parts):
                    found[path] = None
            for text in base_names.get(parts[-1], ()):
                if self._fits(FilePath(text, True), parts):
                    found[FilePath(text, True)] = None
        if effect.patterns or effect.directories:
            base_texts = (FilePath(text, True) for texts in base_names.values() for text in texts)
            found |= dict.fromkeys(self._is_below(effect, (*self.states, *base_texts)))
        for path in found:
            state = self.meet(path, row)
            if state is not None:
                yield state

    def names(self, effect: ShellEffect, path: FilePath) -> bool:
        """Whether a command may have written one file."""
        if effect.everything:
            return path.inside
        name = posixpath.basename(path.text)
        if any(parts[-1] == name and self._fits(path, parts) for parts in map(_parts, effect.names) if parts):
            return True
        return self._is_below(effect, [path]) != []

    def _is_below(self, effect: ShellEffect, paths: Iterable[FilePath]) -> list[FilePath]:
        patterns = [_pattern("/".join(_parts(word))) for word in effect.patterns if _parts(word)]
        folders = ["/".join(_parts(word)) for word in effect.directories if _parts(word)]
        here = not self._everywhere_spelled().isdisjoint(effect.directories)
        found = []
        for path in paths:
            text = "/" + path.text.lstrip("/")
            if (
                (here and path.inside)
                or any(f"/{folder}/" in text for folder in folders)
                or any(pattern.search(text) for pattern in patterns)
            ):
                found.append(path)
        return found

    def _fits(self, path: FilePath, parts: Iterable[str]) -> bool:
        """Whether a word may mean a file: its parts end the file's whole path, from wherever it is written.

        A word may be longer than the whole path where the working directory is not known, or a link.
        """
        above = self.cwd.strip("/") + "/" if path.inside and self.cwd else ""
        whole = f"/{above}{path.text.lstrip('/')}"
        word = f"/{'/'.join(parts)}"
        return whole.endswith(word) or word.endswith(whole)

    def _everywhere_spelled(self) -> set[str]:
        return {".", "./", *([self.cwd.rstrip("/")] if self.cwd else [])}

    def _names_of_base(self) -> dict[str, list[str]]:
        if self._base_names is None:
            self._base_names = {}
            for text in self._base.paths() if self._base is not None else ():
                self._base_names.setdefault(posixpath.basename(text), []).append(text)
        return self._base_names


def _parts(word: str) -> list[str]:
    """Return the parts of a path that say which file it is wherever it is written from."""
    word = word.replace("\\", "/")
    if "/../" in word:
        word = posixpath.normpath(word)
    return [part for part in word.split("/") if part not in ("", ".", "..", "~")]


@lru_cache(maxsize=256)
def _pattern(word: str) -> re.Pattern[str]:
    """Return a pattern for the end of a path. Stars may cross slashes: better one file too many than one too few."""
    return re.compile(r"/" + translate(word))
