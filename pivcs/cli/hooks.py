"""`pivcs hooks`: install, uninstall, status; and `run`, which the hooks call."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import click

from pivcs.cli.output import Output, output_options
from pivcs.cli.target import current_directory, now
from pivcs.errors import StateError
from pivcs.gitbridge.hooks import hooks_in, install_hooks, uninstall_hooks
from pivcs.gitbridge.hooks_place import NOTES, PUSH_WITH_CODE, Place, hooks_place, is_set, own_place
from pivcs.gitbridge.hooks_run import forget_work, hook_log, log_path, work_off
from pivcs.gitbridge.process import TRANSPORT_VARIABLES, Git
from pivcs.gitbridge.repository import NoRepository, Repository, find_repository
from pivcs.render.documents import encode
from pivcs.render.hooks_text import Standing, done_lines, standing_document, standing_lines
from pivcs.render.style import ColourWhen

_BATCH = 100
"""Commits for one `pivcs link`: some systems take no more than 32 KiB of arguments."""
_PATIENCE = 3600
"""Seconds after which a command that a hook started is taken for stuck."""


class SharedHooks(StateError):
    """Hooks would be written to a place that is not this repository's alone."""


@click.group("hooks")
def command() -> None:
    """Let git call pivcs after a commit and before a push.

    After commits and rewrites the hooks run `pivcs sync` for the current project, and with `git config pivcs.notes
    true` also `pivcs link --notes` for the new commits. With `git config pivcs.pushWithCode true` a push to a named
    remote also runs `pivcs push`. All of it happens in the background: git does not wait for it, and it cannot make a
    commit or a push fail.
    """


@command.command("install")
@click.option("--work-tree", is_flag=True, help="Write hooks that are files of the project, husky's too.")
@click.option("--global", "shared", is_flag=True, help="Write hooks that other repositories use, too.")
def install(work_tree: bool, shared: bool) -> None:
    """Install the hooks post-commit, post-rewrite and pre-push where git looks for hooks.

    A hook that is there goes on as before, with the same arguments, input and exit code: a shell script gets the lines
    of pivcs below its first line, anything else is moved to the directory `pivcs-chained` beside it and run from there.
    Installing again brings the lines up to date.
    """
    repository = find_repository(current_directory())
    place = hooks_place(repository, Git.find(os.environ))
    if place.reach == "work tree" and not work_tree:
        raise SharedHooks(
            f"git's hooks are files of the project here, in '{place.directory}'",
            hint="`pivcs hooks install --work-tree` changes them; whoever gets these files gets the hooks, too",
        )
    _check_shared(place, shared, "install")
    output = _plain()
    output.lines(done_lines(install_hooks(place, _program()), output.looks))


@command.command("uninstall")
@click.option("--global", "shared", is_flag=True, help="Change hooks that other repositories use, too.")
def uninstall(shared: bool) -> None:
    """Take the hooks of pivcs away, and leave every file as it was before.

    Nothing is taken away when somebody has changed the lines of pivcs in one of them. Log and queue of the hooks are
    deleted.
    """
    repository = find_repository(current_directory())
    place = hooks_place(repository, Git.find(os.environ))
    _check_shared(place, shared, "uninstall")
    done = uninstall_hooks(place)
    own = own_place(repository)
    if os.path.realpath(own.directory) != os.path.realpath(place.directory):
        done += [each for each in uninstall_hooks(own) if each.outcome != "none"]  # core.hooksPath was set later
    forget_work(repository.common_dir)
    output = _plain()
    output.lines(done_lines(done, output.looks))


