"""What is asked before sessions leave the machine: whether there are secrets in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import click

from pivcs.cli.output import byte_progress, warn
from pivcs.cli.target import current_directory
from pivcs.errors import StateError
from pivcs.ops.scan import SessionScan, scan_session
from pivcs.ops.scan_allow import Judged, allowed_secrets, counts_by_rule, judged
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural

F = TypeVar("F", bound=Callable[..., Any])

_HINT: Final = (
    "`pivcs scan` shows where, `pivcs scan --allow FINGERPRINT` lets one pass for good, --yes lets all of them pass now"
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


def scanned(views: Iterable[SessionView], rules: Sequence[str] = ()) -> list[Judged]:
    """Look through sessions, with a bar where it takes long; findings of some rules, or of all.

    A session that stands among them twice is looked through once.
    """
    chosen: dict[object, SessionView] = {}
    for view in views:
        chosen.setdefault(view.key if view.key is not None else view.where, view)
    sizes = sum(view.table.end for view in chosen.values())
    results: list[SessionScan] = []
    with byte_progress("looking for secrets", sizes, shown=sizes > 16 << 20) as advance:
        results += [scan_session(view, advance) for view in chosen.values()]
    if not results:
        return []
    allowed = allowed_secrets(results[0].view.store, current_directory())
    return [judged(result, allowed, rules) for result in results]
