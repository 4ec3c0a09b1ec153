"""Which store, which session and which revisions a command line names."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from pivcs.cli.complete import sessions
from pivcs.cli.output import warn
from pivcs.errors import StateError
from pivcs.ops.access import CannotWrite, Reader
from pivcs.ops.locate import looks_like_path
from pivcs.ops.view import SessionView
from pivcs.session.layout import Surroundings
from pivcs.store.errors import StoreReadOnly
from pivcs.store.location import Places
from pivcs.store.store import Store

if TYPE_CHECKING:
    from pivcs.ops.writing import Writer

F = TypeVar("F", bound=Callable[..., Any])
SEPARATOR = "::"


class NoDirectory(StateError):
    """The current directory is there no more."""
STORE = "pivcs.open-store"
"""Where contexts keep the store that is open: what is looked at when a command fails for no known reason."""
ARGUMENTS = "pivcs.arguments"
"""Where the root context keeps the arguments as they were typed."""

_SESSION = re.compile(r"[^\"'():]+")
"""What may stand before `::`: not the beginning of `label:"a::b"`, `text("a::b")` or `:/a::b`."""


def surroundings() -> Surroundings:
    """Return what pi's directories depend on, from the process. Raises `NoDirectory`."""
    return Surroundings(os.environ, str(Path.home()), current_directory(), windows=os.name == "nt")


def current_directory() -> str:
    """Return the current directory. Raises `NoDirectory` when it was deleted."""
    try:
        return os.getcwd()
    except OSError as error:
        raise NoDirectory(
            f"the current directory cannot be told: {(error.strerror or str(error)).lower()}",
            hint="change to another one, or give one with `pivcs -C DIR`",
        ) from error


def now() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def command_line() -> str:
    """Return the command as it was typed, quoted for a shell: what the log of operations keeps."""
    import shlex

    arguments = map(text_of, click.get_current_context().find_root().meta.get(ARGUMENTS, []))
    return shlex.join(["pivcs", *(text.encode("utf-8", "backslashreplace").decode() for text in arguments)])


def writer() -> Writer:
    """Return what commands need that append to session files."""
    from pivcs.ops.writing import Writer
    from pivcs.session.world import World

    return Writer(now(), command_line(), warn, World.real())


def places() -> Places:
    """Return what the store's place depends on, from the process and `--store`."""
    from platformdirs import user_config_path, user_data_path

    context = click.get_current_context(silent=True)
    option = context.find_root().meta.get("store") if context is not None else None
    return Places(option, os.environ, Path(current_directory()), user_data_path("pivcs"), user_config_path("pivcs"))


def open_store(*, create: bool = True) -> Store:
    """Open the store. Raises `NoStore` without `create`, `StoreReadOnly`, `NewerStore`, `StoreDamaged`, `StoreBusy`."""
    found = places()
    store = Store.open(found.store(), create=create)
    click.get_current_context().meta[STORE] = store
    click.get_current_context().call_on_close(store.close)
    return store


def reader() -> Reader:
    """Return what opens sessions; without a store, and a warning, where none can be made."""
    store: Store | None = None
    try:
        store = open_store()
    except CannotWrite as error:
        warn(f"{error.message}; reading session files without it")
    if store is not None and store.read_only:
        warn(f"{StoreReadOnly(store.database.where, 'permission denied').message}; showing what is known")
    return Reader(store, surroundings(), now(), warn)


