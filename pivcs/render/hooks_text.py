"""Hooks as they stand and what became of them, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pivcs.gitbridge.hooks import Done, Hook
from pivcs.gitbridge.hooks_place import NOTES, PUSH_WITH_CODE, Place
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line

_OUTCOMES = {
    "installed": "installed",
    "chained": "installed, in front of the hook that was there",
    "updated": "brought up to date",
    "unchanged": "installed already",
    "removed": "removed",
    "restored": "restored as it was before",
    "none": "no lines of pivcs in it",
}
_STATES = {
    "absent": "not installed",
    "foreign": "not installed; there is another hook",
    "installed": "installed",
    "outdated": "installed by another release; `pivcs hooks install` brings it up to date",
    "edited": "the lines of pivcs were changed by somebody",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """All there is to say about the hooks of a repository."""

    place: Place
    hooks: tuple[Hook, ...]
    notes: bool
    push_with_code: bool
    program: str | None
    log: Path


def done_lines(done: Iterable[Done], looks: Looks) -> Iterator[str]:
    """Yield what became of each hook."""
    for each in done:
        tool = f" ({each.tool})" if each.tool is not None else ""
        name = f"{each.name}:".ljust(14)
        yield f"{looks.styler(Role.HEADING, name)} {_OUTCOMES[each.outcome]}{tool}"


def standing_lines(standing: Standing, looks: Looks) -> Iterator[str]:
    """Yield how the hooks of a repository stand."""
    place = standing.place
    shared = {
        "repository": "",
        "work tree": ", in the project's own files",
        "outside": ", shared by every repository that looks there",
    }[place.reach]
    husky = ", run by husky" if place.husky else ""
    yield f"hooks in {one_line(str(place.directory))}{shared}{husky}"
    if place.setting is not None:
        yield f"  core.hooksPath is '{one_line(place.setting)}', set in {one_line(place.origin or '?')}"
    for hook in standing.hooks:
        text = _STATES[hook.state] + _other(hook)
        role = Role.WARNING if hook.state in ("outdated", "edited") else None
        name = f"{hook.name}:".ljust(14)
        yield f"  {name} {looks.styler(role, text) if role is not None else text}"
        if hook.state in ("installed", "outdated") and not hook.active:
            yield " " * 17 + looks.styler(Role.WARNING, "git does not run it: the file is not executable")
    for setting, on, meaning in (
        (NOTES, standing.notes, "notes on commits"),
        (PUSH_WITH_CODE, standing.push_with_code, "sessions go along with a push"),
    ):
        yield f"  {meaning}: {'yes' if on else f'no (`git config {setting} true` turns it on)'}"
    yield f"  program: {one_line(standing.program) if standing.program else 'none is found, so the hooks do nothing'}"
    yield f"  log: {one_line(str(standing.log))}"


def _other(hook: Hook) -> str:
    tool = f" ({hook.tool})" if hook.tool is not None else ""
    if hook.kind == "before":
        return f", in front of the hook that was there{tool}"
    if hook.kind == "moved":
        return f"; the hook that was there was moved to {one_line(str(hook.aside))}{tool}" if hook.aside else ""
    left = f"; another one, moved away before, is in {one_line(str(hook.aside))}" if hook.aside else ""
    return (tool if hook.state == "foreign" else "") + left


def standing_document(standing: Standing) -> Document:
    """Return how the hooks of a repository stand as a JSON document."""
    place = standing.place
    return {
        "schema": "pivcs.hooks/1",
        "directory": str(place.directory),
        "reach": place.reach,
        "husky": place.husky,
        "hooks_path": place.setting,
        "origin": place.origin,
        "notes": standing.notes,
        "push_with_code": standing.push_with_code,
        "program": standing.program,
        "log": str(standing.log),
        "hooks": [
            {
                "name": hook.name,
                "path": str(hook.path),
                "state": hook.state,
                "active": hook.active,
                "kind": hook.kind,
                "tool": hook.tool,
                "aside": str(hook.aside) if hook.aside is not None else None,
                "program": hook.program,
            }
            for hook in standing.hooks
        ],
    }
