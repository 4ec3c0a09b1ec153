"""Which secrets may leave: what the user said, kept in the store, and what a file of the project says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pivcs.errors import InputError
from pivcs.ops.project import project_directories
from pivcs.ops.scan import Finding, SessionScan
from pivcs.store.scans import AllowedSecret
from pivcs.store.store import Store

FILE_NAME: Final = ".pivcs-allow"
"""A file at the root of a project: on each line a fingerprint, and what it is about; `#` begins a comment."""

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")


class NoFingerprint(InputError):
    """What should be a fingerprint is none."""


class NotFound(InputError):
    """Nothing that is known has a fingerprint."""


class Allowed(NamedTuple):
    """A secret that may leave: `note` is why, and `file` where that is written, None for the store."""

    fingerprint: str
    note: str
    file: Path | None = None


def allowed_secrets(
    store: Store | None, cwd: str, problem: Callable[[str], None] = lambda _: None
) -> dict[str, Allowed]:
    """Return what may leave, by fingerprint: what the store has, and the file of the project that a directory is in.

    `problem` is told of what the file has that is not understood.
    """
    file = allow_file(cwd)
    found = {each.fingerprint: each for each in _read(file, problem)}
    if store is not None:
        found |= {each.fingerprint: Allowed(each.fingerprint, each.note) for each in store.scans.allowed()}
    return dict(sorted(found.items()))


def allow_file(cwd: str) -> Path:
    """Return where the file of the project is, or would be: at the root of the repository, without one in `cwd`."""
    above = {str(directory) for directory in (Path(cwd), *Path(cwd).parents)}
    return Path([each for each in project_directories(cwd) if each in above][-1], FILE_NAME)


def _read(file: Path, problem: Callable[[str], None]) -> Iterator[Allowed]:
    try:
        text = file.read_text(encoding="utf-8-sig", errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        problem(f"'{file}' cannot be read, so nothing is allowed by it: {error.strerror}")
        return
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split(maxsplit=1)
        if not words:
            continue
        fingerprint = words[0].lower()
        if _FINGERPRINT.fullmatch(fingerprint):
            yield Allowed(fingerprint, (words[1:] or [line.partition("#")[2]])[0].strip(), file)
        else:  # not shown: somebody may have put the secret there
            what = "it begins with no fingerprint (16 hexadecimal digits), and is passed over"
            problem(f"'{file}', line {number}: {what}")


def checked(fingerprints: Iterable[str]) -> list[str]:
    """Return fingerprints as they are kept. Raises `NoFingerprint`."""
    found = []
    for given in fingerprints:
        if not _FINGERPRINT.fullmatch(given.lower()):
            raise NoFingerprint(f"'{given}' is no fingerprint: it has 16 hexadecimal digits",
                                hint="`pivcs scan` shows one behind each finding")  # fmt: skip
        found.append(given.lower())
    return list(dict.fromkeys(found))


def unknown_of(store: Store, fingerprints: Iterable[str], allowed: Mapping[str, Allowed]) -> list[str]:
    """Return those fingerprints that the store has found in no session, and that are not allowed by now."""
    known = store.scans.fingerprints()
    return [each for each in fingerprints if each not in known and each not in allowed]


def allow(store: Store, fingerprints: Sequence[str], now: int, note: str) -> int:
    """Let secrets leave; returns how many were not allowed before. Raises `NoFingerprint`, and as writing does."""
    secrets = [AllowedSecret(each, now, note) for each in checked(fingerprints)]
    with store.writing():
        return store.scans.allow(secrets)


def disallow(store: Store, fingerprints: Sequence[str]) -> int:
    """Let secrets leave no more; returns how many the store allowed. Raises `NoFingerprint`, and as writing does."""
    chosen = checked(fingerprints)
    with store.writing():
        return store.scans.disallow(chosen)


class Judged(NamedTuple):
    """What was found in a session: what may not leave, and what may."""

    scan: SessionScan
    refused: tuple[Finding, ...]
    allowed: tuple[Finding, ...]


def judged(scan: SessionScan, allowed: Mapping[str, Allowed], rules: Sequence[str] = ()) -> Judged:
    """Tell findings, those of some rules or of all, by whether they may leave."""
    chosen = [each for each in scan.findings if not rules or each.rule in rules]
    return Judged(
        scan,
        tuple(each for each in chosen if each.fingerprint not in allowed),
        tuple(each for each in chosen if each.fingerprint in allowed),
    )


def counts_by_rule(findings: Iterable[Finding]) -> dict[str, int]:
    """Return how many findings each rule has, most first, then by name."""
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
