from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pivcs.render.diff_text import change_lines, patch_bytes, quoted, unified_lines
from pivcs.render.log_text import Looks
from pivcs.render.style import Styler
from pivcs.workspace.state import Change, FilePath, FileState, Provenance

PLAIN = Looks(Styler(False))
FILE = FilePath("src/a.py", inside=True)

_LINES = st.sampled_from([b"alpha", b"beta", b"def x():", b"  y", b"", b"z\r", b"\xff\xfe q", "café".encode()])
_CONTENTS = st.none() | st.builds(
    lambda lines, end: b"\n".join(lines) + (b"\n" if end else b""), st.lists(_LINES, max_size=25), st.booleans()
)
_NAMES = st.sampled_from(["x.txt", "a b.txt", "ü.txt", 'q"uote.txt', "t\tab", "sub/x"])


def _state(content: bytes | None, provenance: Provenance = Provenance.WHOLE, *patches: str) -> FileState:
    return FileState(FILE, provenance, content, 3, 3, patches=patches)


@pytest.mark.interop
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_CONTENTS, _CONTENTS, _NAMES, st.integers(0, 3))
def test_git_applies_what_is_written(
    tmp_path: Path, before: bytes | None, after: bytes | None, name: str, context: int
):
    patch = b"".join(patch_bytes(FilePath(name, inside=True), before, after, context))
    if before == after:
        assert not patch
        return
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    if before is not None:
        file.write_bytes(before)
    command = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=patch, cwd=tmp_path, check=True, capture_output=True)
    assert (file.read_bytes() if file.exists() else None) == after
    file.unlink(missing_ok=True)


def test_a_diff_looks_as_in_git():
    body = b"    result = 0\n    for item in items:\n        result += item\n    return 1\n"
    before = b"import os\n\n\ndef total(items):\n" + body
    after = before.replace(b"return 1\n", b"return result")
    assert list(unified_lines(FILE, before, after, PLAIN, 2)) == [
        "diff --git a/src/a.py b/src/a.py",
        "--- a/src/a.py",
        "+++ b/src/a.py",
        "@@ -6,3 +6,3 @@ def total(items):",
        "     for item in items:",
        "         result += item",
        "-    return 1",
        "+    return result",
        "\\ No newline at end of file",
    ]


def test_new_deleted_and_empty_files_say_what_they_are():
    assert list(unified_lines(FILE, None, b"x\n", PLAIN))[1:5] == [
        "new file mode 100644", "--- /dev/null", "+++ b/src/a.py", "@@ -0,0 +1 @@",
    ]  # fmt: skip
    assert list(unified_lines(FILE, b"x\n", None, PLAIN))[1:4] == [
        "deleted file mode 100644", "--- a/src/a.py", "+++ /dev/null",
    ]  # fmt: skip
    assert list(unified_lines(FILE, None, b"", PLAIN))[1:] == ["new file mode 100644"]


def test_binary_files_are_only_said_to_differ():
    assert list(unified_lines(FILE, b"\0", b"x\n", PLAIN))[-1] == "Binary files a/src/a.py and b/src/a.py differ"


def test_control_characters_are_visible_to_people_and_kept_in_patches():
    after = b"\x1b[31mred\r\n"
    assert "+^[[31mred" in list(unified_lines(FILE, b"", after, PLAIN))
    assert b"+\x1b[31mred\r\n" in list(patch_bytes(FILE, b"", after))


def test_very_long_lines_are_cut_for_people_and_say_so():
    line = list(unified_lines(FILE, b"", b"x" * 2000 + b"\n", PLAIN))[-1]
    assert line.startswith("+xxx")
    assert line.endswith("… (+1501 characters)")


def test_names_are_quoted_as_git_does():
    assert quoted(b'a"b\t\x01\\') == b'"a\\"b\\t\\001\\\\"'
    assert quoted("ü b".encode()) == "ü b".encode()


def test_an_edit_shows_what_it_changed():
    change = Change("edit", FILE, 3, 2, _state(b"a\n"), _state(b"b\n", Provenance.DERIVED))
    assert list(change_lines(change, PLAIN))[-2:] == ["-a", "+b"]


def test_an_edit_of_which_only_the_patch_is_known_shows_that():
    patch = "--- src/a.py\n+++ src/a.py\n@@ -1 +1 @@\n-a\n+b\n"
    change = Change("edit", FILE, 3, 2, None, _state(None, Provenance.PATCH, patch))
    assert list(change_lines(change, PLAIN)) == [
        "diff --git a/src/a.py b/src/a.py",
        "(only the change is known, not the whole file)",
        "@@ -1 +1 @@",
        "-a",
        "+b",
    ]


def test_a_write_over_what_is_not_known_does_not_claim_that_the_file_is_new():
    lines = list(change_lines(Change("write", FILE, 3, 2, None, _state(b"b\n")), PLAIN))
    assert lines[1] == "(what it was before is not known)"


def test_reading_changes_nothing():
    assert list(change_lines(Change("read", FILE, 3, 2, None, _state(b"b\n")), PLAIN)) == []


def test_a_name_that_no_disk_can_have_is_written_as_the_client_would():
    path = FilePath("a\ud800b", inside=True)
    assert next(patch_bytes(path, b"", b"x\n")) == b"diff --git a/a\xef\xbf\xbdb b/a\xef\xbf\xbdb\n"
    on_disk = FilePath("a\udcffb", inside=True)
    assert next(patch_bytes(on_disk, b"", b"x\n")) == b"diff --git a/a\xffb b/a\xffb\n"


def test_each_hunk_is_headed_by_the_last_function_above_it_however_far():
    lines = [b"def first():\n", *(b"    line %d\n" % number for number in range(60)), b"def second():\n"]
    lines += [b"    line %d\n" % number for number in range(60, 120)]
    ends = (b" 20\n", b" 50\n", b" 100\n")
    after = [line.replace(b"line", b"text") if line.endswith(ends) else line for line in lines]
    shown = unified_lines(FILE, b"".join(lines), b"".join(after), PLAIN)
    headings = [line.split("@@ ")[-1] for line in shown if line.startswith("@@")]
    assert headings == ["def first():", "def first():", "def second():"]
