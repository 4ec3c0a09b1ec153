"""`files`, `show REV:PATH`, `log -p`, `blame` and `why` on a project that sessions have worked in."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.builders import CLOCK
from tests.cli.conftest import Program
from tests.gitbridge.real_git import find_git
from tests.talks import Talk

TEXT = "def login(name):\n    check(name)\n    return True\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory, the current one, with the session file `session.jsonl` of two attempts."""
    root = tmp_path / "project"
    root.mkdir()
    talk = Talk(cwd=str(root))
    talk.prompt("Write the login.")
    talk.write("auth.py", TEXT)
    here = talk.at
    talk.prompt("Ask the directory.")
    talk.edit("auth.py", "return True", "return find_in_directory(name)")
    talk.at = here
    talk.prompt("Keep a list instead.")
    talk.edit("auth.py", "return True", "return name in KNOWN")
    talk.edit("README.md", "old words", "new words")
    talk.write("run.sh", "echo\n")
    talk.bash("sed -i s/echo/exit/ run.sh")
    talk.say("Done.")
    (root / "session.jsonl").write_bytes(talk.data)
    monkeypatch.chdir(root)
    return root


def test_files_are_listed_with_how_they_are_known(project: Path, pivcs: Program):
    result = pivcs("files", "session.jsonl")
    assert result.code == 0
    assert [line.split()[0] for line in result.lines] == ["patch", "derived", "unknown"]
    assert "Keep a list instead." in result.lines[1]
    assert "no base" in result.complaint
    names = pivcs("files", "session.jsonl", "--name-only")
    assert names.lines == ["README.md", "auth.py", "run.sh"]


def test_files_can_be_chosen_by_path_pattern_and_entry(project: Path, pivcs: Program):
    assert pivcs("files", "session.jsonl", "--name-only", "*.py").lines == ["auth.py"]
    assert pivcs("files", "session.jsonl", "HEAD", "run.sh", "--name-only").lines == ["run.sh"]
    assert pivcs("files", "session.jsonl", "main", "--name-only").lines == ["auth.py"]
    missing = pivcs("files", "session.jsonl", "HEAD", "nope.py")
    assert missing.code == 10
    assert "nothing is known of 'nope.py'" in missing.complaint


def test_a_word_that_is_neither_revision_nor_path_is_refused(project: Path, pivcs: Program):
    result = pivcs("files", "session.jsonl", "mian")
    assert result.code == 10
    assert "did you mean 'main'?" in result.complaint


def test_a_file_at_an_entry_comes_back_byte_for_byte(project: Path, pivcs: Program):
    assert pivcs("show", "-s", "session.jsonl", "main:auth.py").out == TEXT.replace(
        "True", "find_in_directory(name)"
    ).encode()
    assert pivcs("show", "session.jsonl::HEAD:auth.py").out == TEXT.replace("True", "name in KNOWN").encode()
    assert pivcs("show", "-s", "session.jsonl", "HEAD:").lines == ["README.md", "auth.py", "run.sh"]


def test_a_file_that_is_not_known_exactly_comes_with_a_warning(project: Path, pivcs: Program):
    changed = pivcs("show", "-s", "session.jsonl", "HEAD:run.sh")
    assert (changed.code, changed.out) == (1, b"echo\n")
    assert "may have been changed since" in changed.complaint
    patched = pivcs("show", "-s", "session.jsonl", "HEAD:README.md")
    assert (patched.code, patched.lines) == (1, ["-old words", "+new words"])
    assert pivcs("show", "-s", "session.jsonl", "HEAD:nowhere").code == 10


def test_a_revision_with_a_colon_is_no_file(project: Path, pivcs: Program):
    assert "Keep a list" in pivcs("show", "-s", "session.jsonl", ":/Keep a list").text
    assert pivcs("label", "a:b", "HEAD", "-s", "session.jsonl").code == 0
    assert "Done." in pivcs("show", "-s", "session.jsonl", "a:b").text
    assert b"KNOWN" in pivcs("show", "-s", "session.jsonl", "a:b:auth.py").out


def test_the_log_shows_what_entries_changed(project: Path, pivcs: Program):
    text = pivcs("log", "session.jsonl", "-p", "--oneline").text
    assert "-    return True\n+    return name in KNOWN\n" in text
    assert "(only the change is known, not the whole file)\n-old words\n+new words\n" in text
    assert "find_in_directory" not in text
    assert "+    return find_in_directory(name)" in pivcs("log", "session.jsonl", "-p", "--all").text
    turns = pivcs("log", "session.jsonl", "-p", "--turns").text
    assert turns.index("Write the login.") < turns.index("+    return name in KNOWN")
    assert pivcs("log", "session.jsonl", "-p", "--graph").code == 2


