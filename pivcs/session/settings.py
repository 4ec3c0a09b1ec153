"""Thinking level and model that hold at the end of a path (pi format 14)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pivcs.session.entries import Entry


class Model(NamedTuple):
    """A model as pi names it; a part that is missing in the file is None."""

    provider: str | None
    model_id: str | None


class Settings(NamedTuple):
    """What a session runs with. pi's thinking levels are an open set; None is one that is no string."""

    thinking_level: str | None = "off"
    model: Model | None = None


def settings_of(path: Iterable[object]) -> Settings:
    """Return the settings after the entries of a path, root first. Compactions do not cut it, failed answers count."""
    level: str | None = "off"
    model: Model | None = None
    for value in path:
        entry = Entry(value)
        if entry.type == "thinking_level_change":
            level = entry.thinking_level
        elif entry.type == "model_change":
            model = Model(entry.provider, entry.model_id)
        elif entry.type == "message" and (message := entry.message) is not None and message.role == "assistant":
            model = Model(message.provider, message.model)
    return Settings(level, model)
