"""The hooks as git runs them: nothing waits for them, nothing fails because of them, other hooks run as before.

Instead of pivcs a script is called that says how it was called, and `sleep` ends when the test says so.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pivcs.gitbridge.hook_files import NAMES, hook_block, with_block
from pivcs.gitbridge.hooks import install_hooks, uninstall_hooks
from pivcs.gitbridge.hooks_place import Place, hooks_place
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import find_repository
from tests.gitbridge.git import environment, needs_git
from tests.gitbridge.real_git import Project, new_project

pytestmark = [needs_git, pytest.mark.skipif(os.name == "nt", reason="scripts of a POSIX shell stand in for programs")]
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]
ALL = os.pathsep.join(
    folder for folder in os.environ["PATH"].split(os.pathsep) if shutil.which("pivcs", path=folder or ".") is None
)
"""What PATH names, but for folders that have a pivcs: an environment may be active in which it is installed."""


def until(true: Callable[[], object]) -> None:
    """Wait for what another process does."""
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def has_ended(pid: int) -> bool:
    """Whether a process has ended; nobody may have asked for its exit code."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except ProcessLookupError:
        return True
    except FileNotFoundError:
        return not os.path.isdir("/proc/self")


@dataclass
class Stage:
    """A directory with a stand-in for pivcs and for `sleep`, in front of all that PATH names."""

    root: Path

    def __post_init__(self) -> None:
        for name in ("bin", "calls", "sleepers", "ended"):
            (self.root / name).mkdir(parents=True)
        self.wake()
        self.program("sleep", 'touch "$ROOT/sleepers/$PPID"\nwhile ! [ -e "$ROOT/awake" ]; do /bin/sleep 0.01; done')
        self.pivcs()

    def program(self, name: str, text: str) -> Path:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\nROOT='{self.root}'\n{text}\n")
        path.chmod(0o755)
        return path

    def pivcs(self, then: str = ":") -> None:
        say = 'printf "%s\\n" "$@"; pwd -P; env | sed -n "s/^\\(GIT_[A-Z_]*\\)=.*/\\1/p"'
        self.program("pivcs", f'{{ {say}; }} >"$ROOT/calls/.$$"\nmv "$ROOT/calls/.$$" "$ROOT/calls/$$"\n{then}')

    def wake(self) -> None:
        (self.root / "awake").touch()

    def stay_asleep(self) -> None:
        (self.root / "awake").unlink()

    @property
    def path(self) -> dict[str, str]:
        return {"PATH": f"{self.root / 'bin'}:{ALL}"}

    def calls(self) -> list[list[str]]:
        return [
            path.read_text().splitlines()
            for path in sorted((self.root / "calls").iterdir()) if not path.name.startswith(".")
        ]  # fmt: skip

    def call(self) -> list[str]:
        """Wait for all that was started, and return the one call of pivcs: its arguments and its directory."""
        until(self.calls)
        self.settle()
        (call,) = self.calls()
        return [line for line in call if not line.startswith("GIT_")]

    def settle(self) -> None:
        sleepers = [int(path.name) for path in (self.root / "sleepers").iterdir()]
        until(lambda: all(map(has_ended, sleepers)))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "stage")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project", {"a": "1"})


def install(project: Project, program: str | None = None) -> Place:
    place = hooks_place(find_repository(str(project.root)), Git.find(os.environ))
    install_hooks(place, program)
    return place


def queue(git_dir: Path) -> list[str]:
    lines = (git_dir / "pivcs" / "hooks.queue").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def commit(project: Project, stage: Stage, *options: str, **more: str) -> str:
    project.git("commit", "--allow-empty", "-m", "m", *options, **stage.path, **more)
    return project.git("rev-parse", "HEAD")


def test_commit_leads_to_one_call_in_its_work_tree(project: Project, stage: Stage) -> None:
    install(project)
    made = commit(project, stage)
    git_dir = project.root / ".git"
    assert queue(git_dir) == [made]
    assert stage.call() == ["hooks", "run", str(git_dir), str(project.root)]


