"""What programs do to the files that they are given, as far as their names and arguments say it.

A short list knows those that only read. A program that runs a script, tests or hooks may write anything, named or not,
so what it is given to run tells nothing: it counts as a reader of that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=")
_PREFIXES: Final = frozenset({
    "builtin", "bunx", "command", "env", "exec", "nice", "nohup", "npx", "pnpx", "sudo", "time", "uvx",
})  # fmt: skip
_RUNNERS: Final = frozenset({"uv", "poetry", "pdm", "pipenv", "hatch", "rye"})
SHELLS: Final = frozenset({"parallel", "sh", "bash", "zsh", "dash", "source", ".", "eval"})
WALKERS: Final = frozenset({
    "black", "clang-format", "cp", "dprint", "eslint", "find", "git", "gofmt", "goimports", "isort", "mv", "prettier",
    "rm", "rsync", "ruff", "rustfmt", "tar", "unzip", "xargs", "yapf",
})  # fmt: skip
"""Programs that may write all files below a directory that they are given."""


def program_of(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the name of the program and its arguments, without what only runs another program."""
    at = 0
    while at < len(words):
        word = words[at]
        if word == "timeout":
            at += 1
            while at < len(words) and words[at].startswith("-"):
                at += 1
        elif word in _RUNNERS and words[at + 1 : at + 2] == ["run"]:
            at += 1
        elif word not in _PREFIXES and not _ASSIGNMENT.match(word) and not (at and word.startswith("-")):
            return word.rpartition("/")[2].removesuffix(".exe"), words[at + 1 :]
        at += 1
    return "", ()


