"""The page about the Python API and the README do what they say, and the page names everything that there is."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import pivcs
from docs.generate import ROOT
from pivcs import Session

PAGE = ROOT / "docs" / "api.md"


@pytest.mark.parametrize("page", [PAGE, ROOT / "README.md"], ids=lambda page: page.name)
def test_examples_do_what_they_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    assert len(blocks[0].splitlines()) <= 22
    test = doctest.DocTestParser().get_doctest(blocks[0], {"directory": tmp_path}, page.name, str(page), 0)
    shown: list[str] = []
    result = doctest.DocTestRunner().run(test, out=shown.append)
    assert result.attempted > 10
    assert not result.failed, "".join(shown)


def test_every_public_method_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    public = {name for name in dir(Session) if not name.startswith("_")}
    named = set(re.findall(r"`(\w+)`", text))
    assert public - named == {"entry_count", "leaf_is_undefined", "session_dir"}


def test_the_package_gives_what_it_names() -> None:
    for name in pivcs.__all__:
        assert getattr(pivcs, name) is not None
    assert not hasattr(pivcs, "nothing")