def test_neither_output_nor_any_descriptor_is_kept_open_by_a_program_that_hangs(
    project: Project, stage: Stage
) -> None:
    install(project)
    os.mkfifo(stage.root / "fifo")
    stage.pivcs('cat "$ROOT/fifo" >/dev/null\ntouch "$ROOT/ended/$$"')
    read, write = os.pipe()
    high = fcntl.fcntl(write, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(write)
    # Returns when the output of everything that was started is closed.
    done = subprocess.run(
        ["git", "commit", "--allow-empty", "-m", "m"], cwd=project.root, env=environment(**stage.path),
        capture_output=True, check=False, timeout=60, close_fds=False, preexec_fn=lambda: os.dup2(high, 3),
    )  # fmt: skip
    os.close(high)
    assert done.returncode == 0
    assert b"m\n" in done.stdout
    until(stage.calls)
    assert select.select([read], [], [], 30)[0]
    assert os.read(read, 1) == b""
    os.close(read)
    assert not list((stage.root / "ended").iterdir())
    (stage.root / "fifo").write_bytes(b"")
    until(lambda: list((stage.root / "ended").iterdir()))


def test_commits_in_a_row_lead_to_one_call(project: Project, stage: Stage) -> None:
    install(project)
    stage.stay_asleep()
    made = [commit(project, stage) for _ in range(4)]
    until(lambda: len(list((stage.root / "sleepers").iterdir())) == 4)
    stage.wake()
    stage.call()
    assert queue(project.root / ".git") == made


def test_rebase_and_amend_tell_the_new_commits(project: Project, stage: Stage) -> None:
    install(project)
    stage.stay_asleep()
    for name in "bcd":
        project.commit({name: name})
    project.git("checkout", "-q", "-b", "other", "HEAD~3")
    project.commit({"e": "e"})
    queued = project.root / ".git" / "pivcs" / "hooks.queue"
    queued.unlink(missing_ok=True)
    project.git("rebase", "-q", "other", "main", **stage.path)
    assert {line.split()[-1] for line in queue(queued.parent.parent)} >= set(
        project.git("rev-list", "other..main").split()
    )
    old = project.git("rev-parse", "HEAD")
    new = commit(project, stage, "--amend")
    assert queue(queued.parent.parent)[-1] == f"{old} {new}"
    stage.wake()
    stage.call()


@pytest.mark.parametrize("how", ["missing", "gone", "fails", "not executable", "read-only"])
def test_commit_is_the_same_without_a_working_pivcs(project: Project, stage: Stage, how: str) -> None:
    place = install(project, str(stage.root / "bin" / "pivcs") if how == "gone" else None)
    if how == "fails":
        stage.pivcs("echo failed; echo failed >&2; exit 3")
    elif how == "read-only":
        (project.root / ".git" / "pivcs").write_bytes(b"")  # no directory can be made there
    elif how == "not executable":
        (stage.root / "bin" / "pivcs").chmod(0o644)
    else:
        (stage.root / "bin" / "pivcs").unlink()
    path = environment(GIT_COMMITTER_DATE="1767225600 +0000", GIT_AUTHOR_DATE="1767225600 +0000", **stage.path)
    if how == "missing":
        path["PATH"] = ALL
    said = []
    for _ in range(2):
        project.git("reset", "-q", "--hard", "main")
        done = subprocess.run(
            ["git", "commit", "--amend", "--allow-empty", "-m", "same"], cwd=project.root, env=path,
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        said.append((done.returncode, done.stdout.split(b"]")[-1], done.stderr))
        stage.settle()
        uninstall_hooks(place)
    assert said[0] == said[1]
    assert said[0][0] == 0
    if how == "fails":
        until(stage.calls)
    else:
        assert stage.calls() == []


def test_program_of_the_installation_is_called_when_path_names_none(project: Project, stage: Stage) -> None:
    named = stage.root / "it's $HOME" / "pivcs"
    named.parent.mkdir()
    (stage.root / "bin" / "pivcs").rename(named)
    install(project, str(named))
    commit(project, stage)
    assert stage.call()[:2] == ["hooks", "run"]


def test_path_comes_before_the_program_of_the_installation(project: Project, stage: Stage) -> None:
    install(project, str(stage.program("older", 'touch "$ROOT/ended/older"')))
    commit(project, stage)
    assert stage.call()[:2] == ["hooks", "run"]
    assert not (stage.root / "ended" / "older").exists()


def test_variables_of_git_do_not_reach_the_program(project: Project, stage: Stage, decoy: Project) -> None:
    """A hook runs with `GIT_INDEX_FILE`, in a linked worktree also with `GIT_DIR`; the user may have set more."""
    install(project)
    project.git("worktree", "add", "-q", "../linked")
    linked = Project(project.root.parent / "linked")
    given = {"GIT_DIR": str(project.root / ".git/worktrees/linked"), "GIT_WORK_TREE": str(linked.root)}
    made = commit(linked, stage, **given, GIT_CONFIG_COUNT="0", GIT_PREFIX="x/")
    call = stage.call()
    ours = [line for line in stage.calls()[0] if line.startswith("GIT_")]
    kept = {"GIT_EXEC_PATH", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME",
            "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE", "GIT_EDITOR", "GIT_REFLOG_ACTION"}  # fmt: skip
    assert set(ours) <= kept
    assert call[2:4] == [given["GIT_DIR"], given["GIT_WORK_TREE"]]
    assert queue(Path(given["GIT_DIR"])) == [made]
    assert not (decoy.root / ".git" / "pivcs").exists()


def test_linked_worktree_and_submodule_have_queues_of_their_own(project: Project, stage: Stage) -> None:
    install(project)
    project.git("worktree", "add", "-q", "../linked")
    linked = Project(project.root.parent / "linked")
    made = commit(linked, stage)
    assert queue(project.root / ".git" / "worktrees" / "linked") == [made]
    assert stage.call()[2:] == [str(project.root / ".git/worktrees/linked"), str(linked.root)]

    other = new_project(project.root.parent / "other", {"b": "1"})
    project.git("submodule", "add", "-q", str(other.root), "module")
    module = Project(project.root / "module")
    install(module)
    made = commit(module, stage)
    assert queue(project.root / ".git" / "modules" / "module") == [made]


def test_work_tree_elsewhere_tells_its_repository(tmp_path: Path, stage: Stage) -> None:
    work = Project(tmp_path / "work")
    work.root.mkdir()
    work.git("init", "-q", "--bare", "../files.git")
    bare = Project(tmp_path / "files.git")
    install(bare)
    work.git("--git-dir", bare.root, "--work-tree", ".", "commit", "-q", "--allow-empty", "-m", "m", **stage.path)
    assert stage.call() == ["hooks", "run", str(bare.root), str(work.root)]


CHAINED = {
    "dash": "#!/bin/sh\n",
    "strict": "#!/bin/sh -eu\n",
    "bash": "#!/usr/bin/env bash\nset -euo pipefail\n",
    "moved": "#!/usr/bin/env -S sh\n",
}


@pytest.mark.parametrize("kind", CHAINED)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0, 1, 5000])
def test_chained_hook_gets_arguments_and_input_and_gives_its_exit_code(
    project: Project, stage: Stage, kind: str, name: str, size: int
) -> None:
    hook = project.root / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    text = f"printf '%s\\n' \"${{0##*/}}\" \"$@\" >'{stage.root}/arguments'\ncat >'{stage.root}/input'\nexit 7\n"
    hook.write_text(CHAINED[kind] + text)
    hook.chmod(0o755)
    place = install(project)
    assert (place.directory / "pivcs-chained" / name).exists() == (kind == "moved")
    given = b"".join(b"%040d %040d a\\tb $HOME `x` 'y\n" % (number, number) for number in range(size))
    done = subprocess.run(
        [hook, "an argument", "$HOME *", ""], input=given, cwd=project.root, env=environment(**stage.path),
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (7, b"", b"")
    assert (stage.root / "input").read_bytes() == given
    assert (stage.root / "arguments").read_text() == f"{name}\nan argument\n$HOME *\n\n"
    stage.settle()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("options", [[], ["-e"], ["-eu"]])
@pytest.mark.parametrize("name", NAMES)
def test_shells_run_the_lines_alike(
    project: Project, stage: Stage, shell: str, options: list[str], name: str, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_bytes(with_block(b"cat\nexit 5\n", hook_block(name, "before", None)))
    project.git("config", "pivcs.pushWithCode", "true")
    project.git("remote", "add", "origin", "../there")
    command = [shell, *(["sh"] if shell == "busybox" else []), *options, script, "origin", "../there"]
    given = f"{'0' * 40} {'1' * 40}\n".encode()
    done = subprocess.run(
        command, input=given, cwd=project.root, env=environment(**stage.path), capture_output=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (5, given)
    until(stage.calls)
    rest = ["--push=origin"] if name == "pre-push" else []
    assert stage.calls()[0][: 3 + len(rest)] == ["hooks", "run", *rest, str(project.root / ".git")]
    assert done.stderr.count(b"\n") == len(rest)


def test_hook_that_refuses_a_push_still_does(project: Project, stage: Stage) -> None:
    place = Place(project.root / ".git" / "hooks", "repository", False, None, None)
    place.directory.mkdir(exist_ok=True)
    hook = place.directory / "pre-push"
    hook.write_text("#!/bin/sh\nread -r local_ref rest\n[ \"$local_ref\" != refs/heads/main ]\n")
    hook.chmod(0o755)
    install(project)
    project.git("init", "-q", "--bare", "../there.git")
    project.git("remote", "add", "origin", "../there.git")
    project.git("push", "origin", "main", ok=(1,), **stage.path)
    project.git("push", "origin", "HEAD:refs/heads/fine", **stage.path)


def push(project: Project, stage: Stage, remote: str) -> str:
    done = subprocess.run(
        ["git", "push", "-q", remote, "main"], cwd=project.root, env=environment(**stage.path), capture_output=True,
        check=True, timeout=60,
    )  # fmt: skip
    return done.stderr.decode()


def test_push_takes_sessions_along_only_where_that_is_set(project: Project, stage: Stage) -> None:
    install(project)
    stage.pivcs("exit 9")
    project.git("init", "-q", "--bare", "../there.git")
    project.git("remote", "add", "origin", "../there.git")
    assert push(project, stage, "origin") == ""
    project.git("config", "pivcs.pushWithCode", "yes")
    assert push(project, stage, "../there.git") == ""  # a place without a name
    said = push(project, stage, "origin")
    assert said.startswith("pivcs: sending sessions to 'origin' in the background;")
    assert said.count("\n") == 1
    until(stage.calls)
    (call,) = stage.calls()
    assert call[:4] == ["hooks", "run", "--push=origin", str(project.root / ".git")]


def test_hooks_of_husky_run_the_lines(project: Project, stage: Stage) -> None:
    """As husky 9 has it: git finds scripts in `.husky/_`, which run those in `.husky` with `sh -e`."""
    project.write({
        ".husky/_/post-commit": '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n',
        ".husky/_/h": 'n=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\n'
                      'sh -e "$s" "$@"\nexit $?\n',
        ".husky/post-commit": "echo mine >ran\n",
    })  # fmt: skip
    (project.root / ".husky/_/post-commit").chmod(0o755)
    project.git("config", "core.hooksPath", ".husky/_")
    before = (project.root / ".husky/post-commit").lstat().st_mode, (project.root / ".husky/post-commit").read_bytes()
    place = install(project)
    assert (place.directory, place.husky, place.reach) == (project.root / ".husky", True, "work tree")
    commit(project, stage)
    assert stage.call()[:2] == ["hooks", "run"]
    assert (project.root / "ran").read_text() == "mine\n"
    uninstall_hooks(place)
    after = (project.root / ".husky/post-commit").lstat().st_mode, (project.root / ".husky/post-commit").read_bytes()
    assert before == after
    assert sorted(path.name for path in place.directory.iterdir()) == ["_", "post-commit"]
