"""The appending half of a session: one method for every entry type of pi 1.6.0 (pi format 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pivcs.session.context import build_projection
from pivcs.session.given import complete_entries
from pivcs.session.jsonwrite import UNDEFINED
from pivcs.session.newentries import (
    InvalidEntry,
    Object,
    Optional,
    branch_summary_fields,
    compaction_fields,
    make_entry,
    message_fields,
    replacement_for,
    session_info_fields,
)
from pivcs.session.reading import EntryNotFound, SessionReading
from pivcs.session.replay import current_system_message
from pivcs.session.state import Leaf
from pivcs.session.times import parse_time
from pivcs.session.world import new_entry_id

FieldsOf = Callable[[str, str], Mapping[str, object]]
"""Gives an entry's own keys from its id and timestamp."""

_GIVEN_BY_SESSION = frozenset(("type", "id", "parentId", "timestamp"))


class SessionAppends(SessionReading):
    """Every method appends one entry under the current position, moves there, and returns the entry's id.

    Values are JSON values; see `dump_json` for what is written. An optional key is absent unless it is given, and null
    when None is given. If writing fails, the session is as before: the errors are SessionFileGone, SessionFileChanged,
    SessionLocked, SessionNotWritable, and SessionFileExists when a new file would replace another.
    """

    def append_message(self, message: Mapping[str, object]) -> str:
        """Append a message of any role but those of summaries. Raises InvalidEntry."""
        return self._append("message", message_fields(message))

    def append_model_change(self, provider: str, model_id: str) -> str:
        """Append the selection of a model."""
        return self._append("model_change", {"provider": provider, "modelId": model_id})

    def append_thinking_level_change(self, level: str) -> str:
        """Append the selection of a thinking level; pi's levels are an open set (4.3)."""
        return self._append("thinking_level_change", {"thinkingLevel": level})

    def append_compaction(
        self, summary: str, first_kept_entry_id: str | None, tokens_before: int | float, *,
        details: Optional = UNDEFINED, from_hook: Optional = UNDEFINED, usage: Optional = UNDEFINED,
    ) -> str:  # fmt: skip
        """Append a compaction: the summary stands for everything before the first kept entry; None keeps nothing.

        With it goes the replay of the system messages so far (13.4). Raises BrokenEntry when no context can be built.
        """

        def fields(ident: str, timestamp: str) -> Mapping[str, object]:
            messages = build_projection(self._state.path(self._state.leaf)).messages
            system = current_system_message(messages)
            replayed = UNDEFINED if system is None else {**system, "timestamp": parse_time(timestamp)}
            first = ident if first_kept_entry_id is None else first_kept_entry_id
            return compaction_fields(summary, first, tokens_before, details, usage, from_hook, replayed)

        return self._append("compaction", fields)

    def append_custom(self, custom_type: str, data: Optional = UNDEFINED) -> str:
        """Append an extension's state, which the model does not see."""
        return self._append("custom", {"customType": custom_type, "data": data})

    def append_custom_message(
        self, custom_type: str, content: str | Sequence[object], display: bool, details: Optional = UNDEFINED
    ) -> str:
        """Append an extension's message, which the model sees; `display` is whether people do."""
        fields = {"customType": custom_type, "content": content, "display": display, "details": details}
        return self._append("custom_message", fields)

    def append_label(self, target_id: str, label: str | None = None) -> str:
        """Label an entry; None or an empty text removes its label. Raises EntryNotFound."""
        self._check(target_id)
        return self._append("label", {"targetId": target_id, "label": UNDEFINED if label is None else label})

    def append_session_info(self, name: str) -> str:
        """Name the session; an empty name clears. Line breaks become spaces."""
        return self._append("session_info", session_info_fields(name))

    def append_usage(
        self, kind: str, provider: str, model: str, usage: Mapping[str, object], note: str | None = None
    ) -> str:
        """Append tokens and cost of something that is no answer."""
        fields: Object = {"kind": kind, "provider": provider, "model": model, "usage": usage}
        return self._append("usage", fields | {"note": note} if note else fields)

    def append_context_edit(self, target_id: str, replacement: Mapping[str, object] | None) -> str:
        """Replace what an entry of the current path gives to the model by `{"content": …}`, or leave it out (None).

        Raises EntryNotFound unless the target is on the current path, and InvalidEntry (see `replacement_for`).
        """
        target = self._check(target_id)
        if not any(entry is target for entry in self.path()):
            raise EntryNotFound(target_id, "on the current path")
        stored = replacement_for(target, replacement)
        return self._append("context_edit", {"targetId": target_id, "replacement": stored})

    def append_entry(self, kind: str, fields: Mapping[str, object]) -> str:
        """Append an entry of any type (`kind`) with these keys of its own, in their order.

        Id, parent and time are the session's to give: fields with these names, and the type "session", raise
        InvalidEntry.
        """
        if kind == "session" or not _GIVEN_BY_SESSION.isdisjoint(fields):
            raise InvalidEntry("type, id, parentId and timestamp of an entry are given by the session")
        return self._append(kind, fields)

    def append_entries(
        self, entries: Sequence[Mapping[str, object]], *, check: Callable[[], None] | None = None
    ) -> list[str]:
        """Append entries of any types, all or none; each has its type and its own keys, and returned are their ids.

        Ids, parents and times that are absent are given: each entry becomes a child of the one before it, the first a
        child of the position. `check` is called when the file is locked and everything that others have written was
        read: what it raises is raised, and nothing is written. Raises InvalidEntry, and EntryNotFound for a parent or
        a target that is neither in the session nor among the entries before.
        """
        with self._storage.turn(self._state) as write:
            if check is not None:
                check()
            completed = complete_entries(entries, self._state, self._world)
            if completed:
                write(*completed)
        return [str(entry["id"]) for entry in completed]

    def branch_with_summary(
        self, entry_id: str | None, summary: str, *,
        details: Optional = UNDEFINED, from_hook: Optional = UNDEFINED, usage: Optional = UNDEFINED,
    ) -> str:  # fmt: skip
        """Move to an entry (None: before all entries) and append a summary of the path that was left (11).

        If writing fails, the position is the old one. Raises EntryNotFound.
        """
        if entry_id is not None:
            self._check(entry_id)
        fields = branch_summary_fields("root" if self.leaf is None else self.leaf, summary, details, usage, from_hook)
        return self._append("branch_summary", fields, under=entry_id)

    def _check(self, entry_id: str) -> object:
        """Return an entry that must exist."""
        if entry_id not in self._state:
            raise EntryNotFound(entry_id)
        return self._state.get(entry_id)

    def _append(self, kind: str, fields: Mapping[str, object] | FieldsOf, *, under: Leaf | bool = True) -> str:
        """Append an entry, `under` an entry or (True) the current position; the state changes when it is written."""
        with self._storage.turn(self._state) as write:
            ident = new_entry_id(self._state, self._world.random)
            timestamp = self._world.timestamp()
            parent = self._state.leaf if isinstance(under, bool) else under
            own = fields(ident, timestamp) if callable(fields) else fields
            write(make_entry(kind, ident, parent, timestamp, own))
        return ident
