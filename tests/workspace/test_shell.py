"""What command lines may have written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.workspace.known import KnownFiles
from pivcs.workspace.shell import effect_of, text_effect
from pivcs.workspace.state import FilePath, FileState, Provenance

CWD = "/home/dev/project"
FILES = ["a.py", "src/a.py", "src/b.py", "src/deep/c.txt", "my file.txt", "Makefile"]


def files() -> KnownFiles:
    known = KnownFiles(CWD)
    for name in FILES:
        known.put(FileState(FilePath(name, True), Provenance.WHOLE, b"", 1), 1)
    known.put(FileState(FilePath("/etc/hosts", False), Provenance.WHOLE, b"", 1), 1)
    return known


def named(command: str) -> list[str]:
    known = files()
    effect = effect_of(command)
    found = sorted(state.path.text for state in known.named(effect, 5))
    assert found == sorted(path.text for path in known.states if known.names(effect, path)), command
    return found


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py", "ls -la src", "grep -rn 'foo(' src/ | head -5", "rg foo src/a.py 2>/dev/null", "wc -l src/*.py",
        "head -20 a.py && tail -n 3 src/b.py", "cd src && cat a.py; echo done", "diff a.py src/a.py 2>&1 | less",
        "sed -n '1,20p' src/a.py", "find . -name '*.py' -exec grep -l foo {} \\;", "git diff -- a.py", "git add a.py",
        "git commit -m 'Change a.py and src/b.py'", "sort a.py | uniq -c", "python a.py",
        "python3 -m pytest src/a.py -q", "uv run pytest src/a.py", "PYTHONPATH=src pytest src/a.py", "ruff check a.py",
        "timeout 60 python -m mypy src/a.py", "bash -n a.py", "echo a.py", "cat a.py > /dev/null",
        "find . -name '*.py' | xargs grep -n foo", "npm run check",
        "npm test -- src/a.py 2>&1 | tail -5", "npx vitest run src/a.py", "go test ./... src/a.py",
        "python -c \"import ast; ast.parse(open('src/a.py').read())\" && echo ok", "python3 -m unittest src/a.py",
        "echo \"it says a.py > b\" | grep x", "git stash list", "git checkout -b topic", "test -f a.py || exit 1",
        "cat <<'EOF' > other.txt\nsed -i a.py\nEOF", "", "   ", "# rm a.py", "pip install -e .", "grep \"$X\" a.py",
    ],
)  # fmt: skip
def test_command_that_reads_names_nothing(command: str) -> None:
    assert named(command) == []


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("sed -i 's/a/b/' src/b.py", ["src/b.py"]),
        ("sed -i.bak -e 's/a/b/' src/b.py", ["src/b.py"]),
        ("sed -ne 's/a/b/w a.py' src/b.py", ["a.py", "src/a.py", "src/b.py"]),
        ("echo x > src/a.py", ["src/a.py"]),
        ("echo x >>src/a.py", ["src/a.py"]),
        ("cat src/b.py > src/a.py", ["src/a.py"]),
        ("cat src/b.py | tee src/a.py", ["src/a.py"]),
        ("cd src && sed -i s/a/b/ b.py", ["src/b.py"]),
        ("touch a.py", ["a.py", "src/a.py"]),
        (f"rm {CWD}/src/a.py", ["src/a.py"]),
        (f"rm '{CWD}/src/../src/b.py'", ["src/b.py"]),
        ("rm ../project/src/b.py", ["src/b.py"]),
        ("rm /tmp/b.py", []),
        ("rm ./Makefile", ["Makefile"]),
        ("rm my\\ file.txt", ["my file.txt"]),
        ("rm 'my file.txt'", ["my file.txt"]),
        ("rm -rf src", ["src/a.py", "src/b.py", "src/deep/c.txt"]),
        ("rm -rf src/deep/", ["src/deep/c.txt"]),
        ("rm src/*.py", ["src/a.py", "src/b.py"]),
        ("rm src/{a,b}.py", ["src/a.py", "src/b.py"]),
        ("mv src/b.py src/d.py", ["src/b.py"]),
        ("black .", ["Makefile", "a.py", "my file.txt", "src/a.py", "src/b.py", "src/deep/c.txt"]),
        ("npx prettier --write src/deep", ["src/deep/c.txt"]),
        ("ruff check --fix src/b.py", ["src/b.py"]),
        ("grep -rl foo src | xargs sed -i s/foo/bar/", ["src/a.py", "src/b.py", "src/deep/c.txt"]),
        ("find src -name '*.txt' -delete", ["src/a.py", "src/b.py", "src/deep/c.txt"]),
        ("for f in src/*.py; do sed -i s/a/b/ \"$f\"; done", ["src/a.py", "src/b.py"]),
        ("F=src/b.py; sed -i s/a/b/ $F", ["src/b.py"]),
        ("sed -i s/a/b/ $ROOT/src/b.py", ["src/b.py"]),
        ("python -c \"open('src/b.py', 'w').write('x' * 3)\"", ["src/b.py"]),
        ("python -c \"open('src/b.py', 'w')\"", ["src/b.py"]),
        ("python -c \"import os; os.remove('src/b.py')\"", ["src/b.py"]),
        ("npm run format -- src/b.py", ["src/b.py"]),
        ("python - <<EOF\nopen('src/b.py', 'w')\nEOF", ["src/b.py"]),
        ("cat > src/b.py <<'EOF'\nimport a.py\nEOF", ["src/b.py"]),
        ("cat > src/b.py <<EOF\n$(rm src/a.py)\nEOF", ["src/a.py", "src/b.py"]),
        ("python a.py src/b.py", ["src/b.py"]),
        ("sh -c 'rm src/b.py'", ["src/b.py"]),
        ("git checkout -- src/b.py", ["src/b.py"]),
        ("sudo tee /etc/hosts < a.py", ["/etc/hosts"]),
        ("echo 'unfinished src/b.py", ["src/b.py"]),
    ],
)
def test_command_that_may_write_names_files_in_any_spelling(command: str, files: list[str]) -> None:
    assert named(command) == files


@pytest.mark.parametrize(
    "command",
    ["git stash", "git reset --hard HEAD~1", "git checkout main", "git checkout .", "cd src && git pull --rebase",
     "sh -c 'git stash pop'", "git -C . merge topic", "(git stash)"],
)  # fmt: skip
def test_command_on_the_whole_work_tree_names_every_file_in_it(command: str) -> None:
    assert named(command) == sorted(FILES)


def test_texts_of_an_unknown_tool_name_files_but_no_directories() -> None:
    known = files()
    found = {state.path.text for state in known.named(text_effect(["src", "please change `src/b.py`, then *", "."]), 5)}
    assert found == {"src/b.py"}


PIECES = st.sampled_from([
    "'", '"', "\\", "$(", "`", "<<EOF", "\nEOF", "\n", ">", "|", "&", ";", "rm ", "a.py", " ", "{", "*", "git ",
    "stash", "sh -c ",
])  # fmt: skip


@given(st.text(max_size=60) | st.lists(PIECES, max_size=12).map("".join))
def test_any_text_is_taken_for_a_command(command: str) -> None:
    known = files()
    effect = effect_of(command)
    found = {state.path for state in known.named(effect, 5)}
    assert found == {path for path in known.states if known.names(effect, path)}
