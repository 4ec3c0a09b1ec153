from __future__ import annotations

import re
import uuid

from pivcs.session.layout import is_session_id
from pivcs.session.world import World, new_entry_id, new_session_id, random_uuid


class Everything:
    def __contains__(self, _: object) -> bool:
        return True


def test_entry_id_is_the_beginning_of_a_random_uuid() -> None:
    assert new_entry_id((), lambda count: bytes(range(0xA0, 0xA0 + count))) == "a0a1a2a3"


def test_taken_ids_are_drawn_again() -> None:
    draws = iter((b"\1" * 16, b"\2" * 16, b"\3" * 16))
    assert new_entry_id({"01010101", "02020202"}, lambda _: next(draws)) == "03030303"


def test_after_a_hundred_taken_ids_a_whole_uuid_is_taken() -> None:
    draws = iter(bytes([number]) * 16 for number in range(101))
    ident = new_entry_id(Everything(), lambda _: next(draws))
    assert ident == "64646464-6464-4464-a464-646464646464"
    assert uuid.UUID(ident).version == 4
    assert next(draws, None) is None


def test_session_id_is_a_uuid_of_version_7_that_holds_the_time() -> None:
    ident = new_session_id(0x19C230D4C40, lambda count: b"\xff" * count)
    assert ident == "019c230d-4c40-7fff-bfff-ffffffffffff"
    assert uuid.UUID(ident).version == 7
    assert is_session_id(ident)
    assert new_session_id(1, lambda count: b"\xff" * count) < new_session_id(2, bytes)


def test_the_real_world_gives_fresh_ids_and_times() -> None:
    world = World.real()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", world.timestamp())
    assert world.clock() > 1_700_000_000_000
    assert len({random_uuid(world.random) for _ in range(100)}) == 100