def test_blame_names_the_prompt_behind_each_line(project: Path, pivcs: Program):
    lines = pivcs("blame", "auth.py", "--at", "HEAD", "-s", "session.jsonl").lines
    assert "Write the login." in lines[0]
    assert "Keep a list instead." in lines[2]
    assert lines[2].endswith("    return name in KNOWN")


def test_blame_of_the_file_on_disk_says_what_nobody_wrote(project: Path, pivcs: Program):
    (project / "auth.py").write_text(TEXT.replace("True", "name in KNOWN") + "# by hand\n", encoding="utf-8")
    lines = pivcs("blame", "auth.py", "-s", "session.jsonl").lines
    assert "Keep a list instead." in lines[2]
    assert "changed by something unseen" in lines[3]
    missing = pivcs("blame", "gone.py", "-s", "session.jsonl")
    assert missing.code == 10
    assert "--at REV" in missing.complaint


def test_blame_looks_at_all_sessions_of_the_project(
    project: Path, tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch
):
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(sessions))
    (project / "session.jsonl").rename(sessions / "first.jsonl")
    later = Talk(cwd=str(project), session_id="later", clock=CLOCK + 86_400_000, first=100)
    later.prompt("Count them.")
    known = TEXT.replace("True", "name in KNOWN")
    later.read("auth.py", known)
    later.edit("auth.py", "    check(name)\n", "    check(name)\n    count(name)\n")
    (sessions / "second.jsonl").write_bytes(later.data)
    (project / "auth.py").write_text(known.replace("    return", "    count(name)\n    return"), encoding="utf-8")
    lines = pivcs("blame", "auth.py").lines
    prompts = ["Write the login.", "Write the login.", "Count them.", "Keep a list instead."]
    assert all(prompt[:12] in line for prompt, line in zip(prompts, lines, strict=True))
    assert "was there before" in pivcs("blame", "auth.py", "-s", str(sessions / "second.jsonl")).lines[0]


def test_why_tells_the_prompt_the_change_and_what_else_was_tried(project: Path, pivcs: Program):
    text = pivcs("why", "auth.py:3", "--at", "HEAD", "-s", "session.jsonl").text
    assert text.startswith("auth.py:3:     return name in KNOWN\nwritten by ")
    assert "    Keep a list instead.\n" in text
    assert "-    return True\n+    return name in KNOWN\n" in text
    assert "what else was tried" in text
    assert text.index("what else was tried") < text.index("(main) edit auth.py")


def test_why_needs_a_line_that_is_there(project: Path, pivcs: Program):
    assert pivcs("why", "auth.py", "--at", "HEAD", "-s", "session.jsonl").code == 2
    missing = pivcs("why", "auth.py:99", "--at", "HEAD", "-s", "session.jsonl")
    assert missing.code == 10
    assert "has 3 lines, and no line 99" in missing.complaint
    (project / "single.txt").write_text("alone\n")
    assert "has 1 line, and no line 9" in pivcs("why", "single.txt:9", "-s", "session.jsonl").complaint
    told = pivcs("why", "single.txt:1", "-s", "session.jsonl").text
    assert "no session tells of the file" in told


@pytest.mark.interop
def test_a_snapshot_says_what_files_were_that_no_entry_knows(project: Path, pivcs: Program):
    find_git()
    for name, text in (("run.sh", "exit\n"), ("notes.md", "by hand\n"), ("auth.py", TEXT)):
        (project / name).write_text(text, encoding="utf-8")
    (project / "session.jsonl").rename(project.parent / "session.jsonl")
    session = str(project.parent / "session.jsonl")
    before = pivcs("files", session, "--name-only").lines
    assert pivcs("snapshot", "-s", session).code == 0
    after = pivcs("files", session)
    assert "notes.md" not in before
    assert any(line.startswith("snapshot") and "notes.md" in line for line in after.lines)
    assert pivcs("show", "-s", session, "HEAD:notes.md").out == b"by hand\n"
    assert pivcs("show", "-s", session, "HEAD:run.sh").out == b"exit\n"
    assert "-echo\n+exit" in pivcs("diff", "--files", "-s", session, "HEAD~2", "HEAD").text


@pytest.mark.interop
def test_a_diff_of_files_in_a_pipe_is_a_patch_that_git_applies(project: Path, pivcs: Program):
    find_git()
    talk = Talk(cwd=str(project))
    first = talk.write("a.txt", "one\r\ntwo\r\nthree")
    talk.write("a.txt", "one\r\n2\x1b[31m\r\nthree")
    (project / "crlf.jsonl").write_bytes(talk.data)
    (project / "a.txt").write_bytes(b"one\r\ntwo\r\nthree")
    patch = pivcs("diff", "--files", "-s", "crlf.jsonl", first, "HEAD")
    subprocess.run(["git", "apply", "-"], input=patch.out, cwd=project, check=True)
    assert (project / "a.txt").read_bytes() == b"one\r\n2\x1b[31m\r\nthree"
    assert b"^[[31m" in pivcs("diff", "--files", "--color", "always", "-s", "crlf.jsonl", first, "HEAD").out
    unknown = pivcs("diff", "--files", "-s", "session.jsonl", "main", "HEAD")
    assert "'README.md' is left out of the patch" in unknown.complaint


