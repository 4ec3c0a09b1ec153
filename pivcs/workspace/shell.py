"""Which files a command line may have changed, as far as its text names them.

A shell leaves no trace in a session. Programs that only read what they are given are known (`programs.py`); every file
that is named to any other program, or that output is sent to, may be another one afterwards. Commands that change the
work tree as a whole (`git stash`) name every file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from pivcs.workspace.programs import SHELLS, WALKERS, git_changes_all, operands, program_of, reads


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
_HARD: Final = re.compile(
    r"`|<<|(?<!\\)\(|(?:^|[\s;&|])\{\s|^[ \t]*(?:for|while|until|if|case|function)\b", re.MULTILINE
)
_QUOTED: Final = re.compile(r"""'[^']*'|"[^"\\`$]*(?:(?:\\.|\$(?!\())[^"\\`$]*)*\"""", re.DOTALL)
_GLOB: Final = re.compile(r"[*?\[]|\{[^{}\s]*,")
_BRACES: Final = re.compile(r"\{[^{}\s]*,[^{}\s]*\}")
_VARIABLE: Final = re.compile(r"\$(?:\w+|\{\w+\})")
_PATTERN: Final = re.compile(r"[\w./*?\[\]{},~@+-]*\w[\w./*?\[\]{},~@+-]*")
_HEREDOC: Final = re.compile(r"([^\n<]*)<<-?[ \t]*(['\"]?)(\w+)\2([^\n]*)")
_NO_FILE: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})


@lru_cache(maxsize=64)
def effect_of(command: str) -> ShellEffect:
    """Return what a command line may have written. Costs one pass over its text."""
    command = _VARIABLE.sub("", _without_texts(command) if "<<" in command else command)
    parts = None if _HARD.search(_QUOTED.sub("''", command)) else _parts(command)
    if parts is None:
        # Nothing can be told apart reliably: not even which program a word belongs to.
        return _loose_effect(_split(command), [command])
    words: list[str] = []
    globs: list[str] = []
    walked: list[str] = []
    piped: list[str] = []
    everything = False
    for part in parts:
        words += part.targets
        globs += part.globs
        program, arguments = program_of(part.words)
        if not part.piped:
            piped = []
        if program == "xargs":
            run = program_of([word for word in arguments if not word.startswith("-")])
            if not reads(*run):
                # The files are those that the command before wrote out, and that its words led to.
                walked += [*piped, *arguments]
        elif program in SHELLS:
            if arguments[:1] != ["-n"]:
                inner = _loose_effect(_split(" ".join([*piped, *arguments])))
                words += inner.names
                walked += inner.directories
                globs += inner.patterns
                everything = everything or inner.everything
        elif program == "git" and git_changes_all(arguments):
            everything = True
        elif not program:
            words += part.words  # what variables are set to
        elif not reads(program, arguments):
            words += operands(program, arguments)
            if program in WALKERS:
                walked += arguments
        piped += part.words
    return _effect(words, walked, [word for word in globs if word in words or word in walked], everything)


def text_effect(texts: Iterable[str]) -> ShellEffect:
    """Return the effect of a tool of which only the texts that it was given are known."""
    return _loose_effect(list(texts))._replace(directories=frozenset())


def _loose_effect(words: Sequence[str], texts: Iterable[str] = ()) -> ShellEffect:
    """Return what words and texts name of which it cannot be told what they are for."""
    walks = not WALKERS.isdisjoint(words)
    globs = {word for text in (*words, *texts) for word in text.split()}
    globs = {word for word in globs if _PATTERN.fullmatch(word) or (walks and word == "*")}
    everything = any(word == "git" and git_changes_all(words[at + 1 : at + 4]) for at, word in enumerate(words))
    return _effect([*words, *texts], words if walks else (), globs, everything)


def _effect(words: Sequence[str], walked: Sequence[str], globs: Iterable[str], everything: bool) -> ShellEffect:
    names = {*words, *walked}
    for text in (*words, *walked):
        names.update(match[0] for match in _WORD.finditer(text))
    return ShellEffect(
        frozenset(names - _NO_FILE - {""}),
        tuple(sorted({_BRACES.sub("*", word) for word in globs if _GLOB.search(word)})),
        frozenset(word.rstrip("/") for word in walked) - {""},
        everything,
    )


class _Part(NamedTuple):
    """A simple command: its words, those that are patterns, where its output goes, whether it gets other output."""

    words: list[str]
    globs: list[str]
    targets: list[str]
    piped: bool


def _parts(command: str) -> list[_Part] | None:
    """Return the simple commands of a line; None when its quotes do not match."""
    part = _Part([], [], [], False)
    word: list[str] | None = None
    found: list[_Part] = []
    redirect = ""
    glob = False

    def close() -> None:
        nonlocal word, redirect, glob
        if word is not None:
            text = "".join(word)
            if glob:
                part.globs.append(text)
            if not redirect:
                part.words.append(text)
            elif ">" in redirect and not (redirect.endswith("&") and (text.isdigit() or text == "-")):
                part.targets.append(text)
            redirect = ""
        word, glob = None, False

    at = 0
    while at < len(command):
        match = _TOKEN.match(command, at)
        if match is None:
            return None
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
            part = _Part([], [], [], text in ("|", "|&"))
        else:
            if kind == "double":
                text = re.sub(r'\\(["\\$`])', r"\1", text)
            if kind == "plain" and _GLOB.search(text):
                glob = True
            word = [] if word is None else word
            word.append(text)
    close()
    found.append(part)
    return [each for each in found if each.words or each.targets]


def _without_texts(command: str) -> str:
    """Return a command line without the texts that it only writes to files: `cat > FILE <<EOF`."""
    lines = command.split("\n")
    ends: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        ends.setdefault(line.strip("\t "), []).append(at)
    run = [at for at, line in enumerate(lines) if "$(" in line or "`" in line]
    kept = []
    at = 0
    while at < len(lines):
        match = _HEREDOC.fullmatch(lines[at])
        found = ends.get(match[3], []) if match is not None else []
        place = bisect_right(found, at)
        end = found[place] if place < len(found) else None
        if match is None or end is None or not (
            _writes(match[1]) and (match[2] or bisect_right(run, at) == bisect_right(run, end))
        ):  # the shell runs nothing of it
            kept.append(lines[at])
            at += 1
        else:
            kept.append(match[1] + match[4])
            at = end + 1
    return "\n".join(kept)


def _writes(line: str) -> bool:
    """Whether the last command of a line writes out what it is given."""
    return program_of(re.split(r"[;&|]+", line)[-1].split())[0] in ("cat", "tee")


def _split(command: str) -> list[str]:
    """Return words of a text that cannot be taken apart reliably: quotes and brackets do not hold them together."""
    return [word for word in re.split(r"""[\s'"`;|&<>(){}$]+""", command) if word]
