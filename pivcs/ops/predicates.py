"""What entries can be chosen by: pure functions of a view and a row.

Those of role, type, failure and time decide from the columns alone; those of tools, files and text read the line, and
only where its bytes may say yes.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from pivcs.errors import InputError
from pivcs.objects.table import FAILED, NO_TIME
from pivcs.ops.entry_text import file_paths, texts_of
from pivcs.ops.view import SHOWN_WHOLE, SessionView
from pivcs.session.codes import ASSISTANT, MESSAGE_OTHER, OTHER, ROLES, TOOL_RESULT, TYPES, is_message
from pivcs.workspace.paths import spellings
from pivcs.workspace.state import FilePath

Predicate = Callable[[SessionView, int], bool]
"""Whether a node's row is wanted."""

_ROLE_ALIASES: Final = {"tool": "toolResult", "bash": "bashExecution"}
ROLE_NAMES: Final = (*ROLES, *_ROLE_ALIASES)
TYPE_NAMES: Final = ("message", *(name for name in TYPES if name != "session"))


class BadPattern(InputError):
    """A regular expression that is none."""

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(f"'{pattern}' is no regular expression: {why}", hint="a backslash before . * ( [ means them")
        self.pattern = pattern


def rows_where(view: SessionView, *predicates: Predicate, rows: Iterable[int] | None = None) -> Iterator[int]:
    """Yield the rows that all predicates want, of `rows` or of all nodes in file order."""
    for row in view.table.nodes() if rows is None else rows:
        if all(wanted(view, row) for wanted in predicates):
            yield row


def has_role(role: str) -> Predicate:
    """Want messages of a role: `user`, `assistant`, `toolResult` or `tool`, `bashExecution` or `bash`, any other."""
    known = {name.lower(): name for name in ROLES}
    lower = role.lower()
    name = _ROLE_ALIASES.get(lower) or known.get(lower)
    if name is not None:
        code = ROLES[name]
        return lambda view, row: view.table.code[row] == code

    def other(view: SessionView, row: int) -> bool:
        if view.table.code[row] != MESSAGE_OTHER:
            return False
        message = view.entry(row).message
        return message is not None and message.role is not None and message.role.lower() == lower

    return other


def has_type(type_: str) -> Predicate:
    """Want entries of a type, as it is in the line: `message`, `compaction`, `label`, any other."""
    if type_ == "message":
        return lambda view, row: is_message(view.table.code[row])
    code = TYPES.get(type_)
    if code is not None:
        return lambda view, row: view.table.code[row] == code
    return lambda view, row: view.table.code[row] == OTHER and view.entry(row).type == type_


def has_failed() -> Predicate:
    """Want failures: tool results with an error, answers that failed or were aborted."""
    return lambda view, row: bool(view.table.flags[row] & FAILED)


def is_after(time: int) -> Predicate:
    """Want entries of that time (milliseconds since 1970) or later."""
    return lambda view, row: view.table.time[row] >= time and view.table.time[row] != NO_TIME


def is_before(time: int) -> Predicate:
    """Want entries from before that time (milliseconds since 1970)."""
    return lambda view, row: NO_TIME < view.table.time[row] < time


def uses_tool(name: str) -> Predicate:
    """Want answers that call a tool, and its results. `*`, `?` and `[...]` in the name stand for any characters."""
    may_call = _may_say("toolCall")

    def predicate(view: SessionView, row: int) -> bool:
        code = view.table.code[row]
        if code == ASSISTANT:
            if not may_call(view, row):
                return False
            message = view.entry(row).message
            return message is not None and any(fnmatchcase(call.name, name) for call in message.tool_calls())
        if code != TOOL_RESULT:
            return False
        message = view.entry(row).message
        given = message.tool_name if message is not None else None
        if given is None:
            call = view.call_of(row)
            given = call.name if call is not None else None
        return given is not None and fnmatchcase(given, name)

    return predicate


