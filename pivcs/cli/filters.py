"""The options that narrow entries down, as `pivcs log` has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def filter_options(command: F) -> F:
    """Give a command the options that narrow a log down."""
    several = {"multiple": True}
    options: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("--since", "--after"), {"metavar": "DATE", "help": "Show only entries of this time or later."}),
        (("--until", "--before"), {"metavar": "DATE", "help": "Show only entries from before this time."}),
        (
            ("--role", "roles"),
            {"metavar": "ROLE", **several, "help": "Only messages of a role: user, assistant, tool."},
        ),
        (
            ("--type", "types"),
            {"metavar": "TYPE", **several, "help": "Only entries of a type: message, compaction ..."},
        ),
        (("--tool", "tools"), {"metavar": "NAME", **several, "help": "Only calls of a tool and their results."}),
        (("--file", "files"), {"metavar": "GLOB", **several, "help": "Only calls that read, write or edit a file."}),
        (("--grep", "patterns"), {"metavar": "RE", **several, "help": "Only entries whose text matches."}),
        (("-i", "--ignore-case"), {"is_flag": True, "help": "Let --grep find letters of either case."}),
        (("--errors",), {"is_flag": True, "help": "Only failures: of tools, and of the model."}),
    ]
    for names, settings in reversed(options):
        command = click.option(*names, **settings)(command)
    return command
