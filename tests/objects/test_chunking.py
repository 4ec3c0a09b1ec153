"""Where streams are cut: against a slow statement of the rules, and the laws that make cuts worth having."""

import random
from functools import cache
from zlib import crc32

from hypothesis import given, settings
from hypothesis import strategies as st

from pivcs.objects.chunking import ANY_LINE, LEAST, LOOK_AHEAD, MOST, RUN, chunk_end, cut_chunks

BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_")


def slow_cuts(data: bytes) -> list[int]:
    """The rules of docs/format.md, byte by byte, as far as nothing that could follow `data` matters."""
    size = len(data)
    stretch_end = list(range(size + 1))
    for i in range(size - 1, -1, -1):
        if data[i] in BASE64:
            stretch_end[i] = stretch_end[i + 1] if i + 1 < size and data[i + 1] in BASE64 else i + 1
    ends, start = [], 0
    while size - start >= LOOK_AHEAD:
        if stretch_end[start] - start >= RUN:
            end = min(stretch_end[start], start + MOST)
        else:
            for end in range(start + 1, start + MOST + 1):
                if stretch_end[end] - end >= RUN and data[end - 1] not in BASE64:
                    break
                length = end - start
                if data[end - 1] != 10 or length < LEAST:
                    continue
                if length >= ANY_LINE or crc32(data[end - 65 : end - 1]) % 32 == 0:
                    break
        ends.append(end)
        start = end
    return ends


@cache
def text(seed: int, size: int, *, images: int = 0) -> bytes:
    """Lines of words, some with a long stretch of base64."""
    rng = random.Random(seed)
    words = b" ".join(rng.choices((b"alpha", b"beta", b"gamma", b"delta"), k=5_000))
    picture = bytes(rng.choices(b"ABCDwxyz0189+/", k=1_500_000))
    parts: list[bytes] = []
    total = 0
    while total < size:
        start = rng.randrange(20_000)
        line = b'{"n":%d,"text":"%s' % (total, words[start : start + rng.randrange(3_000)])
        if images and rng.random() < 0.02:
            line += b'","data":"' + picture[: rng.randrange(1000, len(picture))]
        line += b'"}\n'
        parts.append(line)
        total += len(line)
    return b"".join(parts)


def test_cuts_agree_with_the_rules_stated_byte_by_byte():
    for seed, images in ((1, 0), (2, 1), (3, 1)):
        data = text(seed, 2_500_000, images=images)
        expected = slow_cuts(data)
        assert cut_chunks(data)[: len(expected)] == expected
        assert len(expected) >= 3


def test_line_without_end_is_cut_at_every_mebibyte():
    data = b'{"x":"' + b"ab cd " * 700_000
    assert cut_chunks(data) == [MOST * n for n in range(1, len(data) // MOST + (len(data) % MOST >= RUN))]


def test_base64_run_is_a_chunk_of_its_own_wherever_it_stands():
    run = bytes(random.Random(3).choices(b"ABCDwxyz0189+/", k=100_000))
    for before in (b'{"data":"', b'{"text":"' + b"word " * 9_999 + b'","data":"'):
        data = before + run + b'"}\n' + text(4, 2_000_000)
        assert cut_chunks(data)[:2] == [len(before), len(before) + len(run)]


def test_run_of_one_byte_less_is_no_run():
    data = b'{"data":"' + b"A" * (RUN - 1) + b'"}\n' + text(5, 2_000_000)
    assert cut_chunks(data)[0] > RUN + 100
    data = b'{"data":"' + b"A" * RUN + b'"}\n' + text(5, 2_000_000)
    assert cut_chunks(data)[0] == 9


def test_line_put_in_front_leaves_all_chunks_but_a_few():
    data = text(6, 6_000_000)
    ends = cut_chunks(data)
    chunks = {data[a:b] for a, b in zip([0, *ends], ends, strict=False)}
    moved = b'{"type":"session"}\n' + data
    ends = cut_chunks(moved)
    again = {moved[a:b] for a, b in zip([0, *ends], ends, strict=False)}
    assert len(chunks & again) >= len(chunks) - 2


@settings(max_examples=25)
@given(st.integers(0, 4), st.lists(st.integers(1, 1_400_000), min_size=1, max_size=12))
def test_cuts_never_move_when_bytes_are_appended(seed: int, steps: list[int]):
    data = text(seed, 3_000_000, images=1)
    whole = cut_chunks(data)
    known, start, ends = 0, 0, []
    for step in [*steps, len(data)]:
        known = min(len(data), known + step)
        while (end := chunk_end(data, start, known)) is not None:
            assert end <= known
            ends.append(end)
            start = end
    assert ends == whole
    assert len(data) - start < LOOK_AHEAD
