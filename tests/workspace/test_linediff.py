from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pivcs.workspace.linediff import FULL, Block, grouped_opcodes, matching_blocks, opcodes

TEXTS = st.lists(st.sampled_from("abcdefgh"), max_size=14)


@given(TEXTS, TEXTS)
def test_applying_a_diff_gives_the_second_version(before: list[str], after: list[str]):
    made: list[str] = []
    for tag, start, end, after_start, after_end in opcodes(before, after):
        if tag == "equal":
            assert before[start:end] == after[after_start:after_end]
        made += after[after_start:after_end]
    assert made == after


@given(TEXTS, TEXTS)
def test_blocks_are_equal_lines_in_order(before: list[str], after: list[str]):
    blocks = matching_blocks(before, after)
    for block in blocks:
        assert block.size > 0
        same = after[block.after : block.after + block.size]
        assert before[block.before : block.before + block.size] == same
    for above, below in pairwise(blocks):
        assert above.before + above.size <= below.before
        assert above.after + above.size <= below.after
        assert (above.before + above.size, above.after + above.size) != below[:2]


@given(TEXTS)
def test_a_version_and_itself_are_one_block(lines: list[str]):
    assert matching_blocks(lines, lines) == ([Block(0, 0, len(lines))] if lines else [])


@given(TEXTS, TEXTS, st.integers(0, 3))
def test_hunks_hold_every_change_once_and_little_else(before: list[str], after: list[str], context: int):
    hunks = list(grouped_opcodes(before, after, context))
    changes = [code for hunk in hunks for code in hunk if code.tag != "equal"]
    assert changes == [code for code in opcodes(before, after) if code.tag != "equal"]
    for hunk in hunks:
        for place, code in enumerate(hunk):
            size = code.before_end - code.before_start
            edge = place in (0, len(hunk) - 1)
            assert code.tag != "equal" or 0 < size <= (context if edge else 2 * context)
        for above, below in pairwise(hunk):
            assert (above.before_end, above.after_end) == (below.before_start, below.after_start)


def test_a_function_that_was_put_in_front_does_not_tear_up_the_next_one():
    before = ["def b():", "    return 1", ""]
    after = ["def a():", "    return 1", "", "def b():", "    return 1", ""]
    assert [code[:3] for code in opcodes(before, after)] == [("insert", 0, 0), ("equal", 0, 3)]


def test_versions_of_many_lines_are_compared_without_comparing_each_with_each():
    before = [f"line {number}" for number in range(50_000)]
    after = [*before[:100], "new", *before[100:40_000], *before[40_010:]]
    assert [code[:3] for code in opcodes(before, after) if code.tag != "equal"] == [
        ("insert", 100, 100),
        ("delete", 40_000, 40_010),
    ]


def test_large_pieces_without_a_unique_line_are_taken_as_different():
    size = int(FULL**0.5) + 1
    assert opcodes(["a", "b"] * size, ["b", "a", "a"] * size)[0].tag == "replace"


def test_thousands_of_nested_pieces_exhaust_no_stack():
    before = [name for number in range(3000) for name in (f"u{number}", "same", f"only before {number}")]
    after = [name for number in range(3000) for name in (f"u{number}", f"only after {number}", "same")]
    kept = sum(block.size for block in matching_blocks(before, after))
    assert kept == 6000
