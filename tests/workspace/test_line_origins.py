from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.workspace.line_origins import How, LineOrigin, carried, lines_of, new_lines

FILE = b"def total(items):\n    result = 0\n    for item in items:\n        result += item.price\n    return result\n"


def _after(text: bytes, before: bytes = FILE) -> list[tuple[str, How]]:
    old = lines_of(before)
    return [(each.source, each.how) for each in carried(old, new_lines(old, "old"), lines_of(text), "new")]


def _written(names: str) -> list[tuple[str, How]]:
    return [({"o": "old", "n": "new"}[name], How.WRITTEN) for name in names]


def test_lines_that_stay_keep_their_origin_and_others_have_that_of_the_change():
    assert _after(FILE.replace(b"result = 0", b"result = Decimal(0)")) == _written("onooo")


def test_added_lines_are_new_and_removed_ones_leave_nothing():
    assert _after(FILE.replace(b"    return", b"    check(result)\n    return")) == _written("oooono")
    assert _after(FILE.replace(b"    result = 0\n", b"")) == _written("oooo")


def test_a_line_that_moved_keeps_its_origin():
    moved = FILE.replace(b"    result = 0\n", b"") + b"    result = 0\n"
    assert _after(moved) == [*_written("oooo"), ("old", How.MOVED)]


def test_a_line_that_is_everywhere_is_not_taken_for_moved():
    assert _after(b"}\nfirst line\nsecond line\n", b"first line\nsecond line\n}\n") == _written("noo")


def test_reformatted_lines_say_so():
    wrapped = FILE.replace(b"def total(items):", b"def total(\n    items,\n):")
    assert _after(wrapped) == [*[("old", How.REFORMATTED)] * 3, *_written("oooo")]
    indented = FILE.replace(b"    result = 0", b"\tresult = 0")
    assert _after(indented) == [("old", How.WRITTEN), ("old", How.REFORMATTED), *_written("ooo")]


def test_lines_joined_by_a_formatter_come_from_the_first_of_them():
    before = b"call(\n    'a',\n    'b',\n)\n"
    old = lines_of(before)
    origins = [LineOrigin(number) for number in range(len(old))]
    assert carried(old, origins, [b'call("a", "b")\n'], 9) == [LineOrigin(0, How.REFORMATTED)]


def test_a_change_of_a_word_is_no_reformatting():
    assert _after(FILE.replace(b"item.price", b"item.cost")) == _written("ooono")


def test_moved_and_reformatted_is_found_too():
    moved = b"# sums\n\tresult  =  0\n" + FILE.replace(b"    result = 0\n", b"")
    assert _after(moved)[:2] == [("new", How.WRITTEN), ("old", How.REFORMATTED)]


@given(st.lists(st.sampled_from([b"alpha\n", b"beta beta\n", b"}\n", b"\n", b"gamma\n"]), max_size=12))
def test_a_version_compared_with_itself_changes_nothing(lines: list[bytes]):
    origins = [LineOrigin(number) for number in range(len(lines))]
    assert carried(lines, origins, lines, -1) == origins


@given(st.data())
def test_every_line_has_an_origin_and_old_ones_only_from_lines_that_say_the_same(data: st.DataObject):
    some = st.lists(st.sampled_from([b"alpha\n", b"beta beta\n", b"beta  beta\n", b"}\n", b"gamma, delta\n"]))
    before, after = data.draw(some), data.draw(some)
    found = carried(before, [LineOrigin(number) for number in range(len(before))], after, -1)
    assert len(found) == len(after)
    for line, origin in zip(after, found, strict=True):
        if origin.source >= 0 and origin.how is not How.REFORMATTED:
            assert before[origin.source] == line
    kept = [origin.source for origin in found if origin.source >= 0 and origin.how is How.WRITTEN]
    assert kept == sorted(set(kept))
