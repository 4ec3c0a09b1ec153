"""The command line: each command reads arguments, calls one operation, and shows its result.

Only here are the environment, the clock, the terminal and exit codes known. A command's module is imported when the
command is called, so that `pivcs log` does not wait for what it does not use.
"""

from __future__ import annotations

import gc as collector  # `gc` is a command here
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from pivcs import __version__
from pivcs.errors import PivcsError, StateError

COMMANDS = {
    "append": "append",
    "archive": "archive",
    "blame": "blame",
    "branch": "branch",
    "cat": "cat",
    "cat-file": "cat_file",
    "checkout": "checkout",
    "cherry-pick": "cherry_pick",
    "completion": "completion",
    "context": "context",
    "delete": "delete",
    "demo": "demo",
    "diff": "diff",
    "export": "export",
    "files": "files",
    "fetch": "fetch",
    "forget": "forget",
    "fork": "fork",
    "fsck": "fsck",
    "gc": "gc",
    "grep": "grep",
    "hooks": "hooks",
    "import": "import_",
    "init": "init",
    "label": "label",
    "link": "link",
    "log": "log",
    "ls": "ls",
    "merge-base": "merge_base",
    "migrate": "migrate",
    "new": "new",
    "op": "op",
    "push": "push",
    "redo": "redo",
    "reflog": "reflog",
    "rename": "rename",
    "restore": "restore",
    "rev-parse": "rev_parse",
    "scan": "scan",
    "show": "show",
    "snapshot": "snapshot",
    "stats": "stats",
    "status": "status",
    "store": "store",
    "switch": "switch",
    "sync": "sync",
    "tag": "tag",
    "undo": "undo",
    "why": "why",
}

INTERRUPTED = 130
BROKEN_PIPE = 141


class _ReaderGone(Exception):
    """Whoever read the output stopped reading; click would end the program with code 1 for the error behind it."""


class LazyGroup(click.Group):
    """A group that imports a command when it is asked for."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; what was typed is kept for the log of operations."""
        ctx.meta["pivcs.arguments"] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """As click does, but for a closed pipe, and for what a damaged store may have caused."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGone from error
        except (PivcsError, OSError, RuntimeError, click.ClickException):  # click's own are among these
            raise
        except Exception as error:
            store = ctx.meta.get("pivcs.open-store")
            if store is None:
                raise
            from pivcs.ops.fsck import damage_of

            damage = damage_of(store)
            if damage is None:
                raise
            raise damage from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = importlib.import_module(f"pivcs.cli.{module}").command
        assert isinstance(command, click.Command)
        collector.freeze()  # what was imported stays
        collector.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a suggestion for a mistyped command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, n=1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{close[0]}'?", ctx) from error


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", prog_name="pivcs", message="%(prog)s %(version)s")
@click.option("-C", "directory", metavar="DIR", help="Run as if started in DIR.")
def cli(directory: str | None) -> None:
    """Version control for the sessions of the pi coding agent.

    Session files are never changed by looking at them. In a project that pi has been used in, `pivcs log` works at
    once; `pivcs demo` shows what it does to someone who has no session.
    """
    if directory is not None:
        try:
            os.chdir(directory)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise click.UsageError(f"cannot change to '{directory}': {reason}") from error


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; errors for people go to standard error."""
    _give_streams()
    given = list(arguments) if arguments is not None else None
    try:
        result = cli.main(args=given, prog_name="pivcs", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        _show(error, sys.argv[1:] if given is None else given)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except PivcsError as error:
        _complain(error)
        return error.exit_code
    except (BrokenPipeError, _ReaderGone):
        # As with `| head`: nothing to say.
        _forget_output()
        return BROKEN_PIPE
    except OSError as error:
        _complain(_of_system(error))
        _forget_output()
        return StateError.exit_code
    return result if isinstance(result, int) else 0


def _give_streams() -> None:
    """Open what the caller has closed: everything may write, and no file of ours takes the place of a stream."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open as long as the program runs


def _forget_output() -> None:
    """Leave nothing to flush at exit, which would fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _of_system(error: OSError) -> PivcsError:
    """Return what to say of an error of the system that no operation knows more about."""
    reason = (error.strerror or str(error)).lower()
    if error.filename is None:
        return StateError(f"cannot write to standard output: {reason}")
    return StateError(f"cannot use '{os.fsdecode(error.filename)}': {reason}")


def _show(error: click.ClickException, arguments: Sequence[str]) -> None:
    """Show an error of click's, in which line breaks are its own but for those of the arguments that it quotes."""
    from io import StringIO

    from pivcs.cli.output import to_stderr
    from pivcs.render.text import visible

    shown = StringIO()
    shown.isatty = lambda: True  # type: ignore[method-assign] # or click would take terminal sequences out
    error.show(shown)
    text = shown.getvalue()
    for argument in arguments:
        if not argument.isprintable():
            text = text.replace(argument, visible(argument, keep=""))
    to_stderr(text.removesuffix("\n"), keep="\n\t")


def _complain(error: PivcsError) -> None:
    from pivcs.cli.output import to_stderr

    to_stderr(f"pivcs: {error.message}", keep="\n" if error.has_lines else "")
    if error.hint:
        to_stderr(f"hint: {error.hint}")
