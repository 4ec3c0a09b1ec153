"""Names for branches that have only an automatic one, made from what they were about."""

from __future__ import annotations

import unicodedata
from typing import Final

from pivcs.ops.branch_list import list_branches
from pivcs.ops.branching import PREFIX
from pivcs.ops.ref_names import BadRefName, check_ref_name
from pivcs.ops.view import SessionView

LONGEST: Final = 40
"""Characters of a name that is made from a prompt."""


def proposed_names(view: SessionView) -> list[tuple[str, str]]:
    """Return (name, new name) for each branch that is called after an entry's id, by name.

    The new name is made from the branch's first prompt; names that differ only in case count as the same.
    """
    branches = list_branches(view)
    taken = {branch.name.casefold() for branch in branches} | {name.casefold() for name in view.refs.tags} | {"head"}
    proposed = []
    for branch in branches:
        if not branch.automatic or not branch.name.startswith(PREFIX):
            continue
        name = slug(view.subject(branch.about))
        if not name:
            continue
        free, number = name, 1
        while free.casefold() in taken:
            number += 1
            free = f"{name}-{number}"
        taken.add(free.casefold())
        proposed.append((branch.name, free))
    return proposed


def slug(text: str) -> str:
    """Return the words of a text joined by dashes, cut to `LONGEST` characters; empty when there are no words.

    Letters and digits of all scripts stay, in lower case.
    """
    words: list[str] = []
    length = -1
    folded = unicodedata.normalize("NFC", text[:1000].casefold())
    for word in "".join(each if _is_letter(each) else " " for each in folded).split():
        if length + 1 + len(word) > LONGEST and words:
            break
        words.append(word[:LONGEST])
        length += 1 + len(words[-1])
    name = "-".join(words)
    try:
        check_ref_name(name)
    except BadRefName:
        return ""
    return name


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"
