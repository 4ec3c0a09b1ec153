from __future__ import annotations

import os

import pytest
import zstandard

from pivcs.store.pieces import BEST, PLAIN, WORTHWHILE, ZSTD, pack, unpack


@pytest.mark.parametrize("size", [0, 1, WORTHWHILE - 1, WORTHWHILE, 1 << 20])
@pytest.mark.parametrize("level", [1, BEST])
def test_bytes_come_back(size: int, level: int) -> None:
    for data in (b"text " * (size // 5), os.urandom(size)):
        codec, packed = pack(memoryview(data), level)
        assert unpack(codec, packed, len(data)) == data
        assert len(packed) <= len(data)


def test_text_is_compressed_and_noise_is_not() -> None:
    text, noise = b"text " * 2000, os.urandom(10_000)
    codec, packed = pack(text)
    assert codec == ZSTD
    assert zstandard.ZstdDecompressor().decompress(packed) == text
    assert pack(noise) == (PLAIN, noise)
    assert pack(text[: WORTHWHILE - 1]) == (PLAIN, text[: WORTHWHILE - 1])


@pytest.mark.parametrize(
    ("codec", "size", "message"),
    [(PLAIN, 9, "10000 bytes instead of 9"), (ZSTD, 10_000, "."), (7, 10_000, "unknown codec 7")],
)
def test_what_does_not_fit_is_refused(codec: int, size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unpack(codec, b"x" * 10_000, size)


@pytest.mark.parametrize("size", [0, 9_999, 10_001])
def test_frame_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=r"bytes|decompress"):
        unpack(ZSTD, pack(b"x" * 10_000)[1], size)
