"""Which real path a file has, however it is named."""

import os
from pathlib import Path

import pytest

from pivcs.ops.fresh import RealPaths


def test_real_paths_are_those_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "a/other").symlink_to("b/file")
    (tmp_path / "a/loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nowhere/at all")
    monkeypatch.chdir(tmp_path / "a")
    paths = RealPaths()
    for name in (
        "b/file", "./b/../b/file", "other", "loop", "../link/other", "../link/b/file", "../gone", "absent", "b", "b/",
        "/", str(tmp_path / "link/b/file"), "..", ".",
    ):  # fmt: skip
        assert paths.of(name) == os.fsencode(os.path.realpath(name)), name
        assert paths.of(Path(name)) == paths.of(os.fsencode(name))
    assert paths.has_file(os.fsencode(os.path.realpath("b/file")))
    for name in ("absent", "b", "../link/b/file", "other"):
        assert not paths.has_file(os.path.abspath(os.fsencode(name))), name
