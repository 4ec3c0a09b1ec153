"""`pivcs scan`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from pivcs.cli.complete import sessions as complete_sessions
from pivcs.cli.file_target import project_views
from pivcs.cli.forgotten_refs import leaving_views, without_forgotten
from pivcs.cli.leaving import scanned
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.target import current_directory, now, open_store, reader, session_option, surroundings, text_of
from pivcs.errors import InputError, PivcsError
from pivcs.ops.listing import gone_sessions, known_elsewhere
from pivcs.ops.locate import NoSession, all_files
from pivcs.ops.scan_allow import Judged, NotFound, allow, allowed_secrets, checked, disallow, unknown_of
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural
from pivcs.render.documents import streamed
from pivcs.render.scan_text import (
    allowed_document,
    allowed_lines,
    finding_documents,
    scan_document,
    scan_lines,
)
from pivcs.render.style import ColourWhen
from pivcs.store.store import Store

FOUND = 1


class NoSuchRule(InputError):
    """A rule that there is not."""


@click.command("scan")
@click.argument("arguments", metavar="[SESSION]...", nargs=-1, shell_complete=complete_sessions)
@session_option
@click.option("--all", "everything", is_flag=True, help="Look through all sessions of all projects.")
@click.option("--rule", "rules", metavar="RULE", multiple=True, help="Show only what RULE finds; may be repeated.")
@click.option("--allow", metavar="FINGERPRINT...", multiple=True, help="Let secrets with these fingerprints leave.")
@click.option("--allow-all", is_flag=True, help="Let all secrets leave that are found in these sessions.")
@click.option("--disallow", metavar="FINGERPRINT...", multiple=True, help="Let these secrets leave no more.")
@click.option("--note", metavar="TEXT", help="With --allow and --allow-all: why they may leave.")
@click.option("--list-allowed", is_flag=True, help="List the fingerprints of secrets that may leave.")
@output_options
def command(
    arguments: tuple[str, ...],
    session: str | None,
    everything: bool,
    rules: tuple[str, ...],
    allow: tuple[str, ...],
    allow_all: bool,
    disallow: tuple[str, ...],
    note: str | None,
    list_allowed: bool,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Look for secrets in sessions: passwords, keys and tokens that were typed, read, or printed by a tool.

    Without SESSION all sessions of the current project are looked through; a session is a path, or the beginning of an
    id or a key. All that is kept of a session counts, older generations too. A finding is told by its entry, its
    fingerprint, the rule, how it begins, and the place in the entry; the secret itself is shown nowhere. What was
    looked through is remembered, so that the next time only what is new takes time.

    `pivcs archive` and `pivcs push` do this first, and refuse when there is something that is not allowed. What is no
    secret, or none any more, is allowed by its fingerprint: here, for this store, or for all who work on a project in
    a file `.pivcs-allow` at its root, with a fingerprint and a comment on each line. What nothing has that was found is
    not allowed here: it would be a typing error.

    The exit code is 1 when something is found that is not allowed, and that of the failure when a session could not be
    read.
    """
    if (bool(allow), allow_all, bool(disallow), list_allowed).count(True) > 1:
        raise click.UsageError("--allow, --allow-all, --disallow and --list-allowed exclude each other")
    if note is not None and not (allow or allow_all):
        raise click.UsageError("--note goes with --allow and --allow-all")
    if as_json and (allow or allow_all or disallow):
        raise click.UsageError("--json goes with looking, not with --allow, --allow-all and --disallow")
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if allow or disallow:
        _change((*(allow or disallow), *arguments), output, note=text_of(note or ""), allowing=bool(allow))
        return
    if list_allowed:
        _list(output, as_json=as_json)
        return
    if everything and (arguments or session is not None):
        raise click.UsageError("--all and a session do not go together")
    _check_rules(rules)
    asked = _Asked(tuple(arguments) if session is None else (*arguments, session), everything)
    looked = _look(asked, rules)
    if allow_all:
        found = _fingerprints(looked.found)
        _change(found, output, note=text_of(note or ""), allowing=True, is_found=True)
    elif as_json:
        head = scan_document(looked.found, looked.sessions, looked.size)
        output.bytes(streamed("pivcs.scan/1", head, "findings", finding_documents(looked.found)))
    else:
        output.lines(scan_lines(looked.found, looked.sessions, looked.size, output.looks))
    if looked.failed is not None:
        click.get_current_context().exit(looked.failed.exit_code)
    if not allow_all and any(each.refused for each in looked.found):
        click.get_current_context().exit(FOUND)


