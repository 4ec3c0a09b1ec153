"""`pivcs import`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pivcs.cli.damaged import fail_if_damaged
from pivcs.cli.forgotten_refs import warn_of_imported
from pivcs.cli.output import Output, output_options
from pivcs.cli.target import current_directory, now, open_store, store_option
from pivcs.gitbridge.elsewhere import repository_at
from pivcs.gitbridge.fetch import remember_imported
from pivcs.gitbridge.importing import (
    Imported,
    ImportedNames,
    import_names,
    import_to_files,
    import_to_store,
    opened_archive,
)
from pivcs.ops.project import common_directory
from pivcs.render.documents import encode
from pivcs.render.import_text import import_document, import_lines
from pivcs.render.style import ColourWhen


@click.command("import")
@click.argument("repository", metavar="REPO")
@click.argument("sessions", metavar="[SESSION]...", nargs=-1)
@click.option("--write", "directory", metavar="DIR", type=click.Path(path_type=Path),
              help="Write session files into DIR, and leave the store as it is.")  # fmt: skip
@store_option
@output_options
def command(
    repository: str,
    sessions: tuple[str, ...],
    directory: Path | None,
    as_json: bool,
    colour: ColourWhen,
    no_pager: bool,
    utc: bool,
) -> None:
    """Take the sessions that `pivcs export` or `pivcs archive` put into REPO into the store, with their names.

    REPO is a directory in a git repository, an ordinary clone of an export too, or an address that git can fetch from.
    A SESSION is the beginning of a key or an id; all are taken without one. Every byte is compared with its hash, and
    the review commits that are there with what the session makes of its entries; what was tampered with is named and
    left out, and the exit code is then 30. What the store has already stays as it is, so a second import changes
    nothing. What comes out of the repository of the current project belongs to the project.

    With --write they become session files in DIR under the names that pi gives them. A file that is there is never
    changed.
    """
    streams: list[Imported] = []
    names: list[ImportedNames] = []
    with repository_at(repository, os.environ) as found, opened_archive(found, sessions) as archive:
        if directory is not None:
            streams += import_to_files(archive, directory)
        else:
            store = open_store()
            streams += import_to_store(archive, store, now=now(), origin=_origin(repository))
            for each in import_names(archive, store):
                (names if isinstance(each, ImportedNames) else streams).append(each)  # type: ignore[arg-type]
            if os.path.realpath(found.common_dir) == common_directory(current_directory()):
                damaged_keys = {each.key for each in streams if each.error is not None}
                remember_imported(store, found, {each.key for each in streams} - damaged_keys)
        where = str(found.root or found.common_dir)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(import_document(streams, names, repository)), b"\n"])
    else:
        output.lines(import_lines(streams, names, output.looks))
    warn_of_imported(where, [each.stream for each in streams if each.holds_forgotten], repository)
    fail_if_damaged(streams)


def _origin(repository: str) -> str:
    """Return what the store remembers as the origin: an address without a password, as text."""
    from urllib.parse import urlsplit

    if "://" in repository:
        parts = urlsplit(repository)
        if "@" in parts.netloc:
            repository = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return "from " + os.fsencode(repository).decode("utf-8", "backslashreplace")
