"""Changing refs of another repository while others may do the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pivcs.gitbridge.refs_update import RefOutcome, RefUpdate
from pivcs.gitbridge.transport import Transport


def send_refs(
    transport: Transport, updates: list[RefUpdate], theirs: Mapping[str, bytes]
) -> tuple[list[RefOutcome], dict[str, bytes]]:
    """Change refs of the other side; returns what became of them, and what refs are there afterwards.

    What another push has set to the same meanwhile is no news, and not refused: streams are called after their bytes.
    A refused one has the value that it has now as `old`. Raises `TransportFailed`, `OtherHash`.
    """
    outcomes: list[RefOutcome] = []
    now = dict(theirs)
    refused: list[RefOutcome] = []
    # Twice: a ref that is refused, and as it was, may only have been held by another push.
    for _ in range(2):
        held = {ref.name for ref in refused if ref.old == now.get(ref.name)}
        updates = [each for each in updates if not refused or each.name in held]
        if not updates:
            break
        done = transport.push(updates)
        outcomes += [ref for ref in done if ref.outcome != "refused"]
        refused = [ref for ref in refused if ref.name not in held] + [ref for ref in done if ref.outcome == "refused"]
        if not refused:
            return outcomes, _changed(now, done)
        now = transport.refs()
        refused = [ref for ref in refused if now.get(ref.name) != ref.new]
        if not refused:
            break
    return outcomes + [ref._replace(old=now.get(ref.name)) for ref in refused], now


def _changed(refs: Mapping[str, bytes], done: Iterable[RefOutcome]) -> dict[str, bytes]:
    """Return what refs name after changes that were all made."""
    new = {ref.name: ref.new for ref in done}
    return {name: commit for name, commit in {**refs, **new}.items() if commit is not None}