class _Asked(NamedTuple):
    """Which sessions to look through; none named: those of the project."""

    sessions: tuple[str, ...]
    everything: bool


class _Looked:
    """What was found, in how many sessions of how many bytes, and the first one that could not be read."""

    def __init__(self) -> None:
        self.found: list[Judged] = []
        self.sessions = 0
        self.size = 0
        self.failed: PivcsError | None = None


def _look(asked: _Asked, rules: Sequence[str]) -> _Looked:
    looked = _Looked()
    for each in scanned(_views(asked, looked), rules):
        looked.sessions += 1
        looked.size += each.scan.size
        if each.refused or each.allowed:
            looked.found.append(each)
    if not looked.sessions and looked.failed is None:
        if asked.everything:
            raise NoSession("no session in any project")
        raise NoSession("no session belongs to the current project", hint="name session files, see `pivcs ls --all`")
    return looked


def _views(asked: _Asked, looked: _Looked) -> Iterator[SessionView]:
    if not asked.sessions and not asked.everything:
        yield from leaving_views()
        return
    opened = reader()
    if asked.sessions:
        for session in asked.sessions:
            yield opened.open(session)
        return
    files: list[Path] = all_files(surroundings())
    if opened.store is not None:
        files += known_elsewhere(opened.store, files)
        files += [session.path for session in gone_sessions(opened.store, None)]
    opened = opened._replace(if_forgotten="it is left out")
    for path in dict.fromkeys(files):
        try:
            yield from without_forgotten([opened.open_path(path)])
        except PivcsError as error:
            warn(error.message)
            looked.failed = looked.failed or error


def _check_rules(rules: Sequence[str]) -> None:
    """Raises `NoSuchRule`."""
    if not rules:
        return
    from pivcs.ops.scan_text import rule_names

    for rule in rules:
        if rule not in rule_names():
            raise NoSuchRule(f"no rule is called '{text_of(rule)}'", hint=f"there are {', '.join(rule_names())}")


def _fingerprints(found: Sequence[Judged]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.fingerprint for each in found for finding in each.refused))


def _change(
    fingerprints: tuple[str, ...], output: Output, *, note: str, allowing: bool, is_found: bool = False
) -> None:
    chosen = checked(text_of(each) for each in fingerprints)
    store = open_store()
    if allowing:
        if not is_found:
            _check_found(store, chosen)
        count = allow(store, chosen, now(), note)
        output.lines([f"{plural(count, 'secret')} allowed from now on"])
        return
    count = disallow(store, chosen)
    output.lines([f"{plural(count, 'secret')} no more allowed"])
    elsewhere = allowed_secrets(store, current_directory(), warn)
    for each in chosen:
        if each in elsewhere:
            warn(f"'{each}' stays allowed by '{elsewhere[each].file}'")


def _check_found(store: Store, fingerprints: Sequence[str]) -> None:
    """See that something has each fingerprint: a typing error would go unseen. Sessions of the project are looked
    through when nothing that was looked through before has one. Raises `NotFound`."""
    unknown = unknown_of(store, fingerprints, allowed_secrets(store, current_directory()))
    if unknown:
        found = {finding.fingerprint for each in scanned(project_views(None)) for finding in each.scan.findings}
        unknown = [each for each in unknown if each not in found]
    if unknown:
        raise NotFound(
            f"nothing that was found has the fingerprint {', '.join(unknown)}, so nothing is allowed",
            hint="`pivcs scan` shows what is found; a file `.pivcs-allow` may name what is found elsewhere",
        )


def _list(output: Output, *, as_json: bool) -> None:
    allowed = allowed_secrets(reader().store, current_directory(), warn).values()
    if as_json:
        output.bytes(streamed("pivcs.allowed/1", {}, "allowed", map(allowed_document, allowed)))
    else:
        output.lines(allowed_lines(list(allowed), output.looks))
