"""Tool calls as operations on files: pi's own tools, in every shape that their arguments have had, and its relatives'.

`TOOLS` is the one place that knows tools by name. A tool that it does not know is an `Other`: it may have changed any
file that its arguments name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from pivcs.session.jsontext import NotJson, parse_json

PATH_ARGUMENTS: Final = ("path", "file_path", "filePath")
_OLD: Final = ("oldText", "old_text", "old_string", "oldString", "old_str")
_NEW: Final = ("newText", "new_text", "new_string", "newString", "new_str")
_CONTENT: Final = ("content", "file_text", "contents")
_COMMAND: Final = ("command", "cmd", "script")
_EVERYWHERE: Final = ("replace_all", "replaceAll")

Arguments = Mapping[str, object]


class Replacement(NamedTuple):
    """One piece of text to be found and what takes its place."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Read:
    """A file is read; with an offset or a limit only some lines of it."""

    path: str
    offset: object = None
    limit: object = None


@dataclass(frozen=True, slots=True)
class Write:
    """A file is created or overwritten; None when the call does not tell with what."""

    path: str
    content: str | None


@dataclass(frozen=True, slots=True)
class Edit:
    """Pieces of a file are replaced; None when the call does not tell which. `everywhere`: each occurrence is."""

    path: str
    replacements: tuple[Replacement, ...] | None
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Shell:
    """A command line runs."""

    command: str


@dataclass(frozen=True, slots=True)
class Other:
    """A tool runs of which nothing is known but its arguments."""

    name: str
    arguments: Arguments


Operation = Read | Write | Edit | Shell | Other


def operation_of(name: str, arguments: Arguments) -> Operation | None:
    """Return what a call does to files; None for tools that change none and show none as a whole. Never raises."""
    maker = TOOLS.get(name.lower(), _other)
    if maker is None:
        return None
    made = maker(arguments)
    return Other(name, arguments) if made is None else made


def path_of(name: str, arguments: Arguments) -> str | None:
    """Return the path argument of a tool that reads, writes or edits one file, as the model wrote it."""
    return _text(arguments, PATH_ARGUMENTS) if TOOLS.get(name.lower()) in (_read, _write, _edit) else None


def _read(arguments: Arguments) -> Operation | None:
    path = _text(arguments, PATH_ARGUMENTS)
    return None if path is None else Read(path, arguments.get("offset"), arguments.get("limit"))


def _write(arguments: Arguments) -> Operation | None:
    path = _text(arguments, PATH_ARGUMENTS)
    return None if path is None else Write(path, _text(arguments, _CONTENT))


def _edit(arguments: Arguments) -> Operation | None:
    path = _text(arguments, PATH_ARGUMENTS)
    everywhere = any(arguments.get(key) is True for key in _EVERYWHERE)
    return None if path is None else Edit(path, replacements_of(arguments), everywhere)


def _shell(arguments: Arguments) -> Operation | None:
    command = next((arguments[key] for key in _COMMAND if key in arguments), None)
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(map(str, command))
    return Shell(command) if isinstance(command, str) else None


def _other(arguments: Arguments) -> Operation | None:
    return None


Maker = Callable[[Arguments], Operation | None]

TOOLS: Final[dict[str, Maker | None]] = (
    dict.fromkeys(("read", "read_file", "readfile", "view_file"), _read)
    | dict.fromkeys(("write", "write_file", "writefile", "create_file"), _write)
    | dict.fromkeys(("edit", "edit_file", "multiedit", "multi_edit", "str_replace"), _edit)
    | dict.fromkeys(("bash", "powershell", "exec", "shell", "exec_command", "execute_command", "run_command"), _shell)
    | dict.fromkeys(("grep", "find", "ls", "glob", "web_search", "web_fetch", "websearch", "webfetch", "fetch"), None)
)
"""What makes an operation of a call, by the tool's name in lower case; None: the tool changes no files."""


def replacements_of(arguments: Arguments) -> tuple[Replacement, ...] | None:
    """Return the replacements of an edit in any of its shapes (pi format 17.1); None when they cannot be told."""
    edits = arguments.get("edits")
    if isinstance(edits, str):
        try:
            edits = parse_json(edits.encode("utf-8", "surrogatepass"))
        except NotJson:
            edits = None
    if isinstance(edits, dict):
        edits = [edits]
    found = [_replacement(value) for value in edits] if isinstance(edits, list) else []
    if (single := _replacement(arguments)) is not None:
        found.append(single)
    known = tuple(each for each in found if each is not None)
    return known if known and len(known) == len(found) else None


def _replacement(value: object) -> Replacement | None:
    if not isinstance(value, Mapping):
        return None
    old, new = _text(value, _OLD), _text(value, _NEW)
    return None if old is None or new is None else Replacement(old, new)


def _text(arguments: Arguments, keys: tuple[str, ...]) -> str | None:
    return next((value for key in keys if isinstance(value := arguments.get(key), str)), None)
