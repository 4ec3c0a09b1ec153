"""What the store is called where names of several stores meet."""

from __future__ import annotations

import secrets

from pivcs.ops.view import SessionView
from pivcs.store.remote import ID_SIZE


def store_id(view: SessionView) -> bytes | None:
    """Return the id of the store that a session is in, which gets one when it has none; None when it can be given
    none."""
    store = view.store
    if store is None:
        return None
    known = store.remote.id()
    if known is not None or store.read_only:
        return known
    with store.writing():
        return store.remote.give_id(secrets.token_bytes(ID_SIZE))
