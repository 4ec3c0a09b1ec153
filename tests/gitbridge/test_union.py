"""Machines that add sessions, continue a shared one, push and fetch in any order end with the same everywhere."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.builders import build_session, header_line, message_line
from tests.gitbridge.clones import Clone, shared
from tests.gitbridge.git import check, needs_git, new_repository

pytestmark = [needs_git, pytest.mark.interop]

MACHINES = st.integers(0, 2)
SHARED = build_session("a-b", header=header_line(id="shared"))


class Union(RuleBasedStateMachine):
    """Three clones of one bare repository; one of them works without the `git` program."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        root = Path(self.directory.name)
        self.hub = new_repository(root / "hub.git", "--bare")
        self.clones = [Clone(root / str(number), self.hub, number + 1, with_git=number != 2) for number in range(3)]
        self.bytes = [SHARED, SHARED, SHARED]
        self.sessions = 0
        self.made: set[bytes] = set()

    def teardown(self) -> None:
        try:
            self._all_meet()
        finally:
            for clone in self.clones:
                clone.store.close()
            self.directory.cleanup()

    @initialize()
    def all_have_the_shared_session(self) -> None:
        for clone in self.clones:
            clone.save("shared", SHARED)

    @rule(number=MACHINES)
    def add_a_session(self, number: int) -> None:
        self.sessions += 1
        data = build_session("a-b", header=header_line(id=f"own{self.sessions}"))
        self.made.add(data)
        self.clones[number].save(f"own{self.sessions}", data)

    @rule(number=MACHINES, word=st.sampled_from("xyz"))
    def continue_the_shared_session(self, number: int, word: str) -> None:
        count = self.bytes[number].count(b"\n")
        if count < 6:
            self.bytes[number] += message_line(f"{count:07x}{ord(word) % 16:x}", "bbbbbbbb", text=word)
            self.clones[number].save("shared", self.bytes[number])

    @rule(number=MACHINES)
    def push(self, number: int) -> None:
        before = shared(self.hub)
        done = self.clones[number].push()
        assert not done.refused
        after = shared(self.hub)
        gone = {ref.name for ref in done.refs if ref.outcome == "removed"}
        assert before.keys() - after.keys() == gone

    @rule(number=MACHINES)
    def fetch(self, number: int) -> None:
        clone = self.clones[number]
        clone.fetch()
        assert clone.refs("refs/pivcs-remotes/origin/").keys() == {
            name.replace("refs/pivcs/", "refs/pivcs-remotes/origin/") for name in shared(self.hub)
        }
        before = clone.store.database.connection.total_changes
        done, came = clone.fetch()
        assert (done.refs, came) == ((), [])
        assert clone.store.database.connection.total_changes == before

    @invariant()
    def nothing_of_ones_own_is_lost(self) -> None:
        for number, clone in enumerate(self.clones):
            assert any(kept.startswith(self.bytes[number]) for kept in clone.kept())

    def _all_meet(self) -> None:
        for turn in ("push", "fetch", "push", "fetch"):
            for clone in self.clones:
                getattr(clone, turn)()
        ends = {data for data in self.bytes if all(other == data or not other.startswith(data) for other in self.bytes)}
        for clone in self.clones:
            assert clone.kept() == ends | self.made
            assert clone.refs() == shared(self.hub)
            assert clone.push().refs == ()
        check(self.hub)


Union.TestCase.settings = settings(max_examples=8, stateful_step_count=14, deadline=None)
TestUnion = Union.TestCase
