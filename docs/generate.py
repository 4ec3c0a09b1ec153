"""Writes what the documents take from the program: `docs/cli.md`, the modules in `docs/architecture.md`, and the output
in `console` blocks.

    python -m docs.generate            write
    python -m docs.generate --check    write nothing; exit 1 and name the files that are out of date

A `console` block is what a terminal shows: lines that begin with `$ ` are commands, the others their output. The blocks
of one document run one after the other in one new directory that holds the demo's session file, with a store of their
own, with nothing of the caller's environment, in UTC, 100 columns wide. What the store noticed was noticed at
`NOTICED`.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from pivcs import errors
from pivcs.cli import BROKEN_PIPE, INTERRUPTED, cli
from pivcs.ops.demo import write_demo

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pivcs"
CLI_PAGE = ROOT / "docs" / "cli.md"
COLUMNS = 100
SHOWN_DIRECTORY = "/tmp/pivcs-demo"
"""Stands in the output for the directory in which the commands ran."""

PICTURE = ROOT / "docs" / "review.svg"
PICTURE_COLUMNS = 106
_PICTURED = (
    "pivcs branch --name-all *.jsonl >/dev/null; pivcs export review *.jsonl >/dev/null; "
    "pivcs export turns --turns *.jsonl >/dev/null",
    "git -C review log --graph --oneline --color --branches='*/[mt]*'",
    "git -C turns show --color 2026-01-01-d8fddc36/main -- shop",
)
"""What the picture of an export shows; the first command is not seen."""
NOTICED = "2026-01-02 09:00"
"""Stands in the output for the time at which an example ran."""

_COMMITTER = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", "2026-01-02T09:00:00Z"))
}
"""Whoever commits in examples, and when: so commits have the same ids each time."""
_HISTORY = re.compile(r"^(History: +|(?:un|re)?done.*: op \d+  |op \d+  )\d{4}-\d\d-\d\d \d\d:\d\d", re.MULTILINE)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MODULES = re.compile(r"(?<=^<!-- modules -->\n).*?(?=^<!-- /modules -->$)", re.MULTILINE | re.DOTALL)
_INTRODUCTION = """\
# Commands

This page is written by `python -m docs.generate` from the program itself; `pivcs COMMAND --help` says the same.
Terms are explained in [glossary.md](glossary.md), JSON documents in [json.md](json.md).
"""


def pages() -> list[Path]:
    """Return all documents that may hold `console` blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def with_outputs(text: str) -> str:
    """Return a document with the output that the commands of its `console` blocks have now."""
    if not _BLOCK.search(text):
        return text
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        work = place / "work"
        work.mkdir()
        write_demo(work)
        environment = _environment(place)
        return _BLOCK.sub(lambda block: f"```console\n{_run(block[1], work, environment)}```", text)


def picture() -> str:
    """Return the picture of an export in a terminal."""
    from docs.picture import terminal

    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        work = place / "work"
        work.mkdir()
        write_demo(work)
        environment = _environment(place)
        _run(f"$ {_PICTURED[0]}\n", work, environment)
        lines: list[str] = []
        for command in _PICTURED[1:]:
            shown, *output = _run(f"$ {command}\n", work, environment).splitlines()
            lines += [shown.replace(" --color", ""), *output[:30], ""]
    return terminal("review", lines[:-1], PICTURE_COLUMNS)


