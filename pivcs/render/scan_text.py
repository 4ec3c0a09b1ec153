"""Secrets that were found, and those that are allowed, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pivcs.ops.scan import Finding
from pivcs.ops.scan_allow import Allowed, Judged, counts_by_rule
from pivcs.ops.scan_text import masked, rules_version
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.columns import column_lines
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible

LAST_LINE = "last line"


def scan_lines(found: Sequence[Judged], sessions: int, size: int, looks: Looks) -> Iterator[str]:
    """Yield how many secrets there are by rule, then where they are, session by session; only what is not allowed."""
    refused = [finding for each in found for finding in each.refused]
    allowed = sum(len(each.allowed) for each in found)
    also = f", {allowed:,} allowed" if allowed else ""
    where = f"{plural(sessions, 'session')} of {format_bytes(size)}"
    if not refused:
        yield f"no secrets found in {where}{also}"
        return
    yield f"{plural(len(refused), 'possible secret')} in {where}{also}"
    yield ""
    counts: list[list[Span]] = [
        [(Role.WARNING, rule), (Role.PLAIN, f"{count:,}")] for rule, count in counts_by_rule(refused).items()
    ]
    yield from (f"  {line}" for line in column_lines(counts, looks))
    for each in found:
        if each.refused:
            yield ""
            yield looks.styler(Role.HEADING, visible(masked(each.scan.view.where), keep=""))
            yield from column_lines([_row(finding) for finding in each.refused], looks)


def _row(finding: Finding) -> list[Span]:
    place = one_line(finding.place)
    line = f"line {finding.line:,}" if finding.line > 1 else ""
    return [
        (Role.ID, visible(finding.entry, keep="") if finding.entry else LAST_LINE),
        (Role.DIM, finding.fingerprint),
        (Role.WARNING, finding.rule),
        (Role.PLAIN, one_line(finding.excerpt)),
        (Role.DIM, ", ".join(each for each in (place, line) if each)),
    ]


def allowed_lines(allowed: Iterable[Allowed], looks: Looks) -> Iterator[str]:
    """Yield a line for each secret that may leave: fingerprint, where that is said, and why."""
    rows: list[list[Span]] = [
        [
            (Role.ID, each.fingerprint),
            (Role.DIM, "store" if each.file is None else each.file.name),
            (Role.PLAIN, one_line(each.note)),
        ]
        for each in allowed
    ]
    yield from column_lines(rows, looks)


def scan_document(found: Sequence[Judged], sessions: int, size: int) -> Document:
    """Return the head of the document `pivcs.scan/1`, whose list `findings` has `finding_documents`."""
    refused = [finding for each in found for finding in each.refused]
    return {
        "rules": rules_version(),
        "sessions": sessions,
        "bytes": size,
        "counts": [{"rule": rule, "count": count} for rule, count in counts_by_rule(refused).items()],
        "allowed": sum(len(each.allowed) for each in found),
    }


def finding_documents(found: Iterable[Judged]) -> Iterator[Document]:
    """Yield each finding as a document, session by session: first what is not allowed."""
    for each in found:
        where = masked(each.scan.view.where)
        for allowed, findings in ((False, each.refused), (True, each.allowed)):
            for finding in findings:
                yield {
                    "session": where,
                    "key": each.scan.view.key.hex if each.scan.view.key is not None else None,
                    "entry": finding.entry or None,
                    "rule": finding.rule,
                    "place": finding.place,
                    "line": finding.line,
                    "fingerprint": finding.fingerprint,
                    "excerpt": finding.excerpt,
                    "allowed": allowed,
                }


def allowed_document(allowed: Allowed) -> Document:
    """Return a secret that may leave as an item of the document `pivcs.allowed/1`."""
    return {
        "fingerprint": allowed.fingerprint,
        "file": None if allowed.file is None else str(allowed.file),
        "note": allowed.note,
    }
