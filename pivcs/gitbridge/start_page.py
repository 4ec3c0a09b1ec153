"""The text of a start page: how the repository is laid out, how to get sessions back, and a table for each session.

The first two are folded, so that sessions are what is seen. Whatever a session says is escaped: `markdown_text`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from pivcs.gitbridge.markdown_text import escaped
from pivcs.gitbridge.objects import LATEST_TIME
from pivcs.gitbridge.page_summary import BranchSummary, StreamSummary
from pivcs.gitbridge.page_tree import Page, PageSession
from pivcs.gitbridge.ref_names import branch_ref, tag_ref

README: Final = "README.md"
PAGES: Final = "pages"
"""The directory of the pages with older sessions."""
MOST: Final = 200
"""Sessions on one page, at most; the latest are on the first."""
_MOST_NAMES: Final = 20
_INTRODUCTION: Final = """# Agent sessions

Conversations of a coding agent as commits: mostly one for each entry, with what was said in its message and on a page
of its tree, beside the project's files as they were known at that point. `git log -p` of a branch reads like the
conversation; `git merge-base` and `git diff` of two branches compare attempts.

<details>
<summary>Layout</summary>

| where | what |
|---|---|
| branches `<session>/<branch>` | a branch of a session, the first is `main` |
| branches `<session>/label/<label>` | an entry that somebody labelled |
| branches `<session>/entry/<entry>` | an entry that was exported alone, with all that leads to it |
| branches `<session>/snapshot/<time>` | the project's files as they were on the disk at that time |
| tags `<session>/<tag>` | an entry that somebody tagged |
| branch `sessions` | this page, and below it a directory for each session |
| `<session>/streams/` there | the session file, every byte of it, in parts; of a rewritten one all that was kept |
| `<session>/summaries/` there | what this page says of them |
| `<session>/names/` there | branches and tags that people named, a file for each store |
| `.pivcs/turns/` in a commit's tree | the conversation, a directory for each turn |
| `.pivcs/images/` there | images that were shown |
| `.pivcs/files/` there | how each file is known |
| `.pivcs/escaped/` there | files whose path would not be safe in a work tree |

A session is called by the date in its header and the first digits of its key. Names are percent-encoded, capitals too.
Ids depend on the entries alone: the same session exported anywhere gives the same commits.

</details>

<details>
<summary>Getting sessions back</summary>

An ordinary clone has everything. `pivcs` reads its objects, never the work tree:

```
git clone <this repository> review
pivcs import review                    all sessions, into the store
pivcs import review --write DIR        as session files, byte for byte
pivcs import review d8fddc36           one of them, by the first digits of its key or id
```

What was tampered with is named, and refused.

