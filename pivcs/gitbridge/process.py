"""The one place that runs the `git` program: what it may see of the environment, and its errors as ours.

Variables that begin with `GIT_` are never passed on: a hook sets `GIT_DIR` and others, and they win over any `-C`, so
that git would work in a repository that nobody meant. Nothing is asked on the terminal, no hook runs, nothing is
signed, no background work starts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final, Required, TypedDict, Unpack

from pivcs.errors import PivcsError, RemoteError, StateError

Argument = str | bytes | Path

SETTINGS: Final = (
    "core.hooksPath=" + os.devnull,
    "core.fsmonitor=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "color.ui=false",
    "log.showSignature=false",
)
"""What holds for every run, whatever the user's and the repository's configuration say."""

TRANSPORT_VARIABLES: Final = frozenset({
    "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_PROXY_SSL_CAINFO", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_NO_VERIFY",
})  # fmt: skip
"""Variables that say how to reach another machine, and never which repository is meant."""

_FIXED: Final = {
    "LC_ALL": "C",
    "GIT_EDITOR": ":",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
_SEVERITY: Final = re.compile(r"(?:fatal|error|ERROR): ")
_FOLLOWS: Final = re.compile(r"fatal: (?:could not read from remote|the remote end hung up|early EOF)", re.IGNORECASE)
"""What git says after something else has gone wrong, which is told before it."""
_NOISE: Final = re.compile(r"(?:hint|warning): ?")


class GitNotFound(StateError):
    """There is no `git` program."""


class GitFailed(StateError):
    """The `git` program ended with an error. `code` is its exit code, `said` what it wrote to standard error."""

    def __init__(self, message: str, code: int, said: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.said = said


class GitRemoteFailed(RemoteError):
    """The `git` program could not do what another repository has a part in. As `GitFailed`."""

    def __init__(self, message: str, code: int, said: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.said = said


class RunOptions(TypedDict, total=False):
    """How to run git in the directory `cwd`.

    `stdin` is bytes or an open file with a descriptor. `git_dir`, `work_tree` and `index` name the repository, the work
    tree and the index file, where it is not the repository that `cwd` is in. `settings` are more of `NAME=VALUE`, above
    all configuration. Without `user_config` only the repository's own configuration is read. `transport` passes on the
    variables that say how to reach another machine, and makes failures `GitRemoteFailed`. Exit codes in `ok` are no
    failure.
    """

    cwd: Required[Path]
    stdin: bytes | IO[bytes]
    git_dir: Path
    work_tree: Path
    index: Path
    settings: Sequence[str]
    user_config: bool
    transport: bool
    ok: Sequence[int]


class Git:
    """The `git` program, and the environment that it gets. Arguments never hold text of sessions: that goes in by
    standard input."""

    def __init__(self, program: str, environ: Mapping[str, str]) -> None:
        self.program = program
        self._environ = dict(environ)

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> Git:
        """Return the program that PATH names. Raises `GitNotFound`."""
        program = shutil.which("git", path=environ.get("PATH", os.defpath))
        if program is None:
            raise GitNotFound("there is no 'git' program", hint="install git, and see to it that PATH names its folder")
        return cls(program, environ)

    def run(self, *arguments: Argument, **options: Unpack[RunOptions]) -> bytes:
        """Run git and return its standard output. All is as `stream` has it."""
        with self.stream(*arguments, **options) as output:
            return output.read()

    @contextmanager
    def stream(self, *arguments: Argument, **options: Unpack[RunOptions]) -> Iterator[IO[bytes]]:
        """Run git and give its standard output to read while it runs.

        It is no failure when the block ends before git does. Raises `GitNotFound`, and at the end of the block
        `GitFailed` or, with `transport`, `GitRemoteFailed`.
        """
        transport = options.get("transport", False)
        command: list[Argument] = [self.program, "--no-pager", "-C", options["cwd"]]
        for setting in (*SETTINGS, *options.get("settings", ())):
            command += ["-c", setting]
        command += arguments
        environ = self.environment(transport=transport, user_config=options.get("user_config", True))
        places = {
            "GIT_DIR": options.get("git_dir"),
            "GIT_WORK_TREE": options.get("work_tree"),
            "GIT_INDEX_FILE": options.get("index"),
        }
        environ |= {name: str(place) for name, place in places.items() if place is not None}
        with ExitStack() as files:
            complaints = files.enter_context(tempfile.TemporaryFile())
            given = options.get("stdin", b"")
            if isinstance(given, bytes):
                data, given = given, files.enter_context(tempfile.TemporaryFile())
                given.write(data)  # a pipe could fill while nobody reads the output
                given.seek(0)
            try:
                process = subprocess.Popen(
                    command, stdin=given, stdout=subprocess.PIPE, stderr=complaints, env=environ,
                    cwd=_somewhere(options["cwd"]),
                )  # fmt: skip
            except OSError as error:
                raise GitNotFound(f"cannot run '{self.program}': {(error.strerror or str(error)).lower()}") from error
            assert process.stdout is not None
            try:
                yield process.stdout
                left = process.stdout.read(1)
            except BaseException:
                process.kill()
                raise
            finally:
                process.stdout.close()
                code = process.wait()
            if left or code in options.get("ok", (0,)):
                return
            complaints.seek(0)
            said = complaints.read().decode("utf-8", "replace")
            raise failure(arguments, code, said, transport=transport)

    def environment(self, *, transport: bool = False, user_config: bool = True) -> dict[str, str]:
        """Return the environment of a run."""
        kept = {
            name: value
            for name, value in self._environ.items()
            if not name.upper().startswith("GIT_") or (transport and name.upper() in TRANSPORT_VARIABLES)
        }
        kept.pop("LANGUAGE", None)
        if not user_config:
            kept |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
        return kept | _FIXED


def failure(arguments: Sequence[Argument], code: int, said: str, *, transport: bool = False) -> PivcsError:
    """Return what to raise for a run that failed: the last thing that git, or what it ran, called an error, and what to
    do."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not _NOISE.match(line)]
    last = _telling(lines)
    reason = _SEVERITY.sub("", lines[last], count=1) if lines else f"it ended with code {code}"
    if reason.endswith(":") and last + 1 < len(lines):  # what it is about stands in the next line
        reason += " " + lines[last + 1]
    if code < 0:
        reason = f"it was stopped by signal {-code}"
    verb = next((each for each in arguments if isinstance(each, str) and not each.startswith("-")), "")
    hint = None
    if "dubious ownership" in said:
        reason, hint = "the repository belongs to another user", "git's setting safe.directory says whom to trust"
    kind = GitRemoteFailed if transport else GitFailed
    return kind(f"git {verb} failed: {reason[:1].lower()}{reason[1:]}".rstrip("."), code, said, hint=hint)


def _telling(lines: Sequence[str]) -> int:
    """Return which line of git's says why it failed: the last error that is not only what follows from another one,
    else what ssh or a server said before that; else the last line."""
    errors = [at for at, line in enumerate(lines) if _SEVERITY.match(line)]
    if not errors:
        return len(lines) - 1
    telling = [at for at in errors if not _FOLLOWS.match(lines[at])]
    return telling[-1] if telling else max(errors[0] - 1, 0)


def _somewhere(cwd: Path) -> str | None:
    """Return a directory to start in: `-C` leads to the one that is meant, and has a message when it is not there."""
    return str(cwd) if os.path.isdir(cwd) else os.sep
