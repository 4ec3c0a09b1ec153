from __future__ import annotations

import pytest

from pivcs.objects.hashing import whole_hash
from pivcs.store import kept as module
from pivcs.store.errors import StoreDamaged
from pivcs.store.kept import DONE, NOTHING, Kept, KeptFile, KeptStore, KeptTree
from pivcs.store.store import Store


def operation(store: Store) -> int:
    return store.refs.add_operation(1, "user", "pivcs restore", [])


@pytest.mark.parametrize("sizes", [[], [1], [10], [3, 7, 10, 1], [25], [10, 10]])
def test_content_comes_back_however_it_was_given(
    store: Store, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE", 10)
    pieces = [bytes([65 + number]) * size for number, size in enumerate(sizes)]
    kept = KeptStore(store.database)
    with store.writing():
        content, digest = kept.add_content(pieces)
        again, _ = kept.add_content([b"".join(pieces)])
    assert content == again
    assert b"".join(kept.read(content)) == b"".join(pieces)
    assert digest == kept.digest_of(content) == whole_hash(pieces)
    assert all(len(piece) <= 10 for piece in kept.read(content))


def test_files_and_outcomes_of_an_operation(store: Store) -> None:
    kept = KeptStore(store.database)
    with store.writing():
        number = operation(store)
        content, _ = kept.add_content([b"x"])
        files = [
            KeptFile(0, b"d", NOTHING, Kept(0o40755)),
            KeptFile(1, b"d/\xff", Kept(0o100644, content), NOTHING),
        ]
        kept.add_tree(number, b"/root\xff", "token", files)
    assert kept.files(number) == files
    assert [file.new.is_directory for file in files] == [True, False]
    assert kept.tree(number) == KeptTree(number, b"/root\xff", "token", True)
    assert kept.busy_trees(b"/root\xff") == [kept.tree(number)]
    assert kept.busy_trees(b"/") == []
    with store.writing():
        kept.set_outcomes(number, [(1, DONE)])
        kept.set_busy(number, False)
    assert [file.outcome for file in kept.files(number)] == ["planned", "done"]
    assert kept.busy_trees(b"/root\xff") == []
    assert kept.tree(number + 1) is None


def test_damaged_chunk_is_mended_by_keeping_the_same_bytes_again(store: Store) -> None:
    kept, data = KeptStore(store.database), b"y" * 9000
    with store.writing() as connection:
        content, _ = kept.add_content([data])
        connection.execute("UPDATE chunk SET data = x'00'")
    with pytest.raises(StoreDamaged, match=f"kept content {content}"):
        list(kept.read(content))
    with store.writing():
        assert kept.add_content([data])[0] == content
    assert b"".join(kept.read(content)) == data


def test_missing_piece_is_damage(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 10)
    kept = KeptStore(store.database)
    with store.writing() as connection:
        content, _ = kept.add_content([b"z" * 25])
        connection.execute("DELETE FROM kept_piece WHERE offset = 10")
    with pytest.raises(StoreDamaged, match="bytes are missing at 10"):
        list(kept.read(content))
    with store.writing() as connection:
        connection.execute("DELETE FROM kept_piece WHERE offset = 20")
    with pytest.raises(StoreDamaged, match="10 bytes instead of 25"):
        list(kept.read(content))