def touches_file(glob: str) -> Predicate:
    """Want answers that read, write or edit a file.

    The glob is compared with the path relative to the session's directory, the absolute path, the path as the model
    wrote it, and the base name. `*` and `?` stop at slashes, `**` does not; a directory stands for all that is in it.
    """
    pattern, may_call = _glob_pattern(glob), _may_say("toolCall")

    def predicate(view: SessionView, row: int) -> bool:
        if view.table.code[row] != ASSISTANT or not may_call(view, row):
            return False
        cwd = view.header.cwd
        return any(
            pattern.fullmatch(spelling) for path in file_paths(view.value(row)) for spelling in spellings(path, cwd)
        )

    return predicate


def names_file(globs: Sequence[str], cwd: str | None) -> Callable[[FilePath], bool]:
    """Return a test for files that one of some globs names, as `touches_file` takes them; without globs all pass."""
    patterns = [_glob_pattern(glob) for glob in globs]

    def test(path: FilePath) -> bool:
        return not patterns or any(
            pattern.fullmatch(spelling) for spelling in spellings(path.text, cwd) for pattern in patterns
        )

    return test


def _glob_pattern(glob: str) -> re.Pattern[str]:
    """Return what a glob of paths means, as a regular expression."""
    parts, at = [], 0
    glob = glob.removeprefix("./")
    while at < len(glob):
        if glob.startswith("**/", at):
            parts.append("(?:.*/)?")
            at += 3
            continue
        if glob.startswith("**", at):
            parts.append(".*")
            at += 2
            continue
        char, close = glob[at], glob.find("]", at + 2)
        if char == "[" and close > 0:
            inside = glob[at + 1 : close]
            negated = inside[0] in "!^"
            chars = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
            try:
                re.compile(f"[{chars}]")
            except re.error:  # as [z-a]: nothing is in it
                chars = ""
            parts.append(f"[^/{chars}]" if negated else f"(?!/)[{chars}]" if chars else "(?!)")
            at = close
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char))
        at += 1
    whole = "".join(parts)
    return re.compile(f"{whole}{'' if glob.endswith('/') else '(?:/|$)'}.*" if glob else "(?!)", re.DOTALL)


def has_text(pattern: str, *, ignore_case: bool = False) -> Predicate:
    """Want entries in whose text a regular expression is found: what was said, thought, called or given back.

    It is looked for in one text at a time (a block, an argument); `^` and `$` are the ends of its lines. Raises
    `BadPattern`.
    """
    compiled = compile_pattern(pattern, ignore_case=ignore_case)
    is_literal = not ignore_case and not re.search(r"[^\w \-'\",:;=@<>/]", pattern)
    may_match = _may_say(pattern) if is_literal else _is_shown

    def predicate(view: SessionView, row: int) -> bool:
        return may_match(view, row) and any(compiled.search(text) for text in texts_of(view.value(row)))

    return predicate


def contains(text: str) -> Predicate:
    """Want entries that contain a text, letter by letter."""
    may_say = _may_say(text)

    def predicate(view: SessionView, row: int) -> bool:
        return may_say(view, row) and any(text in each for each in texts_of(view.value(row)))

    return predicate


def compile_pattern(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """Compile a regular expression that somebody typed. Raises `BadPattern`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern, re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(pattern, str(error) or "it is too deep") from error


def _may_say(text: str) -> Predicate:
    """Want records that may have a text in them: all but those whose bytes exclude it, however JSON spells it."""
    if "\ufffd" in text:  # what stands for bytes that are no UTF-8
        return _is_shown
    try:
        needle = json.dumps(text, ensure_ascii=False)[1:-1].encode()
    except UnicodeEncodeError:  # a lone surrogate, which lines have in escaped form only
        return _is_shown
    slashes = b"/" in needle

    def predicate(view: SessionView, row: int) -> bool:
        if view.table.length[row] > SHOWN_WHOLE:
            return False
        record = view.record(row)
        return needle in record or b"\\u" in record or (slashes and b"\\/" in record)

    return predicate


def _is_shown(view: SessionView, row: int) -> bool:
    return view.table.length[row] <= SHOWN_WHOLE
