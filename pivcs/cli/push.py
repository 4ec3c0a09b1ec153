"""`pivcs push`."""

from __future__ import annotations

import click

from pivcs.cli.complete import remotes as complete_remotes
from pivcs.cli.forget_completing import complete_in, forgotten_state, remember_archived
from pivcs.cli.forgotten_refs import known_store, leaving_views, warn_of_forgotten
from pivcs.cli.leaving import check_leaving, yes_option
from pivcs.cli.output import Output, output_options, warn
from pivcs.cli.remote_target import remote_target
from pivcs.cli.store_identity import store_id
from pivcs.cli.target import store_option
from pivcs.gitbridge.archive import Archive, archive
from pivcs.gitbridge.fetch import remember_taken
from pivcs.gitbridge.forgotten_refs import ForgottenRefs
from pivcs.gitbridge.push import has_streams, leaving, push
from pivcs.ops.locate import NoSession
from pivcs.render.documents import encode
from pivcs.render.share_text import push_document, push_lines
from pivcs.render.style import ColourWhen

REFUSED = 1


@click.command("push")
@click.argument("remote", required=False, shell_complete=complete_remotes)
@yes_option
@click.option("--force", is_flag=True, help="Set refs, too, that name something else than what is sent.")
@store_option
@output_options
def command(
    remote: str | None, yes: bool, force: bool, as_json: bool, colour: ColourWhen, no_pager: bool, utc: bool
) -> None:
    """Archive the project's sessions, as `pivcs archive`, and send what REMOTE lacks of them.

    REMOTE is a remote of the repository, an address, or a directory. Without it: what git's setting `pivcs.remote`
    says, else the remote of the current branch, else `origin`, else the only one. Every byte of the sessions goes
    along, unless there are secrets in them (`pivcs scan`). Only refs below refs/pivcs/ are sent; branches and tags are
    not. Streams of the other side stay, but for those that are the beginning of one that is sent. What else the
    repository has below refs/pivcs/ goes along; with nothing there and no session in the project the exit code is 10.

    The exit code is 1 when a ref was left as it is, here or there.
    """
    target = remote_target(remote)
    state = forgotten_state()
    views = leaving_views()
    if not views and not has_streams(target.repository):
        hint = "`pivcs -C DIR push` is for another directory, `pivcs ls --all` shows all sessions"
        raise NoSession("no session belongs to the current project", hint=hint)
    check_leaving(leaving(views, target.repository, target.remote), yes=yes, refuse=True)
    complete_in(target.repository)
    ident = store_id(views[0]) if views else None
    archived = archive(views, target.repository, ident, force=force) if views else Archive((), 0)
    for view in views[:1]:
        if view.store is not None:
            there = [
                (ref.new, each.view.key.digest)
                for each in archived.sessions
                for ref in each.refs
                if ref.outcome in ("new", "moved", "same") and ref.new is not None and each.view.key is not None
            ]
            remember_taken(view.store, target.repository, there)
    remember_archived(state, archived)
    complete_in(target.repository)
    store = known_store()
    forgotten = ForgottenRefs(store) if store is not None else None
    done = push(target.repository, target.remote, target.transport, ident, force=force, forgotten=forgotten)
    output = Output(colour=colour, pager=not no_pager, utc=utc)
    if as_json:
        output.bytes([encode(push_document(done, archived)), b"\n"])
    else:
        output.lines(push_lines(done, archived, output.looks))
    warn_of_forgotten(target.repository, done.remote, done.forgotten)
    if done.kept:
        warn(f"not sent, as something forgotten is in it: {', '.join(done.kept)}; `pivcs forget` it again here")
    left = done.refused or any(ref.outcome == "refused" for each in archived.sessions for ref in each.refs)
    if left or any(each.damaged for each in archived.sessions):
        click.get_current_context().exit(REFUSED)
