"""What is asked before sessions leave the machine: whether there are secrets in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

import click

from pivcs.cli.output import byte_progress, warn
from pivcs.cli.target import current_directory
from pivcs.errors import StateError
from pivcs.ops.scan import bytes_left, scan_session
from pivcs.ops.scan_allow import Allowed, Judged, allowed_secrets, counts_by_rule, judged
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural

F = TypeVar("F", bound=Callable[..., Any])

_TAKES_LONG: Final = 16 << 20
_HINT: Final = (
    "`pivcs scan` shows where; `pivcs scan --allow FINGERPRINT` lets one pass for good, --yes all of them this time"
)


class SecretsFound(StateError):
    """Sessions that are about to leave the machine have secrets in them."""


def yes_option(command: F) -> F:
    """Give a command `--yes`, for `check_leaving`."""
    return click.option("--yes", is_flag=True, help="Go on though there are secrets in the sessions.")(command)


def check_leaving(views: Iterable[SessionView], *, yes: bool, refuse: bool) -> None:
    """Look for secrets in sessions before they leave, all that the store keeps of them; nothing is written yet.

    When some are found that are not allowed, a warning says how many by rule. With `refuse` and without `yes` it is an
    error instead: raises `SecretsFound`.
    """
    found = [each for each in scanned(views) if each.refused]
    if not found:
        return
    counts = counts_by_rule(finding for each in found for finding in each.refused)
    total = sum(counts.values())
    by_rule = ", ".join(f"{rule} {count:,}" for rule, count in counts.items())
    said = f"{plural(total, 'possible secret')} in {plural(len(found), 'session')}: {by_rule}"
    if refuse and not yes:
        raise SecretsFound(f"refused because of {said}", hint=_HINT)
    warn(f"{said}; `pivcs scan` shows where")


def scanned(views: Iterable[SessionView], rules: Sequence[str] = ()) -> Iterator[Judged]:
    """Look through sessions one by one, with a bar where it takes long; yields findings of some rules, or of all.

    A session that stands among them twice is looked through once.
    """
    seen: set[object] = set()
    allowed: dict[str, Allowed] | None = None
    for view in views:
        session = view.key if view.key is not None else view.where
        if session in seen:
            continue
        seen.add(session)
        if allowed is None:
            allowed = allowed_secrets(view.store, current_directory(), warn)
        left = bytes_left(view)
        with byte_progress("looking for secrets", left, shown=left > _TAKES_LONG) as advance:
            scan = scan_session(view, advance)
        yield judged(scan, allowed, rules)
