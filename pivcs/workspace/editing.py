"""Finding out what an edit that went well made of a file, from the rules of all versions and the result's details."""

from __future__ import annotations

from typing import NamedTuple

from pivcs.workspace.calls import Edit
from pivcs.workspace.edits import Edited, EditRefused, Rules, apply_edit
from pivcs.workspace.evidence import Verdict, judge


class Made(NamedTuple):
    """What an edit made: None when it cannot be told. `fits`: nothing speaks against the content before."""

    content: bytes | None
    fits: bool


def apply_with_details(content: bytes, edit: Edit, details: dict[str, object]) -> Made:
    """Return what a successful edit made of a file.

    The rules are tried newest first (pi format 17.2); the first whose result agrees with the details holds. Details
    without a patch were written before version 0.75.5, so the oldest rules come first then. Without anything that
    could agree, all rules must come to the same.
    """
    if edit.replacements is None:
        return Made(None, True)
    silent: list[Edited] = []
    fits = False
    # Only these two make a difference between the rules.
    for rules in Rules if isinstance(details.get("patch"), str) or "diff" not in details else reversed(Rules):
        try:
            edited = apply_edit(content, edit.replacements, rules, everywhere=edit.everywhere)
        except EditRefused:
            continue
        verdict = judge(edited, details)
        if verdict is Verdict.AGREES:
            return Made(edited.content, True)
        if verdict is Verdict.SILENT:
            silent.append(edited)
        fits = fits or verdict is not Verdict.OTHER_BEFORE
    if silent and all(each.content == silent[0].content for each in silent):
        return Made(silent[0].content, True)
    return Made(None, fits)


def would_succeed(content: bytes, edit: Edit) -> bool:
    """Whether every version would find what an edit looks for."""
    if edit.replacements is None:
        return False
    try:
        edited = apply_edit(content, edit.replacements, everywhere=edit.everywhere)
    except EditRefused:
        return False
    # Early versions compared neither line ends nor normalised texts.
    return b"\r" not in content and all(old in edited.before for old, _ in edit.replacements)


def change_text(edit: Edit, details: dict[str, object]) -> str:
    """Return the diff that is known of an edit: of the result, else what the call says."""
    for key in ("patch", "diff"):
        text = details.get(key)
        if isinstance(text, str) and text:
            return text
    lines = []
    for old, new in edit.replacements or ():
        lines += [f"-{line}" for line in old.split("\n")] + [f"+{line}" for line in new.split("\n")]
    return "\n".join(lines)
