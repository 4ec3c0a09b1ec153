"""Sessions that came from another machine are there for pi."""

from __future__ import annotations

from pathlib import Path

from pivcs.ops.writing_out import write_out
from pivcs.session.layout import Surroundings
from tests.builders import CLOCK, build_session, header_line
from tests.gitbridge.clones import Clone
from tests.gitbridge.git import needs_git, new_repository
from tests.interop.pi import Pi


@needs_git
def test_pi_lists_and_opens_what_fetch_wrote(pi: Pi, tmp_path: Path) -> None:
    hub = new_repository(tmp_path / "hub.git", "--bare")
    data = build_session("a-b-c", header=header_line("made-elsewhere", cwd="/home/somebody/else"))
    agent = pi.copy(b"").parent / "agent"
    with Clone(tmp_path / "a", hub, 1) as a, Clone(tmp_path / "b", hub, 2) as b:
        a.save("one", data)
        a.push()
        b.save("two", build_session("a", header=header_line("mine")))
        b.fetch()
        around = Surroundings({"PI_CODING_AGENT_DIR": str(agent)}, str(tmp_path), str(b.place))
        (file,) = write_out(b.store, around, CLOCK)
        assert file.read_bytes() == data
        assert write_out(b.store, around, CLOCK) == []
        (listed,) = pi.ask([{"list": str(file.parent), "cwd": str(b.place)}])
        assert isinstance(listed, list)
        assert [(item["id"], item["messageCount"]) for item in listed] == [("made-elsewhere", 3)]
        (opened,) = pi.open([file.read_bytes()])
        assert opened["leaf"] == "cccccccc"