</details>
"""


class _Told(NamedTuple):
    """A session with what is said of its streams, the first of which stands for it."""

    folder: str
    session: PageSession
    streams: tuple[StreamSummary, ...]


def page_texts(page: Page) -> dict[str, bytes]:
    """Return the files of text of a page by their paths: the latest sessions are on the first, the others on one for
    each month, or more where a month has more of them."""
    told = [_Told(folder, session, tuple(each for _, each in session.told())) for folder, session in page.items()]
    told = sorted((each for each in told if each.streams), key=lambda each: (-each.streams[0].time, each.folder))
    months: dict[str, list[_Told]] = {}
    for each in told[MOST:]:
        months.setdefault(_time(each.streams[0].time)[:7] or "undated", []).append(each)
    older: dict[str, list[_Told]] = {}
    for month, those in months.items():
        for first in range(0, len(those), MOST):
            name = f"{PAGES}/{month}{f'-{first // MOST + 1}' if first else ''}.md"
            older[name] = those[first : first + MOST]
    texts = {README: [_INTRODUCTION, "## Sessions", "", *_tables(told[:MOST])]}
    if older:
        texts[README] += ["## Older sessions", "", *(_link(name, those) for name, those in older.items()), ""]
    for name, those in older.items():
        title = name.removeprefix(f"{PAGES}/").removesuffix(".md")
        texts[name] = [f"# Agent sessions: {title}", "", f"[All sessions](../{README})", "", *_tables(those)]
    return {name: "\n".join(lines).encode("utf-8", "replace") for name, lines in texts.items()}


def latest_time(page: Page) -> int:
    """Return the time of the latest entry of all sessions, in milliseconds; 0 when there is none."""
    return max((summary.time for session in page.values() for _, summary in session.told()), default=0)


def _link(name: str, those: list[_Told]) -> str:
    title = name.removeprefix(f"{PAGES}/").removesuffix(".md")
    return f"- [{title}]({name}): {len(those)} session{'s' * (len(those) != 1)}"


def _tables(those: list[_Told]) -> Iterator[str]:
    for each in those:
        yield from _table(each)


def _table(told: _Told) -> Iterator[str]:
    names, tags = _names(told.session)
    for number, summary in enumerate(told.streams):
        if number == 0:
            yield f"### {escaped(summary.title)}"
            yield ""
            if not summary.entries:
                yield f"`{told.folder}`: no entries: not a pi session?"
                yield ""
                continue
            facts = [_plural(summary.entries, "entry", "entries"), _plural(summary.files, "changed file"),
                     f"${summary.cost:.4f}", _time(summary.time)]  # fmt: skip
            yield f"`{told.folder}`: {', '.join(filter(None, facts))}"
        else:
            yield f"Kept, too: another state of it with {_plural(summary.entries, 'entry', 'entries')}"
        yield ""
        yield "| branch | asked | outcome | own entries | files | cost in $ |"
        yield "|---|---|---|---|---|---|"
        for branch in summary.branches:
            yield _row(told.folder, branch, names.pop(branch.node, []))
        yield ""
        if summary.more:
            yield f"and {_plural(summary.more, 'more branch', 'more branches')}"
            yield ""
    listed = [f"branch {_ref(branch_ref(told.folder, name))} at {node[:8]}"
              for node, those in sorted(names.items()) for name in those]  # fmt: skip
    listed += [f"tag {_ref(tag_ref(told.folder, name))} at {node[:8]}" for name, node in tags]
    if listed:
        more = f", and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
        yield f"Named by people: {', '.join(listed[:_MOST_NAMES])}{more}"
        yield ""


def _names(session: PageSession) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """Return the branches that stores named by the nodes that they are at, and the tags with theirs."""
    branches: dict[str, list[str]] = {}
    tags: dict[tuple[str, str], None] = {}
    for _, given in session.given():
        for name, node in given.branches:
            at = branches.setdefault(node.hex(), [])
            if name not in at:
                at.append(name)
        tags.update({(name, node.hex()): None for name, node in given.tags})
    return {node: sorted(names) for node, names in branches.items()}, sorted(tags)


def _row(folder: str, branch: BranchSummary, named: list[str]) -> str:
    """Return the row of a branch: called as people did, or else by the name that it has by itself."""
    called = [*([branch.name] if branch.name == "main" and named and "main" not in named else []), *named]
    refs = ", ".join(_ref(branch_ref(folder, name)) for name in (called or [branch.name])[:_MOST_NAMES])
    files = ", ".join(escaped(path) for path in branch.paths)
    if branch.files > len(branch.paths):
        files += f" +{branch.files - len(branch.paths)}"
    return (
        f"| {refs} | {escaped(branch.prompt) or '-'} | {escaped(branch.outcome)} | {branch.entries} | {files} "
        f"| {branch.cost:.4f} |"
    )


def _ref(name: str) -> str:
    return f"`{name.removeprefix('refs/heads/').removeprefix('refs/tags/')}`"


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _time(milliseconds: int) -> str:
    """Return a time as people write it, in UTC; empty for none."""
    if not 0 < milliseconds // 1000 <= LATEST_TIME:
        return ""
    return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
