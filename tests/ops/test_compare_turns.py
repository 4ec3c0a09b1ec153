"""Which turns are paired, and laws of the pairs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops import compare_turns
from pivcs.ops.compare_turns import LIKE, TurnPair, asked, pair_turns

WORDS = st.sampled_from(["use", "decimal", "cents", "please", "the", "a", "Fix", "fix", "price"])
PROMPTS = st.lists(st.none() | st.lists(WORDS, max_size=6).map(" ".join), max_size=8)


def pairs(firsts: list[str | None], seconds: list[str | None]) -> list[tuple[int | None, int | None]]:
    return [pair[:2] for pair in pair_turns([asked(text) for text in firsts], [asked(text) for text in seconds])]


def test_equal_prompts_are_paired_wherever_they_stand():
    assert pairs(["one", "two"], ["two", "one"]) == [(1, 0), (0, 1)]


def test_repeated_prompt_is_paired_time_by_time():
    assert pairs(["go on", "go on", "go on"], ["go on", "stop", "go on"]) == [(0, 0), (None, 1), (1, 2), (2, None)]


def test_prompt_in_other_words_is_recognised():
    found = pair_turns([asked("Use Decimal for the price, please.")], [asked("use decimal for price please")])
    assert [(pair.first, pair.second) for pair in found] == [(0, 0)]
    assert found[0].likeness is not None
    assert LIKE <= found[0].likeness < 1


def test_other_prompts_stay_alone():
    assert pairs(["Use Decimal."], ["Try whole cents instead."]) == [(0, None), (None, 0)]


def test_best_likeness_wins():
    assert pairs(["use the decimal price"], ["use the price", "use the decimal price please"]) == [
        (None, 0), (0, 1),
    ]  # fmt: skip


def test_turns_without_prompt_are_paired_only_where_the_paths_parted():
    assert pairs([None, None], [None, "x", None]) == [(0, 0), (1, None), (None, 1), (None, 2)]


def test_many_turns_are_compared_only_near_each_other(monkeypatch):
    firsts: list[str | None] = [f"please use price number {place}" for place in range(30)]
    seconds: list[str | None] = [f"please use the price number {place}" for place in range(30)]
    monkeypatch.setattr(compare_turns, "COMPARED", 100)
    assert pairs(firsts, seconds) == [(place, place) for place in range(30)]


@given(PROMPTS, PROMPTS)
def test_every_turn_stands_once_and_each_side_alone_in_order(firsts: list[str | None], seconds: list[str | None]):
    found = pairs(firsts, seconds)
    assert sorted(first for first, _ in found if first is not None) == list(range(len(firsts)))
    assert [second for _, second in found if second is not None] == list(range(len(seconds)))
    alone = [first for first, second in found if second is None]
    assert alone == sorted(alone, key=lambda place: place or 0)


@given(PROMPTS, PROMPTS, st.sampled_from([1, 6, 40_000]))
def test_other_way_round_the_pairs_are_the_same(firsts: list[str | None], seconds: list[str | None], compared: int):
    before, compare_turns.COMPARED = compare_turns.COMPARED, compared  # type: ignore[misc]
    try:
        there = pair_turns([asked(text) for text in firsts], [asked(text) for text in seconds])
        back = pair_turns([asked(text) for text in seconds], [asked(text) for text in firsts])
    finally:
        compare_turns.COMPARED = before  # type: ignore[misc]
    assert {pair.mirrored() for pair in there} == set(back)


@given(PROMPTS)
def test_turns_are_paired_with_themselves(prompts: list[str | None]):
    texts = [text if text is not None else "none" for text in prompts]
    found = pair_turns([asked(text) for text in texts], [asked(text) for text in texts])
    assert found == [TurnPair(place, place, 1.0) for place in range(len(texts))]
