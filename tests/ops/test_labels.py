"""Labels looked up one by one are those of pi's own map, with and without a store."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.access import view_of
from pivcs.ops.sync import sync_file
from pivcs.ops.view import open_file
from pivcs.session.tree import SessionTree
from pivcs.session.values import entries_of, kept_values
from pivcs.store.store import Store
from tests.builders import header_line, label_line, message_line

IDS = ["aaaaaaaa", "bbbbbbbb", "not hex", "cccccccc", "ABCDEF01"]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("entry"), st.sampled_from(IDS), st.just("")),
            st.tuples(st.just("label"), st.sampled_from([*IDS, "absent"]), st.sampled_from(["", "x", "a b", "é"])),
        ),
        max_size=14,
    ),
    st.integers(0, 14),
)
def test_labels_are_those_of_pi(tmp_path_factory, lines, cut):
    made, parent = [header_line()], None
    for number, (kind, target, text) in enumerate(lines):
        if kind == "entry":
            made.append(message_line(target, parent, f"{number}"))
            parent = target
        else:
            made.append(label_line(f"1abe1{number:03}", parent, target, text))
    path = Path(tmp_path_factory.mktemp("labels")) / "session.jsonl"
    with Store.in_memory() as store:
        path.write_bytes(b"".join(made[: cut + 1]))
        sync_file(store, path, 0)
        path.write_bytes(b"".join(made))
        stream = sync_file(store, path, 0).stream
        assert stream is not None
        stored, read = view_of(store, stream), open_file(path)
        tree = SessionTree(entries_of(kept_values(path.read_bytes())))
        expected = {target: label.text for target, label in tree.labels.items() if target in tree}
        for view in (stored, read):
            assert {view.table.name(row): text for row, text in view.labels.items()} == expected
            assert [view.table.name(row) for row in view.labels] == list(expected)
            found = {row: view.labels.get(row) for row in view.table.nodes()}
            assert {row: text for row, text in found.items() if text is not None} == dict(view.labels)
        read.source.close()