def test_a_patch_never_names_a_file_outside_of_the_directory(project: Path, pivcs: Program):
    # git would take `/etc/shop.conf` for the file `etc/shop.conf` of the work tree.
    talk = Talk(cwd=str(project))
    first = talk.prompt("Configure it.")
    talk.write("/etc/shop.conf", "port = 1\n")
    talk.write("shop.conf", "port = 1\n")
    talk.write("logo.png", "\0PNG")
    (project / "outside.jsonl").write_bytes(talk.data)
    patch = pivcs("diff", "--files", "-s", "outside.jsonl", first, "HEAD")
    assert b"/etc/shop.conf" not in patch.out
    assert b"+++ b/shop.conf\n" in patch.out
    assert "'/etc/shop.conf' is left out of the patch: it is outside of the working directory" in patch.complaint
    assert b"logo.png" not in patch.out
    assert "'logo.png' is left out of the patch: it is binary" in patch.complaint
    for_people = pivcs("diff", "--files", "--color", "always", "-s", "outside.jsonl", first, "HEAD")
    assert b"+++ /etc/shop.conf" in for_people.out


def test_a_path_with_half_a_character_can_be_looked_at(project: Path, pivcs: Program):
    talk = Talk(cwd=str(project))
    first = talk.prompt("Write it.")
    talk.write("aSURb.txt", "x\n")
    (project / "half.jsonl").write_bytes(talk.data.replace(b"SUR", b"\\ud800"))
    assert "a<U+D800>b.txt" in pivcs("files", "half.jsonl").text
    assert "+++ b/a\ufffdb.txt\n+x" in pivcs("log", "half.jsonl", "-p").text.replace("@@ -0,0 +1 @@\n", "")
    assert pivcs("diff", "--name-status", "-s", "half.jsonl", first, "HEAD").lines == ["A\ta\ufffdb.txt"]
    assert pivcs("log", "half.jsonl", "-p", "--json").code == 0


def test_the_log_of_a_file_shows_what_its_calls_changed(project: Path, pivcs: Program):
    text = pivcs("log", "session.jsonl", "-p", "--oneline", "--file", "auth.py").text
    assert "assistant: edit auth.py\ndiff --git a/auth.py b/auth.py\n" in text
    assert "-    return True\n+    return name in KNOWN\n" in text
    assert "README.md b/" not in text
    assert "find_in_directory" not in text
    of_a_set = pivcs("log", "session.jsonl", "-p", "file(auth.py) & branch(main)").text
    assert "+    return find_in_directory(name)" in of_a_set
    turns = pivcs("log", "session.jsonl", "-p", "--turns", "--file", "README.md").text
    assert "+new words" in turns
    assert "KNOWN" not in turns
    document = json.loads(pivcs("log", "session.jsonl", "-p", "--file", "auth.py", "--json").out)
    paths = [[change["path"] for change in entry["changes"]] for entry in document["entries"]]
    assert paths == [["auth.py"], ["auth.py"]]


def test_the_log_of_a_path_shows_no_change_that_comes_behind_it(project: Path, pivcs: Program):
    call = pivcs("rev-parse", "--entry", "session.jsonl", "main~1").lines[0]
    assert "find_in_directory" not in pivcs("log", "session.jsonl", call, "-p", "--file", "auth.py").text
    assert "find_in_directory" in pivcs("log", "session.jsonl", "main", "-p", "--file", "auth.py").text


def test_paths_of_files_that_are_there_are_no_sessions(project: Path, pivcs: Program):
    for name in ("auth.py", "run.sh", "main"):
        (project / name).write_text("x\n", encoding="utf-8")
    assert pivcs("files", "session.jsonl", "main", "auth.py", "--name-only").lines == ["auth.py"]
    assert pivcs("files", "-s", "session.jsonl", "HEAD", "auth.py", "run.sh", "--name-only").lines == [
        "auth.py", "run.sh",
    ]  # fmt: skip
    assert pivcs("files", "-s", "session.jsonl", "./auth.py", "--name-only").lines == ["auth.py"]
    assert pivcs("log", "-s", "session.jsonl", "main", "--oneline").code == 0


def test_a_pipe_is_no_file_to_blame(project: Path, pivcs: Program):
    os.mkfifo(project / "auth.py")
    result = pivcs("blame", "auth.py", "-s", "session.jsonl")
    assert result.code == 10
    assert "no regular file" in result.complaint
