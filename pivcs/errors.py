"""The root of everything that `pivcs` raises on purpose, and its kinds.

A kind answers what the user can do, and carries the exit code of the program:

    PivcsError
      InputError          10   what was asked cannot be resolved
      StateError          20   may work once something else changes
      DataError           30   bytes are not what they claim to be
      UnsupportedFormat   40   written by a newer pivcs or pi, or not supported
      RemoteError        100   the other side failed

Concrete errors live beside the code that raises them. Messages start in lower case, name the subject in single
quotes and end without a full stop. A bug stays a plain exception with a traceback.
"""

from __future__ import annotations


class PivcsError(Exception):
    """A failure to tell a person about: what failed, and as `hint` what to do."""

    exit_code = 1
    has_lines = False
    """Whether line breaks in the message are ours; else they are of what it quotes."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(PivcsError):
    """What was asked cannot be resolved: a session, revision, file, name, date or expression that is not there, or that
    means nothing."""

    exit_code = 10


class StateError(PivcsError):
    """It may work once something else changes."""

    exit_code = 20


class DataError(PivcsError):
    """Bytes are not what they claim to be."""

    exit_code = 30


class UnsupportedFormat(PivcsError):
    """Written by a newer pivcs or pi, or of a kind that is not supported: a git repository with SHA-256 or reftable."""

    exit_code = 40


class RemoteError(PivcsError):
    """The other side failed."""

    exit_code = 100
