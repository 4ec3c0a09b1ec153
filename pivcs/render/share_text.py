"""What a push and a fetch did, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pivcs.gitbridge.archive import Archive
from pivcs.gitbridge.fetch import Fetched
from pivcs.gitbridge.importing import Imported, ImportedNames
from pivcs.gitbridge.push import Push
from pivcs.gitbridge.ref_names import parse_pivcs_ref
from pivcs.gitbridge.refs_update import RefOutcome
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.archive_text import ref_document, refused_lines
from pivcs.render.documents import Document
from pivcs.render.import_text import name_documents, news_lines, sessions_line, stream_documents
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import visible

_DIGITS = 16
_WHAT = {"removed": "now part of a longer one", "beginning": "not sent: a longer one is there, `pivcs fetch` gets it"}


def push_lines(done: Push, archived: Archive, looks: Looks) -> Iterator[str]:
    """Yield a line for each ref with news or that was left, here or there, and the totals."""
    yield from refused_lines(archived, looks)
    style = looks.styler
    for ref in done.refs:
        line = f"{ref.outcome:<9} {style(Role.ID, _key(ref))}  {_kind(ref)}"
        if ref.outcome == "refused":
            said = "  not taken: the other side does not allow it"
            if ref.old is not None:
                said = f"  left at {ref.old.hex()[:10]}: it was moved there, or may not be changed"
            yield line + style(Role.WARNING, said)
        else:
            yield line + style(Role.DIM, f"  {_WHAT[ref.outcome]}" if ref.outcome in _WHAT else "")
    where = visible(done.remote.shown, keep="")
    sent = any(ref.outcome in ("new", "moved", "removed") for ref in done.refs)
    left = sum(ref.outcome == "refused" for ref in done.refs)
    left += sum(ref.outcome == "refused" for each in archived.sessions for ref in each.refs)
    said = f"{plural(done.sessions, 'session')}, {format_bytes(done.bytes)} sent to {where}" if sent else ""
    if left:
        said = said or f"nothing sent to {where}"
        said += f"; {plural(left, 'ref')} left as {'it is' if left == 1 else 'they are'}"
    yield said or f"nothing new for {where}"


def fetch_lines(
    done: Fetched, streams: Sequence[Imported], names: Sequence[ImportedNames], files: Sequence[Path], looks: Looks
) -> Iterator[str]:
    """Yield a line for each stream with news, names and files that came, and the totals."""
    yield from news_lines(streams, names, looks)
    for path in files:
        yield f"{'written':<9} {visible(str(path), keep='')}"
    where = visible(done.remote.shown, keep="")
    if streams:
        yield sessions_line(streams, f" from {where}")
    elif names:
        yield f"names of {plural(len({each.key for each in names}), 'session')} from {where}"
    else:
        yield f"nothing new from {where}"


def push_document(done: Push, archived: Archive) -> Document:
    """Return what a push did as a document, schema `pivcs.push/1`."""
    return {
        "schema": "pivcs.push/1",
        "remote": done.remote.shown,
        "sessions": done.sessions,
        "bytes": done.bytes,
        "refs": [ref_document(ref) for ref in done.refs],
        "left": [ref.name for each in archived.sessions for ref in each.refs if ref.outcome == "refused"],
        "damaged": [problem for each in archived.sessions for problem in each.damaged],
    }


def fetch_document(
    done: Fetched, streams: Sequence[Imported], names: Sequence[ImportedNames], files: Sequence[Path]
) -> Document:
    """Return what a fetch did as a document, schema `pivcs.fetch/1`."""
    return {
        "schema": "pivcs.fetch/1",
        "remote": done.remote.shown,
        "refs": [ref_document(ref) for ref in done.refs],
        "streams": stream_documents(streams),
        "names": name_documents(names),
        "files": [str(path) for path in files],
    }


def _key(ref: RefOutcome) -> str:
    parsed = parse_pivcs_ref(ref.name)
    return parsed.key.hex()[:_DIGITS] if parsed is not None else visible(ref.name, keep="")


def _kind(ref: RefOutcome) -> str:
    parsed = parse_pivcs_ref(ref.name)
    if parsed is None:
        return ""
    return f"stream {parsed.stream}" if parsed.stream is not None else f"names of the store {(parsed.store or '')[:8]}"
