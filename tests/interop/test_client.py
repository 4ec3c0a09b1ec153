"""The whole client, with a stand-in for the provider: it resumes what our commands wrote, and goes on from there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pivcs.cli import run
from pivcs.ops.demo import CWD, demo_session
from tests.interop.pi import Pi
from tests.interop.stand_in import MODEL, PROVIDER, StandIn, stand_in

pytestmark = pytest.mark.interop

CLI = "node_modules/@earendil-works/pi-coding-agent/dist/cli.js"
WHERE = "decimal, too slow"


@pytest.fixture
def provider() -> Iterator[StandIn]:
    with stand_in() as made:
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory with a session of its own."""
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "session.jsonl").write_bytes(demo_session().replace(CWD.encode(), str(root).encode()))
    return root


class Client:
    """The client in a project, in a home that is empty but for the provider's settings."""

    def __init__(self, pi: Pi, provider: StandIn, project: Path) -> None:
        self._pi = pi
        self._provider = provider
        self._project = project
        self._home = project.parent / "client"
        (self._home / "agent").mkdir(parents=True)
        (self._home / "agent" / "models.json").write_text(json.dumps(provider.settings()), encoding="utf-8")

    def say(self, session: Path, prompt: str, answer: str) -> list[dict[str, Any]]:
        """Resume a session with a prompt; return the messages that the provider was sent, but for the system's."""
        self._provider.answers.append(answer)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PI_", "OPENAI_"))}
        more = {"HOME": str(self._home), "PI_CODING_AGENT_DIR": str(self._home / "agent"), "PI_OFFLINE": "1"}
        command = [self._pi._folder / "node", self._pi._folder / CLI, "--print", "--session", session]
        quiet = ["--no-extensions", "--no-mcp", "--no-skills", "--no-context-files", "--no-prompt-templates"]
        done = subprocess.run(
            [*command, *quiet, "--provider", PROVIDER, "--model", MODEL, "--thinking", "off", prompt],
            env=kept | more, cwd=self._project, capture_output=True, timeout=120, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        assert done.stdout.decode().strip() == answer
        asked = self._provider.asked[-1]["messages"]
        return [message for message in asked if message["role"] not in ("system", "developer")]


@pytest.fixture
def client(pi: Pi, provider: StandIn, project: Path) -> Client:
    return Client(pi, provider, project)


def pivcs(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    """Run a command and return its document."""
    capsys.readouterr()
    assert run([str(argument) for argument in (*arguments, "--json")]) == 0
    return json.loads(capsys.readouterr().out)


def said(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return role and text of messages; calls and results by their text alone."""
    found = []
    for message in messages:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
        found.append((message["role"], text))
    return found


def expected(context: Any) -> list[tuple[str, str]]:
    """Return the same of what `pivcs context --llm` says."""
    roles = {"toolResult": "tool"}
    found = []
    for message in context["messages"]:
        value = message["value"]
        content = value["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        found.append((roles.get(value["role"], value["role"]), text))
    return found


def test_it_goes_on_where_a_checked_out_session_ends(
    client: Client, project: Path, capsys: pytest.CaptureFixture[str]
):
    new = project.parent / "back.jsonl"
    pivcs(capsys, "checkout", project.parent / "session.jsonl", WHERE, "-o", new)
    before = new.read_bytes()
    context = pivcs(capsys, "context", new, "--llm")
    head = pivcs(capsys, "status", new)["session"]["head"]
    sent = client.say(new, "Then try bankers' rounding.", "Rounded.")
    assert said(sent) == [*expected(context), ("user", "Then try bankers' rounding.")]
    goes_on(client, new, before, head, capsys)


def test_it_goes_on_where_a_session_was_switched_to(
    client: Client, project: Path, capsys: pytest.CaptureFixture[str]
):
    session = project.parent / "session.jsonl"
    pivcs(capsys, "switch", session, "main", "--summary", "Whole cents worked, but display was ugly.")
    before = session.read_bytes()
    context = pivcs(capsys, "context", session, "--llm")
    head = pivcs(capsys, "status", session)["session"]["head"]
    sent = client.say(session, "Go on with Decimal.", "Rounded.")
    assert "Whole cents worked" in str(sent)
    assert said(sent) == [*expected(context), ("user", "Go on with Decimal.")]
    goes_on(client, session, before, head, capsys)


def goes_on(
    client: Client, session: Path, before: bytes, head: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the client wrote stands behind what was there, below where HEAD was, and is taken in as an addition."""
    after = session.read_bytes()
    assert after.startswith(before)
    added = [json.loads(line) for line in after[len(before) :].splitlines()]
    parents = {head} | {entry["id"] for entry in added}
    assert added[0]["parentId"] == head
    assert all(entry["parentId"] in parents for entry in added)
    assert [entry["message"]["role"] for entry in added if entry["type"] == "message"][-2:] == ["user", "assistant"]
    synced = pivcs(capsys, "sync", session)["files"][0]
    assert (synced["outcome"], synced["lines"]) == ("appended", len(added))
    assert pivcs(capsys, "status", session)["session"]["head"] == added[-1]["id"]
    assert [said_by for said_by, _ in said(client.say(session, "Once more.", "Done."))][-2:] == ["assistant", "user"]
