"""Versions 1 and 2 as the real pi migrates them when it opens a file."""

from __future__ import annotations

import json
from random import Random

import pytest

from pivcs.session.migrations import migrate
from pivcs.session.values import entries_of, open_values
from tests.builders import CLOCK, Value, header_line, iso, line
from tests.interop.pi import Pi

pytestmark = pytest.mark.interop

VERSIONS: tuple[object, ...] = (None, None, 1, "1", 0, True, 2, 2, "2", 2.5)
INDICES: tuple[object, ...] = (0, 1, 2, 3, 7, 1.5, -1, 99, "1", None)
BETWEEN = (b"{cut\n", b"\n", header_line(version=1), b'{"type":"message","message":null}\n')


def old_session(random: Random) -> bytes:
    lines = [header_line(version=random.choice(VERSIONS), provider="p", modelId="m", thinkingLevel="off")]
    for place in range(random.randrange(1, 12)):
        value: Value = {"timestamp": iso(CLOCK + place)}
        if random.random() < 0.3:
            value = {"id": f"{place:08x}", "parentId": None if place < 2 else f"{place - 2:08x}"} | value
        if random.random() < 0.3:
            kept = {"firstKeptEntryIndex": random.choice(INDICES)}
            if random.random() < 0.2:
                kept |= {"firstKeptEntryId": "00000000"}
            value = {"type": "compaction"} | value | {"summary": "s", "tokensBefore": 1} | kept
        else:
            role = random.choice(("user", "hookMessage", "assistant"))
            value = {"type": random.choice(("message", "message", "other"))} | value
            value["message"] = {"role": role, "customType": "c", "content": "text", "timestamp": CLOCK}
        lines.append(line(value))
        if random.random() < 0.1:
            lines.append(random.choice(BETWEEN))
    return b"".join(lines)


def with_places_as_ids(entries: list[object]) -> list[object]:
    """Replace each entry's id by its place, also where other entries name it; pi's new ids are random."""
    dicts = [entry for entry in entries if isinstance(entry, dict)]
    assert len(dicts) == len(entries)
    places = {entry.get("id"): f"e{place}" for place, entry in enumerate(dicts)}
    named = ("id", "parentId", "firstKeptEntryId")
    return [
        {key: places.get(value, value) if key in named else value for key, value in entry.items()} for entry in dicts
    ]


def test_old_sessions_migrate_as_pi_migrates_them(pi: Pi) -> None:
    random = Random(19)
    files = [old_session(random) for _ in range(400)]
    for data, theirs in zip(files, pi.open(files), strict=True):
        assert theirs["ok"]
        opening = open_values(data, "FILE")
        ours = list(entries_of(migrate(opening.values, lambda place: f"new{place}")))
        assert opening.effect.value == theirs["effect"]
        their_entries = theirs["entries"]
        assert isinstance(their_entries, list)
        expected = with_places_as_ids(their_entries)
        migrated = with_places_as_ids(ours)
        # As text, because pi writes the keys in this order into the file.
        assert json.dumps(migrated) == json.dumps(expected), data
