"""Names of refs: git takes all of them, and no two texts share one."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pivcs.gitbridge.ref_names import (
    LIMIT,
    branch_ref,
    decode_component,
    encode_component,
    label_ref,
    names_ref,
    parse_pivcs_ref,
    session_folder,
    stream_ref,
    tag_ref,
)

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "git_refs.json").read_text())

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
NASTY = st.text(st.sampled_from("aAb.-/@{}~^:?*[\\ %lock\x00\x1f\x7féÉe\u0301\ud800😀HEADnul2e"), max_size=40)

HARD = (
    "", "a", "Foo", "foo", "a/b", "x.lock", "x.LOCK", ".lock", "@", "@{", "~^:?*[\\", "dot.", ".dot", "..", "...", "-x",
    "HEAD", "head", "x" * 300, "é" * 80, "\0\x1f\x7f", "😀", "\ud800", "con", "NUL", "aux.txt", "lpt1", "%", "%25",
    "%2f", "label", "Label", " ", "a b", "é", "e\u0301", "İ", "ß", "ss", "K", "\u212a", "k", "." * 200,
    "x" * 96 + ".lock",
)  # fmt: skip


def check_all(refs: list[str]) -> None:
    """Ask git for each ref whether it takes it."""
    for ref in refs:
        result = subprocess.run(["git", "check-ref-format", ref], check=False)
        assert result.returncode == 0, ref


@given(st.one_of(ANY_TEXT, NASTY))
def test_a_text_comes_back_unless_it_was_cut(text: str) -> None:
    component = encode_component(text)
    assert len(component) <= LIMIT
    assert component.isascii()
    assert component == component.lower()
    assert decode_component(component) == (None if "%-" in component else text)


@given(st.one_of(ANY_TEXT, NASTY), st.one_of(ANY_TEXT, NASTY))
@example("Foo", "foo")
@example("é", "e\u0301")
@example("x" * 101, "x" * 102)
@example("%2f", "/")
@example("", "%")
def test_different_texts_have_different_components(one: str, other: str) -> None:
    assert (encode_component(one) == encode_component(other)) == (one == other)


@given(st.text(st.sampled_from("abcdef0123456789%-._lock"), max_size=30))
def test_only_what_was_encoded_is_decoded(component: str) -> None:
    text = decode_component(component)
    assert text is None or component in (encode_component(text), branch_ref("f", text).removeprefix("refs/heads/f/"))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_takes_hard_names() -> None:
    check_all([ref for text in HARD for ref in (branch_ref("s", text), label_ref("s", text), tag_ref("s", text))])


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@given(st.lists(NASTY, min_size=20, max_size=20))
def test_git_can_keep_any_names_side_by_side(texts: list[str]) -> None:
    import tempfile

    refs = {ref for text in texts for ref in (branch_ref("s", text), label_ref("s", text), tag_ref("s", text))}
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["git", "init", "-q", "--bare", place], check=True)
        tree = subprocess.run(["git", "-C", place, "mktree"], input=b"", capture_output=True, check=True)
        ident = tree.stdout.decode().strip()
        updates = "".join(f"create {ref} {ident}\n" for ref in refs if not ref.startswith("refs/heads/"))
        # Branches must be commits, so the same names are tried elsewhere.
        updates += "".join(
            f"create {ref.replace('refs/heads/', 'refs/pivcs/x/')} {ident}\n" for ref in refs if "heads" in ref
        )
        subprocess.run(["git", "-C", place, "update-ref", "--stdin"], input=updates.encode(), check=True)
        shown = subprocess.run(["git", "-C", place, "for-each-ref"], capture_output=True, check=True)
        assert len(shown.stdout.splitlines()) == len(refs)


def test_no_two_hard_names_meet_where_cases_are_not_told_apart() -> None:
    refs = [branch_ref("s", text) for text in HARD] + [label_ref("s", text) for text in HARD]
    assert len({ref.casefold() for ref in refs}) == len(refs)
    assert not [ref for ref in refs if any(other.startswith(ref + "/") for other in refs)]


@pytest.mark.parametrize("vector", VECTORS["components"], ids=lambda vector: ascii(vector["text"])[:20])
def test_component_vectors(vector: dict[str, str]) -> None:
    assert encode_component(vector["text"]) == vector["component"]


@pytest.mark.parametrize("vector", VECTORS["folders"], ids=lambda vector: vector["folder"])
def test_folder_vectors(vector: dict[str, str]) -> None:
    assert session_folder(vector["timestamp"], bytes.fromhex(vector["key"]), {}) == vector["folder"]


def test_a_branch_named_label_stands_beside_the_labels() -> None:
    assert branch_ref("s", "label") == "refs/heads/s/%6cabel"
    assert decode_component("%6cabel") == "label"


def test_a_taken_folder_makes_the_name_longer_and_an_own_one_is_kept() -> None:
    key, other = bytes.fromhex("ab" * 32), bytes.fromhex("ab" * 31 + "cd")
    first = session_folder("2026-01-02T03:04:05Z", key, {})
    assert first == "2026-01-02-abababab"
    longer = session_folder("2026-01-02T03:04:05Z", other, {first: key})
    assert longer == "2026-01-02-" + "ab" * 8
    assert session_folder("2026-01-02T03:04:05Z", other, {longer: other}) == longer
    assert session_folder("2026-01-02T03:04:05Z", key, {first: other, longer: other, "2026-01-02-" + "ab" * 16: other}
                          ) == "2026-01-02-" + "ab" * 32  # fmt: skip


@pytest.mark.parametrize("timestamp", [None, "", "yesterday", "../../../../etc", "20260102", "٢٠٢٦-٠١-٠٢"])
def test_a_timestamp_that_is_no_date_never_gets_into_a_name(timestamp: str | None) -> None:
    assert session_folder(timestamp, bytes(32), {}) == "undated-00000000"


def test_refs_of_streams_and_names_are_told_apart() -> None:
    key, digest, store = b"\x01" * 32, b"\x02" * 32, b"\x03" * 16
    stream = parse_pivcs_ref(stream_ref(key, digest))
    assert stream is not None
    assert (stream.key, stream.stream, stream.store) == (key, "02" * 8, None)
    names = parse_pivcs_ref(names_ref(key, store))
    assert names is not None
    assert (names.key, names.stream, names.store) == (key, None, "03" * 16)
    assert parse_pivcs_ref("refs/pivcs/" + "01" * 32 + "/s/" + "02" * 9) is None
    assert parse_pivcs_ref("refs/heads/main") is None
