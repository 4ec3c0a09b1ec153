"""What has an object id: nodes, sessions, chunks, and the table of one stream's rows. See `docs/format.md`."""
