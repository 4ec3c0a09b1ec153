"""Versions 1 and 2 of the format as version 3, in memory (pi format 8).

pi rewrites such a file when it opens it; here the file stays as it is and the newer form is a view. The results are new
objects with pi's key order, the values that were passed in stay untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pivcs.session.jsstring import js_number

NewId = Callable[[int], str]
"""Makes the id of a version 1 entry from its place among the kept values, where the header has place 0."""


def version_of(header: dict[str, object]) -> float:
    """Return a header's version as the number that pi compares: absent and null are 1, "3" is 3, NaN is no number."""
    version = header.get("version")
    return 1.0 if version is None else js_number(version)


def needs_migration(header: dict[str, object]) -> bool:
    """Whether pi would migrate a file with this first header."""
    return version_of(header) < 3


def migrate(values: Sequence[object], new_id: NewId) -> list[object]:
    """Return the kept values of a file (its first header first) as version 3; as they are if they need no migration.

    pi gives version 1 entries random ids, anew at every opening; `new_id` decides here.
    """
    header = next((value for value in values if isinstance(value, dict) and value.get("type") == "session"), None)
    version = 3.0 if header is None else version_of(header)
    result = list(values)
    if version < 2:
        result = _to_version_2(result, new_id)
    if version < 3:
        result = [_to_version_3(value) for value in result]
    return result


def _to_version_2(values: list[object], new_id: NewId) -> list[object]:
    """Number the entries and chain them in file order; existing ids are overwritten, as pi does."""
    result: list[object] = []
    previous: str | None = None
    for place, value in enumerate(values):
        if not isinstance(value, dict):
            # pi cannot give an id to a number, a string or a list.
            result.append(value)
            continue
        if value.get("type") == "session":
            result.append({**value, "version": 2})
            continue
        entry = {**value, "id": new_id(place), "parentId": previous}
        previous = str(entry["id"])
        result.append(entry)
        if entry.get("type") == "compaction" and _is_number(entry.get("firstKeptEntryIndex")):
            _keep_from_id(entry, result, values)
    return result


def _keep_from_id(entry: dict[str, object], done: list[object], values: list[object]) -> None:
    """Turn the index of the first kept entry into its id.

    pi looks at the value with that index at this moment: one that comes later has no new id yet, so what it has of its
    own is taken, which in a version 1 file is nothing.
    """
    index = entry.pop("firstKeptEntryIndex")
    place = int(index) if isinstance(index, (int, float)) and 0 <= index < len(values) and index == int(index) else -1
    if place < 0:
        return
    target = done[place] if place < len(done) else values[place]
    if isinstance(target, dict) and target.get("type") == "session":
        return
    if isinstance(target, dict) and "id" in target:
        entry["firstKeptEntryId"] = target["id"]
    else:
        entry.pop("firstKeptEntryId", None)


def _to_version_3(value: object) -> object:
    """Rename the role hookMessage."""
    if not isinstance(value, dict):
        return value
    if value.get("type") == "session":
        return {**value, "version": 3}
    message = value.get("message")
    if value.get("type") == "message" and isinstance(message, dict) and message.get("role") == "hookMessage":
        return {**value, "message": {**message, "role": "custom"}}
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
