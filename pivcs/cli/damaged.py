"""How a command ends when something that came from a repository is damaged."""

from __future__ import annotations

from collections.abc import Sequence

from pivcs.cli.output import warn
from pivcs.errors import DataError
from pivcs.gitbridge.importing import Imported
from pivcs.render.import_text import damage_texts


class LeftOut(DataError):
    """Something of a repository is damaged, or cannot be read, and was left out; all else was taken."""


def fail_if_damaged(streams: Sequence[Imported]) -> None:
    """Tell everything that is damaged, each session and reason once. Raises `LeftOut` for the first of it."""
    found = damage_texts(streams)
    for said, _ in found[1:]:
        warn(said)
    if found:
        said, error = found[0]
        left_out = LeftOut(said, hint=error.hint)
        left_out.exit_code = error.exit_code
        raise left_out
