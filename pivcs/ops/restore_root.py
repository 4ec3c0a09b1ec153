"""In which directory the files of a session are restored: never silently in another one than is meant."""

from __future__ import annotations

import os
from pathlib import Path

from pivcs.errors import StateError
from pivcs.ops.project import project_directories


class AnotherProject(StateError):
    """The session belongs to another directory than the current one."""


def restore_root(here: str, session_cwd: str | None) -> Path:
    """Return the directory for the files of a session that ran in `session_cwd`, asked for in the directory `here`.

    It is the session's own one if that belongs to the same repository as `here` (or is `here`); for a session of
    another worktree of it, the same place in this one. Raises `AnotherProject`.
    """
    if session_cwd is None:
        raise AnotherProject(
            "the session does not say in which directory it ran", hint="--into DIR says where its files belong"
        )
    real_here, wanted = Path(os.path.realpath(here)), Path(os.path.realpath(session_cwd))
    around = [Path(each) for each in project_directories(str(real_here))]
    root = next((each for each in reversed(around) if each == real_here or each in real_here.parents), real_here)
    is_repository = os.path.exists(root / ".git")
    if wanted == real_here or (is_repository and (wanted == root or root in wanted.parents)):
        return wanted
    for other in map(Path, project_directories(str(root))[1:]):
        if other == wanted or other in wanted.parents:
            return root / wanted.relative_to(other)
    raise AnotherProject(
        f"the session ran in '{session_cwd}', which is not this project",
        hint="change to it; or --dest DIR writes the files into a new directory, --into DIR restores them in DIR",
    )
