"""Commits of a repository: those that are named, or reached by HEAD or by all branches and tags, and their names.

What an export put into a project's repository is told from the project's own commits by its committer and its trailers.
A review commit that a person picked, rebased or amended has that person as committer: it is the project's then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import Final, NamedTuple

from pivcs.gitbridge.process import Git, GitFailed
from pivcs.gitbridge.repository import Repository, UnknownCommit, resolve_commit
from pivcs.gitbridge.review_options import DOMAIN

_FORMAT: Final = "%H%x00%P%x00%ct%x00%s%x00%ce%x00%(trailers:only,unfold,separator=%x1f)"
_SETTINGS: Final = ("trailer.separators=:",)
_COMMITTER: Final = f"@{DOMAIN.decode()}"
_NODE: Final = re.compile(r"[0-9a-f]{64}")
_PAGE: Final = re.compile(r"sessions: [0-9]+ sessions?(?:, merged)?")
_WHOLE: Final = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")
_RANGE: Final = re.compile(r"\.\.")


class Exported(NamedTuple):
    """What a commit is that pivcs wrote: `kind` is `entry`, `snapshot`, `stream`, `names` or `page`.

    Of an entry, `node` is its object id in hex and `entry` what it is called; of a snapshot `node` is where it stands.
    """

    kind: str
    node: str | None = None
    entry: str | None = None


class CommitInfo(NamedTuple):
    """A commit: its id, its parents, when it was committed in seconds since 1970, and the first line of its message.

    `is_cut`: a shallow clone ends here, so its parents are not there. `exported` is None for a commit of the project.
    """

    ident: str
    parents: tuple[str, ...]
    time: int
    subject: str
    is_cut: bool = False
    exported: Exported | None = None


def find_commits(
    repository: Repository, git: Git, revisions: Sequence[str], *, since: int | None = None, everything: bool = False
) -> Iterator[CommitInfo]:
    """Yield commits, newest first: those that `revisions` name, a range (`A..B`) or one commit each, without any those
    that HEAD reaches, or with `everything` all refs; of these those that are not older than `since` (in seconds).

    Raises `UnknownCommit`, `GitFailed`.
    """
    cut = _shallow(repository)
    if not revisions:
        limits = [f"--max-age={since}"] if since is not None and since > 0 else []
        if everything:
            yield from _listed(repository, git, cut, ["--branches", "--tags", "--remotes", *limits])
        elif _head_is_born(repository, git):
            yield from _listed(repository, git, cut, [*limits, "HEAD"])
        return
    seen: set[str] = set()
    for is_range, texts in groupby(revisions, lambda text: _RANGE.search(text) is not None):
        found: Iterator[CommitInfo]
        if is_range:
            found = chain.from_iterable(_listed(repository, git, cut, _ends(repository, git, text)) for text in texts)
        else:
            found = _each(repository, git, cut, list(texts))
        for commit in found:
            if commit.ident not in seen:
                seen.add(commit.ident)
                yield commit


def _each(repository: Repository, git: Git, cut: frozenset[str], texts: list[str]) -> Iterator[CommitInfo]:
    """Yield single commits. Whole ids, of which hooks name many, are all asked for at once."""
    idents = [text if _WHOLE.fullmatch(text) else resolve_commit(repository, text, git) for text in texts]
    try:
        found = list(_listed(repository, git, cut, ["--no-walk=unsorted", "--stdin"], "\n".join([*idents, ""])))
    except GitFailed:
        found = []
    known = {commit.ident for commit in found}
    for text in texts:
        if text not in known and _WHOLE.fullmatch(text):
            ident = resolve_commit(repository, text, git)  # says which it is that is no commit
            if ident not in known:
                found += _listed(repository, git, cut, ["--no-walk", ident])
    yield from found


def _ends(repository: Repository, git: Git, text: str) -> list[str]:
    """Return the ids that a range is between, as `rev-list` takes them."""
    dots = "..." if "..." in text else ".."
    left, _, right = text.partition(dots)
    ends = [resolve_commit(repository, end or "HEAD", git) for end in (left, right)]
    return [dots.join(ends)]


def _head_is_born(repository: Repository, git: Git) -> bool:
    try:
        resolve_commit(repository, "HEAD", git)
    except UnknownCommit:
        return False
    return True


def _shallow(repository: Repository) -> frozenset[str]:
    """Return the commits at which a shallow clone ends."""
    try:
        return frozenset((repository.common_dir / "shallow").read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return frozenset()


def _listed(
    repository: Repository, git: Git, cut: frozenset[str], arguments: list[str], given: str = ""
) -> Iterator[CommitInfo]:
    with git.stream(
        "rev-list", "--encoding=UTF-8", f"--format={_FORMAT}", *arguments, *([] if given else ["--"]),
        cwd=repository.git_dir, git_dir=repository.git_dir, stdin=given.encode("ascii"), settings=_SETTINGS,
    ) as output:  # fmt: skip
        for line in output:
            fields = line.rstrip(b"\n").split(b"\0", 5)
            if len(fields) == 6:  # else the line before, that only has the id
                ident = fields[0].decode("ascii")
                parents = tuple(fields[1].decode("ascii").split())
                time = int(fields[2]) if fields[2].lstrip(b"-").isdigit() else 0
                subject, committer, trailers = (field.decode("utf-8", "replace") for field in fields[3:])
                exported = _exported(subject, trailers) if committer.endswith(_COMMITTER) else None
                yield CommitInfo(ident, parents, time, subject, ident in cut, exported)


def _exported(subject: str, trailers: str) -> Exported | None:
    """Return what a commit is by its subject and its trailers; None when no export writes such a one."""
    said = dict(each.split(": ", 1) for each in trailers.split("\x1f") if ": " in each)
    if _NODE.fullmatch(said.get("Pivcs-Node", "")):
        return Exported("entry", said["Pivcs-Node"], said.get("Pivcs-Entry"))
    if "Pivcs-Snapshot" in said:
        return Exported("snapshot", said.get("Pivcs-Snapshot-Of"))
    if "Pivcs-Session" in said:
        return Exported("stream" if "Pivcs-Stream" in said else "names")
    return Exported("page") if _PAGE.fullmatch(subject) else None


def refs_by_commit(repository: Repository, git: Git) -> dict[str, list[str]]:
    """Return the short names of branches and tags by the commit that they name. Raises `GitFailed`."""
    out = git.run(
        "for-each-ref", "--format=%(objectname)%00%(*objectname)%00%(refname)", "refs/heads", "refs/tags",
        "refs/remotes", cwd=repository.git_dir, git_dir=repository.git_dir,
    )  # fmt: skip
    found: dict[str, list[str]] = {}
    for line in out.split(b"\n"):
        fields = line.split(b"\0")
        if len(fields) == 3:
            name = fields[2].decode("utf-8", "surrogateescape").split("/", 2)[2]
            found.setdefault((fields[1] or fields[0]).decode("ascii"), []).append(name)
    return found
