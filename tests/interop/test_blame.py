"""The real git as judge: lines belong to the same change as in a history with a commit for each."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from pivcs.ops.blame import Kind, blame_at
from pivcs.ops.replaying import replay_path
from pivcs.workspace.line_origins import How
from pivcs.workspace.state import FilePath
from tests.gitbridge.real_git import Project, find_git, new_project
from tests.ops.views import view_of
from tests.talks import Talk

pytestmark = pytest.mark.interop

FILE = FilePath("file.py", inside=True)


class _History:
    """The same changes of a file in a session and in a repository; lines are never written twice."""

    def __init__(self, root: Path, seed: int) -> None:
        find_git()
        self.talk = Talk()
        self.project: Project = new_project(root)
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.written = 0
        self.commits: dict[str, str] = {}

    def change(self) -> None:
        """Change the file somehow, by a write or by an edit."""
        before = list(self.lines)
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randint(0, len(self.lines))
            taken = self.random.choice((0, 0, 1, 2))
            self.lines[at : at + taken] = [self._line() for _ in range(self.random.randint(0 if taken else 1, 4))]
        if self.lines == before:
            return
        text = "".join(self.lines)
        whole = not before or self.random.random() < 0.5
        entry = self.talk.write("file.py", text) if whole else self._edit(before)
        self.commits[self.project.commit({"file.py": text})] = entry

    def _edit(self, before: list[str]) -> str:
        """Replace what lies between the lines that both versions begin and end with."""
        start = 0
        while start < min(len(before), len(self.lines)) and before[start] == self.lines[start]:
            start += 1
        end = 0
        while end < min(len(before), len(self.lines)) - start and before[-1 - end] == self.lines[-1 - end]:
            end += 1
        start = max(start - 1, 0)  # something to hold on to where only lines are added
        old, new = before[start : len(before) - end], self.lines[start : len(self.lines) - end]
        if not old or not new:
            return self.talk.write("file.py", "".join(self.lines))
        return self.talk.edit("file.py", "".join(old), "".join(new))

    def _line(self) -> str:
        self.written += 1
        return f"value_{self.written:04} = compute({self.random.random()})\n"

    def by_git(self) -> list[str]:
        """Return the entry of the commit that git blames for each line."""
        told = self.project.git("blame", "--line-porcelain", "file.py")
        return [self.commits[name] for name in re.findall(r"^([0-9a-f]{40}) \d+ \d+", told, re.MULTILINE)]


@pytest.mark.parametrize("seed", range(6))
def test_lines_belong_to_the_change_that_git_blames(tmp_path: Path, seed: int):
    history = _History(tmp_path / "project", seed)
    for _ in range(25):
        history.change()
    view = view_of(history.talk.data)
    row = view.table.row_named(history.talk.at or "")
    assert row is not None
    blame = blame_at(view, replay_path(view, row)[FILE], [], lambda _: None)
    assert "".join(line.text.decode() for line in blame.lines) == "".join(history.lines)
    assert {line.author.kind for line in blame.lines} == {Kind.ENTRY}
    ours = [view.table.name(line.author.row) for line in blame.lines if line.author.row is not None]
    judged = history.by_git()
    stayed = [place for place, line in enumerate(blame.lines) if line.how is How.WRITTEN]
    assert len(stayed) > len(judged) // 2
    assert [ours[place] for place in stayed] == [judged[place] for place in stayed]
