"""Repositories served as others serve theirs: by `git daemon`, by `git http-backend` and by a stand-in for ssh."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.gitbridge.git import environment

SSH = """#!/bin/sh
for last; do :; done
exec sh -c "$last"
"""
"""Takes the place of ssh: what would run on the other machine runs here."""


@contextmanager
def git_daemon(root: Path) -> Iterator[str]:
    """Serve the repositories below a directory to this machine only, for pushing too; gives the address of `root`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    daemon = subprocess.Popen(
        ["git", "daemon", "--listen=127.0.0.1", f"--port={port}", "--export-all", "--enable=receive-pack",
         f"--base-path={root}", str(root)],
        env=environment(), stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        for _ in range(250):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        else:
            pytest.skip("git daemon is not installed")
        yield f"git://127.0.0.1:{port}"
    finally:
        if daemon.poll() is None:
            os.killpg(daemon.pid, 15)
        daemon.wait()


@contextmanager
def http_backend(root: Path, password: str | None = None) -> Iterator[str]:
    """Serve the repositories below a directory over http on loopback; with a password, to the user `me` only."""
    from base64 import b64encode

    wanted = "Basic " + b64encode(f"me:{password}".encode()).decode() if password is not None else None

    class Backend(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do_GET(self) -> None:
            self._run(b"")

        def do_POST(self) -> None:
            self._run(self._body())

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", "0")))
            found = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found

        def _run(self, body: bytes) -> None:
            if wanted is not None and self.headers.get("Authorization") != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="x"')
                self.send_header("Content-Length", "0")
                self.send_header("Connection", "close")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            cgi = {
                "GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)), "REMOTE_ADDR": "127.0.0.1", "REMOTE_USER": "me",
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }  # fmt: skip
            done = subprocess.run(["git", "http-backend"], input=body, env=environment(**cgi), capture_output=True,
                                  check=False)  # fmt: skip
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Connection", "close")  # no client keeps the server waiting
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Backend) as server:
        server.daemon_threads = False
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def ssh_stand_in(directory: Path) -> Path:
    """Write the program that takes the place of ssh."""
    program = directory / "ssh-stand-in"
    program.write_text(SSH)
    program.chmod(0o755)
    return program