def operands(program: str, arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments without the script that the program runs."""
    if _INTERPRETER.fullmatch(program):
        for at, word in enumerate(arguments):
            if not word.startswith("-"):
                return [*arguments[:at], *arguments[at + 1 :]]
            if word in ("-c", "-e", "-p", "-m", "--eval", "--print"):
                break
    return arguments


_INTERPRETER: Final = re.compile(r"python[\d.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|Rscript")


def reads(program: str, arguments: Sequence[str]) -> bool:
    """Whether a program leaves alone the files that it is given."""
    known = _READERS.get(program)
    if known is not None:
        return known(arguments)
    if program in _TESTS:
        return bool(arguments) and (arguments[0] in _TESTS[program] or arguments[:2] == ["run", "test"])
    if program.startswith("python") and _INTERPRETER.fullmatch(program) and len(arguments) >= 2:
        if arguments[0] == "-m":
            return arguments[1] in _PYTHON_MODULES or reads(arguments[1], arguments[2:])
        return arguments[0] == "-c" and _python_reads(arguments[1])
    return False


_TESTS: Final = {
    "npm": frozenset({"test", "t"}), "yarn": frozenset({"test"}), "pnpm": frozenset({"test"}),
    "bun": frozenset({"test"}), "deno": frozenset({"test", "check"}), "go": frozenset({"test", "vet", "build"}),
    "cargo": frozenset({"test", "check", "build"}),
}  # fmt: skip
"""Programs that run a project's tests, or only compile, when they are told to."""
_PYTHON_MODULES: Final = frozenset({"py_compile", "compileall", "json.tool", "unittest"})
_PYTHON_TEXT: Final = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_PYTHON_OPEN: Final = re.compile(r"\bopen\(\s*\w*\s*\)")
_PYTHON_WORDS: Final = frozenset({
    "ast", "as", "compile", "doraise", "f", "from", "import", "json", "len", "load", "loads", "parse", "print",
    "py_compile", "read", "readlines", "safe_load", "splitlines", "sys", "tokenize", "tomllib", "True", "yaml",
})  # fmt: skip


def _python_reads(code: str) -> bool:
    """Whether a line of Python only opens files to read them, told by its words: nothing else may be in it."""
    code = _PYTHON_OPEN.sub("()", _PYTHON_TEXT.sub("", code))
    return _PYTHON_WORDS.issuperset(re.findall(r"[^\W\d]\w*", code)) and not re.search("['\"]", code)


def _always(arguments: Sequence[str]) -> bool:
    return True


def _without(*flags: str) -> Callable[[Sequence[str]], bool]:
    """Return a test for arguments without these: long ones may have a value, short ones may stand together."""
    long = tuple(flag for flag in flags if flag.startswith("--"))
    short = "".join(flag[1] for flag in flags if not flag.startswith("--"))

    def test(arguments: Sequence[str]) -> bool:
        return not any(
            word.startswith(long) if word.startswith("--")
            else word.startswith("-") and any(letter in word[1:] for letter in short)
            for word in arguments
        )  # fmt: skip

    return test


_SED_PRINTS: Final = re.compile(r"[\d,$ ;+~p]+|/[^/]*/(?:,/[^/]*/)?p")
_FIND_WRITES: Final = frozenset({"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"})
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def _sed_reads(arguments: Sequence[str]) -> bool:
    scripts = [word for word in arguments if not word.startswith("-")]
    return bool(scripts) and _SED_PRINTS.fullmatch(scripts[0]) is not None and _without("-i", "--in-place")(arguments)


def _find_reads(arguments: Sequence[str]) -> bool:
    if not _FIND_WRITES.isdisjoint(arguments):
        return False
    runs = [program_of(arguments[at + 1 :]) for at, word in enumerate(arguments) if word in _FIND_RUNS]
    return all(reads(*run) for run in runs)


_GIT_READS: Final = frozenset({
    "add", "blame", "branch", "cat-file", "check-ignore", "commit", "config", "describe", "diff", "fetch", "grep",
    "log", "ls-files", "ls-tree", "merge-base", "name-rev", "push", "reflog", "remote", "rev-list", "rev-parse",
    "shortlog", "show", "status", "tag",
})  # fmt: skip
_GIT_CHANGES: Final = frozenset({
    "am", "apply", "cherry-pick", "clean", "merge", "pull", "rebase", "reset", "revert", "stash", "switch",
})  # fmt: skip


def _git_command(arguments: Sequence[str]) -> tuple[str, Sequence[str]]:
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return (arguments[at], arguments[at + 1 :]) if at < len(arguments) else ("", ())


def _git_reads(arguments: Sequence[str]) -> bool:
    command, _ = _git_command(arguments)
    # `git diff --output=FILE` writes.
    return command in _GIT_READS and not any(word.startswith("--output") for word in arguments)


def git_changes_all(arguments: Sequence[str]) -> bool:
    """Whether a command of git changes files of the work tree without naming them."""
    command, rest = _git_command(arguments)
    if command == "stash":
        return not rest or rest[0] not in ("list", "show", "drop")
    if command == "reset":
        return "--hard" in rest or "--merge" in rest or "--keep" in rest
    if not {"-b", "-c"}.isdisjoint(rest) and sum(not word.startswith("-") for word in rest) < 2:
        return False  # a new branch where the old one is
    # `git checkout -- FILE` names its files; `git checkout BRANCH` none of them.
    return command in _GIT_CHANGES or (command == "checkout" and "--" not in rest)


_READERS: Final[dict[str, Callable[[Sequence[str]], bool]]] = (
    dict.fromkeys(
        (
            "cat", "head", "tail", "less", "more", "wc", "ls", "tree", "grep", "egrep", "fgrep", "rg", "ag", "ack",
            "file", "stat", "diff", "cmp", "comm", "md5sum", "sha1sum", "sha256sum", "shasum", "od", "hexdump", "nl",
            "cut", "tr", "tac", "rev", "strings", "echo", "printf", "true", "false", ":", "pwd", "cd", "pushd", "popd",
            "test", "[", "which", "type", "basename", "dirname", "realpath", "readlink", "du", "df", "ps", "kill",
            "sleep", "date", "whoami", "uname", "id", "export", "set", "unset", "exit", "jq", "mkdir", "seq",
            "jest", "mocha", "vitest", "pytest", "mypy", "pyright", "flake8", "pylint", "shellcheck",
        ),
        _always,
    )
    | {
        "sort": _without("-o", "--output"),
        "fd": _without("-x", "-X", "--exec"),
        "ruff": lambda words: words[:1] == ["check"] and _without("--fix", "--add-noqa")(words),
        "eslint": _without("--fix", "-o", "--output"),
        "tsc": lambda words: "--noEmit" in words,
        "node": lambda words: bool(words) and words[0] in ("--check", "--test", "--version", "-v"),
        "sed": _sed_reads,
        "find": _find_reads,
        "git": _git_reads,
    }
)  # fmt: skip
