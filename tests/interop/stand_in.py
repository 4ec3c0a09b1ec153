"""A stand-in for a model provider, on this machine: says what it is told to, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROVIDER = "stand-in"
MODEL = "model-1"


class StandIn:
    """What was asked, request by request, and the texts that are still to be answered."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[dict[str, Any]] = []
        self.answers: list[str] = []

    def settings(self) -> dict[str, Any]:
        """Return the client's `models.json` that names this provider and no other."""
        models = [{"id": MODEL, "contextWindow": 100_000, "maxTokens": 1000, "input": ["text", "image"]}]
        provider = {"baseUrl": self.url, "api": "openai-completions", "apiKey": "none", "models": models}
        return {"providers": {PROVIDER: provider}}


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """Give a provider that listens on the loopback interface while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            provider.asked.append(json.loads(self.rfile.read(length)))
            text = provider.answers.pop(0)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            for choice in ({"delta": {"role": "assistant", "content": text}}, {"delta": {}, "finish_reason": "stop"}):
                piece = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": MODEL,
                         "choices": [{"index": 0, **choice}], "usage": usage}  # fmt: skip
                self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = StandIn(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
