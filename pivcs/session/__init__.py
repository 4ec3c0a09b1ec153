"""pi's file format and nothing else: lines, entries, tree, settings, migrations, directories.

Terms here are pi's: a *session file* holds a *header* and *entries*; the *leaf* is the current position. Section numbers
such as "format 7.4" point at `docs/pi-format.md`. Reading never writes.
"""