def _environment(place: Path) -> dict[str, str]:
    """Return an environment in which `pivcs` is the program of this checkout, run by this Python."""
    programs = place / "bin"
    programs.mkdir()
    for name, command in (("python3", ""), ("pivcs", "-m pivcs ")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {command}"$@"\n')
        program.chmod(0o755)
    return {
        "PATH": f"{programs}:{os.defpath}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "HOME": str(place),
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "COLUMNS": str(COLUMNS),
        **_COMMITTER,
    }


def _run(block: str, work: Path, environment: dict[str, str]) -> str:
    lines = []
    for line in block.splitlines():
        if line.startswith("$ "):
            result = subprocess.run(
                ["sh", "-c", line[2:]], cwd=work, env=environment, check=False, text=True, encoding="utf-8",
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            output = _HISTORY.sub(rf"\g<1>{NOTICED}", result.stdout.replace(str(work), SHOWN_DIRECTORY))
            lines += [line, *output.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def modules() -> list[Path]:
    """Return the modules of the package by folder: those that git knows, or all outside of a repository."""
    git = ["git", "-C", str(PACKAGE), "ls-files", "-z", "*.py"]
    listed = subprocess.run(git, check=True, capture_output=True, text=True).stdout if (ROOT / ".git").exists() else ""
    found = [PACKAGE / name for name in listed.split("\0") if name] or [*PACKAGE.rglob("*.py")]
    found = [path for path in found if path.exists() and path.name != "__init__.py"]
    return sorted(found, key=lambda path: (path.parent, path.name))


def with_modules(text: str) -> str:
    """Return a document with the list of modules, where it has a place for one, as it is now."""
    rows = []
    for path in modules():
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        sentence = re.split(r"\.(?=\s|$)", docstring.split("\n\n")[0], maxsplit=1)[0]
        rows.append(f"| `{path.relative_to(PACKAGE).as_posix()}` | {' '.join(sentence.split())} |\n")
    table = "\n| module | what it has |\n|---|---|\n" + "".join(rows) + "\n"
    return _MODULES.sub(lambda _: table, text)


def cli_page() -> str:
    """Return the text of `docs/cli.md`."""
    return "\n".join([_INTRODUCTION, *_group_text(), *_command_texts(), *_exit_code_text()])


def commands() -> dict[str, click.Command]:
    """Return all commands by name."""
    context = click.Context(cli, info_name="pivcs", **cli.context_settings)
    found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def _group_text() -> Iterator[str]:
    yield "`pivcs [OPTIONS] COMMAND [ARGS]...`\n"
    yield _prose(cli) + "\n"
    yield from _option_table(cli)


def _command_texts() -> Iterator[str]:
    above = click.Context(cli, info_name="pivcs", **cli.context_settings)
    for name, command in commands().items():
        yield from command_text(command, name, above)


def command_text(command: click.Command, name: str, above: click.Context, level: int = 2) -> Iterator[str]:
    """Yield the section of a command, and below it those of its own commands."""
    context = click.Context(command, info_name=name, parent=above)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"{'#' * level} {context.command_path}\n"
    yield f"`{context.command_path} {usage}`\n"
    yield _prose(command) + "\n"
    yield from _option_table(command)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from command_text(found, inner, context, level + 1)


def _prose(command: click.Command) -> str:
    """Return a help text as Markdown: what click is told not to wrap becomes a code block."""
    paragraphs = []
    for paragraph in (command.help or "").strip().split("\n\n"):
        lines = [line.strip() if line.strip() == "\b" else line for line in paragraph.splitlines()]
        if lines and lines[0] == "\b":
            paragraphs.append("\n".join(["```", textwrap.dedent("\n".join(lines[1:])), "```"]))
        else:
            text = " ".join(line.strip() for line in lines)
            paragraphs.append(textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False))
    return "\n\n".join(paragraphs)


def _option_table(command: click.Command) -> Iterator[str]:
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    if options:
        rows = [f"| {_spelling(option)} | {_meaning(option)} |" for option in options]
        yield "\n".join(["| option | meaning |", "|---|---|", *rows]) + "\n"


def _spelling(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if option.is_flag or option.count:
        return names
    if isinstance(option.type, click.Choice):
        value = " or ".join(f"`{choice}`" for choice in option.type.choices)
    else:
        value = f"`{option.metavar or option.type.name.upper().removesuffix(' RANGE')}`"
    return f"{names} {value}".replace("|", "\\|")


def _meaning(option: click.Option) -> str:
    help_text = option.help or ""
    if option.show_default and not option.is_flag:
        help_text += f" Default: `{option.default}`."
    return help_text.strip().replace("|", "\\|")


def exit_codes() -> list[tuple[int, str]]:
    """Return every exit code with its meaning."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.PivcsError)]
    meanings = {kind: " ".join((kind.__doc__ or "").split()).rstrip(".") for kind in kinds}
    codes = {kind.exit_code: meaning for kind, meaning in meanings.items() if kind is not errors.PivcsError}
    fixed = {
        0: "Done",
        1: "The command did what it does, and the answer is no: nothing is there (`cat-file --exists`, "
        "`rev-parse --verify`, `merge-base`, `grep`, `link`), something was found (`fsck`, `scan`, "
        "`diff --exit-code`), not all is known (`show REV:PATH`), or something was left as it is (`archive`, "
        "`export`, `forget`, `push`)",
        2: "The command line cannot be understood: an unknown command or option, an argument that is missing or too "
        "much, options that do not go together, or a value that is none of those which an option takes",
        INTERRUPTED: "Interrupted (Ctrl-C)",
        BROKEN_PIPE: "Whoever read the output stopped reading, as `head` does",
    }
    return sorted((fixed | codes).items())


def _exit_code_text() -> Iterator[str]:
    yield "## Exit codes\n"
    yield "Failures are told on standard error, with a line `hint:` where there is something to do.\n"
    rows = [f"| {code} | {text} |" for code, text in exit_codes()]
    yield "\n".join(["| code | meaning |", "|---|---|", *rows]) + "\n"


def expected() -> Iterator[tuple[Path, str]]:
    """Yield every document with the text that it should have."""
    for path in pages():
        if path != CLI_PAGE:
            yield path, with_modules(with_outputs(path.read_text(encoding="utf-8")))
    yield CLI_PAGE, cli_page()
    yield PICTURE, picture()


def main(arguments: Sequence[str]) -> int:
    """Write or check all documents; returns the exit code."""
    stale = [(path, text) for path, text in expected() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path, text in stale:
        print(path.relative_to(ROOT))
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
