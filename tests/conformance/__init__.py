"""The reader against the real client's own answers."""
