"""The store: bytes and columns of every session ever seen, in one SQLite file (`docs/format.md`, "Store").

A *stream* is one generation of a source: bytes that only ever grew. Its bytes are *chunks* and an uncut tail, its lines
are *segments* of packed columns. Nothing here reads a session file or knows what an entry says.
"""
