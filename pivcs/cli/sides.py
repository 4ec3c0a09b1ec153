"""What the sides of a comparison name: each a row of a view, maybe of sessions of their own."""

from __future__ import annotations

from collections.abc import Sequence

from pivcs.cli.output import warn
from pivcs.cli.target import Named, reader
from pivcs.ops.revision import Resolver, Target


def resolve_sides(named: Sequence[Named]) -> list[Target]:
    """Return what the sides name; warns where a name could mean something else, too.

    Each session is opened once, and views of one stream are one view. Raises as `Reader.open` and `resolve_target`.
    """
    opens = reader()
    resolvers: dict[str | None, Resolver] = {}
    views: dict[object, Target] = {}
    targets = []
    for side in named:
        if side.session not in resolvers:
            resolvers[side.session] = Resolver(opens.open(side.session))
        target = resolvers[side.session].node(side.revision)
        for warning in target.warnings:
            warn(warning)
        stream = target.view.stream
        known = views.setdefault(stream.id if stream is not None else id(target.view), target)
        targets.append(Target(known.view, target.row))
    return targets
