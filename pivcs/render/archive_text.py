"""What an archive did, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pivcs.gitbridge.archive import Archive, Archived
from pivcs.gitbridge.archive_review import ArchivedReview
from pivcs.gitbridge.refs_update import RefOutcome
from pivcs.ops.scan import safe_title
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import Document
from pivcs.render.export_text import left_why
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible

_SHORT = 10
_DIGITS = 16


def archive_lines(
    done: Archive, where: str, looks: Looks, review: Sequence[ArchivedReview] | None = None
) -> Iterator[str]:
    """Yield a line a session with what was taken along, refs that were left below it, and the totals."""
    reviewed = {each.view.key: each for each in review or ()}
    for session in done.sessions:
        assert session.view.key is not None
        about = one_line(safe_title(session.view))
        taken = f"{plural(session.streams, 'stream')}, {format_bytes(session.bytes)}"
        if session.names:
            taken += f", {plural(session.names, 'name')}"
        news = "" if _has_news(session) else looks.styler(Role.DIM, "  nothing new")
        yield f"{looks.styler(Role.ID, session.view.key.hex[:_DIGITS])}  {taken}{news}  {about}"
        yield from _refused(session, looks)
        if (commits := reviewed.get(session.view.key)) is not None:
            yield from _review_lines(commits, looks)
    count, size = len(done.sessions), sum(session.bytes for session in done.sessions)
    yield (
        f"{plural(count, 'session')} of {format_bytes(size)} archived in {visible(where, keep='')}: "
        f"{plural(done.objects, 'object')} written"
    )


def _review_lines(review: ArchivedReview, looks: Looks) -> Iterator[str]:
    news = f", {review.new:,} new" if review.new else ""
    yield "  " + looks.styler(Role.DIM, f"{plural(review.commits, 'review commit')}{news}")
    for moved in review.moved:
        if moved.outcome == "refused":
            left = f"left  {visible(moved.name, keep='')}{left_why(moved)}"
            yield "  " + looks.styler(Role.WARNING, left)


def refused_lines(done: Archive, looks: Looks) -> Iterator[str]:
    """Yield a line for each ref that was left, and for each damaged stream that was there."""
    for session in done.sessions:
        yield from _refused(session, looks)


def _refused(session: Archived, looks: Looks) -> Iterator[str]:
    for ref in session.refs:
        if ref.outcome == "refused":
            yield "  " + looks.styler(Role.WARNING, f"left  {_name(ref)}  {_at(ref)}: it is not as it was written")
    for problem in session.damaged:
        yield "  " + looks.styler(Role.WARNING, one_line(problem))


def _has_news(session: Archived) -> bool:
    return any(ref.outcome != "same" for ref in session.refs)


def _name(ref: RefOutcome) -> str:
    return visible(ref.name, keep="")


def _at(ref: RefOutcome) -> str:
    return f"at {ref.old.hex()[:_SHORT]}" if ref.old is not None else "not there"


def archive_document(done: Archive, where: str, review: Sequence[ArchivedReview] | None = None) -> Document:
    """Return what an archive did as a document, schema `pivcs.archive/1`."""
    return {
        "schema": "pivcs.archive/1",
        "repository": where,
        "objects": done.objects,
        "sessions": [_session(session) for session in done.sessions],
        "review": None if review is None else [_review(each) for each in review],
    }


def _review(review: ArchivedReview) -> Document:
    return {
        "key": review.view.key.hex if review.view.key is not None else None,
        "commits": review.commits,
        "new": review.new,
        "refs": [
            {
                "name": moved.name,
                "outcome": moved.outcome,
                "old": None if moved.old is None else moved.old.hex(),
                "new": moved.new.hex(),
                "reason": moved.reason,
            }
            for moved in review.moved
        ],
    }


def _session(session: Archived) -> Document:
    return {
        "path": session.view.where,
        "key": session.view.key.hex if session.view.key is not None else None,
        "streams": session.streams,
        "bytes": session.bytes,
        "new_bytes": session.new_bytes,
        "names": session.names,
        "refs": [ref_document(ref) for ref in session.refs],
        "damaged": list(session.damaged),
    }


def ref_document(ref: RefOutcome) -> Document:
    """Return what became of a ref as a JSON object."""
    return {
        "name": ref.name,
        "outcome": ref.outcome,
        "old": ref.old.hex() if ref.old is not None else None,
        "new": ref.new.hex() if ref.new is not None else None,
    }