def store_option(command: F) -> F:
    """Give a command `--store`, which may also stand before the command's name."""

    def remember(context: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.find_root().meta["store"] = value

    return click.option(
        "--store",
        metavar="DIR",
        callback=remember,
        expose_value=False,
        is_eager=True,
        help="Use the store in DIR instead of the usual one (see PIVCS_DIR).",
    )(command)


def session_option(command: F) -> F:
    """Give a command `-s/--session`, and `--store`."""
    return click.option(
        "-s",
        "--session",
        metavar="PATH|ID|KEY",
        shell_complete=sessions,
        help="The session: a file, or the beginning of a session id or key. Default: the project's latest.",
    )(store_option(command))


def split_target(arguments: Sequence[str], session: str | None) -> tuple[str | None, list[str]]:
    """Return the session and the revisions that arguments name.

    An argument that is a path names the session, `SESSION::REV` both; anything else is a revision, also a name with
    slashes to which there is no file. Raises click's usage error when two different sessions are named.
    """
    revisions: list[str] = []
    given = session is not None
    for argument in arguments:
        named, separator, revision = argument.partition(SEPARATOR)
        if given and os.sep not in argument and not argument.endswith(".jsonl") and not separator:
            revisions.append(text_of(argument))  # also when a file of the project is called so
            continue
        if os.path.isfile(argument):  # its name may have anything in it
            named = argument
        elif separator and (_SESSION.fullmatch(named) or os.path.isfile(named)):
            if revision:
                revisions.append(text_of(revision))
        elif _names_file(argument):
            named = argument
        else:
            revisions.append(text_of(argument.removeprefix(SEPARATOR)))
            continue
        if session is not None and session != named:
            raise click.UsageError(f"two sessions are named: '{session}' and '{named}'")
        session = named
    return session, revisions


class Named(NamedTuple):
    """One side of a comparison as it was typed: a session (None: the project's latest) and a revision in it."""

    session: str | None
    revision: str


def split_sides(arguments: Sequence[str], session: str | None) -> tuple[list[Named], str]:
    """Return the sides that the arguments of a comparison name, and the dots between them (`..`, `...`, or none).

    As `split_target`, but each side may be in a session of its own: `a.jsonl::main b.jsonl::main`, `a.jsonl b.jsonl`
    (where HEAD is meant), `main..b.jsonl::main`. A side that names no session is in the only one that is named, else in
    the project's latest. Raises click's usage error when it could be in either of two.
    """
    dots, typed = "", list(arguments)
    if len(typed) == 1 or (len(typed) == 2 and os.path.isfile(typed[0])):
        ranged = _range_of(typed[-1])
        if ranged is not None:
            left, dots, right = ranged
            typed = [*typed[:-1], left or "HEAD", right or "HEAD"]
    sides: list[tuple[str | None, str | None]] = []
    for argument in typed:
        named, revisions = split_target([argument], None)
        if named is None and sides and sides[-1][0] is not None and sides[-1][1] is None:
            sides[-1] = (sides[-1][0], revisions[0])
        else:
            sides.append((named, revisions[0] if revisions else None))
    sessions = list(dict.fromkeys(named for named, _ in [(session, None), *sides] if named is not None))
    if len(sessions) < 2 and any(revision is not None for _, revision in sides):
        sides = [side for side in sides if side[1] is not None]  # a path alone says where all of them are
    bare = next((revision for named, revision in sides if named is None), None)
    if len(sessions) > 1 and session is None and bare is not None:
        raise click.UsageError(f"'{bare}' could be in either of two sessions: write SESSION::{bare}")
    common = session if session is not None else sessions[0] if sessions else None
    return [Named(named if named is not None else common, revision or "HEAD") for named, revision in sides], dots


def _range_of(argument: str) -> tuple[str, str, str] | None:
    """Return what stands around the dots of a range whose ends may name sessions; None if it is no range."""
    if os.path.isfile(argument):
        return None
    named, separator, rest = argument.partition(SEPARATOR)
    plain = _plain_range(rest if separator else argument)
    if plain is not None:
        left, sign, right = plain
        return f"{named}{SEPARATOR}{left}" if separator else left, sign, right
    ways = []
    for found in re.finditer(r"\.\.\.?", argument):
        left, sign, right = argument[: found.start()], found[0], argument[found.end() :]
        ends = [end.partition(SEPARATOR)[0] if SEPARATOR in end else None for end in (left, right)]
        if ends[1] and left and not left.endswith(os.sep) and left.count('"') % 2 == 0:
            missing = sum(end is not None and not os.path.isfile(end) for end in ends)
            ways.append((missing, found.start(), (left, sign, right)))
    return min(ways)[2] if ways else None


def _plain_range(text: str) -> tuple[str, str, str] | None:
    """Return the ends and the dots of a range of one session, None if the text is none."""
    from pivcs.ops.set_syntax import BadExpression, parse

    try:
        steps = parse(text)
    except BadExpression:
        return None
    if SEPARATOR in text or len(steps) != 1 or steps[0].kind != "range":
        return None
    sign, _, right = steps[0].argument.partition(" ")
    return steps[0].text, sign, right


def split_session(arguments: Sequence[str], session: str | None) -> str | None:
    """Return the session that the arguments of a command without revisions name: a path, an id or a key."""
    named, words = split_target(arguments, session)
    if words and (named is not None or len(words) > 1):
        raise click.UsageError(f"unexpected argument '{words[-1]}'")
    return words[0] if words else named


def _names_file(argument: str) -> bool:
    """Whether an argument can only be meant as a path: `feature/x` is one only if it is there."""
    if argument.startswith((os.sep, "./", "../", "~/")):
        return True
    if argument.endswith(".jsonl") and (":" not in argument or os.name == "nt"):  # else a file at an entry
        return True
    return looks_like_path(argument) and os.path.lexists(argument)


def text_of(argument: str) -> str:
    """Return an argument as the text that was typed: in the C locale Python takes UTF-8 for undecodable bytes."""
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


def open_session(session: str | None) -> SessionView:
    """Open the session that an argument names, or the current project's latest, synced and read through the store.

    Raises `NoSession`, `AmbiguousSession`, `SourceNotReadable`.
    """
    return reader().open(session)


def resolve_warned(view: SessionView, text: str) -> int:
    """Return the row of the session's own stream that a revision names; warns where it could mean something else, too.

    Raises as `pivcs.ops.revision.resolve`.
    """
    from pivcs.ops.revision import InAnotherStream, resolve_target

    target = resolve_target(view, text)
    if target.view is not view:
        raise InAnotherStream(
            f"'{text}' is in '{target.view.where}', another source or generation of the session",
            hint="here only an entry of the stream that is shown will do; a tag can name it",
        )
    for warning in target.warnings:
        warn(warning)
    return target.row
