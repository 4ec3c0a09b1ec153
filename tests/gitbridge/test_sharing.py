"""What several people write to keeps the rights that its repository asks for, whoever's umask it is written with."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from pivcs.gitbridge.sharing import Sharing, share, sharing_of
from tests.builders import build_session
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import check, git, needs_git, new_repository
from tests.ops.views import view_of

pytestmark = needs_git


def _rights(place: Path) -> dict[str, int]:
    """Return the rights of packs, refs and the directories of refs."""
    found = {}
    for part in ("objects/pack", "refs"):
        for path in (place / part).rglob("*"):
            kind = "directory" if path.is_dir() else path.suffix if part == "objects/pack" else "ref"
            found[f"{kind} {path.relative_to(place)}"] = stat.S_IMODE(path.stat().st_mode)
    return found


@pytest.mark.parametrize("umask", [0o077, 0o022])
@pytest.mark.parametrize("setting", ["group", "all", "0640", "umask"])
def test_git_itself_would_give_the_same_rights(setting: str, umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        place = new_repository(tmp_path / "place", "--bare", f"--shared={setting}")
        judge = new_repository(tmp_path / "judge", "--bare", f"--shared={setting}")
        export([view_of(build_session("a-b-c"))], Destination.open(place))
        with Machine(tmp_path / "machine") as here:
            here.save("s", build_session("a-b"))
            here.archive(place)
        refs = git(place, "for-each-ref", "--format=%(refname)").decode().split()
        # It unpacks nothing; the refs are made one by one, as loose ones.
        git(judge, "-c", "fetch.unpackLimit=1", "fetch", "-q", str(place), *(f"{ref}:{ref}" for ref in refs))
    finally:
        os.umask(before)
    check(place)
    ours, theirs = _rights(place), _rights(judge)
    for kind in (".pack", ".idx", "ref", "directory"):
        told = [{rights for name, rights in each.items() if name.split(" ")[0] == kind} for each in (ours, theirs)]
        assert told[0] == told[1], kind


def test_settings_that_say_nothing_leave_it_to_the_umask(tmp_path: Path) -> None:
    for said in ("false", "0", "umask", "nonsense", ""):
        (tmp_path / "config").write_text(f"[core]\n\tsharedRepository = {said}\n")
        assert sharing_of(tmp_path) is None
    (tmp_path / "config").unlink()
    assert sharing_of(tmp_path) is None


def test_what_cannot_be_shared_is_left(tmp_path: Path) -> None:
    share(Sharing(0o660, exactly=False), [tmp_path / "nowhere"])
