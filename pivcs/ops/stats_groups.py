"""What statistics are grouped by: to which groups an entry belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from pivcs.ops.stats_sums import Piece, time_taken
from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.session.codes import ASSISTANT, TOOL_RESULT, TYPES
from pivcs.session.entries import Entry, Message

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_USAGE: Final = TYPES["usage"]


class Key(NamedTuple):
    """What a group is called. `name` is its branch, project, day (`2026-02-03`), model (`provider/model`) or tool, or
    the name or first prompt of a session; None for entries that belong to none. `session` is the path of the one
    session that it is about."""

    name: str | None
    session: str | None = None
    id: str | None = None


Parts = Iterable[tuple[Key, Piece]]
KeysOf = Callable[[int, Entry | None, Piece], Parts]


class Grouper(NamedTuple):
    """A way to group entries.

    `keys` returns what tells the groups of each entry of a session, and what the entry adds to each. `whole`: groups
    are sessions, with copies; `in_order`: by name, not by cost; `reads_results`: entries of all tool results are
    needed.
    """

    keys: Callable[[SessionView, Whereabouts, tzinfo | None], KeysOf]
    whole: bool = False
    in_order: bool = False
    reads_results: bool = False

    @staticmethod
    def of_session(view: SessionView) -> Key:
        """Return the group of a session."""
        return Key(view.name or view.first_prompt, view.where, view.header.id)


def _sessions(view: SessionView, _: Whereabouts, __: tzinfo | None) -> KeysOf:
    key = Grouper.of_session(view)
    return lambda row, entry, piece: ((key, piece),)


def _branches(view: SessionView, where: Whereabouts, _: tzinfo | None) -> KeysOf:
    ident = view.header.id
    return lambda row, entry, piece: ((Key(where.branch(row), view.where, ident), piece),)


def _projects(view: SessionView, _: Whereabouts, __: tzinfo | None) -> KeysOf:
    key = Key(view.header.cwd or None)
    return lambda row, entry, piece: ((key, piece),)


def _days(_: SessionView, __: Whereabouts, zone: tzinfo | None) -> KeysOf:
    return lambda row, entry, piece: ((Key(day_of(piece.at, zone)), piece),)


def _models(_: SessionView, __: Whereabouts, ___: tzinfo | None) -> KeysOf:
    return lambda row, entry, piece: ((Key(_model_of(piece.code, entry)), piece),)


def _tools(view: SessionView, _: Whereabouts, __: tzinfo | None) -> KeysOf:
    def keys(row: int, entry: Entry | None, piece: Piece) -> Parts:
        message = entry.message if entry is not None else None
        if message is None:
            return
        if piece.code == ASSISTANT:
            for call in message.tool_calls():
                yield Key(call.name or None), Piece(-1, piece.at, counted=0, tool_calls=1)
        elif piece.code == TOOL_RESULT:
            yield Key(message.tool_name or None), piece._replace(
                time=time_taken(view.table, row, message.duration_ms)
            )

    return keys


def day_of(time: int | None, zone: tzinfo | None) -> str | None:
    """Return the day of a time as `2026-02-03`; None for no time, and for one that no calendar has."""
    if time is None:
        return None
    try:
        return (_EPOCH + timedelta(milliseconds=time)).astimezone(zone).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _model_of(code: int, entry: Entry | None) -> str | None:
    """Return the model of an answer or of a usage entry, as pi's own list of costs names it; nothing else has one."""
    if entry is None:
        return None
    if code == ASSISTANT:
        message = entry.message
        return _named(message.provider, _answered(message)) if message is not None else None
    return _named(entry.provider, entry.model) if code == _USAGE else None


def _answered(message: Message) -> str | None:
    """Return the model that answered, where it is another one than was asked."""
    answered = message.fields.get("responseModel")
    return answered if isinstance(answered, str) else message.model


def _named(provider: str | None, model: str | None) -> str | None:
    return "/".join(part for part in (provider, model) if part) or None


GROUPERS: Final = {
    "session": Grouper(_sessions, whole=True),
    "branch": Grouper(_branches),
    "project": Grouper(_projects),
    "day": Grouper(_days, in_order=True),
    "model": Grouper(_models),
    "tool": Grouper(_tools, reads_results=True),
}
"""The ways to group entries, by what is typed."""
