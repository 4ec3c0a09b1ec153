"""New sessions out of old ones: the values of the new file (pi format 12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from pivcs.session.jsonwrite import UNDEFINED
from pivcs.session.newentries import make_entry
from pivcs.session.tree import Label

Object = dict[str, object]


def branched_values(
    header: Object, path: Sequence[object], labels: Mapping[str, Label], new_id: Callable[[Set[str]], str]
) -> list[object]:
    """Return a path as a session of its own (12.1).

    Labels of the path are left out and what follows them is chained anew; after the path comes a new label entry for
    every entry of it that has a label now. `new_id` gives an id that is not among those it is handed.
    """
    kept = _without_labels(path)
    ids = {ident for value in kept if isinstance(ident := value.get("id"), str)}
    parent = kept[-1].get("id") if kept else None
    values: list[object] = [header, *kept]
    taken = set(ids)
    for target, label in labels.items():
        if target not in ids:
            continue
        ident = new_id(taken)
        taken.add(ident)
        stamp = UNDEFINED if label.timestamp is None else label.timestamp
        place = parent if isinstance(parent, str) else None
        values.append(make_entry("label", ident, place, stamp, {"targetId": target, "label": label.text}))
        parent = ident
    return values


def exported_values(header: Object, path: Iterable[object]) -> list[object]:
    """Return a path as pi's JSONL export has it: labels included, every entry chained to the one before (12.3)."""
    values: list[object] = [header]
    parent: object = None
    for value in path:
        fields = value if isinstance(value, dict) else {}
        values.append(_chained(fields, parent))
        parent = fields.get("id", UNDEFINED)
    return values


def _without_labels(path: Iterable[object]) -> list[Object]:
    kept: list[Object] = []
    # Label entry -> the entry that takes its place as the first kept one of a compaction.
    follower: dict[object, object] = {}
    waiting: list[object] = []
    parent: object = None
    for value in path:
        fields = value if isinstance(value, dict) else {}
        ident = fields.get("id", UNDEFINED)
        if fields.get("type") == "label":
            waiting.append(ident)
            continue
        follower.update((label, ident) for label in waiting)
        waiting.clear()
        entry = _chained(fields, parent)
        if fields.get("type") == "compaction" and "firstKeptEntryId" in fields:
            first = fields["firstKeptEntryId"]
            if isinstance(first, str) and first != ident:
                entry["firstKeptEntryId"] = follower.get(first, first)
        kept.append(entry)
        parent = ident
    return kept


def _chained(fields: Object, parent: object) -> Object:
    return {key: value for key, value in {**fields, "parentId": parent}.items() if value is not UNDEFINED}
