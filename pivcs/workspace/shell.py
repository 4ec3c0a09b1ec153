"""Which files a command line may have changed, as far as its text names them.

A shell leaves no trace in a session. What is known here is a small list of programs that only read what they are given;
every file that is named to any other program, or that output is sent to, may be another one afterwards. A program that
runs a script or tests may write anything, named or not, so it counts as a reader of the file that it runs, and of
nothing else. Commands that change the work tree as a whole (`git stash`) name every file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple


class ShellEffect(NamedTuple):
    """What a command may have written: files with these names (as they stand there, or parts of a text), those that
    match these patterns, those below these directories, or all of the work tree."""

    names: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    directories: frozenset[str] = frozenset()
    everything: bool = False


NOTHING: Final = ShellEffect()

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r]+|\\\r?\n|(?:^|(?<=\s))\#[^\n]*)"""
    r"""|(?P<redirect>&>>?|[0-9]*>>?[&|]?|[0-9]*<>?)"""
    r"""|(?P<end>\|\||&&|\|&|[;|&\n])"""
    r"""|'(?P<single>[^']*)'"""
    r"""|"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)\""""
    r"""|\\(?P<escaped>.)"""
    r"""|(?P<plain>[^\s'"\\;|&<>]+)""",
    re.DOTALL,
)
_WORD: Final = re.compile(r"""[^\s'"`=:;,|&<>(){}\[\]$!?*#]+""")
_HARD: Final = re.compile(r"[`]|\$\(|<<|^\s*(?:for|while|until|if|case|function)\b|[({]", re.MULTILINE)
_QUOTED: Final = re.compile(r"""'[^']*'|"[^"\\`$]*(?:(?:\\.|\$(?!\())[^"\\`$]*)*\"""", re.DOTALL)
_GLOB: Final = re.compile(r"[*?\[]")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=")
_PREFIXES: Final = frozenset({"sudo", "time", "env", "command", "nohup", "nice", "exec", "builtin", "then", "do"})
_FROM_INPUT: Final = frozenset({"xargs", "parallel", "sh", "bash", "zsh", "source", "eval"})
_NO_FILE: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})


@lru_cache(maxsize=64)
def effect_of(command: str) -> ShellEffect:
    """Return what a command line may have written. Costs one pass over its text."""
    if _HARD.search(_QUOTED.sub("''", command)):
        return _combined(_split(command), [command])
    parts = list(_parts(command))
    if not parts:
        # The quotes do not match: nothing can be told apart.
        return _combined(_split(command), [command])
    words: list[str] = []
    everything = False
    piped: list[str] = []
    for part in parts:
        words += part.targets
        program, arguments = _program(part.words)
        if not part.piped:
            piped = []
        if program == "xargs":
            inner, inner_arguments = _program([word for word in arguments if not word.startswith("-")])
            if not _reads(inner, inner_arguments):
                words += [*piped, *part.words]
        elif program in _FROM_INPUT and arguments[:1] != ["-n"]:
            words += [*piped, *arguments]
        elif program == "git" and _git_changes_all(arguments):
            everything = True
        elif program and not _reads(program, arguments):
            words += _operands(program, arguments)
        piped += part.words
    return _combined(words, words, everything)


def _combined(words: Sequence[str], texts: Iterable[str], everything: bool = False) -> ShellEffect:
    names = {word for word in words if word}
    for text in texts:
        names.update(match[0] for match in _WORD.finditer(text))
    if not everything:
        # A command inside of one that is too hard to be taken apart.
        everything = any(
            word == "git" and _git_changes_all(words[at + 1 : at + 4]) for at, word in enumerate(words)
        )
    names -= _NO_FILE
    return ShellEffect(
        frozenset(names),
        tuple(sorted({word for word in words if _GLOB.search(word)})),
        frozenset(word.rstrip("/") or "/" for word in words if not _GLOB.search(word)) - {"", "/"},
        everything,
    )


def text_effect(texts: Iterable[str]) -> ShellEffect:
    """Return the effect of a tool of which only the texts that it was given are known."""
    words = list(texts)
    return _combined(words, words)


class _Part(NamedTuple):
    """A simple command: its words, where its output goes, whether it gets the output of the one before."""

    words: list[str]
    targets: list[str]
    piped: bool


def _parts(command: str) -> Iterable[_Part]:
    part = _Part([], [], False)
    word: list[str] | None = None
    found: list[_Part] = []
    redirect = ""

    def close() -> None:
        nonlocal word, redirect
        if word is not None:
            text = "".join(word)
            if not redirect:
                part.words.append(text)
            elif ">" in redirect and not (redirect.endswith("&") and (text.isdigit() or text == "-")):
                part.targets.append(text)
            redirect = ""
        word = None

    at = 0
    while at < len(command):
        match = _TOKEN.match(command, at)
        if match is None:
            return []
        at = match.end()
        kind, text = match.lastgroup, match[match.lastgroup or 0]
        if kind == "space":
            close()
        elif kind == "redirect":
            close()
            redirect = text
        elif kind == "end":
            close()
            found.append(part)
            part = _Part([], [], text in ("|", "|&"))
        else:
            if kind == "double":
                text = re.sub(r'\\(["\\$`])', r"\1", text)
            word = [*(word or []), text]
    close()
    found.append(part)
    return [each for each in found if each.words or each.targets]


def _split(command: str) -> list[str]:
    """Return words of a text that cannot be taken apart reliably: quotes and brackets do not hold them together."""
    return [word for word in re.split(r"""[\s'"`;|&<>(){}$]+""", command) if word]


def _program(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the name of the program and its arguments, without what only runs another program."""
    at = 0
    while at < len(words):
        word = words[at]
        if word == "timeout":
            at += 1
            while at < len(words) and words[at].startswith("-"):
                at += 1
        elif word not in _PREFIXES and not _ASSIGNMENT.match(word) and not (at and word.startswith("-")):
            return word.rpartition("/")[2].removesuffix(".exe"), words[at + 1 :]
        at += 1
    return "", ()


def _operands(program: str, arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments without the script that the program runs."""
    if _INTERPRETER.fullmatch(program):
        for at, word in enumerate(arguments):
            if not word.startswith("-"):
                return [*arguments[:at], *arguments[at + 1 :]]
            if word in ("-c", "-e", "-p", "-m", "--eval", "--print"):
                break
    return arguments


_INTERPRETER: Final = re.compile(r"python[\d.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|Rscript")


def _reads(program: str, arguments: Sequence[str]) -> bool:
    """Whether a program leaves alone the files that it is given."""
    known = _READERS.get(program)
    if known is not None:
        return known(arguments)
    if _INTERPRETER.fullmatch(program) and len(arguments) >= 2 and arguments[0] == "-m":
        return arguments[1] in ("py_compile", "compileall", "json.tool") or _reads(arguments[1], arguments[2:])
    return False


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
    runs = [_program(arguments[at + 1 :]) for at, word in enumerate(arguments) if word in _FIND_RUNS]
    return all(_reads(*run) for run in runs)


_GIT_READS: Final = frozenset({
    "add", "blame", "cat-file", "check-ignore", "describe", "diff", "fetch", "grep", "log", "ls-files", "ls-tree",
    "merge-base", "name-rev", "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show", "status",
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


def _git_changes_all(arguments: Sequence[str]) -> bool:
    command, rest = _git_command(arguments)
    if command == "stash":
        return not rest or rest[0] not in ("list", "show", "drop")
    if command == "reset":
        return "--hard" in rest or "--merge" in rest or "--keep" in rest
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
            "pytest", "mypy", "pyright", "flake8", "pylint", "shellcheck",
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