@command.command("status")
@output_options
def status(as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool) -> None:
    """Say how each hook stands, what else is in it, and what the settings are."""
    repository = find_repository(current_directory())
    git = Git.find(os.environ)
    place = hooks_place(repository, git)
    hooks = tuple(hooks_in(place))
    known = (hook.program for hook in hooks if hook.program is not None and os.access(hook.program, os.X_OK))
    standing = Standing(
        place,
        hooks,
        is_set(NOTES, repository, git),
        is_set(PUSH_WITH_CODE, repository, git),
        shutil.which("pivcs") or next(known, None),
        log_path(repository.common_dir),
    )
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(standing_document(standing)), b"\n"])
    else:
        output.lines(standing_lines(standing, output.looks))


@command.command("run", hidden=True)
@click.argument("git_dir", metavar="GIT_DIR", type=click.Path(path_type=Path))
@click.option("--push", "remote", metavar="REMOTE", help="Send sessions to REMOTE.")
def run(git_dir: Path, remote: str | None) -> None:
    """Do what a hook of the repository GIT_DIR has left to be done; the log there says what happened."""
    with suppress(AttributeError, OSError):  # not on Windows; already the first of its session
        os.setsid()  # away from the terminal that git was called in
    meant = find_repository(str(git_dir))
    with hook_log(meant.common_dir) as log:
        if remote is not None:
            _call(log, "push", "--", remote)
        else:
            work_off(meant.git_dir, lambda commits: _after_commits(meant, commits, log))


def _after_commits(meant: Repository, commits: Sequence[str], log: IO[bytes]) -> None:
    """Read the project's session files, and link commits where the user wants that."""
    _call(log, "sync", "--quiet")
    try:
        wanted = commits and is_set(NOTES, meant, Git.find(os.environ))
        if not wanted:
            return
        here = find_repository(current_directory()).git_dir
    except NoRepository:
        here = None
    except StateError as error:
        _note(log, f"no commit was linked: {error.message}")
        return
    if here is None or os.path.realpath(here) != os.path.realpath(meant.git_dir):
        _note(log, "no commit was linked: the work tree is not in the repository that it belongs to")
        return
    for first in range(0, len(commits), _BATCH):
        batch = commits[first : first + _BATCH]
        _call(log, "link", "--notes", "--", *batch,
              answer_no=f"no entry has a part in {'it' if len(batch) == 1 else 'them'}")  # fmt: skip


def _call(log: IO[bytes], *arguments: str, answer_no: str | None = None) -> None:
    """Run a command of pivcs as a process of its own; what it says goes to the log.

    `answer_no` is what exit code 1 means, where that is no failure.
    """
    _note(log, "pivcs " + " ".join(arguments))
    environ = {
        name: value for name, value in os.environ.items()
        if not name.upper().startswith("GIT_") or name.upper() in TRANSPORT_VARIABLES
    }  # fmt: skip
    try:
        # -P: the project may have a module of our name.
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pivcs", *arguments],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ, timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        _note(log, f"stopped: it had not ended after {_PATIENCE} seconds")
    else:
        if done.returncode == 1 and answer_no is not None:
            _note(log, answer_no)
        elif done.returncode:
            _note(log, f"exit code {done.returncode}")


def _note(log: IO[bytes], text: str) -> None:
    time = datetime.fromtimestamp(now() / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    log.write(f"{time} {text}\n".encode("utf-8", "backslashreplace"))


def _check_shared(place: Place, agreed: bool, verb: str) -> None:
    if place.reach == "outside" and not agreed:
        raise SharedHooks(
            f"git's hooks are outside of the repository, in '{place.directory}'"
            + (f" (core.hooksPath is set in {place.origin})" if place.origin else ""),
            hint=f"`pivcs hooks {verb} --global` changes them for every repository that uses them",
        )


def _program() -> str | None:
    """Return the program to run where PATH names none: the one that runs now, or that PATH names now."""
    for name in (sys.argv[0], "pivcs"):
        found = shutil.which(name) if os.path.basename(name).split(".")[0] == "pivcs" else None
        if found is not None:
            return os.path.abspath(found)
    return None


def _plain() -> Output:
    return Output(colour="auto", pager=False, utc=False)
