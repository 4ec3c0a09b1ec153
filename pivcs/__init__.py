"""Version control for the sessions of the pi coding agent.

`Session` reads and writes session files as pi does; everything that is raised on purpose is a `PivcsError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pivcs.errors import PivcsError
    from pivcs.session.manager import Session

__version__ = "0.1.0"
__all__ = ["PivcsError", "Session", "__version__"]


def __getattr__(name: str) -> object:
    """Import what is asked for when it is first asked for: the command line needs little of it."""
    if name == "Session":
        from pivcs.session.manager import Session

        return Session
    if name == "PivcsError":
        from pivcs.errors import PivcsError

        return PivcsError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
