"""Chunks come back packed in the order in which they were given, however many threads there are."""

import pytest

from pivcs.store.packing import AHEAD, BATCH, Packer
from pivcs.store.pieces import unpack


@pytest.mark.parametrize("threads", [0, 1])
def test_chunks_come_back_in_order(threads: int) -> None:
    packer = Packer()
    if threads:
        packer.start_thread()
    chunks = [b"%d" % number * (number * 50) for number in range(BATCH * (AHEAD + 3) + 2)]
    for number, chunk in enumerate(chunks):
        packer.put(b"%d" % number, chunk)
    taken = packer.take()
    assert [digest for digest, *_ in taken] == [b"%d" % number for number in range(len(chunks))]
    assert [unpack(codec, data, size) for _, size, codec, data in taken] == chunks
    assert packer.take() == []


def test_error_of_the_thread_is_raised() -> None:
    packer = Packer()
    packer.start_thread()
    packer.put(b"", None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        packer.take()
