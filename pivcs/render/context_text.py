"""What the model would see, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pivcs.ops.context_view import ShownContext, Spoken
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural
from pivcs.render.documents import Document, session_document
from pivcs.render.log_text import NARROWEST, Looks, fitted
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible
from pivcs.render.width import wrap
from pivcs.session.blocks import Text, blocks_of
from pivcs.session.parts import Part, parts_of
from pivcs.session.settings import Settings

FOLDED: Final = 6
"""Lines of a message that are shown unless all of it is asked for."""

_ROLES: Final = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "toolResult": Role.TOOL,
    "bashExecution": Role.TOOL,
}
_SUMMARIES: Final = ("branchSummary", "compactionSummary")


def context_lines(context: ShownContext, looks: Looks, *, full: bool) -> Iterator[str]:
    """Yield the settings, the tokens, and each message; without `full` at most `FOLDED` lines of one."""
    yield f"Model:    {_model(context.settings)}, thinking {one_line(context.settings.thinking_level or '?')}"
    yield f"Tokens:   {_tokens(context)}"
    yield f"Messages: {len(context.messages):,}"
    for spoken in context.messages:
        yield ""
        yield from _message_lines(spoken, looks, full=full)


def _model(settings: Settings) -> str:
    if settings.model is None:
        return "none yet"
    return f"{one_line(settings.model.provider or '?')}/{one_line(settings.model.model_id or '?')}"


def _tokens(context: ShownContext) -> str:
    estimate = context.estimate
    if context.answer is None and not estimate.measured:
        return f"about {estimate.tokens:,.0f}, four characters taken for a token"
    rest = estimate.tokens - estimate.measured
    measured = f"{estimate.measured:,.0f} by the usage of answer {one_line(context.answer or '?')}"
    return f"about {estimate.tokens:,.0f}: {measured}" + (f", and {rest:,.0f} estimated after it" if rest else "")


def _message_lines(spoken: Spoken, looks: Looks, *, full: bool) -> Iterator[str]:
    fields = spoken.message if isinstance(spoken.message, dict) else {}
    role = fields.get("role")
    name = one_line(role) if isinstance(role, str) else "message without role"
    heading = [(_ROLES.get(name, Role.HEADING), name), (Role.DIM, f"  {one_line(spoken.entry or '')}".rstrip())]
    yield looks.styler.spans(fitted(heading, looks.columns))
    lines = [line for part in _parts(fields) for line in _part_lines(part, looks)]
    shown = lines if full or len(lines) <= FOLDED + 1 else lines[:FOLDED]
    yield from shown
    if len(shown) < len(lines):
        yield "    " + looks.styler(Role.DIM, f"(+{plural(len(lines) - len(shown), 'line')}; --full shows all)")


def _parts(message: dict[str, object]) -> Iterator[Part]:
    summary = message.get("summary")
    if message.get("role") in _SUMMARIES and isinstance(summary, str):
        yield Part("text", "", summary)
    elif message.get("role") == "system":
        for block in blocks_of(message.get("content")):
            if isinstance(block, Text) and block.text:
                yield Part("text", "", block.text)
        yield from _system_parts(message)
    else:
        yield from parts_of({"type": "message", "message": message})


def _system_parts(message: dict[str, object]) -> Iterator[Part]:
    sections = message.get("sections")
    for name, text in sections.items() if isinstance(sections, dict) else ():
        yield Part("note", f"section {name}", text if isinstance(text, str) else "(removed)")
    for key, said in (("toolsRemoved", "without tools"), ("toolsAdded", "tools")):
        tools = message.get(key)
        named = [tool.get("name") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        if named:
            yield Part("note", f"{said}: {', '.join(str(name) for name in named)}")


def _part_lines(part: Part, looks: Looks) -> Iterator[str]:
    mark = {"call": "> ", "thinking": "| ", "removed": "- ", "added": "+ "}.get(part.kind, "")
    dim = part.kind in ("thinking", "note")
    role = Role.DIM if dim else Role.ERROR if part.kind == "error" else Role.PLAIN
    if part.title:
        yield "    " + looks.styler(Role.TOOL if part.kind == "call" else Role.DIM, f"{mark}{one_line(part.title)}")
    indent = "    " + ("  " if part.kind == "call" else mark)
    width = None if looks.columns is None else max(looks.columns - len(indent), NARROWEST)
    for line in part.text.rstrip("\n").split("\n") if part.text else ():
        safe = visible(line.rstrip("\r"), keep="\t")
        for piece in [safe] if width is None else wrap(safe, width):
            yield (indent + looks.styler(role, piece)).rstrip(" ")


def context_document(view: SessionView, context: ShownContext, *, for_provider: bool) -> Document:
    """Return the context as a JSON document."""
    model = context.settings.model
    return {
        "schema": "pivcs.context/1",
        "session": session_document(view),
        "leaf": context.leaf,
        "model": None if model is None else {"provider": model.provider, "id": model.model_id},
        "thinking_level": context.settings.thinking_level,
        "tokens": {
            "total": round(context.estimate.tokens),
            "measured": round(context.estimate.measured),
            "answer": context.answer,
        },
        "llm": for_provider,
        "messages": [{"entry": each.entry, "value": each.message} for each in context.messages],
    }
