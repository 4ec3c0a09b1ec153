"""Text and bytes of files, as the client converts them."""

from __future__ import annotations


def decode(content: bytes) -> str:
    """Return the text that the client reads: what is no UTF-8 becomes U+FFFD, a byte order mark stays."""
    return content.decode("utf-8", "replace")


def encode(text: str) -> bytes:
    """Return the bytes that the client writes: surrogates without a partner become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
