"""Files of a repository that several people write to: git's setting `core.sharedRepository` gives them more rights than
the umask of whoever writes does."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.gitbridge.repository import setting

_NAMED: Final = {
    "true": 0o660, "yes": 0o660, "on": 0o660, "1": 0o660, "group": 0o660,
    "all": 0o664, "world": 0o664, "everybody": 0o664, "2": 0o664,
}  # fmt: skip


class Sharing(NamedTuple):
    """Rights that files get; with `exactly` no others."""

    rights: int
    exactly: bool


def sharing_of(common_dir: Path) -> Sharing | None:
    """Return what a repository's own configuration says; None leaves it to the umask."""
    said = setting(common_dir, "core", "sharedrepository")
    if said is None:
        return None
    if said in _NAMED:
        return Sharing(_NAMED[said], exactly=False)
    if said.startswith("0") and len(said) > 1 and not set(said) - set("01234567"):
        return Sharing(int(said, 8) & 0o777, exactly=True)
    return None


def share(sharing: Sharing | None, paths: Iterable[Path]) -> None:
    """Give files and directories the rights that a repository asks for, as git does. Those of others are left."""
    if sharing is None:
        return
    for path in paths:
        with suppress(OSError):
            mode = stat.S_IMODE(os.stat(path).st_mode)
            rights = sharing.rights if mode & stat.S_IWUSR else sharing.rights & ~0o222
            new = rights if sharing.exactly else mode | rights
            if path.is_dir():
                new |= (new & 0o444) >> 2
                new |= stat.S_ISGID if new & 0o060 else 0
            if new != mode:
                os.chmod(path, new)
